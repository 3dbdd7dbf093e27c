"""Family obligation."""

from __future__ import annotations

from typing import Any

from a202_reference.codes import Code
from conformance.cases.registry import faulty, valid
from conformance.documents.formation import formed
from conformance.documents.performance import assertion, bundle, evidence_ref, obligation, response, subject_of
from conformance.world import ADDRESSES, NEWCOMER, SELLER, Document, changed, sealed, stand_in, without

UNKNOWN = Code.OBLIGATION_CONDITION_UNKNOWN
UNREFERENCED = Code.OBLIGATION_SUBJECT_UNREFERENCED


def _due(condition: Any) -> Document:
    return obligation(formed(), due_condition=condition)


def _beside_agreement(**payload: Any) -> Document:
    agreed = formed()
    return bundle(agreed, obligation(agreed, **payload))


def _answered(**payload: Any) -> Document:
    """An obligation, an assertion and a response whose payload differs by the given members; None takes one away."""
    agreed = formed()
    owed = obligation(agreed)
    asserted = assertion(owed)
    answer = response(owed, asserted)
    for name, value in payload.items():
        answer = without(answer, f"payload.{name}") if value is None else changed(answer, f"payload.{name}", value)
    return bundle(agreed, owed, asserted, sealed(answer))


def _partial(left: str) -> Document:
    agreed = formed()
    owed = obligation(agreed)
    asserted = assertion(owed, asserted_quantity="8")
    rest = obligation(agreed, "fernhill_rest_01", quantity=left, consideration=None)
    return bundle(agreed, owed, asserted, rest, response(
        owed, asserted, accepted_quantity="8", remainder_obligation_id=rest["id"]))


@valid("kernel")
def valid_obligation() -> Document:
    """Ten gauges by a date, for money, pointing at the agreed quantity."""
    return obligation(formed())


@valid("kernel")
def valid_obligation_on_evidence() -> Document:
    """Due when a delivery is confirmed, for nothing in return."""
    return obligation(formed(), due_condition={"type": "due_on_event", "evidence_type": "delivery_confirmation"},
                      consideration=None)


@valid("kernel")
def valid_obligation_all_of() -> Document:
    """Due when two things are so: business days have passed and another obligation is discharged."""
    return _due({"type": "all_of", "conditions": [
        {"type": "due_at_time", "business_days": {"days": 12, "calendar": "NL", "after_ref": stand_in("collection")}},
        {"type": "due_on_discharge", "obligation_id": "obl_brightwater_access_01"}]})


@valid("kernel")
def valid_obligation_assertion() -> Document:
    """The seller asserts performance with a certificate."""
    return assertion(obligation(formed()))


@valid("bundle")
def valid_obligation_response_partial() -> Document:
    """Eight of ten are accepted, and an obligation of two is named for the rest."""
    return _partial("2")


@valid("bundle")
def valid_obligation_response_rejection() -> Document:
    """The assertion is rejected for a registered reason."""
    return _answered(response_type="reject", accepted_quantity=None, reason_code="evidence_insufficient")


@valid("bundle")
def valid_obligation_waived() -> Document:
    """The obligee waives what was asserted already."""
    return _answered(response_type="waive", assertion_id=None, assertion_hash=None, accepted_quantity=None)


@faulty("kernel", UNKNOWN)
def obligation_due_when_told() -> Document:
    """A kind of condition that is not registered."""
    return _due({"type": "due_on_notice", "notice": "in writing"})


@faulty("kernel", UNKNOWN)
def obligation_due_at_time_of_another_obligation() -> Document:
    """A condition of time with a member of another kind."""
    return _due({"type": "due_at_time", "at": "2026-03-20T12:00:00Z", "obligation_id": "obl_brightwater_access_01"})


@faulty("kernel", UNKNOWN)
def obligation_due_at_two_times() -> Document:
    """A date and business days at once."""
    return _due({"type": "due_at_time", "at": "2026-03-20T12:00:00Z", "business_days": {"days": 3, "calendar": "NL"}})


