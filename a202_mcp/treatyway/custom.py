"""A shop's own tools (spec 8): a fixed reply, or a command.

A command gets the arguments as JSON on its standard input, no shell, an environment without secrets, the folder of the
configuration, 10 seconds, and 64 KB of output. At most four run at once. What fails is `unavailable`. A command, and
whatever it started, ends with its call, and at the latest with the server.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import selectors
import signal
import subprocess
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from a202_mcp.treatyway.settings import CustomTool

_SECONDS: Final = 10.0
_MOST_BYTES: Final = 64 * 1024
_PASSED_ON: Final = ("PATH", "LANG", "LC_ALL", "TZ", "SYSTEMROOT", "TMPDIR")


class Commands:
    """Runs commands, four at once at most."""

    def __init__(self, folder: Path, most: int = 4, seconds: float = _SECONDS) -> None:
        self._folder = folder
        self._places = threading.BoundedSemaphore(most)
        self._seconds = seconds
        self._lock = threading.RLock()  # a signal may end us in the very thread that is ending us
        self._running: set[subprocess.Popen[bytes]] | None = set()

    def end(self) -> None:
        """End every command, and start none any more. Any thread may call this, and more than once."""
        with self._lock:
            running, self._running = self._running or (), None
            for process in running:
                _kill(process)

    def reply(self, tool: CustomTool, arguments: Mapping[str, Any]) -> str | None:
        """The tool's text, or None where it failed. Blocks while a command runs."""
        if tool.command is None:
            return tool.reply
        if not self._places.acquire(blocking=False):
            return None
        try:
            return self._run(tool.command, _written(arguments).encode("ascii"))
        finally:
            self._places.release()

    def _run(self, command: tuple[str, ...], given: bytes) -> str | None:
        process = self._started(command)
        if process is None:
            return None
        threading.Thread(target=_feed, args=(process, given), daemon=True).start()
        try:
            data = _output(process, time.monotonic() + self._seconds)
        finally:
            self._ended(process)
        try:
            return None if data is None else data.decode("utf-8")
        except UnicodeDecodeError:
            return None

    def _started(self, command: tuple[str, ...]) -> subprocess.Popen[bytes] | None:
        """The command, known to `end` from its first moment; None where it cannot be started."""
        environment = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
        with self._lock:
            if self._running is None:
                return None
            try:
                process = subprocess.Popen(  # noqa: S603 - the owner's own command, without a shell
                    self._resolved(command), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                    cwd=self._folder, env=environment, start_new_session=True)
            except (OSError, ValueError):
                return None
            self._running.add(process)
            return process

    def _ended(self, process: subprocess.Popen[bytes]) -> None:
        """What is left of its group ends with it."""
        with self._lock:
            _kill(process)
            process.wait()
            if process.stdout is not None:
                process.stdout.close()
            if self._running is not None:
                self._running.discard(process)

    def _resolved(self, command: tuple[str, ...]) -> list[str]:
        """A program with a path is looked for in the configuration's folder."""
        program = str(self._folder / command[0]) if "/" in command[0] else command[0]
        return [program, *command[1:]]


def _written(arguments: Mapping[str, Any]) -> str:
    """The arguments as JSON. A number that a buyer wrote too large for any machine is nothing there."""
    return json.dumps(_finite(arguments), allow_nan=False)


def _finite(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _finite(member) for name, member in value.items()}
    if isinstance(value, list):
        return [_finite(member) for member in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _output(process: subprocess.Popen[bytes], until: float) -> bytes | None:
    """What a command writes; None where that is too much, takes too long, or ends with another status than 0.

    Nothing that it leaves behind, in a session of its own with our pipe in its hand, makes us wait longer.
    """
    if process.stdout is None:
        return None
    data, written = b"", process.stdout.fileno()
    with selectors.DefaultSelector() as waiting:
        waiting.register(written, selectors.EVENT_READ)
        while len(data) <= _MOST_BYTES and waiting.select(max(until - time.monotonic(), 0)):
            piece = os.read(written, _MOST_BYTES)
            if not piece:
                return data if _status(process, until) == 0 else None
            data += piece
    return None


def _status(process: subprocess.Popen[bytes], until: float) -> int | None:
    try:
        return process.wait(max(until - time.monotonic(), 0))
    except subprocess.TimeoutExpired:
        return None


def _feed(process: subprocess.Popen[bytes], given: bytes) -> None:
    with contextlib.suppress(OSError, ValueError):
        if process.stdin is not None:
            with process.stdin as stream:
                stream.write(given)


def _kill(process: subprocess.Popen[bytes]) -> None:
    """End the command and everything it started."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
