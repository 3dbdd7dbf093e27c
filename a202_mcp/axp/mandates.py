"""The owner's mandates: issued from the plain limits, or taken from a file; and their local switch (spec 8).

Rules this module applies:

- one mandate per role; with free work a third, whose only limit is the total "0";
- plain limits become deny and require_approval constraints; the category is "exchange.task";
- a mandate is gated, signed with the owner's key and stored; a changed limit needs the owner's `init` again, so that
  the agent cannot raise its own limits;
- a mandate of ours names a status address that is never called: the switch here is its status. `revoked` is final;
- a mandate from a file, sound under its issuer's key by itself (`documented`), must name this agent and its key.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any, Final

from a202_mcp.axp.book import MemberStore, Write, put
from a202_mcp.axp.identity import Identity
from a202_mcp.axp.reading import fingerprint
from a202_mcp.axp.settings import Settings
from a202_mcp.documented import Documented
from a202_mcp.recording import mandate_gate
from a202_reference.identifiers import IdSource, Prefix
from a202_reference.keys import PublicKey
from a202_reference.lifecycle.acts import (
    ACCEPTANCE_GRANTED,
    ACCEPTANCE_REJECTED,
    OFFER_ACCEPT,
    OFFER_SUBMIT,
    PERFORMANCE_DECLARED,
)
from a202_reference.registries import MANDATE_SPEC, MandateStatus
from a202_reference.signing import Signer, sign_proof, unsigned_proof
from a202_reference.times import format_instant

CATEGORY: Final = "exchange.task"
AGREEMENT_SIGN: Final = "agreement.sign"
SELLER_ACTIONS: Final = (OFFER_SUBMIT, AGREEMENT_SIGN, PERFORMANCE_DECLARED)
BUYER_ACTIONS: Final = (OFFER_ACCEPT, ACCEPTANCE_GRANTED, ACCEPTANCE_REJECTED)
SELLER, BUYER, FREE = "seller", "buyer", "free"

_TOTAL: Final = "$.proposed_terms.core.total"
_ENDPOINT: Final = "https://local-switch.invalid/v1/mandates/{id}/status"


@dataclass(frozen=True, slots=True)
class Issued:
    """New mandates, and the identity that names them."""

    identity: Identity
    mandates: tuple[Mapping[str, Any], ...]


def limits_mark(settings: Settings) -> str:
    """A fingerprint of everything a mandate is issued from."""
    limits = settings.limits
    document = None if limits.document is None else limits.document.read_bytes().hex()
    plain = [None if value is None else format(value.normalize(), "f") for value in (
        limits.max_price, limits.min_price, limits.ask_above, limits.max_spend, limits.ask_spend_above)]
    return fingerprint([
        *plain, limits.valid_days, limits.organization_id, document, limits.status_url,
        sorted(settings.roles), settings.seller.free_work])


def issue(settings: Settings, identity: Identity, owner: Signer, now: datetime, ids: IdSource) -> Issued:
    """The mandates of the plain limits. Raises ValueError for one that the gate refuses."""
    named: dict[str, str] = {}
    mandates = []
    for use, (actions, constraints) in _plain(settings).items():
        document = _document(settings, identity, actions, constraints, now, Prefix.MANDATE.minted(ids()))
        errors, codes = mandate_gate(document)
        if errors or codes:
            raise ValueError("; ".join(errors[:3]) or "; ".join(code.meaning for code in codes))
        mandates.append(sign_proof(document, owner))
        named[use] = document["id"]
    return Issued(replace(identity, mandates=named, limits=limits_mark(settings)), tuple(mandates))


def adopt(settings: Settings, given: Documented, identity: Identity, agent: PublicKey) -> Identity | str:
    """The identity that acts under the owner's own mandate from a file, or why it cannot."""
    document = given.document
    subject = document["subject"]
    named = (document["represented_organization_id"], subject.get("agent_id"), subject["key_id"])
    if named != (identity.organization_id, identity.agent_id, identity.agent_key_id):
        return "mandate.document: names another organisation, agent or key than `member key` prints"
    if given.issuer.public == agent:
        return "mandate.document: its issuer's key is the agent's own"
    uses = (*settings.roles, *((FREE,) if settings.seller.free_work else ()))
    return replace(identity, mandates=dict.fromkeys(uses, str(document["id"])), limits=limits_mark(settings))


def switch(store: MemberStore, mandate_id: str) -> str:
    """The local switch of a mandate: active, suspended or revoked."""
    kept = store.item("switch", mandate_id)
    return MandateStatus.ACTIVE.value if kept is None else str(kept["status"])


def turned(mandate_id: str, status: MandateStatus) -> Write:
    """The switch, turned."""
    return put("switch", mandate_id, {"status": status.value})


def _plain(settings: Settings) -> dict[str, tuple[tuple[str, ...], list[dict[str, str]]]]:
    limits = settings.limits
    uses: dict[str, tuple[tuple[str, ...], list[dict[str, str]]]] = {}
    if settings.sells:
        uses[SELLER] = (SELLER_ACTIONS, _constraints(limits.max_price, limits.ask_above, limits.min_price))
    if settings.buys:
        uses[BUYER] = (BUYER_ACTIONS, _constraints(limits.max_spend, limits.ask_spend_above, None))
    if settings.sells and settings.seller.free_work:
        uses[FREE] = (SELLER_ACTIONS, [_limit("c_total_amount", "maximum", "0", "deny")])
    return uses


def _constraints(most: Decimal | None, ask: Decimal | None, least: Decimal | None) -> list[dict[str, str]]:
    limits = [
        _limit("c_total_amount", "maximum", format(most or Decimal(0), "f"), "deny"),
        {"id": "c_total_currency", "type": "commercial.string", "path": f"{_TOTAL}.currency", "operator": "equals",
         "value": "USD", "on_failure": "deny"}]
    if ask is not None:
        limits.append(_limit("c_ask_above", "maximum", format(ask, "f"), "require_approval"))
    if least is not None:
        limits.append(_limit("c_total_minimum", "minimum", format(least, "f"), "deny"))
    return limits


def _limit(name: str, operator: str, value: str, on_failure: str) -> dict[str, str]:
    return {"id": name, "type": "commercial.decimal", "path": f"{_TOTAL}.amount", "operator": operator,
            "value": value, "on_failure": on_failure}


def _document(
    settings: Settings, identity: Identity, actions: tuple[str, ...], constraints: list[dict[str, str]],
    now: datetime, mandate_id: str,
) -> dict[str, Any]:
    return {
        "spec_version": MANDATE_SPEC,
        "id": mandate_id,
        "issuer": {"organization_id": identity.organization_id, "principal_id": identity.principal_id,
                   "key_id": identity.owner_key_id},
        "subject": {"agent_id": identity.agent_id, "key_id": identity.agent_key_id},
        "represented_organization_id": identity.organization_id,
        "parent_mandate_id": None,
        "valid_from": format_instant(now),
        "valid_until": format_instant(now + timedelta(days=settings.limits.valid_days)),
        "status_endpoint": settings.limits.status_url or _ENDPOINT.replace("{id}", mandate_id),
        "actions": list(actions),
        "scope": {"categories": [CATEGORY]},
        "constraints": constraints,
        "approval_rules": [],
        "delegation": {"allowed": False, "maximum_depth": 0},
        "evidence_refs": [],
        "proof": unsigned_proof(identity.owner_key_id, format_instant(now)),
    }
