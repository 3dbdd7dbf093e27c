"""What the owner decides: holds, choices, deliveries, retries (spec 3 `approve`, 7.1 row 9, 7.3, 8).

Rules this module applies:

- each decision is one commit: the item's status, the approvals and what they release, read and written while nobody
  else writes. Of an approval and a rejection only the first counts, and what refuses one leaves nothing behind;
- approving a held quote signs its approvals, and the exchange's next request is priced with them;
- approving a choice signs its approvals, verifies again with them, and chooses exactly what waited; what the mandate
  denies, or the day's budget does not hold any more, cannot be released;
- a mandate that another principal issued cannot be approved with the owner's key: its holds can only be rejected;
- a delivery is looked at once more, as long as it is of the latest round and was not accepted; the owner's approval of
  what may follow is signed where the mandate asks for it;
- a row of the outbox that gave up is tried now, and dropped where it is rejected; so is work that is done and kept,
  since the mandate did not allow its delivery; everything else can be closed only.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, Final

from a202_mcp.axp.book import happened
from a202_mcp.axp.book import replace as replaced
from a202_mcp.axp.buying import CHOICE
from a202_mcp.axp.capacity import FINISHED, SOLD, TASK_FAILED
from a202_mcp.axp.choosing import ACCEPTED_STATE, ACCEPTING, Pick, choice, left_today
from a202_mcp.axp.consequences import CHECK
from a202_mcp.axp.endings import again, dropped
from a202_mcp.axp.inbox_items import InboxItem, item_moves
from a202_mcp.axp.mandates import BUYER_ACTIONS
from a202_mcp.axp.member import Member
from a202_mcp.axp.outbox_rows import Row, step
from a202_mcp.axp.record import Matter, judge, scribe_of
from a202_mcp.axp.view import Plan, View
from a202_mcp.one_owner.book import Write
from a202_mcp.one_owner.ruling import Ruling, overtaking
from a202_reference.codes import Decision, Refusal
from a202_reference.documents.envelope import Approval
from a202_reference.lifecycle.acts import ACCEPTANCE_GRANTED, ACCEPTANCE_REJECTED, OFFER_ACCEPT
from a202_reference.times import format_instant

_RELEASED_FOR: Final = timedelta(days=30)
"""How long after the task's time an approval still releases."""


class RefusedError(Exception):
    """A rule refuses what the owner asked for. Its text says which, limits included: it is the owner's to read."""


def approve(member: Member, item: InboxItem) -> str:
    """Carry out what an item asks for; what was done. Raises RefusedError, KeyFileError."""
    return _decided(member, item, lambda view, open_item: _APPROVALS.get(item.kind, _nothing)(member, view, open_item))


def reject(member: Member, item: InboxItem) -> str:
    """Refuse or close an item; nothing of it is sent. Raises RefusedError."""
    return _decided(member, item, _rejected)


def _decided(member: Member, item: InboxItem, decide: Callable[[View, InboxItem], Plan]) -> str:
    def made(view: View) -> Plan:
        now = view.store.inbox_item(item.id)
        if now is None or now.status != "open":
            raise RefusedError(f"it is {'gone' if now is None else now.status} already")
        return decide(view, now)

    return str(member.carry_out(made).answer["done"])


def _rejected(view: View, item: InboxItem) -> Plan:
    row, task = _row(view, item), _finished(view, item)
    ended = () if task is None else (replaced(SOLD, item.task_id, task, {
        **{name: value for name, value in task.items() if name != "kept"}, "state": TASK_FAILED}),)
    return Plan({"done": "rejected"}, writes=(
        item_moves(item, "rejected"), *(dropped(view, row) if row else ()), *ended))


def _quote(member: Member, view: View, item: InboxItem) -> Plan:
    matter = Matter.of(item.body)
    verdict, signed = _released(member, view, matter, item.body["actions"])
    return Plan(
        {"done": "approved: it is offered when the exchange asks again"}, transaction_id=matter.transaction_id,
        signed=signed, writes=(item_moves(item, "approved"), _approved(item, verdict.at)))


def _choice(member: Member, view: View, item: InboxItem) -> Plan:
    if "offer" not in item.body or "choose_url" not in item.body:
        raise RefusedError("there is nothing to choose here")
    if view.store.item(CHOICE, item.task_id) is not None:
        raise RefusedError("a choice was made for this task already")
    pick = Pick.of(item.body)
    allowed = judge(view, pick.matter, OFFER_ACCEPT, view.now(pick.matter.transaction_id))
    verdict, signed = (allowed, ()) if allowed.allows else _released(member, view, pick.matter, BUYER_ACTIONS)
    left = left_today(view, verdict.at)
    if left is not None and pick.offer.price > left:
        raise RefusedError(f"with it, today's choices are over daily_budget {view.settings.buyer.daily_budget}")
    plan = choice(view, item.task_id, pick, verdict)
    return replace(plan, answer={"done": "chosen"}, signed=signed,
                   writes=(item_moves(item, "approved"), _approved(item, verdict.at), *plan.writes))


