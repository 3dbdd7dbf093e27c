"""The member's HTTP surface (spec 3, 4): POST /mcp, signed; GET /healthz, which says nothing but ok.

Rules this module applies:

- every POST to /mcp is judged on its headers before its body is read, and on its raw bytes before any JSON is; one
  answer stands for every failure, and a refused call leaves nothing behind;
- a body over 1 MB is 413, unhashed;
- whatever arrives is answered, and never with 5xx for what was in it.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, Final, TypeAlias

from a202_mcp import logs
from a202_mcp.axp import rpc
from a202_mcp.axp.member import Member
from a202_mcp.axp.signing import read_claim
from a202_mcp.one_owner.web import Receive, read_body

_UNAUTHORIZED: Final = b'{"error":"unauthorized"}'

Scope: TypeAlias = MutableMapping[str, Any]
Send: TypeAlias = Callable[[MutableMapping[str, Any]], Awaitable[None]]


class WebApp:
    """The ASGI application of one member."""

    def __init__(self, member: Member, clock: Callable[[], float] = time.time) -> None:
        self._member = member
        self._clock = clock

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            return
        status, body = await self._answer(scope, receive)
        headers = [(b"content-length", str(len(body)).encode("ascii"))]
        if body:
            headers.append((b"content-type", b"application/json"))
        if status == 405:
            headers.append((b"allow", b"POST" if scope["path"] == "/mcp" else b"GET"))
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": body})

    async def _answer(self, scope: Scope, receive: Receive) -> tuple[int, bytes]:
        if scope["path"] == "/healthz":
            return (200, b'"ok"') if scope["method"] in ("GET", "HEAD") else (405, b"")
        if scope["path"] != "/mcp":
            return 404, b'{"error":"not found"}'
        if scope["method"] != "POST":
            return 405, b""
        claim = read_claim(scope["headers"], self._member.credentials, self._clock())
        if claim is None:
            return 401, _UNAUTHORIZED
        body = await read_body(scope["headers"], receive)
        if body is None:
            return 413, b'{"error":"the body is over 1 MB"}'
        if not claim.proves(body):
            return 401, _UNAUTHORIZED
        try:
            return await rpc.handle(self._member, body)
        except Exception as error:
            logs.defect("a request", error)
            return 200, b'{"jsonrpc":"2.0","id":null,"error":{"code":-32603,"message":"internal error"}}'
