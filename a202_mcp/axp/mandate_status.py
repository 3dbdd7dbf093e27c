"""The mandate's status where an address is configured for it (spec 2 `status_url`; treatyway 9.2).

Rules this module applies:

- without `status_url` the local switch counts, and nothing is called;
- an answer is used for 30 s and never older than 60 s; what cannot be fetched or read is unresolved, and denies;
- the call carries no secret and no data, follows no redirect and reads at most 1 MB.
"""

from __future__ import annotations

import asyncio
import time
from typing import Final

import httpx2

from a202_mcp.axp.member import Member
from a202_mcp.axp.reading import read
from a202_reference.times import whole_second

_FRESH: Final = 30.0
_TIMEOUT: Final = 4.0


class StatusReader:
    """Keeps the statuses of the member's mandates fresh; for a configured `status_url`."""

    def __init__(self, member: Member) -> None:
        self._member = member
        self._read_at = float("-inf")

    async def refresh(self) -> None:
        """Fetch where what is held is no longer fresh."""
        if time.monotonic() - self._read_at < _FRESH:
            return
        self._read_at = time.monotonic()
        status = await self._fetch()
        at = whole_second(self._member.workspace.clock())
        self._member.statuses.update(dict.fromkeys(self._member.view.identity.mandates.values(), (status, at)))

    async def _fetch(self) -> str:
        address = str(self._member.settings.limits.status_url)
        try:
            async with asyncio.timeout(_TIMEOUT), httpx2.AsyncClient(
                trust_env=False, follow_redirects=False) as client:
                answer = await client.get(address, headers={"accept": "application/json"})
        except (TimeoutError, httpx2.HTTPError, OSError, ValueError):
            return "unresolved"
        document = read(answer.content[:1024 * 1024]) if answer.status_code == 200 else None
        status = document.get("status") if isinstance(document, dict) else None
        return status if isinstance(status, str) else "unresolved"
