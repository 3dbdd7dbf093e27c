"""Checks of transaction events (verification 5.4, A.5; rules 6.5, 12.7, 12.8).

An event refers; it never tells. Its data is a closed list of references whose choice depends on the stream
kind and, on a session, on whether the resulting state closes it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from a202_reference.codes import Code
from a202_reference.gate.common import Check
from a202_reference.gate.leaks import names_rival
from a202_reference.gate.reading import Subject, is_one_of, members, objects_in
from a202_reference.identifiers import Prefix, is_sha256_hex
from a202_reference.registries import CLOSE_REASONS, UNDEFINED_EVENTS, ObjectType

STREAM_KINDS = frozenset({"transaction", "session"})
_CLOSING_STATES = frozenset({"rejected", "withdrawn", "expired", "closed"})
_SESSION_DATA: Mapping[str, Prefix] = {
    "offer_id": Prefix.OFFER,
    "supersedes_offer_id": Prefix.OFFER,
    "acceptance_id": Prefix.ACCEPTANCE,
    "clarification_id": Prefix.CLARIFICATION,
    "approval_id": Prefix.APPROVAL,
}
_TRANSACTION_DATA: Mapping[str, Prefix | None] = {
    "request_id": Prefix.COMMERCIAL_REQUEST,
    "session_id": Prefix.SESSION,
    "invitation_id": Prefix.INVITATION,
    "invitation_acceptance_id": Prefix.INVITATION_ACCEPTANCE,
    "offer_id": Prefix.OFFER,
    "acceptance_id": Prefix.ACCEPTANCE,
    "agreement_id": Prefix.AGREEMENT,
    "commitment_id": Prefix.COMMITMENT,
    "obligation_id": Prefix.OBLIGATION,
    "performance_event_id": Prefix.PERFORMANCE_EVENT,
    "obligation_response_id": Prefix.OBLIGATION_RESPONSE,
    "exception_id": Prefix.EXCEPTION,
    "dispute_id": Prefix.DISPUTE,
    "determination_id": Prefix.DETERMINATION,
    "approval_id": Prefix.APPROVAL,
    "settlement_instruction_id": Prefix.SETTLEMENT_INSTRUCTION,
    "adapter_receipt_id": Prefix.ADAPTER_RECEIPT,
    "termination_record_hash": None,
    "remediation_hash": None,
    "audit_bundle_hash": None,
}
"""Member to the prefix of its identifier; None: a hash."""


def stream_kind(subject: Subject) -> Iterator[Code]:
    """Only transactions and sessions have streams."""
    if _kind(subject) not in STREAM_KINDS:
        yield Code.AUCTION_FORMAT_UNSUPPORTED


def data_discloses(subject: Subject) -> Iterator[Code]:
    """The data names no competitor and holds nothing beyond its closed list of references."""
    data = subject.payload.get("data")
    rival = any(names_rival(str(name)) for node in objects_in(data) for name in node)
    if rival or (isinstance(data, dict) and not _fits(subject, data)):
        yield Code.DISCLOSURE_POLICY_VIOLATION


def undefined_event(subject: Subject) -> Iterator[Code]:
    """Nothing is ever deleted."""
    event_type = subject.payload.get("event_type")
    if is_one_of(event_type, UNDEFINED_EVENTS):
        yield Code.STATE_TRANSITION_DENIED


def _kind(subject: Subject) -> Any:
    kind = members(subject.payload.get("stream")).get("kind")
    return kind if isinstance(kind, str) else None


def _fits(subject: Subject, data: Mapping[str, Any]) -> bool:
    if _kind(subject) != "session":
        return all(_names(_TRANSACTION_DATA, name, value) for name, value in data.items())
    state = subject.payload.get("to_state")
    if is_one_of(state, _CLOSING_STATES):
        reason = data.get("close_reason")
        return data.keys() == {"close_reason"} and is_one_of(reason, CLOSE_REASONS)
    return all(_names(_SESSION_DATA, name, value) or (name == "supersedes_offer_id" and value is None)
               for name, value in data.items())


def _names(shape: Mapping[str, Prefix | None], name: str, value: Any) -> bool:
    if name not in shape:
        return False
    prefix = shape[name]
    return is_sha256_hex(value) if prefix is None else prefix.names(value)


CHECKS: dict[ObjectType, tuple[Check, ...]] = {
    ObjectType.TRANSACTION_EVENT: (stream_kind, data_discloses, undefined_event),
}
