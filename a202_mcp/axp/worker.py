"""The owner's own program, run on one task (axp 7.2, "Worker"; requirements A54, A56, A83).

Rules this module applies:

- an argument list, no shell, a temporary folder of its own, an environment of PATH, HOME and LANG; the job as JSON on
  standard input, the result on standard output; a callable runs in a child process likewise;
- it failed where it exits with another status than 0 or takes longer than its time. Its run is over when it ends:
  whatever it left behind in its process group is killed, and nobody who holds its pipes makes us wait.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from a202_mcp.axp.reading import dumps
from a202_mcp.axp.result import Content, read_result
from a202_mcp.axp.run_folder import RunFolder
from a202_mcp.axp.settings import WorkerPlan
from a202_mcp.axp.skills import PYTHON

_OUTPUT_LIMIT: Final = 4 * 1024 * 1024
_KEPT_ERRORS: Final = 4096
_DRAIN_SECONDS: Final = 2.0
_ENVIRONMENT: Final = ("PATH", "HOME", "LANG")


@dataclass(frozen=True, slots=True)
class WorkFailure:
    """Why there is no result, for the owner. errors: the end of what the program wrote to standard error."""

    reason: str
    errors: str = ""


async def run_worker(
    plan: WorkerPlan, job: Mapping[str, Any], checks: Mapping[str, Any], state_dir: Path,
) -> Content | WorkFailure:
    """Run the program on one job."""
    try:
        folder = RunFolder(state_dir)
    except OSError as broken:
        return _not_started(broken)
    try:
        return await _run(plan, job, checks, folder)
    finally:
        await asyncio.to_thread(folder.remove)


async def _run(
    plan: WorkerPlan, job: Mapping[str, Any], checks: Mapping[str, Any], folder: RunFolder,
) -> Content | WorkFailure:
    try:
        transport, talk = await asyncio.get_running_loop().subprocess_exec(
            _Talk, *_command(plan), cwd=folder.files, start_new_session=True, pass_fds=(folder.descriptor,),
            env={name: os.environ[name] for name in _ENVIRONMENT if name in os.environ})
    except (OSError, ValueError) as broken:
        return _not_started(broken)
    try:
        folder.belongs_to(transport.get_pid())
        talk.feed(dumps(job).encode("ascii"))
        in_time = await talk.ended(plan.timeout_seconds)
    finally:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(transport.get_pid(), signal.SIGKILL)
        await talk.closed(_DRAIN_SECONDS)
        transport.close()
    reason = talk.failure(in_time, plan.timeout_seconds)
    found = reason or read_result(plan, bytes(talk.output), checks)
    return WorkFailure(found, talk.errors.decode("utf-8", "replace")) if isinstance(found, str) else found


def _not_started(broken: Exception) -> WorkFailure:
    return WorkFailure(f"the worker cannot be started: {type(broken).__name__}")


class _Talk(asyncio.SubprocessProtocol):
    """What goes between us and one program. Nothing it writes, or leaves behind, can make us wait beyond a limit."""

    def __init__(self) -> None:
        self.output, self.errors = bytearray(), bytearray()
        self._too_much = False
        self._transport: asyncio.SubprocessTransport | None = None
        self._open = {1, 2}
        self._ended, self._closed = asyncio.Event(), asyncio.Event()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """The program runs."""
        self._transport = transport  # type: ignore[assignment]  # a subprocess's, in this protocol

    def feed(self, job: bytes) -> None:
        """Its job, and the end of it."""
        pipe = None if self._transport is None else self._transport.get_pipe_transport(0)
        if isinstance(pipe, asyncio.WriteTransport):
            pipe.write(job)
            pipe.close()

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        """It wrote something."""
        if fd == 2:
            self.errors = (self.errors + data)[-_KEPT_ERRORS:]
        elif len(self.output) + len(data) > _OUTPUT_LIMIT:
            self._too_much = True
            self._ended.set()
        else:
            self.output += data

    def pipe_connection_lost(self, fd: int, _: Exception | None) -> None:
        """Nobody holds one of its pipes any more; its standard input it need not read."""
        self._open.discard(fd)
        self._settle()

    def process_exited(self) -> None:
        """It ended; what it wrote before is still to be read."""
        self._ended.set()
        self._settle()

    async def ended(self, seconds: float) -> bool:
        """True where it ends, or writes too much, in time."""
        return await _within(self._ended, seconds)

    async def closed(self, seconds: float) -> bool:
        """True where nothing of it is left on our pipes in time."""
        return await _within(self._closed, seconds)

    def failure(self, in_time: bool, seconds: int) -> str | None:
        """Why it made no result, or None."""
        status = None if self._transport is None else self._transport.get_returncode()
        if self._too_much:
            return "the worker wrote too much"
        if not in_time:
            return f"the worker took longer than {seconds} seconds"
        return f"the worker ended with status {status}" if status else None

    def _settle(self) -> None:
        if self._ended.is_set() and not self._open:
            self._closed.set()


async def _within(event: asyncio.Event, seconds: float) -> bool:
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await event.wait()
    return event.is_set()


def _command(plan: WorkerPlan) -> list[str]:
    if plan.command[0] != PYTHON:
        return list(plan.command)
    runner = Path(__file__).with_name("python_worker.py")
    return [sys.executable, "-P", str(runner), *plan.command[1:]]
