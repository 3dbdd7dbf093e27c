"""The outbox on disk: one row is one effect on the exchange (axp 6, "Outbox").

Rules this module applies:

- a row is unique by kind, task and round; it is written with the act that causes it;
- an effect that is under way or done is not asked for again; one that failed is, under the same row, where an act
  causes it anew. A step of ours has no effect by itself: asked for again, it is made again from what is known then;
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
_INSERT: Final = (
    "INSERT INTO axp_outbox (kind, task_id, round, body, state, tries, next_at) VALUES (?, ?, ?, ?, 'open', 0, ?) "
    "ON CONFLICT (kind, task_id, round) DO UPDATE SET")
_AFRESH: Final = "state = 'open', body = excluded.body, next_at = excluded.next_at, gave_up_at = NULL"

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


def effect(kind: str, task_id: str, round_: int, body: Mapping[str, Any], now: float) -> Write:
    """One effect on the exchange, once per kind, task and round; a failed one is open again.

    Where its last tries got no answer they stay counted: the exchange may have taken it, and says 409 then.
    """
    return Write(f"{_INSERT} tries = CASE WHEN gave_up_at IS NULL THEN 0 ELSE tries END, {_AFRESH} "
                 f"WHERE state = 'failed'", (kind, task_id, round_, dumps(body), now))


def step(kind: str, task_id: str, round_: int, body: Mapping[str, Any], now: float) -> Write:
    """One step of ours, to be made now, whether or not it was made before."""
    return Write(f"{_INSERT} tries = 0, {_AFRESH}", (kind, task_id, round_, dumps(body), now))


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


def hurry(task_id: str, now: float, earlier: float) -> Write:
    """The rows of a task whose attempts are over come up to so many seconds earlier; the others keep their waits."""
    return Write(
        "UPDATE axp_outbox SET next_at = max(?, next_at - ?) "
        "WHERE state = 'open' AND gave_up_at IS NOT NULL AND task_id = ? AND next_at > ?", (now, earlier, task_id, now))


def _row(row: tuple[Any, ...]) -> Row:
    return Row(row[0], row[1], row[2], row[3], json.loads(row[4]), *row[5:])
