"""What must reach the exchange, and does (spec 6, "Outbox"; requirements A50, A51, A77, A86).

Rules this module applies:

- a row is written with the act that causes it; its try is counted on disk before it is made; rows of one task keep
  their order;
- network errors, 429 and 5xx are tried again, doubling from `backoff_ms` up to 30 s, or after Retry-After up to 60 s;
  2xx is done, and 409 on a repeat; 409 on the first try and any other 3xx or 4xx is a failure for the owner to see;
- after `attempts` the owner is told, and the row is tried every 5 minutes for 24 hours; what the end of a row means
  stands in `endings`;
- `decide` and `check` are steps of ours that keep the same book: a choice to make, a delivery to look at.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable, Callable
from dataclasses import replace as changed
from functools import partial
from operator import attrgetter
from typing import Final

from a202_mcp import logs
from a202_mcp.axp.buying import DECIDE
from a202_mcp.axp.choosing import decide
from a202_mcp.axp.consequences import CHECK
from a202_mcp.axp.delivery_check import look, settle
from a202_mcp.axp.endings import failed, gave_up, is_current, reached, settled
from a202_mcp.axp.exchange import ExchangeClient
from a202_mcp.axp.member import Member
from a202_mcp.axp.outbox_rows import OPEN, Row, row_moves, row_tried
from a202_mcp.axp.outgoing import Answer
from a202_mcp.axp.patience import outlasting, patiently
from a202_mcp.axp.pool import Pool
from a202_mcp.axp.view import Plan, View

PARALLEL: Final = 8
LONGEST_WAIT: Final = 30.0


class Outbox:
    """Sends the open rows."""

    def __init__(self, member: Member, client: ExchangeClient) -> None:
        self._member = member
        self._client = client
        self._pool: Pool[int] = Pool(member.wake)

    def look(self) -> float:
        """Start what is due; in how many seconds the next row is that can be started then."""
        now = self._member.view.stamp()
        self._pool.start(self._member.store.due(now), attrgetter("id"), self._handle, PARALLEL)
        if len(self._pool.busy) >= PARALLEL:
            return math.inf
        due = self._member.store.next_due(self._pool.keys)
        return math.inf if due is None else max(due - now, 0.0)

    @property
    def busy(self) -> list[asyncio.Task[None]]:
        """What is under way."""
        return self._pool.busy

    async def stop(self) -> None:
        """Leave what is not done for the next start."""
        await self._pool.stop()

    async def _handle(self, row: Row) -> None:
        try:
            if not await patiently(partial(self._member.store.remember, (row_tried(row),))):
                return  # the owner has dropped it, or it was asked for afresh
            tried = changed(row, tries=row.tries + 1)
            await _STEPS.get(row.kind, _send)(self._member, self._client, tried)
        except Exception as error:
            logs.defect("outbox", error)
            await self._member.record(partial(_defective, row=row))


async def _decide(member: Member, _: ExchangeClient, row: Row) -> None:
    await outlasting(member.refresh)
    await member.record(partial(
        _stepped, row=row, step=partial(decide, task_id=row.task_id, settled=settled(row))))


async def _check(member: Member, client: ExchangeClient, row: Row) -> None:
    """Look at a delivery: a passing failure is tried again, the rest is settled."""
    found = await look(client, row.task_id, str(row.body["sha256"]))
    if isinstance(found, Answer):
        await member.record(partial(_after_failure, row=row, answer=found))
        return
    await outlasting(member.refresh)
    await member.record(partial(
        _stepped, row=row, step=partial(settle, row=row, found=found, settled=settled(row))))


async def _send(member: Member, client: ExchangeClient, row: Row) -> None:
    """One call with an effect."""
    address = row.body.get("url") or client.address(row.kind, row.task_id)
    answer = await client.call("POST", str(address), row.body["json"])
    if answer.done or (answer.status == 409 and row.tries > 1):
        await member.record(partial(reached, tried=row, answer=answer))
    else:
        await member.record(partial(_after_failure, row=row, answer=answer))


_STEPS: Final[dict[str, Callable[[Member, ExchangeClient, Row], Awaitable[None]]]] = {DECIDE: _decide, CHECK: _check}


def _stepped(view: View, row: Row, step: Callable[[View], Plan]) -> Plan:
    """A step of ours, where it is not to be made anew from what came meanwhile."""
    return step(view) if is_current(view, row) else Plan()


def _defective(view: View, row: Row) -> Plan:
    kept = view.store.row(row.id)
    return Plan(writes=gave_up(view, kept, "internal error")) if kept is not None and kept.state == OPEN else Plan()


def _after_failure(view: View, row: Row, answer: Answer) -> Plan:
    """Try again, or tell the owner."""
    if not is_current(view, row):
        return Plan()
    why = answer.failure or f"the exchange answered {answer.status}"
    now = view.stamp()
    exchange = view.settings.exchange
    if not answer.passing:
        return Plan(writes=failed(view, row, why))
    if row.gave_up_at is not None or row.tries >= exchange.attempts:
        return Plan(writes=gave_up(view, row, why))
    wait = min(exchange.backoff_ms / 1000 * 2 ** (row.tries - 1), LONGEST_WAIT)
    return Plan(writes=(row_moves(row, state=OPEN, next_at=now + max(wait, answer.wanted_wait(now))),))
