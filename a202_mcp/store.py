"""The state of one party's server: objects, mandates, public keys, acts, status answers (design, "store").

Rules this module applies:

- one SQLite file in the state directory, or in memory without one; write-ahead log, every commit synced to
  disk before it is acknowledged; private keys are never in it;
- a commit is one transaction against the revision the caller read: it is written whole, or not at all;
- nothing is updated or deleted but a transaction's own counters. A second public key under a key identifier,
  other bytes under an identifier, a second use of an approval or of an idempotency key cannot be written.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from a202_reference.keys import KeyBinding, Owner, PublicKey
from a202_reference.lifecycle.holdings import Holdings
from a202_reference.times import format_instant, parse_instant

FILE_NAME = "a202.sqlite3"
FORMAT = "1"

_SCHEMA = """
CREATE TABLE IF NOT EXISTS meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS transactions (
  transaction_id TEXT PRIMARY KEY, revision INTEGER NOT NULL, newest TEXT NOT NULL, position INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS transactions_by_position ON transactions (position);
CREATE TABLE IF NOT EXISTS objects (
  position INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, transaction_id TEXT NOT NULL, body TEXT NOT NULL);
CREATE INDEX IF NOT EXISTS objects_by_transaction ON objects (transaction_id, position);
CREATE TABLE IF NOT EXISTS mandates (
  id TEXT PRIMARY KEY, issuer_key_id TEXT NOT NULL, subject_key_id TEXT NOT NULL, body TEXT NOT NULL);
CREATE INDEX IF NOT EXISTS mandates_by_issuer_key ON mandates (issuer_key_id);
CREATE INDEX IF NOT EXISTS mandates_by_subject_key ON mandates (subject_key_id);
CREATE TABLE IF NOT EXISTS keys (key_id TEXT PRIMARY KEY, body TEXT NOT NULL, newest TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS acts (
  transaction_id TEXT NOT NULL, action_hash TEXT NOT NULL, body TEXT NOT NULL,
  PRIMARY KEY (transaction_id, action_hash)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS status_results (
  position INTEGER PRIMARY KEY, transaction_id TEXT NOT NULL, body TEXT NOT NULL);
CREATE INDEX IF NOT EXISTS status_results_by_transaction ON status_results (transaction_id, position);
CREATE TABLE IF NOT EXISTS consumed (approval_id TEXT PRIMARY KEY, action_hash TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS idempotency (
  scope TEXT PRIMARY KEY, content_hash TEXT NOT NULL, result TEXT NOT NULL) WITHOUT ROWID;
"""


@dataclass(frozen=True, slots=True)
class Idempotency:
    """A first result under its key. `scope` joins tool, transaction, organisation and key."""

    scope: str
    content_hash: str
    result: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Batch:
    """Everything one recording call writes.

    transaction_id and expected_revision: the transaction that was read, or None for a mandate alone.
    """

    now: str
    transaction_id: str | None = None
    expected_revision: int = 0
    objects: tuple[Mapping[str, Any], ...] = ()
    mandates: tuple[Mapping[str, Any], ...] = ()
    keys: tuple[KeyBinding, ...] = ()
    signing_keys: frozenset[str] = frozenset()
    acts: Mapping[str, Mapping[str, Any]] | None = None
    status_results: tuple[Mapping[str, Any], ...] = ()
    consumed: Mapping[str, str] | None = None
    idempotency: Idempotency | None = None


class Store(Protocol):
    """What a workspace needs of its state. Another implementation may keep it elsewhere."""

    def holdings(self, transaction_id: str) -> Holdings:
        """What is held of a transaction; empty where nothing is."""

    def held_object(self, object_id: str) -> Mapping[str, Any] | None:
        """One object of any transaction."""

    def mandate(self, mandate_id: str) -> Mapping[str, Any] | None:
        """One mandate."""

    def mandates_naming(self, key_id: str) -> tuple[Mapping[str, Any], ...]:
        """The mandates that name this key as issuer's or subject's."""

    def key(self, key_id: str) -> KeyBinding | None:
        """The binding of one key."""

    def acts(self, transaction_id: str) -> dict[str, Mapping[str, Any]]:
        """Act documents by action hash."""

    def status_results(self, transaction_id: str) -> tuple[Mapping[str, Any], ...]:
        """Presented status answers in the order they were recorded."""

    def consumed(self, approval_id: str) -> bool:
        """True where an act has used this approval up."""

    def first_result(self, scope: str) -> Idempotency | None:
        """The first result under an idempotency scope."""

    def newest(self, transaction_id: str | None, key_ids: Iterable[str]) -> str | None:
        """The newest instant stored for this transaction or any of these keys."""

    def transactions(self, limit: int) -> tuple[int, list[str]]:
        """How many transactions are held, and the newest of them first."""

    def commit(self, batch: Batch) -> bool:
        """Write a batch whole and return True, or write nothing and return False: the state has moved."""

    def close(self) -> None:
        """Release the state."""


class SqliteStore:
    """The store in one SQLite file, shared by several processes, or in memory."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    @classmethod
    def open(cls, state_dir: Path | None) -> SqliteStore:
        """Open or create the state. Raises OSError or sqlite3.Error where the directory cannot be used."""
        if state_dir is None:
            target = ":memory:"
        else:
            state_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
            file = state_dir / FILE_NAME
            file.touch(mode=0o600, exist_ok=True)
            target = str(file)
        # One call at a time uses the connection, whichever thread runs it.
        connection = sqlite3.connect(target, timeout=10, isolation_level=None, check_same_thread=False)
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=FULL")
        store = cls(connection)
        store._prepare()
        return store

    def _prepare(self) -> None:
        with self._writing():
            for statement in _SCHEMA.split(";"):
                self._connection.execute(statement)
            self._connection.execute("INSERT OR IGNORE INTO meta VALUES ('format', ?)", (FORMAT,))
        found = self._one("SELECT value FROM meta WHERE name = 'format'")
        if found != FORMAT:
            raise sqlite3.DatabaseError(f"the state is of format {found}; this version reads format {FORMAT}")

    def holdings(self, transaction_id: str) -> Holdings:
        """See Store."""
        # One statement reads counter and objects, so that no commit can fall between the two.
        rows = self._connection.execute(
            "SELECT t.revision, o.body FROM transactions t LEFT JOIN objects o USING (transaction_id) "
            "WHERE t.transaction_id = ? ORDER BY o.position", (transaction_id,)).fetchall()
        objects = tuple(json.loads(body) for _, body in rows if body is not None)
        return Holdings(transaction_id, objects, rows[0][0] if rows else 0)

    def held_object(self, object_id: str) -> Mapping[str, Any] | None:
        """See Store."""
        return self._document("SELECT body FROM objects WHERE id = ?", object_id)

    def mandate(self, mandate_id: str) -> Mapping[str, Any] | None:
        """See Store."""
        return self._document("SELECT body FROM mandates WHERE id = ?", mandate_id)

    def mandates_naming(self, key_id: str) -> tuple[Mapping[str, Any], ...]:
        """See Store."""
        rows = self._connection.execute(
            "SELECT body FROM mandates WHERE issuer_key_id = ?1 UNION ALL "
            "SELECT body FROM mandates WHERE subject_key_id = ?1 AND issuer_key_id <> ?1", (key_id,))
        return tuple(json.loads(body) for (body,) in rows)

    def key(self, key_id: str) -> KeyBinding | None:
        """See Store."""
        document = self._document("SELECT body FROM keys WHERE key_id = ?", key_id)
        return None if document is None else _binding(key_id, document)

    def acts(self, transaction_id: str) -> dict[str, Mapping[str, Any]]:
        """See Store."""
        rows = self._connection.execute(
            "SELECT action_hash, body FROM acts WHERE transaction_id = ?", (transaction_id,))
        return {action_hash: json.loads(body) for action_hash, body in rows}

    def status_results(self, transaction_id: str) -> tuple[Mapping[str, Any], ...]:
        """See Store."""
        rows = self._connection.execute(
            "SELECT body FROM status_results WHERE transaction_id = ? ORDER BY position", (transaction_id,))
        return tuple(json.loads(body) for (body,) in rows)

    def consumed(self, approval_id: str) -> bool:
        """See Store."""
        return self._one("SELECT 1 FROM consumed WHERE approval_id = ?", approval_id) is not None

    def first_result(self, scope: str) -> Idempotency | None:
        """See Store."""
        row = self._connection.execute(
            "SELECT content_hash, result FROM idempotency WHERE scope = ?", (scope,)).fetchone()
        return None if row is None else Idempotency(scope, row[0], json.loads(row[1]))

    def newest(self, transaction_id: str | None, key_ids: Iterable[str]) -> str | None:
        """See Store."""
        found = [self._one("SELECT newest FROM transactions WHERE transaction_id = ?", transaction_id)]
        found += [self._one("SELECT newest FROM keys WHERE key_id = ?", key_id) for key_id in key_ids]
        return max((str(instant) for instant in found if instant is not None), default=None)

    def transactions(self, limit: int) -> tuple[int, list[str]]:
        """See Store."""
        count = self._one("SELECT count(*) FROM transactions")
        rows = self._connection.execute(
            "SELECT transaction_id FROM transactions ORDER BY position DESC LIMIT ?", (limit,))
        return int(str(count)), [transaction_id for (transaction_id,) in rows]

    def commit(self, batch: Batch) -> bool:
        """See Store."""
        try:
            with self._writing():
                if not self._advance(batch):
                    return False
                self._write(batch)
        except sqlite3.IntegrityError:
            return False
        return True

    def close(self) -> None:
        """See Store."""
        self._connection.close()

    def _advance(self, batch: Batch) -> bool:
        """Move the transaction's counter on from what the caller read; False where it has moved already."""
        if batch.transaction_id is None:
            return True
        if batch.expected_revision == 0:
            self._connection.execute(
                "INSERT INTO transactions SELECT ?, 1, ?, coalesce(max(position), 0) + 1 FROM transactions",
                (batch.transaction_id, batch.now))
            return True
        moved = self._connection.execute(
            "UPDATE transactions SET revision = revision + 1, newest = ? WHERE transaction_id = ? AND revision = ?",
            (batch.now, batch.transaction_id, batch.expected_revision))
        return moved.rowcount == 1

    def _write(self, batch: Batch) -> None:
        run = self._connection.executemany
        run("INSERT INTO keys VALUES (?, ?, ?)",
            [(binding.key_id, _text(_binding_document(binding)), batch.now) for binding in batch.keys])
        run("UPDATE keys SET newest = max(newest, ?) WHERE key_id = ?",
            [(batch.now, key_id) for key_id in sorted(batch.signing_keys)])
        run("INSERT INTO mandates VALUES (?, ?, ?, ?)",
            [(mandate["id"], mandate["issuer"]["key_id"], mandate["subject"]["key_id"], _text(mandate))
             for mandate in batch.mandates])
        run("INSERT INTO objects (id, transaction_id, body) VALUES (?, ?, ?)",
            [(document["id"], document["transaction_id"], _text(document)) for document in batch.objects])
        run("INSERT OR IGNORE INTO acts VALUES (?, ?, ?)",
            [(batch.transaction_id, action_hash, _text(act)) for action_hash, act in (batch.acts or {}).items()])
        run("INSERT INTO status_results (transaction_id, body) VALUES (?, ?)",
            [(batch.transaction_id, _text(result)) for result in batch.status_results])
        run("INSERT INTO consumed VALUES (?, ?)", list((batch.consumed or {}).items()))
        if batch.idempotency is not None:
            first = batch.idempotency
            run("INSERT INTO idempotency VALUES (?, ?, ?)", [(first.scope, first.content_hash, _text(first.result))])

    @contextmanager
    def _writing(self) -> Iterator[None]:
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self._connection.execute("ROLLBACK")
            raise
        self._connection.execute("COMMIT")

    def _one(self, statement: str, *values: object) -> object | None:
        row = self._connection.execute(statement, values).fetchone()
        return None if row is None else row[0]

    def _document(self, statement: str, identifier: str) -> Mapping[str, Any] | None:
        body = self._one(statement, identifier)
        return None if body is None else json.loads(str(body))


def _text(document: Mapping[str, Any]) -> str:
    return json.dumps(document, ensure_ascii=False, separators=(",", ":"))


def _binding_document(binding: KeyBinding) -> dict[str, Any]:
    return {
        "owner": binding.owner.document,
        "public_key_jwk": binding.public.jwk,
        "valid_from": format_instant(binding.valid_from),
    }


def _binding(key_id: str, document: Mapping[str, Any]) -> KeyBinding:
    public, valid_from = PublicKey.from_jwk(document["public_key_jwk"]), parse_instant(document["valid_from"])
    if public is None or valid_from is None:
        raise sqlite3.DatabaseError(f"the stored key {key_id} is not readable")
    owner = document["owner"]
    return KeyBinding(
        key_id, Owner(owner["organization_id"], owner.get("agent_id"), owner.get("principal_id")), public, valid_from)
