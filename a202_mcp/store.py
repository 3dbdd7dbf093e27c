"""The state of one party's server: objects, mandates, public keys, acts, status answers (design, "store").

Rules this module applies:

- a commit is one transaction against the revision the caller read: it is written whole, or not at all;
- nothing is ever updated or deleted. A second public key under a key identifier, other bytes under an identifier,
  a second use of an approval or of an idempotency key cannot be written; private keys are never in it;
- every commit is sealed, every key binding signed by its key, or proven by its holder's mandate (ADR 9, 10). A key,
  mandate or object that is not what was recorded counts as absent; a transaction that is not what was recorded is not
  read at all (`DamagedError`), but by whoever verifies it.
"""

from __future__ import annotations

import json
import sqlite3
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, Self, TypeVar

from a202_mcp import logs
from a202_mcp.audit import Audit
from a202_mcp.batch import Batch, Idempotency, document_in
from a202_mcp.bindings import Bindings
from a202_mcp.commits import is_sealed, named
from a202_mcp.seal import Fault, HeldKey, Seal, digest, sign_seal
from a202_mcp.state_file import FILE_NAME, StateFile, UnusableError
from a202_mcp.store_protocol import Store
from a202_mcp.tables import FORMAT, IDEMPOTENCY, MANDATES, OBJECTS, Table
from a202_reference.canonical import sha256_hex
from a202_reference.codes import Code
from a202_reference.keys import KeyBinding
from a202_reference.lifecycle.holdings import Holdings

__all__ = [
    "FILE_NAME", "FORMAT", "Batch", "DamagedError", "HeldKey", "Idempotency", "SqliteStore", "Store", "UnusableError"]

_REMEMBERED: Final = 1024
_HELD: Final = 64
_PAGE: Final = 8
_Kept = TypeVar("_Kept")
_BEFORE_ALL: Final = -(1 << 63)


class DamagedError(UnusableError):
    """The state is not what was recorded. Its text names the part."""

    def __init__(self, faults: Iterable[Fault]) -> None:
        self.faults = tuple(faults)
        more = f", and {len(self.faults) - 1} other faults" if len(self.faults) > 1 else ""
        super().__init__(
            f"it is not what was recorded: {self.faults[0].detail}{more}. verify_evidence names every part; put a copy "
            f"that is whole in its place")


