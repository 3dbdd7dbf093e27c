"""The outbox on disk: one row is one effect on the exchange (axp 6, "Outbox").

Rules this module applies:

- a row is unique by kind, task and round; it is written with the act that causes it;
- a row changes only where it still is as it was read, and its try is counted before it is made;
- of one task, only the first open row is ever due: order per task is kept.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from a202_mcp.axp.reading import dumps
from a202_mcp.one_owner.book import BookStore, Write

TABLES: Final = """
CREATE TABLE IF NOT EXISTS axp_outbox (
  id INTEGER PRIMARY KEY, kind TEXT NOT NULL, task_id TEXT NOT NULL, round INTEGER NOT NULL, body TEXT NOT NULL,
  state TEXT NOT NULL, tries INTEGER NOT NULL, next_at REAL NOT NULL, gave_up_at REAL, UNIQUE (kind, task_id, round));
CREATE INDEX IF NOT EXISTS axp_outbox_open ON axp_outbox (state, task_id, id);
"""

_FIRST: Final = (
    "NOT EXISTS (SELECT 1 FROM axp_outbox e WHERE e.state = 'open' AND e.task_id = o.task_id AND e.id < o.id)")

OPEN: Final = "open"
DONE: Final = "done"
FAILED: Final = "failed"


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


class OutboxStore(BookStore):
    """The rows."""

    def due(self, now: float) -> list[Row]:
        """The first open row of each task, where its time has come."""
        rows = self._connection.execute(
            f"SELECT * FROM axp_outbox o WHERE state = 'open' AND next_at <= ? AND {_FIRST} ORDER BY id LIMIT 100",  # noqa: S608 - our own words
            (now,))
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

    def next_due(self, under_way: Iterable[int] = ()) -> float | None:
        """When the next open row is due that is the first of its task and not under way."""
        others = "id NOT IN (SELECT value FROM json_each(?))"
        row = self._connection.execute(
            f"SELECT min(next_at) FROM axp_outbox o WHERE state = 'open' AND {others} AND {_FIRST}",  # noqa: S608 - our own words
            (json.dumps(list(under_way)),)).fetchone()
        return None if row[0] is None else float(row[0])


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


def _row(row: tuple[Any, ...]) -> Row:
    return Row(row[0], row[1], row[2], row[3], json.loads(row[4]), *row[5:])
