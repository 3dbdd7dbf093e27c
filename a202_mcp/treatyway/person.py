"""What a person decides at the command line, and the mandate is asked of: a price, an approval (spec 4, 9.3).

Rules this module applies:

- a person's price is judged like any other. Where the mandate holds it, giving it is the approval; where the mandate
  denies it, nothing is quoted and the owner reads why;
- an approval is signed with the owner's key over the exact act, once for the offer and once for the order, and ends
  with the offer; then the act is judged again, later than it was judged before;
- no price by the rules is released for a time that has passed. An order is released only while its quote lives, and
  takes stock and time then;
- each of these is called inside of a decision of the store; MovedError says that it was not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from typing import Any

from a202_mcp.one_owner.ruling import Ruling, overtaking
from a202_mcp.one_owner.scribe import Scribe
from a202_mcp.treatyway.basket import Basket, assess
from a202_mcp.treatyway.deals import OPEN, Message, Order, Quote, State, read, written
from a202_mcp.treatyway.mandate import OFFER, SIGN
from a202_mcp.treatyway.ordering import order_claim
from a202_mcp.treatyway.quoting import attestation, ends_at, ruled
from a202_mcp.treatyway.shop import Shop
from a202_mcp.treatyway.taking import booked_span, may_take, taking
from a202_mcp.treatyway.terms import by_person
from a202_reference.codes import Decision, Refusal
from a202_reference.documents.envelope import Approval
from a202_reference.lifecycle.holdings import Holdings
from a202_reference.times import format_instant, parse_instant


@dataclass(frozen=True, slots=True)
class Refused:
    """A rule refused it; the reason is for the owner."""

    reason: str


@dataclass(frozen=True, slots=True)
class Price:
    """What a person asks for. `valid_seconds` None: as the quote says."""

    amount: Decimal
    currency: str
    valid_seconds: int | None = None
    text: str | None = None


def deal_of(shop: Shop, identifier: str) -> Quote | Order | Message | None:
    """The quote, order or message under an id."""
    return (read(Quote, shop.store.entry("quote", identifier)) or read(Order, shop.store.entry("order", identifier))
            or read(Message, shop.store.entry("message", identifier)))


def person(shop: Shop, name: str | None) -> dict[str, str]:
    """A person, as answers name one."""
    return {"name": name or shop.settings.name, "role": "person"}


def give_price(shop: Shop, quote: Quote, price: Price, who: Mapping[str, str]) -> Quote | Refused:
    """Quote a request that waits. Raises MovedError."""
    if quote.state not in OPEN:
        return Refused(f"{quote.id} does not wait for a price; it is {quote.status(shop.now())}")
    holdings, now = _overtaking(shop, quote.transaction_id)
    basket = assess(shop, quote.request, now)
    terms = by_person(
        Basket() if isinstance(basket, str) else basket, quote.id, quote.attested_by, price.amount, price.currency)
    asked = replace(quote, terms=terms, valid_seconds=price.valid_seconds or quote.valid_seconds,
                    answered_by=who, summary=price.text, remark=None)
    return _quoted(shop, asked, holdings, now)


def approve_quote(shop: Shop, quote: Quote, who: Mapping[str, str]) -> Quote | Refused:
    """Release a held quote with the price that was worked out. Raises MovedError."""
    if quote.state not in OPEN:
        return Refused(f"{quote.id} is not held; it is {quote.status(shop.now())}")
    if quote.terms is None:
        return Refused(f"{quote.id} has no price yet: give one with --price")
    holdings, now = _overtaking(shop, quote.transaction_id)
    span = booked_span(shop, quote)
    if span is not None and span[0] < now:
        return Refused("the time that it was asked for has passed")
    return _quoted(shop, replace(quote, answered_by=who, remark=None), holdings, now)


def _quoted(shop: Shop, asked: Quote, holdings: Holdings, now: datetime) -> Quote | Refused:
    scribe = shop.scribe(asked.transaction_id, now)
    ruling, approvals = _released(shop, asked, (OFFER, SIGN), holdings, scribe, now)
    if not ruling.allows:
        if ruling.decision is Decision.DENY:
            shop.commit(holdings, now, [scribe.decision(ruling)], [ruling], [])
        return Refused(_why(shop, ruling))
    quoted, offer = ruled(shop, asked, ruling, scribe, now)
    by_action = {action: document["id"] for action, document in approvals.items()}
    quoted = replace(quoted, approvals=by_action)
    drafts = [scribe.decision(ruling), *offer]
    shop.commit(holdings, now, drafts, [ruling], [written(quoted)], tuple(approvals.values()))
    return quoted


def approve_order(shop: Shop, order: Order, who: Mapping[str, str]) -> Order | Refused:
    """Release a held order. Raises MovedError."""
    quote = read(Quote, shop.store.entry("quote", order.quote_id))
    if quote is None or order.state not in OPEN:
        return Refused(f"{order.id} is not held; it is {order.status(shop.now())}")
    holdings, now = _overtaking(shop, order.transaction_id)
    if quote.expired(now):
        return Refused(f"the quote {quote.id} has expired")
    if not may_take(shop, quote, now):
        return Refused("stock or time that the order needs is gone")
    scribe = shop.scribe(order.transaction_id, now)
    ruling, approvals = _released(shop, quote, (SIGN,), holdings, scribe, now)
    if not ruling.allows:
        return Refused(_why(shop, ruling))
    done = replace(order, state=State.ACCEPTED, answered_by=who, remark=None)
    evidence = attestation(scribe, order_claim(order, quote), order.artifact_hash)
    drafts = [evidence, scribe.decision(ruling)]
    shop.commit(
        holdings, now, drafts, [ruling], [written(done), *taking(shop, quote, order)], tuple(approvals.values()))
    return done


def _released(
    shop: Shop, quote: Quote, actions: Sequence[str], holdings: Holdings, scribe: Scribe, now: datetime,
) -> tuple[Ruling, dict[str, Mapping[str, Any]]]:
    """The ruling over the first action; approvals by action where the mandate held it and the owner may approve."""
    counterparty = shop.counterparty(quote.counterparty).organization_id
    terms = quote.terms or {}
    given = quote.approvals.get(actions[0])
    earlier = None if given is None else shop.workspace.approval(given)
    rulings = {action: shop.authority.rule(action, holdings, counterparty, terms, now,
                                           earlier if action == actions[0] else None) for action in actions}
    first = rulings[actions[0]]
    if first.decision is not Decision.REQUIRE_APPROVAL or not shop.authority.owner_may_approve():
        return first, {}
    ends = parse_instant(quote.expires_at) if quote.state is State.QUOTED else None
    expires = format_instant(ends or ends_at(shop, quote, now))
    drafts = [scribe.approval(shop.who, rulings[action].act.action_hash, expires) for action in actions]
    signed = shop.workspace.signed(drafts, holdings)
    if isinstance(signed, Refusal):
        return replace(first, reasons=signed.detail), {}
    again = shop.authority.rule(
        actions[0], holdings, counterparty, terms, now, Approval.of(signed[0]))
    return again, dict(zip(actions, signed, strict=True)) if again.allows else {}


def _why(shop: Shop, ruling: Ruling) -> str:
    if ruling.decision is Decision.REQUIRE_APPROVAL and not shop.authority.owner_may_approve():
        return ("the mandate holds this, and another than this shop's owner issued it: it can only be rejected here "
                f"({ruling.reasons})")
    return f"the mandate does not allow it: {ruling.reasons}"


def _overtaking(shop: Shop, transaction_id: str) -> tuple[Holdings, datetime]:
    """What is held of a transaction, and the instant of a decision about it."""
    holdings = shop.workspace.store.holdings(transaction_id)
    return holdings, overtaking(holdings, shop.now(transaction_id))
