"""Seed, "Walkthrough" and "Approvals": the calibration purchase from the mandates to the record, step by step."""

import unittest
from datetime import UTC, datetime

from a202_reference.canonical import value_hash
from a202_reference.codes import Refusal
from tests.bilateral.parties import (
    APPROVAL_RULE,
    BUYER_ISSUER,
    EVIDENCE,
    NOW,
    PRICE,
    TERMS,
    TRANSACTION,
    Desk,
    RefusalCase,
    changed,
)

SCOPE = {
    "transaction_ids": [TRANSACTION], "counterparty_organization_ids": ["org_delta"], "geographies": ["NL"]}


class Walkthrough(unittest.TestCase):
    """In the seed's order; each step continues where the one before ended."""

    @classmethod
    def setUpClass(cls):
        cls.desk = desk = Desk()
        desk.axes = {"geography": "NL"}
        desk.introduce(buyer={"scope": SCOPE})
        cls.decision = desk.decide(desk.buyer, desk.formation_act(desk.buyer))
        cls.over = desk.decide(desk.buyer, desk.formation_act(
            desk.buyer, changed(TERMS, "core.total.amount", "4800.00")))
        cls.agreement = desk.form()
        cls.issued = desk.done("record_obligation", desk.issuance())
        desk.clock.now = datetime(2026, 9, 8, 14, 5, tzinfo=UTC)
        unevidenced = desk.assertion(cls.issued["obligation"], evidence=[])
        cls.before = desk.dump()
        cls.unevidenced = desk.call("record_obligation", unevidenced)
        cls.after = desk.dump()
        cls.asserted = desk.done("record_obligation", desk.assertion(cls.issued["obligation"]))
        cls.answered = desk.respond("accept", cls.asserted["assertion"])
        cls.record = desk.record()

    def test_1_the_mandate_carries_the_limit_as_two_constraints_first(self):
        document = self.desk.workspace.mandate(self.desk.buyer["mandate_id"])
        total = "$.proposed_terms.core.total"
        self.assertEqual(document["constraints"], [
            {"id": "c_total_amount", "type": "commercial.decimal", "path": f"{total}.amount", "operator": "maximum",
             "value": "4000.00", "on_failure": "deny"},
            {"id": "c_total_currency", "type": "commercial.string", "path": f"{total}.currency", "operator": "equals",
             "value": "EUR", "on_failure": "deny"}])
        self.assertEqual(document["spec_version"], "a202-mandate/0.1")

    def test_2_the_buyers_act_is_allowed(self):
        decision = self.decision
        self.assertEqual(
            [decision[name] for name in ("proof", "validity_interval", "status", "decision", "reason_codes")],
            ["verified", "verified", "verified", "allow", []])
        self.assertEqual(decision["action_hash"], value_hash(self.desk.formation_act(self.desk.buyer)))

    def test_2_over_the_limit_it_is_denied_and_told_by_which_constraint(self):
        self.assertEqual((self.over["decision"], self.over["reason_codes"]), ("deny", ["A202-POLICY-DENIED"]))
        self.assertEqual(
            [(each["id"], each["result"], each["code"]) for each in self.over["constraints"]],
            [("c_total_amount", "unsatisfied", "A202-POLICY-DENIED"), ("c_total_currency", "satisfied", None)])

    def test_3_the_agreement(self):
        result = self.agreement
        self.assertEqual(
            (result["outcome"], result["state"], result["rules_version"], result["transaction_id"]),
            ("recorded", "committed", "1.3", TRANSACTION))
        self.assertEqual(result["terms_hash"], value_hash(TERMS))
        for member, prefix in (("session_id", "ses_"), ("offer_id", "off_"), ("acceptance_id", "acc_"),
                               ("agreement_id", "agr_"), ("commitment_id", "cmt_")):
            with self.subTest(member=member):
                self.assertTrue(result[member].startswith(prefix))

    def test_4_the_obligation(self):
        self.assertEqual(
            {name: self.issued[name] for name in ("outcome", "act", "state")},
            {"outcome": "recorded", "act": "issue", "state": "in_performance"})
        self.assertEqual(
            {name: self.asserted[name] for name in ("outcome", "act", "state")},
            {"outcome": "recorded", "act": "assert", "state": "acceptance_pending"})
        self.assertEqual(len(self.asserted["evidence_ids"]), 1)
        self.assertEqual(
            {name: self.answered[name] for name in ("outcome", "act", "state")},
            {"outcome": "recorded", "act": "respond", "state": "settlement_pending"})

    def test_4_no_evidence_no_assertion(self):
        self.assertIsInstance(self.unevidenced, Refusal)
        self.assertEqual(self.unevidenced.codes, ("A202-OBLIGATION-ASSERTION-UNEVIDENCED",))
        self.assertEqual(self.after, self.before)

    def test_5_the_record(self):
        self.assertEqual(
            [(event["sequence"], event["event_type"], event["from_state"], event["to_state"])
             for event in self.record["events"]], [
                (1, "agreement.direct", "draft", "agreement_pending"),
                (2, "agreement.committed", "agreement_pending", "committed"),
                (3, "obligation.activated", "committed", "in_performance"),
                (4, "performance.declared", "in_performance", "acceptance_pending"),
                (5, "acceptance.granted", "acceptance_pending", "settlement_pending")])
        self.assertEqual((self.record["chain"], self.record["state"]), ("linked", "settlement_pending"))

    def test_5_what_one_call_each_has_written(self):
        kinds = [each["object_type"] for each in self.desk.objects()]
        self.assertEqual(sorted(kinds), sorted([
            "offer", "acceptance", "agreement", "commitment", *["policy_decision"] * 5, *["transaction_event"] * 5,
            "obligation", "evidence", "performance_event", "obligation_response"]))

    def test_5_every_event_is_signed_by_both_agents(self):
        for event in self.record["events"]:
            with self.subTest(event=event["event_type"]):
                self.assertEqual(set(event["signed_by"]), {"key_northstar_agent_01", "key_delta_agent_01"})


