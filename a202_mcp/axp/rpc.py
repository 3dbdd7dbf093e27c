"""JSON-RPC over one signed body (spec 4, "MCP"; requirements A17, A25, A26).

Rules this module applies:

- a body that is no JSON: 400 with -32700; no object, or no method: 400 with -32600; an unknown method: -32601;
- a notification: 202 and nothing; no session, and no `Mcp-*` header is ever demanded;
- an id is any JSON text, number or null, and comes back as it was written: it is never reckoned with;
- a tool's answer stands in `structuredContent` and, the same, in one text block.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

from a202_mcp.axp import toolbox
from a202_mcp.axp.member import Member
from a202_mcp.axp.reading import NO_NUMBER, NoJson, dumps, read, written_number
from a202_mcp.version import version

PARSE_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND = -32700, -32600, -32601
DEFAULT_VERSION: Final = "2025-06-18"
HANDSHAKE_VERSIONS: Final = ("2024-11-05", "2025-03-26", DEFAULT_VERSION, "2025-11-25")
DISCOVERED_VERSIONS: Final = (*HANDSHAKE_VERSIONS, "2026-07-28")


async def handle(member: Member, raw: bytes) -> tuple[int, bytes]:
    """HTTP status and body for one request whose signature was right."""
    message = read(raw)
    if isinstance(message, NoJson):
        return 400, _error("null", PARSE_ERROR, "Parse error")
    method = message.get("method") if isinstance(message, dict) else None
    if not isinstance(message, dict) or not isinstance(method, str):
        return 400, _error("null", INVALID_REQUEST, "Invalid request")
    if method.startswith("notifications/") or "id" not in message:
        return 202, b""
    request_id, params = _written(message["id"], raw), message.get("params")
    if request_id is None:
        return 400, _error("null", INVALID_REQUEST, "Invalid request")
    answer = _METHODS.get(method)
    if answer is None:
        return 200, _error(request_id, METHOD_NOT_FOUND, "Method not found")
    result = await answer(member, params if isinstance(params, dict) else {}, raw)
    return 200, _message(request_id, "result", result)


def _written(request_id: Any, raw: bytes) -> str | None:
    """The id as JSON, or None for what is no id."""
    if request_id is NO_NUMBER:
        return written_number(raw, "id")
    return None if isinstance(request_id, dict | list | bool) else dumps(request_id)


def _error(request_id: str, code: int, message: str) -> bytes:
    return _message(request_id, "error", {"code": code, "message": message})


def _message(request_id: str, name: str, value: dict[str, Any]) -> bytes:
    return f'{{"jsonrpc":"2.0","id":{request_id},"{name}":{dumps(value)}}}'.encode("ascii")


async def _initialize(_: Member, params: Mapping[str, Any], __: bytes) -> dict[str, Any]:
    asked = params.get("protocolVersion")
    return {
        "protocolVersion": asked if asked in HANDSHAKE_VERSIONS else DEFAULT_VERSION,
        "capabilities": {"tools": {}},
        "serverInfo": _server(),
    }


async def _discover(_: Member, __: Mapping[str, Any], ___: bytes) -> dict[str, Any]:
    return {
        "resultType": "complete", "supportedVersions": list(DISCOVERED_VERSIONS), "capabilities": {"tools": {}},
        "serverInfo": _server(), "ttlMs": 0, "cacheScope": "private",
    }


def _server() -> dict[str, str]:
    return {"name": "a202-member", "version": version()}


async def _ping(_: Member, __: Mapping[str, Any], ___: bytes) -> dict[str, Any]:
    return {}


async def _list(member: Member, _: Mapping[str, Any], __: bytes) -> dict[str, Any]:
    return {"tools": toolbox.listed(member.settings.roles)}


async def _call(member: Member, params: Mapping[str, Any], raw: bytes) -> dict[str, Any]:
    arguments = params.get("arguments", {})
    structured, failed = await toolbox.call_tool(member, params.get("name"), arguments, raw)
    return {
        "content": [{"type": "text", "text": dumps(structured)}],
        "structuredContent": structured,
        "isError": failed,
    }


_METHODS: Final[Mapping[str, Callable[[Member, Mapping[str, Any], bytes], Awaitable[dict[str, Any]]]]] = {
    "initialize": _initialize, "server/discover": _discover, "ping": _ping, "tools/list": _list, "tools/call": _call,
}
