"""Our calls to the exchange (spec 6): one origin, no redirect, no cookie, bounded answers, the secret in one header.

Every failure is a returned answer. Nothing here logs an address, a body or a secret.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import httpx2

from a202_mcp.axp import published
from a202_mcp.axp.reading import dumps
from a202_mcp.axp.secret import Credentials
from a202_mcp.axp.settings import Exchange

RESPONSE_LIMIT: Final = 1024 * 1024


@dataclass(frozen=True, slots=True)
class Answer:
    """What the exchange answered. status 0: nothing, and `failure` says why. whole False: over the limit."""

    status: int
    body: bytes = b""
    retry_after: float | None = None
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


class ExchangeClient:
    """Calls to one exchange."""

    def __init__(self, settings: Exchange, credentials: Credentials) -> None:
        self._settings = settings
        self._credentials = credentials

    def address(self, call: str, identifier: str = "") -> str:
        """The address of one of our own calls."""
        return self._settings.origin.call(published.path(call, identifier))

    async def call(
        self, method: str, address: str, body: Mapping[str, Any] | None = None, *, signed_in: bool = True,
    ) -> Answer:
        """Make one call. `address` is of the exchange's origin: composed here, or judged by it."""
        headers = {"accept": "application/json"}
        if signed_in:
            secret = self._credentials.member_secret
            if secret is None:
                return Answer(0, failure="there is no member secret yet")
            headers["authorization"] = f"Bearer {secret.value}"
        content = None
        if body is not None:
            headers["content-type"] = "application/json"
            content = dumps(body).encode("ascii")
        try:
            async with asyncio.timeout(self._settings.timeout_seconds):
                return await self._send(method, address, headers, content)
        except TimeoutError:
            return Answer(0, failure="no answer in time")
        except (httpx2.HTTPError, httpx2.InvalidURL, OSError, UnicodeError, ValueError) as broken:
            return Answer(0, failure=type(broken).__name__)

    async def _send(self, method: str, address: str, headers: dict[str, str], content: bytes | None) -> Answer:
        # A client of its own for every call: nothing of one answer, a cookie above all, reaches the next call.
        async with httpx2.AsyncClient(
            verify=self._trust, trust_env=False, follow_redirects=False, timeout=None,
        ) as client, client.stream(method, address, headers=headers, content=content) as response:
            pieces, size = [], 0
            async for piece in response.aiter_bytes():
                size += len(piece)
                if size > RESPONSE_LIMIT:
                    return Answer(response.status_code, whole=False)
                pieces.append(piece)
            return Answer(response.status_code, b"".join(pieces), _seconds(response.headers.get("retry-after")))

    @cached_property
    def _trust(self) -> ssl.SSLContext | bool:
        return ssl.create_default_context() if self._settings.origin.scheme == "https" else False


def _seconds(text: str | None) -> float | None:
    """Retry-After in seconds, at most 60; None where it is absent or a date."""
    return min(float(text), 60.0) if text is not None and text.isascii() and text.isdigit() and len(text) < 10 else None
