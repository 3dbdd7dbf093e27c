"""The decision on one act under a mandate (rules 3.5, steps 1, 3 to 9, 11 and 12; D-11, D-12, D-48).

Rules this module applies, by their step numbers:

 1  the mandate and every ancestor pass the gate (its findings are the deny's codes; a bare shape error is
    `A202-POLICY-DENIED`)
 3  every proof verifies under the issuer's key, which is bound to that principal of that organisation; a
    root's issuer belongs to the represented organisation (`A202-EVIDENCE-SIGNATURE-INVALID`, else
    `A202-POLICY-DENIED`)
 4  every mandate of the chain has a fresh, active status
 5  every interval holds the instant judged
 6  every parent resolves up to a root, without loop, at most 8 hops
 7  every hop narrows
 8  the acting mandate lists the action
 9  every declared scope axis of the acting mandate contains the act's value
11  every constraint of the chain, root first, in array order; none is skipped
12  every approval rule of the chain, root first; a presented approval may release a hold

Every step is taken, so that a deny names all its reasons, in this order, each once. A deny wins over a hold;
a hold wins over an allow. verify_mandate, the recomputation when an act is recorded, and the verifier's
`mandate_covers` call this one function.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeAlias

from a202_reference.authority.approvals import ApprovalFault, Hold, PrincipalKeys, approval_fault, rule_matches
from a202_reference.authority.chain import Chain, resolve_chain
from a202_reference.authority.constraints import ConstraintFinding, EvidenceLookup, check
from a202_reference.authority.delegation import widening_faults
from a202_reference.authority.scope import action_fault, scope_faults
from a202_reference.authority.status import StatusResult, status_fault
from a202_reference.canonical import NotCanonicalError, value_hash
from a202_reference.codes import Code, Decision, Outcome, distinct
from a202_reference.documents.envelope import Approval
from a202_reference.documents.mandate import Mandate
from a202_reference.keys import Owner
from a202_reference.signing import KeyResolver, check_proof

MandateGate: TypeAlias = Callable[[Mapping[str, Any]], tuple[tuple[str, ...], tuple[Code, ...]]]
"""Judges a mandate document: (schema errors, codes). It stands above this module and is passed in."""

MandateLookup: TypeAlias = Callable[[str], Mapping[str, Any] | None]


@dataclass(frozen=True, slots=True)
class Circumstances:
    """What a decision may be made from, besides the mandate and the act.

    now: the instant at which intervals, approvals and constraints are judged.
    status_at: the instant at which the age of a status answer is judged (surface 3).
    statuses: presented answers by mandate id.
    approval: the presented approval, already judged by the gate, or None.
    """

    now: datetime
    status_at: datetime
    statuses: Mapping[str, StatusResult]
    keys: KeyResolver
    principals: PrincipalKeys
    mandates: MandateLookup
    evidence: EvidenceLookup
    gate: MandateGate
    approval: Approval | None = None
    approval_consumed: bool = False


@dataclass(frozen=True, slots=True)
class Finding:
    """One reason to deny or to hold: its code, and a sentence for the reader."""

    code: Code
    detail: str


@dataclass(frozen=True, slots=True)
class MandateStanding:
    """Steps 1 to 7: whether the mandate, and every mandate above it, is in force.

    chain is None where the document is not of its shape; then nothing it says is relied on.
    """

    mandate_id: Any
    chain: Chain | None
    refusals: tuple[Code, ...]
    schema_errors: tuple[str, ...]
    proof: Outcome
    validity_interval: Outcome
    status: Outcome
    findings: tuple[Finding, ...]


@dataclass(frozen=True, slots=True)
class ActStanding:
    """Steps 8 to 12: what the act meets under the mandates of the chain."""

    action_hash: str | None = None
    constraints: tuple[ConstraintFinding, ...] = ()
    holds: tuple[Hold, ...] = ()
    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The whole answer. `reasons` are the deny's or the hold's findings, in the order of the steps."""

    mandate: MandateStanding
    act: ActStanding
    approval: str
    decision: Decision
    reasons: tuple[Finding, ...]

    @property
    def reason_codes(self) -> tuple[Code, ...]:
        """The distinct codes of the reasons; empty for an allow."""
        return distinct(reason.code for reason in self.reasons)

    @property
    def chain_ids(self) -> tuple[str, ...]:
        """The acting mandate, then its ancestors, nearest first."""
        chain = self.mandate.chain
        return tuple(member.id for member in chain.nearest_first) if chain else ()

    @property
    def released(self) -> bool:
        """True where the presented approval released a hold, so that recording the act consumes it."""
        return self.decision is Decision.ALLOW and bool(self.act.holds)


