"""The owner's mandate: made from the plain limits, or taken from a document (spec 9.2; surface 2, issue_mandate).

Rules this module applies:

- the limits become constraints on the total: its ceiling and its currency deny, `ask_above` asks a person, the
  floor denies; scope is the category of direct sales; the acts are `offer.submit` and `agreement.sign`;
- a document, sound under its issuer's key by itself (`documented`), must name this shop's agent and key, and be issued
  under a key of another than that agent. Whoever issues it under the identifier of the owner's key has that very key.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from a202_mcp.documented import Documented
from a202_mcp.recording import mandate_gate
from a202_mcp.treatyway.defaults import local_status
from a202_mcp.treatyway.prices import money
from a202_mcp.treatyway.settings import Limits
from a202_reference.identifiers import Prefix
from a202_reference.keys import Owner, PublicKey
from a202_reference.registries import MANDATE_SPEC
from a202_reference.signing import Signer, sign_proof, unsigned_proof
from a202_reference.times import format_instant

CATEGORY: Final = "sales.direct"
OFFER: Final = "offer.submit"
SIGN: Final = "agreement.sign"
_TOTAL: Final = "$.proposed_terms.core.total"


@dataclass(frozen=True, slots=True)
class Identity:
    """Who this shop is in the record."""

    organization_id: str
    agent_id: str
    agent_key_id: str
    principal_id: str
    owner_key_id: str


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


def document_fault(given: Documented, who: Identity, agent: PublicKey) -> str | None:
    """Why a document is no mandate for this shop's agent, or None."""
    subject = given.document["subject"]
    named = (given.document["represented_organization_id"], subject.get("agent_id"), subject["key_id"])
    if named != (who.organization_id, who.agent_id, who.agent_key_id):
        return (f"it must be for agent {who.agent_id} of {who.organization_id} with key {who.agent_key_id} "
                f"(see `seller key`), not for {named[1]} of {named[0]} with {named[2]}")
    return "its issuer's key is the agent's own" if given.issuer.public == agent else None


def owner_fault(given: Documented, who: Identity, owner: PublicKey) -> str | None:
    """Why a document that names the owner's key as its issuer's is not the owner's, or None."""
    if (given.issuer.owner, given.issuer.public) == (Owner(who.organization_id, principal_id=who.principal_id), owner):
        return None
    return f"it names {who.owner_key_id} as its issuer's key, which is the owner's here (see `seller key`)"


def minted_identity(organization_id: str | None, suffix: str) -> Identity:
    """A new shop. `suffix` is fresh randomness."""
    return Identity(
        organization_id or Prefix.ORGANIZATION.minted(suffix), Prefix.AGENT.minted(suffix),
        Prefix.KEY.minted(f"agent_{suffix}"), Prefix.PRINCIPAL.minted(suffix), Prefix.KEY.minted(f"owner_{suffix}"))


def _constraint(
    name: str, kind: str, member: str, operator: str, value: str, failing: str,
) -> dict[str, Any]:
    return {"id": name, "type": kind, "path": f"{_TOTAL}.{member}", "operator": operator, "value": value,
            "on_failure": failing}
