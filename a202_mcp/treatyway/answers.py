"""What a tool answers, and how that looks on the wire (spec 2, 5).

Rules this module applies:

- every output names who answered, errors too; `needs_human` is an answer, never an error;
- structuredContent and one text block carry the same JSON; an error's text starts with its message on a line;
- no message holds a stack, a path, a key, a token, a limit, or a code of the record.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, TypeAlias

from mcp_types import CallToolResult, TextContent


class ErrorCode(StrEnum):
    """The errors of the page."""

    INVALID_INPUT = "invalid_input"
    TRUST_LEVEL = "trust_level"
    NOT_FOUND = "not_found"
    QUOTE_EXPIRED = "quote_expired"
    NOT_QUOTED = "not_quoted"
    CAP_REACHED = "cap_reached"
    IDEMPOTENCY_CONFLICT = "idempotency_conflict"
    UNAVAILABLE = "unavailable"


@dataclass(frozen=True, slots=True)
class Fault:
    """An error: nothing was booked."""

    code: ErrorCode
    message: str


Answer: TypeAlias = dict[str, Any] | Fault

NOT_FOUND = Fault(ErrorCode.NOT_FOUND, "No quote or order with that id")
EXPIRED = Fault(ErrorCode.QUOTE_EXPIRED, "This quote has expired; ask again with request_quote")
NOT_QUOTED = Fault(ErrorCode.NOT_QUOTED, "This request cannot be quoted")
CONFLICT = Fault(ErrorCode.IDEMPOTENCY_CONFLICT, "idempotency_key was already used for a different request")
UNAVAILABLE = Fault(ErrorCode.UNAVAILABLE, "The seller's server could not answer; try again later")


def invalid(message: str) -> Fault:
    """An input that is missing or wrong; the message names it."""
    return Fault(ErrorCode.INVALID_INPUT, message)


NO_OBJECT = invalid("arguments: must be one JSON object")


def trust(tool: str, level: int) -> Fault:
    """Below the tool's level."""
    return Fault(ErrorCode.TRUST_LEVEL, f"{tool} requires trust level {level}")


def needs_human(missing: Sequence[str]) -> dict[str, list[str]]:
    """What a person still has to supply or decide; 1 to 10 short texts, each once."""
    return {"missing": [text[:200] for text in dict.fromkeys(missing)][:10]}


def data_of(answer: Answer, answered_by: Mapping[str, str]) -> dict[str, Any]:
    """The answer's JSON. An answer that names who gave it keeps that."""
    if isinstance(answer, Fault):
        return {"error": {"code": answer.code.value, "message": answer.message}, "answered_by": dict(answered_by)}
    return {**answer, "answered_by": dict(answer.get("answered_by") or answered_by)}


def tool_result(answer: Answer, answered_by: Mapping[str, str], text: str | None = None) -> CallToolResult:
    """The answer as the protocol's result; `text` stands in the text block of a shop's own tool."""
    data = data_of(answer, answered_by)
    written = json.dumps(data, ensure_ascii=False, separators=(",", ":")) if text is None else text
    is_error = isinstance(answer, Fault)
    lead = f"{answer.message}\n" if isinstance(answer, Fault) else ""
    return CallToolResult(
        content=[TextContent(text=lead + written)], structured_content=data, is_error=is_error)
