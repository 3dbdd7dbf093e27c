"""Holding the rows of a state file against the seals of the commits that wrote them (ADR 9).

Rules this module applies:

- the rows of a commit are those its seal lists: none changed, gone, added or in another order;
- the commits of a transaction are numbered without a gap, and all commits of the state are; each names the hash of the
  one before it;
- a seal is signed by a key that signed something of what it seals, or that it binds where it seals nothing but keys
  (of a key that a mandate proves, by the key that the mandate is given to: ADR 10), under that key's authentic
  binding. A seal that nobody signed, or under a key that cannot be relied on, is a fault to whoever verifies and none
  to whoever only reads: who needs the key learns of it from the key;
- a fault is a value that names the part; nothing is raised over whatever stands in the file.
"""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from typing import Final

from a202_mcp.commits import (
    CHANGED,
    GAP,
    UNSIGNED,
    Commit,
    differences,
    entitled_keys,
    is_own,
    named,
    numbered,
)
from a202_mcp.issuer_keys import proving_mandate
from a202_mcp.seal import Fault, HeldKey, Rows, Seal, digest, seal_verifies
from a202_mcp.tables import KEYS, MANDATES, OBJECTS, TABLES, Table
from a202_reference.canonical import sha256_hex

_COMMIT: Final = "SELECT c.position, c.transaction_id, c.revision, c.at, c.body, c.key_id, c.signature FROM commits c"
_OF_TRANSACTION: Final = "c.transaction_id = ? AND c.revision > ?"
_AT: Final = "c.position = ?"


