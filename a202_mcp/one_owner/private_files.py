"""Files that only their owner can read, written whole or not at all (treatyway 4; axp 3, 9)."""

from __future__ import annotations

import errno
import os
import secrets
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path


def write_new(path: Path, data: bytes) -> None:
    """Write a file that is not there yet. Raises FileExistsError where it is, OSError where it cannot be written."""
    with _written(path, data) as fresh:
        os.link(fresh, path)  # fails where the file is there, which a rename would not


def write_over(files: Mapping[Path, bytes]) -> None:
    """Write files, in the place of what is there: once all are on disk, and none before. Raises OSError."""
    with ExitStack() as stack:
        fresh = [(stack.enter_context(_written(path, data)), path) for path, data in files.items()]
        for written, path in fresh:
            written.replace(path)


def try_over(path: Path) -> None:
    """Raises OSError where `write_over` could not write this file. Changes nothing."""
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    folder = next(each for each in path.absolute().parents if each.exists())
    with _written(folder / path.name, b""):
        pass


@contextmanager
def _written(path: Path, data: bytes) -> Iterator[Path]:
    """The data on disk, mode 0600, under a name of its own beside `path`; gone again at the end."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    fresh = path.with_name(f"{path.name}.{secrets.token_hex(8)}")
    descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        yield fresh
    finally:
        fresh.unlink(missing_ok=True)
