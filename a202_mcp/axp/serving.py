"""The running member (spec 3, 10): the HTTP surface, the work queue and the outbox in one loop.

Rules this module applies:

- one server per state folder, by a lock on a file in it; commands of the owner work beside it;
- whatever is written wakes queue and outbox; rows that a command wrote are seen within a second. What is under way
  wakes them when it ends;
- SIGTERM: no new calls, open answers get a second, programs end, the outbox stays for the next start.
"""

from __future__ import annotations

import asyncio
import fcntl
import os
import signal
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

import uvicorn

from a202_mcp import logs
from a202_mcp.axp.exchange import ExchangeClient
from a202_mcp.axp.heartbeat import Heartbeat
from a202_mcp.axp.mandate_status import StatusReader
from a202_mcp.axp.member import Member
from a202_mcp.axp.outbox import Outbox
from a202_mcp.axp.run_folder import end_leftovers
from a202_mcp.axp.web import WebApp
from a202_mcp.axp.work import WorkQueue
from a202_mcp.one_owner.web import in_address
from a202_mcp.state_file import is_trouble

LOOK_EVERY: Final = 0.5


class LockedError(Exception):
    """Another server uses the state folder."""


def lock(state_dir: Path) -> int:
    """Take the state folder for this process; the descriptor that holds it. Raises LockedError, OSError."""
    descriptor = os.open(state_dir / "server.lock", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        raise LockedError from None
    return descriptor


class _Server(uvicorn.Server):
    """A server that ends in good order: a signal is no reason to die of it."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave at the first signal, at once at the second."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, self.handle_exit, number, None)
        yield


class Engine:
    """What works beside the answers: the queue, the outbox, the heartbeat."""

    def __init__(self, member: Member, client: ExchangeClient) -> None:
        self._member = member
        self._heartbeat = Heartbeat(member, client)
        self.work = WorkQueue(member)
        self.outbox = Outbox(member, client)
        self._wake = asyncio.Event()
        member.woken = self._wake.set

    async def run(self) -> None:
        """Work until cancelled."""
        heartbeat = asyncio.get_running_loop().create_task(self._heartbeat.run())
        try:
            while True:
                self._wake.clear()
                pause = self._looked()
                with suppress(TimeoutError):
                    async with asyncio.timeout(pause):
                        await self._wake.wait()
        finally:
            heartbeat.cancel()
            await self.work.stop()
            await self.outbox.stop()

    def _looked(self) -> float:
        """Start what can be started; how long nothing else can, at most the time in which a command's rows are seen."""
        try:
            if self._member.settings.sells:
                self.work.look()
            return min(self.outbox.look(), LOOK_EVERY)
        except Exception as error:
            if not is_trouble(error):
                logs.defect("the work queue", error)
            return LOOK_EVERY


async def serve(member: Member, host: str, listening: socket.socket) -> None:
    """Serve until a signal ends it. host: as the owner named the socket's."""
    end_leftovers(member.settings.state_dir)
    member.store.never_wait()
    client = ExchangeClient(member.settings.exchange, member.credentials)
    engine = Engine(member, client)
    member.refresh = StatusReader(member).refresh
    server = _Server(uvicorn.Config(
        WebApp(member), log_config=None, access_log=False, lifespan="off",
        timeout_graceful_shutdown=1, server_header=False, date_header=False))
    working = asyncio.get_running_loop().create_task(_when_started(server, engine, host, listening.getsockname()[1]))
    try:
        await server.serve(sockets=[listening])
    finally:
        working.cancel()
        with suppress(asyncio.CancelledError):
            await working


async def _when_started(server: uvicorn.Server, engine: Engine, host: str, port: int) -> None:
    while not server.started:
        await asyncio.sleep(0.01)
    logs.say(f"listening on {in_address(host)}:{port}, path /mcp")
    await engine.run()
