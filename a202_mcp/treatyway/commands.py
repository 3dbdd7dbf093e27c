"""`a202-mcp seller COMMAND`: what the owner does beside the running server (spec 4).

Exit status: 0 done; 1 refused by a rule, with the reason; 2 usage, an unknown id, a bad configuration.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Mapping
from dataclasses import asdict
from decimal import Decimal
from typing import Any, Final

from a202_mcp.one_owner import keyfiles
from a202_mcp.one_owner.switch import TURNS, fixed
from a202_mcp.one_owner.terminal import plain
from a202_mcp.treatyway import inbox, person
from a202_mcp.treatyway.book import Entry, open_book, put
from a202_mcp.treatyway.deals import Message, Order, Quote
from a202_mcp.treatyway.opened import init, open_shop, ready_identity
from a202_mcp.treatyway.person import Refused
from a202_mcp.treatyway.prices import rounded
from a202_mcp.treatyway.settings import Kind, Settings
from a202_mcp.treatyway.shop import LostRaceError, Shop
from a202_mcp.treatyway.spans import read_span
from a202_mcp.treatyway.status import set_switch, switch
from a202_reference.money import CURRENCY, parse_amount

DONE, REFUSED, USAGE = 0, 1, 2


def run(settings: Settings, options: argparse.Namespace) -> int:
    """Run one command; the exit status. Raises NotReadyError, OSError, sqlite3.Error."""
    command: str = options.command
    if command == "check":
        return _check(settings)
    if command == "init":
        _say(init(settings))
        return DONE
    if command == "key":
        return _key(settings)
    shop = open_shop(settings, with_owner=command == "answer")
    try:
        for _ in range(8):
            try:
                return _COMMANDS[command](shop, options)
            except LostRaceError:
                continue
        return _refuse("the server was writing all the time; try again")
    finally:
        shop.workspace.close()


def _check(settings: Settings) -> int:
    _say("the configuration is in order")
    if settings.refuse_denied:
        _warn("quote.on_deny = \"refuse\" lets a buyer find mandate.max_total by asking for more and more")
    return DONE


def _key(settings: Settings) -> int:
    store = open_book(settings.state_dir)
    try:
        who = ready_identity(settings, store)
    finally:
        store.close()
    agent = keyfiles.load(settings.state_dir, keyfiles.AGENT).public
    try:
        owner: Mapping[str, str] | None = keyfiles.load(
            settings.state_dir, keyfiles.OWNER, keyfiles.passphrase()).public.jwk
    except keyfiles.KeyFileError:
        owner = None  # sealed, and no passphrase was given
    _say(json.dumps({**asdict(who), "agent_jwk": agent.jwk, "owner_jwk": owner}, indent=2))
    return DONE


def _inbox(shop: Shop, options: argparse.Namespace) -> int:
    found = inbox.items(shop, everything=options.all)
    _say(json.dumps({"items": found}) if options.json else inbox.lines(found).rstrip("\n"))
    return DONE


def _answer(shop: Shop, options: argparse.Namespace) -> int:
    deal = _deal(shop, options.id)
    if deal is None:
        return _usage(f"there is no quote, order or message {plain(options.id)}")
    chosen = [name for name in ("price", "approve", "reject") if getattr(options, name)]
    if len(chosen) > 1 or not (chosen or options.text):
        return _usage("give exactly one of --price, --approve, --reject and --text")
    shop.status.refresh()
    who = person.person(shop, options.name)
    if isinstance(deal, Message):
        if chosen == ["reject"]:
            return _done(person.close(shop, deal, options.reason, who))
        return _done(person.reply(shop, deal, options.text, who)) if not chosen else _usage(
            "a message is answered with --text")
    if chosen == ["reject"]:
        return _done(person.reject(shop, deal, options.reason or options.text, who))
    if chosen == ["approve"]:
        return _done(person.approve_quote(shop, deal, who) if isinstance(deal, Quote)
                     else person.approve_order(shop, deal, who))
    if chosen != ["price"] or not isinstance(deal, Quote):
        return _usage("a quote is answered with --price, --approve or --reject, an order with --approve or --reject")
    price = _price(shop, options)
    return _usage(price) if isinstance(price, str) else _done(person.give_price(shop, deal, price, who))


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


def _status(shop: Shop, options: argparse.Namespace) -> int:
    deal = _deal(shop, options.id)
    if deal is None or isinstance(deal, Message):
        return _usage(f"there is no quote or order {plain(options.id)}")
    if options.word is not None or options.summary is not None:
        if options.word is not None and not (options.word.strip() and len(options.word) <= 100):
            return _usage("--set takes a word of 1 to 100 characters")
        deal = person.set_word(shop, deal, options.word, options.summary)
    word = deal.status(shop.now()) if isinstance(deal, Quote) else deal.status
    shown: dict[str, Any] = {
        "id": options.id, "status": word, "transaction_id": deal.transaction_id, "summary": deal.summary,
        "caller": deal.label, "one_sided": True}
    if isinstance(deal, Quote):
        shown.update({"price": deal.price, "expires_at": deal.expires_at, "order_id": deal.order_id})
    else:
        shown.update({"quote_id": deal.quote_id, "order_id": deal.id})
    if options.json:
        _say(json.dumps(shown))
    else:
        _say("\n".join(f"{name}: {plain(str(value))}" for name, value in shown.items() if value is not None))
    return DONE


def _stock(shop: Shop, options: argparse.Namespace) -> int:
    offer = shop.offer(options.offer)
    if offer is None or offer.kind is not Kind.GOOD:
        return _usage(f"there is no good {plain(options.offer)} in the configuration")
    if options.count is not None:
        text: str = options.count
        if not (text.isascii() and text.isdigit() and len(text) <= 9):
            return _usage("a count is a whole number from 0")
        entry = shop.store.entry("stock", offer.id)
        shop.remember([put("stock", offer.id, _next(entry), {"count": int(text), "by": "owner"})])
    held = shop.stock(offer.id)
    _say("no count: no limit" if held is None else str(held))
    return DONE


def _mandate(shop: Shop, options: argparse.Namespace) -> int:
    mandate_id = shop.authority.mandate_id
    if options.act != "show":
        why = fixed(mandate_id, switch(shop.store, mandate_id), shop.settings.status_url)
        if why is not None:
            return _refuse(why)
        set_switch(shop.store, mandate_id, TURNS[options.act])
    shop.status.refresh()
    status = shop.status.result(mandate_id, shop.now())
    document = shop.authority.mandate()
    _say(json.dumps({
        "mandate_id": mandate_id, "status": None if status is None else status.status,
        "valid_until": document["valid_until"], "mandate": document}, indent=2))
    return DONE


_COMMANDS: Final[Mapping[str, Callable[[Shop, argparse.Namespace], int]]] = {
    "inbox": _inbox, "answer": _answer, "status": _status, "stock": _stock, "mandate": _mandate}


def _deal(shop: Shop, identifier: str) -> Quote | Order | Message | None:
    """What an id stands for; a quote whose order is held stands for that order."""
    deal = person.deal_of(shop, identifier)
    if isinstance(deal, Quote) and deal.order_id is not None:
        return person.deal_of(shop, deal.order_id)
    return deal


def _done(result: Quote | Order | Message | Refused) -> int:
    if isinstance(result, Refused):
        return _refuse(result.reason)
    _say(f"{result.id} {result.state.value if isinstance(result, Quote | Order) else result.status}")
    return DONE


def _next(entry: Entry | None) -> int:
    return 1 if entry is None else entry.version + 1


def _say(text: str) -> None:
    sys.stdout.write(text + "\n")


def _warn(text: str) -> None:
    sys.stderr.write(f"a202-mcp seller: warning: {text}\n")


def _refuse(reason: str) -> int:
    sys.stderr.write(f"a202-mcp seller: {plain(reason)}\n")
    return REFUSED


def _usage(reason: str) -> int:
    sys.stderr.write(f"a202-mcp seller: {reason}\n")
    return USAGE