def evaluate(
    document: Mapping[str, Any], act: Mapping[str, Any] | None, given: Circumstances,
    established: MandateStanding | None = None,
) -> Evaluation:
    """Decide one act, or (act None) whether the mandate itself is in force.

    established: the outcome of steps 1 to 7 where an earlier evaluation of the same mandate gave it, so that a
    reader of many acts under one mandate takes them once.
    Total: any document gets an answer, and whatever cannot be established denies.
    """
    mandate = established or _mandate_standing(document, given)
    standing = _act_standing(mandate.chain, act, given)
    fault = _approval_fault(standing, act, given)
    reasons = mandate.findings + standing.findings
    decision = Decision.DENY if reasons else Decision.ALLOW
    if standing.holds and not reasons:
        if given.approval is None:
            reasons = (Finding(Code.APPROVAL_REQUIRED, _asked(standing.holds)),)
        elif fault is not None:
            reasons = (Finding(fault.code, fault.detail),)
        decision = Decision.REQUIRE_APPROVAL if reasons else Decision.ALLOW
    return Evaluation(mandate, standing, _approval_word(given.approval, fault), decision, reasons)


def _mandate_standing(document: Mapping[str, Any], given: Circumstances) -> MandateStanding:
    """Steps 1 to 7."""
    schema_errors, refusals = given.gate(document)
    findings = [Finding(code, f"the mandate document: {code.meaning}") for code in refusals]
    if schema_errors:
        proof = check_proof(document, given.keys)
        if not refusals:
            findings.append(Finding(Code.POLICY_DENIED, f"the mandate document: {schema_errors[0]}"))
        if proof.outcome is not Outcome.VERIFIED:
            findings.append(Finding(Code.EVIDENCE_SIGNATURE_INVALID, f"the proof: {proof.detail}"))
        return MandateStanding(
            document.get("id"), None, refusals, schema_errors, proof.outcome, Outcome.FAILED, Outcome.FAILED,
            tuple(findings))
    mandate = Mandate.of(document)
    proof_outcome, authentic = _authentic(mandate, given)
    chain = resolve_chain(mandate, given.mandates, given.gate)
    status, usable = _usable(mandate, given)
    findings += authentic + usable + _ancestors(chain, given)
    return MandateStanding(
        mandate.id, chain, refusals, (), proof_outcome, _outcome(mandate.in_force(given.now)), status,
        tuple(findings))


def _authentic(mandate: Mandate, given: Circumstances) -> tuple[Outcome, list[Finding]]:
    """Step 3 for one mandate."""
    proof = check_proof(mandate.raw, given.keys)
    if proof.outcome is not Outcome.VERIFIED:
        detail = f"the proof of {mandate.id}: {proof.detail}"
        return proof.outcome, [Finding(Code.EVIDENCE_SIGNATURE_INVALID, detail)]
    binding = given.keys(mandate.issuer_key_id)
    issuer = Owner(mandate.issuer_organization_id, principal_id=mandate.issuer_principal_id)
    if binding is None or binding.owner != issuer:
        detail = f"the issuer's key of {mandate.id} belongs to another than {issuer.principal_id}"
        return Outcome.FAILED, [Finding(Code.EVIDENCE_SIGNATURE_INVALID, detail)]
    if mandate.parent_mandate_id is None and mandate.issuer_organization_id != mandate.represented_organization_id:
        detail = f"{mandate.id} is a root mandate, and no principal of the represented organisation issued it"
        return proof.outcome, [Finding(Code.POLICY_DENIED, detail)]
    return proof.outcome, []


