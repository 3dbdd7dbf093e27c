"""verify_mandate: may this agent do exactly this act? (surface 2; rules 3.5 steps 1, 3 to 9, 11, 12)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from a202_mcp.bilateral import shapes
from a202_mcp.bilateral.shapes import identifier, listed, opaque, text
from a202_mcp.bilateral.tool import Answer, Tool
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

SCHEMA = shapes.arguments(
    [],
    mandate_id=identifier("mnd", "A mandate this server holds."),
    mandate=opaque("A mandate document, judged by its own bytes; instead of mandate_id."),
    at=text(f"The instant to judge. Default now. {shapes.INSTANT_NOTE}"),
    status=shapes.status(
        "The mandate's status as its endpoint answered within the last 60 s. You resolve the endpoint; this server "
        "makes no network call."),
    ancestor_statuses=listed(
        "For a delegated mandate, the status of every mandate above it.",
        shapes.record(
            "One ancestor's status.", ["mandate_id", "status", "retrieved_at"],
            mandate_id=text("The ancestor's id."), status=text("active, suspended, revoked or expired."),
            retrieved_at=text(f"When it was retrieved. {shapes.INSTANT_NOTE}"),
            expires_at=text("The answer's own expiry, where it states one."))),
    proposed_action=opaque(
        "The exact act: action_type, transaction_id, counterparty_organization_id, proposed_terms, references, "
        "category, geography. Leave it out to ask whether the mandate itself is in force."),
    approval_id=identifier("apr", "An approval of this act that this server holds."),
    approval=opaque("An approval document, instead of approval_id."))

DESCRIPTION = """\
Decides whether one exact act is permitted under a mandate: allow, deny or require_approval, with the act's hash, each \
constraint's result and the reason codes. Call it before every act and pass the whole result to the recording tool \
within 60 seconds. Records nothing; a deny is an answer, not an error.

Act documents: offer.submit and offer.accept carry the full terms in proposed_terms. Obligation acts carry \
proposed_terms {"core": {quantity, unit_code, total}} (total left out where there is no consideration): \
obligation.activated with agreement_id, performance.declared and obligation.waived with obligation_id, \
acceptance.granted and acceptance.rejected with assertion_id. Each names transaction_id and the other party as \
counterparty_organization_id.

On require_approval ask the person, record it with issue_approval over action_hash, then call again with the identical \
proposed_action and approval_id.

Denies with: A202-MANDATE-STATUS-UNRESOLVED (no status, or not of the last 60 s), A202-MANDATE-INACTIVE, \
A202-EVIDENCE-SIGNATURE-INVALID, A202-MANDATE-DELEGATION-WIDENING, A202-POLICY-DENIED (action, scope or limit), \
A202-DISCLOSURE-DENIED, A202-EVIDENCE-UNVERIFIED, A202-MANDATE-CONSTRAINT-UNKNOWN (cannot be evaluated). Holds with \
A202-APPROVAL-REQUIRED, A202-APPROVAL-HASH-MISMATCH, A202-STREAM-MISMATCH. Refuses only what cannot be evaluated."""


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


TOOL = Tool("verify_mandate", "Decide on an act", DESCRIPTION, SCHEMA, True, answer)


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
