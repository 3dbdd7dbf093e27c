"""The mandate's status where an address is configured for it (axp 2 `status_url`; treatyway 9.2).

Rules this module applies:

- without `status_url` the local switch counts, and nothing is called;
- an answer is used for 30 s from the instant it was asked for. Whoever needs it while it is being asked waits for it:
  a decision is never made from an answer that is not there yet;
- what cannot be fetched or read is unresolved, and denies; it is asked again after 5 s;
- the call carries no secret and no data, follows no redirect and reads at most 1 MB.
"""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Final

from a202_mcp.axp.member import Member
from a202_mcp.axp.outgoing import Outgoing, send
from a202_mcp.axp.reading import read
from a202_reference.times import whole_second

UNRESOLVED: Final = "unresolved"
_FRESH: Final = timedelta(seconds=30)
_ASKED_AGAIN: Final = timedelta(seconds=5)
_TIMEOUT: Final = 4.0


class StatusReader:
    """Keeps the statuses of the member's mandates fresh; for a configured `status_url`."""

    def __init__(self, member: Member) -> None:
        self._member = member
        self._asking = asyncio.Lock()

    async def refresh(self) -> None:
        """Fetch where what is held is no longer fresh."""
        async with self._asking:
            if self._is_fresh():
                return
            at = whole_second(self._member.workspace.clock())
            status = await self._ask()
            self._member.statuses.update(dict.fromkeys(self._mandates(), (status, at)))

    def _is_fresh(self) -> bool:
        now = whole_second(self._member.workspace.clock())
        held = [self._member.statuses.get(mandate_id) for mandate_id in self._mandates()]
        return all(
            each is not None and timedelta() <= now - each[1] < (_ASKED_AGAIN if each[0] == UNRESOLVED else _FRESH)
            for each in held)

    def _mandates(self) -> list[str]:
        return list(self._member.view.identity.mandates.values())

    async def _ask(self) -> str:
        address = str(self._member.settings.limits.status_url)
        answer = await send(Outgoing("GET", address, {"accept": "application/json"}), _TIMEOUT, trust=True)
        document = read(answer.body) if answer.status == 200 and answer.whole else None
        status = document.get("status") if isinstance(document, dict) else None
        return status if isinstance(status, str) else UNRESOLVED
