"""Serving a shop over stdio or HTTP, and how that ends (spec 4, 10).

SIGINT and SIGTERM end it in order, and by force where that takes longer than most of a second (`ending`): a store that
commits all of it or nothing survives that, and no command of the shop outlives its server.
"""

from __future__ import annotations

import argparse
import socket
import sys
import threading
from contextlib import nullcontext
from functools import partial
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Final

from a202_mcp import logs
from a202_mcp.ending import Ending
from a202_mcp.listening import listen
from a202_mcp.one_owner.web import in_address, is_loopback
from a202_mcp.treatyway.initialising import init, needs_init
from a202_mcp.treatyway.opened import open_shop
from a202_mcp.treatyway.settings import Settings
from a202_mcp.treatyway.shop import Shop

if TYPE_CHECKING:
    from a202_mcp.treatyway.server import Desk

_USAGE: Final = 2


def serve(settings: Settings, options: argparse.Namespace) -> int:
    """Serve until the client or a signal ends it; the exit status. Raises NotReadyError, OSError, sqlite3.Error."""
    over_http = options.transport == "http"
    if over_http and settings.passes.audience is not None and find_spec("jwt") is None:
        sys.stderr.write("a202-mcp seller: identity passes need PyJWT: install the extra with "
                         "`pip install 'a202-mcp[seller]'`\n")
        return _USAGE
    if needs_init(settings):
        logs.say(init(settings, only_first=True))
    shop = open_shop(settings)
    logs.quieten_libraries()
    return _serve_http(shop, options) if over_http else _serve_stdio(shop)


def _serve_stdio(shop: Shop) -> int:
    from a202_mcp import stdio  # noqa: PLC0415 - the transport's libraries are heavy
    from a202_mcp.treatyway.messages import read_message  # noqa: PLC0415 - the same
    from a202_mcp.treatyway.server import Desk, make_server  # noqa: PLC0415 - the same

    desk = Desk(shop)
    ending = Ending(desk.commands.end)
    server = make_server(desk)
    options = server.create_initialization_options()
    status = stdio.run(lambda incoming, outgoing: server.run(incoming, outgoing, options), ending, read_message)
    return _close(desk, ending) or status


def _serve_http(shop: Shop, options: argparse.Namespace) -> int:
    import uvicorn  # noqa: PLC0415 - only this transport needs it

    from a202_mcp.treatyway.http import PATH, HttpApp  # noqa: PLC0415 - the same
    from a202_mcp.treatyway.server import Desk  # noqa: PLC0415 - the same

    loopback = is_loopback(options.host)
    if not loopback:
        logs.say(f"{options.host} is not this machine alone: put TLS in front of it")
    listening = listen(options.host, options.port)
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
    ending = Ending(desk.commands.end)
    ending.on_stop(partial(setattr, served, "should_exit", True))
    served.run(sockets=[listening])
    return _close(desk, ending)


def _close(desk: Desk, ending: Ending) -> int:
    """End the commands and close the state; the exit status, where no signal ended it.

    A call that still runs is left behind, since its store commits all of it or nothing. After a signal nothing is left
    that a tidy interpreter would be worth its time for.
    """
    desk.commands.end()
    closing = threading.Thread(target=desk.close, daemon=True)
    closing.start()
    closing.join(0.2)
    if ending.status or closing.is_alive():
        ending.leave()
    return ending.status
