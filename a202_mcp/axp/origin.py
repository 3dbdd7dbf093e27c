"""Where our secret may go: addresses of the exchange's own origin, and no other (spec 6, "Where secrets may go").

Rules this module applies:

- scheme, host and port of a given address are the base's; default ports are equal, hosts compare in lower case;
- no user part, no fragment; only printable ASCII without space and backslash; no `.` or `..` segment, also after
  decoding %2e, %2f and %5c;
- what was judged is what is sent: the call's address is put together from the parts that were judged;
- plain http is for loopback alone.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from a202_mcp.addresses import taken_apart
from a202_mcp.one_owner.web import in_address, is_loopback

_PORTS: Final = {"http": 80, "https": 443}
_CLEAN: Final = re.compile(r"[!-\[\]-~]{1,4096}")
_ENCODED: Final = re.compile(r"%(2e|2f|5c)", re.IGNORECASE)
_DECODED: Final = {"2e": ".", "2f": "/", "5c": "\\"}


@dataclass(frozen=True, slots=True)
class Origin:
    """Scheme, host, port and the path prefix that all calls share."""

    scheme: str
    host: str
    port: int
    prefix: str = ""

    @property
    def address(self) -> str:
        """The origin as an address, without a path."""
        port = "" if _PORTS[self.scheme] == self.port else f":{self.port}"
        return f"{self.scheme}://{in_address(self.host)}{port}"

    def call(self, path: str) -> str:
        """The address of one of our own paths."""
        return self.address + self.prefix + path

    def given(self, address: object) -> str | None:
        """A given address of this very origin, put together from its parts; None for any other."""
        parts = _parts(address)
        if parts is None or parts[0] != self.scheme or parts[1] != self.host or parts[2] != self.port:
            return None
        return self.address + parts[3]


def read_base(address: object) -> Origin | str:
    """The exchange's origin, or what is wrong with the address."""
    parts = _parts(address)
    if parts is None or "?" in parts[3]:
        return "must be an http or https address without user, query and fragment"
    scheme, host, port, path = parts
    if scheme == "http" and not is_loopback(host):
        return "must be https: plain http is for loopback only"
    return Origin(scheme, host, port, path.rstrip("/"))


def _parts(address: object) -> tuple[str, str, int, str] | None:
    """Scheme, host, port, and path with query; None for what no secret may go to. Total."""
    if not isinstance(address, str) or not _CLEAN.fullmatch(address) or "#" in address:
        return None
    split = taken_apart(address)
    if split is None:
        return None
    scheme, host, port = split.scheme.lower(), split.hostname, split.port
    if scheme not in _PORTS or not host or "@" in split.netloc or "%" in host:
        return None
    decoded = _ENCODED.sub(lambda found: _DECODED[found[1].lower()], split.path)
    if "\\" in decoded or any(segment in (".", "..") for segment in decoded.split("/")):
        return None
    path = (split.path or "/") + (f"?{split.query}" if split.query else "")
    return scheme, host.lower(), port or _PORTS[scheme], path
