"""Families agreement, policy-decision, approval and envelope-annotation."""

from __future__ import annotations

from typing import Any

from a202_reference.codes import Code
from a202_reference.registries import Purpose
from conformance.cases.registry import faulty, valid
from conformance.documents.formation import (
    acceptance,
    action,
    agreement,
    approval,
    decision,
    formed,
    offer,
    terms,
)
from conformance.documents.parties import clarification
from conformance.documents.performance import bundle, commitment, event
from conformance.world import BUYER, SESSION, TRANSACTION, Document, changed, days, sealed, stand_in, without

DIRECT = ("agreement.direct", "draft", "agreement_pending")
COMMITTED = ("agreement.committed", "agreement_pending", "committed")


def _formation(rules: str = "1.3", *others: Document) -> Document:
    made = offer()
    accepted = acceptance(made)
    direct = event(*DIRECT, data={"offer_id": made["id"], "acceptance_id": accepted["id"], "session_id": SESSION})
    agreed = agreement(made, accepted)
    done = event(*COMMITTED, sequence=2, after=direct, data={"agreement_id": agreed["id"]})
    return bundle(made, accepted, direct, agreed, commitment(agreed), done, *others, rules_version_in_force=rules)


def _amendment(**payload: Any) -> Document:
    made = offer()
    first = agreement(made, acceptance(made))
    again = offer("fernhill_02", minutes=days(2), terms=terms(quantity="12"))
    accepted = acceptance(again, "brightwater_02", minutes=days(2) + 5)
    second = agreement(again, accepted, "brightwater_02", version=2, previous=first["id"], minutes=days(2) + 9,
                       **payload)
    return bundle(made, first, again, accepted, second)


@valid("kernel")
def valid_agreement_single() -> Document:
    """An agreement on its own: signed by both, over its own terms."""
    return formed()


@valid("kernel")
def valid_acceptance() -> Document:
    """An acceptance over the exact bytes of one offer."""
    return acceptance(offer())


@valid("kernel")
def valid_commitment() -> Document:
    """What the seller commits itself to, pointing at the agreed term."""
    return commitment(formed())


@valid("bundle")
def valid_agreement_direct_formation() -> Document:
    """Two parties form an agreement with nobody between them, under version 1.3."""
    return _formation()


@valid("bundle")
def valid_agreement_amendment() -> Document:
    """A second version of the agreement comes from an offer and an acceptance of its own."""
    return _amendment()


@valid("kernel")
def valid_policy_decision_allow() -> Document:
    """The buyer's evaluator allows an act; both parties may see it."""
    return decision()


@valid("kernel")
def valid_policy_decision_deny() -> Document:
    """A denial stays with its actor."""
    return decision(decision="deny", reason_codes=[Code.POLICY_DENIED.value], visibility="private_to_actor",
                    stream={"kind": "private", "id": "private_brightwater"})


@valid("kernel")
def valid_approval() -> Document:
    """A principal approves one exact act."""
    return approval()


@valid("kernel")
def valid_action_envelope() -> Document:
    """An agent proposes an act; nothing but its own signature is on it."""
    return action()


@valid("kernel")
def valid_envelope_only_clarification() -> Document:
    """A type of which only the envelope is defined may hold any payload."""
    return clarification()


@faulty("kernel", Code.EVIDENCE_SIGNATURE_INVALID)
def agreement_signed_by_buyer_alone() -> Document:
    """The seller never signed."""
    return formed(signed=[(BUYER, Purpose.AGREEMENT_COMMITMENT)])


@faulty("kernel", Code.AGREEMENT_HASH_MISMATCH)
def agreement_terms_hash_of_other_terms() -> Document:
    """The stated hash is not that of the terms carried."""
    return formed(terms_hash=stand_in("other terms"))


@faulty("bundle", Code.AGREEMENT_HASH_MISMATCH)
def agreement_over_other_offer_bytes() -> Document:
    """The offer beside it has other bytes than the agreement says."""
    made = offer()
    return bundle(made, agreement(made, acceptance(made), accepted_offer_hash=stand_in("another offer")))


