"""A shop's own tools (spec 8): a fixed reply, or a command.

A command gets the arguments as JSON on its standard input, no shell, an environment without secrets, the folder of the
configuration, 10 seconds, and 64 KB of output. At most four run at once. What fails is `unavailable`.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import threading
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

    def reply(self, tool: CustomTool, arguments: Mapping[str, Any]) -> str | None:
        """The tool's text, or None where it failed. Blocks while a command runs."""
        if tool.command is None:
            return tool.reply
        if not self._places.acquire(blocking=False):
            return None
        try:
            return self._run(tool.command, json.dumps(arguments).encode())
        finally:
            self._places.release()

    def _run(self, command: tuple[str, ...], given: bytes) -> str | None:
        environment = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
        try:
            process = subprocess.Popen(  # noqa: S603 - the owner's own command, without a shell
                self._resolved(command), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                cwd=self._folder, env=environment, start_new_session=True)
        except (OSError, ValueError):
            return None
        timer = threading.Timer(self._seconds, _kill, (process,))
        timer.start()
        feeding = threading.Thread(target=_feed, args=(process, given), daemon=True)
        feeding.start()
        try:
            data = process.stdout.read(_MOST_BYTES + 1) if process.stdout is not None else b""
            ended = len(data) <= _MOST_BYTES and process.wait() == 0
        finally:
            timer.cancel()
            _kill(process)
            process.wait()
            if process.stdout is not None:
                process.stdout.close()
        try:
            return data.decode("utf-8") if ended else None
        except UnicodeDecodeError:
            return None

    def _resolved(self, command: tuple[str, ...]) -> list[str]:
        """A program with a path is looked for in the configuration's folder."""
        program = str(self._folder / command[0]) if "/" in command[0] else command[0]
        return [program, *command[1:]]


def _feed(process: subprocess.Popen[bytes], given: bytes) -> None:
    with contextlib.suppress(OSError, ValueError):
        if process.stdin is not None:
            with process.stdin as stream:
                stream.write(given)


def _kill(process: subprocess.Popen[bytes]) -> None:
    """End the command and everything it started."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
