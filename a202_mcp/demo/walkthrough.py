"""The walkthrough of the seed: mandates, decisions, agreement, obligation, approval, record, verification."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from mcp.client.client import Client

from a202_mcp.demo.script import Script
from a202_mcp.demo.stage import Stage, server
from a202_reference.lifecycle.rules import CURRENT_VERSION
from a202_reference.times import format_instant

_ALLOW = {"decision": "allow", "reason_codes": []}


async def walk(stage: Stage, script: Script, state_dir: Path | None) -> None:
    """Run all of it; the last part in a server that holds nothing but the exported bundle."""
    transaction_id = script.data["transaction_id"]
    async with server(state_dir) as client:
        play = _Play(stage, script, client, transaction_id)
        await play.mandates()
        await play.decisions()
        await play.agreement()
        await play.obligation()
        bundle = await play.record()
        await play.tampering(bundle)
        await _Play(stage, script, client, script.data["approval_transaction_id"]).approval()
    stage.heading("7. A stranger verifies the exported bundle, in a process that holds nothing else")
    async with server(None) as stranger:
        await stage.call(
            stranger, "Every check that applies is verified", "verify_evidence", {"bundle": bundle},
            {"results.failed": 0, "results.not_checkable": 0, "rules_version": CURRENT_VERSION})


class _Play:
    """One transaction between buyer and supplier, and what its steps hand on."""

    def __init__(self, stage: Stage, script: Script, client: Client, transaction_id: str) -> None:
        self.stage, self.script, self.client, self.transaction_id = stage, script, client, transaction_id
        self.mandate_ids: dict[str, str] = {}
        self.agreement_id = self.obligation_id = self.assertion_id = ""
        self.decided: dict[str, dict[str, Any]] = {}

    async def mandates(self) -> None:
        """Step 1."""
        self.stage.heading("1. Each principal issues its agent's mandate")
        for role in ("buyer", "supplier"):
            await self._issue(role)

    async def decisions(self) -> None:
        """Step 2."""
        self.stage.heading("2. Each agent verifies its own act")
        self.decided["buyer"] = await self._decide("buyer", "The buyer may accept", self._formation("buyer"), _ALLOW)
        refused = await self._decide(
            "buyer", f"A total of {self.script.data['over_the_limit']} is over the limit",
            self._formation("buyer", self.script.data["over_the_limit"]),
            {"decision": "deny", "reason_codes": ["A202-POLICY-DENIED"], "constraints.0.id": "c_total_amount",
             "constraints.0.result": "unsatisfied", "constraints.1.result": "satisfied"})
        self.decided["supplier"] = await self._decide(
            "supplier", "The supplier may offer", self._formation("supplier"), _ALLOW)
        await self._call(
            "A denied act cannot be recorded", "create_agreement", self._agreement_arguments(refused),
            {"outcome": "refused"})

    async def agreement(self) -> None:
        """Step 3."""
        self.stage.heading("3. The two parties form the agreement")
        formed = await self._call(
            "Offer, acceptance, agreement, commitment and two events, or nothing", "create_agreement",
            self._agreement_arguments(self.decided["buyer"]),
            {"outcome": "recorded", "state": "committed", "rules_version": CURRENT_VERSION})
        self.agreement_id = str(formed.get("agreement_id"))

    async def obligation(self) -> None:
        """Step 4."""
        self.stage.heading("4. The obligation is issued, performed and answered")
        buyer, supplier = self._party("buyer"), self._party("supplier")
        core = self.script.core
        act = self._act("buyer", "obligation.activated", agreement_id=self.agreement_id)
        decision = await self._decide("buyer", "The obligee may issue", act, _ALLOW)
        issued = await self._call("The obligation is issued", "record_obligation", {
            "act": "issue", "decision": decision, "agreement_id": self.agreement_id, "obligor": supplier,
            "obligee": buyer, "term_path": "$.terms.core.quantity", "quantity": core["quantity"],
            "unit_code": core["unit_code"], "due_condition": {"type": "due_at_time", "at": self.script.data["due_at"]},
            "consideration": core["total"], "geography": self.script.data["geography"],
        }, {"outcome": "recorded", "act": "issue", "state": "in_performance"})
        self.obligation_id = str(issued.get("obligation"))
        await self._assert(buyer, supplier)
        await self._respond(buyer, supplier)

    async def _assert(self, buyer: Mapping[str, Any], supplier: Mapping[str, Any]) -> None:
        decision = await self._decide(
            "supplier", "The obligor may declare performance",
            self._act("supplier", "performance.declared", obligation_id=self.obligation_id), _ALLOW)
        assertion = {
            "act": "assert", "decision": decision, "obligation_id": self.obligation_id, "obligor": supplier,
            "obligee": buyer, "asserted_quantity": self.script.core["quantity"],
            "evidence": [self.script.evidence], "geography": self.script.data["geography"]}
        await self._call(
            "Without evidence nothing is recorded", "record_obligation", {**assertion, "evidence": []},
            {"outcome": "refused", "reason_codes": ["A202-OBLIGATION-ASSERTION-UNEVIDENCED"]})
        asserted = await self._call(
            "Performance is asserted with evidence", "record_obligation", assertion,
            {"outcome": "recorded", "act": "assert", "state": "acceptance_pending"})
        self.assertion_id = str(asserted.get("assertion"))

    async def _respond(self, buyer: Mapping[str, Any], supplier: Mapping[str, Any]) -> None:
        decision = await self._decide(
            "buyer", "The obligee may accept",
            self._act("buyer", "acceptance.granted", assertion_id=self.assertion_id), _ALLOW)
        response = {"act": "respond", "decision": decision, "assertion_id": self.assertion_id,
                    "response_type": "accept", "geography": self.script.data["geography"]}
        await self._call(
            "The obligor cannot accept its own work", "record_obligation",
            {**response, "responder": supplier, "counterparty": buyer},
            {"outcome": "refused", "reason_codes": ["A202-OBLIGATION-RESPONSE-UNAUTHORIZED"]})
        await self._call(
            "The obligee accepts", "record_obligation", {**response, "responder": buyer, "counterparty": supplier},
            {"outcome": "recorded", "act": "respond", "state": "settlement_pending"})

    async def record(self) -> dict[str, Any]:
        """Step 5; the exported bundle."""
        self.stage.heading("5. The record, and what a counterparty can check for itself")
        record = await self._call(
            "Five events in one chain", "get_transaction_record", {"transaction_id": self.transaction_id},
            {"chain": "linked", "state": "settlement_pending", "events.4.sequence": 5})
        for event in record.get("events", []):
            self.stage.say(
                f"    {event['sequence']}  {event['event_type']:<22} {event['from_state']} -> {event['to_state']}")
        await self._call(
            "The seven steps over the record", "verify_evidence",
            {"transaction_id": self.transaction_id, "rules_version": CURRENT_VERSION},
            {"results.failed": 0, "results.not_checkable": 0,
             "streams_disclosed": [f"transaction:{self.transaction_id}"], "unresolved_references": []})
        older = await self._call(
            "Under rules 1.2 the first transition was never registered", "verify_evidence",
            {"transaction_id": self.transaction_id, "rules_version": "1.2", "checks": "not_verified"},
            {"rules_version": "1.2"})
        self._failed_check("… and the report names it", older, 5, "A202-EVIDENCE-TRANSITION-ILLEGAL")
        found = await self.client.read_resource(f"a202://transactions/{self.transaction_id}/bundle")
        bundle: dict[str, Any] = json.loads(getattr(found.contents[0], "text", "{}"))
        return bundle

    async def tampering(self, bundle: Mapping[str, Any]) -> None:
        """One changed byte."""
        changed = json.loads(json.dumps(bundle))
        agreement = next(found for found in changed["objects"] if found["object_type"] == "agreement")
        agreement["payload"]["terms"]["core"]["total"]["amount"] = "3200.01"
        report = await self._call(
            "One changed byte in the agreement's terms", "verify_evidence",
            {"bundle": changed, "checks": "not_verified"}, {"rules_version": CURRENT_VERSION})
        self._failed_check("… fails step 1", report, 1, "A202-EVIDENCE-HASH-MISMATCH")
        self._failed_check("… and the signatures over it fail with it", report, 2, "A202-EVIDENCE-SIGNATURE-INVALID")

    async def approval(self) -> None:
        """Approvals: hold, approve, verify again, record."""
        self.stage.heading("6. A commitment that a person must approve")
        await self._issue("buyer", approval_rules=[self.script.data["approval_rule"]])
        await self._issue("supplier")
        act = self._formation("buyer")
        held = await self._decide("buyer", "The act is held, not allowed", act, {
            "decision": "require_approval", "reason_codes": ["A202-APPROVAL-REQUIRED"],
            "approval_rules_matched": ["a_large_commitment"], "approval": "not_presented"})
        supplier = await self._decide("supplier", "The supplier may offer", self._formation("supplier"), _ALLOW)
        self.decided["supplier"] = supplier
        await self._call(
            "A held act cannot be recorded", "create_agreement", self._agreement_arguments(held),
            {"outcome": "refused", "reason_codes": ["A202-APPROVAL-REQUIRED"]})
        issuer = self.script.data["buyer"]["issuer"]
        approval = await self._call("The procurement director approves this exact act", "issue_approval", {
            "transaction_id": self.transaction_id, "action_hash": held.get("action_hash"),
            "requested_by": self._party("buyer"),
            "approver": {"principal_id": issuer["principal_id"], "role": "procurement_director",
                         "key_id": issuer["key_id"]},
        }, {"outcome": "recorded", "action_hash": held.get("action_hash"), "decision": "approved"})
        released = await self._decide(
            "buyer", "The identical act is allowed now", act, {**_ALLOW, "approval": "verified"},
            approval_id=approval.get("approval_id"))
        await self._call(
            "… and is recorded", "create_agreement", self._agreement_arguments(released),
            {"outcome": "recorded", "state": "committed"})
        await self._call(
            "The record with its approval verifies whole", "verify_evidence",
            {"transaction_id": self.transaction_id, "rules_version": CURRENT_VERSION},
            {"results.failed": 0, "results.not_checkable": 0})

    async def _issue(self, role: str, **more: Any) -> None:
        issued = await self._call(
            f"The {role}'s mandate", "issue_mandate", self.script.mandate(role, self.transaction_id, **more),
            {"outcome": "issued", "role_scope": "a202-scope/bilateral/0.1"})
        self.mandate_ids[role] = str(issued.get("mandate_id"))

    async def _decide(
        self, role: str, title: str, act: Mapping[str, Any], stated: Mapping[str, Any], **more: Any,
    ) -> dict[str, Any]:
        # The status a real caller would have fetched from the mandate's endpoint a moment ago.
        status = {"status": "active", "retrieved_at": format_instant(datetime.now(UTC))}
        return await self._call(
            title, "verify_mandate",
            {"mandate_id": self.mandate_ids[role], "status": status, "proposed_action": act, **more}, stated)

    async def _call(
        self, title: str, tool: str, arguments: Mapping[str, Any], stated: Mapping[str, Any],
    ) -> dict[str, Any]:
        return await self.stage.call(self.client, title, tool, arguments, stated)

    def _failed_check(self, title: str, report: Mapping[str, Any], step: int, code: str) -> None:
        failed = [check for check in report.get("checks", []) if check["step"] == step and check["result"] == "failed"]
        named: dict[str, Any] = next((check for check in failed if check["code"] == code), {})
        self.stage.check(title, named, {"step": step, "result": "failed", "code": code})

    def _party(self, role: str) -> dict[str, Any]:
        return {**self.script.data[role]["party"], "mandate_id": self.mandate_ids[role]}

    def _formation(self, role: str, amount: str | None = None) -> dict[str, Any]:
        action = "offer.accept" if role == "buyer" else "offer.submit"
        return {**self._act(role, action), "proposed_terms": self.script.terms(amount)}

    def _act(self, role: str, action_type: str, **references: str) -> dict[str, Any]:
        other = self.script.data["supplier" if role == "buyer" else "buyer"]["party"]
        return {
            "action_type": action_type,
            "transaction_id": self.transaction_id,
            "counterparty_organization_id": other["organization_id"],
            "geography": self.script.data["geography"],
            "proposed_terms": {"core": self.script.core},
            **references,
        }

    def _agreement_arguments(self, buyer_decision: Mapping[str, Any]) -> dict[str, Any]:
        return {
            "transaction_id": self.transaction_id,
            "buyer": self._party("buyer"),
            "supplier": self._party("supplier"),
            "terms": self.script.terms(),
            "offer_valid_until": self.script.data["offer_valid_until"],
            "geography": self.script.data["geography"],
            "buyer_decision": buyer_decision,
            "supplier_decision": self.decided["supplier"],
        }
