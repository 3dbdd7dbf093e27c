"""Step 5, guards: what had to hold for an event, as far as the set shows it (verification 1, guard table; rules 6.1).

Rules this module applies:

- a guard that does not hold is `A202-EVIDENCE-TRANSITION-ILLEGAL`; one that needs something that is not here, or that
  this software does not recompute, is not checkable, and says which;
- a direct formation needs a record without session stream, an offer that was current and unexpired, an acceptance of
  its exact bytes, and both signatures; a commitment needs an agreement on that acceptance, signed by both;
- an obligation derives from a committed agreement; performance is declared with evidence by the obligor; an answer is
  the obligee's, over the exact assertion.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias

from a202_reference.codes import Code
from a202_reference.evidence.entry import Entry, stream_of
from a202_reference.evidence.guarding import (
    all_of,
    assertion_guard,
    complete,
    obligation_guard,
    response_guard,
    signed_by,
    well_formed,
)
from a202_reference.evidence.inquiry import Inquiry
from a202_reference.evidence.relations import sequence_of
from a202_reference.evidence.report import VERIFIED, Judgement, failed, unknown
from a202_reference.evidence.step1_disputes import accepting_act_hash
from a202_reference.evidence.step1_references import offer_hash
from a202_reference.gate.reading import members
from a202_reference.registries import ObjectType, ResponseType
from a202_reference.times import parse_instant

Guard: TypeAlias = Callable[[Entry, Inquiry], Judgement]

_ILLEGAL: Final = Code.EVIDENCE_TRANSITION_ILLEGAL


def guard(event: Entry, inquiry: Inquiry) -> Judgement:
    """Whether the guard of an event held."""
    return GUARDS.get(event.text("event_type") or "", _not_recomputed)(event, inquiry)


def _data(event: Entry, member: str, kind: ObjectType, inquiry: Inquiry) -> Entry | Judgement:
    named = members(event.payload.get("data")).get(member)
    found = inquiry.find(named, kind)
    if found is None:
        return unknown(f"the {kind.value} {str(named)[:140]} is not here")
    if found.transaction_id != event.transaction_id:
        return failed(_ILLEGAL, f"{found.subject} is of another transaction")
    return found


def _direct(event: Entry, inquiry: Inquiry) -> Judgement:
    offer = _data(event, "offer_id", ObjectType.OFFER, inquiry)
    acceptance = _data(event, "acceptance_id", ObjectType.ACCEPTANCE, inquiry)
    parts = [_no_session(event, inquiry)]
    parts += [part for part in (offer, acceptance) if isinstance(part, Judgement)]
    if isinstance(offer, Entry):
        parts += [complete(offer, inquiry), signed_by(offer, offer.party("offeror"), inquiry)]
    if isinstance(acceptance, Entry):
        parts += [offer_hash(acceptance, inquiry), signed_by(acceptance, acceptance.party("accepting_party"), inquiry)]
    if isinstance(offer, Entry) and isinstance(acceptance, Entry):
        parts += [
            _names(acceptance, "offer_id", offer), _one_session(event, offer, acceptance),
            _current(offer, acceptance, inquiry), _unexpired(offer, acceptance, event)]
    return all_of(parts)


def _no_session(event: Entry, inquiry: Inquiry) -> Judgement:
    if event.transaction_id in inquiry.session_transactions:
        return failed(_ILLEGAL, "a session stream stands on this transaction")
    return VERIFIED


def _one_session(event: Entry, offer: Entry, acceptance: Entry) -> Judgement:
    """One session id stands for one relation: on offer, acceptance and, where it says one, event (D-19)."""
    said = members(event.payload.get("data")).get("session_id")
    named = [entry.payload.get("session_id") for entry in (offer, acceptance)]
    if named[0] == named[1] and said in (None, named[0]):
        return VERIFIED
    return failed(_ILLEGAL, f"{offer.subject}, {acceptance.subject} and the event do not name one session")


def _current(offer: Entry, acceptance: Entry, inquiry: Inquiry) -> Judgement:
    """No other held offer had superseded it when it was accepted."""
    superseded, accepted = inquiry.superseding.get(offer.id or ""), acceptance.created_at
    if superseded is None or accepted is None or accepted < superseded[0]:
        return VERIFIED
    if superseded[0] < accepted:
        return failed(_ILLEGAL, f"{superseded[1]} had superseded {offer.subject} before it was accepted")
    return unknown(f"whether {superseded[1]} superseded {offer.subject} first cannot be told")


def _unexpired(offer: Entry, acceptance: Entry, event: Entry) -> Judgement:
    until, occurred = parse_instant(offer.payload.get("valid_until")), _occurred(event)
    if until is None or occurred is None or acceptance.created_at is None:
        return failed(_ILLEGAL, "an instant that the guard needs cannot be read")
    if max(acceptance.created_at, occurred) <= until:
        return VERIFIED
    return failed(_ILLEGAL, f"{offer.subject} had expired")


def _committed(event: Entry, inquiry: Inquiry) -> Judgement:
    agreement = _data(event, "agreement_id", ObjectType.AGREEMENT, inquiry)
    if isinstance(agreement, Judgement):
        return agreement
    acceptance = inquiry.find(agreement.payload.get("acceptance_id"), ObjectType.ACCEPTANCE)
    parts = [well_formed(agreement, inquiry)]
    parts += [signed_by(agreement, agreement.party(role), inquiry) for role in ("buyer", "supplier")]
    if acceptance is None:
        parts.append(unknown(f"the acceptance {str(agreement.payload.get('acceptance_id'))[:140]} is not here"))
    else:
        parts += [
            _names(acceptance, "offer_hash", agreement, "accepted_offer_hash"), _formed(acceptance, event, inquiry)]
    return all_of(parts)


def _formed(acceptance: Entry, event: Entry, inquiry: Inquiry) -> Judgement:
    """The acceptance is the one the record's direct formation names, where that event is here."""
    if (event.transaction_id, acceptance.id) in inquiry.formed:
        return VERIFIED
    if event.transaction_id in inquiry.direct_transactions:
        return failed(_ILLEGAL, "the agreement rests on another acceptance than the formation")
    return unknown("the event that formed the agreement is not here")


