"""Closed vocabularies of outcomes, and the registered refusal codes (rules, section 11).

Rules this module holds:

- a check has exactly three outcomes (rules 6.7); they are never folded into a boolean;
- a decision has exactly three values (rules 4);
- a refusal is a returned value that carries registered codes and a detail for a reader; an exception
  means a defect or a broken environment, never a verdict;
- the 77 codes below are the complete register. Nothing else may be emitted as a code.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Self


class Outcome(StrEnum):
    """Result of one verification check. It has no truth value: ask for the member you mean."""

    VERIFIED = "verified"
    FAILED = "failed"
    NOT_CHECKABLE = "not_checkable"

    def __bool__(self) -> bool:
        raise TypeError("an outcome has three values; compare it with the member you mean")


class Decision(StrEnum):
    """Answer to one proposed act under a mandate."""

    ALLOW = "allow"
    DENY = "deny"
    REQUIRE_APPROVAL = "require_approval"

    def __bool__(self) -> bool:
        raise TypeError("a decision has three values; compare it with the member you mean")


class Code(StrEnum):
    """A registered refusal code. `meaning` is one clause for a reader, `section` where the rule stands."""

    meaning: str
    section: str

    def __new__(cls, value: str, meaning: str, section: str) -> Self:
        """A member that equals its code and carries what it means."""
        member = str.__new__(cls, value)
        member._value_ = value
        member.meaning = meaning
        member.section = section
        return member

    STATE_TRANSITION_DENIED = "A202-STATE-TRANSITION-DENIED", "the act is not legal from the present state", "6.1"
    SEQUENCE_CONFLICT = "A202-SEQUENCE-CONFLICT", "the record moved, or an idempotency key was reused", "5.6"
    STREAM_MISMATCH = "A202-STREAM-MISMATCH", "the act belongs to another transaction or session", "5.1"
    OFFER_STALE = "A202-OFFER-STALE", "the offer is no longer the current one", "5.1"
    OFFER_EXPIRED = "A202-OFFER-EXPIRED", "the offer's validity is over, or ends before it begins", "5.1"
    APPROVAL_REQUIRED = "A202-APPROVAL-REQUIRED", "a named approver must decide first", "3.8"
    APPROVAL_HASH_MISMATCH = "A202-APPROVAL-HASH-MISMATCH", "the decision or approval is over another act", "3.8"
    AGREEMENT_HASH_MISMATCH = "A202-AGREEMENT-HASH-MISMATCH", "the agreement's bytes do not agree", "5.1"
    AGREEMENT_AMENDMENT_UNACCEPTED = (
        "A202-AGREEMENT-AMENDMENT-UNACCEPTED", "an amended version reuses offer or acceptance", "5.3")
    MANDATE_INACTIVE = "A202-MANDATE-INACTIVE", "the mandate is expired, suspended or revoked", "3.6"
    MANDATE_INTERVAL_INVALID = "A202-MANDATE-INTERVAL-INVALID", "the mandate does not start before it ends", "3.2"
    MANDATE_UNBOUNDED = "A202-MANDATE-UNBOUNDED", "the mandate has no constraint", "3.2"
    MANDATE_SCOPE_TOO_BROAD = (
        "A202-MANDATE-SCOPE-TOO-BROAD", "the scope bounds neither transactions nor categories", "3.2")
    MANDATE_SUBJECT_AMBIGUOUS = (
        "A202-MANDATE-SUBJECT-AMBIGUOUS", "the subject is not exactly one agent or principal", "3.2")
    MANDATE_DELEGATION_INCOHERENT = (
        "A202-MANDATE-DELEGATION-INCOHERENT", "delegation flag and depth contradict each other", "3.2")
    MANDATE_DELEGATION_WIDENING = (
        "A202-MANDATE-DELEGATION-WIDENING", "the child is wider than its parent, or that is unproven", "3.7")
    MANDATE_CONSTRAINT_UNKNOWN = (
        "A202-MANDATE-CONSTRAINT-UNKNOWN", "a constraint is not registered or cannot be evaluated", "3.4")
    MANDATE_STATUS_INSECURE = "A202-MANDATE-STATUS-INSECURE", "the status endpoint is not HTTPS", "3.2"
    ENDPOINT_INSECURE = "A202-ENDPOINT-INSECURE", "a declared endpoint is not HTTPS", "11"
    MANDATE_STATUS_UNRESOLVED = "A202-MANDATE-STATUS-UNRESOLVED", "no fresh status of the mandate is at hand", "3.6"
    ANNOTATION_FORGED = "A202-ANNOTATION-FORGED", "control-plane annotations where none may be", "1.1"
    DISCLOSURE_POLICY_VIOLATION = (
        "A202-DISCLOSURE-POLICY-VIOLATION", "the object tells what its reader may not know", "12.8")
    TERMS_INVALID = "A202-TERMS-INVALID", "money, percentage, quantity or calendar of a wrong form", "2"
    HASH_FORMAT_INVALID = "A202-HASH-FORMAT-INVALID", "a hash is not 64 lowercase hexadecimal digits", "1.1"
    POLICY_DENIED = "A202-POLICY-DENIED", "a deterministic rule does not permit it", "3.5"
    DISCLOSURE_DENIED = "A202-DISCLOSURE-DENIED", "private data would be revealed", "4"
    EVIDENCE_UNVERIFIED = "A202-EVIDENCE-UNVERIFIED", "needed evidence is missing or did not verify", "3.4"
    PROFILE_UNKNOWN = "A202-PROFILE-UNKNOWN", "the transaction profile is not registered", "2"
    PROFILE_TERMS_INVALID = "A202-PROFILE-TERMS-INVALID", "the profile's schema refuses the terms", "2"
    INVITATION_UNCLAIMABLE = "A202-INVITATION-UNCLAIMABLE", "the claim is refused", "11"
    INVITATION_EXPIRED = "A202-INVITATION-EXPIRED", "the invitation is over, or ends before it begins", "11"
    INVITATION_SCOPE_EXCEEDED = (
        "A202-INVITATION-SCOPE-EXCEEDED", "the grant reaches beyond the one transaction", "3.9")
    INVITATION_HASH_MISMATCH = "A202-INVITATION-HASH-MISMATCH", "the acceptance names other invitation bytes", "1.1"
    INVITATION_CLAIM_UNSIGNED = "A202-INVITATION-CLAIM-UNSIGNED", "claim or operator signature is missing", "1.4"
    INVITATION_SECRET_DISCLOSED = (
        "A202-INVITATION-SECRET-DISCLOSED", "a claim secret stands in a shared object", "12.8")
    ASSURANCE_UNSUPPORTED = "A202-ASSURANCE-UNSUPPORTED", "an assurance level without evidence", "11"
    CUSTODY_APPROVAL_REQUIRED = "A202-CUSTODY-APPROVAL-REQUIRED", "an operator-held key without approval", "3.8"
    OBLIGATION_CONDITION_UNKNOWN = (
        "A202-OBLIGATION-CONDITION-UNKNOWN", "the due condition's type or members are not registered", "8.2")
    OBLIGATION_CONDITION_CYCLIC = (
        "A202-OBLIGATION-CONDITION-CYCLIC", "obligations wait for each other's discharge in a loop", "8.2")
    OBLIGATION_SUBJECT_UNREFERENCED = (
        "A202-OBLIGATION-SUBJECT-UNREFERENCED", "subject or party does not match the agreement", "8.1")
    OBLIGATION_ASSERTION_UNEVIDENCED = (
        "A202-OBLIGATION-ASSERTION-UNEVIDENCED", "an assertion of performance without evidence", "8.3")
    OBLIGATION_RESPONSE_UNAUTHORIZED = (
        "A202-OBLIGATION-RESPONSE-UNAUTHORIZED", "only the obligee answers an obligation", "8.4")
    OBLIGATION_RESPONSE_HASH_MISMATCH = (
        "A202-OBLIGATION-RESPONSE-HASH-MISMATCH", "the response is bound to other assertion bytes", "8.4")
    OBLIGATION_REMAINDER_MISSING = (
        "A202-OBLIGATION-REMAINDER-MISSING", "a partial acceptance names no exact remainder", "8.4")
    OBLIGATION_TERMS_MUTATED = "A202-OBLIGATION-TERMS-MUTATED", "the act would change what is owed", "8.4"
    OBLIGATION_REJECTION_REASON_UNKNOWN = (
        "A202-OBLIGATION-REJECTION-REASON-UNKNOWN", "the rejection reason is not registered", "8.4")
    DISPUTE_OUT_OF_WINDOW = "A202-DISPUTE-OUT-OF-WINDOW", "too late, or the window does not resolve", "9.1"
    DISPUTE_GROUNDS_UNKNOWN = "A202-DISPUTE-GROUNDS-UNKNOWN", "no ground, or one that is not registered", "9.1"
    DISPUTE_SUBJECT_UNREFERENCED = (
        "A202-DISPUTE-SUBJECT-UNREFERENCED", "the disputed subject does not resolve, or is another", "9.1")
    DETERMINATION_EFFECT_OVERCLAIM = (
        "A202-DETERMINATION-EFFECT-OVERCLAIM", "the effect exceeds what the rules grant", "9.2")
    DETERMINATION_SUPERSESSION_UNREASONED = (
        "A202-DETERMINATION-SUPERSESSION-UNREASONED", "the supersession has no registered reason", "9.2")
    DETERMINATION_SUPERSESSION_FORKED = (
        "A202-DETERMINATION-SUPERSESSION-FORKED", "the determination is superseded already", "9.2")
    DETERMINATION_NOT_FOLLOWING = (
        "A202-DETERMINATION-NOT-FOLLOWING", "the outcome does not follow from rules and inputs", "9.2")
    APPEAL_GROUNDS_UNKNOWN = "A202-APPEAL-GROUNDS-UNKNOWN", "the ground is none of an appeal", "9.3"
    EVIDENCE_HASH_MISMATCH = "A202-EVIDENCE-HASH-MISMATCH", "a recomputed hash differs, or a reference has none", "6.7"
    EVIDENCE_SIGNATURE_INVALID = (
        "A202-EVIDENCE-SIGNATURE-INVALID", "a signature is false, missing or of another purpose", "1.3")
    EVIDENCE_CHAIN_GAP = "A202-EVIDENCE-CHAIN-GAP", "a gap or a fork in versions or events", "6.7"
    EVIDENCE_TRANSITION_ILLEGAL = (
        "A202-EVIDENCE-TRANSITION-ILLEGAL", "a replayed move is illegal, unguarded or unauthorised", "6.7")
    EVIDENCE_TYPE_UNKNOWN = "A202-EVIDENCE-TYPE-UNKNOWN", "the evidence type is not registered", "12.6"
    EVIDENCE_REPORT_INVALID = "A202-EVIDENCE-REPORT-INVALID", "the report hides its scope or its gaps", "6.7"
    EVIDENCE_DISCLOSURE_INCOMPLETE = (
        "A202-EVIDENCE-DISCLOSURE-INCOMPLETE", "an object is needed, neither given nor stated as a gap", "6.7")
    SETTLEMENT_RAIL_UNKNOWN = "A202-SETTLEMENT-RAIL-UNKNOWN", "the settlement rail is not registered", "9.4"
    SETTLEMENT_TRIGGER_ABSENT = "A202-SETTLEMENT-TRIGGER-ABSENT", "no recorded act triggers the settlement", "9.4"
    SETTLEMENT_IDEMPOTENCY_CONFLICT = (
        "A202-SETTLEMENT-IDEMPOTENCY-CONFLICT", "the pair was recorded with other content", "9.4")
    SETTLEMENT_RECEIPT_UNMATCHED = (
        "A202-SETTLEMENT-RECEIPT-UNMATCHED", "the receipt matches no issued instruction", "9.5")
    SETTLEMENT_CUSTODY_REFUSED = "A202-SETTLEMENT-CUSTODY-REFUSED", "funds would rest with the commercial layer", "9.4"
    EXTENSION_UNSUPPORTED = "A202-EXTENSION-UNSUPPORTED", "the carrier declaration does not fit", "6.8"
    AUCTION_CLOSED = "A202-AUCTION-CLOSED", "the bid came after the close", "11"
    AUCTION_FORMAT_UNSUPPORTED = "A202-AUCTION-FORMAT-UNSUPPORTED", "an event format that is not defined", "6.5"
    BID_NO_IMPROVEMENT = "A202-BID-NO-IMPROVEMENT", "the bid is no better than the bidder's own", "11"
    LOT_UNKNOWN = "A202-LOT-UNKNOWN", "an award unit is named", "12.8"
    LOT_ALREADY_AWARDED = "A202-LOT-ALREADY-AWARDED", "the award unit is awarded already", "11"
    SCORING_RULE_FROZEN = "A202-SCORING-RULE-FROZEN", "a frozen rule was changed", "11"
    ROUND_NOT_OPEN = "A202-ROUND-NOT-OPEN", "the bid is outside its window", "11"
    GRADE_SCOPE_UNKNOWN = "A202-GRADE-SCOPE-UNKNOWN", "the role scope is not registered", "10"
    GRADE_SCOPE_INVALID = "A202-GRADE-SCOPE-INVALID", "not exactly one role scope", "10"
    GRADE_SCOPE_OVERCLAIM = "A202-GRADE-SCOPE-OVERCLAIM", "coverage outside the named role scope", "10"


@dataclass(frozen=True, slots=True)
class Refusal:
    """A refused act: nothing was recorded.

    codes: the registered codes, distinct, in evaluation order; the first is the headline (D-48).
    detail: for the caller; names the member or rule that failed and what to send instead.
    proposed_action: the exact act document to verify, where a decision was made over another act.
    """

    codes: tuple[Code, ...]
    detail: str
    proposed_action: dict[str, Any] | None = None

    def __post_init__(self) -> None:
        if not self.codes:
            raise ValueError("a refusal carries at least one registered code")

    @classmethod
    def of(cls, code: Code, detail: str) -> Refusal:
        """A refusal with one code."""
        return cls((code,), detail)


def distinct(codes: Iterable[Code]) -> tuple[Code, ...]:
    """The codes, each once, in the order of first appearance (D-48)."""
    return tuple(dict.fromkeys(codes))
