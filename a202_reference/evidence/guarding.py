"""What guards are made of: parts that hold, fail or cannot be made, and the guards of obligation acts.

Rules this module applies:

- a guard fails as illegal (`A202-EVIDENCE-TRANSITION-ILLEGAL`) where one of its parts fails, whatever code that part
  has of its own; it could not be made where a part could not;
- an obligation derives from an agreement that the record committed; performance is asserted with evidence by the
  obligor; an answer is the obligee's, over the exact assertion, a rejection for a registered reason. These hold for an
  act whether or not an event records it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from a202_reference.codes import Code, Outcome
from a202_reference.evidence.entry import Actor, Entry
from a202_reference.evidence.inquiry import Inquiry
from a202_reference.evidence.report import VERIFIED, Judgement, failed, unknown
from a202_reference.evidence.step1_references import assertion_hash, obligation_terms_hash
from a202_reference.evidence.step2_parties import belongs_to
from a202_reference.gate.reading import items
from a202_reference.registries import ObjectType, RejectionReason, ResponseType
from a202_reference.schemas import object_errors

ILLEGAL: Final = Code.EVIDENCE_TRANSITION_ILLEGAL
_REASONS: Final = frozenset(reason.value for reason in RejectionReason)


def all_of(parts: Iterable[Judgement]) -> Judgement:
    """Failed (illegal) where a part failed, else not checkable where one could not be checked, else verified."""
    missing: Judgement | None = None
    for part in parts:
        if part.outcome is Outcome.FAILED:
            return failed(ILLEGAL, part.detail)
        if part.outcome is Outcome.NOT_CHECKABLE and missing is None:
            missing = part
    return missing or VERIFIED


def signed_by(entry: Entry, party: Actor, inquiry: Inquiry) -> Judgement:
    """The party's own signature on an object verifies."""
    own = [signed for signed in inquiry.signatures(entry) if signed.key is None or belongs_to(signed.key, party)]
    if any(signed.overall.outcome is Outcome.VERIFIED for signed in own):
        return VERIFIED
    if any(signed.overall.outcome is Outcome.NOT_CHECKABLE for signed in own):
        return unknown(f"whether {party.organization_id} signed {entry.subject} cannot be checked")
    return failed(ILLEGAL, f"{entry.subject} has no verified signature of {party.organization_id}")


def well_formed(entry: Entry, inquiry: Inquiry) -> Judgement:
    """The object is of its shape."""
    if inquiry.is_shaped(entry):
        return VERIFIED
    errors = object_errors(entry.raw)
    return failed(ILLEGAL, f"{entry.subject}: {errors[0] if errors else 'it is not of its shape'}")


def complete(offer: Entry, inquiry: Inquiry) -> Judgement:
    """The offer passes the gate: its shape, its terms under its profile, its validity."""
    codes = inquiry.gate_codes(offer)
    wrong = [code for code in codes if code is not Code.PROFILE_UNKNOWN]
    if wrong:
        return failed(ILLEGAL, f"{offer.subject}: {wrong[0].meaning}")
    shaped = well_formed(offer, inquiry)
    if shaped.outcome is not Outcome.VERIFIED or not codes:
        return shaped
    return unknown(f"the profile of {offer.subject} is not registered here")


def obligation_guard(obligation: Entry, before: int | None, inquiry: Inquiry) -> Judgement:
    """The obligation derives from an agreement that the record committed; before this sequence, where one is given."""
    parts = [well_formed(obligation, inquiry), obligation_terms_hash(obligation, inquiry)]
    committed = inquiry.committed.get(obligation.text("agreement_id") or "")
    if committed is None:
        parts.append(unknown("the event that committed the agreement is not here"))
    elif before is not None and committed >= before:
        parts.append(failed(ILLEGAL, "the agreement was committed later"))
    return all_of(parts)


def assertion_guard(assertion: Entry, inquiry: Inquiry) -> Judgement:
    """The obligor asserts, with evidence, and signed it."""
    obligation = inquiry.find(assertion.payload.get("obligation_id"), ObjectType.OBLIGATION)
    parts = [well_formed(assertion, inquiry)]
    if not items(assertion.payload.get("evidence_refs")):
        parts.append(failed(ILLEGAL, "performance is asserted without evidence"))
    if obligation is None:
        parts.append(unknown("the obligation is not here"))
    else:
        parts.append(signed_by(assertion, obligation.party("obligor"), inquiry))
    return all_of(parts)


def response_guard(response: Entry, inquiry: Inquiry) -> Judgement:
    """The obligee answers, over the exact assertion, and signed it; a rejection has a registered reason."""
    obligation = inquiry.find(response.payload.get("obligation_id"), ObjectType.OBLIGATION)
    parts = [well_formed(response, inquiry), assertion_hash(response, inquiry)]
    if response.payload.get("response_type") == ResponseType.REJECT and response.text("reason_code") not in _REASONS:
        parts.append(failed(ILLEGAL, "the reason is not registered"))
    if obligation is None:
        parts.append(unknown("the obligation is not here"))
    else:
        parts.append(signed_by(response, obligation.party("obligee"), inquiry))
    return all_of(parts)