def _activated(event: Entry, inquiry: Inquiry) -> Judgement:
    obligation = _data(event, "obligation_id", ObjectType.OBLIGATION, inquiry)
    if isinstance(obligation, Judgement):
        return obligation
    return obligation_guard(obligation, sequence_of(event), inquiry)


def _declared(event: Entry, inquiry: Inquiry) -> Judgement:
    assertion = _data(event, "performance_event_id", ObjectType.PERFORMANCE_EVENT, inquiry)
    return assertion if isinstance(assertion, Judgement) else assertion_guard(assertion, inquiry)


def _answered(event: Entry, inquiry: Inquiry) -> Judgement:
    response = _data(event, "obligation_response_id", ObjectType.OBLIGATION_RESPONSE, inquiry)
    if isinstance(response, Judgement):
        return response
    expected = ResponseType.ACCEPT if event.payload.get("event_type") == "acceptance.granted" else ResponseType.REJECT
    if response.payload.get("response_type") != expected:
        return failed(_ILLEGAL, f"{response.subject} is another answer")
    return response_guard(response, inquiry)


def _instructed(event: Entry, inquiry: Inquiry) -> Judgement:
    instruction = _data(event, "settlement_instruction_id", ObjectType.SETTLEMENT_INSTRUCTION, inquiry)
    if isinstance(instruction, Judgement):
        return instruction
    return all_of([well_formed(instruction, inquiry), accepting_act_hash(instruction, inquiry)])


def _before_commitment(event: Entry, inquiry: Inquiry) -> Judgement:
    own, committed = sequence_of(event), inquiry.committed_streams.get(stream_of(event))
    if own is not None and committed is not None and committed < own:
        return failed(_ILLEGAL, f"the event at sequence {committed} had committed an agreement")
    return unknown("who was entitled to end it is not recomputed")


def _amended(event: Entry, inquiry: Inquiry) -> Judgement:
    agreement = _data(event, "agreement_id", ObjectType.AGREEMENT, inquiry)
    if isinstance(agreement, Judgement):
        return agreement
    parts = [well_formed(agreement, inquiry)]
    parts += [signed_by(agreement, agreement.party(role), inquiry) for role in ("buyer", "supplier")]
    if agreement.raw.get("previous_version_id") is None:
        parts.append(failed(_ILLEGAL, f"{agreement.subject} supersedes no version"))
    return all_of(parts)


def _not_recomputed(event: Entry, _: Inquiry) -> Judgement:
    named = (event.text("event_type") or "this event")[:64]
    return unknown(f"what {named} needs is not recomputed from a bundle")


def _names(entry: Entry, member: str, other: Entry, of: str | None = None) -> Judgement:
    named: Any = other.id if of is None else other.payload.get(of)
    if entry.payload.get(member) == named:
        return VERIFIED
    return failed(_ILLEGAL, f"{entry.subject} does not name {other.subject} in `{member}`")


def _occurred(event: Entry) -> Any:
    return parse_instant(event.payload.get("occurred_at"))


GUARDS: Final[Mapping[str, Guard]] = {
    "agreement.direct": _direct,
    "agreement.committed": _committed,
    "agreement.amended": _amended,
    "obligation.activated": _activated,
    "performance.declared": _declared,
    "acceptance.granted": _answered,
    "acceptance.rejected": _answered,
    "settlement.instructed": _instructed,
    "transaction.cancelled": _before_commitment,
    "deadline.elapsed": _before_commitment,
}
"""Guards that a set can show. Any other event's is not recomputed, and says so."""
