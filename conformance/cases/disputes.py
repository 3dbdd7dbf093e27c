"""Families dispute-and-determination, and appeal of the operated scope."""

from __future__ import annotations

from typing import Any

from a202_reference.codes import Code
from conformance.cases.registry import faulty, valid
from conformance.documents.disputes import RULES, determination, dispute, outcome, rules_ref
from conformance.documents.formation import offer
from conformance.documents.performance import bundle, event
from conformance.world import TRANSACTION, Document, at, days, sealed, stand_in, without

NOT_FOLLOWING = Code.DETERMINATION_NOT_FOLLOWING
MOVED = {"subject_id": TRANSACTION, "state": "terminated"}


def _determined(**payload: Any) -> Document:
    return determination(dispute(offer()), **payload)


def _binding(result: Document) -> Document:
    asked = dispute(offer(), subject_id=TRANSACTION)
    return determination(asked, effect="binding", outcome=outcome(state_result=result))


def _appeal(earlier: Document, **payload: Any) -> Document:
    return dispute(earlier, "brightwater_appeal_01", **{
        "minutes": days(6), "subject_type": "determination", "grounds": ["rule_misapplied"], **payload})


def _superseding(earlier: Document, name: str = "brightwater_02", **members: Any) -> Document:
    superseded = {"determination_id": earlier["id"], "determination_hash": earlier["content_hash"],
                  "reason": "corrected_input", **members}
    return determination(dispute(offer()), name, minutes=days(8), supersedes=superseded)


@valid("kernel")
def valid_dispute() -> Document:
    """The buyer disputes a signed act, on a registered ground, with evidence."""
    return dispute(offer(), description="The agent named in the mandate did not sign this.")


@valid("kernel")
def valid_determination() -> Document:
    """A reasoned finding of presumptive effect."""
    return _determined()


@valid("kernel")
def valid_determination_binding() -> Document:
    """A binding finding moves the transaction in question to a registered state."""
    return _binding(MOVED)


@valid("bundle")
def valid_dispute_in_time() -> Document:
    """A dispute raised exactly at the end of its window, and its determination under the rules in force."""
    made = offer()
    raised = dispute(made, minutes=60 + days(7))
    return bundle(made, raised, determination(raised), subject_act_at=made["created_at"],
                  rules_version_in_force="1.3")


@valid("bundle")
def valid_appeal_determination_superseding() -> Document:
    """The outcome of an appeal replaces the determination appealed from; the first dispute is a stated gap."""
    first = _determined()
    appeal = _appeal(first)
    replaced = {"determination_id": first["id"], "determination_hash": first["content_hash"],
                "reason": "appeal_outcome"}
    return bundle(first, appeal, determination(appeal, "brightwater_02", minutes=days(8), supersedes=replaced),
                  stated_gaps=["dsp_brightwater_01"])


@faulty("kernel", Code.DISPUTE_SUBJECT_UNREFERENCED)
def dispute_of_identifier_alone() -> Document:
    """The subject is named and not bound by a hash."""
    return sealed(without(dispute(offer()), "payload.subject_hash"))


@faulty("bundle", Code.DISPUTE_SUBJECT_UNREFERENCED)
def dispute_of_bytes_held_nowhere() -> Document:
    """The subject is here, under another hash than the dispute says."""
    made = offer()
    return bundle(made, dispute(made, subject_hash=stand_in("another offer")))


@faulty("kernel", Code.DISPUTE_GROUNDS_UNKNOWN)
def dispute_on_unregistered_ground() -> Document:
    """The ground is not registered."""
    return dispute(offer(), grounds=["bad_faith"])


@faulty("kernel", Code.DISPUTE_GROUNDS_UNKNOWN)
def dispute_on_ground_of_appeals() -> Document:
    """The ground is one of appeals, and this is none."""
    return dispute(offer(), grounds=["wrong_scope"])


@faulty("kernel", Code.DISPUTE_GROUNDS_UNKNOWN)
def dispute_on_no_ground() -> Document:
    """No ground is given."""
    return dispute(offer(), grounds=[])


@faulty("kernel", Code.EVIDENCE_UNVERIFIED)
def dispute_without_evidence() -> Document:
    """Nothing backs the dispute."""
    return dispute(offer(), evidence_refs=[])


@faulty("kernel", Code.DISCLOSURE_POLICY_VIOLATION)
def dispute_tells_of_third_party() -> Document:
    """The description names an organisation that is no party."""
    return dispute(offer(), description="org_quayside was treated better than we were.")


@faulty("kernel", Code.DISCLOSURE_POLICY_VIOLATION)
def dispute_tells_of_amount() -> Document:
    """The description tells an amount of money."""
    return dispute(offer(), description="Somebody else paid EUR 990 for the same.")


@faulty("kernel", Code.DISCLOSURE_POLICY_VIOLATION)
def dispute_tells_of_competitors() -> Document:
    """The description tells of competitors."""
    return dispute(offer(), description="A Competing firm was preferred.")


@faulty("bundle", Code.DISPUTE_OUT_OF_WINDOW)
def dispute_a_minute_late() -> Document:
    """Raised a minute after the window of 168 hours."""
    made = offer()
    return bundle(made, dispute(made, minutes=61 + days(7)), subject_act_at=made["created_at"])


