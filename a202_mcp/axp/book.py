"""What the member remembers besides its A202 record: documents by kind and key, and each task's history (axp 6, 10).

Rules this module applies:

- a document is replaced only where it still is what was read; one that must be new, is. Otherwise nothing of the
  batch is written;
- what is being planned is read only: SQLite itself refuses whoever writes in there;
- outbox and inbox are tables of their own in the same file.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, ClassVar, Final

from a202_mcp.axp import inbox_items, outbox_rows
from a202_mcp.axp.reading import dumps
from a202_mcp.one_owner.book import Write, storable

_TABLES: Final = """
CREATE TABLE IF NOT EXISTS axp_items (
  kind TEXT NOT NULL, key TEXT NOT NULL, body TEXT NOT NULL, PRIMARY KEY (kind, key)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS axp_history (
  position INTEGER PRIMARY KEY, task_id TEXT NOT NULL, at TEXT NOT NULL, what TEXT NOT NULL);
CREATE INDEX IF NOT EXISTS axp_items_by_state ON axp_items (kind, body ->> 'state');
CREATE INDEX IF NOT EXISTS axp_items_by_day ON axp_items (kind, body ->> 'day');
CREATE INDEX IF NOT EXISTS axp_history_by_task ON axp_history (task_id, position);
"""

_FOUND_BY: Final[Mapping[str, str]] = {
    "state": "INDEXED BY axp_items_by_state WHERE kind = ? AND body ->> 'state'",
    "day": "INDEXED BY axp_items_by_day WHERE kind = ? AND body ->> 'day'"}
"""The members that documents are found by. Without statistics the planner would read every document of the kind."""


class MemberStore(outbox_rows.OutboxStore, inbox_items.InboxStore):
    """The store of the record, with the member's own tables beside it."""

    TABLES: ClassVar[str] = _TABLES + outbox_rows.TABLES + inbox_items.TABLES

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Let nothing be written in this block, by whichever way: a write raises RuntimeError, as a defect of ours."""
        self._connection.execute("PRAGMA query_only = ON")
        try:
            yield
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode == sqlite3.SQLITE_READONLY:
                raise RuntimeError(f"what is being planned writes nothing: {error}") from error
            raise
        finally:
            self._connection.execute("PRAGMA query_only = OFF")

    def item(self, kind: str, key: str) -> dict[str, Any] | None:
        """One remembered document."""
        row = self._connection.execute(
            "SELECT body FROM axp_items WHERE kind = ? AND key = ?", (kind, key)).fetchone()
        return None if row is None else json.loads(row[0])

    def items(self, kind: str) -> dict[str, dict[str, Any]]:
        """All remembered documents of a kind, by key."""
        rows = self._connection.execute("SELECT key, body FROM axp_items WHERE kind = ? ORDER BY key", (kind,))
        return {key: json.loads(body) for key, body in rows}

    def items_where(self, kind: str, member: str, values: tuple[str, ...]) -> dict[str, dict[str, Any]]:
        """The documents of a kind whose member, `state` or `day`, has one of these values; others are not looked at."""
        marks = ", ".join("?" * len(values))
        rows = self._connection.execute(
            f"SELECT key, body FROM axp_items {_FOUND_BY[member]} IN ({marks}) ORDER BY key",  # noqa: S608 - our own words
            (kind, *values))
        return {key: json.loads(body) for key, body in rows}

    def history(self, task_id: str) -> list[dict[str, str]]:
        """What happened to a task, oldest first."""
        rows = self._connection.execute(
            "SELECT at, what FROM axp_history WHERE task_id = ? ORDER BY position", (task_id,))
        return [{"at": at, "event": what} for at, what in rows]


def put(kind: str, key: str, body: Mapping[str, Any]) -> Write:
    """Remember a document, replacing what was there."""
    return Write("INSERT OR REPLACE INTO axp_items VALUES (?, ?, ?)", (kind, key, dumps(body)))


def insert(kind: str, key: str, body: Mapping[str, Any]) -> Write:
    """Remember a document that must be new."""
    return Write("INSERT INTO axp_items VALUES (?, ?, ?)", (kind, key, dumps(body)))


def replace(kind: str, key: str, old: Mapping[str, Any] | None, new: Mapping[str, Any]) -> Write:
    """Remember a document where what was read is still there; None: where there is none."""
    if old is None:
        return insert(kind, key, new)
    return Write(
        "UPDATE axp_items SET body = ? WHERE kind = ? AND key = ? AND body = ?",
        (dumps(new), kind, key, dumps(old)), exactly_one=True)


def happened(task_id: str, at: str, what: str) -> Write:
    """Append to a task's history. `what` is our own text."""
    return Write("INSERT INTO axp_history (task_id, at, what) VALUES (?, ?, ?)", (storable(task_id), at, what))
