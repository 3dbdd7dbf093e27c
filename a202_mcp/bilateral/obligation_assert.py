"""record_obligation, act assert: the obligor declares with evidence that it performed (rules 8.3; surface 2).

An assertion before its due time is recorded (design override 7).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from a202_mcp.bilateral.authorisation import PartyAct, decided
from a202_mcp.bilateral.obligation_common import (
    authorise,
    commit_of,
    countersigner_fault,
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
from a202_reference.codes import Code, Refusal
from a202_reference.documents.parties import Party
from a202_reference.lifecycle.acts import PERFORMANCE_DECLARED, assert_act, core_of
from a202_reference.lifecycle.obligation_state import MAY_ASSERT
from a202_reference.lifecycle.obligations import asserted_fault, assertion_drafts, record_act


def answer(workspace: Workspace, arguments: Mapping[str, Any]) -> Answer:
    """Record one assertion, or say why not."""
    transaction_id = transaction_of(workspace, arguments["obligation_id"], "obligation")
    if transaction_id is None:
        return unknown("obligation_id", arguments["obligation_id"])
    organization_id = arguments["obligor"]["organization_id"]
    call = Call("record_obligation", transaction_id, organization_id, arguments)
    return workspace.recording(call, lambda once: _attempt(workspace, arguments, transaction_id, once))


def _attempt(
    workspace: Workspace, arguments: Mapping[str, Any], transaction_id: str, once: Once,
) -> Pending | Refusal:
    obligor, obligee = Party.of(arguments["obligor"]), Party.of(arguments["obligee"])
    opened = open_record(workspace, transaction_id, [obligor, obligee], arguments)
    if isinstance(opened, Refusal):
        return opened
    facts = opened.holdings.obligations[arguments["obligation_id"]]
    obligation, quantity = facts.obligation, arguments["asserted_quantity"]
    refusal = (
        party_fault(Code.STATE_TRANSITION_DENIED, "obligor", obligor, obligation.obligor)
        or party_fault(Code.OBLIGATION_SUBJECT_UNREFERENCED, "obligee", obligee, obligation.obligee)
        or countersigner_fault(workspace, "obligee", obligee, opened.now)
        or quantity_fault("asserted_quantity", quantity))
    if refusal is not None:
        return refusal
    core = core_of(quantity, obligation.unit_code, obligation.consideration)
    act = assert_act(setting_of(opened, obligee, arguments), core, obligation.envelope.id)
    allowed = authorise(workspace, opened, PartyAct(obligor, act, arguments["decision"]))
    if isinstance(allowed, Refusal):
        return allowed
    if facts.state not in MAY_ASSERT:
        return Refusal.of(
            Code.STATE_TRANSITION_DENIED,
            f"the obligation is {facts.state}: it is asserted while pending, due or rejected")
    if not arguments["evidence"]:
        return Refusal.of(Code.OBLIGATION_ASSERTION_UNEVIDENCED, "evidence is empty: give at least one piece")
    drafts = assertion_drafts(obligation, quantity, arguments["evidence"], obligor, opened.ledger)
    assertion = drafts[-1]
    # The assertion first: its references are where an unregistered evidence type has its code (rules 12.6, D-34).
    refusal = asserted_fault(obligation, quantity) or workspace.judged([assertion, *drafts[:-1]], opened.holdings)
    if refusal is not None:
        return refusal
    recording = record_act(
        PERFORMANCE_DECLARED, drafts, decided(allowed), obligee, opened.ledger,
        {"performance_event_id": assertion.id, "obligation_id": obligation.envelope.id})
    result = {
        "outcome": "recorded",
        "act": "assert",
        "state": recording.state,
        "assertion": assertion.id,
        "evidence_ids": [draft.id for draft in drafts[:-1]],
    }
    return commit_of(workspace, opened, recording.drafts, allowed, once, result)
