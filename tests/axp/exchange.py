"""An exchange for the tests, on loopback in the test's own loop: it keeps every request, and answers as it is told."""

import asyncio
import json
from dataclasses import dataclass

HTTP = "http:" + "//"


@dataclass(frozen=True)
class Request:
    method: str
    path: str
    headers: dict
    body: bytes

    @property
    def json(self):
        return json.loads(self.body)


@dataclass(frozen=True)
class Reply:
    """status None: the connection is closed without an answer, after the request was taken."""

    status: int | None = 200
    body: bytes = b"{}"
    headers: tuple = ()


class Exchange:
    def __init__(self):
        self.requests = []
        self.replies = {}
        self.during = None
        self._server = None

    async def start(self):
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]
        self.base = f"{HTTP}127.0.0.1:{self.port}"

    async def stop(self):
        self._server.close()
        await self._server.wait_closed()

    def answers(self, path, *replies):
        """The next answers at a path; the last one stays."""
        self.replies[path] = list(replies)

    def sent(self, path=None, method="POST"):
        return [each for each in self.requests if each.method == method and path in (None, each.path)]

    async def _serve(self, reader, writer):
        try:
            request = await self._read(reader)
            if request is None:
                return
            self.requests.append(request)
            if self.during is not None:
                await self.during(request)
            replies = self.replies.get(request.path, [Reply()])
            reply = replies.pop(0) if len(replies) > 1 else replies[0]
            if reply.status is not None:
                head = [f"HTTP/1.1 {reply.status} X", f"content-length: {len(reply.body)}", "connection: close",
                        *(f"{name}: {value}" for name, value in reply.headers)]
                writer.write("\r\n".join(head).encode() + b"\r\n\r\n" + reply.body)
                await writer.drain()
        finally:
            writer.close()

    async def _read(self, reader):
        head = await reader.readuntil(b"\r\n\r\n")
        first, *lines = head.decode("latin-1").split("\r\n")
        method, path, _ = first.split(" ", 2)
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines if line)}
        body = await reader.readexactly(int(headers.get("content-length", 0)))
        return Request(method, path, headers, body)
