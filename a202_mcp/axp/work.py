"""The tasks in hand: run, and delivered once per round (spec 7.2; requirements A44 to A57, A77, A85).

Rules this module applies:

- a run is counted on disk before it begins. A run that a crash cut off counts; it is made again at the start only
  where runs remain. One that this server's own orderly end cut off is no failure of the program, and does not count;
- a result and the call that delivers it are written together with the decision `performance.declared` and the evidence
  of the content, as soon as the state can be written; what failed is not delivered and waits for the owner;
- a result that the mandate does not allow to deliver now (its status is not known, it is suspended) is kept, shown to
  the owner, and looked at again every minute and whenever the owner says so;
- at most `max_open` at once.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Mapping
from functools import partial
from typing import Any, Final

from a202_mcp import logs
from a202_mcp.axp.book import happened, put, replace
from a202_mcp.axp.capacity import ACCEPTED, DELIVERING, FINISHED, SOLD, TASK_FAILED, WORKING
from a202_mcp.axp.inbox_items import item_moves, tell
from a202_mcp.axp.member import Member
from a202_mcp.axp.outbox_rows import effect
from a202_mcp.axp.patience import outlasting, patiently, shortly
from a202_mcp.axp.pool import Pool
from a202_mcp.axp.reading import dumps, read
from a202_mcp.axp.record import Matter, judge, scribe_of
from a202_mcp.axp.result import Content
from a202_mcp.axp.settings import Skill
from a202_mcp.axp.view import Plan, View
from a202_mcp.axp.worker import WorkFailure, run_worker
from a202_mcp.state_file import trouble
from a202_reference.canonical import sha256_hex
from a202_reference.codes import Decision
from a202_reference.lifecycle.acts import PERFORMANCE_DECLARED
from a202_reference.registries import EvidenceType
from a202_reference.times import format_instant

DELIVER: Final = "deliver"
AGAIN_SECONDS: Final = 60
_CHECKS: Final = ("must_contain", "max_bytes", "json")


class WorkQueue:
    """Runs what was accepted."""

    def __init__(self, member: Member) -> None:
        self._member = member
        self._pool: Pool[str] = Pool(member.wake)

    def look(self) -> None:
        """Start what waits, as far as there are places."""
        in_hand, now = self._member.store.items_where(
            SOLD, "state", (ACCEPTED, WORKING, FINISHED)), self._member.view.stamp()
        waiting = [task_id for task_id, task in in_hand.items()
                   if task["state"] != FINISHED or task["kept"]["again_at"] <= now]
        self._pool.start(waiting, str, self._work, self._member.settings.seller.max_open)

    @property
    def busy(self) -> list[asyncio.Task[None]]:
        """What is under way."""
        return self._pool.busy

    async def stop(self) -> None:
        """End the programs; their tasks stay in hand for the next start."""
        await self._pool.stop()

    async def _work(self, task_id: str) -> None:
        try:
            await self._rounds(task_id)
        except Exception as error:
            logs.defect("work", error)
            await self._member.record(partial(_failed, task_id=task_id, failure=WorkFailure("internal error")))

    async def _rounds(self, task_id: str) -> None:
        """Run until there is a result or no run is left."""
        while True:
            task = await patiently(partial(self._member.store.item, SOLD, task_id)) or {}
            if task.get("state") == FINISHED:
                await self._deliver(task_id, Content.of(task["kept"]["result"]))
                return
            skill = self._member.settings.skills.get(str(task.get("task_type")))
            if skill is None or task["attempts"] >= skill.worker.attempts:
                why = "the worker was cut off and has no run left" if skill else "this kind of task is no longer sold"
                await self._member.record(partial(_failed, task_id=task_id, failure=WorkFailure(why)))
                return
            await self._member.record(partial(_begun, task_id=task_id))
            try:
                found = await run_worker(
                    skill.worker, _job(task_id, skill, task), _checks(task), self._member.settings.state_dir)
                if isinstance(found, Content):
                    await self._deliver(task_id, found)
                    return
            except asyncio.CancelledError:
                await self._put_back(task_id)
                raise
            if task["attempts"] + 1 >= skill.worker.attempts:
                await self._member.record(partial(_failed, task_id=task_id, failure=found))
                return

    async def _deliver(self, task_id: str, result: Content) -> None:
        await outlasting(self._member.refresh)
        await self._member.record(partial(_done, task_id=task_id, result=result))

    async def _put_back(self, task_id: str) -> None:
        try:
            await shortly(partial(self._member.carry_out, partial(_put_back, task_id=task_id)))
        except sqlite3.Error as error:
            logs.say(f"a run that was cut off counts: {trouble(error) or type(error).__name__}")


def _job(task_id: str, skill: Skill, task: Mapping[str, Any]) -> dict[str, Any]:
    return {"task_id": task_id, "task_type": skill.task_type,
            **{name: task[name] for name in ("description", "params", "acceptance_checks", "eta_minutes")}}


def _checks(task: Mapping[str, Any]) -> dict[str, Any]:
    """The acceptance checks as they were read from the call: numbers are decimals."""
    checks = read(dumps(task["acceptance_checks"]))
    return checks if isinstance(checks, dict) else {}


def _begun(view: View, task_id: str) -> Plan:
    task = view.store.item(SOLD, task_id) or {}
    return Plan(writes=(
        replace(SOLD, task_id, task, {**task, "state": WORKING, "attempts": task["attempts"] + 1}),
        happened(task_id, format_instant(view.now()), "work begun")))


def _put_back(view: View, task_id: str) -> Plan:
    """The run that this server's own end cut off is not one."""
    task = view.store.item(SOLD, task_id) or {}
    return Plan(writes=(
        replace(SOLD, task_id, task, {**task, "state": ACCEPTED, "attempts": task["attempts"] - 1}),
        happened(task_id, format_instant(view.now()), "work put back: the server ended")))


