"""The file that a state is kept in: how it is opened, held, written to, and what is wrong when it cannot be.

Rules this module applies:

- write-ahead log, every commit synced to disk before it is acknowledged; a new file is on disk before anything is;
- what a crash left behind the last commit is set aside and reported (`log_tail`);
- several processes open and write one file; each waits for the others, for a while;
- a file of another format, or of another program, is refused as it is and not touched;
- whatever SQLite or the disk says is told in words that name no path and no content.
"""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from types import MappingProxyType
from typing import Final

from a202_mcp import logs
from a202_mcp.log_tail import set_aside
from a202_mcp.tables import FORMAT, SCHEMA

FILE_NAME: Final = "a202.sqlite3"
WAIT_SECONDS: Final = 10
"""How long a call waits for another process that writes."""

_RETRY_SECONDS: Final = 0.01
_TROUBLE: Final[Mapping[int, str]] = MappingProxyType({
    sqlite3.SQLITE_BUSY: "another program has it locked, and kept it so for 10 seconds; end that program (a backup, a "
                         "database browser) and call again",
    sqlite3.SQLITE_CORRUPT: "its file is damaged; keep it, and put a copy that is whole in its place",
    sqlite3.SQLITE_NOTADB: "its file is no state of this server; name another directory",
    sqlite3.SQLITE_FULL: "the disk is full; make room and call again",
    sqlite3.SQLITE_IOERR: "the disk could not be read or written; call again, and look into the disk",
    sqlite3.SQLITE_READONLY: "this user cannot write it",
    sqlite3.SQLITE_CANTOPEN: "this user cannot open it",
})
_PRIMARY: Final = 0xFF


class UnusableError(sqlite3.DatabaseError):
    """The state cannot be used. Its text says why, and may be shown to the caller: it names no path."""


def is_trouble(error: BaseException) -> bool:
    """True for an error of the file or the disk; any other of SQLite's is a defect of ours."""
    return isinstance(error, sqlite3.OperationalError | UnusableError) or type(error) is sqlite3.DatabaseError


def trouble(error: BaseException) -> str | None:
    """What an error of the state means and what to do, or None where nothing more can be said than that."""
    if isinstance(error, UnusableError):
        return str(error)
    return _TROUBLE.get(getattr(error, "sqlite_errorcode", 0) & _PRIMARY)


class StateFile:
    """One open state file, or a state in memory."""

    def __init__(self, connection: sqlite3.Connection, path: Path | None = None) -> None:
        self.connection = connection
        self._path = path
        self._identity = _identity(path)

    @classmethod
    def open(cls, state_dir: Path | None) -> StateFile:
        """Open or create it. Raises OSError or sqlite3.Error where the directory cannot be used."""
        path = None if state_dir is None else _path_in(state_dir)
        # One call at a time uses the connection, whichever thread runs it.
        connection = sqlite3.connect(
            path or ":memory:", timeout=WAIT_SECONDS, isolation_level=None, check_same_thread=False)
        file = cls(connection, path)
        try:
            file._refuse_foreign()
            _patiently(lambda: connection.execute("PRAGMA journal_mode=WAL"))
            connection.execute("PRAGMA synchronous=FULL")
            report = None if path is None else set_aside(connection, path)
            if report is not None:
                logs.say(report)
            file._prepare()
        except BaseException:
            connection.close()
            raise
        return file

    @contextmanager
    def writing(self) -> Iterator[None]:
        """One transaction, against everybody else's: whole on disk at the end of the block, or not at all."""
        if self._identity != _identity(self._path):
            raise UnusableError("its file was removed or replaced while this server ran; restart the server")
        self.connection.execute("BEGIN IMMEDIATE")
        try:
            yield
            self.connection.execute("COMMIT")
        except BaseException:
            if self.connection.in_transaction:
                self.connection.execute("ROLLBACK")
            raise

    def _prepare(self) -> None:
        """Make the tables where there are none."""
        if self._format() is None:
            with self.writing():
                if self._format() is None:  # another process may have been faster
                    for statement in SCHEMA.split(";"):
                        self.connection.execute(statement)
        self._refuse_foreign()

    def _refuse_foreign(self) -> None:
        """Refuse a file of another format or of another program, before anything is written to it."""
        found = self._format()
        if found not in (None, FORMAT):
            raise UnusableError(
                f"it is of format {found}, and this version reads format {FORMAT}; name another directory, and read "
                f"this one with the version that wrote it")

    def _format(self) -> str | None:
        """The format; None where nothing was ever written."""
        names = {name for (name,) in self.connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        if not names:
            return None
        if "meta" not in names:
            raise UnusableError("its file was written by another program; name another directory")
        row = self.connection.execute("SELECT value FROM meta WHERE name = 'format'").fetchone()
        return "unknown" if row is None else str(row[0])[:20]


def _path_in(state_dir: Path) -> Path:
    """The state file, made with its directory where it is missing."""
    state_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
    path = state_dir / FILE_NAME
    if not path.exists():
        path.touch(mode=0o600, exist_ok=True)
        with suppress(OSError):  # not every system opens directories
            descriptor = os.open(state_dir, os.O_RDONLY)
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
    return path


def _identity(path: Path | None) -> tuple[int, int] | None:
    """Which file stands at a path, or None."""
    try:
        found = None if path is None else path.stat()
    except OSError:
        return None
    return None if found is None else (found.st_dev, found.st_ino)


def _patiently(work: Callable[[], object]) -> None:
    """Do what SQLite does not wait for by itself while another process opens the same new file."""
    until = time.monotonic() + WAIT_SECONDS
    while True:
        try:
            work()
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & _PRIMARY != sqlite3.SQLITE_BUSY or time.monotonic() > until:
                raise
            time.sleep(_RETRY_SECONDS)
        else:
            return
