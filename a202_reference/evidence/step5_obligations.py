"""Step 5, obligations: who answered, what was left over, where each stands (rules 6.3, 8; D-26, D-36).

Rules this module applies:

- an assertion is the obligor's, in the unit owed, with evidence; an answer is the obligee's
  (`A202-OBLIGATION-RESPONSE-UNAUTHORIZED`); a short acceptance names a remainder over exactly what is missing, with the
  same agreement, subject, unit and parties (`A202-OBLIGATION-REMAINDER-MISSING`); nothing is accepted beyond what was
  asserted, or asserted beyond what is owed (`A202-TERMS-INVALID`);
- an obligation's facts are the signed objects that name it, replayed in causal order from the state it carried when it
  was issued (`A202-EVIDENCE-TRANSITION-ILLEGAL` for a step its machine does not have). Within one instant an answer
  follows its assertion, and what ends the obligation comes last;
- obligations do not wait for each other in a loop (`A202-OBLIGATION-CONDITION-CYCLIC`);
- the act of an obligation, assertion or answer without event has the same guard as the event would have; an obligation
  without event is signed by both parties.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, TypeVar

from a202_reference.codes import Code, Outcome, Refusal
from a202_reference.documents.envelope import Assertion, Obligation
from a202_reference.evidence.decisions import Decisions
from a202_reference.evidence.entry import Entry
from a202_reference.evidence.guarding import all_of, assertion_guard, obligation_guard, response_guard, signed_by
from a202_reference.evidence.inquiry import Inquiry
from a202_reference.evidence.obligation_replay import replay
from a202_reference.evidence.report import VERIFIED, Judgement, failed, unknown
from a202_reference.gate.reading import items
from a202_reference.lifecycle.due import discharge_targets, has_cycle
from a202_reference.lifecycle.obligations import acceptance_fault, asserted_fault
from a202_reference.registries import ObjectType, ResponseType

_View = TypeVar("_View")
_MALFORMED: Final = failed(Code.TERMS_INVALID, "an object that it rests on is not of its shape")


def check(inquiry: Inquiry, decisions: Decisions) -> None:
    """Run these checks over every obligation, assertion and response."""
    for assertion in inquiry.index.of(ObjectType.PERFORMANCE_EVENT):
        inquiry.add(5, "assertion_authority", assertion.subject, assertion_authority(assertion, inquiry))
    for response in inquiry.index.of(ObjectType.OBLIGATION_RESPONSE):
        inquiry.add(5, "response_authority", response.subject, response_authority(response, inquiry))
        if response.payload.get("response_type") == ResponseType.ACCEPT:
            inquiry.add(5, "remainder_exact", response.subject, remainder_exact(response, inquiry))
    for obligation in inquiry.index.of(ObjectType.OBLIGATION):
        inquiry.add(5, "obligation_replay", obligation.subject, replay(obligation, inquiry).judgement)
    _cycles(inquiry)
    for kind, (name, own_guard) in _GUARDS.items():
        for entry in inquiry.index.of(kind):
            if not decisions.recorded(entry):
                inquiry.add(5, name(entry), entry.subject, own_guard(entry, inquiry))


def assertion_authority(assertion: Entry, inquiry: Inquiry) -> Judgement:
    """The obligor asserts, in the unit owed, no more than is owed, with evidence."""
    if not items(assertion.payload.get("evidence_refs")):
        return failed(Code.OBLIGATION_ASSERTION_UNEVIDENCED, "performance is asserted without evidence")
    obligation = inquiry.find(assertion.payload.get("obligation_id"), ObjectType.OBLIGATION)
    if obligation is None:
        return unknown("the obligation is not here")
    if assertion.author.organization_id != obligation.party("obligor").organization_id:
        return failed(Code.EVIDENCE_TRANSITION_ILLEGAL, "it is not by the obligor")
    if assertion.payload.get("unit_code") != obligation.payload.get("unit_code"):
        return failed(Code.OBLIGATION_TERMS_MUTATED, "it is in another unit than is owed")
    view = _view(obligation, Obligation.of, inquiry)
    if view is None:
        return _MALFORMED
    return _said(asserted_fault(view, assertion.text("asserted_quantity") or ""))


def response_authority(response: Entry, inquiry: Inquiry) -> Judgement:
    """The obligee answers."""
    obligation = inquiry.find(response.payload.get("obligation_id"), ObjectType.OBLIGATION)
    if obligation is None:
        return unknown("the obligation is not here")
    obligee = obligation.party("obligee").organization_id
    if obligee is not None and response.author.organization_id == obligee:
        return VERIFIED
    return failed(Code.OBLIGATION_RESPONSE_UNAUTHORIZED, "it is not by the obligee")


def remainder_exact(response: Entry, inquiry: Inquiry) -> Judgement:
    """What was accepted, what was asserted and what is left over add up."""
    obligation = inquiry.find(response.payload.get("obligation_id"), ObjectType.OBLIGATION)
    assertion = inquiry.find(response.payload.get("assertion_id"), ObjectType.PERFORMANCE_EVENT)
    if obligation is None or assertion is None:
        return unknown("the obligation or the assertion is not here")
    owed, asserted = _view(obligation, Obligation.of, inquiry), _view(assertion, Assertion.of, inquiry)
    named, accepted = response.payload.get("remainder_obligation_id"), response.text("accepted_quantity") or ""
    rest = None if named is None else inquiry.find(named, ObjectType.OBLIGATION)
    remainder = None if rest is None else _view(rest, Obligation.of, inquiry)
    if owed is None or asserted is None or (rest is not None and remainder is None):
        return _MALFORMED
    fault = acceptance_fault(owed, asserted, accepted, remainder)
    if fault is not None and fault.codes[0] is Code.OBLIGATION_REMAINDER_MISSING and named is not None and rest is None:
        return unknown(f"the remainder {str(named)[:140]} is not here")
    return _said(fault)


def _view(entry: Entry, of: Callable[[Mapping[str, Any]], _View], inquiry: Inquiry) -> _View | None:
    """The typed view of an object of its shape, or None."""
    return of(entry.raw) if inquiry.is_shaped(entry) else None


def _said(fault: Refusal | None) -> Judgement:
    return VERIFIED if fault is None else failed(fault.codes[0], fault.detail)


def _cycles(inquiry: Inquiry) -> None:
    """One row over the set; where there is a loop, one for each obligation that waits for somebody's discharge."""
    obligations = inquiry.index.of(ObjectType.OBLIGATION)
    conditions: dict[str, Any] = {
        obligation.subject: obligation.payload.get("due_condition") for obligation in obligations}
    if not conditions:
        return
    if not has_cycle(conditions):
        inquiry.add(5, "obligation_cycle", inquiry.whole, VERIFIED)
        return
    for subject, condition in conditions.items():
        if discharge_targets(condition):
            inquiry.add(5, "obligation_cycle", subject, failed(
                Code.OBLIGATION_CONDITION_CYCLIC, "obligations wait for each other's discharge in a loop"))


