"""How a row of the outbox ends, and what that means for its task and its owner (axp 3, 6, 7.1 row 3; requirement A51).

Rules this module applies:

- a row that is done moves its task on, its answer is kept as a receipt, and what waited because of it is settled;
- a row that has failed is the end of what its task was at: the task fails, holds no place, and waits for the owner;
- after the last attempt the owner is told, once for each row, and the row is tried every 5 minutes for a day;
- the owner may drop a row, which then is not sent, and try again now one that got no answer in time;
- a result counts only for the row that was tried: one that was dropped, or asked for afresh meanwhile, is left as it
  is. What has reached the exchange, though, has.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from a202_mcp.axp.book import happened, replace
from a202_mcp.axp.buying import CHOICE, DECIDE
from a202_mcp.axp.capacity import DELIVERED, DELIVERING, SOLD, TASK_FAILED
from a202_mcp.axp.choosing import ACCEPTED_STATE, ACCEPTING, CHOOSE, CHOOSING, CHOSEN, DISPUTED, DISPUTING
from a202_mcp.axp.consequences import CHECK, REQUEST_PAYMENT
from a202_mcp.axp.delivery_check import ACCEPT, DISPUTE
from a202_mcp.axp.inbox_items import row_settled, row_waits
from a202_mcp.axp.outbox_rows import DONE, FAILED, OPEN, Row, row_moves
from a202_mcp.axp.outgoing import Answer
from a202_mcp.axp.record import Matter, scribe_of
from a202_mcp.axp.view import Plan, View
from a202_mcp.axp.work import DELIVER
from a202_mcp.one_owner.book import Write
from a202_reference.canonical import sha256_hex
from a202_reference.registries import EvidenceType
from a202_reference.times import format_instant

LATER: Final = 300.0
GIVES_UP_AFTER: Final = 86400.0


@dataclass(frozen=True, slots=True)
class _Way:
    """Which task a row is about, and its states while the row is sent and once it is done; without them it stays."""

    kind: str
    before: str | None = None
    after: str | None = None


_WAYS: Final[Mapping[str, _Way]] = {
    DELIVER: _Way(SOLD, DELIVERING, DELIVERED),
    REQUEST_PAYMENT: _Way(SOLD),
    DECIDE: _Way(CHOICE),
    CHOOSE: _Way(CHOICE, CHOOSING, CHOSEN),
    CHECK: _Way(CHOICE),
    ACCEPT: _Way(CHOICE, ACCEPTING, ACCEPTED_STATE),
    DISPUTE: _Way(CHOICE, DISPUTING, DISPUTED),
}


def is_current(view: View, tried: Row) -> bool:
    """True where the row is still the one that was tried."""
    kept = view.store.row(tried.id)
    return kept is not None and (kept.state, kept.tries, kept.body) == (OPEN, tried.tries, tried.body)


def settled(row: Row) -> tuple[Write, ...]:
    """The row is done, and nothing waits because of it."""
    return row_moves(row, state=DONE), row_settled(row.id, "settled")


def reached(view: View, tried: Row, answer: Answer) -> Plan:
    """The effect is there, whatever the owner did meanwhile."""
    row, way = view.store.row(tried.id) or tried, _WAYS[tried.kind]
    task, at = view.store.item(way.kind, row.task_id), format_instant(view.now())
    said = f"{row.kind} answered by the exchange" if answer.done else f"{row.kind} had reached the exchange before"
    writes = (*settled(row), happened(row.task_id, at, said))
    if task is None:
        return Plan(writes=writes)
    facts = _delivery(row, task, at) if row.kind == DELIVER else {}
    moved = _moved(row, task, TASK_FAILED if row.state == FAILED else way.before, way.after)
    if facts or moved:
        writes = (*writes, replace(way.kind, row.task_id, task, {**task, **facts, **moved}))
    if not answer.done:
        return Plan(writes=writes)
    matter = Matter.of(task)
    receipt = scribe_of(view, matter, view.now(matter.transaction_id)).evidence(
        EvidenceType.ADAPTER_RECEIPT, f"the exchange answered {answer.status} to {row.kind}, round {row.round}",
        sha256_hex(answer.body), verified=True)
    return Plan(transaction_id=matter.transaction_id, drafts=(receipt,), writes=writes)


def gave_up(view: View, row: Row, why: str) -> tuple[Write, ...]:
    """Its attempts are over: the owner knows, and it is tried every 5 minutes for a day."""
    now = view.stamp()
    since = row.gave_up_at or now
    if now - since > GIVES_UP_AFTER:
        return failed(view, row, f"{why}, for a day")
    return (
        row_moves(row, state=OPEN, next_at=now + LATER, gave_up_at=since),
        row_waits(row.id, row.task_id, format_instant(view.now()),
                  f"{row.kind} did not reach the exchange ({why}); tried every 5 minutes, approve tries now, reject "
                  f"drops it"))


def failed(view: View, row: Row, why: str) -> tuple[Write, ...]:
    """It is over: the task fails with it, and waits for the owner."""
    at = format_instant(view.now())
    return (*_over(view, row, f"{row.kind} failed: {why}"),
            row_waits(row.id, row.task_id, at, f"{row.kind} failed: {why}"))


def dropped(view: View, row: Row) -> tuple[Write, ...]:
    """The owner wants it sent no more; nothing where it has ended."""
    return _over(view, row, f"{row.kind} dropped by the owner") if row.state == OPEN else ()


def again(view: View, row: Row) -> tuple[Write, ...] | None:
    """The owner wants it tried now, the days over which it is tried anew; None where it cannot be tried."""
    now = view.stamp()
    if row.gave_up_at is None or row.state == DONE:
        return None
    return (row_moves(row, state=OPEN, next_at=now, gave_up_at=now if row.state == FAILED else row.gave_up_at),
            *(_task(view, row, TASK_FAILED, _WAYS[row.kind].before) if row.state == FAILED else ()))


def _over(view: View, row: Row, what: str) -> tuple[Write, ...]:
    return (row_moves(row, state=FAILED), happened(row.task_id, format_instant(view.now()), what),
            *_task(view, row, _WAYS[row.kind].before, TASK_FAILED))


def _task(view: View, row: Row, before: str | None, after: str | None) -> tuple[Write, ...]:
    """The task in another state, where the row is what it is at."""
    kind = _WAYS[row.kind].kind
    task = view.store.item(kind, row.task_id)
    moved = {} if task is None else _moved(row, task, before, after)
    return (replace(kind, row.task_id, task, {**(task or {}), **moved}),) if moved else ()


def _moved(row: Row, task: Mapping[str, Any], before: str | None, after: str | None) -> dict[str, Any]:
    """The member that changes. A delivery of an earlier round says nothing of the one the task is at."""
    at_it = task["state"] == before and (row.kind != DELIVER or task["round"] == row.round)
    return {"state": after} if at_it and after is not None and _WAYS[row.kind].before is not None else {}


def _delivery(row: Row, task: Mapping[str, Any], at: str) -> dict[str, Any]:
    """What was delivered, and when: the facts for a mediator."""
    content = str(row.body["json"]["content"])
    delivered = {"round": row.round, "at": at, "sha256": sha256_hex(content.encode("utf-8"))}
    return {"deliveries": [*task.get("deliveries", ()), delivered]}