class ApprovalLoop(RefusalCase):
    """Held, approved by a person, verified again, recorded; the approval is used up."""

    def setUp(self):
        self.desk = Desk().introduce(buyer={"approval_rules": [APPROVAL_RULE]})
        self.act = self.desk.formation_act(self.desk.buyer)

    def test_the_loop(self):
        desk = self.desk
        held = desk.decide(desk.buyer, self.act)
        self.assertEqual(
            {name: held[name] for name in ("decision", "reason_codes", "approval_rules_matched", "approval",
                "approval_id")},
            {"decision": "require_approval", "reason_codes": ["A202-APPROVAL-REQUIRED"],
             "approval_rules_matched": ["a_large_commitment"], "approval": "not_presented", "approval_id": None})
        approval = desk.done("issue_approval", desk.approval(held["action_hash"], expires_at="2026-08-20T11:00:00Z"))
        again = desk.decide(desk.buyer, self.act, approval_id=approval["approval_id"])
        self.assertEqual(
            {name: again[name] for name in ("decision", "approval", "reason_codes", "approval_id", "action_hash")},
            {"decision": "allow", "approval": "verified", "reason_codes": [], "approval_id": approval["approval_id"],
             "action_hash": held["action_hash"]})
        self.assertEqual(desk.form(buyer_decision=again)["state"], "committed")

    def test_a_decision_made_before_the_person_answered_is_too_old(self):
        desk = self.desk
        held = desk.decide(desk.buyer, self.act)
        arguments = desk.formation(buyer_decision=held)
        self.assert_refused(desk, "create_agreement", arguments, "A202-APPROVAL-REQUIRED")
        approval = desk.done("issue_approval", desk.approval(held["action_hash"]))
        allowed = desk.decide(desk.buyer, self.act, approval_id=approval["approval_id"])
        desk.clock.forward(seconds=61)
        self.assert_refused(
            desk, "create_agreement", desk.formation(buyer_decision=allowed), "A202-MANDATE-STATUS-UNRESOLVED")

    def test_the_approval_is_judged_again_when_the_act_is_recorded(self):
        desk = self.desk
        held = desk.decide(desk.buyer, self.act)
        approval = desk.done("issue_approval", desk.approval(held["action_hash"], expires_after_seconds=30))
        allowed = desk.decide(desk.buyer, self.act, approval_id=approval["approval_id"])
        desk.clock.forward(seconds=30)
        self.assert_refused(desk, "create_agreement", desk.formation(buyer_decision=allowed), "A202-APPROVAL-REQUIRED")

    def test_a_made_up_allow_over_a_hold(self):
        desk = self.desk
        held = desk.decide(desk.buyer, self.act)
        for approval_id in (None, "apr_made_up_01", desk.buyer["mandate_id"]):
            with self.subTest(approval_id=approval_id):
                forged = {**held, "decision": "allow", "reason_codes": [], "approval": "verified",
                    "approval_id": approval_id}
                self.assert_refused(desk, "create_agreement", desk.formation(buyer_decision=forged),
                    "A202-APPROVAL-REQUIRED")

    def test_consumed_by_the_first_act_it_released(self):
        desk = self.desk
        held = desk.decide(desk.buyer, self.act)
        approval = desk.done("issue_approval", desk.approval(held["action_hash"]))["approval_id"]
        desk.form(buyer_decision=desk.decide(desk.buyer, self.act, approval_id=approval))
        again = desk.decide(desk.buyer, self.act, approval_id=approval)
        self.assertEqual(
            (again["decision"], again["approval"], again["reason_codes"]),
            ("require_approval", "failed", ["A202-APPROVAL-REQUIRED"]))

    def test_an_obligation_held_twice_needs_two_approvals(self):
        desk = self.desk
        approval = desk.done("issue_approval", desk.approval(value_hash(self.act)))["approval_id"]
        desk.form(buyer_decision=desk.decide(desk.buyer, self.act, approval_id=approval))
        act = desk.obligation_act(
            "obligation.activated", "20", PRICE, agreement_id=desk.agreement["agreement_id"])
        approval = desk.done("issue_approval", desk.approval(value_hash(act)))["approval_id"]
        allowed = desk.decide(desk.buyer, act, approval_id=approval)
        self.assertEqual(allowed["decision"], "allow")
        first = desk.done("record_obligation", desk.issuance(decision=allowed))
        self.assertEqual(first["state"], "in_performance")
        # The same act, the same presented allow, still fresh: what it released is used up.
        self.assert_refused(desk, "record_obligation", desk.issuance(decision=allowed), "A202-APPROVAL-REQUIRED")

    def test_another_object_in_the_place_of_an_approval(self):
        desk = self.desk
        approval = desk.done("issue_approval", desk.approval(value_hash(self.act)))["approval_id"]
        desk.form(buyer_decision=desk.decide(desk.buyer, self.act, approval_id=approval))
        held = desk.issuance()
        for other in (desk.agreement["offer_id"], desk.agreement["agreement_id"], approval):
            with self.subTest(other=other[:3]):
                forged = {**held["decision"], "decision": "allow", "reason_codes": [], "approval_id": other}
                code = "A202-APPROVAL-HASH-MISMATCH" if other == approval else "A202-APPROVAL-REQUIRED"
                self.assert_refused(desk, "record_obligation", {**held, "decision": forged}, code)

    def test_an_approval_does_not_serve_on_another_transaction(self):
        desk = Desk().introduce(
            buyer={"approval_rules": [APPROVAL_RULE],
                   "scope": {"transaction_ids": [TRANSACTION, "txn_other_one"]}})
        act = desk.formation_act(desk.buyer)
        approval = desk.done("issue_approval", desk.approval(value_hash(act), transaction_id="txn_other_one"))
        held = desk.decide(desk.buyer, act, approval_id=approval["approval_id"])
        self.assertEqual((held["decision"], held["reason_codes"]), ("require_approval", ["A202-STREAM-MISMATCH"]))

    def test_a_denied_limit_is_no_question(self):
        desk = self.desk
        act = desk.formation_act(desk.buyer, changed(TERMS, "core.total.amount", "4800.00"))
        approval = desk.done("issue_approval", desk.approval(value_hash(act)))
        found = desk.decide(desk.buyer, act, approval_id=approval["approval_id"])
        self.assertEqual((found["decision"], found["reason_codes"]), ("deny", ["A202-POLICY-DENIED"]))


