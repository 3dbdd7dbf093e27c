"""The mandate's status where an address is configured for it (spec 2 `status_url`; treatyway 9.2).

Rules this module applies:

- without `status_url` the local switch counts, and nothing is called;
- an answer is used for 30 s and never older than 60 s; what cannot be fetched or read is unresolved, and denies;
- the call carries no secret and no data, follows no redirect and reads at most 1 MB (`fetching`).
"""

from __future__ import annotations

import time
from typing import Final

from a202_mcp.axp.member import Member
from a202_mcp.axp.reading import read
from a202_mcp.fetching import fetched
from a202_reference.times import whole_second

_FRESH: Final = 30.0
_TIMEOUT: Final = 4.0
_NONE: Final = "unresolved"
_MOST_BYTES: Final = 1024 * 1024


class StatusReader:
    """Keeps the statuses of the member's mandates fresh, where an address answers them."""

    def __init__(self, member: Member) -> None:
        self._member = member
        self._read_at = float("-inf")

    async def refresh(self) -> None:
        """Fetch where what is held is no longer fresh."""
        if time.monotonic() - self._read_at < _FRESH:
            return
        self._read_at = time.monotonic()
        identity = self._member.view.identity
        if identity.status_url is None:
            return
        status = await ask(identity.status_url)
        at = whole_second(self._member.workspace.clock())
        self._member.statuses.update(dict.fromkeys(identity.mandates.values(), (status, at)))


async def ask(address: str) -> str:
    """The status that an address answers, or the word for none."""
    try:
        document = read(await fetched(address, seconds=_TIMEOUT, most_bytes=_MOST_BYTES))
    except (OSError, ValueError):
        return _NONE
    status = document.get("status") if isinstance(document, dict) else None
    return status if isinstance(status, str) else _NONE
