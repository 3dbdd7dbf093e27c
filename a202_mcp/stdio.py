"""The stdio transport (surface 4): one protocol message a line, in and out, and how it ends.

Rules this module applies:

- at the end of input every request already received is answered, then the process ends;
- SIGINT and SIGTERM do the same within a second (`ending`);
- a reader that is gone (broken pipe) ends it quietly, and so does the death of the process that started it, even where
  somebody else keeps the pipe open.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import CancelledError
from contextlib import suppress
from functools import partial
from typing import Any, TypeAlias

import anyio
import anyio.to_thread
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import ServerMessageMetadata, SessionMessage
from mcp_types.jsonrpc import (
    INTERNAL_ERROR,
    ErrorData,
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCRequest,
    JSONRPCResponse,
)
from pydantic_core import PydanticSerializationError

from a202_mcp import logs
from a202_mcp.descriptors import Oversized, Wire, claim_wire, lines, read_some, write_all
from a202_mcp.ending import Ending
from a202_mcp.envelope import read_message

Received: TypeAlias = SessionMessage | Exception
Serve: TypeAlias = Callable[
    [MemoryObjectReceiveStream[Received], MemoryObjectSendStream[SessionMessage]], Coroutine[Any, Any, None]
]
"""Serves one connection until its read stream ends, as the SDK's `Server.run` does."""
Read: TypeAlias = Callable[[bytes | Oversized], SessionMessage | JSONRPCError | None]
"""What a line holds: a message, the error to answer it with, or nothing."""

_MAX_OPEN = 256
_PARENT_SECONDS = 1.0


def run(serve: Serve, ending: Ending | None = None, read: Read = read_message) -> int:
    """Serve the process's own stdin and stdout; the exit status.

    0 at the end of input, 128 plus the number of the signal that ended it, 1 where the connection itself failed.
    read: what a line of input is. ending: of a server that starts programs.
    """
    ending = ending or Ending()
    connection = _Connection(claim_wire(), read)
    try:
        asyncio.run(connection.run(serve, ending))
    except Exception as error:
        logs.defect("the connection", error)
        return 1
    return ending.status


class _Connection:
    """One client on a wire. Knows which requests are not settled yet."""

    def __init__(self, wire: Wire, read: Read) -> None:
        self._wire = wire
        self._read_line = read
        self._open = 0
        self._writing = anyio.Lock()
        self._ended = asyncio.Event()
        self._settled = asyncio.Condition()
        self._gone = False

    async def run(self, serve: Serve, ending: Ending) -> None:
        loop = asyncio.get_running_loop()
        ending.on_stop(partial(loop.call_soon_threadsafe, self._ended.set))
        self._to_server, read_stream = anyio.create_memory_object_stream[Received]()
        write_stream, from_server = anyio.create_memory_object_stream[SessionMessage]()
        threading.Thread(target=self._read, args=(loop,), name="stdin", daemon=True).start()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._write, from_server)
            tasks.start_soon(serve, read_stream, write_stream)
            tasks.start_soon(self._outlive_nobody, os.getppid())
            await self._ended.wait()
            async with self._settled:
                await self._settled.wait_for(lambda: self._open == 0 or self._gone)
            await self._to_server.aclose()

    def _read(self, loop: asyncio.AbstractEventLoop) -> None:
        """The reading thread: it parses, then waits until the server has taken the message."""
        with suppress(CancelledError, RuntimeError):  # the loop is over
            for line in lines(partial(read_some, self._wire.inbound)):
                if (message := self._read_line(line)) is not None:
                    asyncio.run_coroutine_threadsafe(self._take(message), loop).result()
            loop.call_soon_threadsafe(self._ended.set)

    async def _take(self, message: SessionMessage | JSONRPCError) -> None:
        if isinstance(message, JSONRPCError):
            await self._send(message)
            return
        if isinstance(message.message, JSONRPCRequest):
            async with self._settled:
                await self._settled.wait_for(lambda: self._open < _MAX_OPEN)
            self._open += 1
            if isinstance(message.metadata, ServerMessageMetadata):
                message.metadata.on_request_unanswered = self._settle
        with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
            await self._to_server.send(message)

    async def _outlive_nobody(self, parent: int) -> None:
        """End, as at the end of input, where this process has got another parent."""
        while not self._ended.is_set() and os.getppid() == parent:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._ended.wait(), _PARENT_SECONDS)
        self._ended.set()

    async def _settle(self) -> None:
        async with self._settled:
            self._open -= 1
            self._settled.notify_all()

    async def _leave(self) -> None:
        """Nobody reads any more: end without waiting for answers."""
        async with self._settled:
            self._gone = True
            self._settled.notify_all()
        self._ended.set()

    async def _write(self, from_server: MemoryObjectReceiveStream[SessionMessage]) -> None:
        async with from_server:
            async for outgoing in from_server:
                await self._send(outgoing.message)
                if isinstance(outgoing.message, JSONRPCResponse | JSONRPCError):
                    await self._settle()

    async def _send(self, message: JSONRPCMessage) -> None:
        if self._gone:
            return
        try:
            async with self._writing:
                await anyio.to_thread.run_sync(write_all, self._wire.outbound, _line_of(message))
        except OSError:
            await self._leave()


def _line_of(message: JSONRPCMessage) -> bytes:
    try:
        text = message.model_dump_json(by_alias=True, exclude_unset=True)
    except (PydanticSerializationError, UnicodeError):
        error = ErrorData(code=INTERNAL_ERROR, message="Internal error: the answer could not be written.")
        ident = message.id if isinstance(message, JSONRPCResponse) else None
        text = JSONRPCError(jsonrpc="2.0", id=ident, error=error).model_dump_json(exclude_unset=True)
    return text.encode("utf-8") + b"\n"