def _response_event(response: Entry) -> str:
    names = {ResponseType.ACCEPT.value: "acceptance.granted", ResponseType.REJECT.value: "acceptance.rejected",
             ResponseType.WAIVE.value: "obligation.waived"}
    return f"guard_{names.get(response.text('response_type') or '', 'unnamed')}"


def _issued_without_event(obligation: Entry, inquiry: Inquiry) -> Judgement:
    """As with an event, and in its place the signatures of both parties (D-26, D-38).

    Another record may hold the event; one that claims to be whole does not.
    """
    parts = [obligation_guard(obligation, None, inquiry)]
    if obligation.raw.get("previous_version_id") is None:
        for role in ("obligor", "obligee"):
            signed = signed_by(obligation, obligation.party(role), inquiry)
            missing = signed.outcome is Outcome.FAILED and not inquiry.material.is_whole
            parts.append(unknown(f"no event records it, and the {role} did not sign it") if missing else signed)
    return all_of(parts)


_GUARDS: Final[dict[ObjectType, tuple[Callable[[Entry], str], Callable[[Entry, Inquiry], Judgement]]]] = {
    ObjectType.OBLIGATION: (lambda _: "guard_obligation.activated", _issued_without_event),
    ObjectType.PERFORMANCE_EVENT: (lambda _: "guard_performance.declared", assertion_guard),
    ObjectType.OBLIGATION_RESPONSE: (_response_event, response_guard),
}