class Audit:
    """The checks over one state file. `held` gives a stored key with what is wrong with it."""

    def __init__(self, connection: sqlite3.Connection, held: Callable[[str], HeldKey | None]) -> None:
        self._connection = connection
        self._held = held

    def read(self, transaction_id: str, after: int) -> list[Fault]:
        """What a reader of a transaction must know: the commits beyond revision `after`, row by row."""
        with self._snapshot():
            return self._read(transaction_id, after)

    def whole(
        self, transaction_id: str | None, mandate_ids: Iterable[str], key_ids: Iterable[str],
    ) -> list[Fault]:
        """All that can be said of a transaction, of the mandates and keys it names, and of the chain of seals.

        transaction_id: None asks only which of these keys cannot be relied on.
        """
        keys = tuple(key_ids)
        with self._snapshot():
            faults = [Fault(UNSIGNED, named(key_id), f"{named(key_id)} cannot be relied on: {held.fault}")
                      for key_id in keys if (held := self._held(key_id)) is not None and held.fault is not None]
            if transaction_id is not None:
                faults += self._whole(transaction_id, mandate_ids, keys)
        return list(dict.fromkeys(faults))

    @contextmanager
    def _snapshot(self) -> Iterator[None]:
        """One state for all reads of a block, whatever other processes commit meanwhile."""
        if self._connection.in_transaction:  # whoever decides something reads one state already
            yield
            return
        self._connection.execute("BEGIN")
        try:
            yield
        finally:
            self._connection.execute("ROLLBACK")

    def _read(self, transaction_id: str, after: int) -> list[Fault]:
        commits = self._commits(_OF_TRANSACTION, transaction_id, after)
        faults = list(numbered(commits, after))
        faults += self._rows(commits, _OF_TRANSACTION, transaction_id, after)
        faults += (fault for commit in commits if self._is_checkable(commit) for fault in self._seal(commit))
        return faults if after else faults + list(self._foreign(transaction_id))

    def _whole(self, transaction_id: str, mandate_ids: Iterable[str], keys: Iterable[str]) -> list[Fault]:
        commits = self._commits(_OF_TRANSACTION, transaction_id, 0)
        faults = list(numbered(commits, 0))
        faults += self._rows(commits, _OF_TRANSACTION, transaction_id, 0)
        faults += self._foreign(transaction_id)
        origins, gone = self._origins(mandate_ids, keys)
        faults += gone
        for position in sorted(origins - {commit.position for commit in commits}):
            origin = self._commits(_AT, position)
            faults += self._rows(origin, _AT, position)
            commits += origin
        for commit in commits:
            faults += self._seal(commit)
            faults += self._neighbours(commit)
            faults += self._sealer(commit)
        return [*faults, *self._gaps()]

    def _commits(self, where: str, *values: object) -> list[Commit]:
        rows = self._connection.execute(f"{_COMMIT} WHERE {where} ORDER BY c.position", values)
        return [Commit(position, transaction_id, revision, str(at), str(body), key_id, signature)
                for position, transaction_id, revision, at, body, key_id, signature in rows]

    def _rows(self, commits: list[Commit], where: str, *values: object) -> Iterator[Fault]:
        """Each commit's rows against its seal."""
        seals = {commit.position: Seal.read(commit.body) for commit in commits}
        for commit in commits:
            if not is_own(seals[commit.position], commit):
                yield commit.fault(CHANGED, "is not the one of this commit")
        ordered: list[str] = []
        for table in TABLES:
            found = self._found(table, where, *values)
            for position, seal in seals.items():
                sealed = [] if seal is None else seal.rows.get(table.name, [])
                yield from differences(table, position, sealed, found[position])
                ordered += [name for name, _ in sealed] if table is OBJECTS else []
        if where == _OF_TRANSACTION:
            yield from self._order(commits, ordered)

    def _found(self, table: Table, where: str, *values: object) -> dict[int, Rows]:
        columns = ", ".join(f"t.{column}" for column in table.columns)
        rows = self._connection.execute(
            f"SELECT c.position, {columns} FROM commits c JOIN {table.name} t ON t.commit_no = c.position "  # noqa: S608 (our own names)
            f"WHERE {where} ORDER BY c.position, t.{table.order}", values)
        found: dict[int, Rows] = defaultdict(list)
        for position, *row in rows:
            found[position].append([str(row[table.named]), digest(row)])
        return found

    def _order(self, commits: list[Commit], sealed: list[str]) -> Iterator[Fault]:
        """The objects stand in the order of the commits."""
        if not commits:
            return
        rows = self._connection.execute(
            "SELECT o.id FROM objects o JOIN commits c ON c.position = o.commit_no AND c.transaction_id = "
            "o.transaction_id WHERE o.transaction_id = ? AND c.revision >= ? ORDER BY o.position",
            (commits[0].transaction_id, commits[0].revision))
        found = [identifier for (identifier,) in rows]
        if found != sealed and sorted(found) == sorted(sealed):
            name = named(next(one for one, other in zip(sealed, found, strict=True) if one != other))
            yield Fault(GAP, name, f"the object {name} does not stand where it was recorded")

    def _foreign(self, transaction_id: str) -> Iterator[Fault]:
        """Rows that say they belong to the transaction, and that no commit of it wrote."""
        for table in TABLES:
            if table.by_transaction:
                rows = self._connection.execute(
                    f"SELECT t.{table.columns[table.named]} FROM {table.name} t LEFT JOIN commits c "  # noqa: S608 (our own names)
                    "ON c.position = t.commit_no AND c.transaction_id = t.transaction_id "
                    "WHERE t.transaction_id = ? AND c.position IS NULL", (transaction_id,))
                yield from (Fault(GAP, named(name), f"no commit of {transaction_id} wrote {table.word} {named(name)}")
                            for (name,) in rows)

    def _origins(self, mandate_ids: Iterable[str], key_ids: Iterable[str]) -> tuple[set[int], list[Fault]]:
        """The commits that wrote these mandates and keys, and which of them are gone.

        A key that was never used here has no binding here: it is the issuer's of a mandate from outside.
        """
        found, gone = set(), []
        for table, names in ((MANDATES, mandate_ids), (KEYS, key_ids)):
            for name in names:
                row = self._connection.execute(
                    f"SELECT commit_no FROM {table.name} WHERE {table.columns[table.named]} = ?",  # noqa: S608 (our own names)
                    (name,)).fetchone()
                if row is not None:
                    found.add(row[0])
                elif table is MANDATES or self._connection.execute(
                        "SELECT 1 FROM uses WHERE key_id = ?", (name,)).fetchone():
                    gone.append(Fault(
                        GAP, named(name), f"{table.word} {named(name)} is named in the record, and is gone"))
        return found, gone

    def _is_checkable(self, commit: Commit) -> bool:
        """True where the seal is signed under a key that can be relied on."""
        held = None if commit.key_id is None or commit.signature is None else self._held(commit.key_id)
        return held is not None and held.fault is None

    def _seal(self, commit: Commit) -> Iterator[Fault]:
        """The seal's signature."""
        if commit.signature is None or commit.key_id is None:
            yield commit.fault(UNSIGNED, "is signed by nobody")
            return
        held = self._held(commit.key_id)
        if held is None or held.binding is None or held.fault is not None:
            yield commit.fault(
                UNSIGNED, f"is under {named(commit.key_id)}, which is gone or cannot be relied on")
        elif not seal_verifies(commit.body, commit.at, commit.signature, held.binding):
            yield commit.fault(UNSIGNED, f"is not signed by {named(commit.key_id)}")

    def _sealer(self, commit: Commit) -> Iterator[Fault]:
        """Whoever sealed the commit signed something in it; or, where it holds only keys, is one of them."""
        bodies = self._column("body", OBJECTS, commit) + self._column("body", MANDATES, commit)
        entitled = set(entitled_keys(bodies)) if bodies else set(self._binders(commit))
        if commit.key_id is not None and commit.key_id not in entitled:
            yield commit.fault(
                UNSIGNED, f"is under {named(commit.key_id)}, which signed nothing of what it seals")

    def _binders(self, commit: Commit) -> Iterator[object]:
        """Whoever may seal the keys of a commit: each itself, or the subject of the mandate that proves it."""
        rows = self._connection.execute("SELECT key_id, proof FROM keys WHERE commit_no = ?", (commit.position,))
        for key_id, proof in rows.fetchall():
            mandate_id = proving_mandate(proof)
            if mandate_id is None:
                yield key_id
            else:
                yield from self._connection.execute(
                    "SELECT subject_key_id FROM mandates WHERE id = ?", (mandate_id,)).fetchone() or ()

    def _column(self, column: str, table: Table, commit: Commit) -> list[object]:
        rows = self._connection.execute(
            f"SELECT {column} FROM {table.name} WHERE commit_no = ?", (commit.position,))  # noqa: S608 (our own names)
        return [value for (value,) in rows]

    def _neighbours(self, commit: Commit) -> Iterator[Fault]:
        """The seal before this one is the one it names, and the one after it names this one."""
        rows = self._connection.execute(
            "SELECT position, body FROM commits WHERE position BETWEEN ? AND ? ORDER BY position",
            (commit.position - 1, commit.position + 1)).fetchall()
        for (position, body), (later, text) in pairwise(rows):
            seal = Seal.read(text)
            if position + 1 == later and (seal is None or seal.previous != sha256_hex(str(body).encode())):
                yield Fault(GAP, f"commit {later}", f"commit {later} does not follow commit {position} as it stands")
        seal = Seal.read(commit.body)
        if commit.position == 1 and seal is not None and seal.previous is not None:
            yield commit.fault(GAP, "follows another, and is the first of the state")

    def _gaps(self) -> Iterator[Fault]:
        """No commit is missing before the last one."""
        count, last = self._connection.execute("SELECT count(*), coalesce(max(position), 0) FROM commits").fetchone()
        if count == last:
            return
        row = self._connection.execute(
            "SELECT c.position + 1 FROM (SELECT 0 AS position UNION ALL SELECT position FROM commits) c "
            "LEFT JOIN commits n ON n.position = c.position + 1 WHERE n.position IS NULL ORDER BY 1 LIMIT 1").fetchone()
        yield Fault(GAP, f"commit {row[0]}", f"{last - count} of the {last} commits to this state are gone")
