"""HTTP pieces of both servers (treatyway 10, "HTTP"; axp 4, 6): which hosts are this machine, how much a body may be.

Rules this module applies:

- a body of more than 1 MB is never held: it is refused by its stated length, or where its pieces pass the limit;
- a body that came in pieces is one body; one that was cut off is none.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from typing import Any, Final, TypeAlias

BODY_LIMIT: Final = 1024 * 1024
_LENGTH_DIGITS: Final = 18

Receive: TypeAlias = Callable[[], Awaitable[MutableMapping[str, Any]]]


def is_loopback(host: str) -> bool:
    """True for localhost and the loopback addresses, in every way in which a host may be written."""
    try:
        found = ipaddress.ip_address(host)
    except ValueError:
        return same_host(host, "localhost")
    mapped = found.ipv4_mapped if isinstance(found, ipaddress.IPv6Address) else None
    return (mapped or found).is_loopback


def same_host(one: str, other: str) -> bool:
    """True where two host names are one: letter case and the root's dot at the end say nothing."""
    return one.lower().removesuffix(".") == other.lower().removesuffix(".")


def in_address(host: str) -> str:
    """The host as an address has it: one with colons in brackets."""
    return f"[{host}]" if ":" in host else host


async def read_body(headers: Iterable[tuple[bytes, bytes]], receive: Receive) -> bytes | None:
    """The whole body, empty where the client left; None where it is over the limit. Total over any header bytes."""
    for name, value in headers:
        if name.lower() == b"content-length" and value.isdigit() and int(value[:_LENGTH_DIGITS]) > BODY_LIMIT:
            return None
    pieces, size = [], 0
    while True:
        message = await receive()
        if message["type"] != "http.request":
            return b""
        piece = message.get("body", b"")
        size += len(piece)
        if size > BODY_LIMIT:
            return None
        pieces.append(piece)
        if not message.get("more_body", False):
            return b"".join(pieces)
