"""One call of a tool: who, with what, and which answer its idempotency key stands for (spec 5, 10).

The answer that a key stands for, also a refusal that was recorded, is written in the commit that makes it true; keys
count for 30 days, per caller and tool, and without a pass only where they have 16 characters or more.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from a202_mcp.one_owner.book import Write
from a202_mcp.treatyway.answers import Answer, ErrorCode, Fault
from a202_mcp.treatyway.book import answered_once
from a202_mcp.treatyway.callers import Caller

_FAULT: Final = "fault"
"""The one member of a remembered refusal; no answer has one of that name."""


@dataclass(frozen=True, slots=True)
class Once:
    """A call's claim to its idempotency key."""

    scope: str
    content_hash: str


@dataclass(frozen=True, slots=True)
class Call:
    """One call whose inputs were read. `body` is the request as it came in; `at` its clock time in seconds."""

    tool: str
    caller: Caller
    inputs: Mapping[str, Any]
    body: bytes
    at: float
    once: Once | None = None

    def remembered(self, answer: Answer) -> tuple[Write, ...]:
        """The writes that make the answer the one of its idempotency key."""
        if self.once is None:
            return ()
        kept = {_FAULT: [answer.code.value, answer.message]} if isinstance(answer, Fault) else answer
        return answered_once(self.once.scope, self.once.content_hash, kept, self.at)


def as_answered(kept: dict[str, Any]) -> Answer:
    """The answer that was remembered."""
    if _FAULT not in kept:
        return kept
    code, message = kept[_FAULT]
    return Fault(ErrorCode(code), message)
