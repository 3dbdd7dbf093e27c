"""Our calls to the exchange (axp 6): one origin, JSON bodies, the secret in one header.

Every failure is a returned answer. Nothing here logs an address, a body or a secret.
"""

from __future__ import annotations

import ssl
from collections.abc import Mapping
from functools import cached_property
from typing import Any

from a202_mcp.axp import published
from a202_mcp.axp.outgoing import Answer, Outgoing, send
from a202_mcp.axp.reading import dumps
from a202_mcp.axp.secret import Credentials
from a202_mcp.axp.settings import Exchange


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
        return await send(Outgoing(method, address, headers, content), self._settings.timeout_seconds, self._trust)

    @cached_property
    def _trust(self) -> ssl.SSLContext | bool:
        return ssl.create_default_context() if self._settings.origin.scheme == "https" else False
