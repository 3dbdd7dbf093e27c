"""Stock and calendar: what a deal needs of them, whether it is there, and taking it (spec 9.5, 10).

Rules this module applies:

- what is looked at and what is written are one decision of the store, so that no count falls below zero and no booking
  exceeds the capacity, however many processes sell;
- what is taken is what the terms name; of a person's price, what the request named;
- a job whose time has begun cannot be taken any more, nor one that no longer lies in the opening hours. A person who
  gave a price has decided about the hours.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from a202_mcp.one_owner.book import Write
from a202_mcp.treatyway import opening
from a202_mcp.treatyway.book import book, put
from a202_mcp.treatyway.deals import Order, Quote
from a202_mcp.treatyway.opening import Span
from a202_mcp.treatyway.settings import Kind
from a202_mcp.treatyway.shop import Shop
from a202_reference.times import parse_instant


def may_take(shop: Shop, quote: Quote, now: datetime) -> bool:
    """True where stock and time that the quote needs are there now."""
    span = booked_span(shop, quote)
    counts = ((shop.stock(offer_id), wanted) for offer_id, wanted in _goods(shop, quote).items())
    return (span is None or _is_free(shop, quote, span, now)) and all(
        held is None or wanted <= held for held, wanted in counts)


def taking(shop: Shop, quote: Quote, order: Order) -> Sequence[Write]:
    """The writes that take stock and time. They belong to the decision in which `may_take` said so."""
    writes: list[Write] = []
    for offer_id, wanted in _goods(shop, quote).items():
        held, entry = shop.stock(offer_id), shop.store.entry("stock", offer_id)
        if held is not None:
            version = 1 if entry is None else entry.version + 1
            writes.append(put("stock", offer_id, version, {"count": held - wanted, "by": order.id}))
    span = booked_span(shop, quote)
    return writes if span is None else [*writes, book(order.id, span)]


def booked_span(shop: Shop, quote: Quote) -> Span | None:
    """The time that the order takes in the calendar, or None."""
    terms = (quote.terms or {}).get("profile_terms", {})
    begins, ends = parse_instant(terms.get("start")), parse_instant(terms.get("end"))
    if begins is None or ends is None:
        return None
    named = [line.get("offer_id") or shop.settings.default_offer
             for line in (terms.get("lines") or quote.request.get("items") or [quote.request])]
    offers = [shop.offer(offer_id or "") for offer_id in named]
    service = any(offer is None or offer.kind is Kind.SERVICE for offer in offers)
    return (begins, ends) if service else None


def _is_free(shop: Shop, quote: Quote, span: Span, now: datetime) -> bool:
    calendar = shop.settings.calendar
    by_rule = bool((quote.terms or {}).get("profile_terms", {}).get("lines"))
    return now <= span[0] and (not by_rule or opening.is_open(calendar, span)) and opening.fits(
        span, shop.store.bookings(span), calendar.capacity)


def _goods(shop: Shop, quote: Quote) -> dict[str, int]:
    """How much of every good the deal takes."""
    found: dict[str, int] = {}
    terms = quote.terms or {}
    lines: Sequence[Mapping[str, Any]] = terms.get("profile_terms", {}).get("lines") or [
        line for line in (quote.request.get("items") or [quote.request]) if isinstance(line.get("quantity"), int)]
    for line in lines:
        offer = shop.offer(line.get("offer_id") or shop.settings.default_offer or "")
        if offer is not None and offer.kind is Kind.GOOD:
            found[offer.id] = found.get(offer.id, 0) + int(line["quantity"])
    return found
