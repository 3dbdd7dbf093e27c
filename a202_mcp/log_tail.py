"""What a crash left at the end of the state file's log (treatyway 10: "a corrupt tail is set aside and reported").

Rules this module applies:

- SQLite reads its log up to the last whole commit, and is silent about what comes after. What is left there by a write
  that was cut off, or by anything else, is copied beside the file, named in one line, and gone from the log;
- frames of an earlier turn of the log are no tail: SQLite writes over them in its own time;
- another process that is writing leaves no tail: whatever looks like one is looked at again while nobody can write.
"""

from __future__ import annotations

import secrets
import sqlite3
import struct
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

_HEADER_BYTES: Final = 32
_FRAME_HEADER_BYTES: Final = 24
_TURNS: Final = 1 << 16
"""How many turns ago a frame may have been written and still be one of ours: each turn counts its first salt up."""


@dataclass(frozen=True, slots=True)
class Tail:
    """Bytes of the log that are no part of any commit."""

    data: bytes


def set_aside(connection: sqlite3.Connection, path: Path) -> str | None:
    """Set aside what follows the last commit in the log; the line that reports it, or None where there is nothing.

    connection: open on the file, in no transaction. Raises OSError, sqlite3.Error.
    """
    if _tail(connection, path) is None:
        return None
    connection.execute("BEGIN IMMEDIATE")
    try:
        with closing(sqlite3.connect(path)) as beside:  # a transaction cannot ask how long the log is
            tail = _tail(beside, path)
        kept = None if tail is None else _kept(path, tail)
    finally:
        connection.execute("ROLLBACK")
    if tail is None or kept is None:
        return None
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    return (f"the state's log ended in {len(tail.data)} bytes that belong to no whole write, as a crash leaves them: "
            f"they are kept in {kept.name}, and do not count")


def _tail(connection: sqlite3.Connection, path: Path) -> Tail | None:
    """What follows the last commit in the log, where it is no leftover of an earlier turn."""
    log = path.with_name(f"{path.name}-wal")
    with suppress(FileNotFoundError, sqlite3.OperationalError):  # whoever may only read sets nothing aside
        if log.stat().st_size > _HEADER_BYTES:
            _, frames, _ = connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
            return None if frames < 0 else _after(log.read_bytes(), frames)  # below 0: another one is at it
    return None


def _after(log: bytes, frames: int) -> Tail | None:
    """frames: how many of the log count, as SQLite read them."""
    frame = _FRAME_HEADER_BYTES + struct.unpack(">I", log[8:12])[0]
    begins = _HEADER_BYTES + frames * frame
    while begins + frame <= len(log) and 0 < _turns(log[begins + 8:begins + 12], log[16:20]) < _TURNS:
        begins += frame
    return Tail(log[begins:]) if begins < len(log) else None


def _turns(written: bytes, now: bytes) -> int:
    """How many turns lie between two first salts."""
    return int((struct.unpack(">I", now)[0] - struct.unpack(">I", written)[0]) % (1 << 32))


def _kept(path: Path, tail: Tail) -> Path:
    """A copy of the tail beside the file, under a name of its own."""
    kept = path.with_name(f"{path.name}-tail-{secrets.token_hex(4)}")
    kept.touch(mode=0o600, exist_ok=False)
    kept.write_bytes(tail.data)
    return kept
