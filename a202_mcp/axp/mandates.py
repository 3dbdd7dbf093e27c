"""The owner's mandates: issued from the plain limits, or taken from a file; and their local switch (spec 8).

Rules this module applies:

- one mandate per role; with free work a third, whose only limit is the total "0";
- the category is "exchange.task", the currency USD;
- a changed limit needs the owner's `init` again, so that the agent cannot raise its own limits;
- a mandate from a file must be a verified one that names this agent and its key.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from typing import Any, Final

from a202_mcp.axp.book import MemberStore, put
from a202_mcp.axp.identity import Identity
from a202_mcp.axp.reading import fingerprint
from a202_mcp.axp.settings import Settings
from a202_mcp.one_owner.book import Write
from a202_mcp.one_owner.limits import Grant, TotalLimits, signed, stands
from a202_mcp.one_owner.switch import switched
from a202_mcp.recording import mandate_gate
from a202_reference.codes import Outcome
from a202_reference.identifiers import IdSource, Prefix
from a202_reference.keys import KeyBinding, Owner, PublicKey
from a202_reference.lifecycle.acts import (
    ACCEPTANCE_GRANTED,
    ACCEPTANCE_REJECTED,
    OFFER_ACCEPT,
    OFFER_SUBMIT,
    PERFORMANCE_DECLARED,
)
from a202_reference.registries import MandateStatus
from a202_reference.signing import Signer, check_proof
from a202_reference.times import parse_instant
from a202_reference.wire import Unreadable, read_json

CATEGORY: Final = "exchange.task"
AGREEMENT_SIGN: Final = "agreement.sign"
SELLER_ACTIONS: Final = (OFFER_SUBMIT, AGREEMENT_SIGN, PERFORMANCE_DECLARED)
BUYER_ACTIONS: Final = (OFFER_ACCEPT, ACCEPTANCE_GRANTED, ACCEPTANCE_REJECTED)
SELLER, BUYER, FREE = "seller", "buyer", "free"



@dataclass(frozen=True, slots=True)
class Issued:
    """New mandates, and the identity that names them. bindings: keys of others that they need."""

    identity: Identity
    mandates: tuple[Mapping[str, Any], ...]
    bindings: tuple[KeyBinding, ...] = ()


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
    for use, grant in _grants(settings).items():
        document = signed(grant.mandate(identity, Prefix.MANDATE.minted(ids()), now), owner)
        mandates.append(document)
        named[use] = document["id"]
    return Issued(replace(identity, mandates=named, limits=limits_mark(settings)), tuple(mandates))


def adopt(settings: Settings, identity: Identity, now: datetime) -> Issued | str:
    """The owner's own mandate from a file, or why it cannot be used."""
    document = None if settings.limits.document is None else read_json(settings.limits.document.read_bytes())
    jwk = None if settings.limits.issuer_jwk is None else read_json(settings.limits.issuer_jwk.read_bytes())
    public = PublicKey.from_jwk(jwk)
    if document is None or isinstance(document, Unreadable) or not isinstance(document, dict):
        return "mandate.document: is no JSON object"
    if public is None:
        return "mandate.issuer_jwk: is no public key"
    errors, codes = mandate_gate(document)
    if errors or codes:
        return "mandate.document: " + ("; ".join(errors[:3]) or "; ".join(code.meaning for code in codes))
    subject, issuer = document["subject"], document["issuer"]
    named = (document["represented_organization_id"], subject.get("agent_id"), subject["key_id"])
    if named != (identity.organization_id, identity.agent_id, identity.agent_key_id):
        return "mandate.document: names another organisation, agent or key than `member key` prints"
    if document["parent_mandate_id"] is not None:
        return "mandate.document: is delegated; a mandate of the organisation's own principal is needed"
    owner = Owner(issuer["organization_id"], principal_id=issuer["principal_id"])
    proved = parse_instant(document["proof"]["created_at"]) or now
    binding = KeyBinding(issuer["key_id"], owner, public, min(now, proved))
    if check_proof(document, {binding.key_id: binding}.get).outcome is not Outcome.VERIFIED:
        return "mandate.document: its proof does not verify under mandate.issuer_jwk"
    uses = (*settings.roles, *((FREE,) if settings.seller.free_work else ()))
    return Issued(
        replace(identity, mandates=dict.fromkeys(uses, str(document["id"])), limits=limits_mark(settings)),
        (document,), (binding,))


def all_stand(store: MemberStore, identity: Identity, now: datetime) -> bool:
    """True where every mandate of the member may still be used one day."""
    return all(stands(store.mandate(each), switch(store, each), now) for each in identity.mandates.values())


def switch(store: MemberStore, mandate_id: str) -> str:
    """The local switch of a mandate: active, suspended or revoked."""
    return switched(store.item("switch", mandate_id))


def turned(mandate_id: str, status: MandateStatus) -> Write:
    """The switch, turned."""
    return put("switch", mandate_id, {"status": status.value})


def _grants(settings: Settings) -> dict[str, Grant]:
    """What each mandate lets the agent do, by what it is for."""
    limits = settings.limits
    days, url = limits.valid_days, limits.status_url
    ceilings = {
        SELLER: TotalLimits(limits.max_price or Decimal(0), "USD", limits.ask_above, limits.min_price),
        BUYER: TotalLimits(limits.max_spend or Decimal(0), "USD", limits.ask_spend_above),
        FREE: TotalLimits(Decimal(0)),
    }
    held = ((SELLER, SELLER_ACTIONS, settings.sells), (BUYER, BUYER_ACTIONS, settings.buys),
            (FREE, SELLER_ACTIONS, settings.sells and settings.seller.free_work))
    return {use: Grant(actions, CATEGORY, ceilings[use], days, url) for use, actions, wanted in held if wanted}
