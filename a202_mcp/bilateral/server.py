"""The MCP server around the seven tools (surface 2, 4, 5).

Rules this module applies:

- tools are listed as they are declared; arguments are read and judged here, since the SDK does not;
- what a tool answers, refusals included, is a result. Protocol errors are: an unknown tool, an address where
  nothing is held, a state directory that cannot be used, and a defect of ours. A defect's text says nothing of
  what was in it, on the wire or on stderr, and nothing was recorded;
- calls run one at a time on one thread, which owns the workspace, so that pings are answered meanwhile. A call
  that a client cancels has not begun or completes: a store commits all of it or nothing;
- the workspace is opened, and the core loaded, by the first call that needs it: neither a bad directory nor the core
  costs anything before the tool list (ADR 11).
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from a202_mcp import logs
from a202_mcp.bilateral import resources
from a202_mcp.bilateral.addresses import MEDIA_TYPE
from a202_mcp.bilateral.arguments import read_arguments
from a202_mcp.bilateral.results import tool_result
from a202_mcp.bilateral.tool import Tool
from a202_mcp.envelope import Unread
from a202_mcp.state_file import is_trouble, trouble
from a202_mcp.version import version
from a202_reference.codes import Code, Refusal

if TYPE_CHECKING:
    from a202_mcp.workspace import Workspace

_Result = TypeVar("_Result")
_Context = ServerRequestContext[Any, Any]

INSTRUCTIONS = """\
A202 lets two organisations' agents buy and sell directly, each act bounded by a signed mandate and kept in a \
record that a stranger can verify. Nothing leaves this machine: the tools construct, sign, record and check.

Usual order:
1. issue_mandate, once for each party: what its agent may do, up to which amount, with whom, until when.
2. verify_mandate before each act, with the status of the mandate as you retrieved it (at most 60 seconds ago) \
and the exact proposed_action. Keep the whole result: the recording tools take it as the party's decision.
3. If it answers require_approval: ask the person, record the answer with issue_approval, then call \
verify_mandate again with the same proposed_action and the approval_id. A deny cannot be released.
4. create_agreement with both parties' decisions (offer.submit and offer.accept).
5. record_obligation three times, each with a fresh decision of the party that acts: issue, assert, respond.
6. verify_evidence over the transaction, and get_transaction_record to read it back.

A decision is good for 60 seconds. A refusal is a result with isError: its reason_codes say which rule, its \
detail what to send instead, and nothing was recorded. Where it carries a proposed_action, verify exactly that \
document and call again. Amounts and quantities are strings such as "3200.00", times are UTC such as \
"2026-08-20T10:00:00Z". Leave out what you do not know; never guess a decision, a status or a hash."""

_UNUSABLE = (
    "The state directory cannot be used, so nothing can be read or recorded. Give --state-dir or "
    "A202_MCP_STATE_DIR a directory that this user can write, or neither to keep everything in memory; "
    "the server's stderr names the directory."
)
_TROUBLE = "The state directory cannot be used, so nothing was read or recorded: {}."
_DEFECT = "Internal error: a defect of the server, not of the call. Nothing was recorded; its stderr says where."
_LEGACY_NOT_FOUND = -32002


class Desk:
    """The one thread on which every call runs, and the workspace that belongs to it."""

    def __init__(self, open_workspace: Callable[[], Workspace]) -> None:
        self._open = open_workspace
        self._workspace: Workspace | None = None
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="workspace")

    async def run(self, where: str, work: Callable[[Workspace], _Result]) -> _Result:
        """What `work` returns. Raises MCPError where the directory is unusable or `work` fails."""
        try:
            return await asyncio.get_running_loop().run_in_executor(self._thread, self._run, work)
        except Exception as error:
            if not is_trouble(error):
                logs.defect(where, error)
                raise MCPError(types.INTERNAL_ERROR, _DEFECT) from None
            logs.say(f"the state directory cannot be used: {error}")
            known = trouble(error)
            raise MCPError(types.INTERNAL_ERROR, _UNUSABLE if known is None else _TROUBLE.format(known)) from None

    def close(self, seconds: float) -> bool:
        """Close the workspace behind the calls that are waiting; False where that takes longer."""
        closed: Future[None] = self._thread.submit(self._close)
        with suppress(TimeoutError):
            closed.result(seconds)
        in_time = closed.done()
        self._thread.shutdown(wait=False, cancel_futures=True)
        return in_time

    def _run(self, work: Callable[[Workspace], _Result]) -> _Result:
        if self._workspace is None:
            try:
                self._workspace = self._open()
            except OSError as error:
                raise sqlite3.OperationalError(str(error)) from error
        return work(self._workspace)

    def _close(self) -> None:
        if self._workspace is not None:
            self._workspace.close()


def make_server(tools: Sequence[Tool], desk: Desk) -> Server[Any]:
    """A server for any number of connections, of either protocol era, over one desk."""
    by_name = {tool.name: tool for tool in tools}
    listed = [_listed(tool) for tool in tools]

    async def list_tools(_: _Context, __: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        return types.ListToolsResult(tools=listed)

    async def call_tool(context: _Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        tool = by_name.get(params.name)
        if tool is None:
            raise MCPError(types.INVALID_PARAMS, f"Unknown tool. The tools are: {', '.join(by_name)}.")
        unread = context.request if isinstance(context.request, Unread) else None
        return await desk.run(tool.name, partial(_answer, tool, params.arguments, unread))

    async def list_resources(_: _Context, __: types.PaginatedRequestParams | None) -> types.ListResourcesResult:
        return types.ListResourcesResult(resources=await desk.run("resources/list", resources.list_resources))

    async def list_templates(
        _: _Context, __: types.PaginatedRequestParams | None
    ) -> types.ListResourceTemplatesResult:
        return types.ListResourceTemplatesResult(resource_templates=resources.TEMPLATES)

    async def read_resource(context: _Context, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        text = await desk.run("resources/read", partial(resources.read_resource, uri=params.uri))
        if text is None:
            modern = context.protocol_version in MODERN_PROTOCOL_VERSIONS
            code = types.INVALID_PARAMS if modern else _LEGACY_NOT_FOUND
            raise MCPError(code, "Resource not found: nothing is held under this address.")
        contents = types.TextResourceContents(uri=params.uri, mime_type=MEDIA_TYPE, text=text)
        return types.ReadResourceResult(contents=[contents])

    server: Server[Any] = Server(
        "a202",
        version=version(),
        title="A202: mandates, agreements and a verifiable record",
        instructions=INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        on_list_resources=list_resources,
        on_list_resource_templates=list_templates,
        on_read_resource=read_resource,
    )
    server.middleware.clear()  # tracing spans per message; this server exports none
    return server


def _listed(tool: Tool) -> types.Tool:
    hints = types.ToolAnnotations(
        title=tool.title,
        read_only_hint=tool.reads,
        idempotent_hint=True if tool.reads else None,
        destructive_hint=False,
        open_world_hint=False,
    )
    return types.Tool(
        name=tool.name,
        title=tool.title,
        description=tool.description,
        input_schema=dict(tool.input_schema),
        annotations=hints,
    )


def _answer(tool: Tool, raw: object, unread: Unread | None, workspace: Workspace) -> types.CallToolResult:
    if unread is not None:
        detail = f"The arguments cannot be read: {unread.reason}. Send them as one JSON object; nothing was done."
        return tool_result(tool.name, Refusal.of(Code.POLICY_DENIED, detail))
    arguments = read_arguments(tool.input_schema, raw)
    answer = arguments if isinstance(arguments, Refusal) else tool.answer(workspace, arguments)
    return tool_result(tool.name, answer)
