"""The walkthrough in process: the seven tools called as the server calls them, without a transport."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from a202_mcp.bilateral.arguments import read_arguments
from a202_mcp.bilateral.tools import TOOLS
from a202_mcp.demo.script import Script
from a202_mcp.workspace import Workspace
from a202_reference.codes import Refusal
from a202_reference.times import format_instant

_BY_NAME = {tool.name: tool for tool in TOOLS}
_COUNTER = itertools.count()


def call(workspace: Workspace, name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """One tool's answer. Raises TypeError for a refusal: a benchmark measures acts."""
    tool = _BY_NAME[name]
    read = read_arguments(tool.input_schema, dict(arguments))
    answer = read if isinstance(read, Refusal) else tool.answer(workspace, read)
    if isinstance(answer, Refusal):
        raise TypeError(f"{name}: {answer.detail}")
    return answer


class Lifecycle:
    """Two parties on one transaction. `prepare` issues the mandates; `run` is what is measured."""

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace
        self.script = Script.shifted_to(datetime.now(UTC))
        self.transaction_id = f"txn_benchmark_{next(_COUNTER)}"
        self.parties: dict[str, dict[str, Any]] = {}

    def prepare(self) -> Lifecycle:
        """Issue both mandates."""
        for role in ("buyer", "supplier"):
            issued = call(self.workspace, "issue_mandate", self.script.mandate(role, self.transaction_id))
            self.parties[role] = {**self.script.data[role]["party"], "mandate_id": issued["mandate_id"]}
        return self

    def run(self) -> str:
        """Five decisions, formation, and the three obligation acts; the transaction's id."""
        agreement = self.form()
        issued = self._obligation("issue", "buyer", "obligation.activated", {"agreement_id": agreement}, {
            "agreement_id": agreement, "term_path": "$.terms.core.quantity", "quantity": self.script.core["quantity"],
            "unit_code": self.script.core["unit_code"], "consideration": self.script.core["total"],
            "due_condition": {"type": "due_at_time", "at": self.script.data["due_at"]}})
        obligation = {"obligation_id": issued["obligation"]}
        asserted = self._obligation("assert", "supplier", "performance.declared", obligation, {
            **obligation, "asserted_quantity": self.script.core["quantity"], "evidence": [self.script.evidence]})
        answered = {"assertion_id": asserted["assertion"]}
        self._obligation("respond", "buyer", "acceptance.granted", answered, {**answered, "response_type": "accept"})
        return self.transaction_id

    def form(self) -> str:
        """Two decisions and the agreement; its id."""
        terms = self.script.terms()
        decisions = {
            f"{role}_decision": self._decide(role, action, {"proposed_terms": terms})
            for role, action in (("buyer", "offer.accept"), ("supplier", "offer.submit"))}
        formed = call(self.workspace, "create_agreement", {
            "transaction_id": self.transaction_id, **self.parties, "terms": terms, **decisions,
            "offer_valid_until": self.script.data["offer_valid_until"], "geography": self.script.data["geography"]})
        return str(formed["agreement_id"])

    def _obligation(
        self, act: str, role: str, action: str, references: Mapping[str, Any], arguments: Mapping[str, Any],
    ) -> dict[str, Any]:
        decision = self._decide(role, action, {"proposed_terms": {"core": self.script.core}, **references})
        names = ("responder", "counterparty") if act == "respond" else ("obligee", "obligor")
        roles = dict(zip(names, (self.parties["buyer"], self.parties["supplier"]), strict=True))
        return call(self.workspace, "record_obligation", {
            "act": act, "decision": decision, "geography": self.script.data["geography"], **roles, **arguments})

    def _decide(self, role: str, action: str, more: Mapping[str, Any]) -> dict[str, Any]:
        other = self.parties["supplier" if role == "buyer" else "buyer"]
        act = {
            "action_type": action, "transaction_id": self.transaction_id, "geography": self.script.data["geography"],
            "counterparty_organization_id": other["organization_id"], **more}
        return call(self.workspace, "verify_mandate", {
            "mandate_id": self.parties[role]["mandate_id"], "proposed_action": act,
            "status": {"status": "active", "retrieved_at": format_instant(datetime.now(UTC))}})
