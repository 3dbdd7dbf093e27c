"""The owner's own program, run on one task (spec 7.2, "Worker"; requirements A52 to A54, A56, A83, A84).

Rules this module applies:

- an argument list, no shell, a temporary folder of its own, an environment of PATH, HOME and LANG; the job as JSON on
  standard input, the result on standard output; a callable runs in a child process likewise;
- it failed where it exits with another status than 0, takes longer than its time (its whole process group is killed),
  writes no UTF-8, nothing, more than 262,144 bytes, nothing but a link, or what fails a check that we can run.
"""

from __future__ import annotations

import asyncio
import os
import re
import signal
import sys
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from a202_mcp.axp.checks import failed_check
from a202_mcp.axp.reading import NoJson, dumps, read
from a202_mcp.axp.settings import WorkerPlan
from a202_mcp.axp.skills import PYTHON
from a202_reference.wire import has_lone_surrogate

CONTENT_LIMIT: Final = 262_144
_OUTPUT_LIMIT: Final = 4 * 1024 * 1024
_KEPT_ERRORS: Final = 4096
_DRAIN_SECONDS: Final = 2.0
_LINK: Final = re.compile(r"<?(?:[a-z][a-z0-9+.-]*:/{2}|www\.)\S+>?", re.IGNORECASE)
_MARKED_LINK: Final = re.compile(r"\[[^\]]*\]\(\S+\)")
_ENVIRONMENT: Final = ("PATH", "HOME", "LANG")


@dataclass(frozen=True, slots=True)
class Content:
    """A result that may be delivered."""

    content: str
    filename: str
    mime_type: str
    note: str | None

    @property
    def document(self) -> dict[str, str]:
        """The body of the delivery."""
        note = {} if self.note is None else {"note": self.note}
        return {"content": self.content, "filename": self.filename, "mime_type": self.mime_type, **note}


@dataclass(frozen=True, slots=True)
class WorkFailure:
    """Why there is no result, for the owner. errors: the end of what the program wrote to standard error."""

    reason: str
    errors: str = ""


async def run_worker(plan: WorkerPlan, job: Mapping[str, Any], checks: Mapping[str, Any]) -> Content | WorkFailure:
    """Run the program on one job."""
    with tempfile.TemporaryDirectory(prefix="a202-work-", ignore_cleanup_errors=True) as folder:
        try:
            transport, talk = await asyncio.get_running_loop().subprocess_exec(
                _Talk, *_command(plan), cwd=folder, start_new_session=True,
                env={name: os.environ[name] for name in _ENVIRONMENT if name in os.environ})
        except (OSError, ValueError) as broken:
            return WorkFailure(f"the worker cannot be started: {type(broken).__name__}")
        try:
            talk.feed(dumps(job).encode("ascii"))
            in_time = await talk.ended(plan.timeout_seconds)
        finally:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(transport.get_pid(), signal.SIGKILL)
            await talk.closed(_DRAIN_SECONDS)
            transport.close()
    shown = bytes(talk.errors).decode("utf-8", "replace")
    if talk.too_much:
        return WorkFailure("the worker wrote too much", shown)
    if not in_time:
        return WorkFailure(f"the worker took longer than {plan.timeout_seconds} seconds", shown)
    if status := transport.get_returncode():
        return WorkFailure(f"the worker ended with status {status}", shown)
    found = _content(plan, bytes(talk.output))
    reason = found if isinstance(found, str) else _unfit(found, checks)
    return WorkFailure(reason, shown) if reason is not None else found  # type: ignore[return-value]  # a str has a reason


class _Talk(asyncio.SubprocessProtocol):
    """What goes between us and one program. Nothing it writes, or leaves behind, can make us wait beyond a limit."""

    def __init__(self) -> None:
        self.output, self.errors = bytearray(), bytearray()
        self.too_much = False
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
            self.too_much = True
            self._ended.set()
        else:
            self.output += data

    def pipe_connection_lost(self, fd: int, _: Exception | None) -> None:
        """It closed a pipe; its standard input it need not read."""
        self._open.discard(fd)
        self._settle()

    def process_exited(self) -> None:
        """It ended; what it wrote before is still to be read."""
        self._settle()

    async def ended(self, seconds: float) -> bool:
        """True where it ends, or writes too much, in time."""
        return await _within(self._ended, seconds)

    async def closed(self, seconds: float) -> bool:
        """True where nothing of it is left on our pipes in time."""
        return await _within(self._closed, seconds)

    def _settle(self) -> None:
        if self._transport is None or self._transport.get_returncode() is None or self._open:
            return
        self._ended.set()
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


def _content(plan: WorkerPlan, output: bytes) -> Content | str:
    """The result in the output, or what is wrong with it."""
    try:
        text = output.decode("utf-8")
    except UnicodeDecodeError:
        return "the result is not UTF-8"
    if plan.output == "text" and plan.command[0] != PYTHON:
        return Content(text, plan.filename, plan.mime_type, None)
    value = read(text)
    if isinstance(value, NoJson) or not isinstance(value, dict) or not isinstance(value.get("content"), str):
        return "the result is no JSON object with a text `content`"
    named = {name: value.get(name) for name in ("filename", "mime_type", "note")}
    if any(each is not None and (not isinstance(each, str) or has_lone_surrogate(each)) for each in named.values()):
        return "the result's filename, mime_type or note is no text"
    return Content(
        value["content"], named["filename"] or plan.filename, named["mime_type"] or plan.mime_type, named["note"])


def _unfit(result: Content, checks: Mapping[str, Any]) -> str | None:
    """Why this content is not delivered, or None."""
    content = result.content
    if has_lone_surrogate(content):
        return "the result is not UTF-8"
    if not content.strip():
        return "the result is empty"
    if len(content.encode("utf-8")) > CONTENT_LIMIT:
        return f"the result is over {CONTENT_LIMIT} bytes"
    bare = content.strip()
    if _LINK.fullmatch(bare) or _MARKED_LINK.fullmatch(bare):
        return "the result is nothing but a link"
    failed = failed_check(checks, content)
    return None if failed is None else f"the result fails the acceptance check {failed}"
