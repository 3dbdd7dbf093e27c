"""What the server says on stderr: where something failed, never what was in it (surface 4).

An exception's message, and the values in a log record, may hold a document. So only the exception's type and
the places it passed are written, the last of them where they are many. Whatever happened is one line. A line that
cannot be written changes nothing else: an answer never depends on whether somebody reads the log.
"""

from __future__ import annotations

import logging
import sys
import traceback
from contextlib import suppress

_NAME = "a202-mcp"
_SHOWN = 20


def say(message: str) -> None:
    """One line for the person who runs the server. `message` is our own text."""
    if sys.stderr is not None:
        with suppress(OSError, ValueError):  # nobody reads it, or its disk is full: what was done stays done
            print(f"{_NAME}: {message}", file=sys.stderr, flush=True)  # noqa: T201 - stderr is where logs go


def defect(where: str, error: BaseException) -> None:
    """An exception that nobody expected: its type and the places it passed."""
    say(f"defect in {where}: {_passed(error)}")


def quieten_libraries() -> None:
    """Send the libraries' warnings and errors to stderr with their places and without their contents."""
    handler = logging.StreamHandler()
    handler.setFormatter(_PlacesOnly())
    logging.basicConfig(level=logging.WARNING, handlers=[handler], force=True)


class _PlacesOnly(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        """The record's origin; of an exception its type and places."""
        head = f"{_NAME}: {record.levelname.lower()} in {record.name}, line {record.lineno}"
        error = record.exc_info[1] if record.exc_info else None
        return head if error is None else f"{head}: {_passed(error)}"


def _passed(error: BaseException) -> str:
    """The type, and the places from the outermost to where it was raised."""
    frames = traceback.extract_tb(error.__traceback__)[-_SHOWN:]
    return " > ".join([type(error).__name__, *(f"{frame.filename}:{frame.lineno} in {frame.name}" for frame in frames)])
