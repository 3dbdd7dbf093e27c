"""The counter: every call passes here, in this order (spec 5, 7).

Trust level, idempotent repeat, cap, input, then the tool itself. A tool that is not listed does not get here. Whatever
goes wrong inside is answered in neutral words, and nothing was booked.
"""

from __future__ import annotations

import hmac
import json
import sqlite3
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any, Final

from a202_mcp import logs
from a202_mcp.treatyway import names
from a202_mcp.treatyway.answers import CONFLICT, NO_OBJECT, UNAVAILABLE, Answer, ErrorCode, Fault, invalid, trust
from a202_mcp.treatyway.asking import check_availability, describe_offer, get_status, message
from a202_mcp.treatyway.book import count, seconds
from a202_mcp.treatyway.callers import Caller, CallerKind
from a202_mcp.treatyway.calling import Call, Once
from a202_mcp.treatyway.inputs import FIELDS, KEY, Wrong, comparable, read_inputs
from a202_mcp.treatyway.ordering import place_order
from a202_mcp.treatyway.quoting import request_quote
from a202_mcp.treatyway.shop import LostRaceError, MovedError, Shop
from a202_reference.canonical import value_hash
from a202_reference.times import format_instant, whole_second

CONTRACT: Final = "treatyway"
VERSION: Final = "1"
ROLES: Final = ("business", "person", "agent")
_COUNTED: Final = (names.AVAILABILITY, names.QUOTE, names.ORDER, names.MESSAGE)
_SHORTEST_KEY_WITHOUT_PASS: Final = 16


def declaration(shop: Shop, _: Call) -> Answer:
    """treatyway_contract."""
    return {"contract": CONTRACT, "version": VERSION, "tools": list(standard_tools(shop))}


_TOOLS: Final[Mapping[str, Callable[[Shop, Call], Answer]]] = {
    names.DECLARATION: declaration,
    names.DESCRIBE: describe_offer,
    names.AVAILABILITY: check_availability,
    names.QUOTE: request_quote,
    names.ORDER: place_order,
    names.STATUS: get_status,
    names.MESSAGE: message,
}


def standard_tools(shop: Shop) -> tuple[str, ...]:
    """The standard tools of this shop, in the contract's order."""
    return tuple(name for name in names.STANDARD if name != names.ORDER or shop.settings.place_order)


def answered_by(shop: Shop) -> dict[str, str]:
    """Who answers where no person did."""
    return {"name": shop.settings.name, "role": shop.settings.role}


def answer(shop: Shop, tool: str, caller: Caller, raw: Mapping[str, Any] | None, body: bytes) -> Answer:
    """What a standard tool answers. raw None: the arguments are no object."""
    try:
        given = _answer(shop, tool, caller, raw, body)
    except sqlite3.Error as unusable:
        logs.say(f"the state cannot be used: {type(unusable).__name__}")
        given = UNAVAILABLE
    except Exception as error:
        logs.defect(tool, error)
        given = UNAVAILABLE
    note(tool, caller, given)
    return given


def admitted(shop: Shop, caller: Caller) -> Fault | None:
    """Count a call of a shop's own tool, or say why it is too many."""
    now = seconds(shop.workspace.clock())
    fault = _capped(shop, caller, now)
    if fault is None:
        shop.store.remember(count(_counted_as(caller), now))
    return fault


def note(tool: str, caller: Caller, given: Answer) -> None:
    """One line about a call: when, which tool, what kind of caller, and the error's code if it is one."""
    code = given.code.value if isinstance(given, Fault) else "ok"
    logs.say(f"{format_instant(datetime.now(UTC))} {tool} {caller.kind.value} {code}")


def _answer(shop: Shop, tool: str, caller: Caller, raw: Mapping[str, Any] | None, body: bytes) -> Answer:
    now = seconds(shop.workspace.clock())
    counted = tool in _COUNTED
    refusal = _trust(tool, caller)
    if refusal is not None:
        if counted:
            shop.store.remember(count(_counted_as(caller), now))
        return refusal
    once = None if raw is None else _once(shop, tool, caller, raw)
    repeat = None if once is None else _repeat(shop, once, now)
    if repeat is not None:
        if counted and isinstance(repeat, Fault):
            shop.store.remember(count(_counted_as(caller), now))
        return repeat
    if counted:
        fault = _capped(shop, caller, now)
        if fault is not None:
            return fault
        shop.store.remember(count(_counted_as(caller), now))
    if raw is None:
        return NO_OBJECT
    inputs = read_inputs(FIELDS[tool], raw, shop.settings.calendar.zone)
    if isinstance(inputs, str):
        return invalid(inputs)
    return _run(shop, Call(tool, caller, inputs, body, now, once))


def _run(shop: Shop, call: Call) -> Answer:
    try:
        return _TOOLS[call.tool](shop, call)
    except (MovedError, LostRaceError):
        repeat = None if call.once is None else _repeat(shop, call.once, call.at)
        return UNAVAILABLE if repeat is None else repeat


def _trust(tool: str, caller: Caller) -> Fault | None:
    if tool == names.ORDER and not caller.may_order:
        return trust(names.ORDER, 2)
    if tool == names.QUOTE and caller.kind is CallerKind.PASS and caller.level < 1:
        return trust(names.QUOTE, 1)
    return None


def _once(shop: Shop, tool: str, caller: Caller, raw: Mapping[str, Any]) -> Once | None:
    """The claim to an idempotency key, where the call has one that counts."""
    if KEY not in FIELDS[tool]:
        return None
    zone = shop.settings.calendar.zone
    key = None if raw.get(KEY.name) is None else KEY.read(raw[KEY.name], zone)
    if key is None or isinstance(key, Wrong):
        return None
    if caller.kind is CallerKind.NONE and len(key) < _SHORTEST_KEY_WITHOUT_PASS:
        return None
    content = json.dumps(comparable(FIELDS[tool], raw, zone), sort_keys=True)
    return Once(value_hash([tool, caller.key, key]), value_hash(content))


def _repeat(shop: Shop, once: Once, now: float) -> Answer | None:
    first = shop.store.once(once.scope, now)
    if first is None:
        return None
    return first[1] if hmac.compare_digest(first[0], once.content_hash) else CONFLICT


def _capped(shop: Shop, caller: Caller, now: float) -> Fault | None:
    again = shop.store.calls(_counted_as(caller), now, shop.settings.caps[caller.cap])
    if again is None:
        return None
    moment = format_instant(whole_second(datetime.fromtimestamp(again + 1, UTC)))
    return Fault(ErrorCode.CAP_REACHED, f"No more requests accepted for now; try again after {moment}")


def _counted_as(caller: Caller) -> str:
    return value_hash(caller.key)
