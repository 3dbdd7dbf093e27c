"""Reading a public document from a web address (treatyway 6, 9.2; axp 2): a key list, a mandate's status.

Rules this module applies:

- a GET with nothing in it but the address: no secret, no cookie, no data of any call;
- the whole of it, names, handshakes and slow headers included, takes its seconds and no more;
- never more bytes are held than were asked for, and one that says there are more;
- redirects are followed as often as the caller says, within the scheme, host and port of the address alone.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import httpx2

_HEADERS: Final = {"accept": "application/json", "accept-encoding": "identity"}
_OK: Final = 200
_REDIRECTS: Final = (301, 302, 303, 307, 308)


def fetch(address: str, *, seconds: float, most_bytes: int, redirects: int = 0) -> bytes:
    """At most `most_bytes` and one byte of what is there. Raises OSError, ValueError. For a thread without a loop."""
    loop = asyncio.new_event_loop()
    try:
        return loop.run_until_complete(fetched(
            address, seconds=seconds, most_bytes=most_bytes, redirects=redirects))
    finally:
        loop.close()  # and no `asyncio.run`, which would wait for a name that is still being asked for


async def fetched(address: str, *, seconds: float, most_bytes: int, redirects: int = 0) -> bytes:
    """As `fetch`, in the caller's loop."""
    import httpx2  # noqa: PLC0415 - heavy, and most configurations never fetch

    try:
        async with asyncio.timeout(seconds), httpx2.AsyncClient(follow_redirects=False, timeout=seconds) as client:
            return await _followed(client, httpx2.URL(address), most_bytes, redirects)
    except (httpx2.HTTPError, httpx2.InvalidURL) as failed:
        raise OSError(f"it cannot be fetched: {type(failed).__name__}") from None


async def _followed(client: httpx2.AsyncClient, target: httpx2.URL, most_bytes: int, redirects: int) -> bytes:
    for _ in range(redirects + 1):
        async with client.stream("GET", target, headers=_HEADERS) as answer:
            if answer.status_code == _OK:
                return await _body(answer, most_bytes)
            if answer.status_code not in _REDIRECTS:
                raise OSError(f"status {answer.status_code}")
            following = target.join(answer.headers.get("location", ""))
        if (following.scheme, following.host, following.port) != (target.scheme, target.host, target.port):
            raise OSError("it redirects to another host")
        target = following
    raise OSError("it redirects too often")


async def _body(answer: httpx2.Response, most_bytes: int) -> bytes:
    data = b""
    async for piece in answer.aiter_raw(65536):
        data += piece
        if len(data) > most_bytes:
            break
    return data[:most_bytes + 1]
