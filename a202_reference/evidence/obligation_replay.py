"""Where one obligation stands: its machine, replayed over the signed objects that name it (rules 6.3; A.3).

Rules this module applies:

- an obligation starts in the state its earliest held version carried at issue; the member is never trusted afterwards.
  It is issued as pending (D-39): another state tells of steps that are not here, and in a whole record of none;
- assertion: pending, due or rejected to asserted (an early assertion is legal, design overrides 6 and 7); an answer:
  asserted to accepted, and at once to discharged, or to rejected; a waiver: pending, due, asserted, rejected to waived;
- the order is causal and does not depend on the order in which objects are given: an answer follows its assertion,
  whatever the clocks of the two parties said; within one instant rejected assertions come first, an accepted one
  after them, an unanswered one after that, a waiver last;
- each later version's carried state is reachable from the one before it, or says more than the disclosed steps show,
  which is not checkable (D28).
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from a202_reference.codes import Code, Outcome
from a202_reference.evidence.entry import Entry
from a202_reference.evidence.inquiry import Inquiry
from a202_reference.evidence.report import VERIFIED, Judgement, failed, unknown
from a202_reference.lifecycle.obligation_state import MAY_ASSERT, MAY_WAIVE, ObligationState
from a202_reference.registries import ObjectType, ResponseType

_TERMINAL: Final = frozenset({
    ObligationState.DISCHARGED, ObligationState.WAIVED, ObligationState.EXPIRED, ObligationState.RELEASED})
_STATES: Final = {state.value: state for state in ObligationState}
_LEADS: Final = {
    ResponseType.ACCEPT.value: ObligationState.DISCHARGED,
    ResponseType.REJECT.value: ObligationState.REJECTED,
    ResponseType.WAIVE.value: ObligationState.WAIVED,
}
_NEVER: Final = datetime.max.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Replayed:
    """The state the facts lead to, whether every step was legal, and the assertion that led there."""

    state: str
    judgement: Judgement
    assertion: Entry | None


def replay(obligation: Entry, inquiry: Inquiry) -> Replayed:
    """Replay one obligation."""
    carried = obligation.text("state")
    state = _STATES.get(carried or "")
    if state is None:
        return Replayed("unknown", failed(Code.EVIDENCE_TRANSITION_ILLEGAL, "its carried state is none of its machine"),
                        None)
    judgement = _version_path(obligation, state, inquiry)
    assertion: Entry | None = None
    answered: set[str | None] = set()
    for fact in _facts(obligation, inquiry):
        named = fact.text("assertion_id")
        if fact.type is ObjectType.PERFORMANCE_EVENT:
            reached = ObligationState.ASSERTED if state in MAY_ASSERT or _told(state, carried, assertion) else None
            assertion = fact if reached else assertion
        else:
            reached = _answered(state, fact, assertion)
        if reached is None:
            odd = _odd(obligation, state, fact, named in answered, inquiry)
            judgement = judgement if judgement.outcome is Outcome.FAILED else odd
            reached = _led_to(fact) if odd.outcome is Outcome.NOT_CHECKABLE else state
        elif named is not None:
            answered.add(named)
        state = reached
    return Replayed(state.value, judgement, assertion)


def _odd(
    obligation: Entry, state: ObligationState, fact: Entry, again: bool, inquiry: Inquiry,
) -> Judgement:
    """A step that the machine does not have from here: a failure, unless steps that are not here could explain it."""
    named = fact.text("assertion_id")
    missing = named is not None and inquiry.index.get(named, ObjectType.PERFORMANCE_EVENT) is None
    if state in _TERMINAL or again or (inquiry.material.is_whole and not missing):
        return failed(
            Code.EVIDENCE_TRANSITION_ILLEGAL, f"{fact.subject} is no step that an obligation has from {state}")
    return unknown(f"{fact.subject} does not follow from {state} by what is here of {obligation.subject}")


def _led_to(fact: Entry) -> ObligationState:
    """Where a step leads that presupposes steps which are not here."""
    return _LEADS.get(str(fact.payload.get("response_type")), ObligationState.ASSERTED)


def _answered(state: ObligationState, response: Entry, assertion: Entry | None) -> ObligationState | None:
    kind = response.payload.get("response_type")
    if kind == ResponseType.WAIVE:
        return _LEADS[ResponseType.WAIVE] if state in MAY_WAIVE else None
    if state is not ObligationState.ASSERTED:
        return None
    if assertion is not None and response.payload.get("assertion_id") != assertion.id:
        return None
    return _LEADS.get(str(kind))


def _told(state: ObligationState, carried: str | None, assertion: Entry | None) -> bool:
    """The assertion beside an obligation that was issued as asserted is the step that its state tells of."""
    return state is ObligationState.ASSERTED and carried == "asserted" and assertion is None


def _facts(obligation: Entry, inquiry: Inquiry) -> list[Entry]:
    """The assertions and answers that name an obligation, in causal order."""
    if obligation.id is None:
        return []
    assertions = inquiry.naming.get((ObjectType.PERFORMANCE_EVENT, obligation.id), ())
    responses = inquiry.naming.get((ObjectType.OBLIGATION_RESPONSE, obligation.id), ())
    at = {entry.id: _instant(entry) for entry in assertions}
    answers = {response.text("assertion_id"): response
               for response in sorted(responses, key=lambda each: (_instant(each), each.subject), reverse=True)}

    def place(entry: Entry) -> tuple[datetime, int, str, int, str]:
        asserted = entry.id if entry.type is ObjectType.PERFORMANCE_EVENT else entry.text("assertion_id")
        own = _instant(entry)
        if entry.type is ObjectType.PERFORMANCE_EVENT:
            answer = answers.get(asserted) if asserted is not None else None
            together = answer is not None and max(_instant(answer), own) == own
            return own, _rank(answer) if together else 3, asserted or "", 0, entry.subject
        if asserted is None:
            return own, 4, "", 1, entry.subject
        moment = max(own, at.get(asserted, own))
        earlier = asserted in at and at[asserted] < moment
        return moment, 0 if earlier else _rank(entry), asserted, 1, entry.subject

    return sorted((*assertions, *responses), key=place)


def _rank(answer: Entry | None) -> int:
    return 1 if answer is not None and answer.payload.get("response_type") == ResponseType.REJECT else 2


def _instant(entry: Entry) -> datetime:
    return entry.created_at or _NEVER


def _issued_further(state: ObligationState, inquiry: Inquiry) -> Judgement:
    """Issued in another state than pending: by steps that are not here, or, where nothing is missing, by none."""
    if inquiry.material.is_whole:
        return failed(Code.EVIDENCE_TRANSITION_ILLEGAL, f"it is issued as {state}, and nothing led there")
    return unknown(f"it is issued as {state}, and the steps from pending to there are not here")


def _version_path(obligation: Entry, state: ObligationState, inquiry: Inquiry) -> Judgement:
    """A later version's carried state against that of the version before it."""
    before = inquiry.index.get(obligation.raw.get("previous_version_id"), ObjectType.OBLIGATION)
    if obligation.raw.get("previous_version_id") is None:
        return VERIFIED if state is ObligationState.PENDING else _issued_further(state, inquiry)
    if before is None:
        return unknown("the version before it is not here")
    earlier = _STATES.get(before.text("state") or "")
    if earlier in _TERMINAL and state is not earlier:
        return failed(Code.EVIDENCE_TRANSITION_ILLEGAL, f"{before.subject} had ended as {before.text('state')}")
    return VERIFIED if earlier is state else unknown("the steps between the two versions are not replayed")
