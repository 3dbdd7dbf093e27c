"""From one line of input to one protocol message (surface 4, "Whatever else arrives").

Rules this module applies:

- every line is read by the strict reader, so that nothing ambiguous (duplicate names, NaN, lone surrogates,
  more than 64 levels) ever reaches a handler;
- a `tools/call` whose arguments are unreadable or no object still gets a tool's answer: id, method, tool name
  and `_meta` are salvaged, and the reason travels with the message as an `Unread`;
- any other line that is no message gets a JSON-RPC error, with the id where it can be told and null where not;
- salvaging is one pass over the bytes, whatever they hold: it neither nests nor backtracks.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Final

from mcp.shared.message import ServerMessageMetadata, SessionMessage
from mcp_types.jsonrpc import (
    INVALID_REQUEST,
    PARSE_ERROR,
    ErrorData,
    JSONRPCError,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
    RequestId,
)
from pydantic import ValidationError

from a202_mcp.descriptors import Oversized
from a202_reference.wire import MAX_BYTES, Numbers, Unreadable, read_json

_STRING = rb'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)'
_IN_OBJECT = re.compile(_STRING + rb"|[\[\]{}:,]", re.DOTALL)
_BELOW = re.compile(_STRING + rb"|[\[\]{}]", re.DOTALL)
_SCALAR = rb'(?:"[^"\\]{0,200}"|[0-9a-z.+-]{1,40})'
_HEAD = re.compile(rb"\s*\{(?:\s*" + _SCALAR + rb"\s*:\s*" + _SCALAR + rb"\s*,)*")
_HEAD_ID = re.compile(rb'[{,]\s*"id"\s*:\s*(' + _SCALAR + rb")\s*,")
_TAIL_ID = re.compile(rb',\s*"id"\s*:\s*(' + _SCALAR + rb")\s*\}\s*\Z")
_MESSAGES: Final = (JSONRPCRequest, JSONRPCNotification, JSONRPCResponse, JSONRPCError)


@dataclass(frozen=True, slots=True)
class Unread:
    """Why a tool's arguments could not be read. Reaches the handler as `ctx.request`."""

    reason: str


def read_message(line: bytes | Oversized) -> SessionMessage | JSONRPCError | None:
    """The message in a line, the error to answer it with, or None for a blank line."""
    if isinstance(line, Oversized):
        return _error(_outer_id(line), INVALID_REQUEST, f"The line is longer than {MAX_BYTES} bytes and was not read.")
    if not line.strip():
        return None
    value = read_json(line, numbers=Numbers.ANY)
    if isinstance(value, Unreadable):
        return _salvaged(line, value.reason)
    if not isinstance(value, dict):
        return _error(None, INVALID_REQUEST, "A message is one JSON object on one line; batches are not taken.")
    unread = _arguments_fault(value)
    for kind in _MESSAGES:
        if ("method" in value, "id" in value) == ("method" in kind.model_fields, "id" in kind.model_fields):
            try:
                return SessionMessage(kind.model_validate(value), ServerMessageMetadata(request_context=unread))
            except ValidationError:
                continue
    return _error(_as_id(value.get("id")), INVALID_REQUEST, "The line is JSON but no JSON-RPC 2.0 message.")


def _arguments_fault(message: dict[str, Any]) -> Unread | None:
    """Take arguments that are no object out of a `tools/call`, and say so."""
    params = message.get("params")
    if message.get("method") != "tools/call" or not isinstance(params, dict):
        return None
    if isinstance(params.get("arguments", {}), dict):
        return None
    given = params.pop("arguments")
    return None if given is None else Unread("they are no JSON object")


def _salvaged(line: bytes, reason: str) -> SessionMessage | JSONRPCError:
    """What can be told of an unreadable line: the call it was, or an error under its id."""
    root = _members(line) or {}
    ident, method = _as_id(_read(root.get("id"))), _read(root.get("method"))
    params = _members(root.get("params", b"")) or {}
    name, meta = _read(params.get("name")), _read(params.get("_meta"))
    if ident is None or method != "tools/call" or not isinstance(name, str):
        return _error(ident, PARSE_ERROR, f"The line cannot be read: {reason}.")
    salvaged = {"name": name, **({"_meta": meta} if isinstance(meta, dict) else {})}
    return SessionMessage(
        JSONRPCRequest(jsonrpc="2.0", id=ident, method=method, params=salvaged),
        ServerMessageMetadata(request_context=Unread(reason)),
    )


def _members(text: bytes) -> dict[str, bytes] | None:
    """The members of one object, their values unread; None where it is no single object or names one twice."""
    members: dict[str, bytes] = {}
    depth = position = begins = 0
    name: str | None = None
    while token := (_IN_OBJECT if depth <= 1 else _BELOW).search(text, position):
        mark, position = token[0][:1], token.end()
        if depth == 0 and (mark != b"{" or members or text[: token.start()].strip()):
            return None
        if depth == 1 and mark in b",}" and name is not None:
            if name in members:
                return None
            members[name] = text[begins : token.start()]
            name = None
        elif depth == 1 and mark == b":":
            begins = position
        elif depth == 1 and mark == b'"' and name is None:
            read = _read(token[0])
            name = read if isinstance(read, str) else ""
        depth += (mark in b"{[") - (mark in b"}]")
    return members if depth == 0 and not text[position:].strip() else None


def _outer_id(line: Oversized) -> RequestId | None:
    """The id of a line too long to keep: among its leading scalar members, or its very last member."""
    head = _HEAD.match(line.head)
    found = (_HEAD_ID.search(head[0]) if head else None) or _TAIL_ID.search(line.tail)
    return _as_id(_read(found[1])) if found else None


def _read(text: bytes | None) -> Any:
    """The value of a small piece, or None."""
    value = None if text is None else read_json(text, numbers=Numbers.ANY)
    return None if isinstance(value, Unreadable) else value


def _as_id(value: Any) -> RequestId | None:
    return value if isinstance(value, int | str) and not isinstance(value, bool) else None


def _error(ident: RequestId | None, code: int, message: str) -> JSONRPCError:
    return JSONRPCError(jsonrpc="2.0", id=ident, error=ErrorData(code=code, message=message))
