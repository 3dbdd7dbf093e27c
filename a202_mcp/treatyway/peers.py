"""Which address a call comes from, and which addresses count as one peer (spec 7, 10, "HTTP").

Rules this module applies:

- an IPv4 address is itself also in its IPv6 form; zones and brackets say nothing of who it is;
- callers are counted by the IPv4 address, or by the /64 of an IPv6 address; who may speak for others is one address,
  never its whole network;
- behind that one address the last X-Forwarded-For entry is the peer, with or without a port. Where there is none that
  can be read, the peer is who connects.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable
from typing import Final, TypeAlias

Address: TypeAlias = ipaddress.IPv4Address | ipaddress.IPv6Address

UNKNOWN: Final = "unknown"
_COUNTED_BITS: Final = 64


def read_address(text: str | None) -> Address | None:
    """The address that is written there, with or without a port; None for a name and for anything else."""
    written = (text or "").strip()
    if written.startswith("["):
        written = written[1:].partition("]")[0]
    elif written.count(":") == 1:
        written = written.partition(":")[0]
    try:
        found = ipaddress.ip_address(written.partition("%")[0])
    except ValueError:
        return None
    mapped = found.ipv4_mapped if isinstance(found, ipaddress.IPv6Address) else None
    return mapped or found


def counted_as(address: Address | None) -> str:
    """One text for all addresses that count as one peer."""
    if isinstance(address, ipaddress.IPv6Address):
        return str(ipaddress.ip_network((address, _COUNTED_BITS), strict=False))
    return UNKNOWN if address is None else str(address)


def speaker(connects: Address | None, trusted: Address | None, forwarded: Iterable[str]) -> Address | None:
    """Who calls: who connects, or whom the trusted one says it speaks for. forwarded: the headers, in their order."""
    if trusted is None or connects != trusted:
        return connects
    return read_address(",".join(forwarded).rpartition(",")[2]) or connects