class Mirrored(unittest.TestCase):
    """The buyer may be the offeror, and the supplier may be owed."""

    def test_the_buyer_offers(self):
        desk = Desk().introduce()
        acts = {
            "buyer": {**desk.formation_act(desk.buyer), "action_type": "offer.submit"},
            "supplier": {**desk.formation_act(desk.supplier), "action_type": "offer.accept"}}
        desk.form(
            offeror_role="buyer", buyer_decision=desk.decide(desk.buyer, acts["buyer"]),
            supplier_decision=desk.decide(desk.supplier, acts["supplier"]))
        by_type = {each["object_type"]: each for each in desk.objects()}
        offer, acceptance, agreement = (by_type[name] for name in ("offer", "acceptance", "agreement"))
        self.assertEqual(offer["created_by"]["organization_id"], "org_northstar")
        self.assertEqual(acceptance["created_by"]["organization_id"], "org_delta")
        self.assertEqual(agreement["created_by"]["organization_id"], "org_delta")
        self.assertEqual(by_type["commitment"]["created_by"]["organization_id"], "org_delta")
        self.assertEqual(agreement["payload"]["buyer"]["organization_id"], "org_northstar")

    def test_the_supplier_is_owed(self):
        desk = Desk().introduce()
        desk.form()
        act = {
            "action_type": "obligation.activated", "transaction_id": TRANSACTION,
            "counterparty_organization_id": "org_northstar", "agreement_id": desk.agreement["agreement_id"],
            "proposed_terms": {"core": {"quantity": "20", "unit_code": "H87", "total": PRICE}}}
        result = desk.done("record_obligation", desk.issuance(
            decision=desk.decide(desk.supplier, act), obligor=desk.buyer, obligee=desk.supplier))
        self.assertEqual(result["state"], "in_performance")


class Seed(unittest.TestCase):

    def test_the_fixture_is_the_seeds(self):
        self.assertEqual(TERMS["core"]["total"], PRICE)
        self.assertEqual((BUYER_ISSUER["organization_id"], EVIDENCE["issuer"]),
            ("org_northstar", {"organization_id": "org_delta"}))
        self.assertEqual(NOW, datetime(2026, 8, 20, 10, tzinfo=UTC))
