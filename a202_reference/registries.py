"""The closed registries (rules 12, 1.4, 10; verification appendix A).

Every registry is closed and is checked twice, by schema and by code; neither check relies on the other.
What is not listed here is refused, never passed through.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType

from a202_reference.identifiers import Prefix

COMMERCIAL_SPEC = "a202-commercial/0.1"
MANDATE_SPEC = "a202-mandate/0.1"


class ObjectType(StrEnum):
    """Envelope object types (rules 12.2): 23 with a defined payload, 10 of which only the envelope is."""

    ACTION_ENVELOPE = "action_envelope"
    COUNTERPARTY_INVITATION = "counterparty_invitation"
    INVITATION_ACCEPTANCE = "invitation_acceptance"
    OFFER = "offer"
    ACCEPTANCE = "acceptance"
    AGREEMENT = "agreement"
    TRANSACTION_EVENT = "transaction_event"
    POLICY_DECISION = "policy_decision"
    OBLIGATION = "obligation"
    PERFORMANCE_EVENT = "performance_event"
    OBLIGATION_RESPONSE = "obligation_response"
    DISPUTE = "dispute"
    DETERMINATION = "determination"
    SETTLEMENT_INSTRUCTION = "settlement_instruction"
    ADAPTER_RECEIPT = "adapter_receipt"
    APPROVAL = "approval"
    COMMITMENT = "commitment"
    EVIDENCE = "evidence"
    REVOCATION_RECORD = "revocation_record"
    KEY_RECORD = "key_record"
    ORGANIZATION = "organization"
    AGENT = "agent"
    PRINCIPAL = "principal"
    EXTERNAL_IDENTITY_ASSERTION = "external_identity_assertion"
    CAPABILITY = "capability"
    INTENT = "intent"
    QUALIFICATION_REQUIREMENT = "qualification_requirement"
    COMMERCIAL_REQUEST = "commercial_request"
    CLARIFICATION = "clarification"
    DELEGATION = "delegation"
    EXCEPTION = "exception"
    EVIDENCE_MANIFEST = "evidence_manifest"
    AUDIT_BUNDLE = "audit_bundle"


class Purpose(StrEnum):
    """What a signature is for; part of the signed bytes (rules 1.4)."""

    OBJECT_ISSUANCE = "object_issuance"
    ACTION_SUBMISSION = "action_submission"
    INVITATION_ISSUANCE = "invitation_issuance"
    INVITATION_CLAIM = "invitation_claim"
    OFFER_SUBMISSION = "offer_submission"
    OFFER_ACCEPTANCE = "offer_acceptance"
    AGREEMENT_COMMITMENT = "agreement_commitment"
    EVENT_APPEND = "event_append"
    POLICY_DECISION = "policy_decision"
    ADAPTER_RECEIPT = "adapter_receipt"
    AUDIT_SEAL = "audit_seal"
    MANDATE_ISSUANCE = "mandate_issuance"
    GRADE_ISSUANCE = "grade_issuance"


class Algorithm(StrEnum):
    """Signature suites: ES256 is issued, both are verified (D-4)."""

    ES256 = "ES256"
    EDDSA = "EdDSA"


@dataclass(frozen=True, slots=True)
class TypeRule:
    """What is fixed for one object type.

    prefix: of its identifiers; None where no prefix is registered.
    purposes: accepted signature purposes; None where no table row exists (D-6).
    minimum_signatures: demanded by the schema.
    null_transaction: whether `transaction_id` may be null (rules 1.2).
    bilateral: whether it belongs to the bilateral role scope.
    """

    prefix: Prefix | None
    purposes: frozenset[Purpose] | None
    minimum_signatures: int
    null_transaction: bool = False
    bilateral: bool = True


def _either(purpose: Purpose) -> frozenset[Purpose]:
    return frozenset({purpose, Purpose.OBJECT_ISSUANCE})


_ISSUED = frozenset({Purpose.OBJECT_ISSUANCE})

TYPE_RULES: Mapping[ObjectType, TypeRule] = MappingProxyType({
    ObjectType.ACTION_ENVELOPE: TypeRule(Prefix.ACTION_ENVELOPE, frozenset({Purpose.ACTION_SUBMISSION}), 1),
    ObjectType.COUNTERPARTY_INVITATION: TypeRule(
        Prefix.INVITATION, _either(Purpose.INVITATION_ISSUANCE), 1, bilateral=False),
    ObjectType.INVITATION_ACCEPTANCE: TypeRule(
        Prefix.INVITATION_ACCEPTANCE, _either(Purpose.INVITATION_CLAIM), 2, bilateral=False),
    ObjectType.OFFER: TypeRule(Prefix.OFFER, _either(Purpose.OFFER_SUBMISSION), 1),
    ObjectType.ACCEPTANCE: TypeRule(Prefix.ACCEPTANCE, _either(Purpose.OFFER_ACCEPTANCE), 1),
    ObjectType.AGREEMENT: TypeRule(Prefix.AGREEMENT, _either(Purpose.AGREEMENT_COMMITMENT), 2),
    ObjectType.TRANSACTION_EVENT: TypeRule(Prefix.EVENT, frozenset({Purpose.EVENT_APPEND}), 1),
    ObjectType.POLICY_DECISION: TypeRule(Prefix.POLICY_DECISION, frozenset({Purpose.POLICY_DECISION}), 1),
    ObjectType.OBLIGATION: TypeRule(Prefix.OBLIGATION, _ISSUED, 1),
    ObjectType.PERFORMANCE_EVENT: TypeRule(Prefix.PERFORMANCE_EVENT, _ISSUED, 1),
    ObjectType.OBLIGATION_RESPONSE: TypeRule(Prefix.OBLIGATION_RESPONSE, _ISSUED, 1),
    ObjectType.DISPUTE: TypeRule(Prefix.DISPUTE, _ISSUED, 1),
    ObjectType.DETERMINATION: TypeRule(Prefix.DETERMINATION, _ISSUED, 1),
    ObjectType.SETTLEMENT_INSTRUCTION: TypeRule(Prefix.SETTLEMENT_INSTRUCTION, _ISSUED, 1),
    ObjectType.ADAPTER_RECEIPT: TypeRule(Prefix.ADAPTER_RECEIPT, _either(Purpose.ADAPTER_RECEIPT), 0),
    ObjectType.APPROVAL: TypeRule(Prefix.APPROVAL, _ISSUED, 0),
    ObjectType.COMMITMENT: TypeRule(Prefix.COMMITMENT, _ISSUED, 0),
    ObjectType.EVIDENCE: TypeRule(Prefix.EVIDENCE, _ISSUED, 0),
    ObjectType.REVOCATION_RECORD: TypeRule(Prefix.REVOCATION_RECORD, _ISSUED, 0, null_transaction=True),
    ObjectType.KEY_RECORD: TypeRule(Prefix.KEY, _ISSUED, 0, null_transaction=True),
    ObjectType.ORGANIZATION: TypeRule(Prefix.ORGANIZATION, None, 0, null_transaction=True),
    ObjectType.AGENT: TypeRule(Prefix.AGENT, None, 0, null_transaction=True),
    ObjectType.PRINCIPAL: TypeRule(Prefix.PRINCIPAL, None, 0, null_transaction=True),
    ObjectType.EXTERNAL_IDENTITY_ASSERTION: TypeRule(None, None, 0, null_transaction=True),
    ObjectType.CAPABILITY: TypeRule(Prefix.CAPABILITY, None, 0, null_transaction=True),
    ObjectType.INTENT: TypeRule(Prefix.INTENT, None, 0, null_transaction=True),
    ObjectType.QUALIFICATION_REQUIREMENT: TypeRule(None, None, 0, bilateral=False),
    ObjectType.COMMERCIAL_REQUEST: TypeRule(Prefix.COMMERCIAL_REQUEST, None, 0, bilateral=False),
    ObjectType.CLARIFICATION: TypeRule(Prefix.CLARIFICATION, None, 0, bilateral=False),
    ObjectType.DELEGATION: TypeRule(None, None, 0, null_transaction=True),
    ObjectType.EXCEPTION: TypeRule(Prefix.EXCEPTION, None, 0),
    ObjectType.EVIDENCE_MANIFEST: TypeRule(None, None, 0),
    ObjectType.AUDIT_BUNDLE: TypeRule(None, None, 0),
})

PLACEHOLDER_SIGNATURES = frozenset({
    "synthetic-placeholder-signature-value",
    "synthetic-placeholder-claimant-signature",
    "synthetic-placeholder-operator-signature",
    "synthetic-placeholder",
})
"""Values that say openly that nobody signed (D-5): not checkable in a report, never enough for an act."""


class ConstraintType(StrEnum):
    """Registered constraint types (rules 12.3)."""

    DECIMAL = "commercial.decimal"
    INTEGER = "commercial.integer"
    STRING = "commercial.string"
    BOOLEAN = "commercial.boolean"
    TIMESTAMP = "commercial.timestamp"
    SET = "commercial.set"
    DISCLOSURE_PATH = "disclosure.path"
    EVIDENCE_REFERENCE = "evidence.reference"
    COUNTERPARTY_REFERENCE = "counterparty.reference"
    GEOGRAPHY_REFERENCE = "geography.reference"


class ConstraintOperator(StrEnum):
    """Registered constraint operators (rules 12.3)."""

    EQUALS = "equals"
    NOT_EQUALS = "not_equals"
    ONE_OF = "one_of"
    NONE_OF = "none_of"
    MINIMUM = "minimum"
    MAXIMUM = "maximum"
    MATCHES = "matches"
    PRESENT = "present"
    ABSENT = "absent"
    BEFORE = "before"
    AFTER = "after"
    EVIDENCE_VERIFIED = "evidence_verified"


class MandateStatus(StrEnum):
    """What a mandate's status endpoint may answer (rules 3.6)."""

    ACTIVE = "active"
    SUSPENDED = "suspended"
    REVOKED = "revoked"
    EXPIRED = "expired"


