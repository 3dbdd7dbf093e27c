"""The owner's mandate: made from the plain limits, or taken from a document (spec 9.2; surface 2, issue_mandate).

Rules this module applies:

- the limits are of the category of direct sales; the acts are `offer.submit` and `agreement.sign`;
- a document must pass the gate, verify under its issuer's key, and name this shop's agent and key.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any, Final

from a202_mcp.one_owner.identity import Identity
from a202_mcp.one_owner.limits import Grant, TotalLimits
from a202_mcp.recording import mandate_gate
from a202_mcp.treatyway.settings import Documented, Limits
from a202_reference.codes import Outcome
from a202_reference.keys import KeyBinding, Owner, PublicKey
from a202_reference.signing import check_proof
from a202_reference.times import parse_instant

CATEGORY: Final = "sales.direct"
OFFER: Final = "offer.submit"
SIGN: Final = "agreement.sign"


def from_limits(
    limits: Limits, currency: str, status_url: str | None, who: Identity, mandate_id: str, now: datetime,
) -> dict[str, Any]:
    """The mandate that the limits mean, its proof still to come."""
    return Grant(
        (OFFER, SIGN), CATEGORY, TotalLimits(limits.max_total, currency, limits.ask_above, limits.min_total),
        limits.valid_days, status_url).mandate(who, mandate_id, now)


def document_fault(given: Documented, who: Identity, key: PublicKey) -> str | None:
    """Why a document is no mandate for this shop's agent, or None."""
    document = given.document
    errors, codes = mandate_gate(document)
    if errors or codes:
        return "; ".join([*errors[:3], *(code.meaning for code in codes)])
    binding = issuer_binding(given)
    if binding is None:
        return "issuer_jwk is no public key, or the proof has no time"
    proof = check_proof(document, lambda key_id: binding if key_id == binding.key_id else None)
    if proof.outcome is not Outcome.VERIFIED:
        return f"its proof does not verify under issuer_jwk: {proof.detail}"
    subject = document["subject"]
    named = (document["represented_organization_id"], subject.get("agent_id"), subject["key_id"])
    if named != (who.organization_id, who.agent_id, who.agent_key_id):
        return (f"it must be for agent {who.agent_id} of {who.organization_id} with key {who.agent_key_id} "
                f"(see `seller key`), not for {named[1]} of {named[0]} with {named[2]}")
    if document["parent_mandate_id"] is not None:
        return "it is delegated; only a root mandate of this organisation is taken"
    if binding.public == key:
        return "its issuer's key is the agent's own"
    return None


def issuer_binding(given: Documented) -> KeyBinding | None:
    """The issuer's key as the document and the owner name it, from its proof on."""
    issuer, proof = given.document["issuer"], given.document["proof"]
    public, since = PublicKey.from_jwk(given.issuer_jwk), parse_instant(proof["created_at"])
    if public is None or since is None:
        return None
    owner = Owner(issuer["organization_id"], principal_id=issuer["principal_id"])
    return KeyBinding(issuer["key_id"], owner, public, since)