@faulty("kernel", Code.DISPUTE_OUT_OF_WINDOW)
def dispute_under_unpublished_rules() -> Document:
    """The rules named have another hash than the published ones, so no window can be read."""
    return dispute(offer(), rules_ref={**rules_ref(), "rules_hash": stand_in("other rules")})


@faulty("kernel", Code.APPEAL_GROUNDS_UNKNOWN)
def appeal_against_the_rule_itself() -> Document:
    """An appeal on a ground of disputes, not of appeals."""
    return _appeal(_determined(), grounds=["refusal_incorrect"])


@faulty("bundle", Code.DISPUTE_OUT_OF_WINDOW)
def appeal_a_day_late() -> Document:
    """Raised a day after the window of 336 hours."""
    first = _determined()
    return bundle(first, _appeal(first, minutes=days(4 + 15)), subject_act_at=at(days(4)),
                  stated_gaps=["dsp_brightwater_01"])


@faulty("kernel", NOT_FOLLOWING)
def determination_by_verdict() -> Document:
    """A verdict stands where reasons belong."""
    return _determined(outcome=outcome(verdict="upheld"))


@faulty("kernel", NOT_FOLLOWING)
def determination_by_rule_of_another_set() -> Document:
    """An applied rule is none of the version it names."""
    return _determined(outcome=outcome(rules_applied=[f"{RULES}#equity"]))


@faulty("bundle", NOT_FOLLOWING)
def determination_by_later_rules() -> Document:
    """Judged by version 1.3 where 1.0 was in force when the act happened."""
    made = offer()
    raised = dispute(made)
    return bundle(made, raised, determination(raised), rules_version_in_force="1.0")


@faulty("bundle", Code.DISPUTE_SUBJECT_UNREFERENCED)
def determination_of_another_question() -> Document:
    """The question is not the one the dispute asked."""
    made = offer()
    raised = dispute(made)
    question = {**determination(raised)["payload"]["question"], "subject_hash": stand_in("another act")}
    return bundle(made, raised, determination(raised, question=question))


@faulty("kernel", Code.DETERMINATION_EFFECT_OVERCLAIM)
def determination_effect_above_grant() -> Document:
    """Binding is claimed over the state of an obligation, where presumptive is granted."""
    raised = dispute(offer(), subject_type="obligation_state", subject_id="obl_fernhill_calibration_01")
    return determination(raised, effect="binding")


@faulty("kernel", Code.DETERMINATION_EFFECT_OVERCLAIM)
def determination_effect_without_grant() -> Document:
    """An effect is claimed over a refusal, for which the rules grant none."""
    return determination(dispute(offer(), subject_type="refusal", subject_id="pol_brightwater_01"))


@faulty("kernel", Code.DETERMINATION_EFFECT_OVERCLAIM)
def determination_moves_without_binding() -> Document:
    """A presumptive finding names a resulting state."""
    return determination(dispute(offer(), subject_id=TRANSACTION), outcome=outcome(state_result=MOVED))


@faulty("kernel", Code.STATE_TRANSITION_DENIED)
def determination_moves_to_no_state() -> Document:
    """The resulting state is in no machine."""
    return _binding({**MOVED, "state": "archived"})


@faulty("kernel", Code.STATE_TRANSITION_DENIED)
def determination_moves_to_state_of_other_machine() -> Document:
    """A transaction is moved to a state that only obligations have."""
    return _binding({**MOVED, "state": "waived"})


@faulty("kernel", Code.DISPUTE_SUBJECT_UNREFERENCED)
def determination_moves_another_subject() -> Document:
    """The state of something else than the subject is moved."""
    return _binding({**MOVED, "subject_id": "txn_other_deal_01"})


@faulty("kernel", Code.DETERMINATION_SUPERSESSION_UNREASONED)
def determination_supersedes_for_convenience() -> Document:
    """The reason for superseding is not registered."""
    return _superseding(_determined(), reason="convenience")


@faulty("bundle", Code.EVIDENCE_HASH_MISMATCH)
def determination_supersedes_other_bytes() -> Document:
    """The superseded determination is here, under another hash."""
    first = _determined()
    return bundle(first, _superseding(first, determination_hash=stand_in("another determination")),
                  stated_gaps=["dsp_brightwater_01"])


@faulty("bundle", Code.DETERMINATION_SUPERSESSION_FORKED)
def determination_superseded_twice() -> Document:
    """Two determinations supersede the same one."""
    first = _determined()
    return bundle(first, _superseding(first), _superseding(first, "brightwater_03"),
                  stated_gaps=["dsp_brightwater_01"])


@faulty("bundle", Code.EVIDENCE_DISCLOSURE_INCOMPLETE)
def evidence_determination_of_dispute_withheld() -> Document:
    """The determined dispute is neither carried nor stated as a gap."""
    return bundle(offer(), _determined())


@faulty("kernel", Code.STATE_TRANSITION_DENIED)
def determination_deleted() -> Document:
    """An event that would delete a determination; nothing is ever deleted."""
    return event("determination.deleted", "committed", "committed")
