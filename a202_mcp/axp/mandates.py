"""The owner's mandates: issued from the plain limits, or taken from a file; and their local switch (spec 8).

Rules this module applies:

- one mandate per role; with free work a third, whose only limit is the total "0";
- the category is "exchange.task", the currency USD;
- a changed limit needs the owner's `init` again, so that the agent cannot raise its own limits;
- a mandate from a file (`one_owner.issuing`) is the mandate of every role.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from typing import Any, Final

from a202_mcp.axp.book import MemberStore, put
from a202_mcp.axp.book import replace as replace_item
from a202_mcp.axp.identity import Identity
from a202_mcp.axp.reading import fingerprint
from a202_mcp.axp.settings import Settings
from a202_mcp.one_owner.book import Write
from a202_mcp.one_owner.documented import Documented
from a202_mcp.one_owner.issuing import proved
from a202_mcp.one_owner.limits import Grant, TotalLimits, stands
from a202_mcp.one_owner.switch import switched
from a202_reference.identifiers import IdSource, Prefix
from a202_reference.lifecycle.acts import (
    ACCEPTANCE_GRANTED,
    ACCEPTANCE_REJECTED,
    OFFER_ACCEPT,
    OFFER_SUBMIT,
    PERFORMANCE_DECLARED,
)
from a202_reference.registries import MandateStatus
from a202_reference.signing import Signer

CATEGORY: Final = "exchange.task"
AGREEMENT_SIGN: Final = "agreement.sign"
SELLER_ACTIONS: Final = (OFFER_SUBMIT, AGREEMENT_SIGN, PERFORMANCE_DECLARED)
BUYER_ACTIONS: Final = (OFFER_ACCEPT, ACCEPTANCE_GRANTED, ACCEPTANCE_REJECTED)
SELLER, BUYER, FREE = "seller", "buyer", "free"


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
    """The mandates of the plain limits. Raises NotReadyError for limits that mean none."""
    named: dict[str, str] = {}
    mandates = []
    for use, grant in _grants(settings).items():
        document = proved(grant.mandate(identity, Prefix.MANDATE.minted(ids()), now), owner)
        mandates.append(document)
        named[use] = document["id"]
    return Issued(replace(
        identity, mandates=named, limits=limits_mark(settings), status_url=settings.limits.status_url), tuple(mandates))


def adopted(settings: Settings, given: Documented, identity: Identity) -> Identity:
    """The identity that acts under the mandate of a file in every role."""
    uses = (*settings.roles, *((FREE,) if settings.seller.free_work else ()))
    return replace(
        identity, mandates=dict.fromkeys(uses, str(given.document["id"])), limits=limits_mark(settings),
        status_url=settings.limits.status_url)


def all_stand(store: MemberStore, identity: Identity, now: datetime) -> bool:
    """True where every mandate of the member may still be used one day."""
    return all(stands(store.mandate(each), switch(store, each), now) for each in identity.mandates.values())


def switch(store: MemberStore, mandate_id: str) -> str:
    """The local switch of a mandate: active, suspended or revoked."""
    return switched(store.item("switch", mandate_id))


def turned(mandate_id: str, status: MandateStatus) -> Write:
    """The switch, turned."""
    return put("switch", mandate_id, {"status": status.value})


def carried(store: MemberStore, before: Identity, after: Identity) -> tuple[Write, ...]:
    """What keeps a suspension for the mandates that supersede suspended ones.

    Nothing of the commit is written where somebody turned a switch since it was read.
    """
    superseded = set(before.mandates.values()) - set(after.mandates.values())
    kept = {each: store.item("switch", each) for each in sorted(superseded)}
    active = {"status": MandateStatus.ACTIVE.value}
    unmoved = tuple(replace_item("switch", each, found, found or active) for each, found in kept.items())
    if MandateStatus.SUSPENDED not in map(switched, kept.values()):
        return unmoved
    fresh = sorted(set(after.mandates.values()) - set(before.mandates.values()))
    return (*unmoved, *(turned(each, MandateStatus.SUSPENDED) for each in fresh))


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
