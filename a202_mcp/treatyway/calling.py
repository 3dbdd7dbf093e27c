"""One call of a tool: who, with what, and which answer its idempotency key stands for (spec 5, 10).

The answer that a key stands for is written in the commit that makes it true; keys count for 30 days, per caller and
tool, and without a pass only where they have 16 characters or more.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from a202_mcp.one_owner.book import Write
from a202_mcp.treatyway.book import answered_once
from a202_mcp.treatyway.callers import Caller


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

    def remembered(self, answer: Mapping[str, Any]) -> tuple[Write, ...]:
        """The writes that make the answer the one of its idempotency key."""
        return () if self.once is None else answered_once(self.once.scope, self.once.content_hash, answer, self.at)
