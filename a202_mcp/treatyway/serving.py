"""Serving a shop over stdio or HTTP, and how that ends (spec 4, 10).

SIGINT and SIGTERM end it in order, and by force where that takes longer than most of a second: a store that commits
all of it or nothing survives that.
"""

from __future__ import annotations

import argparse
import os
import signal
import socket
import sys
import threading
import time
from contextlib import nullcontext
from importlib.util import find_spec
from types import FrameType
from typing import Any, Final

from a202_mcp import logs
from a202_mcp.one_owner.web import in_address, is_loopback
from a202_mcp.treatyway.opened import init, needs_init, open_shop
from a202_mcp.treatyway.settings import Settings
from a202_mcp.treatyway.shop import Shop

_GRACE_SECONDS: Final = 0.7
_USAGE: Final = 2


def serve(settings: Settings, options: argparse.Namespace) -> int:
    """Serve until the client or a signal ends it; the exit status. Raises NotReadyError, OSError, sqlite3.Error."""
    over_http = options.transport == "http"
    if over_http and settings.passes.audience is not None and find_spec("jwt") is None:
        sys.stderr.write("a202-mcp seller: identity passes need PyJWT: install the extra with "
                         "`pip install 'a202-mcp[seller]'`\n")
        return _USAGE
    if needs_init(settings):
        logs.say(init(settings))
    shop = open_shop(settings)
    logs.quieten_libraries()
    return _serve_http(shop, options) if over_http else _serve_stdio(shop)


def _serve_stdio(shop: Shop) -> int:
    from a202_mcp import stdio  # noqa: PLC0415 - the transport's libraries are heavy
    from a202_mcp.treatyway.server import Desk, make_server  # noqa: PLC0415 - the same

    desk = Desk(shop)
    server = make_server(desk)
    options = server.create_initialization_options()
    status = stdio.run(lambda incoming, outgoing: server.run(incoming, outgoing, options))
    _close(desk, status)
    return status


def _serve_http(shop: Shop, options: argparse.Namespace) -> int:
    import uvicorn  # noqa: PLC0415 - only this transport needs it

    from a202_mcp.treatyway.http import PATH, HttpApp  # noqa: PLC0415 - the same
    from a202_mcp.treatyway.server import Desk  # noqa: PLC0415 - the same

    loopback = is_loopback(options.host)
    if not loopback:
        logs.say(f"{options.host} is not this machine alone: put TLS in front of it")
    family = socket.AF_INET6 if ":" in options.host else socket.AF_INET
    listening = _listening(family, options.host, options.port)
    port = listening.getsockname()[1]
    desk = Desk(shop)
    app = HttpApp(desk, loopback=loopback, forwarded_by=options.forwarded_by)

    class Served(uvicorn.Server):
        """Says when it listens, and leaves signals to us."""

        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            if self.started:
                logs.say("listening on http:" + f"//{in_address(options.host)}:{port}{PATH}")

        def capture_signals(self) -> Any:
            """Leave them alone."""
            return nullcontext()

    served = Served(uvicorn.Config(app, log_config=None, access_log=False, lifespan="on", timeout_graceful_shutdown=1,
                                   proxy_headers=False, server_header=False, ws="none"))
    ending = _Ending(served)
    served.run(sockets=[listening])
    _close(desk, ending.status)
    return ending.status


def _listening(family: socket.AddressFamily, host: str, port: int) -> socket.socket:
    """A socket that says it is TCP: the event loop sends at once only where that is said."""
    listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        if os.name == "posix":
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((host, port))
        listening.listen(256)
    except OSError:
        listening.close()
        raise
    return listening


class _Ending:
    """SIGINT and SIGTERM: end in order, by force where that takes longer than most of a second."""

    def __init__(self, served: Any) -> None:
        self.status = 0
        self._served = served
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._received)

    def _received(self, number: int, _: FrameType | None) -> None:
        if self.status:
            os._exit(self.status)
        self.status = 128 + number
        self._served.should_exit = True
        threading.Thread(target=self._force, daemon=True).start()

    def _force(self) -> None:
        time.sleep(_GRACE_SECONDS)
        os._exit(self.status)


def _close(desk: Any, status: int) -> None:
    """Close the state; a call that still runs is left behind, since its store commits all of it or nothing."""
    closing = threading.Thread(target=desk.close, daemon=True)
    closing.start()
    closing.join(0.2)
    if closing.is_alive():
        os._exit(status)
