"""What waits for the owner, on disk (axp 3 `inbox`, 10).

Rules this module applies:

- an item is written once by its id; it moves only where it still is as it was read;
- what waits because of a row of the outbox is one item, and says how that row stands: open while it matters, settled
  when it is done;
- foreign text in it is cut, and kept as data: what shows it escapes it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from a202_mcp.axp.reading import dumps
from a202_mcp.one_owner.book import BookStore, Write, storable

TABLES: Final = """
CREATE TABLE IF NOT EXISTS axp_inbox (
  position INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, kind TEXT NOT NULL, task_id TEXT NOT NULL,
  status TEXT NOT NULL, detail TEXT NOT NULL, at TEXT NOT NULL, body TEXT NOT NULL);
CREATE INDEX IF NOT EXISTS axp_inbox_by_status ON axp_inbox (status, position);
CREATE INDEX IF NOT EXISTS axp_inbox_by_task ON axp_inbox (task_id, kind, position);
"""

TEXT_LIMIT: Final = 2000
"""An inbox text is cut at this many characters."""


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


class InboxStore(BookStore):
    """The items."""

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

    def inbox_about(self, kind: str, task_id: str) -> list[InboxItem]:
        """Every item of a kind about a task, whatever became of it, oldest first."""
        rows = self._connection.execute(
            "SELECT id, kind, task_id, status, detail, at, body FROM axp_inbox WHERE kind = ? AND task_id = ? "
            "ORDER BY position", (kind, storable(task_id)))
        return [_item(row) for row in rows]


def tell(
    item_id: str, kind: str, task_id: str, at: str, detail: str, body: Mapping[str, Any] | None = None,
    status: str = "open",
) -> Write:
    """Something waits for the owner; nothing where an item of this id was written before."""
    return Write(
        "INSERT OR IGNORE INTO axp_inbox (id, kind, task_id, status, detail, at, body) VALUES (?, ?, ?, ?, ?, ?, ?)",
        (item_id, kind, storable(task_id), status, storable(detail)[:TEXT_LIMIT], at, dumps(body or {})))


def row_waits(row_id: int, task_id: str, at: str, detail: str) -> Write:
    """A row of the outbox waits for the owner, or waits again."""
    return Write(
        "INSERT INTO axp_inbox (id, kind, task_id, status, detail, at, body) VALUES (?, 'outbox', ?, 'open', ?, ?, ?) "
        "ON CONFLICT (id) DO UPDATE SET status = 'open', detail = excluded.detail, at = excluded.at",
        (_of_row(row_id), storable(task_id), storable(detail)[:TEXT_LIMIT], at, dumps({"row": row_id})))


def row_settled(row_id: int, status: str) -> Write:
    """What waited because of a row of the outbox is settled, where it waited."""
    return Write("UPDATE axp_inbox SET status = ? WHERE id = ? AND status = 'open'", (status, _of_row(row_id)))


def item_moves(item: InboxItem, status: str) -> Write:
    """An item reaches a status, where it is still as it was read."""
    return Write(
        "UPDATE axp_inbox SET status = ? WHERE id = ? AND status = ?", (status, item.id, item.status), exactly_one=True)


def close_items(kind: str, task_id: str, status: str) -> Write:
    """Open items of a kind about a task are settled by what happened since."""
    return Write(
        "UPDATE axp_inbox SET status = ? WHERE kind = ? AND task_id = ? AND status = 'open'",
        (status, kind, storable(task_id)))


def _of_row(row_id: int) -> str:
    return f"x{row_id}"


def _item(row: tuple[Any, ...]) -> InboxItem:
    item_id, kind, task_id, status, detail, at, body = row
    return InboxItem(item_id, kind, task_id, status, detail, at, json.loads(body))
