"""What the owner decides: holds, choices, deliveries, retries (spec 3 `approve`, 7.1 row 9, 7.3, 8).

Rules this module applies:

- an item is looked at and settled in one decision of the state; what refuses it leaves nothing behind;
- a revoked mandate stays revoked, whoever turns the switch at the same time;
- approving a held quote signs its approvals, and the exchange's next request is priced with them;
- approving a choice signs its approvals, verifies again, and chooses; what the mandate denies cannot be released;
- a mandate that another principal issued cannot be approved with the owner's key: its holds can only be rejected;
- a row of the outbox that gave up is tried now; everything else can be closed only.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import Any, Final

from a202_mcp.axp.book import happened
from a202_mcp.axp.buying import CHOICE, Offered
from a202_mcp.axp.choosing import choice, within_budget
from a202_mcp.axp.inbox_items import InboxItem, item_moves
from a202_mcp.axp.member import Member
from a202_mcp.axp.outbox_rows import enqueue, try_now
from a202_mcp.axp.record import Matter, judge, scribe_of
from a202_mcp.axp.updates import CHECK
from a202_mcp.axp.view import Plan, View
from a202_mcp.one_owner.ruling import overtaking
from a202_reference.codes import Decision
from a202_reference.lifecycle.acts import OFFER_ACCEPT
from a202_reference.times import format_instant, parse_instant


class RefusedError(Exception):
    """A rule refuses what the owner asked for. Its text says which, limits included: it is the owner's to read."""


def approve(member: Member, item: InboxItem) -> str:
    """Carry out what an item asks for; what was done. Raises RefusedError, KeyFileError."""
    with member.store.deciding():
        return _APPROVALS.get(item.kind, _nothing_to_approve)(member, _still_open(member, item))


def reject(member: Member, item: InboxItem) -> str:
    """Refuse or close an item; nothing is sent. Raises RefusedError."""
    with member.store.deciding():
        standing = _still_open(member, item)
        member.carry_out(lambda _: Plan(writes=(item_moves(standing, "rejected"),)))
    return "rejected"


def _still_open(member: Member, item: InboxItem) -> InboxItem:
    """The item as it is now."""
    found = member.store.inbox_item(item.id)
    if found is None or found.status != "open":
        raise RefusedError(f"it is {'gone' if found is None else found.status} already")
    return found


def _quote(member: Member, item: InboxItem) -> str:
    _open_owner_key(member, item)
    expires_at = parse_instant(item.body["expires_at"])
    member.carry_out(partial(_approvals, item=item, expires_at=expires_at, status="approved"))
    return "approved: it is offered when the exchange asks again"


def _choice(member: Member, item: InboxItem) -> str:
    if "offer" not in item.body:
        raise RefusedError("there is nothing to choose here")
    view = member.view
    if view.store.item(CHOICE, item.task_id) is not None:
        raise RefusedError("a choice was made for this task already")
    offer, matter = Offered.of(item.body["offer"]), Matter.of(item.body)
    verdict = judge(view, matter, OFFER_ACCEPT, view.now(matter.transaction_id))
    if verdict.decision is Decision.DENY:
        raise RefusedError(f"the mandate denies it: {verdict.reasons}")
    if verdict.decision is Decision.REQUIRE_APPROVAL:
        _open_owner_key(member, item)
        expires_at = verdict.at + timedelta(minutes=offer.eta_minutes, days=30)
        member.carry_out(partial(_approvals, item=item, expires_at=expires_at, status="open"))
    member.carry_out(partial(_chosen, item=item, offer=offer, matter=matter))
    return "chosen"


def _chosen(view: View, item: InboxItem, offer: Offered, matter: Matter) -> Plan:
    verdict = judge(view, matter, OFFER_ACCEPT, view.now(matter.transaction_id))
    if not verdict.allows:
        raise RefusedError("the approval does not release it: ask `member inbox` and try again")
    if not within_budget(view, offer.price, verdict.at):
        raise RefusedError(f"with it, today's choices are over daily_budget {view.settings.buyer.daily_budget}")
    plan = choice(view, item.task_id, offer, matter, verdict)
    return replace(plan, writes=(item_moves(item, "approved"), *plan.writes))


def _approvals(view: View, item: InboxItem, expires_at: Any, status: str) -> Plan:
    """One approval for each act that the matter needs."""
    matter = Matter.of(item.body)
    now = overtaking(view.store.holdings(matter.transaction_id), view.now(matter.transaction_id))
    scribe, at = scribe_of(view, matter, now), format_instant(now)
    hashes = [judge(view, matter, action, now).act.action_hash for action in item.body["actions"]]
    moves = () if status == item.status else (item_moves(item, status),)
    return Plan(
        transaction_id=matter.transaction_id,
        drafts=tuple(scribe.approval(view.identity, action_hash, format_instant(expires_at)) for action_hash in hashes),
        writes=(*moves, happened(item.task_id, at, "approved by the owner")))


def _delivery(member: Member, item: InboxItem) -> str:
    if "sha256" not in item.body:
        raise RefusedError("there is no hash to check: look at the delivery yourself")
    row = enqueue(CHECK, item.task_id, item.body["round"], {"sha256": item.body["sha256"]}, member.view.stamp())
    member.carry_out(lambda _: Plan(writes=(item_moves(item, "approved"), row)))
    return "the delivery is checked, and accepted where its hash is right"


def _outbox(member: Member, item: InboxItem) -> str:
    if "row" not in item.body:
        raise RefusedError("the exchange refused it: it cannot be tried again")
    member.carry_out(lambda view: Plan(writes=(
        item_moves(item, "approved"), try_now("id", item.body["row"], view.stamp()))))
    return "it is tried now"


def _nothing_to_approve(_: Member, item: InboxItem) -> str:
    raise RefusedError(f"a {item.kind} item asks for no approval: `member reject` closes it")


def _open_owner_key(member: Member, item: InboxItem) -> None:
    """The owner's key, where the mandate is the owner's."""
    identity = member.view.identity
    party = identity.party(str(item.body["use"]))
    mandate = None if party is None else member.workspace.mandate(party.mandate_id)
    if mandate is None or mandate["issuer"]["key_id"] != identity.owner_key_id:
        raise RefusedError("the mandate is not issued with the owner's key here: its holds can only be rejected")
    if member.workspace.keyring.signer(identity.owner_key_id) is None:
        member.approve_with(member.owner())


_APPROVALS: Final[Mapping[str, Callable[[Member, InboxItem], str]]] = {
    "quote": _quote, "choice": _choice, "delivery": _delivery, "outbox": _outbox}
