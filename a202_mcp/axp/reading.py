"""JSON from the exchange: decimals instead of floats, and values that stand still for comparing (spec 5).

Rules this module applies:

- a number with more than 15 significant digits, an exponent outside -9..15, or over 20 characters is not a number;
  neither are NaN and Infinity. Each becomes `NO_NUMBER`, before any arithmetic;
- two values are the same where their fingerprints are: 1 and 1.0 are one number, the order of members is nothing;
- nesting beyond 64 levels is no argument.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final

MAX_DEPTH: Final = 64


@dataclass(frozen=True, slots=True)
class NotANumber:
    """Stands where a text wrote a number that is not taken for one."""


NO_NUMBER: Final = NotANumber()


@dataclass(frozen=True, slots=True)
class NoJson:
    """The text is not JSON."""


def read(data: bytes | str) -> Any | NoJson:
    """The JSON value in `data`, every number a Decimal or NO_NUMBER; or NoJson. Total."""
    try:
        text = data.decode("utf-8") if isinstance(data, bytes) else data
        return json.loads(text, parse_float=_number, parse_int=_number, parse_constant=lambda _: NO_NUMBER)
    except (ValueError, RecursionError):
        return NoJson()


def written_number(data: bytes, member: str) -> str | None:
    """A number at the top of an object, as the text wrote it; None where it wrote none. `data` is JSON."""
    value = json.loads(data, parse_float=_Written, parse_int=_Written, parse_constant=lambda _: None).get(member)
    return str(value) if isinstance(value, _Written) else None


class _Written(str):
    """The digits of a number."""

    __slots__ = ()


def _number(text: str) -> Decimal | NotANumber:
    if len(text) > 20:
        return NO_NUMBER
    number = Decimal(text)
    if number.is_zero():
        return Decimal(0)
    digits = "".join(map(str, number.as_tuple().digits)).lstrip("0")
    return number if len(digits) <= 15 and -9 <= number.adjusted() <= 15 else NO_NUMBER


def walk(value: Any) -> Iterator[tuple[Any, int]]:
    """Every value inside in its order, with its depth. No document decides how deep our stack goes."""
    stack: list[tuple[Any, int]] = [(value, 0)]
    while stack:
        node, depth = stack.pop()
        yield node, depth
        if depth <= MAX_DEPTH and isinstance(node, dict | list):
            members = list(node.values() if isinstance(node, dict) else node)
            stack.extend((member, depth + 1) for member in reversed(members))


def too_deep(value: Any) -> bool:
    """True where the value is nested beyond the limit."""
    return any(depth > MAX_DEPTH for _, depth in walk(value))


def holds_no_number(value: Any) -> bool:
    """True where something inside was written as a number and is none."""
    return any(node is NO_NUMBER for node, _ in walk(value))


def as_integer(value: Any) -> int | None:
    """The whole number, however it was written (2.0 is 2), or None."""
    return int(value) if isinstance(value, Decimal) and value == value.to_integral_value() else None


def plain(value: Any) -> Any:
    """The value with int and float for its numbers: exact, since a float holds 15 digits. Depth is bounded before."""
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    if isinstance(value, dict):
        return {name: plain(member) for name, member in value.items()}
    if isinstance(value, list | tuple):
        return [plain(member) for member in value]
    return None if value is NO_NUMBER else value


def dumps(value: Any) -> str:
    """JSON text, ASCII only, so that a lone surrogate in somebody's text cannot stop an answer."""
    return json.dumps(plain(value), separators=(",", ":"))


def fingerprint(value: Any) -> str:
    """SHA-256 of the value, the same for equal values."""
    return hashlib.sha256(json.dumps(_tagged(value), sort_keys=True).encode("ascii")).hexdigest()


def _tagged(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _tagged(member) for name, member in value.items()}
    if isinstance(value, list | tuple):
        return [_tagged(member) for member in value]
    if isinstance(value, str):
        return "s" + value
    if isinstance(value, bool) or value is None:
        return value
    return "n" + format(Decimal(value).normalize(), "f") if isinstance(value, int | Decimal) else "x"
