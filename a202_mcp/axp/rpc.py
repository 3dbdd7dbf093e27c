"""JSON-RPC over one signed body (spec 4, "MCP"; requirements A17, A25, A26).

Rules this module applies:

- a body that is no JSON: 400 with -32700; no object, or no method: 400 with -32600; an unknown method: -32601;
- a notification: 202 and nothing; no session, and no `Mcp-*` header is ever demanded;
- a tool's answer stands in `structuredContent` and, the same, in one text block.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from a202_mcp.axp import toolbox
from a202_mcp.axp.member import Member
from a202_mcp.axp.reading import NO_NUMBER, NoJson, dumps, read
from a202_mcp.version import version

PARSE_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND = -32700, -32600, -32601
DEFAULT_VERSION: Final = "2025-06-18"
HANDSHAKE_VERSIONS: Final = ("2024-11-05", "2025-03-26", DEFAULT_VERSION, "2025-11-25")
DISCOVERED_VERSIONS: Final = (*HANDSHAKE_VERSIONS, "2026-07-28")


def handle(member: Member, raw: bytes) -> tuple[int, bytes]:
    """HTTP status and body for one request whose signature was right."""
    message = read(raw)
    if isinstance(message, NoJson):
        return 400, _error(None, PARSE_ERROR, "Parse error")
    method = message.get("method") if isinstance(message, dict) else None
    if not isinstance(message, dict) or not isinstance(method, str):
        return 400, _error(None, INVALID_REQUEST, "Invalid request")
    if method.startswith("notifications/") or "id" not in message:
        return 202, b""
    request_id, params = message["id"], message.get("params")
    if request_id is NO_NUMBER or isinstance(request_id, dict | list | bool):
        return 400, _error(None, INVALID_REQUEST, "Invalid request")
    answer = _METHODS.get(method)
    if answer is None:
        return 200, _error(request_id, METHOD_NOT_FOUND, "Method not found")
    result = answer(member, params if isinstance(params, dict) else {}, raw)
    return 200, dumps({"jsonrpc": "2.0", "id": request_id, "result": result}).encode("ascii")


def _error(request_id: Any, code: int, message: str) -> bytes:
    return dumps({"jsonrpc": "2.0", "id": request_id, "error": {"code": code, "message": message}}).encode("ascii")


def _initialize(_: Member, params: Mapping[str, Any], __: bytes) -> dict[str, Any]:
    asked = params.get("protocolVersion")
    return {
        "protocolVersion": asked if asked in HANDSHAKE_VERSIONS else DEFAULT_VERSION,
        "capabilities": {"tools": {}},
        "serverInfo": _server(),
    }


def _discover(_: Member, __: Mapping[str, Any], ___: bytes) -> dict[str, Any]:
    return {
        "resultType": "complete", "supportedVersions": list(DISCOVERED_VERSIONS), "capabilities": {"tools": {}},
        "serverInfo": _server(), "ttlMs": 0, "cacheScope": "private",
    }


def _server() -> dict[str, str]:
    return {"name": "a202-member", "version": version()}


def _ping(_: Member, __: Mapping[str, Any], ___: bytes) -> dict[str, Any]:
    return {}


def _list(member: Member, _: Mapping[str, Any], __: bytes) -> dict[str, Any]:
    return {"tools": toolbox.listed(member.settings.roles)}


def _call(member: Member, params: Mapping[str, Any], raw: bytes) -> dict[str, Any]:
    arguments = params.get("arguments", {})
    structured, failed = toolbox.call_tool(member, params.get("name"), arguments, raw)
    return {
        "content": [{"type": "text", "text": dumps(structured)}],
        "structuredContent": structured,
        "isError": failed,
    }


_METHODS: Final[Mapping[str, Callable[[Member, Mapping[str, Any], bytes], dict[str, Any]]]] = {
    "initialize": _initialize, "server/discover": _discover, "ping": _ping, "tools/list": _list, "tools/call": _call,
}
