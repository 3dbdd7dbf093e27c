"""What must reach the exchange, and does (spec 6, "Outbox"; requirements A50, A51, A77, A86).

Rules this module applies:

- a row is written with the act that causes it; its try is counted on disk before it is made; rows of one task keep
  their order;
- network errors, 429 and 5xx are tried again, doubling from `backoff_ms` up to 30 s, or after Retry-After up to 60 s;
  2xx is done, and 409 on a repeat; 409 on the first try and any other 3xx or 4xx is a failure for the owner to see;
- after `attempts` the owner is told, and the row is tried every 5 minutes for 24 hours;
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
from a202_mcp.axp.book import happened, replace
from a202_mcp.axp.buying import CHOICE, DECIDE
from a202_mcp.axp.capacity import DELIVERED, DELIVERING, SOLD
from a202_mcp.axp.choosing import CHOOSE, CHOOSING, CHOSEN, decide
from a202_mcp.axp.delivery_check import ACCEPT, DISPUTE, look, settle
from a202_mcp.axp.exchange import ExchangeClient
from a202_mcp.axp.inbox_items import tell
from a202_mcp.axp.member import Member
from a202_mcp.axp.outbox_rows import DONE, FAILED, OPEN, Row, row_moves, row_tried
from a202_mcp.axp.outgoing import Answer
from a202_mcp.axp.patience import outlasting, patiently
from a202_mcp.axp.pool import Pool
from a202_mcp.axp.record import Matter, scribe_of
from a202_mcp.axp.updates import CHECK, REQUEST_PAYMENT
from a202_mcp.axp.view import Plan, View
from a202_mcp.axp.work import DELIVER
from a202_mcp.one_owner.book import Write
from a202_reference.canonical import sha256_hex
from a202_reference.registries import EvidenceType
from a202_reference.times import format_instant

PARALLEL: Final = 8
LONGEST_WAIT: Final = 30.0
LATER: Final = 300.0
GIVES_UP_AFTER: Final = 86400.0

_REACHES: Final = {DELIVER: (SOLD, DELIVERING, DELIVERED), CHOOSE: (CHOICE, CHOOSING, CHOSEN)}
"""The state of the task that a delivered row leads to: kind, from, to."""


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
                return  # somebody else has taken it
            tried = changed(row, tries=row.tries + 1)
            await outlasting(self._member.refresh)
            await _STEPS.get(row.kind, _send)(self._member, self._client, tried)
        except Exception as error:
            logs.defect("outbox", error)
            await self._member.record(partial(_broken, row_id=row.id))


async def _decide(member: Member, _: ExchangeClient, row: Row) -> None:
    await member.record(partial(decide, task_id=row.task_id, settled=row_moves(row, state=DONE)))


async def _check(member: Member, client: ExchangeClient, row: Row) -> None:
    """Look at a delivery: a passing failure is tried again, the rest is settled."""
    found = await look(client, row.task_id, str(row.body["sha256"]))
    if isinstance(found, Answer):
        await member.record(partial(_after_failure, row=row, answer=found))
        return
    await outlasting(member.refresh)
    await member.record(partial(settle, row=row, found=found, settled=row_moves(row, state=DONE)))


async def _send(member: Member, client: ExchangeClient, row: Row) -> None:
    """One call with an effect."""
    address = row.body.get("url") or client.address(row.kind, row.task_id)
    answer = await client.call("POST", str(address), row.body["json"])
    if answer.done or (answer.status == 409 and row.tries > 1):
        await member.record(partial(_delivered, row=row, answer=answer))
    else:
        await member.record(partial(_after_failure, row=row, answer=answer))


_STEPS: Final[dict[str, Callable[[Member, ExchangeClient, Row], Awaitable[None]]]] = {DECIDE: _decide, CHECK: _check}
SENT: Final = (DELIVER, CHOOSE, ACCEPT, DISPUTE, REQUEST_PAYMENT)


def _delivered(view: View, row: Row, answer: Answer) -> Plan:
    """The effect is there: the task moves on, and the exchange's answer is kept as a receipt."""
    kind, before, after = _REACHES.get(row.kind, (SOLD if row.kind == REQUEST_PAYMENT else CHOICE, "", ""))
    task = view.store.item(kind, row.task_id)
    at = format_instant(view.now())
    said = f"{row.kind} answered by the exchange" if answer.done else f"{row.kind} had reached the exchange before"
    writes: list[Write] = [row_moves(row, state=DONE), happened(row.task_id, at, said)]
    if task is None:
        return Plan(writes=tuple(writes))
    if task["state"] == before and task["round"] == row.round:
        writes.append(replace(kind, row.task_id, task, {**task, "state": after}))
    if not answer.done:
        return Plan(writes=tuple(writes))
    matter = Matter.of(task)
    receipt = scribe_of(view, matter, view.now(matter.transaction_id)).evidence(
        EvidenceType.ADAPTER_RECEIPT, f"the exchange answered {answer.status} to {row.kind}, round {row.round}",
        sha256_hex(answer.body), verified=True)
    return Plan(transaction_id=matter.transaction_id, drafts=(receipt,), writes=tuple(writes))


def _after_failure(view: View, row: Row, answer: Answer) -> Plan:
    """Try again, or tell the owner."""
    why = answer.failure or f"the exchange answered {answer.status}"
    now = view.stamp()
    exchange = view.settings.exchange
    if not answer.passing:
        return Plan(writes=_failed(view, row, why))
    if row.gave_up_at is not None or row.tries >= exchange.attempts:
        return Plan(writes=_given_up(view, row, why))
    wait = min(exchange.backoff_ms / 1000 * 2 ** (row.tries - 1), LONGEST_WAIT)
    return Plan(writes=(row_moves(row, state=OPEN, next_at=now + max(wait, answer.wanted_wait(now))),))


def _broken(view: View, row_id: int) -> Plan:
    """A defect of ours: the row stays for later, where it is open still."""
    kept = view.store.row(row_id)
    if kept is None or kept.state != OPEN:
        return Plan()
    return Plan(writes=_given_up(view, kept, "internal error"))


def _given_up(view: View, row: Row, why: str) -> tuple[Write, ...]:
    """After the last attempt: the owner knows, and it is tried every 5 minutes for a day."""
    now = view.stamp()
    since = row.gave_up_at or now
    if now - since > GIVES_UP_AFTER:
        return _failed(view, row, why)
    at = format_instant(view.now())
    return (
        row_moves(row, state=OPEN, next_at=now + LATER, gave_up_at=since),
        tell(f"x{row.id}", "outbox", row.task_id, at,
             f"{row.kind} did not reach the exchange ({why}); tried every 5 minutes, approve tries now",
             {"row": row.id}))


def _failed(view: View, row: Row, why: str) -> tuple[Write, ...]:
    at = format_instant(view.now())
    return (
        row_moves(row, state=FAILED),
        tell(f"y{row.id}", "outbox", row.task_id, at, f"{row.kind} failed: {why}"),
        happened(row.task_id, at, f"{row.kind} failed: {why}"))
