"""The walkthrough as a client makes it, one call at a time, so that it can be broken off and taken up anywhere."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final, TypeAlias

from a202_mcp.demo.script import Script
from a202_reference.times import format_instant

Answer: TypeAlias = dict[str, Any]
Caller: TypeAlias = Callable[[str, Mapping[str, Any]], Answer]
"""Calls a tool with arguments; gives its answer, refusals included."""

RECORDED: Final = frozenset({"issued", "recorded"})
_SCRIPT: Final = Script.shifted_to(datetime.now(UTC))
_ROLES: Final = ("buyer", "supplier")
_IDENTIFIERS: Final = (
    "offer_id", "acceptance_id", "agreement_id", "commitment_id", "obligation", "assertion", "response", "approval_id")


@dataclass(frozen=True, slots=True)
class Step:
    """One recording call: its tool, and its arguments, an idempotency key among them."""

    tool: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Story:
    """One transaction: two mandates, an agreement, an obligation that is issued, asserted and accepted.

    Decisions are made through `call` when a step is asked for; whatever it raises comes through.
    """

    transaction_id: str
    call: Caller

    def step(self, answers: Sequence[Answer]) -> Step | None:
        """The call after those that gave these answers; None at the end."""
        made = len(answers)
        if made < len(_ROLES):
            return self._named("issue_mandate", _ROLES[made], self.mandate(_ROLES[made]))
        parties = self.parties(answers)
        if made == 2:
            return self._named("create_agreement", "form", self.formation(parties))
        if made == 3:
            arguments = self.issuance(parties, answers[2]["agreement_id"])
        elif made == 4:
            arguments = self.assertion(parties, answers[3]["obligation"])
        elif made == 5:
            arguments = self.acceptance(parties, answers[4]["assertion"])
        else:
            return None
        return self._named("record_obligation", arguments["act"], arguments)

    def parties(self, answers: Sequence[Answer]) -> dict[str, Answer]:
        """Both parties under the mandates that the first two answers issued."""
        return {role: {**_SCRIPT.data[role]["party"], "mandate_id": answer["mandate_id"]}
                for role, answer in zip(_ROLES, answers, strict=False)}

    def mandate(self, role: str, **more: Any) -> Answer:
        """Arguments of issue_mandate."""
        return _SCRIPT.mandate(role, self.transaction_id, **more)

    def formation(self, parties: Mapping[str, Answer], **decisions: Answer) -> Answer:
        """Arguments of create_agreement; decisions that are not given are made now."""
        made = {f"{role}_decision": decisions.get(role) or self.decide(parties, role, self.formation_act(parties, role))
                for role in _ROLES}
        return {
            "transaction_id": self.transaction_id, **parties, "terms": _SCRIPT.terms(), **made,
            "offer_valid_until": _SCRIPT.data["offer_valid_until"], "geography": _SCRIPT.data["geography"]}

    def formation_act(self, parties: Mapping[str, Answer], role: str) -> Answer:
        """The act of one party to the formation."""
        action = "offer.accept" if role == "buyer" else "offer.submit"
        return self._act(parties, role, action, {"proposed_terms": _SCRIPT.terms()})

    def issuance(self, parties: Mapping[str, Answer], agreement_id: str, **decision: Any) -> Answer:
        """Arguments of record_obligation, act issue; `decision` are further arguments of verify_mandate."""
        return self._obligation("issue", parties, "buyer", "obligation.activated", {"agreement_id": agreement_id}, {
            "agreement_id": agreement_id, "term_path": "$.terms.core.quantity", "quantity": _SCRIPT.core["quantity"],
            "unit_code": _SCRIPT.core["unit_code"], "consideration": _SCRIPT.core["total"],
            "due_condition": {"type": "due_at_time", "at": _SCRIPT.data["due_at"]}}, **decision)

    def assertion(self, parties: Mapping[str, Answer], obligation_id: str) -> Answer:
        """Arguments of record_obligation, act assert."""
        named = {"obligation_id": obligation_id}
        return self._obligation("assert", parties, "supplier", "performance.declared", named, {
            **named, "asserted_quantity": _SCRIPT.core["quantity"], "evidence": [_SCRIPT.evidence]})

    def acceptance(self, parties: Mapping[str, Answer], assertion_id: str) -> Answer:
        """Arguments of record_obligation, act respond."""
        return self._obligation("respond", parties, "buyer", "acceptance.granted", {"assertion_id": assertion_id}, {
            "assertion_id": assertion_id, "response_type": "accept"})

    def decide(self, parties: Mapping[str, Answer], role: str, act: Mapping[str, Any], **more: Any) -> Answer:
        """The whole result of verify_mandate over an act."""
        return self.call("verify_mandate", {
            "mandate_id": parties[role]["mandate_id"], "proposed_action": act,
            "status": {"status": "active", "retrieved_at": format_instant(datetime.now(UTC))}, **more})

    def _named(self, tool: str, name: str, arguments: Mapping[str, Any]) -> Step:
        return Step(tool, {**arguments, "idempotency_key": f"{self.transaction_id}-{name}"})

    def _obligation(
        self, act: str, parties: Mapping[str, Answer], role: str, action: str, references: Answer, arguments: Answer,
        **decision: Any,
    ) -> Answer:
        proposed = self._act(parties, role, action, {"proposed_terms": {"core": _SCRIPT.core}, **references})
        names = ("responder", "counterparty") if act == "respond" else ("obligee", "obligor")
        decided = self.decide(parties, role, proposed, **decision)
        return {
            "act": act, "decision": decided, "geography": _SCRIPT.data["geography"],
            **dict(zip(names, (parties["buyer"], parties["supplier"]), strict=True)), **arguments}

    def _act(self, parties: Mapping[str, Answer], role: str, action: str, members: Mapping[str, Any]) -> Answer:
        other = parties["supplier" if role == "buyer" else "buyer"]
        return {
            "action_type": action, "transaction_id": self.transaction_id, "geography": _SCRIPT.data["geography"],
            "counterparty_organization_id": other["organization_id"], **members}


def identifiers(answer: Mapping[str, Any]) -> list[str]:
    """The identifiers of the objects that a recording call says it wrote."""
    return [*(answer[name] for name in _IDENTIFIERS if name in answer), *answer.get("evidence_ids", [])]
