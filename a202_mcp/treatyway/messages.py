"""What a buyer's agent sends, over either transport (spec 5, 10; T9, T82; design, "Parse once").

Rules this module applies:

- the arguments of a `tools/call` are read with lenience, since members that no tool knows must not fail a call: they
  may hold lone surrogates, numbers of any size and 64 levels. What lies deeper counts as null. Whatever a tool knows
  is judged where its inputs are read;
- arguments that are no object, or cannot be read, still make a call, which is refused in its turn;
- everything else of a message goes through the strict reader (`envelope`), and so does what the protocol's library
  gets to see: it never meets the arguments.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from mcp.shared.message import ServerMessageMetadata, SessionMessage
from mcp_types.jsonrpc import JSONRPCError, JSONRPCRequest

from a202_mcp import envelope
from a202_mcp.descriptors import Oversized

_CALL: Final = "tools/call"
_MOST_LEVELS: Final = 64
_MOST_DIGITS: Final = 400


@dataclass(frozen=True, slots=True)
class Sent:
    """What a call carries: its arguments, None where they are no object; and the request as it came in."""

    arguments: Mapping[str, Any] | None
    raw: bytes


def read_message(line: bytes | Oversized) -> SessionMessage | JSONRPCError | None:
    """The message in a line or body, the error to answer it with, or None for a blank one.

    A call carries its `Sent` as the request context, and no arguments.
    """
    if isinstance(line, Oversized):
        return envelope.read_message(line)
    value = _read(line)
    params = value.get("params") if isinstance(value, dict) else None
    if not isinstance(params, dict) or value.get("method") != _CALL:
        message, sent = envelope.read_message(line), Sent(None, line)
    else:
        given = params.pop("arguments", None)
        message = envelope.read_message(json.dumps(value).encode("ascii"))
        sent = Sent(_shallow({} if given is None else given), line)
    return _carrying(message, sent) if isinstance(message, SessionMessage) else message


def _carrying(message: SessionMessage, sent: Sent) -> SessionMessage:
    """The message; a call with what it sent. One that was salvaged of an unreadable line sent nothing readable."""
    called = isinstance(message.message, JSONRPCRequest) and message.message.method == _CALL
    return SessionMessage(message.message, ServerMessageMetadata(request_context=sent)) if called else message


def _read(line: bytes) -> Any:
    """The JSON value in a line, or None where there is none."""
    try:
        return json.loads(line.decode("utf-8"), parse_int=_number, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return None


def _number(digits: str) -> int | float:
    """A whole number, or infinity for one that Python would not turn into digits again."""
    return int(digits) if len(digits) <= _MOST_DIGITS else float(digits)


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is no JSON")


def _shallow(arguments: Any) -> Mapping[str, Any] | None:
    """An object's members, those beyond the levels as null; without recursion. None for what is no object."""
    if not isinstance(arguments, dict):
        return None
    waiting: list[tuple[Any, int]] = [(arguments, 1)]
    while waiting:
        node, level = waiting.pop()
        places = node.items() if isinstance(node, dict) else enumerate(node)
        for place, member in list(places):
            if isinstance(member, dict | list) and level == _MOST_LEVELS:
                node[place] = None
            elif isinstance(member, dict | list):
                waiting.append((member, level + 1))
    return arguments
