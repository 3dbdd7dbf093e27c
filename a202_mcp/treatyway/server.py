"""The MCP server of a shop, over either transport (spec 5, 10; seed, "Versioning").

Rules this module applies:

- tools/list holds treatyway_contract, the standard tools that are implemented, and the shop's own;
- a tool that is not in the list gets the protocol's unknown-tool answer: nothing is counted and nothing booked;
- the instructions carry the line `treatyway-contract: 1`;
- calls run one after another on the one thread that owns the state; commands of the shop run beside it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, Final, TypeVar

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError

from a202_mcp import logs
from a202_mcp.treatyway import counter, names
from a202_mcp.treatyway.answers import NO_OBJECT, UNAVAILABLE, Answer, Fault, tool_result
from a202_mcp.treatyway.callers import Caller, by_nothing
from a202_mcp.treatyway.custom import Commands
from a202_mcp.treatyway.inputs import DESCRIPTIONS, FIELDS, schema_of
from a202_mcp.treatyway.messages import Sent
from a202_mcp.treatyway.settings import CustomTool
from a202_mcp.treatyway.shop import Shop
from a202_mcp.version import version

_Context = ServerRequestContext[Any, Any]
_Result = TypeVar("_Result")

CONTRACT_LINE: Final = "treatyway-contract: 1"
CALLER: Final = "a202.caller"
SENT: Final = "a202.sent"
"""Members of an HTTP request's scope: who calls, and with what."""

_READS: Final = (names.DECLARATION, names.DESCRIBE, names.AVAILABILITY, names.STATUS)


class Desk:
    """The one thread that owns the shop, and the threads that run its commands."""

    def __init__(self, shop: Shop) -> None:
        self.shop = shop
        self.commands = Commands(shop.settings.folder)
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="shop")
        self._beside = ThreadPoolExecutor(8, thread_name_prefix="beside")
        self._judging = ThreadPoolExecutor(8, thread_name_prefix="passes")
        self._loading = ThreadPoolExecutor(8, thread_name_prefix="keys")

    async def run(self, work: Callable[[Shop], _Result]) -> _Result:
        """What `work` returns, in its turn."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, work, self.shop)

    async def beside(self, work: Callable[[], _Result]) -> _Result:
        """What `work` returns, while others are served."""
        return await asyncio.get_running_loop().run_in_executor(self._beside, work)

    async def judging(self, work: Callable[[], _Result]) -> _Result:
        """What `work` returns; passes are judged while others are served."""
        return await asyncio.get_running_loop().run_in_executor(self._judging, work)

    async def loading(self, work: Callable[[], _Result]) -> _Result:
        """What `work` returns; a key list that is slow to come holds up nobody whose key is held."""
        return await asyncio.get_running_loop().run_in_executor(self._loading, work)

    def close(self) -> None:
        """Close the shop behind the calls that are waiting."""
        self._thread.submit(self.shop.workspace.close)
        self._thread.shutdown(wait=True)
        for pool in (self._beside, self._judging, self._loading):
            pool.shutdown(wait=False, cancel_futures=True)


def make_server(desk: Desk) -> Server[Any]:
    """A server for any number of connections over one desk."""
    shop = desk.shop
    own = {tool.name: tool for tool in shop.settings.custom_tools}
    standard = (names.DECLARATION, *counter.standard_tools(shop))
    listed = [_listed(name) for name in standard] + [_listed_own(tool) for tool in own.values()]

    async def list_tools(_: _Context, __: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        return types.ListToolsResult(tools=listed)

    async def call_tool(context: _Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        if params.name not in standard and params.name not in own:
            raise MCPError(types.INVALID_PARAMS, f"Unknown tool. The tools are: {', '.join((*standard, *own))}.")
        caller, sent = _origin(context)
        if params.name in own:
            return await _own(desk, own[params.name], caller, sent.arguments)
        if shop.settings.status_url is not None and params.name in (names.QUOTE, names.ORDER):
            await desk.beside(shop.status.refresh)
        given = await desk.run(partial(
            counter.answer, tool=params.name, caller=caller, raw=sent.arguments, body=sent.raw))
        return tool_result(given, counter.answered_by(shop))

    server: Server[Any] = Server(
        "a202-seller",
        version=version(),
        title=shop.settings.name,
        instructions=f"{shop.settings.name} sells here by the Treatyway MCP contract.\n{CONTRACT_LINE}\n"
                     f"{shop.settings.how_to_order}",
        on_list_tools=list_tools,
        on_call_tool=call_tool)
    server.middleware.clear()  # tracing spans per message; this server exports none
    return server


async def _own(
    desk: Desk, tool: CustomTool, caller: Caller, arguments: Mapping[str, Any] | None,
) -> types.CallToolResult:
    """A tool of the shop's own. arguments None: they are no object."""
    who, text = counter.answered_by(desk.shop), None
    try:
        fault = await desk.run(partial(counter.admitted, caller=caller))
        if fault is None and arguments is None:
            fault = NO_OBJECT
        if fault is None and arguments is not None:
            text = await desk.beside(partial(desk.commands.reply, tool, arguments))
    except Exception as error:
        logs.defect(tool.name, error)
        fault = UNAVAILABLE
    given: Answer = fault or (UNAVAILABLE if text is None else {"text": text})
    counter.note(tool.name, caller, given)
    return tool_result(given, who, None if isinstance(given, Fault) else text)


def _origin(context: _Context) -> tuple[Caller, Sent]:
    """Who calls, and with what. Over stdio there is one caller, who has no pass."""
    request: Any = context.request
    if isinstance(request, Sent):
        return by_nothing("stdio"), request
    return request.scope[CALLER], request.scope[SENT]


def _listed(name: str) -> types.Tool:
    return types.Tool(
        name=name,
        description=DESCRIPTIONS[name],
        input_schema=schema_of(FIELDS[name]),
        annotations=types.ToolAnnotations(
            read_only_hint=name in _READS, destructive_hint=False, open_world_hint=False))


def _listed_own(tool: CustomTool) -> types.Tool:
    return types.Tool(
        name=tool.name, description=tool.description, input_schema={"type": "object", "properties": {}})
