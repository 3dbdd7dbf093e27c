"""The folder that one run of the owner's program has to itself, and what a killed server left of one (axp 7.2).

Rules this module applies:

- a folder for each run, in the state folder, gone when the run ends: however deep the program made it, since
  directories are moved up and never descended into;
- the program holds a lock on a file beside its folder, which no server's end takes away. Where a folder is left and its
  lock is held, the run goes on without its server: its process group is ended before anything is run again.
"""

from __future__ import annotations

import fcntl
import os
import secrets
import signal
import time
from contextlib import suppress
from pathlib import Path
from typing import Final

PLACE: Final = "work"
"""The folder of all runs, in the state folder."""

_LOCK, _FILES = "group", "files"
_ENDING_SECONDS: Final = 2.0


class RunFolder:
    """The folder of one run. `files` is the program's own; `descriptor` is what it holds the lock by."""

    def __init__(self, state_dir: Path) -> None:
        """Make it. Raises OSError."""
        self._folder = state_dir / PLACE / secrets.token_hex(8)
        self.files = self._folder / _FILES
        self.files.mkdir(mode=0o700, parents=True)
        self.descriptor = os.open(self._folder / _LOCK, os.O_RDWR | os.O_CREAT, 0o600)
        fcntl.flock(self.descriptor, fcntl.LOCK_EX)

    def belongs_to(self, group: int) -> None:
        """Note whose it is: the process group that a later server may have to end."""
        os.write(self.descriptor, b"%d" % group)

    def remove(self) -> None:
        """Remove it with everything in it, as far as it can be."""
        os.close(self.descriptor)
        _remove(self._folder)


def end_leftovers(state_dir: Path) -> None:
    """End what runs of a killed server go on, and remove their folders. For the server that holds the state folder."""
    with suppress(FileNotFoundError):
        for folder in list((state_dir / PLACE).iterdir()):
            with suppress(OSError):
                _end(folder / _LOCK)
            _remove(folder)


def _end(lock: Path) -> None:
    descriptor = os.open(lock, os.O_RDONLY)
    try:
        until = time.monotonic() + _ENDING_SECONDS
        while _is_held(descriptor) and time.monotonic() < until:
            group = os.pread(descriptor, 20, 0)
            if group.isdigit() and int(group) > 1:
                with suppress(ProcessLookupError, PermissionError):
                    os.killpg(int(group), signal.SIGKILL)
            time.sleep(0.01)
    finally:
        os.close(descriptor)


def _is_held(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    return False


def _remove(folder: Path) -> None:
    with suppress(OSError):
        while inner := _emptied(folder, folder):
            for each in inner:
                _emptied(each, folder)
                each.rmdir()
        folder.rmdir()


def _emptied(folder: Path, top: Path) -> list[Path]:
    """The directories at the top after the files of a folder are gone and its directories have been moved there."""
    folder.chmod(0o700)
    moved = []
    for entry in list(os.scandir(folder)):
        if not entry.is_dir(follow_symlinks=False):
            Path(entry.path).unlink()
        elif folder == top:
            moved.append(Path(entry.path))
        else:
            Path(entry.path).chmod(0o700)
            moved.append(Path(entry.path).rename(top / secrets.token_hex(8)))
    return moved
