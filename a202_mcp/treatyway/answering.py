"""`a202-mcp seller answer ID`: what waits gets a price, an approval, a refusal or a reply (spec 4).

Exactly one of `--price`, `--approve`, `--reject` and `--text` is given, and suits what the id stands for: a quote, an
order, or a message. `--text` beside a price or a refusal goes to the buyer with it.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from decimal import Decimal

from a202_mcp.treatyway import person, words
from a202_mcp.treatyway.deals import Message, Order, Quote
from a202_mcp.treatyway.person import Refused
from a202_mcp.treatyway.prices import rounded
from a202_mcp.treatyway.said import DONE, refuse, say, usage
from a202_mcp.treatyway.shop import Shop
from a202_mcp.treatyway.spans import read_span
from a202_reference.money import CURRENCY, parse_amount


def answer(shop: Shop, options: argparse.Namespace) -> int:
    """Answer what an id stands for; the exit status. Raises LostRaceError."""
    deal = deal_named(shop, options.id)
    if deal is None:
        return usage(f"there is no quote, order or message {options.id}")
    chosen = [name for name in ("price", "approve", "reject") if getattr(options, name)]
    if len(chosen) > 1 or not (chosen or options.text):
        return usage("give exactly one of --price, --approve, --reject and --text")
    shop.status.refresh()
    act = chosen[0] if chosen else "text"
    who = person.person(shop, options.name)
    if isinstance(deal, Message):
        return _to_message(shop, deal, act, options, who)
    return _to_deal(shop, deal, act, options, who)


def _to_message(
    shop: Shop, message: Message, act: str, options: argparse.Namespace, who: Mapping[str, str],
) -> int:
    if act == "reject":
        return _done(words.close(shop, message, options.reason, who))
    if act != "text":
        return usage("a message is answered with --text")
    return _done(words.reply(shop, message, options.text, who))


def _to_deal(
    shop: Shop, deal: Quote | Order, act: str, options: argparse.Namespace, who: Mapping[str, str],
) -> int:
    if act == "reject":
        return _done(words.reject(shop, deal, options.reason or options.text, who))
    if act == "approve":
        return _done(person.approve_quote(shop, deal, who) if isinstance(deal, Quote)
                     else person.approve_order(shop, deal, who))
    if act != "price" or not isinstance(deal, Quote):
        return usage("a quote is answered with --price, --approve or --reject, an order with --approve or --reject")
    price = _price(shop, options)
    return usage(price) if isinstance(price, str) else _done(person.give_price(shop, deal, price, who))


def deal_named(shop: Shop, identifier: str) -> Quote | Order | Message | None:
    """What an id stands for; a quote whose order is held stands for that order."""
    deal = person.deal_of(shop, identifier)
    if isinstance(deal, Quote) and deal.order_id is not None:
        return person.deal_of(shop, deal.order_id)
    return deal


def _price(shop: Shop, options: argparse.Namespace) -> person.Price | str:
    currency = options.currency or shop.settings.currency
    amount = parse_amount(options.price)
    if amount is None or not CURRENCY.fullmatch(currency):
        return "--price takes an amount such as 120.00, --currency a code such as USD"
    exact: Decimal = rounded(amount, currency)
    if exact != amount:
        return f"--price has more digits than {currency} has"
    span = None if options.valid_for is None else read_span(options.valid_for)
    if options.valid_for is not None and span is None:
        return "--valid-for takes a span such as 7d"
    return person.Price(exact, currency, None if span is None else int(span.total_seconds()), options.text)


def _done(result: Quote | Order | Message | Refused) -> int:
    if isinstance(result, Refused):
        return refuse(result.reason)
    say(f"{result.id} {result.state.value if isinstance(result, Quote | Order) else result.status}")
    return DONE
