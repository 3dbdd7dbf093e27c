"""verify_mandate: may this agent do exactly this act? (surface 2; rules 3.5 steps 1, 3 to 9, 11, 12)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from a202_mcp.bilateral import shapes
from a202_mcp.bilateral.tool import Answer
from a202_mcp.workspace import Workspace
from a202_reference.authority.evaluate import Evaluation, evaluate
from a202_reference.authority.status import StatusResult, by_mandate
from a202_reference.codes import Code, Refusal
from a202_reference.documents.envelope import Approval
from a202_reference.gate import judge_object
from a202_reference.gate.reading import members
from a202_reference.lifecycle.acts import without_nulls
from a202_reference.money import number_for_text
from a202_reference.times import format_instant, parse_instant, whole_second


def answer(workspace: Workspace, arguments: Mapping[str, Any]) -> Answer:
    """Evaluate, or say why nothing can be evaluated."""
    document = arguments["mandate"] if "mandate" in arguments else workspace.mandate(arguments.get("mandate_id", ""))
    if document is None:
        return Refusal.of(
            Code.POLICY_DENIED,
            f"no mandate {arguments['mandate_id']} is held: issue it, or pass the document as `mandate`"
            if "mandate_id" in arguments else "pass mandate_id, or the mandate document as `mandate`")
    act = arguments.get("proposed_action")
    act = None if act is None else without_nulls(act)
    refusal = None if act is None else _act_refusal(act)
    if refusal is not None:
        return refusal
    transaction_id = act.get("transaction_id") if act is not None else None
    now = workspace.now(transaction_id if isinstance(transaction_id, str) else None)
    at = parse_instant(arguments["at"]) if "at" in arguments else now
    if at is None:
        return Refusal.of(Code.POLICY_DENIED, f"at must be an instant: {shapes.INSTANT_NOTE}")
    approval = _approval(workspace, arguments)
    if isinstance(approval, Refusal):
        return approval
    at = whole_second(at)
    statuses = _statuses(document, arguments)
    evaluation = evaluate(document, act, workspace.circumstances(at, at, statuses, approval))
    result = {**_result(evaluation, statuses, approval), "checked_at": format_instant(at)}
    issuer_key = members(document.get("issuer")).get("key_id")
    unreliable = workspace.unauthentic([issuer_key]) if isinstance(issuer_key, str) else None
    return result if unreliable is None else {**result, "detail": f"{result['detail']}; {unreliable.detail}"}


def _act_refusal(act: Mapping[str, Any]) -> Refusal | None:
    """Why this is no act that anybody could do, or None."""
    if not isinstance(act.get("action_type"), str):
        return Refusal.of(Code.POLICY_DENIED, "proposed_action.action_type must be text, for example offer.accept")
    number = number_for_text(act, "proposed_action")
    if number is None:
        return None
    place, value = number
    return Refusal.of(Code.TERMS_INVALID, f"{place} is a number: send it as text, \"{value}\"")


def _approval(workspace: Workspace, arguments: Mapping[str, Any]) -> Approval | Refusal | None:
    if "approval" in arguments:
        document = arguments["approval"]
        if document.get("object_type") != "approval" or not judge_object(document).accepted:
            return Refusal.of(Code.APPROVAL_REQUIRED, "approval is no approval object: pass the approval_id")
        return Approval.of(document)
    if "approval_id" in arguments:
        held = workspace.approval(arguments["approval_id"])
        return held if held is not None else Refusal.of(
            Code.APPROVAL_REQUIRED, f"approval_id {arguments['approval_id']} names no approval held here")
    return None


def _statuses(document: Mapping[str, Any], arguments: Mapping[str, Any]) -> dict[str, StatusResult]:
    acting = document.get("id")
    presented = [StatusResult.of(acting, arguments.get("status"))] if isinstance(acting, str) else []
    presented += [StatusResult.of(entry["mandate_id"], entry) for entry in arguments.get("ancestor_statuses", [])]
    return by_mandate(result for result in presented if result is not None)


def _result(
    evaluation: Evaluation, statuses: Mapping[str, StatusResult], approval: Approval | None,
) -> dict[str, Any]:
    mandate, act = evaluation.mandate, evaluation.act
    return {
        "mandate_id": mandate.mandate_id if isinstance(mandate.mandate_id, str) else None,
        "refusals": [code.value for code in mandate.refusals],
        "schema_errors": list(mandate.schema_errors),
        "proof": mandate.proof.value,
        "validity_interval": mandate.validity_interval.value,
        "status": mandate.status.value,
        "constraints": [finding.document for finding in act.constraints],
        "approval_rules_matched": [hold.rule.id for hold in act.holds if hold.rule is not None],
        "approval": evaluation.approval,
        "approval_id": approval.envelope.id if approval is not None else None,
        "status_results": [result.document for result in statuses.values()],
        "action_hash": act.action_hash,
        "decision": evaluation.decision.value,
        "reason_codes": [code.value for code in evaluation.reason_codes],
        "detail": "; ".join(reason.detail for reason in evaluation.reasons),
    }
