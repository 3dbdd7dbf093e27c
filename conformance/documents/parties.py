"""Who takes part: organisations, agents, principals, keys, and the invitation of a newcomer; grades of them."""

from __future__ import annotations

from typing import Any

from a202_reference.registries import COMMERCIAL_SPEC, Algorithm, ObjectType, Purpose
from a202_reference.signing import PLACEHOLDER
from conformance.documents.formation import CALIBRATION
from conformance.world import (
    ADDRESSES,
    BUYER,
    BUYER_HEAD,
    EXCHANGE,
    NEWCOMER,
    SELLER,
    TRANSACTION,
    Actor,
    Document,
    at,
    days,
    envelope,
    sealed_grade,
    stand_in,
)


def organization(**payload: Any) -> Document:
    """The buyer's organisation."""
    return envelope(ObjectType.ORGANIZATION, "brightwater", {
        "legal_name": "Brightwater Utilities B.V.", "jurisdiction": "NL",
        "registry_identifiers": [{"scheme": "kvk", "value": "90000001"}],
        "status": "active", "identity_evidence_refs": ["evd_brightwater_register_01"], **payload,
    }, by=BUYER, minutes=0, transaction_id=None)


def agent(**payload: Any) -> Document:
    """The buyer's agent, under its own endpoint."""
    return envelope(ObjectType.AGENT, "brightwater_buyer", {
        "represented_organization_id": BUYER.organization_id, "operator_organization_id": BUYER.organization_id,
        "endpoint": ADDRESSES["endpoint"], "key_ids": [BUYER.key_id], "status": "active",
        **payload,
    }, by=BUYER, minutes=1, transaction_id=None)


def principal(**payload: Any) -> Document:
    """The buyer's head of buying, as a role."""
    return envelope(ObjectType.PRINCIPAL, "brightwater_head", {
        "organization_id": BUYER.organization_id, "role": "head_of_buying", "status": "active",
        "authority_evidence_refs": [], "contact_ref": "chn_brightwater_head", **payload,
    }, by=BUYER, minutes=2, transaction_id=None)


def key_record(of: Actor = BUYER, **payload: Any) -> Document:
    """An agent's public key with an open end."""
    return envelope(ObjectType.KEY_RECORD, of.key_id.removeprefix("key_"), {
        "controller_organization_id": of.organization_id, "algorithm": Algorithm.ES256.value,
        "public_key_jwk": of.signer.key.public.jwk, "status": "active", "valid_from": at(0), "valid_until": None,
        **payload,
    }, by=of, minutes=3, transaction_id=None)


def revocation(**payload: Any) -> Document:
    """The suspension of a mandate."""
    return envelope(ObjectType.REVOCATION_RECORD, "brightwater_01", {
        "subject_type": "mandate", "subject_id": "mnd_brightwater_buyer", "status": "suspended",
        "effective_at": at(days(40)), "reason": "The buying desk is closed for the summer.", **payload,
    }, by=BUYER, minutes=days(40), signed=[(BUYER_HEAD, Purpose.OBJECT_ISSUANCE)], transaction_id=None)


def invitation(**payload: Any) -> Document:
    """The buyer invites a party that is not registered yet, for one transaction."""
    return envelope(ObjectType.COUNTERPARTY_INVITATION, "quayside_01", {
        "inviting_party": BUYER.party,
        "invited_channel": {"channel_type": "email_domain_scoped", "channel_domain": "quayside.example",
                            "channel_ref": "chn_quayside_desk", "channel_hash": stand_in("channel of quayside")},
        "claim_secret_hash": stand_in("claim secret"),
        "expires_at": at(days(7)),
        "purpose_note": "Calibration of ten tank level gauges.",
        "disclosed_scope": {"category": "services.calibration", "summary": "Ten gauges, one site.",
                            "response_deadline": at(days(5))},
        "granted_scope": {"transaction_ids": [TRANSACTION], "actions": ["offer.submit"]},
        "minimum_assurance": "self_asserted",
        "endpoint_offer": "participant_operated",
        **payload,
    }, by=BUYER, minutes=30)


CLAIMED = ((NEWCOMER, Purpose.INVITATION_CLAIM), (EXCHANGE, Purpose.OBJECT_ISSUANCE))


def invitation_acceptance(of: Document, **payload: Any) -> Document:
    """The newcomer claims the invitation; the exchange records it."""
    return envelope(ObjectType.INVITATION_ACCEPTANCE, "quayside_01", {
        "invitation_id": of["id"],
        "invitation_hash": of["content_hash"],
        "claimant": {**NEWCOMER.party, "principal_id": "prn_quayside_owner"},
        "channel_proof": {"method": "domain_scoped_token", "verified_at": at(45), "evidence_ref": None},
        "assurance": "self_asserted",
        "assurance_evidence_refs": [],
        "key_custody": "self",
        "endpoint_mode": "participant_operated",
        "issuance_approval_id": None,
        "root_mandate_id": "mnd_quayside_trader",
        **payload,
    }, by=EXCHANGE, minutes=46, signed=CLAIMED)


def clarification(**payload: Any) -> Document:
    """An object of a type of which only the envelope is defined."""
    return envelope(ObjectType.CLARIFICATION, "brightwater_01", {"asked": "Which gauge is the reference?", **payload},
                    by=BUYER, minutes=70)


def grade(**members: Any) -> Document:
    """A peer's grade of the buyer's agent in the bilateral scope."""
    assessed = {"band": 1, "established_from": ["mandate", "delegation-chain"]}
    return sealed_grade({
        "spec_version": COMMERCIAL_SPEC,
        "subject": {"organization_id": BUYER.organization_id, "implementation": "Brightwater buying agent 2.1"},
        "level": "peer_assessed",
        "dimensions": {"A": assessed, "B": None, "C": {"band": 1, "established_from": ["offer", "agreement"]},
                       "D": None, "E": None},
        "scope": {"role_scopes": ["a202-scope/bilateral/0.1"], "profiles": [CALIBRATION], "transports": []},
        "held_out_coverage": None,
        "issued_at": at(days(20)),
        "expires_at": at(days(385)),
        "status": "active",
        "determination_ref": {"determination_id": "det_grade_brightwater_01",
                              "determination_hash": stand_in("determination of the grade")},
        "signature": {"key_id": SELLER.key_id, "algorithm": Algorithm.ES256.value, "signature": PLACEHOLDER,
                      "signed_at": at(days(20)), "purpose": Purpose.GRADE_ISSUANCE.value},
        **members,
    })
