"""The HTTP side (spec 6, 10): who may come in, and as whom, before a body is read.

Rules this module applies:

- `/mcp` takes POST, `/healthz` answers 200, every other path is 404;
- a present Origin is loopback or the shop's own domain, else 403; on a loopback bind Host is loopback or the domain;
- a bearer token that is no valid pass and no customer's token is 401 with one and the same answer, for every method,
  and runs nothing. No token at all is no error;
- a body of more than 1 MB is 413; one that is no message is an error of the protocol;
- the peer is who connects; behind the one address that `forwarded_by` names it is the last X-Forwarded-For entry.
"""

from __future__ import annotations

import hmac
import time
from collections.abc import Callable
from functools import partial
from typing import Any, Final

from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp_types.jsonrpc import PARSE_ERROR, ErrorData, JSONRPCError, JSONRPCMessage
from starlette.datastructures import Headers
from starlette.responses import JSONResponse, Response
from starlette.types import Receive, Scope, Send

from a202_mcp.addresses import taken_apart
from a202_mcp.one_owner.web import BODY_LIMIT, is_loopback, read_body, same_host
from a202_mcp.treatyway.callers import Caller, by_nothing, by_own_token, by_pass
from a202_mcp.treatyway.messages import read_message
from a202_mcp.treatyway.passes import LONGEST, judge_pass, kid_of
from a202_mcp.treatyway.peers import counted_as, read_address, speaker
from a202_mcp.treatyway.server import CALLER, SENT, Desk, make_server
from a202_reference.canonical import sha256_hex

PATH: Final = "/mcp"
HEALTH: Final = "/healthz"
_NOTHING: Final = JSONRPCError(
    jsonrpc="2.0", id=None, error=ErrorData(code=PARSE_ERROR, message="The request is empty."))


class HttpApp:
    """The ASGI application of one shop."""

    def __init__(
        self, desk: Desk, *, loopback: bool = True, forwarded_by: str | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._desk = desk
        self._settings = desk.shop.settings
        self._loopback = loopback
        self._forwarded_by = read_address(forwarded_by)
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
        message = read_message(body) or _NOTHING
        if isinstance(message, JSONRPCError):
            return Response(_written(message), 400, media_type="application/json")
        sent = getattr(message.metadata, "request_context", None)
        known = {**scope, CALLER: caller, SENT: sent}
        await self.manager.handle_request(known, _replayed(_written(message.message), receive), send)
        return None

    def _from_here(self, headers: Headers) -> bool:
        if not all(self._is_ours(origin) for origin in headers.getlist("origin")):
            return False
        return not self._loopback or self._is_ours("//" + headers.get("host", ""))

    def _is_ours(self, address: str) -> bool:
        """True for an address of this machine or of the shop's own domain."""
        parts, domain = taken_apart(address), self._settings.domain
        host = None if parts is None else parts.hostname
        if not host:
            return False
        return is_loopback(host) or (domain is not None and same_host(host, domain.partition(":")[0]))

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
        keys, kid = self._desk.shop.keys, kid_of(token)
        if kid is not None and not keys.is_ready(kid):
            await self._desk.loading(partial(keys.load_for, kid))
        facts = await self._desk.judging(
            partial(judge_pass, token, self._settings.passes, keys.held, self._clock()))
        return None if facts is None else by_pass(facts)

    def _peer(self, scope: Scope, headers: Headers) -> str:
        client: Any = scope.get("client")
        connects = read_address(client[0] if client else None)
        return counted_as(speaker(connects, self._forwarded_by, headers.getlist("x-forwarded-for")))


def _written(message: JSONRPCMessage) -> bytes:
    return message.model_dump_json(by_alias=True, exclude_unset=True).encode("utf-8")


def _replayed(body: bytes, receive: Receive) -> Receive:
    """The body again, for whoever reads it next; then what really comes."""
    waiting = [{"type": "http.request", "body": body, "more_body": False}]

    async def read() -> Any:
        return waiting.pop() if waiting else await receive()

    return read
