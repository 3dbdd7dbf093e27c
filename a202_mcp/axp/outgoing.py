"""One call over HTTP to somebody else (axp 6): no redirect, no cookie, no netrc, a bounded answer, a deadline.

Every failure is a returned answer. Nothing here logs an address, a body or a secret.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC
from email.utils import parsedate_to_datetime
from typing import Final

import httpx2

RESPONSE_LIMIT: Final = 1024 * 1024
LONGEST_RETRY_AFTER: Final = 60.0


@dataclass(frozen=True, slots=True)
class Outgoing:
    """One call as it is sent. `address` was judged, or put together, by whoever makes it."""

    method: str
    address: str
    headers: Mapping[str, str]
    content: bytes | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """What was answered. status 0: nothing, and `failure` says why. whole False: over the limit."""

    status: int
    body: bytes = b""
    retry_after: str | None = None
    whole: bool = True
    failure: str = ""

    @property
    def done(self) -> bool:
        """True for 2xx."""
        return 200 <= self.status < 300

    @property
    def passing(self) -> bool:
        """True where the same call may succeed later."""
        return self.status in (0, 429) or self.status >= 500

    def wanted_wait(self, now: float) -> float:
        """How many seconds Retry-After asks for, at most 60; 0 where it asks for nothing that can be read."""
        return 0.0 if self.retry_after is None else min(max(_seconds(self.retry_after, now), 0.0), LONGEST_RETRY_AFTER)


async def send(call: Outgoing, seconds: float, trust: ssl.SSLContext | bool) -> Answer:
    """Make one call. trust: the certificates that count."""
    try:
        async with asyncio.timeout(seconds):
            return await _sent(call, trust)
    except TimeoutError:
        return Answer(0, failure="no answer in time")
    except (httpx2.HTTPError, httpx2.InvalidURL, OSError, UnicodeError, ValueError) as broken:
        return Answer(0, failure=type(broken).__name__)


async def _sent(call: Outgoing, trust: ssl.SSLContext | bool) -> Answer:
    # A client of its own for every call: nothing of one answer, a cookie above all, reaches the next call.
    async with httpx2.AsyncClient(
        verify=trust, trust_env=False, follow_redirects=False, timeout=None,
    ) as client, client.stream(
        call.method, call.address, headers=call.headers, content=call.content) as response:
        pieces, size = [], 0
        async for piece in response.aiter_bytes():
            size += len(piece)
            if size > RESPONSE_LIMIT:
                return Answer(response.status_code, whole=False)
            pieces.append(piece)
        return Answer(response.status_code, b"".join(pieces), response.headers.get("retry-after"))


def _seconds(text: str, now: float) -> float:
    """The two forms that HTTP has for it: whole seconds, of any number of digits, or a date."""
    if text.isascii() and text.isdigit():
        return float(text)
    try:
        date = parsedate_to_datetime(text)
        return (date if date.tzinfo else date.replace(tzinfo=UTC)).timestamp() - now
    except (ValueError, OverflowError):
        return 0.0