@faulty("kernel", UNKNOWN)
def obligation_due_on_no_event() -> Document:
    """An event, without saying which."""
    return _due({"type": "due_on_event"})


@faulty("kernel", UNKNOWN)
def obligation_due_on_conjunction_of_one() -> Document:
    """A conjunction of a single condition."""
    return _due({"type": "all_of", "conditions": [{"type": "due_at_time", "at": "2026-03-20T12:00:00Z"}]})


@faulty("kernel", UNKNOWN)
def obligation_due_on_nested_conjunction() -> Document:
    """A conjunction inside a conjunction."""
    leaf = {"type": "due_at_time", "at": "2026-03-20T12:00:00Z"}
    return _due({"type": "all_of", "conditions": [leaf, {"type": "all_of", "conditions": [leaf, leaf]}]})


@faulty("kernel", Code.EVIDENCE_TYPE_UNKNOWN)
def obligation_due_on_unregistered_evidence() -> Document:
    """Waits for evidence of a type that is not registered."""
    return _due({"type": "due_on_event", "evidence_type": "photograph"})


@faulty("kernel", Code.TERMS_INVALID)
def obligation_due_in_days_of_no_calendar() -> Document:
    """Business days without a calendar."""
    return _due({"type": "due_at_time", "business_days": {"days": 3}})


@faulty("bundle", Code.OBLIGATION_CONDITION_CYCLIC)
def obligation_waits_in_circle() -> Document:
    """Three obligations, each waiting for the next one's discharge."""
    agreed = formed()
    names = ["circle_a1", "circle_b1", "circle_c1"]
    waits = [obligation(agreed, name, due_condition={"type": "due_on_discharge", "obligation_id": f"obl_{after}"})
             for name, after in zip(names, [*names[1:], names[0]], strict=True)]
    return bundle(agreed, *waits)


@faulty("kernel", UNREFERENCED)
def obligation_subject_restates_quantity() -> Document:
    """The subject repeats the quantity it should point at."""
    agreed = formed()
    return obligation(agreed, subject=subject_of(agreed, quantity="10"))


@faulty("kernel", UNREFERENCED)
def obligation_subject_of_another_agreement() -> Document:
    """The subject points into another agreement than the obligation names."""
    agreed = formed()
    return obligation(agreed, subject=subject_of(agreed, agreement_id="agr_brightwater_99"))


@faulty("kernel", UNREFERENCED)
def obligation_subject_path_with_index() -> Document:
    """The path counts into a list, which paths cannot."""
    agreed = formed()
    return obligation(agreed, subject=subject_of(agreed, term_path="$.terms.core.lots[0]"))


@faulty("kernel", UNREFERENCED)
def obligation_without_subject() -> Document:
    """Nothing says what is owed."""
    return sealed(without(obligation(formed()), "payload.subject"))


@faulty("bundle", UNREFERENCED)
def obligation_under_other_terms() -> Document:
    """The subject's hash is not that of the agreement beside it."""
    agreed = formed()
    return bundle(agreed, obligation(agreed, subject=subject_of(agreed, terms_hash=stand_in("other terms"))))


@faulty("bundle", UNREFERENCED)
def obligation_of_term_not_agreed() -> Document:
    """The path leads to a term the agreement does not have."""
    agreed = formed()
    return bundle(agreed, obligation(agreed, subject=subject_of(agreed, term_path="$.terms.core.discount")))


@faulty("bundle", UNREFERENCED)
def obligation_owed_to_outsider() -> Document:
    """The obligee is neither buyer nor supplier."""
    return _beside_agreement(obligee=NEWCOMER.party)


@faulty("kernel", Code.TERMS_INVALID)
def obligation_consideration_negative() -> Document:
    """The consideration is below nought; a credit is another object."""
    return obligation(formed(), consideration={"currency": "EUR", "amount": "-5.00"})


@faulty("kernel", Code.OBLIGATION_ASSERTION_UNEVIDENCED)
def obligation_assertion_on_word_alone() -> Document:
    """Performance is asserted without evidence."""
    return assertion(obligation(formed()), evidence_refs=[])


