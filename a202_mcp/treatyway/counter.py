"""The counter: every call passes here, in this order (spec 5, 7, 10).

Rules this module applies:

- trust level, idempotent repeat, cap, input, then the tool itself. A tool that is not listed does not get here;
- a call that counts is one decision of the store, from the look at its key and its cap to what it writes: no two calls
  take the last place under a cap, the last piece of a stock, or one key;
- whatever goes wrong inside is answered in neutral words, counts all the same, and nothing was booked.
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
from a202_mcp.treatyway.calling import Call, Once, as_answered
from a202_mcp.treatyway.inputs import FIELDS, KEY, Wrong, comparable, heeded, read_inputs
from a202_mcp.treatyway.ordering import place_order
from a202_mcp.treatyway.quoting import request_quote
from a202_mcp.treatyway.shop import Shop
from a202_reference.canonical import value_hash
from a202_reference.times import format_instant, whole_second

CONTRACT: Final = "treatyway"
VERSION: Final = "1"
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
        given = (_counted if tool in _COUNTED else _free)(shop, tool, caller, raw, body)
    except Exception as error:
        given = _failed(tool, error)
    note(tool, caller, given)
    return given


def admitted(shop: Shop, caller: Caller) -> Fault | None:
    """Count a call of a shop's own tool, or say why it is too many."""
    now = _now(shop)
    with shop.store.deciding():
        fault = _capped(shop, caller, now)
        if fault is None:
            _count(shop, caller, now)
    return fault


def note(tool: str, caller: Caller, given: Answer) -> None:
    """One line about a call: when, which tool, what kind of caller, and the error's code if it is one."""
    code = given.code.value if isinstance(given, Fault) else "ok"
    logs.say(f"{format_instant(datetime.now(UTC))} {tool} {caller.kind.value} {code}")


def _free(shop: Shop, tool: str, caller: Caller, raw: Mapping[str, Any] | None, body: bytes) -> Answer:
    """A call that counts for nothing and writes nothing."""
    return _carried_out(shop, tool, caller, raw, body, _now(shop), None)


def _counted(shop: Shop, tool: str, caller: Caller, raw: Mapping[str, Any] | None, body: bytes) -> Answer:
    """A call of a tool that the caps count."""
    with shop.store.deciding():
        now, refusal = _now(shop), _trust(tool, caller)
        once = None if raw is None else _once(shop, tool, caller, raw)
        if refusal is None and once is not None:
            first = shop.store.once(once.scope, now)
            if first is not None and hmac.compare_digest(first[0], once.content_hash):
                return as_answered(first[1])
            refusal = None if first is None else CONFLICT
        if refusal is None and (full := _capped(shop, caller, now)) is not None:
            return full
        _count(shop, caller, now)
        if refusal is not None:
            return refusal
        try:
            with shop.store.deciding():
                return _carried_out(shop, tool, caller, raw, body, now, once)
        except Exception as error:  # it counts, and nothing else of it is left
            return _failed(tool, error)


def _carried_out(
    shop: Shop, tool: str, caller: Caller, raw: Mapping[str, Any] | None, body: bytes, now: float, once: Once | None,
) -> Answer:
    if raw is None:
        return NO_OBJECT
    inputs = read_inputs(FIELDS[tool], heeded(tool, raw), shop.settings.calendar.zone)
    return invalid(inputs) if isinstance(inputs, str) else _TOOLS[tool](
        shop, Call(tool, caller, inputs, body, now, once))


def _failed(tool: str, error: Exception) -> Fault:
    """What is said of a defect of ours, or of a state that cannot be used."""
    if isinstance(error, sqlite3.Error):
        logs.say(f"the state cannot be used: {type(error).__name__}")
    else:
        logs.defect(tool, error)
    return UNAVAILABLE


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
    content = json.dumps(comparable(FIELDS[tool], heeded(tool, raw), zone), sort_keys=True)
    return Once(value_hash([tool, caller.key, key]), value_hash(content))


def _capped(shop: Shop, caller: Caller, now: float) -> Fault | None:
    again = shop.store.calls(_counted_as(caller), now, shop.settings.caps[caller.cap])
    if again is None:
        return None
    moment = format_instant(whole_second(datetime.fromtimestamp(again + 1, UTC)))
    return Fault(ErrorCode.CAP_REACHED, f"No more requests accepted for now; try again after {moment}")


def _count(shop: Shop, caller: Caller, now: float) -> None:
    shop.store.remember(count(_counted_as(caller), now))


def _now(shop: Shop) -> float:
    return seconds(shop.workspace.clock())


def _counted_as(caller: Caller) -> str:
    return value_hash(caller.key)
