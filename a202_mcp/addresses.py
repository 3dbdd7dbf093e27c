"""Web addresses taken apart, whatever somebody wrote there (treatyway 3, 10; axp 6)."""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import SplitResult, urlsplit

_WRITTEN: Final = re.compile(r"[!-~]{1,4096}", re.ASCII)


def taken_apart(address: object) -> SplitResult | None:
    """The parts of an address whose host and port can be read, or None. Total.

    Python's own reader raises for a bracket or a port that is none, and reads what is not ASCII in ways of its own.
    """
    if not isinstance(address, str) or not _WRITTEN.fullmatch(address):
        return None
    try:
        parts = urlsplit(address)
        port = parts.port
    except ValueError:
        return None
    return None if port == 0 else parts


def is_https(address: str) -> bool:
    """True for an https address with a host."""
    parts = taken_apart(address)
    return parts is not None and parts.scheme == "https" and bool(parts.hostname)
