"""What a server remembers beside its record, in the same file and the same commits (treatyway 10; axp 10).

Rules this module applies:

- what is remembered of an act is written in one transaction with its objects, on disk before anything is answered;
- a decision and what is written of it are one transaction (`deciding`): from its first read to its end nobody else
  writes, so that what was checked still holds where it is used. An error inside leaves nothing;
- where a statement finds its place taken, or what it was to change no longer as it was read, nothing of the whole is
  written;
- the surface brings its tables and its statements. No secret, no token and no key is ever written by one.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields
from typing import Any, ClassVar

from a202_mcp.store import Batch, SqliteStore


@dataclass(frozen=True, slots=True)
class Write:
    """One statement of a commit. `exactly_one`: nothing is written unless it changes exactly one row."""

    statement: str
    values: tuple[Any, ...]
    exactly_one: bool = False


@dataclass(frozen=True, slots=True)
class BookBatch(Batch):
    """A batch of the record with what is remembered of the same act."""

    writes: tuple[Write, ...] = ()


class BookStore(SqliteStore):
    """The store of the record, with a surface's own tables beside it."""

    TABLES: ClassVar[str] = ""
    """The statements that make them where there are none, each ended by a semicolon."""

    def _prepare(self) -> None:
        super()._prepare()
        with self._writing():
            for statement in self.TABLES.split(";"):
                self._connection.execute(statement)

    def never_wait(self) -> None:
        """From now on raise at once where another program writes, for a server that has its own way of waiting."""
        self._connection.execute("PRAGMA busy_timeout = 0")

    @contextmanager
    def deciding(self) -> Iterator[None]:
        """Hold the state for one decision: what is read in this block stays so until what it writes is on disk.

        Blocks may stand in each other: an error that leaves an inner one takes back what that one wrote. Nothing slow
        belongs inside, since every other process waits. Raises sqlite3.Error where the state cannot be had or written.
        """
        try:
            with self._writing():
                yield
        except BaseException:
            self._forget()  # what was read in here may never have been written
            raise

    @contextmanager
    def _writing(self) -> Iterator[None]:
        if self._connection.in_transaction:
            with self._inside():
                yield
        else:
            with super()._writing():
                yield

    @contextmanager
    def _inside(self) -> Iterator[None]:
        """A part of the decision that is under way, whole or not at all."""
        self._connection.execute("SAVEPOINT part")
        try:
            yield
        except BaseException:
            if self._connection.in_transaction:  # a full disk has ended it whole
                self._connection.execute("ROLLBACK TO part")
                self._connection.execute("RELEASE part")
            raise
        self._connection.execute("RELEASE part")

    def _write(self, batch: Batch, *more: Any, **named: Any) -> None:
        super()._write(batch, *more, **named)
        self._apply(batch.writes if isinstance(batch, BookBatch) else ())

    def _apply(self, writes: Iterable[Write]) -> None:
        for write in writes:
            changed = self._connection.execute(write.statement, write.values).rowcount
            if write.exactly_one and changed != 1:
                raise sqlite3.IntegrityError("the state has moved")

    def remember(self, writes: Iterable[Write]) -> bool:
        """Write what is remembered alone, whole, without anything of the record; False where the state has moved."""
        try:
            with self._writing():
                self._apply(writes)
        except sqlite3.IntegrityError:
            return False
        return True


def batch_with(batch: Batch, writes: Iterable[Write]) -> BookBatch:
    """The batch with what is remembered of the same act."""
    return BookBatch(**{each.name: getattr(batch, each.name) for each in fields(Batch)}, writes=tuple(writes))


def storable(text: str) -> str:
    """A text that the file can hold: a lone surrogate shows as its escape."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")
