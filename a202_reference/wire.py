"""The strict reader of JSON from outside (rules D-1; design, "Parse once").

Rules this module applies, before anything is hashed or judged:

- duplicate member names are refused, also when one of them is written with escapes;
- NaN, Infinity, numbers with fraction or exponent, and integers beyond 2^53 - 1 are refused
  (`Numbers.ANY` admits them for callers that must point at the number, or judge another's documents);
- lone surrogates, nesting beyond 64 levels and texts over the size limit are refused.

Every text gets an answer: the value, or an `Unreadable` that says why. Nothing is raised.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from typing import Any, NoReturn

from a202_reference.canonical import MAX_DEPTH, MAX_SAFE_INTEGER

MAX_BYTES = 16 * 1024 * 1024


class Numbers(Enum):
    """Which JSON numbers a reader admits."""

    SAFE_INTEGERS = "safe integers"
    ANY = "any"


@dataclass(frozen=True, slots=True)
class Unreadable:
    """Why a text was refused, for the caller; never a copy of its content."""

    reason: str


class _RefusedError(ValueError):
    pass


def read_json(
    data: bytes | str,
    *,
    numbers: Numbers = Numbers.SAFE_INTEGERS,
    max_bytes: int = MAX_BYTES,
    max_depth: int = MAX_DEPTH,
) -> Any | Unreadable:
    """The JSON value in `data` (UTF-8 where bytes), or why it is refused."""
    if len(data) > max_bytes:
        return Unreadable(f"the text is larger than {max_bytes} bytes")
    try:
        text = data.decode("utf-8") if isinstance(data, bytes) else data
        value = json.loads(
            text,
            object_pairs_hook=_members,
            parse_constant=_refuse_constant,
            parse_float=_any_fraction if numbers is Numbers.ANY else _refuse_fraction,
            parse_int=_any_integer if numbers is Numbers.ANY else _safe_integer,
        )
    except UnicodeDecodeError:
        return Unreadable("the text is not UTF-8")
    except RecursionError:
        return Unreadable(f"nested deeper than {max_depth} levels")
    except _RefusedError as refused:
        return Unreadable(str(refused))
    except ValueError:
        return Unreadable("the text is not JSON")
    reason = next(_faults(value, max_depth), None)
    return value if reason is None else Unreadable(reason)


def has_lone_surrogate(text: str) -> bool:
    """True where the string cannot be written as UTF-8."""
    return not text.isascii() and any("\ud800" <= character <= "\udfff" for character in text)


def _faults(value: Any, max_depth: int) -> Iterator[str]:
    """Walk without recursion, so that no document decides how deep our stack goes."""
    stack: list[tuple[Any, int]] = [(value, 0)]
    while stack:
        node, depth = stack.pop()
        if isinstance(node, str):
            if has_lone_surrogate(node):
                yield "a string holds a lone surrogate"
        elif isinstance(node, dict | list):
            if depth == max_depth:
                yield f"nested deeper than {max_depth} levels"
                return
            if isinstance(node, dict):
                stack.extend((name, depth + 1) for name in node)
                stack.extend((member, depth + 1) for member in node.values())
            else:
                stack.extend((member, depth + 1) for member in node)


def _members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise _RefusedError("a member name occurs twice in one object")
    return members


def _refuse_constant(_: str) -> NoReturn:
    raise _RefusedError("NaN and Infinity are no JSON")


def _refuse_fraction(_: str) -> NoReturn:
    raise _RefusedError("a number with a fraction or an exponent; write amounts and quantities as strings")


def _any_fraction(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise _RefusedError("a number too large to hold")
    return number


def _safe_integer(text: str) -> int:
    number = _any_integer(text)
    if abs(number) > MAX_SAFE_INTEGER:
        raise _RefusedError("an integer beyond 2^53 - 1")
    return number


def _any_integer(text: str) -> int:
    if len(text) > 400:
        raise _RefusedError("a number of more than 400 digits")
    return int(text)
