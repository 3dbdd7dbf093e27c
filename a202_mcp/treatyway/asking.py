"""describe_offer, check_availability, get_status and message (spec 5)."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from a202_mcp.treatyway import opening
from a202_mcp.treatyway.answers import NOT_FOUND, Answer, invalid, needs_human
from a202_mcp.treatyway.calling import Call
from a202_mcp.treatyway.deals import PERSON_DECIDES, WAITS, Message, Order, Quote, State, said_over, written
from a202_mcp.treatyway.moments import Moment, interval, read_moment
from a202_mcp.treatyway.opening import Span
from a202_mcp.treatyway.quoting import price_of
from a202_mcp.treatyway.settings import Kind, Offer
from a202_mcp.treatyway.shop import Shop
from a202_mcp.treatyway.visible import message_of, named, order_on, owns
from a202_reference.times import format_instant


def describe_offer(shop: Shop, call: Call) -> Answer:
    """What is sold, filtered, and how to order."""
    wanted = call.inputs
    words = str(wanted.get("query", "")).casefold().split()
    offers = [
        _described(shop, offer) for offer in shop.settings.offers.values()
        if wanted.get("offer_id", offer.id) == offer.id and wanted.get("kind", offer.kind) == offer.kind.value
        and all(word in f"{offer.id} {offer.name} {offer.area or ''}".casefold() for word in words)]
    return {"offers": offers, "how_to_order": shop.settings.how_to_order}


def _described(shop: Shop, offer: Offer) -> dict[str, Any]:
    lines = ", ".join(shop.settings.calendar.lines) if offer.kind is Kind.SERVICE else None
    lead = offer.lead_text or (None if offer.lead is None else _lead(offer.lead.count, offer.lead.unit))
    known = {"area": offer.area, "hours": offer.hours or lines or None, "lead_time": lead,
             "how_to_order": offer.how_to_order or shop.settings.how_to_order}
    return {"id": offer.id, "name": offer.name, "kind": offer.kind.value,
            **{name: text for name, text in known.items() if text is not None}}


def _lead(count: int, unit: str) -> str:
    return f"{count} {unit[:-1] if count == 1 else unit}"


def check_availability(shop: Shop, call: Call) -> Answer:
    """Whether it is free or in stock; or that a person must say."""
    wanted = call.inputs
    zone = shop.settings.calendar.zone
    start, end = (read_moment(wanted.get(name, ""), zone) for name in ("start", "end"))
    span = None if start is None else interval(start, end)
    if span is not None and span[1] <= span[0]:
        return invalid("end: must be after start")
    echo = {name: moment.echo for name, moment in (("start", start), ("end", end)) if moment is not None}
    meant = wanted.get("offer_id") or shop.settings.default_offer
    offer = None if meant is None else shop.offer(meant)
    if offer is None:
        return {**echo, "needs_human": needs_human(
            ["which offer is meant" if meant is None else "an offer_id from describe_offer"])}
    if isinstance(wanted.get("quantity"), dict):
        return {**echo, "needs_human": needs_human(["the quantity as a number"])}
    if offer.kind is Kind.GOOD:
        return {**_in_stock(shop, offer, wanted), **echo}
    return {**_free(shop, offer, start, span), **echo}


def _in_stock(shop: Shop, offer: Offer, wanted: Mapping[str, Any]) -> dict[str, Any]:
    held = shop.stock(offer.id)
    if held is None:
        return {"needs_human": needs_human([PERSON_DECIDES])}
    return {"available": wanted.get("quantity", 1) <= held, "quantity_available": held}


def _free(shop: Shop, offer: Offer, start: Moment | None, span: Span | None) -> dict[str, Any]:
    calendar, now = shop.settings.calendar, shop.now()
    if start is None:
        return {"needs_human": needs_human(["the start date or time"])}
    if not calendar.windows:
        return {"needs_human": needs_human([PERSON_DECIDES])}
    soonest = max(now, opening.earliest(calendar, offer.lead, now))
    if span is None and start.at is not None:
        return {"needs_human": needs_human(["the end time"])}
    if span is None:
        bookings = shop.store.bookings(opening.hours_from(calendar, start.day))
        return {"available": opening.free_hour(calendar, start.day, soonest, bookings)}
    free = opening.fits(span, shop.store.bookings(span), calendar.capacity)
    return {"available": span[0] >= soonest and opening.is_open(calendar, span) and free}


def get_status(shop: Shop, call: Call) -> Answer:
    """The word of a quote, an order, both, or a message."""
    quote_id, order_id, message_id = (call.inputs.get(name) for name in ("quote_id", "order_id", "message_id"))
    if quote_id is None and order_id is None:
        if message_id is None:
            return invalid("quote_id is required, or order_id")
        message = message_of(shop, call.caller, message_id)
        return NOT_FOUND if message is None else _message_status(message)
    found = named(shop, call.caller, quote_id, order_id)
    if found is None:
        return NOT_FOUND
    quote, order = found
    if order is not None:
        return _order_status(order, shop.now(order.transaction_id), with_ids=True)
    if quote is None:
        return NOT_FOUND
    placed, now = order_on(shop, quote), shop.now(quote.transaction_id)
    if placed is None:
        return _quote_status(quote, now)
    return {"quote_id": quote.id, **_order_status(placed, now, with_ids=owns(placed.owner, call.caller))}


def _order_status(order: Order, now: datetime, *, with_ids: bool) -> dict[str, Any]:
    exists = with_ids and order.state is State.ACCEPTED
    word, summary = said_over(order, order.happened(now))
    return {
        **({"order_id": order.id, "quote_id": order.quote_id} if exists else {}), "status": word,
        **({"needs_human": needs_human([PERSON_DECIDES])} if word == WAITS else {}),
        **_said(summary if with_ids else None, order.answered_by)}


def _quote_status(quote: Quote, now: datetime) -> dict[str, Any]:
    word, summary = said_over(quote, quote.happened(now))
    beside = price_of(quote) if word == State.QUOTED else {}
    missing = {"needs_human": needs_human(quote.missing or [PERSON_DECIDES])} if word == WAITS else {}
    return {"quote_id": quote.id, "status": word, **beside, **missing, **_said(summary, quote.answered_by)}


def _message_status(message: Message) -> dict[str, Any]:
    text = {} if message.reply is None else {"text": message.reply}
    return {"message_id": message.id, "status": message.status, **text, **_said(message.summary, message.answered_by)}


def _said(summary: str | None, answered_by: Mapping[str, str] | None) -> dict[str, Any]:
    return {**({"summary": summary} if summary else {}),
            **({"answered_by": dict(answered_by)} if answered_by else {})}


def message(shop: Shop, call: Call) -> Answer:
    """Keep a text for the owner."""
    wanted = call.inputs
    quote_id, order_id = wanted.get("quote_id"), wanted.get("order_id")
    if named(shop, call.caller, quote_id, order_id) is None:
        return NOT_FOUND
    kept = Message(
        shop.new_id("m"), call.caller.owner, call.caller.label, format_instant(shop.now()), wanted["text"],
        quote_id=quote_id, order_id=order_id)
    reply = shop.settings.auto_reply
    answer: dict[str, Any] = {
        "message_id": kept.id,
        **({"needs_human": needs_human(["a reply by a person"])} if reply is None else {"text": reply})}
    shop.remember([written(kept), *call.remembered(answer)])
    return answer
