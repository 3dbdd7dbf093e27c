"""Approval rules, and what a presented approval releases (rules 3.8; D-15; design override 1; surface 2).

Rules this module applies:

- a rule matches where its predicate holds, where the predicate cannot be evaluated, and where its path is
  absent under any operator but `present` and `absent`. A rule's predicate has no type, so each reading that
  the value admits is tried, and one that holds is enough;
- an approval releases a hold only, never a deny. It binds the exact action hash (`A202-APPROVAL-HASH-MISMATCH`)
  and the same transaction (`A202-STREAM-MISMATCH`); it is signed (`A202-EVIDENCE-SIGNATURE-INVALID`) by a key
  that a verified mandate binds to that principal as issuer or as principal subject; it is approved, unexpired,
  without conditions that nobody here can check, not longer-lived than the rule admits, not consumed, and of
  the organisation and role that each rule names, or, for a hold by a constraint, of the represented
  organisation (`A202-APPROVAL-REQUIRED` for each of these);
- a rejected approval leaves the hold in place.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, TypeAlias

from a202_reference.authority.constraints import EvidenceLookup, Result, evaluate
from a202_reference.authority.paths import ABSENT, parse_path, resolve
from a202_reference.canonical import content_bytes
from a202_reference.codes import Code, Outcome
from a202_reference.documents.envelope import Approval
from a202_reference.documents.mandate import ApprovalRule, Predicate
from a202_reference.keys import Owner
from a202_reference.registries import TYPE_RULES, ConstraintOperator, ConstraintType, ObjectType
from a202_reference.signing import KeyResolver, check_entry

PrincipalKeys: TypeAlias = Callable[[str], Owner | None]
"""Gives the principal that a verified mandate binds a key to, or None."""

_READINGS = (
    ConstraintType.DECIMAL, ConstraintType.TIMESTAMP, ConstraintType.BOOLEAN, ConstraintType.STRING,
    ConstraintType.SET, ConstraintType.EVIDENCE_REFERENCE,
)
_EXISTENCE = frozenset({ConstraintOperator.PRESENT, ConstraintOperator.ABSENT})


@dataclass(frozen=True, slots=True)
class Hold:
    """What holds an act: a matched rule, or (rule None) a constraint that fails into approval.

    organization_id: whose approver can release it.
    """

    organization_id: str
    rule: ApprovalRule | None = None


@dataclass(frozen=True, slots=True)
class ApprovalFault:
    """Why a presented approval releases nothing."""

    code: Code
    detail: str


def rule_matches(when: Predicate, act: Mapping[str, Any], evidence: EvidenceLookup) -> bool:
    """True where a rule's predicate asks for a person."""
    names = parse_path(when.path)
    if names is None:
        return True
    if when.operator not in _EXISTENCE and resolve(act, names) is ABSENT:
        return True
    results = {evaluate(kind, when, act, evidence)[0] for kind in _READINGS}
    return Result.SATISFIED in results or results == {Result.UNEVALUABLE}


def approval_fault(  # noqa: PLR0913 (the rule reads six things and none of them belong together)
    approval: Approval,
    holds: tuple[Hold, ...],
    *,
    action_hash: str,
    transaction_id: object,
    now: datetime,
    keys: KeyResolver,
    principals: PrincipalKeys,
    consumed: bool,
) -> ApprovalFault | None:
    """The first reason why this approval does not release these holds, or None where it does."""
    return (
        _signature_fault(approval, keys, principals)
        or _binding_fault(approval, action_hash, transaction_id)
        or _standing_fault(approval, now, consumed)
        or next((fault for hold in holds if (fault := _hold_fault(approval, hold))), None)
    )


def _required(detail: str) -> ApprovalFault:
    return ApprovalFault(Code.APPROVAL_REQUIRED, detail)


def _signature_fault(approval: Approval, keys: KeyResolver, principals: PrincipalKeys) -> ApprovalFault | None:
    raw = approval.envelope.raw
    purposes = TYPE_RULES[ObjectType.APPROVAL].purposes
    content = content_bytes(raw)
    approver = Owner(approval.organization_id, principal_id=approval.principal_id)
    verified = [
        entry["key_id"] for entry in raw["signatures"]
        if check_entry(content, entry, purposes, keys).outcome is Outcome.VERIFIED]
    if not verified or len(verified) != len(raw["signatures"]):
        return ApprovalFault(Code.EVIDENCE_SIGNATURE_INVALID, "the approval's signature does not verify")
    if not any(principals(key_id) == approver for key_id in verified):
        return _required(
            f"no verified mandate binds the approving key to {approval.principal_id} of {approval.organization_id}")
    return None


def _binding_fault(approval: Approval, action_hash: str, transaction_id: object) -> ApprovalFault | None:
    if approval.action_hash != action_hash:
        return ApprovalFault(Code.APPROVAL_HASH_MISMATCH, "the approval was given for another act")
    if approval.envelope.transaction_id != transaction_id:
        return ApprovalFault(Code.STREAM_MISMATCH, "the approval was given on another transaction")
    return None


def _standing_fault(approval: Approval, now: datetime, consumed: bool) -> ApprovalFault | None:
    if not approval.approved:
        return _required("the approver rejected this act")
    if not approval.envelope.created_at <= now < approval.expires_at:
        return _required("the approval has expired, or is dated ahead of now")
    if approval.conditions:
        return _required("the approval carries conditions that this software cannot check")
    if consumed:
        return _required("the approval was consumed by the act it released; ask for a new one")
    return None


def _hold_fault(approval: Approval, hold: Hold) -> ApprovalFault | None:
    if approval.organization_id != hold.organization_id:
        return _required(f"the approver is not of {hold.organization_id}")
    if hold.rule is None:
        return None
    if approval.role != hold.rule.role:
        return _required(f"rule {hold.rule.id} names the role {hold.rule.role}")
    life = approval.expires_at - approval.envelope.created_at
    if life > timedelta(seconds=hold.rule.expires_after_seconds):
        return _required(f"rule {hold.rule.id} admits approvals of {hold.rule.expires_after_seconds} s at most")
    return None
