"""`a202-mcp seller COMMAND`: what the owner does beside the running server (spec 4).

Exit status: 0 done; 1 refused by a rule, with the reason; 2 usage, an unknown id, a bad configuration.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any, Final

from a202_mcp.one_owner import keyfiles
from a202_mcp.one_owner.terminal import plain
from a202_mcp.treatyway import inbox, words
from a202_mcp.treatyway.answering import answer, deal_named
from a202_mcp.treatyway.book import Entry, open_book, put
from a202_mcp.treatyway.deals import Message, Quote, said_over
from a202_mcp.treatyway.inforce import identity
from a202_mcp.treatyway.initialising import init, ready_identity
from a202_mcp.treatyway.mandate_commands import turn
from a202_mcp.treatyway.opened import open_for_owner
from a202_mcp.treatyway.person import Refused
from a202_mcp.treatyway.said import DONE, refuse, say, usage, warn
from a202_mcp.treatyway.settings import Kind, Settings
from a202_mcp.treatyway.shop import Shop


def run(settings: Settings, options: argparse.Namespace) -> int:
    """Run one command; the exit status. Raises NotReadyError, OSError, sqlite3.Error."""
    command: str = options.command
    if command == "check":
        return _check(settings)
    if command == "init":
        say(init(settings))
        return DONE
    if command == "key":
        return _key(settings)
    if command == "mandate":
        return turn(settings.state_dir, options.act)
    shop = open_for_owner(settings, with_owner=command == "answer")
    try:
        return _COMMANDS[command](shop, options)
    finally:
        shop.workspace.close()


def _check(settings: Settings) -> int:
    say("the configuration is in order")
    if settings.refuse_denied:
        warn("quote.on_deny = \"refuse\" lets a buyer find mandate.max_total by asking for more and more")
    return DONE


def _key(settings: Settings) -> int:
    store = open_book(settings.state_dir)
    try:
        who = identity(store) or ready_identity(settings, store)
    finally:
        store.close()
    agent = keyfiles.load(settings.state_dir, keyfiles.AGENT).public
    try:
        owner: Mapping[str, str] | None = keyfiles.load(
            settings.state_dir, keyfiles.OWNER, keyfiles.passphrase()).public.jwk
    except keyfiles.KeyFileError:
        owner = None  # sealed, and no passphrase was given
    say(json.dumps({**asdict(who), "agent_jwk": agent.jwk, "owner_jwk": owner}, indent=2))
    return DONE


def _inbox(shop: Shop, options: argparse.Namespace) -> int:
    found = inbox.items(shop, everything=options.all)
    say(json.dumps({"items": found}) if options.json else inbox.lines(found).rstrip("\n"))
    return DONE


def _status(shop: Shop, options: argparse.Namespace) -> int:
    if options.word is not None and not (options.word.strip() and len(options.word) <= 100):
        return usage("--set takes a word of 1 to 100 characters")
    with shop.store.deciding():
        deal = deal_named(shop, options.id)
        if deal is None or isinstance(deal, Message):
            return usage(f"there is no quote or order {options.id}")
        now = shop.now(deal.transaction_id)
        if options.word is not None or options.summary is not None:
            done = words.set_word(shop, deal, options.word, options.summary, now)
            if isinstance(done, Refused):
                return refuse(done.reason)
            deal = done
    word, summary = said_over(deal, deal.happened(now))
    shown: dict[str, Any] = {
        "id": options.id, "status": word, "transaction_id": deal.transaction_id, "summary": summary,
        "caller": deal.label, "one_sided": True}
    if isinstance(deal, Quote):
        shown.update({"price": deal.price, "expires_at": deal.expires_at, "order_id": deal.order_id})
    else:
        shown.update({"quote_id": deal.quote_id, "order_id": deal.id})
    if options.json:
        say(json.dumps(shown))
    else:
        say("\n".join(f"{name}: {plain(str(value))}" for name, value in shown.items() if value is not None))
    return DONE


def _stock(shop: Shop, options: argparse.Namespace) -> int:
    offer = shop.offer(options.offer)
    if offer is None or offer.kind is not Kind.GOOD:
        return usage(f"there is no good {options.offer} in the configuration")
    if options.count is not None:
        text: str = options.count
        if not (text.isascii() and text.isdigit() and len(text) <= 9):
            return usage("a count is a whole number from 0")
        with shop.store.deciding():
            entry = shop.store.entry("stock", offer.id)
            shop.remember([put("stock", offer.id, _next(entry), {"count": int(text), "by": "owner"})])
    held = shop.stock(offer.id)
    say("no count: no limit" if held is None else str(held))
    return DONE


_COMMANDS: Final[Mapping[str, Callable[[Shop, argparse.Namespace], int]]] = {
    "inbox": _inbox, "answer": answer, "status": _status, "stock": _stock}


def _next(entry: Entry | None) -> int:
    return 1 if entry is None else entry.version + 1
