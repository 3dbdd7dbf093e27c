"""place_order (spec 5, 9.5, 9.6): one quote, one order; stock and calendar are taken in the same write.

Rules this module applies:

- the same caller rules as for the quote; the quote lives; the mandate's verdict over `agreement.sign` and the quote's
  terms is made now. The order signs no new offer, and nothing on the buyer's behalf: the record says one-sided;
- stock or time that is gone by now: rejected, no order, and the quote stays as it was;
- what the mandate holds or denies waits for a person, and takes stock and time only when it is approved.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, Final

from a202_mcp.one_owner.book import Write
from a202_mcp.treatyway import opening
from a202_mcp.treatyway.answers import EXPIRED, NOT_FOUND, Answer, needs_human
from a202_mcp.treatyway.book import book, put
from a202_mcp.treatyway.calling import Call
from a202_mcp.treatyway.deals import OPEN, PERSON_DECIDES, Order, Quote, State, written
from a202_mcp.treatyway.mandate import SIGN
from a202_mcp.treatyway.moments import read_moment
from a202_mcp.treatyway.opening import Span
from a202_mcp.treatyway.quoting import evidence_of
from a202_mcp.treatyway.settings import Kind
from a202_mcp.treatyway.shop import Shop
from a202_mcp.treatyway.visible import order_on, owns, quote_of
from a202_reference.codes import Decision
from a202_reference.times import format_instant, parse_instant

ANOTHER_QUOTE: Final = "a new quote for that start or destination"
_LIVING_WORDS: Final = (None, "open", "quoted")


def place_order(shop: Shop, call: Call) -> Answer:
    """The order, or why there is none."""
    return shop.retried(lambda: _attempt(shop, call))


def _attempt(shop: Shop, call: Call) -> Answer:
    quote = quote_of(shop, call.caller, call.inputs["quote_id"])
    if quote is None:
        return NOT_FOUND
    now = shop.now(quote.transaction_id)
    earlier = order_on(shop, quote)
    answer = _without_order(quote, now) if earlier is None else _repeated(quote, earlier, call, now)
    if answer is None and _differs(shop, quote, call.inputs):
        answer = waiting(quote, [ANOTHER_QUOTE])
    if answer is None and not may_take(shop, quote):
        answer = rejected(quote)
    if answer is None:
        return _place(shop, call, quote, earlier, now)
    if isinstance(answer, dict) and call.once is not None:
        shop.remember(call.remembered(answer))
    return answer


def _without_order(quote: Quote, now: datetime) -> Answer | None:
    """Why this quote cannot be ordered, or None."""
    if quote.state in OPEN:
        return waiting(quote, quote.missing)
    if quote.state is State.REJECTED or quote.word not in _LIVING_WORDS:
        return rejected(quote)
    return EXPIRED if quote.expired(now) else None


def _repeated(quote: Quote, order: Order, call: Call, now: datetime) -> Answer | None:
    """The answer where there is an order already; None where a denied one may be tried again."""
    if not owns(order.owner, call.caller) or order.state is State.REJECTED:
        return rejected(quote)
    if order.state is State.ACCEPTED:
        return accepted(quote, order)
    if order.state is State.DENIED:
        return EXPIRED if quote.expired(now) else None
    return waiting(quote, [PERSON_DECIDES])


def _differs(shop: Shop, quote: Quote, inputs: Mapping[str, Any]) -> bool:
    """True where the order asks for another start or destination than the quote's."""
    if "destination" in inputs and inputs["destination"] != quote.request.get("destination"):
        return True
    if "start" not in inputs:
        return False
    zone = shop.settings.calendar.zone
    asked, own = (read_moment(text, zone) for text in (inputs["start"], quote.request.get("start", "")))
    return asked is None or own is None or (asked.at, asked.day) != (own.at, own.day)


