"""What the exchange hears of us unasked: that we are there, and what we sell (axp 6).

Rules this module applies:

- a heartbeat every `heartbeat_hours`, the first after that time; the list of skills where it is not the one that the
  exchange took last;
- what did not arrive is tried again after a few minutes, for as long as it takes. No failure ends the heartbeat.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any, Final

from a202_mcp import logs
from a202_mcp.axp.book import put
from a202_mcp.axp.exchange import ExchangeClient
from a202_mcp.axp.member import Member
from a202_mcp.axp.patience import patiently
from a202_mcp.axp.plain_tools import skill_list
from a202_mcp.axp.reading import fingerprint

AGAIN: Final = 300.0


class Heartbeat:
    """Says it. sleep: how the time between is waited for."""

    def __init__(
        self, member: Member, client: ExchangeClient, sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
    ) -> None:
        self._member = member
        self._client = client
        self._sleep = sleep

    async def run(self) -> None:
        """Go on until cancelled, or until there is nothing left to say."""
        interval = self._member.settings.exchange.heartbeat_hours * 3600.0 or math.inf
        until_beat = interval
        while True:
            wait = until_beat if await _safely(self._skills) else min(AGAIN, until_beat)
            if wait == math.inf:
                return
            await self._sleep(wait)
            until_beat -= wait
            if until_beat <= 0:
                until_beat = interval if await _safely(self._beat) else min(AGAIN, interval)

    async def _beat(self) -> bool:
        return (await self._client.call("POST", self._client.address("heartbeat"), {})).done

    async def _skills(self) -> bool:
        """True where the exchange knows what we sell."""
        member = self._member
        if not member.settings.sells:
            return True
        skills: list[Mapping[str, Any]] = list(skill_list(member.view))
        mark = fingerprint(skills)
        known = await patiently(partial(member.store.item, "pushed", "skills")) or {}
        if known.get("mark") == mark:
            return True
        answer = await self._client.call("PUT", self._client.address("skills"), {"skills": skills})
        if answer.done:
            await patiently(partial(member.store.remember, (put("pushed", "skills", {"mark": mark}),)))
        return answer.done


async def _safely(act: Callable[[], Awaitable[bool]]) -> bool:
    """Whether it is done; a defect of ours is not."""
    try:
        return await act()
    except Exception as error:
        logs.defect("the heartbeat", error)
        return False