@faulty("bundle", Code.OBLIGATION_TERMS_MUTATED)
def obligation_assertion_in_other_unit() -> Document:
    """Kilograms are asserted where pieces are owed."""
    agreed = formed()
    owed = obligation(agreed)
    return bundle(agreed, owed, assertion(owed, unit_code="KGM"))


@faulty("kernel", Code.OBLIGATION_TERMS_MUTATED)
def obligation_response_rewrites_quantity() -> Document:
    """The answer changes what is owed."""
    owed = obligation(formed())
    return response(owed, assertion(owed), quantity="8")


@faulty("kernel", Code.OBLIGATION_REJECTION_REASON_UNKNOWN)
def obligation_rejected_for_taste() -> Document:
    """The reason for the rejection is not registered."""
    owed = obligation(formed())
    answer = response(owed, assertion(owed), response_type="reject", reason_code="not_to_our_taste")
    return sealed(without(answer, "payload.accepted_quantity"))


@faulty("bundle", Code.OBLIGATION_RESPONSE_HASH_MISMATCH)
def obligation_response_to_other_assertion() -> Document:
    """The answer is bound to other bytes than the assertion's."""
    return _answered(assertion_hash=stand_in("another assertion"))


@faulty("bundle", Code.OBLIGATION_RESPONSE_UNAUTHORIZED)
def obligation_accepted_by_obligor() -> Document:
    """The seller accepts its own work."""
    agreed = formed()
    owed = obligation(agreed)
    asserted = assertion(owed)
    return bundle(agreed, owed, asserted, response(owed, asserted, by=SELLER))


@faulty("bundle", Code.OBLIGATION_RESPONSE_UNAUTHORIZED)
def obligation_waived_by_obligor() -> Document:
    """The seller waives its own duty."""
    agreed = formed()
    owed = obligation(agreed)
    waiver = response(owed, assertion(owed), by=SELLER, response_type="waive")
    for name in ("assertion_id", "assertion_hash", "accepted_quantity"):
        waiver = without(waiver, f"payload.{name}")
    return bundle(agreed, owed, sealed(waiver))


@faulty("bundle", Code.OBLIGATION_REMAINDER_MISSING)
def obligation_partial_without_remainder() -> Document:
    """Eight of ten are accepted and nothing is said of the rest."""
    return _answered(accepted_quantity="8")


@faulty("bundle", Code.OBLIGATION_REMAINDER_MISSING)
def obligation_short_beyond_binary_fractions() -> Document:
    """One short of a number so large that binary fractions do not see it."""
    agreed = formed()
    owed = obligation(agreed, quantity="9007199254740993")
    asserted = assertion(owed, asserted_quantity="9007199254740993")
    return bundle(agreed, owed, asserted, response(owed, asserted, accepted_quantity="9007199254740992"))


@faulty("bundle", Code.OBLIGATION_REMAINDER_MISSING)
def obligation_remainder_too_small() -> Document:
    """Eight of ten are accepted, and an obligation of one is named for the rest."""
    return _partial("1")


@faulty("bundle", Code.EVIDENCE_DISCLOSURE_INCOMPLETE)
def evidence_response_to_assertion_withheld() -> Document:
    """The answered assertion is neither carried nor stated as a gap."""
    agreed = formed()
    owed = obligation(agreed)
    return bundle(agreed, owed, response(owed, assertion(owed)))


@faulty("kernel", None)
def evidence_assertion_by_short_reference() -> Document:
    """An assertion needs full references; a bare identifier is not enough."""
    return assertion(obligation(formed()), evidence_refs=["evd_tallis_certificate_01"])


@faulty("kernel", Code.EVIDENCE_HASH_MISMATCH)
def evidence_reference_without_hash() -> Document:
    """A hint says where the evidence lies, nothing says what it is."""
    reference = evidence_ref(locator_hint=ADDRESSES["certificate"])
    del reference["content_hash"]
    return assertion(obligation(formed()), evidence_refs=[reference])