class EvidenceType(StrEnum):
    """Registered evidence types (rules 12.6)."""

    ATTESTATION = "attestation"
    THIRD_PARTY_CERTIFICATE = "third_party_certificate"
    INSPECTION_RESULT = "inspection_result"
    DELIVERY_CONFIRMATION = "delivery_confirmation"
    MEASUREMENT_RECORD = "measurement_record"
    ADAPTER_RECEIPT = "adapter_receipt"
    VERIFICATION_REPORT = "verification_report"
    SIGNED_DOCUMENT = "signed_document"


class RejectionReason(StrEnum):
    """Why an obligee may reject an assertion (rules 12.4)."""

    EVIDENCE_INSUFFICIENT = "evidence_insufficient"
    EVIDENCE_UNVERIFIED = "evidence_unverified"
    QUANTITY_SHORT = "quantity_short"
    SUBJECT_NOT_AS_AGREED = "subject_not_as_agreed"
    DUE_CONDITION_NOT_MET = "due_condition_not_met"
    ASSERTION_UNAUTHORIZED = "assertion_unauthorized"


class ResponseType(StrEnum):
    """How an obligee answers (rules 12.4)."""

    ACCEPT = "accept"
    REJECT = "reject"
    WAIVE = "waive"


class DueType(StrEnum):
    """Registered due condition types (rules 8.2)."""

    AT_TIME = "due_at_time"
    ON_EVENT = "due_on_event"
    ON_DISCHARGE = "due_on_discharge"
    ALL_OF = "all_of"


