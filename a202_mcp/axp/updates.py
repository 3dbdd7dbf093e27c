"""task_update: what the exchange says of a task, and what follows from it (spec 7.4; requirements A69 to A71, A85).

Rules this module applies:

- received is true for any status and any extra member; a statement counts once, by status, event, data and hash. A
  reminder in the same words counts again once no replay of it can be among us any more;
- a reminder repeats the step that its status stands for, where that is not done: the step itself knows. Calls that gave
  up are tried sooner; a wait between attempts, or one that the exchange asked for, is not shortened;
- what cannot have an effect because it was said before, and may be meant anew, is shown to the owner;
- only tasks we know have effects; others are kept as notes. What the exchange says is evidence of its statement and
  moves no state of the record;
- settlements, escalations, appeals and texts are shown to the owner and never followed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final, TypeAlias

from a202_mcp.axp.arguments import Call
from a202_mcp.axp.book import happened, insert
from a202_mcp.axp.book import replace as replace_item
from a202_mcp.axp.buying import CHOICE
from a202_mcp.axp.capacity import ACCEPTED, DELIVERED, DELIVERING, SOLD, WORKING
from a202_mcp.axp.choosing import ACCEPTED_STATE, ACCEPTING, CHOOSING, CHOSEN
from a202_mcp.axp.inbox_items import close_items, tell
from a202_mcp.axp.outbox_rows import effect, hurry, step
from a202_mcp.axp.reading import fingerprint, walk
from a202_mcp.axp.record import Matter, scribe_of, statement
from a202_mcp.axp.view import Plan, View
from a202_mcp.one_owner.book import Write
from a202_mcp.one_owner.scribe import fresh_salt
from a202_reference.identifiers import is_sha256_hex
from a202_reference.times import format_instant, parse_instant

CHECK, REQUEST_PAYMENT = "check", "request_payment"
REMINDER: Final = "reminder"
REPLAYED_WITHIN: Final = timedelta(seconds=600)
"""A signed call passes from 300 s before its timestamp to 300 s after it."""
_SOONER: Final = 240.0
"""Seconds by which a reminder brings a row forward that is tried every 300: a Retry-After of 60 is still kept."""
TOLD_KEPT: Final = 4
"""How many of the last stated deliveries are kept as facts for a mediator."""
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

    def shown(self, item_kind: str, detail: str, body: Mapping[str, Any] | None = None) -> Write:
        """The statement in the inbox."""
        return tell(f"u{self.view.mint()[:10]}", item_kind, self.call.task_id, self.at, detail, body)

    def changed(self, **members: Any) -> Write:
        """The task with other members."""
        return replace_item(self.kind, self.call.task_id, self.task, {**self.task, **members})


_Effect: TypeAlias = Callable[[_Told], tuple[Write, ...]]


def task_update(view: View, call: Call) -> Plan:
    """Received; and what follows."""
    if call.test:
        return Plan(_RECEIVED)
    sold, chosen = view.store.item(SOLD, call.task_id), view.store.item(CHOICE, call.task_id)
    kind, task = (SOLD, sold) if sold is not None else (CHOICE, chosen)
    matter = None if task is None else Matter.of(task)
    now = view.now(None if matter is None else matter.transaction_id)
    told = None if task is None else _Told(view, call, kind, task, format_instant(now))
    counted, key = "note" if told is None else "update", f"{call.task_id}:{_mark(call)}"
    before = view.store.item(counted, key)
    if before is not None and not (event_word(call) == REMINDER and _is_new(before, now)):
        return Plan(_RECEIVED, writes=_repeated(told) if told else ())
    noted = replace_item(counted, key, before, {"status": call.text("status"), "at": format_instant(now)})
    if told is None or matter is None:
        return Plan(_RECEIVED, writes=(noted,))
    stated = f"the exchange stated: {_known(call)}"
    random = fresh_salt()
    said = statement(scribe_of(view, matter, now), stated, random, call.raw)
    return Plan(
        _RECEIVED, transaction_id=matter.transaction_id, drafts=(said,),
        writes=(noted, insert("salt", said.id, {"salt": random.hex()}), happened(call.task_id, told.at, stated),
                *_effects(told)))


def event_word(call: Call) -> str:
    """What the update is about: a known event, else its status."""
    event = call.text("event")
    return event if event is not None and event in _EVENTS else str(call.arguments["status"])


def _known(call: Call) -> str:
    """The statement in our own words."""
    word, status = event_word(call), str(call.arguments["status"])
    if word == REMINDER:
        return f"reminder of {status if status in _SELLER else 'another status'}"
    return word if word in _SELLER else "another status"


def _is_new(before: Mapping[str, Any], now: datetime) -> bool:
    """True where a reminder that counted cannot be replayed any more."""
    at = parse_instant(before["at"])
    return at is not None and now - at > REPLAYED_WITHIN


def _effects(told: _Told) -> tuple[Write, ...]:
    """What follows from a statement that counts."""
    effects = _SELLER if told.seller else _BUYER
    word = event_word(told.call)
    if word != REMINDER:
        return effects.get(word, _nothing)(told)
    again = {**effects, "redo_requested": _redo_reminded if told.seller else _nothing}
    return (hurry(told.call.task_id, told.view.stamp(), _SOONER),
            *again.get(str(told.call.arguments["status"]), _nothing)(told))


def _repeated(told: _Told) -> tuple[Write, ...]:
    """A redo that is asked for in words that counted already: the owner is told, once for each round."""
    if event_word(told.call) != "redo_requested" or not told.seller:
        return ()
    return _redo_reminded(told)


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
    word = _known(told.call)
    kind = "message" if word.endswith("message") else "dispute"
    return (told.shown(kind, f"{word}: {_text(told.call)}"),)


def _paid_out(told: _Told) -> tuple[Write, ...]:
    """The buyer accepted: ask for the payment, once."""
    if not told.task["paid"]:
        return ()
    return (effect(REQUEST_PAYMENT, told.call.task_id, 0, {"json": {}}, told.view.stamp()),)


def _redo(told: _Told) -> tuple[Write, ...]:
    """One more round within the guarantee."""
    guarantee, round_ = told.task["guarantee"], told.task["round"]
    if guarantee and round_ < guarantee["free_redo"] and told.task["state"] in (DELIVERED, DELIVERING):
        return (told.changed(state=ACCEPTED, round=round_ + 1, attempts=0),)
    return (told.shown("work", "redo_requested beyond what is guaranteed, or before a delivery"),)


def _redo_reminded(told: _Told) -> tuple[Write, ...]:
    """Whether a round is meant that was not made, the owner sees."""
    round_ = told.task["round"]
    if told.task["state"] in (ACCEPTED, WORKING):
        return ()
    return (tell(f"r{fingerprint([told.call.task_id, round_])[:10]}", "work", told.call.task_id, told.at,
                 f"redo_requested again, as a reminder or in words that counted before; rounds made anew: {round_}"),)


def _delivered(told: _Told) -> tuple[Write, ...]:
    """A delivery to us: check it, or show it. What is accepted already stays so."""
    task, round_ = told.task, told.task["round"]
    before = [each for each in task.get("deliveries", ()) if each["round"] == round_]
    reminded = event_word(told.call) == REMINDER and before
    sha256 = stated_hash(told.call) or (before[-1]["sha256"] if reminded else None)
    stated = {"round": round_, "at": told.at, "sha256": sha256}
    changed = () if reminded and before[-1]["sha256"] == sha256 else (
        told.changed(deliveries=[*task.get("deliveries", ()), stated][-TOLD_KEPT:]),)
    if task["state"] in (ACCEPTING, ACCEPTED_STATE):
        return changed
    if sha256 is None:
        return (*changed, *_shown(told, "delivered without a usable hash: check it yourself", {"round": round_}))
    if told.view.settings.buyer.accept == "person":
        body = {"sha256": sha256, "round": round_}
        return (*changed, *_shown(told, "delivered: approve it to check the hash and accept", body))
    return (*changed, step(CHECK, told.call.task_id, round_, {"sha256": sha256}, told.view.stamp()))


def _shown(told: _Told, detail: str, body: Mapping[str, Any]) -> tuple[Write, ...]:
    """A delivery waits for the owner, in place of what waits; nothing where it is this one."""
    waiting = told.view.store.inbox_about("delivery", told.call.task_id)
    if any(item.status == "open" and item.detail == detail and item.body == body for item in waiting):
        return ()
    return close_items("delivery", told.call.task_id, "superseded"), told.shown("delivery", detail, body)


def _another_round(told: _Told) -> tuple[Write, ...]:
    """What was accepted or disputed was of the round before."""
    state = told.task["state"] if told.task["state"] == CHOOSING else CHOSEN
    return (told.changed(round=told.task["round"] + 1, state=state),)


def _text(call: Call) -> str:
    """The exchange's text, as data for the owner."""
    texts = [node for node, _ in walk(call.arguments.get("data")) if isinstance(node, str)]
    return "; ".join(texts)[:1900] or "no text"


_COMMON: Final[Mapping[str, _Effect]] = {
    "paid": _nothing, "released": _nothing, "refunded": _nothing,
    "disputed": _to_inbox, "mediation_decided": _to_inbox, "settlement_proposed": _to_inbox, "message": _to_inbox,
}
_SELLER: Final[Mapping[str, _Effect]] = {
    **_COMMON, "delivered": _nothing, "accepted": _paid_out, "redo_requested": _redo}
_BUYER: Final[Mapping[str, _Effect]] = {
    **_COMMON, "delivered": _delivered, "accepted": _nothing, "redo_requested": _another_round}
_EVENTS: Final = frozenset(_SELLER) | {REMINDER}
"""The words that count also where they stand in `event`."""
