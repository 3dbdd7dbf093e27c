"""task_update: what the exchange says of a task, and what follows from it (spec 7.4; requirements A69 to A71, A85).

Rules this module applies:

- received is true for any status and any extra member; a statement counts once, by status, event, data and hash;
- only tasks we know have effects; others are kept as notes. What the exchange says is evidence of its statement and
  moves no state of the record;
- settlements, escalations, appeals and texts are shown to the owner and never followed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from a202_mcp.axp.arguments import Call
from a202_mcp.axp.book import happened, insert, replace
from a202_mcp.axp.buying import CHOICE
from a202_mcp.axp.capacity import ACCEPTED, DELIVERED, DELIVERING, SOLD
from a202_mcp.axp.inbox_items import tell
from a202_mcp.axp.outbox_rows import enqueue, try_now
from a202_mcp.axp.reading import fingerprint
from a202_mcp.axp.record import Matter, scribe_of, statement
from a202_mcp.axp.view import Plan, View
from a202_mcp.one_owner.book import Write
from a202_mcp.one_owner.scribe import fresh_salt
from a202_reference.identifiers import is_sha256_hex
from a202_reference.times import format_instant

CHECK, REQUEST_PAYMENT = "check", "request_payment"
_RECEIVED: Final = {"received": True}


@dataclass(frozen=True, slots=True)
class _Told:
    """One new statement about a task of ours."""

    view: View
    call: Call
    kind: str
    task: Mapping[str, Any]
    at: str

    @property
    def seller(self) -> bool:
        return self.kind == SOLD

    def shown(self, item_kind: str, detail: str) -> Write:
        """The statement in the inbox."""
        return tell(f"u{self.view.mint()[:10]}", item_kind, self.call.task_id, self.at, detail)

    def changed(self, **members: Any) -> Write:
        """The task with other members."""
        return replace(self.kind, self.call.task_id, self.task, {**self.task, **members})


_Effect: TypeAlias = Callable[[_Told], tuple[Write, ...]]


def task_update(view: View, call: Call) -> Plan:
    """Received; and what follows."""
    if call.test:
        return Plan(_RECEIVED)
    word = event_word(call)
    if word == "reminder":
        return Plan(_RECEIVED, writes=(try_now("task_id", call.task_id, view.stamp()),))
    key = f"{call.task_id}:{_mark(call)}"
    if view.store.item("update", key) is not None:
        return Plan(_RECEIVED)
    sold, chosen = view.store.item(SOLD, call.task_id), view.store.item(CHOICE, call.task_id)
    kind, task = (SOLD, sold) if sold is not None else (CHOICE, chosen)
    matter = None if task is None else Matter.of(task)
    now = view.now(None if matter is None else matter.transaction_id)
    at = format_instant(now)
    noted = insert("update", key, {"status": call.text("status"), "at": at})
    if task is None or matter is None:
        return Plan(_RECEIVED, writes=(noted,))
    told = _Told(view, call, kind, task, at)
    effect = (_SELLER if told.seller else _BUYER).get(word)
    stated = f"the exchange stated: {word if word in _SELLER else 'another status'}"
    random = fresh_salt()
    said = statement(scribe_of(view, matter, now), stated, random, call.raw)
    return Plan(
        _RECEIVED, transaction_id=matter.transaction_id, drafts=(said,),
        writes=(noted, insert("salt", said.id, {"salt": random.hex()}), happened(call.task_id, at, stated),
                *(effect(told) if effect else ())))


def event_word(call: Call) -> str:
    """What the update is about: a known event, else its status."""
    event = call.text("event")
    return event if event is not None and event in _EVENTS else str(call.arguments["status"])


def stated_hash(call: Call) -> str | None:
    """The delivered content's hash as stated, or None."""
    stated = call.mapping("deliverable").get("sha256")
    lowered = stated.lower() if isinstance(stated, str) else None
    return lowered if is_sha256_hex(lowered) else None


def _mark(call: Call) -> str:
    return fingerprint([call.arguments.get("status"), call.arguments.get("event"), call.arguments.get("data"),
                        call.mapping("deliverable").get("sha256")])


def _nothing(_: _Told) -> tuple[Write, ...]:
    return ()


def _to_inbox(told: _Told) -> tuple[Write, ...]:
    word = event_word(told.call)
    kind = "message" if word == "message" else "dispute"
    return (told.shown(kind, f"{word}: {_text(told.call)}"),)


def _paid_out(told: _Told) -> tuple[Write, ...]:
    """The buyer accepted: ask for the payment, once."""
    if not told.task["paid"]:
        return ()
    return (enqueue(REQUEST_PAYMENT, told.call.task_id, 0, {"json": {}}, told.view.stamp()),)


def _redo(told: _Told) -> tuple[Write, ...]:
    """One more round within the guarantee."""
    guarantee, round_ = told.task["guarantee"], told.task["round"]
    if guarantee and round_ < guarantee["free_redo"] and told.task["state"] in (DELIVERED, DELIVERING):
        return (told.changed(state=ACCEPTED, round=round_ + 1, attempts=0),)
    return (told.shown("work", "redo_requested beyond what is guaranteed, or before a delivery"),)


def _delivered(told: _Told) -> tuple[Write, ...]:
    """A delivery to us: check it, or show it."""
    sha256 = stated_hash(told.call)
    changed = told.changed(sha256=sha256, delivered_at=told.at)
    if sha256 is None:
        return (changed, told.shown("delivery", "delivered without a usable hash: check it yourself"))
    body = {"sha256": sha256}
    if told.view.settings.buyer.accept == "person":
        item = tell(f"d{told.view.mint()[:10]}", "delivery", told.call.task_id, told.at,
                    "delivered: approve it to check the hash and accept", {**body, "round": told.task["round"]})
        return changed, item
    return changed, enqueue(CHECK, told.call.task_id, told.task["round"], body, told.view.stamp())


def _another_round(told: _Told) -> tuple[Write, ...]:
    return (told.changed(round=told.task["round"] + 1),)


def _text(call: Call) -> str:
    """The exchange's text, as data for the owner."""
    data = call.arguments.get("data")
    texts = [value for value in data.values() if isinstance(value, str)] if isinstance(data, dict) else \
        [data] if isinstance(data, str) else []
    return "; ".join(texts)[:1900] or "no text"


_COMMON: Final[Mapping[str, _Effect]] = {
    "paid": _nothing, "released": _nothing, "refunded": _nothing,
    "disputed": _to_inbox, "mediation_decided": _to_inbox, "settlement_proposed": _to_inbox, "message": _to_inbox,
}
_SELLER: Final[Mapping[str, _Effect]] = {
    **_COMMON, "delivered": _nothing, "accepted": _paid_out, "redo_requested": _redo}
_BUYER: Final[Mapping[str, _Effect]] = {
    **_COMMON, "delivered": _delivered, "accepted": _nothing, "redo_requested": _another_round}
_EVENTS: Final = frozenset(_SELLER) | {"reminder"}
"""The words that count also where they stand in `event`."""
