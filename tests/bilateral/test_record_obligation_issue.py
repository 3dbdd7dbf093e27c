"""Surface 2 and 3, record_obligation issue; rules 8.1, 8.2; D-26, D-38, D-39: what is owed, by reference only."""

import unittest

from a202_reference.canonical import content_hash, value_hash
from tests.bilateral.parties import PRICE, TERMS, TRANSACTION, Desk, RefusalCase, buyer_mandate, changed

DENIED, UNREFERENCED = "A202-POLICY-DENIED", "A202-OBLIGATION-SUBJECT-UNREFERENCED"
MISMATCH, UNRESOLVED = "A202-APPROVAL-HASH-MISMATCH", "A202-MANDATE-STATUS-UNRESOLVED"
STATE, TERMS_INVALID = "A202-STATE-TRANSITION-DENIED", "A202-TERMS-INVALID"
UNKNOWN = "A202-OBLIGATION-CONDITION-UNKNOWN"
AT = {"type": "due_at_time", "at": "2026-09-10T12:00:00Z"}
THIRD = {
    "organization_id": "org_epsilon", "agent_id": "agt_epsilon_01", "mandate_id": "mnd_epsilon_01",
    "key_id": "key_epsilon_01"}


def formed():
    desk = Desk().introduce()
    desk.form()
    return desk


