"""What waits for the owner, and how it is shown (spec 4, 7).

Foreign text is shown as plain text: no markup, and control and direction characters as escapes. Who called is worded
as the contract says, and no other way. What waits goes on waiting whatever word the owner set, unless the word ends it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from a202_mcp.one_owner.terminal import plain
from a202_mcp.treatyway.deals import ENDING, OPEN, Message, Order, Quote, read
from a202_mcp.treatyway.shop import Shop


def items(shop: Shop, *, everything: bool = False) -> list[dict[str, Any]]:
    """What waits for a person, or all there ever was, oldest first."""
    found = [*_quotes(shop, everything), *_orders(shop, everything), *_messages(shop, everything)]
    return sorted(found, key=lambda item: (item["since"], item["id"]))


def _quotes(shop: Shop, everything: bool) -> Iterator[dict[str, Any]]:
    now = shop.now()
    for entry in shop.store.entries("quote"):
        quote = read(Quote, entry)
        if quote is not None and (everything or _waits(quote, now)):
            yield _item(quote.id, "quote", quote.status(now), quote, _asked(quote.request), quote.missing, quote.price)


def _orders(shop: Shop, everything: bool) -> Iterator[dict[str, Any]]:
    now = shop.now()
    for entry in shop.store.entries("order"):
        order = read(Order, entry)
        quote = None if order is None else read(Quote, shop.store.entry("quote", order.quote_id))
        if order is not None and quote is not None and (everything or _waits(order, now)):
            said = f"order on {order.quote_id}: {_asked(quote.request)}" + (f" ({order.note})" if order.note else "")
            yield _item(order.id, "order", order.status(now), order, said, [], quote.price)


def _waits(deal: Quote | Order, now: datetime) -> bool:
    return deal.state in OPEN and deal.status(now) not in ENDING


def _messages(shop: Shop, everything: bool) -> Iterator[dict[str, Any]]:
    for entry in shop.store.entries("message"):
        message = read(Message, entry)
        if message is not None and (everything or message.status == "open"):
            yield _item(message.id, "message", message.status, message, message.text, [], None)


def _item(
    identifier: str, kind: str, status: str, deal: Quote | Order | Message, summary: str, missing: list[str],
    price: Mapping[str, str] | None,
) -> dict[str, Any]:
    return {
        "id": identifier, "kind": kind, "status": status, "since": deal.created_at, "caller": deal.label,
        "summary": summary, "missing": missing, "computed_price": None if price is None else dict(price)}


def _asked(request: Mapping[str, Any]) -> str:
    """The buyer's own words, and what else was given."""
    rest = [f"{name}: {_said(value)}" for name, value in request.items() if name != "summary"]
    return " | ".join([str(request.get("summary", "")), *rest])


def _said(value: Any) -> str:
    if isinstance(value, dict):
        return str(value["prose"]) if "prose" in value else ", ".join(f"{name} {_said(v)}" for name, v in value.items())
    return "; ".join(_said(each) for each in value) if isinstance(value, list) else str(value)


def lines(found: list[dict[str, Any]]) -> str:
    """The items for a terminal."""
    if not found:
        return "nothing waits\n"
    return "".join(_shown(item) for item in found)


def _shown(item: Mapping[str, Any]) -> str:
    price = item["computed_price"]
    rows = [f"{item['id']}  {item['kind']}  {plain(item['status'])}  since {item['since']}",
            f"  from: {plain(item['caller'])}", f"  {plain(item['summary'])}"]
    rows += [f"  missing: {plain(text)}" for text in item["missing"]]
    rows += [] if price is None else [f"  price: {price['amount']} {price['currency']}"]
    return "\n".join(rows) + "\n"
