"""The stdio server of the seven tools, from start to end."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from a202_mcp import logs, stdio
from a202_mcp.bilateral.server import Desk, make_server
from a202_mcp.bilateral.tool import Tool

if TYPE_CHECKING:
    from a202_mcp.workspace import Workspace

_CLOSE_SECONDS = 0.2


def serve(tools: Sequence[Tool], open_workspace: Callable[[], Workspace]) -> int:
    """Serve stdin and stdout until the client leaves; the exit status.

    open_workspace: called by the first call that needs it; may raise OSError or sqlite3.Error.
    """
    logs.quieten_libraries()
    desk = Desk(open_workspace)
    server = make_server(tools, desk)
    options = server.create_initialization_options()
    status = stdio.run(lambda incoming, outgoing: server.run(incoming, outgoing, options))
    if not desk.close(_CLOSE_SECONDS):
        os._exit(status)  # a cancelled call still runs; its store commits all of it or nothing
    return status