class Recorded(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        cls.desk = formed()
        cls.result = cls.desk.done("record_obligation", cls.desk.issuance())
        cls.obligation = cls.desk.workspace.store.held_object(cls.result["obligation"])

    def test_result(self):
        self.assertEqual(
            {name: value for name, value in self.result.items() if name != "obligation"},
            {"outcome": "recorded", "act": "issue", "state": "in_performance"})

    def test_the_object_refers_and_does_not_restate(self):
        agreement = self.desk.agreement
        self.assertEqual(self.obligation["payload"], {
            "agreement_id": agreement["agreement_id"], "commitment_id": agreement["commitment_id"],
            "obligor": {"organization_id": "org_delta", "agent_id": "agt_delta_supplier_01"},
            "obligee": {"organization_id": "org_northstar", "agent_id": "agt_northstar_buyer_01"},
            "subject": {
                "agreement_id": agreement["agreement_id"], "terms_hash": value_hash(TERMS), "profile": TERMS["profile"],
                "term_path": "$.terms.core.quantity"},
            "due_condition": AT, "quantity": "20", "unit_code": "H87", "consideration": PRICE, "state": "pending"})

    def test_issued_and_signed_by_the_obligee(self):
        self.assertEqual(self.obligation["created_by"]["agent_id"], "agt_northstar_buyer_01")
        self.assertEqual([entry["key_id"] for entry in self.obligation["signatures"]], ["key_northstar_agent_01"])

    def test_the_first_moves_the_transaction(self):
        self.assertEqual(self.desk.events()[-1], ("obligation.activated", "committed", "in_performance"))
        event = self.desk.record()["events"][-1]
        self.assertEqual(event["data"], {"obligation_id": self.result["obligation"]})
        self.assertEqual(len(event["signed_by"]), 2)

    def test_the_decision_and_its_act_are_kept(self):
        act = self.desk.obligation_act("obligation.activated", "20", agreement_id=self.desk.agreement["agreement_id"])
        decision = [each for each in self.desk.objects() if each["object_type"] == "policy_decision"][-1]
        self.assertEqual(decision["payload"]["action_hash"], value_hash(act))
        self.assertEqual(self.desk.workspace.store.acts(TRANSACTION)[value_hash(act)], act)
        self.assertEqual(self.desk.record()["events"][-1]["policy_decision_id"], decision["id"])


class Further(unittest.TestCase):
    """D-26: a further obligation moves nothing, and both parties sign it."""

    def test_in_every_committed_state(self):
        desk = formed()
        first = desk.issue()
        for state in ("in_performance", "acceptance_pending", "settlement_pending"):
            with self.subTest(state=state):
                self.assertEqual(desk.record()["state"], state)
                events = desk.events()
                result = desk.done("record_obligation", desk.issuance())
                self.assertEqual(result["state"], state)
                self.assertEqual(desk.events(), events)
                entries = desk.workspace.store.held_object(result["obligation"])["signatures"]
                self.assertEqual({entry["key_id"] for entry in entries},
                    {"key_northstar_agent_01", "key_delta_agent_01"})
                self.assertEqual({entry["purpose"] for entry in entries}, {"object_issuance"})
            if state == "in_performance":
                assertion = desk.assert_(first)
            elif state == "acceptance_pending":
                desk.respond("accept", assertion)

    def test_a_decision_is_recorded_for_it_as_well(self):
        desk = formed()
        desk.issue()
        desk.issue("5")
        decisions = [each for each in desk.objects() if each["object_type"] == "policy_decision"]
        self.assertEqual(len(decisions), 4)


class DueConditions(RefusalCase):

    def test_each_kind_is_taken(self):
        desk = formed()
        first = desk.issue()
        for condition in (
            {"type": "due_at_time", "business_days": {"days": 3, "calendar": "NL"}},
            {"type": "due_on_event", "act_ref": "a" * 64},
            {"type": "due_on_event", "evidence_type": "inspection_result"},
            {"type": "due_on_discharge", "obligation_id": first},
            {"type": "all_of", "conditions": [AT, {"type": "due_on_discharge", "obligation_id": first}]},
        ):
            with self.subTest(condition=condition):
                self.assertEqual(desk.done("record_obligation", desk.issuance(due_condition=condition))["outcome"],
                    "recorded")

    def test_refused(self):
        desk = formed()
        first = desk.issue()
        days = {"type": "due_at_time", "business_days": {"days": 3}}
        awaiting = {"type": "due_on_discharge", "obligation_id": "obl_unknown_one"}
        for name, condition, code in (
            ("an unknown kind", {"type": "due_someday"}, UNKNOWN),
            ("no kind", {}, UNKNOWN),
            ("a foreign member", {**AT, "obligation_id": first}, UNKNOWN),
            ("two at once", {**AT, "business_days": {"days": 3, "calendar": "NL"}}, UNKNOWN),
            ("neither", {"type": "due_at_time"}, UNKNOWN),
            ("nested", {"type": "all_of", "conditions": [AT, {"type": "all_of", "conditions": [AT, AT]}]}, UNKNOWN),
            ("one of all", {"type": "all_of", "conditions": [AT]}, UNKNOWN),
            ("an alternative", {"type": "any_of", "conditions": [AT, AT]}, UNKNOWN),
            ("business days without calendar", days, TERMS_INVALID),
            ("an unregistered evidence type", {"type": "due_on_event", "evidence_type": "hearsay"},
             "A202-EVIDENCE-TYPE-UNKNOWN"),
            ("an obligation that is not held", awaiting, UNKNOWN),
            ("one of all that is not held", {"type": "all_of", "conditions": [AT, awaiting]}, UNKNOWN),
        ):
            with self.subTest(name):
                self.assert_refused(desk, "record_obligation", desk.issuance(due_condition=condition), code)

    def test_an_obligation_of_another_transaction(self):
        scope = {"scope": {"transaction_ids": [TRANSACTION, "txn_second_one"]}}
        desk = Desk().introduce(buyer=scope, supplier=scope)
        desk.form()
        first = desk.issue()
        desk.transaction_id = "txn_second_one"
        desk.form()
        condition = {"type": "due_on_discharge", "obligation_id": first}
        self.assert_refused(desk, "record_obligation", desk.issuance(due_condition=condition), UNKNOWN)


class Refused(RefusalCase):

    @classmethod
    def setUpClass(cls):
        cls.desk = formed()

    def refuse(self, codes, **changes):
        arguments = {name: value for name, value in {**self.desk.issuance(), **changes}.items() if value is not ...}
        return self.assert_refused(self.desk, "record_obligation", arguments, *codes)

    def test_shapes(self):
        for name, change in {
            **{f"no {member}": {member: ...} for member in (
                "act", "decision", "agreement_id", "obligor", "obligee", "term_path", "quantity", "unit_code",
                "due_condition")},
            "another act": {"act": "cancel"},
            "an agreement of another kind": {"agreement_id": "off_one"},
            "a condition that is no object": {"due_condition": "soon"},
            "an unknown member": {"colour": "red"},
        }.items():
            with self.subTest(name):
                self.refuse([DENIED], **change)

    def test_references(self):
        offer = self.desk.agreement["offer_id"]
        for name, change in {
            "an agreement that is not held": {"agreement_id": "agr_unknown_one"},
            "an object of another type under that id": {"agreement_id": offer.replace("off_", "agr_")},
            "a commitment that is not held": {"commitment_id": "cmt_unknown_one"},
            "a path outside the terms": {"term_path": "$.other.quantity"},
            "a path with an index": {"term_path": "$.terms.core.quantity[0]"},
            "a path of the act": {"term_path": "$.proposed_terms.core.quantity"},
            "a path that leads nowhere": {"term_path": "$.terms.core.price"},
            "an empty path": {"term_path": ""},
        }.items():
            with self.subTest(name):
                self.refuse([UNREFERENCED], **change)

    def test_parties_that_the_agreement_does_not_name(self):
        buyer, supplier = self.desk.buyer, self.desk.supplier
        for name, change in {
            "a third as obligee": {"obligee": THIRD},
            "a third as obligor": {"obligor": THIRD},
            "another agent as obligor": {"obligor": {**supplier, "agent_id": "agt_other_one"}},
            "another agent as obligee": {"obligee": {**buyer, "agent_id": "agt_other_one"}},
            "one party on both sides": {"obligor": buyer},
            "the other party on both sides": {"obligee": supplier},
        }.items():
            with self.subTest(name):
                self.refuse([UNREFERENCED], **change)

    def test_each_party_signs_with_the_key_its_mandate_names(self):
        second = self.desk.done("issue_mandate", buyer_mandate(
            subject={"agent_id": "agt_second_01", "key_id": "key_second_01"}))["mandate"]
        buyer, supplier = self.desk.buyer, self.desk.supplier
        for name, change in {
            "the obligee's principal's key": {"obligee": {**buyer, "key_id": "key_northstar_principal_01"}},
            "the obligor's own key for the obligee": {"obligee": {**buyer, "key_id": supplier["key_id"]}},
            "the obligee's key for the obligor": {"obligor": {**supplier, "key_id": buyer["key_id"]}},
            "the obligor's principal's key": {"obligor": {**supplier, "key_id": "key_delta_principal_01"}},
            "a third key for the obligor": {"obligor": {**supplier, "key_id": "key_second_01"}},
            "another's mandate for the obligor": {"obligor": {**supplier, "mandate_id": buyer["mandate_id"]}},
            "a mandate of another agent for the obligee": {"obligee": {**buyer, "mandate_id": second["id"]}},
            "an unknown mandate for the obligor": {"obligor": {**supplier, "mandate_id": "mnd_unknown_one"}},
        }.items():
            with self.subTest(name):
                self.refuse([DENIED], **change)

    def test_quantities_and_amounts_name_their_member(self):
        for member, value in (
            *(("quantity", value) for value in ("020", "+20", "-1", "4e1", "", "1.0000000000", "NaN", " 20")),
            *(("consideration", value) for value in (
                {"currency": "EUR", "amount": "-1"}, {"currency": "eur", "amount": "1"},
                {"currency": "EUR", "amount": "4e3"}, {"currency": "EUR", "amount": 3200.5})),
            ("quantity", 20), ("unit_code", "pieces"),
        ):
            with self.subTest(member=member, value=value):
                refusal = self.refuse([TERMS_INVALID], **{member: value})
                self.assertIn(member, refusal.detail)

    def test_decisions(self):
        good = self.desk.issuance()["decision"]
        for name, change, codes in (
            ("none", dict.fromkeys(good, ...), [DENIED, MISMATCH, UNRESOLVED]),
            ("a deny", {"decision": "deny"}, [DENIED]),
            ("a hold", {"decision": "require_approval"}, ["A202-APPROVAL-REQUIRED"]),
            ("another act", {"action_hash": "a" * 64}, [MISMATCH]),
            ("an old one", {"checked_at": "2026-08-20T09:58:59Z"}, [UNRESOLVED]),
            ("another mandate", {"mandate_id": self.desk.supplier["mandate_id"]}, [DENIED]),
        ):
            with self.subTest(name):
                decision = {key: value for key, value in {**good, **change}.items() if value is not ...}
                self.refuse(codes, decision=decision)

    def test_the_decision_is_the_obligees(self):
        act = self.desk.obligation_act("obligation.activated", "20", agreement_id=self.desk.agreement["agreement_id"])
        theirs = self.desk.decide(self.desk.supplier, {**act, "counterparty_organization_id": "org_northstar"})
        self.refuse([MISMATCH, DENIED], decision=theirs)

    def test_the_refusal_tells_the_act(self):
        good = self.desk.issuance()
        refusal = self.assert_refused(
            self.desk, "record_obligation", {**good, "quantity": "19"}, MISMATCH)
        self.assertEqual(refusal.proposed_action, self.desk.obligation_act(
            "obligation.activated", "19", agreement_id=self.desk.agreement["agreement_id"]))

    def test_over_the_limit(self):
        price = {"currency": "EUR", "amount": "4000.01"}
        arguments = self.desk.issuance(consideration=price)
        self.assertEqual(arguments["decision"]["decision"], "deny")
        self.assert_refused(self.desk, "record_obligation", arguments, DENIED)
        forged = {**arguments, "decision": {**arguments["decision"], "decision": "allow", "reason_codes": []}}
        self.assert_refused(self.desk, "record_obligation", forged, DENIED)

    def test_unregistered_rules(self):
        self.refuse([STATE], rules_version="1.4")

    def test_the_groups_in_their_order(self):
        self.refuse([UNREFERENCED], obligee=THIRD, due_condition={"type": "x"}, decision={})
        self.refuse([UNKNOWN], due_condition={"type": "x"}, decision={})

    def test_a_mandate_that_ran_out_since_the_decision(self):
        desk = Desk().introduce(buyer={"valid_until": "2026-08-20T10:00:30Z"})
        desk.form()
        arguments = desk.issuance()
        desk.clock.forward(seconds=30)
        self.assert_refused(desk, "record_obligation", arguments, "A202-MANDATE-INACTIVE")


class WithoutMoney(unittest.TestCase):

    def test_consideration_left_out_or_null(self):
        constraint = {"id": "c_unit", "type": "commercial.string", "path": "$.proposed_terms.core.unit_code",
                      "operator": "equals", "value": "H87", "on_failure": "deny"}
        free = {"spending_limit": ..., "constraints": [constraint]}
        desk = Desk().introduce(buyer=free, supplier=free)
        desk.form()
        for consideration in (..., None):
            with self.subTest(consideration=consideration):
                arguments = desk.issuance("20", None)
                if consideration is ...:
                    del arguments["consideration"]
                result = desk.done("record_obligation", arguments)
                held = desk.workspace.store.held_object(result["obligation"])
                self.assertIsNone(held["payload"]["consideration"])
                self.assertNotIn("total", desk.workspace.store.acts(TRANSACTION)[
                    arguments["decision"]["action_hash"]]["proposed_terms"]["core"])

    def test_the_hash_is_over_the_content(self):
        desk = formed()
        document = desk.workspace.store.held_object(desk.issue())
        self.assertEqual(document["content_hash"], content_hash(document))
        self.assertNotEqual(content_hash(changed(document, "payload.quantity", "21")), document["content_hash"])
