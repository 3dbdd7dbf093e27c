"""What follows from a statement of the exchange about a task of ours (axp 7.4; requirements A65, A66, A70, A85).

Rules this module applies:

- one table per side says what a word leads to. Settlements, escalations, appeals and texts are shown to the owner and
  never followed;
- a reminder repeats the step that its status stands for, where that is not done: the step itself knows. Calls that gave
  up are tried sooner; a wait between attempts, or one that the exchange asked for, is not shortened;
- what has no effect because it was said before, and may be meant anew, is shown to the owner once for each round.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias

from a202_mcp.axp.capacity import ACCEPTED, DELIVERED, DELIVERING, WORKING
from a202_mcp.axp.choosing import ACCEPTED_STATE, ACCEPTING, CHOOSING, CHOSEN
from a202_mcp.axp.inbox_items import close_items, tell
from a202_mcp.axp.outbox_rows import effect, hurry, step
from a202_mcp.axp.reading import fingerprint
from a202_mcp.axp.told import REDO, REMINDER, Told, event_word, own_words, shown_text, stated_hash
from a202_mcp.one_owner.book import Write

CHECK, REQUEST_PAYMENT = "check", "request_payment"
TOLD_KEPT: Final = 4
"""How many of the last stated deliveries are kept as facts for a mediator."""
_SOONER: Final = 240.0
"""Seconds by which a reminder brings a row forward that is tried every 300: a Retry-After of 60 is still kept."""

_Effect: TypeAlias = Callable[[Told], tuple[Write, ...]]


def follows(told: Told) -> tuple[Write, ...]:
    """What follows from a statement that counts."""
    effects = _SELLER if told.seller else _BUYER
    word = event_word(told.call)
    if word != REMINDER:
        return effects.get(word, _nothing)(told)
    again = {**effects, REDO: _redo_reminded if told.seller else _nothing}
    return (hurry(told.call.task_id, told.view.stamp(), _SOONER),
            *again.get(str(told.call.arguments["status"]), _nothing)(told))


def repeated(told: Told) -> tuple[Write, ...]:
    """A redo that is asked for in words that counted already: the owner is told, once for each round."""
    if event_word(told.call) != REDO or not told.seller:
        return ()
    return _redo_reminded(told)


def _nothing(_: Told) -> tuple[Write, ...]:
    return ()


def _to_inbox(told: Told) -> tuple[Write, ...]:
    word = own_words(told.call)
    kind = "message" if word.endswith("message") else "dispute"
    return (told.shown(kind, f"{word}: {shown_text(told.call)}"),)


def _paid_out(told: Told) -> tuple[Write, ...]:
    """The buyer accepted: ask for the payment, once."""
    if not told.task["paid"]:
        return ()
    return (effect(REQUEST_PAYMENT, told.call.task_id, 0, {"json": {}}, told.view.stamp()),)


def _redo(told: Told) -> tuple[Write, ...]:
    """One more round within the guarantee."""
    guarantee, round_ = told.task["guarantee"], told.task["round"]
    if guarantee and round_ < guarantee["free_redo"] and told.task["state"] in (DELIVERED, DELIVERING):
        return (told.changed(state=ACCEPTED, round=round_ + 1, attempts=0),)
    return (told.shown("work", "redo_requested beyond what is guaranteed, or before a delivery"),)


def _redo_reminded(told: Told) -> tuple[Write, ...]:
    """Whether a round is meant that was not made, the owner sees."""
    round_ = told.task["round"]
    if told.task["state"] in (ACCEPTED, WORKING):
        return ()
    return (tell(f"r{fingerprint([told.call.task_id, round_])[:10]}", "work", told.call.task_id, told.at,
                 f"redo_requested again, as a reminder or in words that counted before; rounds made anew: {round_}"),)


def _delivered(told: Told) -> tuple[Write, ...]:
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


def _shown(told: Told, detail: str, body: Mapping[str, Any]) -> tuple[Write, ...]:
    """A delivery waits for the owner, in place of what waits; nothing where it is this one."""
    waiting = told.view.store.inbox_about("delivery", told.call.task_id)
    if any(item.status == "open" and item.detail == detail and item.body == body for item in waiting):
        return ()
    return close_items("delivery", told.call.task_id, "superseded"), told.shown("delivery", detail, body)


def _another_round(told: Told) -> tuple[Write, ...]:
    """What was accepted or disputed was of the round before."""
    state = told.task["state"] if told.task["state"] == CHOOSING else CHOSEN
    return (told.changed(round=told.task["round"] + 1, state=state),)


_COMMON: Final[Mapping[str, _Effect]] = {
    "paid": _nothing, "released": _nothing, "refunded": _nothing,
    "disputed": _to_inbox, "mediation_decided": _to_inbox, "settlement_proposed": _to_inbox, "message": _to_inbox,
}
_SELLER: Final[Mapping[str, _Effect]] = {
    **_COMMON, "delivered": _nothing, "accepted": _paid_out, REDO: _redo}
_BUYER: Final[Mapping[str, _Effect]] = {
    **_COMMON, "delivered": _delivered, "accepted": _nothing, REDO: _another_round}