def _done(view: View, task_id: str, result: Content) -> Plan:
    """The content's hash in the record, and the call that delivers it."""
    task = view.store.item(SOLD, task_id) or {}
    matter = Matter.of(task)
    verdict = judge(view, matter, PERFORMANCE_DECLARED, view.now(matter.transaction_id))
    repeated = task["round"] > 0 and verdict.decision is not Decision.DENY
    if not verdict.allows and not repeated:
        return _kept(view, task_id, task, result)
    scribe, sha256 = scribe_of(view, matter, verdict.at), sha256_hex(result.content.encode("utf-8"))
    evidence = scribe.evidence(
        EvidenceType.DELIVERY_CONFIRMATION, f"content delivered to the exchange, round {task['round']}", sha256,
        verified=True)
    row = {"url": task["deliver_url"], "json": result.document}
    waited = view.store.inbox_item(task["kept"]["item"]) if "kept" in task else None
    changed = {**{name: value for name, value in task.items() if name != "kept"}, "state": DELIVERING,
               "checks_run": [name for name in _CHECKS if name in task["acceptance_checks"]]}
    return Plan(
        transaction_id=matter.transaction_id,
        drafts=(scribe.decision(verdict), evidence) if verdict.allows else (evidence,),
        acts=(verdict.act,) if verdict.allows else (),
        writes=(
            replace(SOLD, task_id, task, changed),
            effect(DELIVER, task_id, task["round"], row, view.stamp()),
            *((item_moves(waited, "done"),) if waited is not None and waited.status == "open" else ()),
            happened(task_id, format_instant(verdict.at), "work done")))


def _kept(view: View, task_id: str, task: Mapping[str, Any], result: Content) -> Plan:
    """A result that may not be delivered now; the owner is told once."""
    first, at = "kept" not in task, format_instant(view.now())
    item = f"w{view.mint()[:10]}" if first else task["kept"]["item"]
    kept = {"result": result.document, "again_at": view.stamp() + AGAIN_SECONDS, "item": item}
    told = (
        tell(item, "work", task_id, at, "the work is done, and the mandate does not allow its delivery now: it is "
             "looked at again every minute, and at once with `member approve`", {"finished": True}),
        happened(task_id, at, "work done, and kept: the mandate does not allow the delivery now"))
    return Plan(writes=(
        replace(SOLD, task_id, dict(task), {**task, "state": FINISHED, "kept": kept}), *(told if first else ())))


def _failed(view: View, task_id: str, failure: WorkFailure) -> Plan:
    """Nothing is delivered; the owner is told. What the program wrote to standard error stays private."""
    task = view.store.item(SOLD, task_id) or {}
    at = format_instant(view.now())
    return Plan(writes=(
        replace(SOLD, task_id, task, {**task, "state": TASK_FAILED}),
        put("work_errors", task_id, {"at": at, "stderr": failure.errors}),
        tell(f"w{view.mint()[:10]}", "work", task_id, at, failure.reason),
        happened(task_id, at, f"work failed: {failure.reason}")))
