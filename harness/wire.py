"""A server process, and a client that speaks to it line by line.

The process is a fork of this one, so that it starts in milliseconds; what it runs is the server as `a202-mcp` runs it.
Fork only while this process has a single thread and no state open.
"""

from __future__ import annotations

import json
import os
import signal
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

from a202_mcp.bilateral.main import serve
from a202_mcp.bilateral.tools import TOOLS
from a202_mcp.keyring import Keyring
from a202_mcp.store import SqliteStore
from a202_mcp.workspace import Workspace
from a202_reference.codes import Refusal
from harness.story import Story

GREETING = (
    {"jsonrpc": "2.0", "id": "hello", "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "harness", "version": "1"}}},
    {"jsonrpc": "2.0", "method": "notifications/initialized"},
)
_DESCRIPTORS = 256


class GoneError(Exception):
    """The server ended before it answered."""


def warm() -> None:
    """Compile in this process what every server would compile at its first call, so that forks start with it."""
    workspace = Workspace.open(None)
    by_name = {tool.name: tool for tool in TOOLS}

    def call(name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        answer = by_name[name].answer(workspace, arguments)
        if isinstance(answer, Refusal):
            raise TypeError(f"the walkthrough is refused: {answer.detail}")
        return answer

    story, answers = Story("txn_warm_up", call), list[dict[str, Any]]()
    while (step := story.step(answers)) is not None:
        answers.append(call(step.tool, step.arguments))
    call("verify_evidence", {"transaction_id": story.transaction_id})
    workspace.close()


class Server:
    """One server on a state directory."""

    def __init__(self, state_dir: Path, keyring: Keyring) -> None:
        to_server, self._to_server = os.pipe()
        self._from_server, from_server = os.pipe()
        self._stderr: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 (closed with the server)
        self.pid = os.fork()
        if self.pid == 0:
            _serve(to_server, from_server, self._stderr.fileno(), state_dir, keyring)
        os.close(to_server)
        os.close(from_server)
        self._lines = os.fdopen(self._from_server, "rb")
        self._ended = False

    def send(self, *messages: Mapping[str, Any] | bytes) -> None:
        """Write messages, or lines as they are. Raises GoneError."""
        data = b"".join((each if isinstance(each, bytes) else json.dumps(each).encode()) + b"\n" for each in messages)
        try:
            while data:
                data = data[os.write(self._to_server, data):]
        except OSError:
            raise GoneError from None

    def reply(self) -> dict[str, Any]:
        """The next message. Raises GoneError."""
        line = self._lines.readline()
        if not line.endswith(b"\n"):
            raise GoneError
        message: dict[str, Any] = json.loads(line)
        return message

    def greet(self) -> None:
        """The handshake. Raises GoneError."""
        self.send(*GREETING)
        self.reply()

    def call(self, tool: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """What a tool answers, refusals included. Raises GoneError."""
        self.send({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool, "arguments": arguments}})
        message = self.reply()
        if "error" in message:
            return {"outcome": "error", "detail": message["error"]["message"]}
        answer: dict[str, Any] = message["result"]["structuredContent"]
        return answer

    def kill(self) -> None:
        """SIGKILL."""
        if not self._ended:
            os.kill(self.pid, signal.SIGKILL)

    def end(self) -> str:
        """End the input, wait for the process and close everything; what stood on stderr."""
        with suppress(OSError):
            os.close(self._to_server)
        if not self._ended:
            os.waitpid(self.pid, 0)
            self._ended = True
        self._lines.close()
        self._stderr.seek(0)
        said = self._stderr.read().decode("utf-8", "replace")
        self._stderr.close()
        return said


def _serve(inbound: int, outbound: int, errors: int, state_dir: Path, keyring: Keyring) -> None:
    """The child's life; it never returns."""
    status = 70
    try:
        os.dup2(inbound, 0)
        os.dup2(outbound, 1)
        os.dup2(errors, 2)
        os.closerange(3, _DESCRIPTORS)
        status = serve(TOOLS, lambda: Workspace(SqliteStore.open(state_dir), keyring=keyring))
    finally:
        os._exit(status)
