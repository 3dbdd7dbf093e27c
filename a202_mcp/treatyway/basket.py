"""What a request asks for, line by line: its price by the owner's rules, or what is missing (spec 3, 5).

A person is needed where no offer is named and there is no default, the offer is unknown or has no price, an input
that it requires is absent, the hours are unknown, the quantity is above what is sold at once or in stock, or the
start is outside hours, lead time or capacity. What is asked for of one offer counts together, however many lines it
stands in.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Any, Final

from a202_mcp.treatyway import opening
from a202_mcp.treatyway.deals import PERSON_DECIDES
from a202_mcp.treatyway.moments import Moment, interval, read_moment
from a202_mcp.treatyway.opening import Span
from a202_mcp.treatyway.prices import hours_of, line_amount, total_of
from a202_mcp.treatyway.settings import Kind, Offer
from a202_mcp.treatyway.shop import Shop

WANTED: Final[Mapping[str, str]] = {
    "start": "the start date or time",
    "end": "the end time",
    "destination": "the destination",
    "quantity": "the quantity",
    "needed_by": "the date it is needed by",
    "contact": "how to reach you",
}
"""What a buyer could supply, in words."""


@dataclass(frozen=True, slots=True)
class Line:
    """One priced line."""

    offer: Offer
    quantity: int
    amount: Decimal


@dataclass
class Basket:
    """A request as it was assessed. `span` is the job's time where one is known; `missing` is empty for a price."""

    lines: list[Line] = field(default_factory=list)
    offers: list[Offer] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    start: Moment | None = None
    span: Span | None = None

    @property
    def total(self) -> Decimal:
        """The sum of the lines."""
        return total_of(line.amount for line in self.lines)

    @property
    def takes_time(self) -> bool:
        """True where a service has a time: it takes a place in the calendar."""
        return self.span is not None and any(offer.kind is Kind.SERVICE for offer in self.offers)


def assess(shop: Shop, request: Mapping[str, Any], now: datetime) -> Basket | str:
    """The basket of a request; or the message of an input error."""
    zone = shop.settings.calendar.zone
    basket = Basket()
    end = None
    if "start" in request:
        basket.start = read_moment(request["start"], zone)
    if "end" in request:
        end = read_moment(request["end"], zone)
    if basket.start is not None:
        basket.span = interval(basket.start, end)
        if basket.span is not None and basket.span[1] <= basket.span[0]:
            return "end: must be after start"
        if basket.span is None:
            basket.missing.append("the start time" if basket.start.at is None else "the end time")
    for item in request.get("items") or [request]:
        _line(shop, basket, request, item)
    _counts(shop, basket)
    _time(shop, basket, now)
    return basket


def _line(shop: Shop, basket: Basket, request: Mapping[str, Any], item: Mapping[str, Any]) -> None:
    named = item.get("offer_id") or shop.settings.default_offer
    offer = None if named is None else shop.offer(named)
    quantity = item.get("quantity")
    if isinstance(quantity, dict):
        basket.missing.append("the quantity as a number")
    if offer is None:
        basket.missing.append("which offer is wanted" if named is None else "an offer_id from describe_offer")
        return
    basket.offers.append(offer)
    absent = [name for name in offer.requires if (item if name == "quantity" else request).get(name) is None]
    basket.missing += [WANTED[name] for name in absent]
    if quantity is None and offer.kind is Kind.GOOD:
        basket.missing.append(WANTED["quantity"])
    count = 1 if quantity is None else quantity
    if offer.price is None:
        basket.missing.append(PERSON_DECIDES)
    elif isinstance(count, int):
        if offer.price.per_hour and basket.span is None:
            basket.missing.append(WANTED["start"] if basket.start is None else "the start time")
        hours = Decimal(0) if basket.span is None else hours_of(*basket.span)
        amount = line_amount(offer.price, count, hours, shop.settings.currency)
        basket.lines.append(Line(offer, count, amount))


def _counts(shop: Shop, basket: Basket) -> None:
    """The lines of every offer together, against what is sold at once and what is there."""
    for offer, wanted in _wanted(basket.lines):
        held = shop.stock(offer.id) if offer.kind is Kind.GOOD else None
        if any(most is not None and wanted > most for most in (offer.max_quantity, held)):
            basket.missing.append(PERSON_DECIDES)


def _wanted(lines: list[Line]) -> Iterable[tuple[Offer, int]]:
    """How much of every offer the lines ask for."""
    found: dict[str, tuple[Offer, int]] = {}
    for line in lines:
        _, before = found.get(line.offer.id, (line.offer, 0))
        found[line.offer.id] = line.offer, before + line.quantity
    return found.values()


def _time(shop: Shop, basket: Basket, now: datetime) -> None:
    calendar = shop.settings.calendar
    if not basket.takes_time or basket.span is None:
        return
    if not calendar.windows:
        basket.missing.append(PERSON_DECIDES)
        return
    services = [offer for offer in basket.offers if offer.kind is Kind.SERVICE]
    soonest = max(opening.earliest(calendar, offer.lead, now) for offer in services)
    free = opening.fits(basket.span, shop.store.bookings(basket.span), calendar.capacity)
    if basket.span[0] < soonest or not opening.is_open(calendar, basket.span) or not free:
        basket.missing.append("another start date or time")