def _released(
    member: Member, view: View, matter: Matter, actions: Sequence[str],
) -> tuple[Ruling, tuple[Mapping[str, Any], ...]]:
    """What the mandate says of the first action with the owner's approvals, and those. Raises RefusedError."""
    holdings = view.store.holdings(matter.transaction_id)
    now = overtaking(holdings, view.now(matter.transaction_id))
    held = [judge(view, matter, action, now) for action in actions]
    denied = next((verdict for verdict in held if verdict.decision is Decision.DENY), None)
    if denied is not None:
        raise RefusedError(f"the mandate denies it: {denied.reasons}")
    _open_owner_key(member, view, matter.use)
    expires_at = now + timedelta(minutes=matter.terms["profile_terms"]["eta_minutes"]) + _RELEASED_FOR
    scribe = scribe_of(view, matter, now)
    signed = view.workspace.signed(
        [scribe.approval(view.identity, verdict.act.action_hash, format_instant(expires_at)) for verdict in held],
        holdings)
    if isinstance(signed, Refusal):
        raise RefusedError(signed.detail)
    verdict = judge(view, matter, actions[0], now, [Approval.of(each) for each in signed])
    if not verdict.allows:
        raise RefusedError(f"the approval does not release it: {verdict.reasons}")
    return verdict, signed


def _delivery(member: Member, view: View, item: InboxItem) -> Plan:
    task = view.store.item(CHOICE, item.task_id)
    if "sha256" not in item.body or task is None:
        raise RefusedError("there is no hash to check: look at the delivery yourself")
    if task["round"] != item.body["round"]:
        raise RefusedError("another round was asked for since: this delivery counts no more")
    if task["state"] in (ACCEPTING, ACCEPTED_STATE):
        raise RefusedError(f"it is {task['state']} already")
    matter = Matter.of(task)
    now = view.now(matter.transaction_id)
    held = [each for each in (ACCEPTANCE_GRANTED, ACCEPTANCE_REJECTED) if not judge(view, matter, each, now).allows]
    signed = _released(member, view, matter, held)[1] if held else ()
    row = step(CHECK, item.task_id, item.body["round"], {"sha256": item.body["sha256"]}, view.stamp())
    return Plan({"done": "the delivery is checked, and accepted where its hash is right"},
                transaction_id=matter.transaction_id, signed=signed,
                writes=(item_moves(item, "approved"), _approved(item, now), row))


def _outbox(_: Member, view: View, item: InboxItem) -> Plan:
    row = _row(view, item)
    tried = None if row is None else again(view, row)
    if tried is None:
        raise RefusedError("the exchange refused it: it cannot be tried again; `member reject` closes it")
    return Plan({"done": "it is tried now, and waits here until it has arrived"}, writes=tried)


def _work(member: Member, view: View, item: InboxItem) -> Plan:
    task = _finished(view, item)
    if task is None:
        return _nothing(member, view, item)
    now = {**task, "kept": {**task["kept"], "again_at": 0}}
    return Plan({"done": "the mandate is asked again now; it waits here until it is delivered"},
                writes=(replaced(SOLD, item.task_id, task, now),))


def _finished(view: View, item: InboxItem) -> dict[str, Any] | None:
    """The task whose kept result an item is about."""
    task = view.store.item(SOLD, item.task_id) if item.body.get("finished") else None
    return task if task is not None and task["state"] == FINISHED else None


def _nothing(_: Member, __: View, item: InboxItem) -> Plan:
    raise RefusedError(f"a {item.kind} item asks for no approval: `member reject` closes it")


def _row(view: View, item: InboxItem) -> Row | None:
    """The row of the outbox that an item is about."""
    named = item.body.get("row") if item.kind == "outbox" else None
    return None if named is None else view.store.row(named)


def _approved(item: InboxItem, now: datetime) -> Write:
    return happened(item.task_id, format_instant(now), "approved by the owner")


def _open_owner_key(member: Member, view: View, use: str) -> None:
    """The owner's key, where the mandate is the owner's."""
    identity, party = view.identity, view.identity.party(use)
    mandate = None if party is None else view.workspace.mandate(party.mandate_id)
    if mandate is None or mandate["issuer"]["key_id"] != identity.owner_key_id:
        raise RefusedError("the mandate is not issued with the owner's key here: its holds can only be rejected")
    if view.workspace.keyring.signer(identity.owner_key_id) is None:
        member.approve_with(member.owner())


_APPROVALS: Final[Mapping[str, Callable[[Member, View, InboxItem], Plan]]] = {
    "quote": _quote, "choice": _choice, "delivery": _delivery, "outbox": _outbox, "work": _work}
