"""place_order (spec 5, 9.5, 9.6): one quote, one order; stock and calendar are taken in the same decision.

Rules this module applies:

- the same caller rules as for the quote; the quote lives; the mandate's verdict over `agreement.sign` and the quote's
  terms is made now. The order signs no new offer, and nothing on the buyer's behalf: the record says one-sided;
- stock or time that is gone by now: rejected, no order, and the quote stays as it was;
- what the mandate holds or denies waits for a person, and takes stock and time only when it is approved; a word of the
  owner that ends it ends the waiting.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, Final

from a202_mcp.one_owner.book import Write
from a202_mcp.one_owner.ruling import Ruling
from a202_mcp.treatyway.answers import EXPIRED, NOT_FOUND, Answer, needs_human
from a202_mcp.treatyway.calling import Call
from a202_mcp.treatyway.deals import ENDED_BY_OWNER, ENDING, OPEN, PERSON_DECIDES, Order, Quote, State, written
from a202_mcp.treatyway.mandate import SIGN
from a202_mcp.treatyway.moments import read_moment
from a202_mcp.treatyway.quoting import evidence_of
from a202_mcp.treatyway.shop import Shop
from a202_mcp.treatyway.taking import may_take, taking
from a202_mcp.treatyway.visible import order_on, owns, quote_of
from a202_reference.codes import Decision
from a202_reference.times import format_instant

ANOTHER_QUOTE: Final = "a new quote for that start or destination"


def place_order(shop: Shop, call: Call) -> Answer:
    """The order, or why there is none. Raises MovedError outside of a decision."""
    quote = quote_of(shop, call.caller, call.inputs["quote_id"])
    if quote is None:
        return NOT_FOUND
    now = shop.now(quote.transaction_id)
    earlier = order_on(shop, quote)
    answer = _without_order(quote, now) if earlier is None else None
    if answer is None and _differs(shop, quote, call.inputs):
        answer = waiting(quote, [ANOTHER_QUOTE])
    if answer is None and earlier is not None:
        answer = _repeated(quote, earlier, call, now)
    if answer is None and not may_take(shop, quote, now):
        answer = rejected(quote)
    if answer is None:
        return _place(shop, call, quote, earlier, now)
    if isinstance(answer, dict):
        shop.remember(call.remembered(answer))
    return answer


def _without_order(quote: Quote, now: datetime) -> Answer | None:
    """Why this quote cannot be ordered, or None."""
    if quote.state is State.QUOTED and quote.expired(now):
        return EXPIRED
    if quote.state is State.REJECTED or quote.status(now) in ENDING:
        return rejected(quote)
    return waiting(quote, quote.missing) if quote.state in OPEN else None


def _repeated(quote: Quote, order: Order, call: Call, now: datetime) -> Answer | None:
    """The answer where there is an order already; None where a denied one may be tried again."""
    if not owns(order.owner, call.caller) or order.state is State.REJECTED:
        return rejected(quote)
    if order.state is State.ACCEPTED:
        return accepted(quote, order)
    if not ENDED_BY_OWNER.isdisjoint((order.status(now), quote.status(now))):
        return rejected(quote)
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
    note = call.inputs.get("note")
    order = Order(
        shop.new_id("o"), quote.id, quote.transaction_id, call.caller.owner, call.caller.label, format_instant(now),
        State.HELD, note) if earlier is None else replace(earlier, note=note or earlier.note)
    holdings = shop.workspace.store.holdings(quote.transaction_id)
    approved = quote.approvals.get(SIGN)
    ruling = shop.authority.rule(
        SIGN, holdings, shop.counterparty(quote.counterparty).organization_id, quote.terms or {}, now,
        None if approved is None else shop.workspace.approval(approved))
    scribe = shop.scribe(quote.transaction_id, ruling.at)
    claim = order_claim(order, quote) if ruling.allows else f"Treatyway place_order on quote {quote.id}"
    received = evidence_of(shop, call, scribe, claim)
    answer, kept = _ruled(shop, quote, replace(order, artifact_hash=received.artifact_hash), ruling)
    writes = [*received.writes, *kept, *call.remembered(answer)]
    shop.commit(holdings, ruling.at, [*received.drafts, scribe.decision(ruling)], [ruling], writes)
    return answer


def _ruled(shop: Shop, quote: Quote, order: Order, ruling: Ruling) -> tuple[dict[str, Any], Sequence[Write]]:
    """The answer after a ruling, and what is kept of the order."""
    named = [] if quote.order_id else [written(replace(quote, order_id=order.id))]
    if ruling.allows:
        order = replace(order, state=State.ACCEPTED)
        return accepted(quote, order), [*taking(shop, quote, order), written(order), *named]
    denied = ruling.decision is Decision.DENY
    if denied and shop.settings.refuse_denied:
        return rejected(quote), []
    order = replace(order, state=State.DENIED if denied else State.HELD)
    return waiting(quote, [PERSON_DECIDES]), [written(order), *named]


def order_claim(order: Order, quote: Quote) -> str:
    """What the record says of an order: that it is one side's word."""
    return f"one_sided order {order.id} on offer {quote.offer_id} {quote.offer_hash}"


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
