"""Which quotes, orders and messages a caller may see (spec 5, "Ids").

What a caller with a pass or a token made is that caller's; what a caller without made is whoever's holds its id. An
order is only its maker's; others who may see the quote see the order's word, and no order_id. Whatever may not be
seen reads as unknown, and so do ids that do not belong together.
"""

from __future__ import annotations

from a202_mcp.treatyway.callers import Caller
from a202_mcp.treatyway.deals import Message, Order, Quote, State, read
from a202_mcp.treatyway.shop import Shop


def quote_of(shop: Shop, caller: Caller, quote_id: str) -> Quote | None:
    """The quote, where this caller may see it."""
    quote = read(Quote, shop.store.entry("quote", quote_id))
    return quote if quote is not None and quote.owner in (None, caller.owner) else None


def order_of(shop: Shop, caller: Caller, order_id: str) -> Order | None:
    """The order, where this caller placed it and it exists for buyers."""
    order = read(Order, shop.store.entry("order", order_id))
    seen = order is not None and order.state is State.ACCEPTED and owns(order.owner, caller)
    return order if seen else None


def named(
    shop: Shop, caller: Caller, quote_id: str | None, order_id: str | None,
) -> tuple[Quote | None, Order | None] | None:
    """What the ids that are given stand for; None where one is unknown, or not the other's."""
    quote = None if quote_id is None else quote_of(shop, caller, quote_id)
    order = None if order_id is None else order_of(shop, caller, order_id)
    if (quote_id is not None and quote is None) or (order_id is not None and order is None):
        return None
    return None if quote is not None and order is not None and order.quote_id != quote.id else (quote, order)


def message_of(shop: Shop, caller: Caller, message_id: str) -> Message | None:
    """The message, where this caller may see it."""
    message = read(Message, shop.store.entry("message", message_id))
    return message if message is not None and message.owner in (None, caller.owner) else None


def order_on(shop: Shop, quote: Quote) -> Order | None:
    """The one order on a quote, whoever placed it and however it stands."""
    return None if quote.order_id is None else read(Order, shop.store.entry("order", quote.order_id))


def owns(owner: str | None, caller: Caller) -> bool:
    """True where the caller is the one who placed it. Orders are never placed by nobody."""
    return owner is not None and owner == caller.owner
