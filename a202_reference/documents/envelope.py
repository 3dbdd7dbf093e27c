"""Envelope objects as typed views (objects 2, 4). The raw document stays beside the view: it is what is hashed.

A view is built from a schema-valid document only; building one from anything else raises, because the gate
or the verifier has to judge a document before anyone reads it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from a202_reference.documents.parties import PartyRef
from a202_reference.registries import ObjectType
from a202_reference.times import parse_instant


@dataclass(frozen=True, slots=True)
class Envelope:
    """What every object has in common. `created_at` is its instant; `payload` is the raw payload."""

    raw: Mapping[str, Any]
    id: str
    object_type: ObjectType
    version: int
    created_at: datetime
    author: PartyRef
    mandate_id: str
    transaction_id: str | None
    previous_version_id: str | None
    content_hash: str
    payload: Mapping[str, Any]

    @classmethod
    def of(cls, raw: Mapping[str, Any]) -> Envelope:
        """The view of a schema-valid envelope."""
        by = raw["created_by"]
        return cls(
            raw, raw["id"], ObjectType(raw["object_type"]), int(raw["version"]), instant(raw["created_at"]),
            PartyRef.of(by), by["mandate_id"], raw["transaction_id"], raw["previous_version_id"],
            raw["content_hash"], raw["payload"])


@dataclass(frozen=True, slots=True)
class Approval:
    """A principal's decision on one exact act (objects 4.16)."""

    envelope: Envelope
    action_hash: str
    organization_id: str
    principal_id: str
    role: str
    approved: bool
    expires_at: datetime
    conditions: tuple[str, ...]

    @classmethod
    def of(cls, raw: Mapping[str, Any]) -> Approval:
        """The view of a schema-valid approval."""
        payload = raw["payload"]
        approver = payload["approver"]
        return cls(
            Envelope.of(raw), payload["action_hash"], approver["organization_id"], approver["principal_id"],
            approver["role"], payload["decision"] == "approved", instant(payload["expires_at"]),
            tuple(payload["conditions"]))


@dataclass(frozen=True, slots=True)
class Event:
    """One transition of the record (objects 4.7)."""

    envelope: Envelope
    sequence: int
    event_type: str
    occurred_at: str
    previous_event_hash: str | None
    action_hash: str
    policy_decision_id: str
    from_state: str | None
    to_state: str
    data: Mapping[str, Any]

    @classmethod
    def of(cls, raw: Mapping[str, Any]) -> Event:
        """The view of a schema-valid transaction_event."""
        payload = raw["payload"]
        return cls(
            Envelope.of(raw), int(payload["sequence"]), payload["event_type"], payload["occurred_at"],
            payload["previous_event_hash"], payload["action_hash"], payload["policy_decision_id"],
            payload["from_state"], payload["to_state"], payload["data"])

    @property
    def signed_by(self) -> list[str]:
        """The key identifiers of its signatures, in order."""
        return [entry["key_id"] for entry in self.envelope.raw["signatures"]]


@dataclass(frozen=True, slots=True)
class Agreement:
    """Terms both parties signed (objects 4.6)."""

    envelope: Envelope
    buyer: PartyRef
    supplier: PartyRef
    terms: Mapping[str, Any]
    terms_hash: str
    accepted_offer_id: str
    acceptance_id: str
    commitment_ids: tuple[str, ...]

    @classmethod
    def of(cls, raw: Mapping[str, Any]) -> Agreement:
        """The view of a schema-valid agreement."""
        payload = raw["payload"]
        return cls(
            Envelope.of(raw), PartyRef.of(payload["buyer"]), PartyRef.of(payload["supplier"]), payload["terms"],
            payload["terms_hash"], payload["accepted_offer_id"], payload["acceptance_id"],
            tuple(payload["commitment_ids"]))


@dataclass(frozen=True, slots=True)
class Obligation:
    """What one party owes the other under an agreement (objects 4.9). `consideration` is money or None."""

    envelope: Envelope
    agreement_id: str
    obligor: PartyRef
    obligee: PartyRef
    subject: Mapping[str, Any]
    due_condition: Mapping[str, Any]
    quantity: str
    unit_code: str
    consideration: Mapping[str, Any] | None
    state: str

    @classmethod
    def of(cls, raw: Mapping[str, Any]) -> Obligation:
        """The view of a schema-valid obligation."""
        payload = raw["payload"]
        return cls(
            Envelope.of(raw), payload["agreement_id"], PartyRef.of(payload["obligor"]),
            PartyRef.of(payload["obligee"]), payload["subject"], payload["due_condition"], payload["quantity"],
            payload["unit_code"], payload["consideration"], payload["state"])


@dataclass(frozen=True, slots=True)
class Assertion:
    """The obligor's evidenced claim that it performed (objects 4.10)."""

    envelope: Envelope
    obligation_id: str
    asserted_quantity: str
    unit_code: str
    evidence_refs: tuple[Mapping[str, Any], ...]

    @classmethod
    def of(cls, raw: Mapping[str, Any]) -> Assertion:
        """The view of a schema-valid performance_event."""
        payload = raw["payload"]
        return cls(
            Envelope.of(raw), payload["obligation_id"], payload["asserted_quantity"], payload["unit_code"],
            tuple(payload["evidence_refs"]))


@dataclass(frozen=True, slots=True)
class Response:
    """The obligee's answer (objects 4.11). Members that its kind does not carry are None."""

    envelope: Envelope
    obligation_id: str
    response_type: str
    assertion_id: str | None
    assertion_hash: str | None
    accepted_quantity: str | None
    remainder_obligation_id: str | None
    reason_code: str | None

    @classmethod
    def of(cls, raw: Mapping[str, Any]) -> Response:
        """The view of a schema-valid obligation_response."""
        payload = raw["payload"]
        return cls(
            Envelope.of(raw), payload["obligation_id"], payload["response_type"], payload.get("assertion_id"),
            payload.get("assertion_hash"), payload.get("accepted_quantity"),
            payload.get("remainder_obligation_id"), payload.get("reason_code"))


def instant(text: str) -> datetime:
    """The instant in a schema-valid document. Raises ValueError where the schema was not asked first."""
    moment = parse_instant(text)
    if moment is None:
        raise ValueError("a schema-valid document holds readable instants")
    return moment
