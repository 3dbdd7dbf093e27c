"""The two descriptors that lead to a client, and the lines that pass them (surface 4).

Rules this module applies:

- stdout carries protocol lines only. The wire is moved to descriptors of its own; descriptor 1 then leads to
  stderr and descriptor 0 to nothing, so that a stray print or a child process cannot touch it;
- a line ends with a line feed, whatever the locale or the platform says. Up to 16 MiB of it are read; of a
  longer one only the first and last bytes are held.
"""

from __future__ import annotations

import os
import select
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from a202_reference.wire import MAX_BYTES

_CHUNK = 1 << 16


@dataclass(frozen=True, slots=True)
class Wire:
    """The two descriptors that lead to the client."""

    inbound: int
    outbound: int


def claim_wire() -> Wire:
    """Move stdin and stdout to descriptors of their own; what stays behind is harmless to use."""
    while (spare := os.open(os.devnull, os.O_RDWR)) <= 2:
        pass  # a standard descriptor was closed; this fills the gap
    wire = Wire(os.dup(0), os.dup(1))
    os.dup2(spare, 0)
    os.dup2(2, 1)
    os.close(spare)
    if sys.platform == "win32":
        import msvcrt  # noqa: PLC0415 - there is no such module elsewhere

        for descriptor in (wire.inbound, wire.outbound):
            msvcrt.setmode(descriptor, os.O_BINARY)
    return wire


@dataclass(frozen=True, slots=True)
class Oversized:
    """A line beyond the limit, of which only the first and last bytes were kept."""

    head: bytes
    tail: bytes


def lines(read: Callable[[], bytes]) -> Iterator[bytes | Oversized]:
    """The lines in what `read` returns, without their line feeds, until it returns nothing."""
    line = _Line()
    while chunk := read():
        *ended, rest = chunk.split(b"\n")
        for piece in ended:
            line.add(piece)
            yield line.end()
            line = _Line()
        line.add(rest)
    if line.size:
        yield line.end()


class _Line:
    """A line that is still coming."""

    def __init__(self) -> None:
        self.size = 0
        self._pieces: list[bytes] = []
        self._head = self._tail = b""

    def add(self, piece: bytes) -> None:
        self.size += len(piece)
        if self.size <= MAX_BYTES:
            self._pieces.append(piece)
            return
        if self._pieces:
            whole = b"".join(self._pieces)
            self._head, self._tail = whole[:_CHUNK], whole[-_CHUNK:]
            self._pieces.clear()
        self._tail = (self._tail + piece)[-_CHUNK:]

    def end(self) -> bytes | Oversized:
        return b"".join(self._pieces) if self.size <= MAX_BYTES else Oversized(self._head, self._tail)


def read_some(descriptor: int) -> bytes:
    """What is there to read, at least one byte; nothing at the end or where the wire broke."""
    while True:
        try:
            return os.read(descriptor, _CHUNK)
        except BlockingIOError:  # the other side shares the description and made it non-blocking
            select.select([descriptor], [], [])
        except OSError:
            return b""


def write_all(descriptor: int, data: bytes) -> None:
    """Write everything. Raises OSError where nobody reads any more."""
    left = memoryview(data)
    while left:
        try:
            left = left[os.write(descriptor, left) :]
        except BlockingIOError:
            select.select([], [descriptor], [])
