"""The HTTP side (spec 6, 10): who may come in, and as whom, before a body is read.

Rules this module applies:

- `/mcp` takes POST, `/healthz` answers 200, every other path is 404;
- a present Origin is loopback or the shop's own domain, else 403; on a loopback bind Host is loopback or the domain;
- a bearer token that is no valid pass and no customer's token is 401 with one and the same answer, for every method,
  and runs nothing. No token at all is no error;
- a body of more than 1 MB is 413; one that is no JSON is the protocol's parse error;
- the peer is who connects; behind the one address that `forwarded_by` names it is the last X-Forwarded-For entry.
"""

from __future__ import annotations

import hmac
import time
from collections.abc import Callable
from functools import partial
from typing import Any, Final
from urllib.parse import urlsplit

from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp_types import PARSE_ERROR
from starlette.datastructures import Headers
from starlette.responses import JSONResponse, Response
from starlette.types import Receive, Scope, Send

from a202_mcp.one_owner.web import BODY_LIMIT, LOOPBACK, read_body
from a202_mcp.treatyway.callers import Caller, by_nothing, by_own_token, by_pass, peer_of
from a202_mcp.treatyway.passes import LONGEST, judge_pass
from a202_mcp.treatyway.server import BODY, CALLER, Desk, make_server
from a202_reference.canonical import sha256_hex
from a202_reference.wire import Numbers, Unreadable, read_json

PATH: Final = "/mcp"
HEALTH: Final = "/healthz"


class HttpApp:
    """The ASGI application of one shop."""

    def __init__(
        self, desk: Desk, *, loopback: bool = True, forwarded_by: str | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._desk = desk
        self._settings = desk.shop.settings
        self._loopback = loopback
        self._forwarded_by = None if forwarded_by is None else peer_of(forwarded_by)
        self._clock = clock
        self.manager = StreamableHTTPSessionManager(
            make_server(desk), json_response=True, stateless=True, max_request_body_size=BODY_LIMIT)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One connection, or the application's start and end."""
        if scope["type"] == "lifespan":
            await self._live(receive, send)
        elif scope["type"] == "http":
            answer = await self._answer(scope, receive, send)
            if answer is not None:
                await answer(scope, receive, send)

    async def _live(self, receive: Receive, send: Send) -> None:
        await receive()
        async with self.manager.run():
            await send({"type": "lifespan.startup.complete"})
            await receive()
        await send({"type": "lifespan.shutdown.complete"})

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> Response | None:
        """The refusal of a request, or None where the protocol answered it."""
        headers = Headers(scope=scope)
        if scope["path"] == HEALTH:
            return Response("ok\n", media_type="text/plain")
        if scope["path"] != PATH:
            return Response("not found\n", 404, media_type="text/plain")
        if not self._from_here(headers):
            return Response("forbidden\n", 403, media_type="text/plain")
        caller = await self._caller(scope, headers)
        if caller is None:
            return JSONResponse(
                {"error": "invalid_token"}, 401, headers={"WWW-Authenticate": 'Bearer error="invalid_token"'})
        if scope["method"] != "POST":
            return Response("method not allowed\n", 405, headers={"Allow": "POST"}, media_type="text/plain")
        body = await read_body(scope["headers"], receive)
        if body is None:
            return Response("the request is larger than 1 MB\n", 413, media_type="text/plain")
        if isinstance(read_json(body, numbers=Numbers.ANY), Unreadable):
            error = {"code": PARSE_ERROR, "message": "The request cannot be read as JSON"}
            return JSONResponse({"jsonrpc": "2.0", "id": None, "error": error}, 400)
        await self.manager.handle_request({**scope, CALLER: caller, BODY: body}, _replayed(body, receive), send)
        return None

    def _from_here(self, headers: Headers) -> bool:
        allowed = {*LOOPBACK, *([self._settings.domain.partition(":")[0]] if self._settings.domain else [])}
        origins = headers.getlist("origin")
        if any(_host("", origin) not in allowed for origin in origins):
            return False
        return not self._loopback or _host("//", headers.get("host", "")) in allowed

    async def _caller(self, scope: Scope, headers: Headers) -> Caller | None:
        """Who calls, or None for a token that is worth nothing."""
        given = headers.getlist("authorization")
        if len(given) > 1:
            return None
        scheme, token = [*(given[0] if given else "").split(None, 1), "", ""][:2]
        if scheme.lower() != "bearer":
            return by_nothing(self._peer(scope, headers))
        token = token.strip()
        if len(token) > LONGEST:
            return None
        digest = sha256_hex(token.encode("latin-1", "replace"))
        for customer in self._settings.customers:
            if hmac.compare_digest(customer.token_sha256, digest):
                return by_own_token(customer)
        shop = self._desk.shop
        facts = await self._desk.judging(
            partial(judge_pass, token, self._settings.passes, shop.keys.find, self._clock()))
        return None if facts is None else by_pass(facts)

    def _peer(self, scope: Scope, headers: Headers) -> str:
        client: Any = scope.get("client")
        peer = peer_of(client[0] if client else None)
        if self._forwarded_by is not None and peer == self._forwarded_by:
            entries = ",".join(headers.getlist("x-forwarded-for")).split(",")
            return peer_of(entries[-1])
        return peer


def _host(before: str, text: str) -> str | None:
    try:
        return urlsplit(before + text).hostname
    except ValueError:
        return None


def _replayed(body: bytes, receive: Receive) -> Receive:
    """The body again, for whoever reads it next; then what really comes."""
    waiting = [{"type": "http.request", "body": body, "more_body": False}]

    async def read() -> Any:
        return waiting.pop() if waiting else await receive()

    return read
