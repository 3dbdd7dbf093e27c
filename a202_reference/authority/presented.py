"""A decision that a caller presents with the act it wants recorded (surface 3; rules 3.5 step 16).

Rules this module applies, each with its code:

- it is an object and claims an allow (`A202-POLICY-DENIED`; `A202-APPROVAL-REQUIRED` where it claims a hold);
- its `action_hash` is the hash of the act rebuilt from the recording call (`A202-APPROVAL-HASH-MISMATCH`, and
  the refusal carries the exact act to verify); an absent hash is another hash;
- it evaluated the acting party's mandate, which is held and names this agent, this organisation and this key
  (`A202-POLICY-DENIED`);
- it is of the last 60 s and not from more than 60 s ahead (`A202-MANDATE-STATUS-UNRESOLVED`);
- the status it evaluated had resolved (`A202-MANDATE-STATUS-UNRESOLVED`).

None of these makes the verdict true: the document is unsigned and written by the party it constrains. The
verdict is recomputed from the mandate and the act at record time; one that is no allow refuses with its own
codes, and reasons that the mandate does not produce refuse. Taken from the presented decision are only the
status answers and the approval's identifier.
"""

from __future__ import annotations

import hmac
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from a202_reference.authority.evaluate import Evaluation
from a202_reference.authority.status import StatusResult, by_mandate, status_fault
from a202_reference.codes import Code, Decision, Refusal, distinct
from a202_reference.documents.parties import Party
from a202_reference.times import format_instant, parse_instant, within_window


@dataclass(frozen=True, slots=True)
class Presented:
    """What a presented decision contributes once its claims are in order."""

    checked_at: datetime
    statuses: Mapping[str, StatusResult]
    approval_id: str | None
    reason_codes: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Authorised:
    """An act that may be recorded. `evaluated_at` is the earlier of the decision's instant and now."""

    party: Party
    act: Mapping[str, Any]
    action_hash: str
    mandate_ids: tuple[str, ...]
    evaluated_at: str
    statuses: tuple[StatusResult, ...]
    consumes: str | None
    """The approval that released a hold, which this act uses up."""


def read_presented(
    decision: object, act: Mapping[str, Any], action_hash: str, party: Party, mandate: Mapping[str, Any] | None,
    now: datetime,
) -> Presented | Refusal:
    """Check the claims of a presented decision, all of them, before anything is recomputed."""
    whose = f"the decision of {party.agent_id}"
    if not isinstance(decision, Mapping):
        return Refusal.of(Code.POLICY_DENIED, f"{whose}: pass the whole result of verify_mandate")
    faults = _claim_faults(decision, action_hash) + _mandate_faults(decision, party, mandate)
    checked_at = parse_instant(decision.get("checked_at"))
    if checked_at is None or not within_window(checked_at, now):
        faults.append((Code.MANDATE_STATUS_UNRESOLVED, "it is not of the last 60 s: call verify_mandate again"))
    if decision.get("status") != "verified":
        faults.append((Code.MANDATE_STATUS_UNRESOLVED, "the mandate's status had not resolved as active"))
    if faults or checked_at is None:
        codes = distinct(code for code, _ in faults)
        detail = f"{whose}: " + "; ".join(sentence for _, sentence in faults)
        return Refusal(codes, detail, dict(act) if Code.APPROVAL_HASH_MISMATCH in codes else None)
    return _contribution(decision, checked_at)


def authorise(
    presented: Presented, act: Mapping[str, Any], party: Party, now: datetime,
    recompute: Callable[[Presented], Evaluation],
) -> Authorised | Refusal:
    """Recompute the verdict at record time and hold the presented one against it."""
    evaluation = recompute(presented)
    action_hash = evaluation.act.action_hash
    if evaluation.decision is not Decision.ALLOW or action_hash is None:
        reasons = "; ".join(reason.detail for reason in evaluation.reasons)
        return Refusal(evaluation.reason_codes, f"recomputed for {party.agent_id} at record time: {reasons}")
    if presented.reason_codes:
        return Refusal.of(
            Code.POLICY_DENIED, f"the decision of {party.agent_id} carries reason codes that its mandate does not give")
    evaluated_at = min(presented.checked_at, now)
    statuses = tuple(presented.statuses[mandate_id] for mandate_id in evaluation.chain_ids)
    for result in statuses:
        # A reader of the record judges the answer's age at `evaluated_at`; one it would not accept is not recorded.
        if (fault := status_fault(result, evaluated_at)) is not None:
            return Refusal.of(fault[0], f"{result.mandate_id}: {fault[1]}")
    return Authorised(
        party, act, action_hash, evaluation.chain_ids, format_instant(evaluated_at), statuses,
        presented.approval_id if evaluation.released else None)


def mandate_fault(party: Party, mandate: Mapping[str, Any] | None) -> str | None:
    """Why the mandate a party names (None: not held) is not its own, agent, organisation and key, or None."""
    if mandate is None:
        return f"no mandate {party.mandate_id} is held"
    named = (mandate["represented_organization_id"], mandate["subject"].get("agent_id"), mandate["subject"]["key_id"])
    if named == (party.organization_id, party.agent_id, party.key_id):
        return None
    return f"{party.mandate_id} is not this party's: it names agent {named[1]} of {named[0]} with key {named[2]}"


def _claim_faults(decision: Mapping[str, Any], action_hash: str) -> list[tuple[Code, str]]:
    faults = []
    claimed = decision.get("decision")
    if claimed == Decision.REQUIRE_APPROVAL.value:
        faults.append((Code.APPROVAL_REQUIRED, "it is a hold: issue_approval, then verify_mandate again"))
    elif claimed != Decision.ALLOW.value:
        faults.append((Code.POLICY_DENIED, "it is no allow"))
    carried = decision.get("action_hash")
    if not isinstance(carried, str) or not carried.isascii() or not hmac.compare_digest(carried, action_hash):
        faults.append((Code.APPROVAL_HASH_MISMATCH,
                       "it was made over another act; call verify_mandate with exactly this proposed_action"))
    return faults


def _mandate_faults(
    decision: Mapping[str, Any], party: Party, mandate: Mapping[str, Any] | None,
) -> list[tuple[Code, str]]:
    faults = []
    if mandate is not None and decision.get("mandate_id") != party.mandate_id:
        faults.append((Code.POLICY_DENIED, f"it evaluated another mandate than {party.mandate_id}"))
    fault = mandate_fault(party, mandate)
    if fault is not None:
        faults.append((Code.POLICY_DENIED, fault))
    return faults


def _contribution(decision: Mapping[str, Any], checked_at: datetime) -> Presented:
    results = decision.get("status_results")
    reasons = decision.get("reason_codes")
    approval_id = decision.get("approval_id")
    statuses = [
        result for entry in (results if isinstance(results, list) else [])
        if isinstance(entry, Mapping) and isinstance(entry.get("mandate_id"), str)
        and (result := StatusResult.of(entry["mandate_id"], entry)) is not None]
    return Presented(
        checked_at, by_mandate(statuses), approval_id if isinstance(approval_id, str) else None,
        tuple(reasons) if isinstance(reasons, list) else ("absent",))