class SubjectType(StrEnum):
    """What a dispute may be about (rules 12.4)."""

    ACT = "act"
    DETERMINATION = "determination"
    OBLIGATION_STATE = "obligation_state"
    REFUSAL = "refusal"


class Effect(StrEnum):
    """What a determination may do, weakest first (rules 12.4)."""

    ADVISORY = "advisory"
    PRESUMPTIVE = "presumptive"
    BINDING = "binding"


class RoleScope(StrEnum):
    """Registered role scopes (rules 10)."""

    BILATERAL = "a202-scope/bilateral/0.1"
    OPERATED = "a202-scope/operated/0.1"


APPEAL_GROUNDS = frozenset({
    "rule_misapplied", "input_did_not_exercise_invariant", "wrong_scope", "wrong_rule_version"})
DISPUTE_GROUNDS = frozenset({
    "authority_absent", "authority_exceeded", "state_transition_invalid", "obligation_not_performed",
    "obligation_wrongly_rejected", "evidence_unverified", "disclosure_breach", "refusal_incorrect",
    "rule_misapplied"})
SUPERSESSION_REASONS = frozenset({"appeal_outcome", "corrected_input", "rule_misapplication"})
CLOSE_REASONS = frozenset({
    "not_selected", "withdrawn_by_offeror", "declined_by_offeree", "session_expired", "transaction_cancelled",
    "transaction_expired", "mandate_inactive", "qualification_failed"})
UNDEFINED_EVENTS = frozenset({
    "determination.deleted", "dispute.deleted", "obligation.deleted", "evidence.deleted"})
RAILS = frozenset({"rail_test_sandbox"})
COMMERCIAL_LAYER_ORGANIZATIONS = frozenset({"org_a202_operator"})

FAMILIES: Mapping[RoleScope, frozenset[str]] = MappingProxyType({
    RoleScope.BILATERAL: frozenset({
        "mandate", "delegation-chain", "offer", "agreement", "obligation", "evidence-and-verification",
        "dispute-and-determination", "settlement", "termination", "carrier-declaration", "key-record", "approval",
        "party-family", "envelope-annotation", "policy-decision", "conformance-grade"}),
    RoleScope.OPERATED: frozenset({
        "invitation", "session-event", "auction", "stream-disclosure", "annotated-offer",
        "direct-formation-contention", "appeal", "conformance-grade"}),
})