@faulty("bundle", Code.AGREEMENT_HASH_MISMATCH)
def agreement_accepted_from_other_bytes() -> Document:
    """The acceptance beside the offer is over other bytes."""
    made = offer()
    return bundle(made, acceptance(made, offer_hash=stand_in("another offer")))


@faulty("bundle", Code.AGREEMENT_AMENDMENT_UNACCEPTED)
def agreement_amended_without_acceptance() -> Document:
    """The second version names a new offer, and the acceptance of the first."""
    return _amendment(acceptance_id="acc_brightwater_01")


@faulty("bundle", Code.AGREEMENT_AMENDMENT_UNACCEPTED)
def agreement_amended_without_offer() -> Document:
    """The second version names a new acceptance, of the offer of the first."""
    made = offer()
    return _amendment(accepted_offer_id=made["id"], accepted_offer_hash=made["content_hash"])


@faulty("bundle", Code.EVIDENCE_TRANSITION_ILLEGAL)
def agreement_direct_before_its_rules() -> Document:
    """Version 1.2 does not know direct formation."""
    return _formation("1.2")


@faulty("bundle", Code.EVIDENCE_TRANSITION_ILLEGAL)
def direct_formation_beside_session_stream() -> Document:
    """A session stream of the same transaction is open beside the direct formation."""
    session = event("offer.submitted", "opened", "active", name="session_01",
                    stream={"kind": "session", "id": SESSION}, data={"offer_id": "off_fernhill_01"})
    return _formation("1.3", session)


@faulty("kernel", Code.ANNOTATION_FORGED)
def action_envelope_with_kernel_annotations() -> Document:
    """An agent's own proposal carries annotations that only a control plane writes."""
    return {**action(), "kernel_annotations": {
        "policy_decision_id": "pol_copperline_01", "session_id": None, "session_sequence": 1,
        "received_at": "2026-03-02T10:50:00Z"}}


@faulty("kernel", None)
def envelope_with_carrier_task() -> Document:
    """The carrier's task identifier stands in the envelope."""
    return sealed({**acceptance(offer()), "task_id": "task-81"})


@faulty("kernel", None)
def envelope_around_mandate() -> Document:
    """A mandate is no envelope object."""
    return sealed(changed(decision(), "object_type", "commercial_mandate"))


@faulty("kernel", None)
def envelope_without_transaction() -> Document:
    """An acceptance belongs to a transaction."""
    return sealed(changed(acceptance(offer()), "transaction_id", None))


@faulty("kernel", None)
def envelope_version_as_text() -> Document:
    """The version is written as text."""
    return sealed(changed(acceptance(offer()), "version", "1"))


@faulty("kernel", None)
def envelope_without_author() -> Document:
    """Nobody is said to have written it."""
    return sealed(without(acceptance(offer()), "created_by"))


@faulty("kernel", Code.DISCLOSURE_DENIED)
def policy_deny_shown_to_counterparty() -> Document:
    """A denial on the parties' own stream, for both to see."""
    return decision(decision="deny", stream={"kind": "transaction", "id": TRANSACTION})


@faulty("kernel", Code.DISCLOSURE_POLICY_VIOLATION)
def policy_deny_award_already_made() -> Document:
    """A private denial whose reason tells of an award to somebody else."""
    return decision(decision="deny", reason_codes=[Code.LOT_ALREADY_AWARDED.value], visibility="private_to_actor",
                    stream={"kind": "private", "id": "private_brightwater"})


@faulty("kernel", Code.DISCLOSURE_POLICY_VIOLATION)
def auction_deny_for_no_improvement() -> Document:
    """A private denial whose reason tells that a better bid stands."""
    return decision(decision="deny", reason_codes=[Code.BID_NO_IMPROVEMENT.value], visibility="operator_only",
                    stream={"kind": "private", "id": "private_brightwater"})