def _place(shop: Shop, call: Call, quote: Quote, earlier: Order | None, now: datetime) -> Answer:
    order = earlier or Order(
        shop.new_id("o"), quote.id, quote.transaction_id, call.caller.owner, call.caller.label, format_instant(now),
        State.HELD, call.inputs.get("note"))
    approved = quote.approvals.get(SIGN)
    ruling = shop.authority.rule(
        SIGN, quote.transaction_id, shop.counterparty(quote.counterparty).organization_id, quote.terms or {}, now,
        None if approved is None else shop.workspace.approval(approved))
    holdings = shop.workspace.store.holdings(quote.transaction_id)
    scribe = shop.scribe(quote.transaction_id, now)
    claim = order_claim(order, quote) if ruling.allows else f"Treatyway place_order on quote {quote.id}"
    received = evidence_of(shop, call, scribe, claim)
    order = replace(order, artifact_hash=received.artifact_hash)
    writes: list[Write] = [*received.writes]
    if ruling.allows:
        order = replace(order, state=State.ACCEPTED, undecided_at=None)
        writes += taking(shop, quote, order)
        answer = accepted(quote, order)
    elif ruling.decision is Decision.DENY and shop.settings.refuse_denied:
        answer = rejected(quote)
    else:
        state = State.DENIED if ruling.decision is Decision.DENY else State.HELD
        order = replace(order, state=state, undecided_at=format_instant(now))
        answer = waiting(quote, [PERSON_DECIDES])
    if ruling.allows or order.undecided_at is not None:
        writes.append(written(order))
        writes += [] if quote.order_id else [written(replace(quote, order_id=order.id))]
    drafts = [*received.drafts, scribe.decision(ruling)]
    shop.commit(holdings, now, drafts, [ruling], [*writes, *call.remembered(answer)])
    return answer


def order_claim(order: Order, quote: Quote) -> str:
    """What the record says of an order: that it is one side's word."""
    return f"one_sided order {order.id} on offer {quote.offer_id} {quote.offer_hash}"


def may_take(shop: Shop, quote: Quote) -> bool:
    """True where stock and time that the quote needs are there now."""
    span = booked_span(shop, quote)
    free = span is None or opening.fits(span, shop.store.bookings(span), shop.settings.calendar.capacity)
    counts = ((shop.stock(offer_id), wanted) for offer_id, wanted in goods_of(shop, quote).items())
    return free and all(held is None or wanted <= held for held, wanted in counts)


def taking(shop: Shop, quote: Quote, order: Order) -> Sequence[Write]:
    """The writes that take stock and time. Each appends a version, so that none is taken twice."""
    writes: list[Write] = []
    for offer_id, wanted in goods_of(shop, quote).items():
        held, entry = shop.stock(offer_id), shop.store.entry("stock", offer_id)
        if held is not None:
            version = 1 if entry is None else entry.version + 1
            writes.append(put("stock", offer_id, version, {"count": held - wanted, "by": order.id}))
    span = booked_span(shop, quote)
    if span is not None:
        turn = shop.store.entry("calendar", "")
        writes += [book(order.id, span), put("calendar", "", 1 if turn is None else turn.version + 1, {"by": order.id})]
    return writes


def goods_of(shop: Shop, quote: Quote) -> dict[str, int]:
    """How much of every good the quote's terms name; of a person's price, what the request named."""
    found: dict[str, int] = {}
    terms = quote.terms or {}
    lines: Sequence[Mapping[str, Any]] = terms.get("profile_terms", {}).get("lines") or [
        line for line in (quote.request.get("items") or [quote.request]) if isinstance(line.get("quantity"), int)]
    for line in lines:
        offer = shop.offer(line.get("offer_id") or shop.settings.default_offer or "")
        if offer is not None and offer.kind is Kind.GOOD:
            found[offer.id] = found.get(offer.id, 0) + int(line["quantity"])
    return found


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


def accepted(quote: Quote, order: Order) -> dict[str, Any]:
    """There is an order."""
    return {"order_id": order.id, "quote_id": quote.id, "status": "accepted",
            **({"answered_by": dict(order.answered_by)} if order.answered_by else {})}


def rejected(quote: Quote) -> dict[str, Any]:
    """There is none, and there will be none."""
    return {"quote_id": quote.id, "status": "rejected"}


def waiting(quote: Quote, missing: Sequence[str]) -> dict[str, Any]:
    """A person must act first."""
    return {"quote_id": quote.id, "status": "needs_human",
            "needs_human": needs_human(missing or [PERSON_DECIDES])}
