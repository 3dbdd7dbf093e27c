"""record_obligation, act respond: the obligee accepts, rejects or waives (rules 8.4; surface 2).

Rules this module applies:

- only the obligee answers, whatever the answer (`A202-OBLIGATION-RESPONSE-UNAUTHORIZED`);
- an acceptance or a rejection answers the one outstanding assertion and binds its recomputed hash; a waiver
  names the obligation and leaves no event behind;
- members that belong to another kind of answer are refused as a shape.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from a202_mcp.bilateral.authorisation import PartyAct, decided
from a202_mcp.bilateral.obligation_common import (
    Opened,
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
from a202_reference.canonical import content_hash
from a202_reference.codes import Code, Refusal
from a202_reference.documents.envelope import Assertion
from a202_reference.documents.parties import Party
from a202_reference.lifecycle.acts import answer_act, core_of, waive_act
from a202_reference.lifecycle.obligation_state import MAY_WAIVE, ObligationFacts
from a202_reference.lifecycle.obligations import ANSWER_EVENTS, acceptance_fault, record_act, response_draft
from a202_reference.money import parse_quantity
from a202_reference.registries import RejectionReason, ResponseType

FOREIGN: Mapping[str, tuple[str, ...]] = {
    ResponseType.ACCEPT: ("reason_code",),
    ResponseType.REJECT: ("accepted_quantity", "remainder_obligation_id"),
    ResponseType.WAIVE: ("assertion_id", "accepted_quantity", "remainder_obligation_id", "reason_code"),
}
"""Members that each kind of answer does not take."""


@dataclass(frozen=True, slots=True)
class _Answer:
    """One answer as it was asked for."""

    kind: str
    facts: ObligationFacts
    assertion: Assertion | None
    quantity: str
    reason_code: str | None
    remainder_id: str | None

    @property
    def accepts_all(self) -> bool:
        """True where nothing of what is owed is left over."""
        accepted, owed = parse_quantity(self.quantity), parse_quantity(self.facts.obligation.quantity)
        return accepted is not None and owed is not None and accepted >= owed


def answer(workspace: Workspace, arguments: Mapping[str, Any]) -> Answer:
    """Record one answer, or say why not."""
    kind = arguments["response_type"]
    foreign = [name for name in FOREIGN[kind] if name in arguments]
    if foreign:
        return Refusal.of(Code.POLICY_DENIED, f"{foreign[0]} does not belong to {kind}: leave it out")
    member, object_type = ("obligation_id", "obligation") if kind == ResponseType.WAIVE else (
        "assertion_id", "performance_event")
    transaction_id = transaction_of(workspace, arguments[member], object_type)
    if transaction_id is None:
        return unknown(member, arguments[member])
    organization_id = arguments["responder"]["organization_id"]
    call = Call("record_obligation", transaction_id, organization_id, arguments)
    return workspace.recording(call, lambda once: _attempt(workspace, arguments, transaction_id, once))


def _attempt(
    workspace: Workspace, arguments: Mapping[str, Any], transaction_id: str, once: Once,
) -> Pending | Refusal:
    responder, other = Party.of(arguments["responder"]), Party.of(arguments["counterparty"])
    opened = open_record(workspace, transaction_id, [responder, other], arguments)
    if isinstance(opened, Refusal):
        return opened
    asked = _asked(opened, arguments)
    obligation = asked.facts.obligation
    if arguments.get("obligation_id", obligation.envelope.id) != obligation.envelope.id:
        return Refusal.of(
            Code.OBLIGATION_SUBJECT_UNREFERENCED,
            f"obligation_id must be the assertion's, {obligation.envelope.id}: leave it out")
    refusal = (
        party_fault(Code.OBLIGATION_RESPONSE_UNAUTHORIZED, "responder", responder, obligation.obligee)
        or party_fault(Code.OBLIGATION_SUBJECT_UNREFERENCED, "counterparty", other, obligation.obligor)
        or countersigner_fault(workspace, "counterparty", other, opened.now)
        or quantity_fault("accepted_quantity", asked.quantity))
    if refusal is not None:
        return refusal
    allowed = authorise(workspace, opened, PartyAct(responder, _act(asked, opened, other, arguments),
                                                    arguments["decision"]))
    if isinstance(allowed, Refusal):
        return allowed
    refusal = _rule_fault(asked, opened)
    if refusal is not None:
        return refusal
    draft = response_draft(_payload(asked), responder, opened.ledger)
    refusal = workspace.judged([draft], opened.holdings)
    if refusal is not None:
        return refusal
    recording = record_act(
        ANSWER_EVENTS.get(asked.kind), [draft], decided(allowed), other, opened.ledger,
        {"obligation_response_id": draft.id, "obligation_id": obligation.envelope.id})
    result = {"outcome": "recorded", "act": "respond", "state": recording.state, "response": draft.id}
    return commit_of(workspace, opened, recording.drafts, allowed, once, result)


def _asked(opened: Opened, arguments: Mapping[str, Any]) -> _Answer:
    kind = arguments["response_type"]
    assertion = None if kind == ResponseType.WAIVE else opened.holdings.assertion(arguments["assertion_id"])
    obligation_id = arguments["obligation_id"] if assertion is None else assertion.obligation_id
    facts = opened.holdings.obligations[obligation_id]
    quantity = facts.obligation.quantity if assertion is None else assertion.asserted_quantity
    return _Answer(
        kind, facts, assertion, arguments.get("accepted_quantity", quantity), arguments.get("reason_code"),
        arguments.get("remainder_obligation_id"))


def _act(asked: _Answer, opened: Opened, other: Party, arguments: Mapping[str, Any]) -> dict[str, Any]:
    obligation = asked.facts.obligation
    core = core_of(asked.quantity, obligation.unit_code, obligation.consideration)
    setting = setting_of(opened, other, arguments)
    if asked.assertion is None:
        return waive_act(setting, core, obligation.envelope.id)
    return answer_act(ANSWER_EVENTS[asked.kind], setting, core, asked.assertion.envelope.id)


def _rule_fault(asked: _Answer, opened: Opened) -> Refusal | None:
    """Group 5."""
    facts = asked.facts
    if asked.assertion is None:
        return None if facts.state in MAY_WAIVE else _wrong_state(f"the obligation is {facts.state}")
    if asked.assertion not in facts.outstanding or facts.state != "asserted":
        return _wrong_state(f"the assertion is answered already, or the obligation is {facts.state}")
    if asked.kind == ResponseType.REJECT:
        if asked.reason_code in {member.value for member in RejectionReason}:
            return None
        return Refusal.of(
            Code.OBLIGATION_REJECTION_REASON_UNKNOWN, f"reason_code must be one of {', '.join(RejectionReason)}")
    named = opened.holdings.obligations.get(asked.remainder_id or "")
    remainder = None if named is None else named.obligation
    fault = acceptance_fault(facts.obligation, asked.assertion, asked.quantity, remainder)
    if fault is None and asked.remainder_id is not None and asked.accepts_all:
        return Refusal.of(Code.POLICY_DENIED, "remainder_obligation_id belongs to an acceptance of less than is owed")
    return fault


def _wrong_state(what: str) -> Refusal:
    return Refusal.of(Code.STATE_TRANSITION_DENIED, f"{what}: read the record and answer what is outstanding")


def _payload(asked: _Answer) -> dict[str, Any]:
    assertion = asked.assertion
    return {
        "obligation_id": asked.facts.obligation.envelope.id,
        "response_type": asked.kind,
        "assertion_id": None if assertion is None else assertion.envelope.id,
        "assertion_hash": None if assertion is None else content_hash(assertion.envelope.raw),
        "accepted_quantity": asked.quantity if asked.kind == ResponseType.ACCEPT else None,
        "remainder_obligation_id": asked.remainder_id,
        "reason_code": asked.reason_code,
    }
