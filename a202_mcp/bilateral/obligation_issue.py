"""record_obligation, act issue: the obligee fixes what is owed under an agreement (rules 8.1, 8.2; surface 2)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from a202_mcp.bilateral.authorisation import PartyAct, decided
from a202_mcp.bilateral.obligation_common import (
    Opened,
    authorise,
    commit_of,
    countersigner_fault,
    money_fault,
    open_record,
    party_fault,
    quantity_fault,
    setting_of,
    transaction_of,
    unknown,
)
from a202_mcp.bilateral.tool import Answer
from a202_mcp.recording import Call, Once, Pending
from a202_mcp.workspace import Workspace
from a202_reference.authority.paths import resolves_in_terms
from a202_reference.codes import Code, Refusal
from a202_reference.documents.envelope import Agreement
from a202_reference.documents.parties import Party
from a202_reference.lifecycle.acts import OBLIGATION_ACTIVATED, core_of, issue_act
from a202_reference.lifecycle.due import discharge_targets
from a202_reference.lifecycle.obligations import obligation_draft, record_act
from a202_reference.lifecycle.rules import COMMITTED_STATES


def answer(workspace: Workspace, arguments: Mapping[str, Any]) -> Answer:
    """Issue one obligation, or say why not."""
    obligee = Party.of(arguments["obligee"])
    transaction_id = transaction_of(workspace, arguments["agreement_id"], "agreement")
    if transaction_id is None:
        return unknown("agreement_id", arguments["agreement_id"])
    call = Call("record_obligation", transaction_id, obligee.organization_id, arguments)
    return workspace.recording(call, lambda once: _attempt(workspace, arguments, transaction_id, once))


def _attempt(
    workspace: Workspace, arguments: Mapping[str, Any], transaction_id: str, once: Once,
) -> Pending | Refusal:
    obligor, obligee = Party.of(arguments["obligor"]), Party.of(arguments["obligee"])
    opened = open_record(workspace, transaction_id, [obligor, obligee], arguments)
    if isinstance(opened, Refusal):
        return opened
    agreement = opened.holdings.agreement(arguments["agreement_id"])
    if agreement is None:
        return unknown("agreement_id", arguments["agreement_id"])
    payload = {**arguments, "consideration": arguments.get("consideration")}
    commitment_id = arguments.get("commitment_id", agreement.commitment_ids[0])
    draft = obligation_draft(agreement, commitment_id, payload, obligor, obligee, opened.ledger)
    refusal = (
        _parties(agreement, obligor, obligee)
        or countersigner_fault(workspace, "obligor", obligor, opened.now)
        or quantity_fault("quantity", payload["quantity"])
        or money_fault("consideration", payload["consideration"])
        or _references(opened, agreement, commitment_id, payload)
        or workspace.judged([draft], opened.holdings))
    if refusal is not None:
        return refusal
    core = core_of(payload["quantity"], payload["unit_code"], payload["consideration"])
    act = issue_act(setting_of(opened, obligor, arguments), core, agreement.envelope.id)
    allowed = authorise(workspace, opened, PartyAct(obligee, act, arguments["decision"]))
    if isinstance(allowed, Refusal):
        return allowed
    if opened.ledger.record.state not in COMMITTED_STATES:
        return Refusal.of(
            Code.STATE_TRANSITION_DENIED,
            f"the transaction is in state {opened.ledger.record.state}: an obligation needs a committed agreement")
    recording = record_act(
        OBLIGATION_ACTIVATED, [draft], decided(allowed), obligor, opened.ledger, {"obligation_id": draft.id})
    result = {"outcome": "recorded", "act": "issue", "state": recording.state, "obligation": draft.id}
    return commit_of(workspace, opened, recording.drafts, allowed, once, result)


def _parties(agreement: Agreement, obligor: Party, obligee: Party) -> Refusal | None:
    """Group 2: obligor and obligee are the agreement's two parties, one each."""
    code = Code.OBLIGATION_SUBJECT_UNREFERENCED
    first, second = agreement.buyer, agreement.supplier
    if obligor.organization_id == second.organization_id:
        first, second = second, first
    return party_fault(code, "obligor", obligor, first) or party_fault(code, "obligee", obligee, second)


def _references(
    opened: Opened, agreement: Agreement, commitment_id: str, payload: Mapping[str, Any],
) -> Refusal | None:
    """Group 3: commitment, term path and awaited obligations lead somewhere."""
    if commitment_id not in agreement.commitment_ids:
        return unknown("commitment_id", commitment_id)
    if not resolves_in_terms(payload["term_path"], agreement.terms):
        return Refusal.of(
            Code.OBLIGATION_SUBJECT_UNREFERENCED,
            "term_path must lead to an agreed term, for example $.terms.core.quantity")
    awaited = [target for target in discharge_targets(payload["due_condition"])
               if target not in opened.holdings.obligations]
    if awaited:
        return Refusal.of(
            Code.OBLIGATION_CONDITION_UNKNOWN,
            f"due_condition waits for {awaited[0]}, which is no obligation of this transaction")
    return None
