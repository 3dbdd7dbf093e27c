"""Times over real standard input and output: starting a server, and one call."""

from __future__ import annotations

import asyncio
import json
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

_GREETING: list[dict[str, Any]] = [
    {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "benchmark", "version": "1"}}},
    {"jsonrpc": "2.0", "method": "notifications/initialized"},
]
_LIST: dict[str, Any] = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
_READ: dict[str, Any] = {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {
    "name": "get_transaction_record", "arguments": {"transaction_id": "txn_unknown"}}}

_BARE = """
import asyncio
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
import mcp_types as types

async def list_tools(context, params):
    return types.ListToolsResult(tools=[types.Tool(name="nothing", input_schema={"type": "object"})])

async def main():
    server = Server("bare", on_list_tools=list_tools)
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())

asyncio.run(main())
"""


class Pipe:
    """A server process spoken to in lines."""

    def __init__(self, arguments: list[str]) -> None:
        self._process = subprocess.Popen(  # noqa: S603 (our own interpreter and our own arguments)
            [sys.executable, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)

    def __enter__(self) -> Pipe:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate(timeout=30)

    def ask(self, *messages: dict[str, Any]) -> dict[str, Any]:
        """Send messages and wait for the answer to the last one."""
        stdin, stdout = self._process.stdin, self._process.stdout
        if stdin is None or stdout is None:
            raise AssertionError("the process has no pipes")
        stdin.write(b"".join(json.dumps(message).encode() + b"\n" for message in messages))
        stdin.flush()
        while answer := json.loads(stdout.readline()):
            if answer.get("id") == messages[-1]["id"]:
                return dict(answer)
        raise AssertionError("the process answered nothing")


def server_start() -> float:
    """Milliseconds from spawning our server to its tool list."""
    return _start(["-m", "a202_mcp"])


def first_call(place: Path) -> float:
    """Milliseconds from spawning our server on a state directory to one record: the first call opens the state."""
    return _start(["-m", "a202_mcp", "--state-dir", str(place)], _READ)


def bare_server_start() -> float:
    """The same for the SDK's own low-level server with one empty tool."""
    return _start(["-c", _BARE])


def call_times() -> tuple[float, float]:
    """Median milliseconds of one verify_mandate and one create_agreement over stdio, in memory."""
    return asyncio.run(_call_times())


def _start(arguments: list[str], *more: dict[str, Any]) -> float:
    began = time.perf_counter()
    with Pipe(arguments) as pipe:
        pipe.ask(*_GREETING, _LIST)
        for message in more:
            pipe.ask(message)
        return (time.perf_counter() - began) * 1000


async def _call_times() -> tuple[float, float]:
    from a202_mcp.demo.stage import server  # noqa: PLC0415 (the client's libraries are heavy)
    from benchmarks.remote import Remote  # noqa: PLC0415 (the same)

    decisions, agreements = [], []
    async with server(None) as client:
        for number in range(25):
            remote = Remote(client, f"txn_wire_{number}")
            await remote.prepare()
            began = time.perf_counter()
            decided = await remote.decide("buyer")
            middle = time.perf_counter()
            other = await remote.decide("supplier")
            before = time.perf_counter()
            await remote.form(decided, other)
            after = time.perf_counter()
            decisions.append((middle - began) * 1000)
            agreements.append((after - before) * 1000)
    return statistics.median(decisions[5:]), statistics.median(agreements[5:])
