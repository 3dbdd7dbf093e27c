"""`a202-mcp seller answer ID`: what waits gets a price, an approval, a refusal or a reply (spec 4).

Rules this module applies:

- exactly one of `--price`, `--approve`, `--reject` and `--text` is given, and suits what the id stands for: a quote, an
  order, or a message. `--text` beside a price or a refusal goes to the buyer with it;
- an option that the act has no use for is a mistake, and nothing is done;
- what waits is looked at and answered in one decision of the store.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Final, TypeAlias

from a202_mcp.treatyway import person, words
from a202_mcp.treatyway.deals import Message, Order, Quote
from a202_mcp.treatyway.person import Refused
from a202_mcp.treatyway.prices import rounded
from a202_mcp.treatyway.said import DONE, refuse, say, usage
from a202_mcp.treatyway.shop import Shop
from a202_mcp.treatyway.spans import read_span
from a202_reference.money import CURRENCY, parse_amount

_ACTS: Final[Mapping[str, frozenset[str]]] = {
    "price": frozenset({"currency", "valid_for", "text"}),
    "approve": frozenset(),
    "reject": frozenset({"reason", "text"}),
    "text": frozenset(),
}
"""What an answer does, and the options that go with it."""
_OPTIONS: Final = {"currency": "--currency", "valid_for": "--valid-for", "text": "--text", "reason": "--reason"}


@dataclass(frozen=True, slots=True)
class _Misuse:
    """The command cannot be carried out as it was given."""

    reason: str


_Done: TypeAlias = Quote | Order | Message | Refused | _Misuse


def answer(shop: Shop, options: argparse.Namespace) -> int:
    """Answer what an id stands for; the exit status. Raises sqlite3.Error."""
    act = _act(options)
    if isinstance(act, _Misuse):
        return usage(act.reason)
    shop.status.refresh()
    with shop.store.deciding():
        done = _answered(shop, act, options)
    return _said(done)


def _act(options: argparse.Namespace) -> str | _Misuse:
    """The one thing that is asked for."""
    chosen = [name for name in ("price", "approve", "reject") if getattr(options, name)]
    if len(chosen) > 1 or not (chosen or options.text):
        return _Misuse("give exactly one of --price, --approve, --reject and --text")
    act = chosen[0] if chosen else "text"
    idle = [option for name, option in _OPTIONS.items()
            if name != act and name not in _ACTS[act] and getattr(options, name) is not None]
    if idle:
        return _Misuse(f"{' and '.join(idle)} cannot go with --{act}")
    if options.name is not None and not options.name.strip():
        return _Misuse("--as takes a name")
    return act


def _answered(shop: Shop, act: str, options: argparse.Namespace) -> _Done:
    deal = deal_named(shop, options.id)
    if deal is None:
        return _Misuse(f"there is no quote, order or message {options.id}")
    who = person.person(shop, options.name)
    if isinstance(deal, Message):
        return _to_message(shop, deal, act, options, who)
    return _to_deal(shop, deal, act, options, who)


def _to_message(
    shop: Shop, message: Message, act: str, options: argparse.Namespace, who: Mapping[str, str],
) -> _Done:
    if act == "reject":
        return words.close(shop, message, options.reason or options.text, who)
    if act != "text":
        return _Misuse("a message is answered with --text")
    return words.reply(shop, message, options.text, who)


def _to_deal(
    shop: Shop, deal: Quote | Order, act: str, options: argparse.Namespace, who: Mapping[str, str],
) -> _Done:
    if act == "reject":
        return words.reject(shop, deal, options.reason or options.text, who)
    if act == "approve":
        return person.approve_quote(shop, deal, who) if isinstance(deal, Quote) else person.approve_order(
            shop, deal, who)
    if act != "price" or not isinstance(deal, Quote):
        return _Misuse("a quote is answered with --price, --approve or --reject, an order with --approve or --reject")
    price = _price(shop, options)
    return _Misuse(price) if isinstance(price, str) else person.give_price(shop, deal, price, who)


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


def _said(done: _Done) -> int:
    if isinstance(done, _Misuse):
        return usage(done.reason)
    if isinstance(done, Refused):
        return refuse(done.reason)
    say(f"{done.id} {done.state.value if isinstance(done, Quote | Order) else done.status}")
    return DONE
