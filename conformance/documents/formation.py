"""From the offer to the agreement, and what decided about the acts between."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from a202_reference.canonical import value_hash
from a202_reference.registries import ObjectType, Purpose
from conformance.world import (
    BUYER,
    BUYER_HEAD,
    SELLER,
    SESSION,
    TRANSACTION,
    Actor,
    Document,
    at,
    days,
    envelope,
    stand_in,
)

CALIBRATION = "a202-profile/calibration-service/0.1"


def terms(**core: Any) -> Document:
    """What is sold: the calibration of ten tank gauges. Members of `core` replace the usual ones."""
    return {
        "profile": CALIBRATION,
        "core": {
            "description": "Calibration of ten tank level gauges, with certificates",
            "quantity": "10",
            "unit_code": "H87",
            "total": {"currency": "EUR", "amount": "1250.00"},
            **core,
        },
        "profile_terms": {
            "completion": {"business_days_after_collection": 12, "business_calendar": "NL"},
            "payment": {"prepayment_percent": "15", "balance_trigger": "buyer_acceptance"},
            "acceptance": {
                "certificate_required": True,
                "machine_readable_result_required": False,
                "qualification_standard": "ISO/IEC 17025:2017",
            },
            "rework": {"included_attempts": 1},
        },
    }


def offer(name: str = "fernhill_01", *, minutes: int = 60, **payload: Any) -> Document:
    """The seller's offer."""
    return envelope(ObjectType.OFFER, name, {
        "offeror": SELLER.party,
        "offeree": BUYER.party,
        "session_id": SESSION,
        "supersedes_offer_id": None,
        "valid_until": at(days(3)),
        "terms": terms(),
        "evidence_refs": ["evd_fernhill_accreditation_01"],
        **payload,
    }, by=SELLER, minutes=minutes)


def acceptance(of: Document, name: str = "brightwater_01", *, minutes: int = 120, **payload: Any) -> Document:
    """The buyer's acceptance of that offer."""
    return envelope(ObjectType.ACCEPTANCE, name, {
        "offer_id": of["id"],
        "offer_hash": of["content_hash"],
        "session_id": SESSION,
        "accepting_party": BUYER.party,
        **payload,
    }, by=BUYER, minutes=minutes)

BOTH_COMMIT = ((BUYER, Purpose.AGREEMENT_COMMITMENT), (SELLER, Purpose.AGREEMENT_COMMITMENT))


def agreement(
    over: Document, accepted: Document, name: str = "brightwater_01", *,
    signed: Sequence[tuple[Actor, Purpose]] = BOTH_COMMIT, version: int = 1, previous: str | None = None,
    minutes: int = 180, **payload: Any,
) -> Document:
    """The agreement over an offer and its acceptance, signed by both."""
    agreed = over["payload"]["terms"]
    return envelope(ObjectType.AGREEMENT, name, {
        "accepted_offer_id": over["id"],
        "accepted_offer_hash": over["content_hash"],
        "acceptance_id": accepted["id"],
        "buyer": BUYER.party,
        "supplier": SELLER.party,
        "terms": agreed,
        "terms_hash": value_hash(agreed),
        "effective_at": at(minutes),
        "commitment_ids": ["cmt_fernhill_calibration_01"],
        **payload,
    }, by=BUYER, minutes=minutes, signed=signed, version=version, previous_version_id=previous)


def formed(**payload: Any) -> Document:
    """The agreement of the deal, for cases that need no more of it."""
    made = offer()
    return agreement(made, acceptance(made), **payload)


def action(**payload: Any) -> Document:
    """The buyer's agent proposes to accept the offer."""
    return envelope(ObjectType.ACTION_ENVELOPE, "brightwater_01", {
        "action_type": "offer.accept", "expected_sequence": 0, "session_id": SESSION,
        "idempotency_key": "accept-fernhill-01",
        "proposed_object": {"object_type": "acceptance", "payload": acceptance(offer())["payload"], "context": {}},
        **payload,
    }, by=BUYER, minutes=110)


def decision(**payload: Any) -> Document:
    """The buyer's own evaluator allows an act."""
    return envelope(ObjectType.POLICY_DECISION, "brightwater_01", {
        "action_hash": stand_in("action 1"),
        "decision": "allow",
        "reason_codes": [],
        "evaluated_at": at(115),
        "mandate_ids": ["mnd_brightwater_buyer"],
        "stream": {"kind": "transaction", "id": TRANSACTION},
        "stream_sequence": 0,
        "visibility": "transaction_parties",
        **payload,
    }, by=BUYER, minutes=115)


def approval(**payload: Any) -> Document:
    """The buyer's head approves one exact act."""
    return envelope(ObjectType.APPROVAL, "brightwater_01", {
        "action_hash": stand_in("action 1"),
        "approver": {"organization_id": BUYER.organization_id, "principal_id": "prn_brightwater_head",
                     "role": "head_of_buying"},
        "decision": "approved",
        "expires_at": at(170),
        "conditions": [],
        **payload,
    }, by=BUYER, minutes=112, signed=[(BUYER_HEAD, Purpose.OBJECT_ISSUANCE)])