class SqliteStore:
    """The store in one SQLite file, shared by several processes, or in memory."""

    def __init__(self, file: StateFile) -> None:
        self._file = file
        self._connection = file.connection
        self._bindings = Bindings(file.connection)
        self._audit = Audit(file.connection, self._bindings.held)
        self._sound: OrderedDict[str, int] = OrderedDict()
        """Up to which revision a transaction was written here, or held against its seals."""
        self._read: OrderedDict[str, tuple[Holdings, int]] = OrderedDict()
        """The transactions read last, each with the place of its last object."""
        self._said: set[str] = set()

    @classmethod
    def open(cls, state_dir: Path | None) -> Self:
        """Open or create the state. Raises OSError or sqlite3.Error where the directory cannot be used."""
        store = cls(StateFile.open(state_dir))
        try:
            store._prepare()
        except BaseException:
            store.close()
            raise
        return store

    def _prepare(self) -> None:
        """For stores that keep more in the same file."""

    def holdings(self, transaction_id: str) -> Holdings:
        """See Store. What this process has read of a transaction is not read again: rows are only ever added."""
        known, after = self._read.get(transaction_id, (Holdings(transaction_id, ()), _BEFORE_ALL))
        # One statement reads revision and objects, so that no commit can fall between the two.
        rows = self._connection.execute(
            "SELECT r.revision, o.position, o.body FROM "
            "(SELECT max(revision) AS revision FROM commits WHERE transaction_id = ?1) AS r LEFT JOIN objects o "
            "ON o.transaction_id = ?1 AND o.position > ?2 ORDER BY o.position", (transaction_id, after)).fetchall()
        revision = rows[0][0] or 0
        added = [(position, body) for _, position, body in rows if body is not None]
        if revision or added or known.objects:
            self._check(transaction_id, revision)
        if revision == known.revision and not added:
            return known
        held = Holdings(transaction_id, known.objects + tuple(json.loads(body) for _, body in added), revision)
        _keep(self._read, transaction_id, (held, added[-1][0] if added else after), _HELD)
        return held

    def recorded(self, transaction_id: str) -> tuple[Mapping[str, Any], ...]:
        """See Store."""
        rows = self._connection.execute(
            "SELECT body FROM objects WHERE transaction_id = ? ORDER BY position", (transaction_id,))
        return tuple(document for (body,) in rows if (document := document_in(body)) is not None)

    def faults(
        self, transaction_id: str | None, mandate_ids: Iterable[str], key_ids: Iterable[str],
    ) -> tuple[Fault, ...]:
        """See Store."""
        return tuple(self._audit.whole(transaction_id, mandate_ids, key_ids))

    def held_object(self, object_id: str) -> Mapping[str, Any] | None:
        """See Store."""
        return next(self._sealed(OBJECTS, "t.id = ?1", object_id), None)

    def mandate(self, mandate_id: str) -> Mapping[str, Any] | None:
        """See Store."""
        return next(self._sealed(MANDATES, "t.id = ?1", mandate_id), None)

    def mandates_naming(self, key_id: str) -> Iterator[Mapping[str, Any]]:
        """See Store."""
        yield from self._sealed(MANDATES, "t.issuer_key_id = ?1", key_id)
        yield from self._sealed(MANDATES, "t.subject_key_id = ?1 AND t.issuer_key_id <> ?1", key_id)

    def key(self, key_id: str) -> KeyBinding | None:
        """See Store."""
        held = self.held_key(key_id)
        return None if held is None or held.fault is not None else held.binding

    def held_key(self, key_id: str) -> HeldKey | None:
        """See Store."""
        return self._bindings.held(key_id)

    def acts(self, transaction_id: str) -> dict[str, Mapping[str, Any]]:
        """See Store."""
        rows = self._connection.execute(
            "SELECT action_hash, body FROM acts WHERE transaction_id = ?", (transaction_id,))
        return {action_hash: act for action_hash, body in rows if (act := document_in(body)) is not None}

    def status_results(self, transaction_id: str) -> tuple[Mapping[str, Any], ...]:
        """See Store."""
        rows = self._connection.execute(
            "SELECT body FROM status_results WHERE transaction_id = ? ORDER BY position", (transaction_id,))
        return tuple(result for (body,) in rows if (result := document_in(body)) is not None)

    def consumed(self, approval_id: str) -> bool:
        """See Store."""
        return self._one("SELECT 1 FROM consumed WHERE approval_id = ?", approval_id) is not None

    def first_result(self, scope: str) -> Idempotency | None:
        """See Store."""
        row = self._connection.execute(
            "SELECT i.content_hash, i.result, c.body FROM idempotency i "
            "LEFT JOIN commits c ON c.position = i.commit_no WHERE i.scope = ?", (scope,)).fetchone()
        if row is None:
            return None
        content_hash, result, seal = row
        if not is_sealed(IDEMPOTENCY, (scope, content_hash, result), seal):
            raise DamagedError([Fault(
                Code.EVIDENCE_HASH_MISMATCH, scope, "the first result under this idempotency_key was changed")])
        return Idempotency(scope, content_hash, json.loads(result))

    def newest(self, transaction_id: str | None, key_ids: Iterable[str]) -> str | None:
        """See Store."""
        found = [self._one(
            "SELECT at FROM commits WHERE transaction_id = ? ORDER BY revision DESC LIMIT 1", transaction_id)]
        found += [self._one("SELECT max(at) FROM uses WHERE key_id = ?", key_id) for key_id in key_ids]
        return max((str(instant) for instant in found if instant is not None), default=None)

    def transactions(self, limit: int) -> tuple[int, list[str]]:
        """See Store."""
        count = self._one("SELECT count(*) FROM commits WHERE revision = 1")
        rows = self._connection.execute(
            "SELECT transaction_id FROM commits WHERE revision = 1 ORDER BY position DESC LIMIT ?", (limit,))
        return int(str(count)), [transaction_id for (transaction_id,) in rows]

    def commit(self, batch: Batch) -> bool:
        """See Store."""
        transaction_id = batch.transaction_id
        try:
            with self._writing():
                if transaction_id is not None and self._revision(transaction_id) != batch.expected_revision:
                    return False
                self._write(batch)
        except sqlite3.IntegrityError:
            return False
        if transaction_id is not None and self._sound.get(transaction_id, 0) == batch.expected_revision:
            self._remember(transaction_id, batch.revision)
        return True

    def close(self) -> None:
        """See Store."""
        self._connection.close()

    @contextmanager
    def _writing(self) -> Iterator[None]:
        with self._file.writing():
            yield

    def _write(self, batch: Batch) -> None:
        """Write every row, and the seal over them behind the seal before it."""
        row = self._connection.execute("SELECT position, body FROM commits ORDER BY position DESC LIMIT 1").fetchone()
        position, previous = (1, None) if row is None else (row[0] + 1, sha256_hex(row[1].encode()))
        held = {action_hash for action_hash in batch.acts or () if self._one(
            "SELECT 1 FROM acts WHERE transaction_id = ? AND action_hash = ?", batch.transaction_id, action_hash)}
        written: dict[str, list[list[str]]] = {}
        for table, rows in batch.rows(held):
            if rows:
                self._connection.executemany(table.insert, [(*row, position) for row in rows])
                written[table.name] = [[row[table.named], digest(row)] for row in rows]
        body = Seal(position, previous, batch.transaction_id, batch.revision, batch.now, written).body
        sealer = batch.sealer
        signed = (None, None) if sealer is None else (sealer.key_id, sign_seal(body, batch.now, sealer))
        self._connection.execute(
            "INSERT INTO commits (position, transaction_id, revision, at, body, key_id, signature) "
            "VALUES (?, ?, ?, ?, ?, ?, ?)",
            (position, batch.transaction_id, batch.revision, batch.now, body, *signed))
        for key_id in batch.proven_by or ():
            self._insist(key_id)

    def _insist(self, key_id: str) -> None:
        """Raise ValueError for a key that nobody could rely on: whoever built the batch did not look."""
        bound = self._bindings.held(key_id)
        if bound is None or bound.fault is not None:
            raise ValueError(f"{key_id} is not bound by its mandate: {bound.fault if bound else 'it is not written'}")

    def _revision(self, transaction_id: str) -> int:
        found = self._one("SELECT max(revision) FROM commits WHERE transaction_id = ?", transaction_id)
        return 0 if found is None else int(str(found))

    def _check(self, transaction_id: str, revision: int) -> None:
        """Hold what this process has not read yet of a transaction against its seals. Raises DamagedError."""
        sound = self._sound.get(transaction_id, 0)
        if sound == revision and revision:
            return
        faults = self._audit.read(transaction_id, sound)
        if revision < sound:
            faults = [Fault(Code.EVIDENCE_CHAIN_GAP, transaction_id, f"commits to {transaction_id} are gone")]
        if faults:
            raise DamagedError(faults)
        self._remember(transaction_id, revision)

    def _forget(self) -> None:
        """Read and check every transaction anew: what this process knows of them may have been taken back."""
        self._sound.clear()
        self._read.clear()

    def _remember(self, transaction_id: str, revision: int) -> None:
        _keep(self._sound, transaction_id, revision, _REMEMBERED)

    def _sealed(self, table: Table, where: str, value: str) -> Iterator[Mapping[str, Any]]:
        """The documents of rows that are what was recorded; another counts as absent, and is named on stderr.

        Read page by page: no read stays open while the caller looks at a document.
        """
        columns = ", ".join(f"t.{column}" for column in table.columns)
        statement = (
            f"SELECT t.rowid, c.transaction_id, c.revision, c.body, {columns} FROM {table.name} t "  # noqa: S608 (our own names)
            f"LEFT JOIN commits c ON c.position = t.commit_no WHERE ({where}) AND t.rowid > ?2 "
            f"ORDER BY t.rowid LIMIT {_PAGE}")
        after = _BEFORE_ALL
        while rows := self._connection.execute(statement, (value, after)).fetchall():
            for place, transaction_id, revision, seal, *row in rows:
                after = place
                known = transaction_id is not None and self._sound.get(transaction_id, 0) >= revision
                if known or is_sealed(table, row, seal):
                    yield json.loads(row[-1])
                else:
                    self._say(f"{table.word} {named(row[table.named])} is not what was recorded, and counts as absent")

    def _say(self, sentence: str) -> None:
        """Tell whoever runs the server, once."""
        if sentence not in self._said and len(self._said) < _REMEMBERED:
            self._said.add(sentence)
            logs.say(sentence)

    def _one(self, statement: str, *values: object) -> object | None:
        row = self._connection.execute(statement, values).fetchone()
        return None if row is None else row[0]


def _keep(kept: OrderedDict[str, _Kept], key: str, value: _Kept, most: int) -> None:
    """Put a value in, and the one used longest ago out where there are too many."""
    kept[key] = value
    kept.move_to_end(key)
    if len(kept) > most:
        kept.popitem(last=False)
