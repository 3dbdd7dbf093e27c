"""What the member remembers besides its A202 record, in the same file and the same commits (spec 6, 10).

Rules this module applies:

- quotes, tasks, choices, inbox and outbox are written in one transaction with the objects of the act that causes
  them, on disk before anything is answered;
- a document is replaced only where it still is what was read; a row that must be new, is. Otherwise nothing of the
  batch is written, and the caller reads again;
- one row of the outbox is one effect: unique by kind, task and round;
- no secret is ever written here.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Final

from a202_mcp.axp.reading import dumps
from a202_mcp.store import Batch, SqliteStore

_TABLES: Final = """
CREATE TABLE IF NOT EXISTS axp_items (
  kind TEXT NOT NULL, key TEXT NOT NULL, body TEXT NOT NULL, PRIMARY KEY (kind, key)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS axp_history (
  position INTEGER PRIMARY KEY, task_id TEXT NOT NULL, at TEXT NOT NULL, what TEXT NOT NULL);
CREATE INDEX IF NOT EXISTS axp_history_by_task ON axp_history (task_id, position);
CREATE TABLE IF NOT EXISTS axp_outbox (
  id INTEGER PRIMARY KEY, kind TEXT NOT NULL, task_id TEXT NOT NULL, round INTEGER NOT NULL, body TEXT NOT NULL,
  state TEXT NOT NULL, tries INTEGER NOT NULL, next_at REAL NOT NULL, gave_up_at REAL, UNIQUE (kind, task_id, round));
CREATE INDEX IF NOT EXISTS axp_outbox_open ON axp_outbox (state, task_id, id);
CREATE TABLE IF NOT EXISTS axp_inbox (
  position INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, kind TEXT NOT NULL, task_id TEXT NOT NULL,
  status TEXT NOT NULL, detail TEXT NOT NULL, at TEXT NOT NULL, body TEXT NOT NULL);
CREATE INDEX IF NOT EXISTS axp_inbox_by_status ON axp_inbox (status, position);
"""

OPEN: Final = "open"
DONE: Final = "done"
FAILED: Final = "failed"
TEXT_LIMIT: Final = 2000
"""An inbox text is cut at this many characters."""


@dataclass(frozen=True, slots=True)
class Write:
    """One statement of a commit. `exactly_one`: nothing is written unless it changes exactly one row."""

    statement: str
    values: tuple[Any, ...]
    exactly_one: bool = False


@dataclass(frozen=True, slots=True)
class MemberBatch(Batch):
    """A batch of the record with what the member remembers of the same act."""

    writes: tuple[Write, ...] = ()


@dataclass(frozen=True, slots=True)
class Row:
    """One row of the outbox."""

    id: int
    kind: str
    task_id: str
    round: int
    body: Mapping[str, Any]
    state: str
    tries: int
    next_at: float
    gave_up_at: float | None


@dataclass(frozen=True, slots=True)
class InboxItem:
    """One thing that waits for the owner."""

    id: str
    kind: str
    task_id: str
    status: str
    detail: str
    at: str
    body: Mapping[str, Any]


class MemberStore(SqliteStore):
    """The store of the record, with the member's own tables beside it."""

    def _prepare(self) -> None:
        super()._prepare()
        with self._writing():
            for statement in _TABLES.split(";"):
                self._connection.execute(statement)

    def _write(self, batch: Batch) -> None:
        super()._write(batch)
        self._apply(batch.writes if isinstance(batch, MemberBatch) else ())

    def _apply(self, writes: tuple[Write, ...]) -> None:
        for write in writes:
            changed = self._connection.execute(write.statement, write.values).rowcount
            if write.exactly_one and changed != 1:
                raise sqlite3.IntegrityError("the state has moved")

    def keep(self, writes: tuple[Write, ...]) -> bool:
        """Write what the member remembers, without anything of the record; False where the state has moved."""
        try:
            with self._writing():
                self._apply(writes)
        except sqlite3.IntegrityError:
            return False
        return True

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
        """The documents of a kind whose member has one of these values."""
        marks = ", ".join("?" * len(values))
        rows = self._connection.execute(
            f"SELECT key, body FROM axp_items WHERE kind = ? AND body ->> ? IN ({marks}) ORDER BY key",  # noqa: S608 - only question marks
            (kind, member, *values))
        return {key: json.loads(body) for key, body in rows}

    def history(self, task_id: str) -> list[dict[str, str]]:
        """What happened to a task, oldest first."""
        rows = self._connection.execute(
            "SELECT at, what FROM axp_history WHERE task_id = ? ORDER BY position", (task_id,))
        return [{"at": at, "event": what} for at, what in rows]

    def due(self, now: float) -> list[Row]:
        """The first open row of each task, where its time has come."""
        rows = self._connection.execute(
            "SELECT * FROM axp_outbox o WHERE state = 'open' AND next_at <= ? AND NOT EXISTS (SELECT 1 FROM axp_outbox "
            "e WHERE e.state = 'open' AND e.task_id = o.task_id AND e.id < o.id) ORDER BY id LIMIT 100", (now,))
        return [_row(row) for row in rows]

    def outbox(self, task_id: str | None = None) -> list[Row]:
        """All rows, or those of one task."""
        rows = self._connection.execute(
            "SELECT * FROM axp_outbox WHERE ?1 IS NULL OR task_id = ?1 ORDER BY id", (task_id,))
        return [_row(row) for row in rows]

    def row(self, row_id: int) -> Row | None:
        """One row of the outbox."""
        row = self._connection.execute("SELECT * FROM axp_outbox WHERE id = ?", (row_id,)).fetchone()
        return None if row is None else _row(row)

    def next_due(self) -> float | None:
        """When the next open row is due."""
        row = self._connection.execute("SELECT min(next_at) FROM axp_outbox WHERE state = 'open'").fetchone()
        return None if row is None or row[0] is None else float(row[0])

    def inbox(self, *, everything: bool = False) -> list[InboxItem]:
        """What waits, or all there ever was, oldest first."""
        rows = self._connection.execute(
            "SELECT id, kind, task_id, status, detail, at, body FROM axp_inbox WHERE ? OR status = 'open' "
            "ORDER BY position", (everything,))
        return [_item(row) for row in rows]

    def inbox_item(self, item_id: str) -> InboxItem | None:
        """One item of the inbox."""
        row = self._connection.execute(
            "SELECT id, kind, task_id, status, detail, at, body FROM axp_inbox WHERE id = ?", (item_id,)).fetchone()
        return None if row is None else _item(row)


def batch_with(batch: Batch, writes: tuple[Write, ...]) -> MemberBatch:
    """The batch with what the member remembers."""
    return MemberBatch(**{each.name: getattr(batch, each.name) for each in fields(Batch)}, writes=writes)


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


def remove(kind: str, key: str) -> Write:
    """Forget a document."""
    return Write("DELETE FROM axp_items WHERE kind = ? AND key = ?", (kind, key))


def happened(task_id: str, at: str, what: str) -> Write:
    """Append to a task's history. `what` is our own text."""
    return Write("INSERT INTO axp_history (task_id, at, what) VALUES (?, ?, ?)", (_storable(task_id), at, what))


def enqueue(kind: str, task_id: str, round_: int, body: Mapping[str, Any], now: float) -> Write:
    """One effect; nothing where the same kind, task and round was enqueued before."""
    return Write(
        "INSERT OR IGNORE INTO axp_outbox (kind, task_id, round, body, state, tries, next_at) "
        "VALUES (?, ?, ?, ?, 'open', 0, ?)", (kind, task_id, round_, dumps(body), now))


def row_moves(row: Row, *, state: str, next_at: float | None = None, gave_up_at: float | None = None) -> Write:
    """A row reaches a state, where it is still as it was read."""
    return Write(
        "UPDATE axp_outbox SET state = ?, next_at = ?, gave_up_at = ? WHERE id = ? AND state = ? AND tries = ?",
        (state, row.next_at if next_at is None else next_at, row.gave_up_at if gave_up_at is None else gave_up_at,
         row.id, row.state, row.tries), exactly_one=True)


def row_tried(row: Row) -> Write:
    """One more try, on disk before it is made."""
    return Write(
        "UPDATE axp_outbox SET tries = tries + 1 WHERE id = ? AND state = 'open' AND tries = ?",
        (row.id, row.tries), exactly_one=True)


def try_now(where: str, value: object, now: float) -> Write:
    """Open rows of a task (`task_id`), or one row (`id`), are due now."""
    column = {"task_id": "task_id", "id": "id"}[where]
    return Write(f"UPDATE axp_outbox SET next_at = ? WHERE state = 'open' AND {column} = ?", (now, value))  # noqa: S608 - one of two names


def tell(
    item_id: str, kind: str, task_id: str, at: str, detail: str, body: Mapping[str, Any] | None = None,
    status: str = "open",
) -> Write:
    """Something waits for the owner; nothing where an item of this id was written before."""
    return Write(
        "INSERT OR IGNORE INTO axp_inbox (id, kind, task_id, status, detail, at, body) VALUES (?, ?, ?, ?, ?, ?, ?)",
        (item_id, kind, _storable(task_id), status, _storable(detail)[:TEXT_LIMIT], at, dumps(body or {})))


def item_moves(item: InboxItem, status: str) -> Write:
    """An item reaches a status, where it is still as it was read."""
    return Write(
        "UPDATE axp_inbox SET status = ? WHERE id = ? AND status = ?", (status, item.id, item.status), exactly_one=True)


def close_items(kind: str, task_id: str, status: str) -> Write:
    """Open items of a kind about a task are settled by what happened since."""
    return Write(
        "UPDATE axp_inbox SET status = ? WHERE kind = ? AND task_id = ? AND status = 'open'", (status, kind, task_id))


def _storable(text: str) -> str:
    """A text that the file can hold: a lone surrogate shows as its escape."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def _item(row: tuple[Any, ...]) -> InboxItem:
    item_id, kind, task_id, status, detail, at, body = row
    return InboxItem(item_id, kind, task_id, status, detail, at, json.loads(body))


def _row(row: tuple[Any, ...]) -> Row:
    return Row(row[0], row[1], row[2], row[3], json.loads(row[4]), *row[5:])
