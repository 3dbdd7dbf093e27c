"""What the shop remembers beside its A202 record, in the same file and the same commits (spec 7, 9, 10).

Rules this module applies:

- quotes, orders, messages, stock counts, the mandate's switch are entries with versions. A change appends the next
  version; whoever was slower finds it taken, writes nothing, and reads again. So one quote gets one order, and stock
  and calendar are never given twice;
- an answer that an idempotency key stands for, and a counted call, live for 30 days and for 24 hours;
- no token, no key and no signature is ever written here.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, ClassVar, Final

from a202_mcp.one_owner.book import BookStore, Write
from a202_mcp.treatyway.opening import Span
from a202_reference.times import format_instant, parse_instant

_TABLES: Final = """
CREATE TABLE IF NOT EXISTS shop_entries (
  kind TEXT NOT NULL, id TEXT NOT NULL, version INTEGER NOT NULL, body TEXT NOT NULL,
  PRIMARY KEY (kind, id, version)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS shop_bookings (order_id TEXT PRIMARY KEY, begins TEXT NOT NULL, ends TEXT NOT NULL);
CREATE INDEX IF NOT EXISTS shop_bookings_by_end ON shop_bookings (ends);
CREATE TABLE IF NOT EXISTS shop_artifacts (evidence_id TEXT PRIMARY KEY, salt BLOB NOT NULL, body BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS shop_calls (position INTEGER PRIMARY KEY, caller TEXT NOT NULL, at REAL NOT NULL);
CREATE INDEX IF NOT EXISTS shop_calls_by_caller ON shop_calls (caller, at);
CREATE TABLE IF NOT EXISTS shop_once (
  scope TEXT PRIMARY KEY, content_hash TEXT NOT NULL, answer TEXT NOT NULL, at REAL NOT NULL) WITHOUT ROWID;
"""

DAY: Final = timedelta(days=1).total_seconds()
ONCE_KEPT: Final = 30 * DAY


@dataclass(frozen=True, slots=True)
class Entry:
    """The newest version of one thing."""

    id: str
    version: int
    body: Mapping[str, Any]


class ShopStore(BookStore):
    """The store of the record, with the shop's own tables beside it."""

    TABLES: ClassVar[str] = _TABLES

    def entry(self, kind: str, identifier: str) -> Entry | None:
        """The newest version, or None."""
        row = self._connection.execute(
            "SELECT version, body FROM shop_entries WHERE kind = ? AND id = ? ORDER BY version DESC LIMIT 1",
            (kind, identifier)).fetchone()
        return None if row is None else Entry(identifier, row[0], json.loads(row[1]))

    def entries(self, kind: str) -> Iterator[Entry]:
        """The newest version of everything of a kind."""
        rows = self._connection.execute(
            "SELECT id, max(version), body FROM shop_entries WHERE kind = ? GROUP BY id ORDER BY id", (kind,))
        for identifier, version, body in rows.fetchall():
            yield Entry(identifier, version, json.loads(body))

    def bookings(self, span: Span) -> list[Span]:
        """The bookings that overlap an interval."""
        rows = self._connection.execute(
            "SELECT begins, ends FROM shop_bookings WHERE begins < ? AND ends > ?",
            (format_instant(span[1]), format_instant(span[0])))
        found = ((parse_instant(begins), parse_instant(ends)) for begins, ends in rows)
        return [(begins, ends) for begins, ends in found if begins is not None and ends is not None]

    def calls(self, caller: str, now: float, most: int) -> float | None:
        """When the caller may call again, or None: now. At most `most` calls in 24 hours."""
        row = self._connection.execute(
            "SELECT at FROM shop_calls WHERE caller = ? AND at > ? ORDER BY at DESC LIMIT 1 OFFSET ?",
            (caller, now - DAY, most - 1)).fetchone()
        return None if row is None else float(row[0]) + DAY

    def artifact(self, evidence_id: str) -> tuple[bytes, bytes] | None:
        """The random bytes and the request that an evidence's artifact hash stands for."""
        row = self._connection.execute(
            "SELECT salt, body FROM shop_artifacts WHERE evidence_id = ?", (evidence_id,)).fetchone()
        return None if row is None else (row[0], row[1])

    def once(self, scope: str, now: float) -> tuple[str, dict[str, Any]] | None:
        """The content and the answer that an idempotency key stands for."""
        row = self._connection.execute(
            "SELECT content_hash, answer FROM shop_once WHERE scope = ? AND at > ?",
            (scope, now - ONCE_KEPT)).fetchone()
        return None if row is None else (row[0], json.loads(row[1]))


def open_book(state_dir: Path) -> ShopStore:
    """Open or create the state. Raises OSError or sqlite3.Error where the directory cannot be used."""
    return ShopStore.open(state_dir)


def put(kind: str, identifier: str, version: int, body: Mapping[str, Any]) -> Write:
    """Append a version. The first is 1; the next one after what was read."""
    return Write("INSERT INTO shop_entries VALUES (?, ?, ?, ?)", (kind, identifier, version, _text(body)))


def book(order_id: str, span: Span) -> Write:
    """Take an interval of the calendar."""
    return Write(
        "INSERT INTO shop_bookings VALUES (?, ?, ?)", (order_id, format_instant(span[0]), format_instant(span[1])))


def keep(evidence_id: str, salt: bytes, body: bytes) -> Write:
    """Keep what an artifact hash stands for."""
    return Write("INSERT INTO shop_artifacts VALUES (?, ?, ?)", (evidence_id, salt, body))


def count(caller: str, now: float) -> tuple[Write, ...]:
    """Count a call, and forget those that no window reaches."""
    return (Write("DELETE FROM shop_calls WHERE at <= ?", (now - DAY,)),
            Write("INSERT INTO shop_calls (caller, at) VALUES (?, ?)", (caller, now)))


def answered_once(scope: str, content_hash: str, answer: Mapping[str, Any], now: float) -> tuple[Write, ...]:
    """Remember an answer under its idempotency key."""
    return (Write("DELETE FROM shop_once WHERE at <= ?", (now - ONCE_KEPT,)),
            Write("INSERT INTO shop_once VALUES (?, ?, ?, ?)", (scope, content_hash, _text(answer), now)))


def seconds(moment: datetime) -> float:
    """Seconds since 1970."""
    return moment.timestamp()


def _text(document: Mapping[str, Any]) -> str:
    return json.dumps(document, ensure_ascii=False, separators=(",", ":"))
