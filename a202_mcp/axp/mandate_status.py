"""The mandate's status where an address is configured for it (axp 2 `status_url`; treatyway 9.2).

Rules this module applies:

- without `status_url` the local switch counts, and nothing is called; the address is that of the mandates in force;
- an answer is used for 30 s from the instant it was asked for. Whoever needs it while it is being asked waits for it:
  a decision is never made from an answer that is not there yet;
- what cannot be fetched or read is unresolved, and denies; it is asked again after 5 s;
- the call carries no secret and no data, follows no redirect and reads at most 1 MB (`fetching`).
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from datetime import timedelta
from typing import Final

from a202_mcp.axp.member import Member
from a202_mcp.axp.patience import shortly
from a202_mcp.axp.reading import read
from a202_mcp.fetching import fetched
from a202_reference.times import whole_second

UNRESOLVED: Final = "unresolved"
_FRESH: Final = timedelta(seconds=30)
_ASKED_AGAIN: Final = timedelta(seconds=5)
_TIMEOUT: Final = 4.0
_MOST_BYTES: Final = 1024 * 1024


class StatusReader:
    """Keeps the statuses of the member's mandates fresh, where an address answers them."""

    def __init__(self, member: Member) -> None:
        self._member = member
        self._asking = asyncio.Lock()

    async def refresh(self) -> None:
        """Fetch where what is held is no longer fresh. Raises sqlite3.Error where it cannot be read whose it is."""
        async with self._asking:
            identity = await shortly(lambda: self._member.view.identity)
            mandate_ids = identity.mandates.values()
            if identity.status_url is None or self._is_fresh(mandate_ids):
                return
            at = whole_second(self._member.workspace.clock())
            status = await ask(identity.status_url)
            self._member.statuses.update(dict.fromkeys(mandate_ids, (status, at)))

    def _is_fresh(self, mandate_ids: Iterable[str]) -> bool:
        now = whole_second(self._member.workspace.clock())
        held = [self._member.statuses.get(mandate_id) for mandate_id in mandate_ids]
        return all(
            each is not None and timedelta() <= now - each[1] < (_ASKED_AGAIN if each[0] == UNRESOLVED else _FRESH)
            for each in held)


async def ask(address: str) -> str:
    """The status that an address answers, or the word for none."""
    try:
        document = read(await fetched(address, seconds=_TIMEOUT, most_bytes=_MOST_BYTES))
    except (OSError, ValueError):
        return UNRESOLVED
    status = document.get("status") if isinstance(document, dict) else None
    return status if isinstance(status, str) else UNRESOLVED
