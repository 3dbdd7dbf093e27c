"""The owner's mandate: made from the plain limits, or taken from a document (spec 9.2; surface 2, issue_mandate).

Rules this module applies:

- the limits become constraints on the total: its ceiling and its currency deny, `ask_above` asks a person, the
  floor denies; scope is the category of direct sales; the acts are `offer.submit` and `agreement.sign`;
- a document must pass the gate, verify under its issuer's key, and name this shop's agent and key.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, Final

from a202_mcp.one_owner.identity import Identity
from a202_mcp.recording import mandate_gate
from a202_mcp.treatyway.defaults import local_status
from a202_mcp.treatyway.prices import money
from a202_mcp.treatyway.settings import Documented, Limits
from a202_reference.codes import Outcome
from a202_reference.keys import KeyBinding, Owner, PublicKey
from a202_reference.registries import MANDATE_SPEC
from a202_reference.signing import Signer, check_proof, sign_proof, unsigned_proof
from a202_reference.times import format_instant, parse_instant

CATEGORY: Final = "sales.direct"
OFFER: Final = "offer.submit"
SIGN: Final = "agreement.sign"
_TOTAL: Final = "$.proposed_terms.core.total"


def from_limits(
    limits: Limits, currency: str, status_url: str | None, who: Identity, mandate_id: str, now: datetime,
) -> dict[str, Any]:
    """The mandate that the limits mean, its proof still to come."""
    amounts = [("c_total_amount", "maximum", limits.max_total, "deny"),
               ("c_ask_above", "maximum", limits.ask_above, "require_approval"),
               ("c_total_minimum", "minimum", limits.min_total, "deny")]
    constraints = [
        _constraint(name, "commercial.decimal", "amount", operator, money(value, currency)["amount"], failing)
        for name, operator, value, failing in amounts if value is not None]
    constraints.insert(1, _constraint("c_total_currency", "commercial.string", "currency", "equals", currency, "deny"))
    return {
        "spec_version": MANDATE_SPEC,
        "id": mandate_id,
        "issuer": {
            "organization_id": who.organization_id, "principal_id": who.principal_id, "key_id": who.owner_key_id},
        "subject": {"key_id": who.agent_key_id, "agent_id": who.agent_id},
        "represented_organization_id": who.organization_id,
        "parent_mandate_id": None,
        "valid_from": format_instant(now),
        "valid_until": format_instant(now + timedelta(days=limits.valid_days)),
        "status_endpoint": status_url or local_status(mandate_id),
        "actions": [OFFER, SIGN],
        "scope": {"categories": [CATEGORY]},
        "constraints": constraints,
        "approval_rules": [],
        "delegation": {"allowed": False, "maximum_depth": 0},
        "evidence_refs": [],
        "proof": unsigned_proof(who.owner_key_id, format_instant(now)),
    }


def signed(document: Mapping[str, Any], owner: Signer) -> dict[str, Any]:
    """The mandate with the owner's proof. Raises ValueError where the gate refuses it: the limits say nonsense."""
    errors, codes = mandate_gate(document)
    if errors or codes:
        raise ValueError("; ".join([*errors[:3], *(code.meaning for code in codes)]))
    return sign_proof(document, owner)


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


def _constraint(
    name: str, kind: str, member: str, operator: str, value: str, failing: str,
) -> dict[str, Any]:
    return {"id": name, "type": kind, "path": f"{_TOTAL}.{member}", "operator": operator, "value": value,
            "on_failure": failing}
