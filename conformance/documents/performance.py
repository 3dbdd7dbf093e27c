"""What is owed under the agreement, its performance, the answer and the payment; the events of the record."""

from __future__ import annotations

from typing import Any

from a202_reference.registries import ObjectType
from conformance.world import BUYER, LABORATORY, SELLER, TRANSACTION, Actor, Document, at, days, envelope, stand_in


def evidence_ref(**members: Any) -> Document:
    """A full reference to the laboratory's certificate."""
    return {
        "evidence_id": "evd_tallis_certificate_01",
        "content_hash": stand_in("certificate of the ten gauges"),
        "evidence_type": "third_party_certificate",
        "signed_by": LABORATORY.party,
        **members,
    }


def evidence(**payload: Any) -> Document:
    """The laboratory's certificate as an object."""
    return envelope(ObjectType.EVIDENCE, "tallis_certificate_01", {
        "evidence_type": "third_party_certificate",
        "claim": "Ten tank level gauges were calibrated against a traceable reference.",
        "artifact_hash": stand_in("scan of the certificate"),
        "issuer": {"organization_id": LABORATORY.organization_id},
        "verification": {"status": "verified", "verified_at": at(days(11)),
                         "verifier_organization_id": BUYER.organization_id},
        **payload,
    }, by=LABORATORY, minutes=days(11))


def subject_of(agreed: Document, **members: Any) -> Document:
    """A pointer at the quantity an agreement's terms name."""
    payload = agreed["payload"]
    return {"agreement_id": agreed["id"], "terms_hash": payload["terms_hash"],
            "profile": payload["terms"]["profile"], "term_path": "$.terms.core.quantity", **members}


def commitment(under: Document, **payload: Any) -> Document:
    """What the seller commits itself to under an agreement."""
    return envelope(ObjectType.COMMITMENT, "fernhill_calibration_01", {
        "agreement_id": under["id"], "committed_party": SELLER.party, "subject": subject_of(under), **payload,
    }, by=BUYER, minutes=181)


def obligation(
    under: Document, name: str = "fernhill_calibration_01", *, version: int = 1, previous: str | None = None,
    minutes: int = 190, **payload: Any,
) -> Document:
    """The seller owes the buyer ten calibrated gauges."""
    return envelope(ObjectType.OBLIGATION, name, {
        "agreement_id": under["id"],
        "commitment_id": "cmt_fernhill_calibration_01",
        "obligor": SELLER.party,
        "obligee": BUYER.party,
        "subject": subject_of(under),
        "due_condition": {"type": "due_at_time", "at": at(days(14))},
        "quantity": "10",
        "unit_code": "H87",
        "unit_name": "piece",
        "consideration": {"currency": "EUR", "amount": "1250.00"},
        "state": "pending",
        **payload,
    }, by=BUYER, minutes=minutes, version=version, previous_version_id=previous)


def assertion(of: Document, **payload: Any) -> Document:
    """The seller asserts that it performed, with the laboratory's certificate."""
    return envelope(ObjectType.PERFORMANCE_EVENT, "fernhill_calibration_01", {
        "obligation_id": of["id"], "asserted_quantity": "10", "unit_code": "H87",
        "evidence_refs": [evidence_ref()], **payload,
    }, by=SELLER, minutes=days(12))


def response(to: Document, over: Document, *, by: Actor = BUYER, **payload: Any) -> Document:
    """The buyer accepts what was asserted."""
    return envelope(ObjectType.OBLIGATION_RESPONSE, "brightwater_calibration_01", {
        "obligation_id": to["id"], "response_type": "accept", "assertion_id": over["id"],
        "assertion_hash": over["content_hash"], "accepted_quantity": "10", **payload,
    }, by=by, minutes=days(13))


def event(
    event_type: str, from_state: str | None, to_state: str, *, sequence: int = 1, after: Document | None = None,
    name: str | None = None, **payload: Any,
) -> Document:
    """One transition of the transaction, after the event before it."""
    return envelope(ObjectType.TRANSACTION_EVENT, name or f"tank_gauges_{sequence:02}", {
        "stream": {"kind": "transaction", "id": TRANSACTION},
        "sequence": sequence,
        "event_type": event_type,
        "occurred_at": at(days(5) + sequence),
        "previous_event_hash": after["content_hash"] if after else None,
        "action_hash": stand_in(f"action {sequence}"),
        "policy_decision_id": f"pol_brightwater_{sequence:02}",
        "from_state": from_state,
        "to_state": to_state,
        "data": {},
        **payload,
    }, by=BUYER, minutes=days(5) + sequence)


def instruction(accepting: Document, **payload: Any) -> Document:
    """The buyer instructs the payment that an accepting response triggers."""
    return envelope(ObjectType.SETTLEMENT_INSTRUCTION, "brightwater_01", {
        "obligation_id": accepting["payload"].get("obligation_id", "obl_fernhill_calibration_01"),
        "agreement_id": "agr_brightwater_01",
        "amount": {"currency": "EUR", "amount": "1250.00"},
        "payer_organization_id": BUYER.organization_id,
        "payee_organization_id": SELLER.organization_id,
        "trigger": {"condition_ref": "$.terms.profile_terms.payment.balance_trigger",
                    "accepting_act_hash": accepting["content_hash"]},
        "rail": "rail_test_sandbox",
        "idempotency_key": "settle-tank-gauges-01",
        **payload,
    }, by=BUYER, minutes=days(14))


def receipt(of: Document, **payload: Any) -> Document:
    """The payment adapter's receipt for the instruction."""
    return envelope(ObjectType.ADAPTER_RECEIPT, "brightwater_01", {
        "settlement_instruction_id": of["id"], "adapter": "sandbox", "external_spec_version": "1.0", "attempt": 1,
        "idempotency_key": of["payload"]["idempotency_key"], "status": "succeeded", "requested_at": at(days(14) + 1),
        "completed_at": at(days(14) + 2), "external_reference": "sandbox-0001", "error_code": None,
        "mapping_report_hash": stand_in("mapping report"), **payload,
    }, by=BUYER, minutes=days(14) + 3)


def bundle(*objects: Document, **context: Any) -> Document:
    """A bundle of these objects with this context."""
    return {"context": context, "objects": list(objects)}