def _usable(mandate: Mandate, given: Circumstances) -> tuple[Outcome, list[Finding]]:
    """Steps 4 and 5 for one mandate; the outcome is the status's."""
    fault = status_fault(given.statuses.get(mandate.id), given.status_at)
    findings = [] if fault is None else [Finding(fault[0], f"{mandate.id}: {fault[1]}")]
    if not mandate.in_force(given.now):
        interval = f"{mandate.raw['valid_from']} until {mandate.raw['valid_until']}"
        findings.append(Finding(Code.MANDATE_INACTIVE, f"{mandate.id} is valid from {interval}"))
    return _outcome(fault is None), findings


def _ancestors(chain: Chain, given: Circumstances) -> list[Finding]:
    """Steps 6 and 7: what is above the acting mandate stands, and every hop narrows."""
    findings = [Finding(code, detail) for code, detail in chain.faults]
    for child, parent in zip(chain.nearest_first, chain.nearest_first[1:], strict=False):
        findings += _authentic(parent, given)[1]
        findings += _usable(parent, given)[1]
        findings += [Finding(Code.MANDATE_DELEGATION_WIDENING, f"{child.id} under {parent.id}: {fault}")
                     for fault in widening_faults(parent.raw, child.raw)]
    return findings


def _act_standing(chain: Chain | None, act: Mapping[str, Any] | None, given: Circumstances) -> ActStanding:
    """Steps 8, 9, 11 and 12."""
    if act is None:
        return ActStanding()
    action_hash = _hash_or_none(act)
    findings = []
    if action_hash is None:
        findings.append(Finding(Code.POLICY_DENIED, "the act holds a number or a text without canonical form"))
    if chain is None:
        return ActStanding(action_hash, findings=tuple(findings))
    action = action_fault(chain.acting, act)
    faults = ([action] if action else []) + scope_faults(chain.acting, act)
    findings += [Finding(Code.POLICY_DENIED, fault) for fault in faults]
    constraints = tuple(
        check(constraint, act, given.evidence) for member in chain.root_first for constraint in member.constraints)
    findings += [Finding(found.code, f"constraint {found.constraint.id}: {found.detail}")
                 for found in constraints if found.code is not None and found.denies]
    return ActStanding(action_hash, constraints, _holds(chain, constraints, act, given), tuple(findings))


def _holds(
    chain: Chain, constraints: tuple[ConstraintFinding, ...], act: Mapping[str, Any], given: Circumstances,
) -> tuple[Hold, ...]:
    """Everything that asks for a person: constraints that fail into approval, and matched rules."""
    represented = chain.acting.represented_organization_id
    held = tuple(Hold(represented) for found in constraints if found.code is Code.APPROVAL_REQUIRED)
    return held + tuple(
        Hold(rule.organization_id, rule)
        for member in chain.root_first for rule in member.approval_rules
        if rule_matches(rule.when, act, given.evidence))


def _approval_fault(
    standing: ActStanding, act: Mapping[str, Any] | None, given: Circumstances,
) -> ApprovalFault | None:
    """Why the presented approval releases nothing; None also where none was presented."""
    if given.approval is None:
        return None
    if act is None or standing.action_hash is None:
        return ApprovalFault(Code.APPROVAL_REQUIRED, "an approval is over an act, and no act was given")
    return approval_fault(
        given.approval, standing.holds, action_hash=standing.action_hash,
        transaction_id=act.get("transaction_id"), now=given.now, keys=given.keys, principals=given.principals,
        consumed=given.approval_consumed)


def _asked(holds: tuple[Hold, ...]) -> str:
    names = [f"{hold.rule.id} (role {hold.rule.role} of {hold.organization_id})" if hold.rule is not None
             else f"a constraint (any principal of {hold.organization_id})" for hold in holds]
    return "a person must approve this exact act: " + ", ".join(names)


def _approval_word(approval: Approval | None, fault: ApprovalFault | None) -> str:
    if approval is None:
        return "not_presented"
    return _outcome(fault is None).value


def _outcome(holds: bool) -> Outcome:
    return Outcome.VERIFIED if holds else Outcome.FAILED


def _hash_or_none(act: Mapping[str, Any]) -> str | None:
    try:
        return value_hash(dict(act))
    except NotCanonicalError:
        return None
