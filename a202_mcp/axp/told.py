"""One statement of the exchange about a task of ours, as what follows from it reads it (axp 7.4).

Rules this module applies:

- a word counts as the event where it is a known one, else the status says what a statement is about;
- what is repeated of it in our own texts are our own words; its texts are data, for the owner.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from a202_mcp.axp.arguments import Call
from a202_mcp.axp.book import replace
from a202_mcp.axp.capacity import SOLD
from a202_mcp.axp.inbox_items import tell
from a202_mcp.axp.reading import walk
from a202_mcp.axp.view import View
from a202_mcp.one_owner.book import Write
from a202_reference.identifiers import is_sha256_hex

REDO: Final = "redo_requested"
REMINDER: Final = "reminder"
WORDS: Final = frozenset({
    "paid", "delivered", "accepted", "disputed", "released", "refunded", "mediation_decided", "settlement_proposed",
    "message", REDO})
"""The statuses and events that mean something here, besides the reminder of one."""


@dataclass(frozen=True, slots=True)
class Told:
    """One new statement about a task of ours."""

    view: View
    call: Call
    kind: str
    task: Mapping[str, Any]
    at: str

    @property
    def seller(self) -> bool:
        """True where we sold the task."""
        return self.kind == SOLD

    def shown(self, item_kind: str, detail: str, body: Mapping[str, Any] | None = None) -> Write:
        """The statement in the inbox."""
        return tell(f"u{self.view.mint()[:10]}", item_kind, self.call.task_id, self.at, detail, body)

    def changed(self, **members: Any) -> Write:
        """The task with other members."""
        return replace(self.kind, self.call.task_id, self.task, {**self.task, **members})


def event_word(call: Call) -> str:
    """What the update is about: a known event, else its status."""
    event = call.text("event")
    return event if event is not None and event in (*WORDS, REMINDER) else str(call.arguments["status"])


def own_words(call: Call) -> str:
    """The statement in our own words."""
    word, status = event_word(call), str(call.arguments["status"])
    if word == REMINDER:
        return f"reminder of {status if status in WORDS else 'another status'}"
    return word if word in WORDS else "another status"


def stated_hash(call: Call) -> str | None:
    """The delivered content's hash as stated, or None."""
    stated = call.mapping("deliverable").get("sha256")
    lowered = stated.lower() if isinstance(stated, str) else None
    return lowered if is_sha256_hex(lowered) else None


def shown_text(call: Call) -> str:
    """The exchange's text, as data for the owner."""
    texts = [node for node, _ in walk(call.arguments.get("data")) if isinstance(node, str)]
    return "; ".join(texts)[:1900] or "no text"
