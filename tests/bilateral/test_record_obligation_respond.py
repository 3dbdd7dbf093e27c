"""Surface 2 and 3, record_obligation respond; rules 8.4; D-26, D-36: accept, reject, waive; remainders."""

import unittest

from a202_reference.canonical import content_hash, value_hash
from tests.bilateral.parties import TRANSACTION, Desk, RefusalCase

DENIED, UNREFERENCED = "A202-POLICY-DENIED", "A202-OBLIGATION-SUBJECT-UNREFERENCED"
MISMATCH, UNRESOLVED = "A202-APPROVAL-HASH-MISMATCH", "A202-MANDATE-STATUS-UNRESOLVED"
STATE, TERMS_INVALID = "A202-STATE-TRANSITION-DENIED", "A202-TERMS-INVALID"
UNAUTHORIZED = "A202-OBLIGATION-RESPONSE-UNAUTHORIZED"
REMAINDER, REASON = "A202-OBLIGATION-REMAINDER-MISSING", "A202-OBLIGATION-REJECTION-REASON-UNKNOWN"
REASONS = (
    "evidence_insufficient", "evidence_unverified", "quantity_short", "subject_not_as_agreed", "due_condition_not_met",
    "assertion_unauthorized")


def asserted(quantity="20"):
    desk = Desk().introduce()
    desk.form()
    obligation = desk.issue()
    return desk, obligation, desk.assert_(obligation, quantity)


class Accepted(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        cls.desk, cls.obligation, cls.assertion = asserted()
        cls.result = cls.desk.respond("accept", cls.assertion)
        cls.response = cls.desk.workspace.store.held_object(cls.result["response"])

    def test_result(self):
        self.assertEqual(
            {name: value for name, value in self.result.items() if name != "response"},
            {"outcome": "recorded", "act": "respond", "state": "settlement_pending"})

    def test_it_binds_the_assertions_recomputed_hash(self):
        held = self.desk.workspace.store.held_object(self.assertion)
        self.assertEqual(self.response["payload"], {
            "obligation_id": self.obligation, "response_type": "accept", "assertion_id": self.assertion,
            "assertion_hash": content_hash(held), "accepted_quantity": "20"})
        self.assertEqual(self.response["created_by"]["organization_id"], "org_northstar")
        self.assertEqual([entry["key_id"] for entry in self.response["signatures"]], ["key_northstar_agent_01"])

    def test_the_event(self):
        event = self.desk.record()["events"][-1]
        self.assertEqual((event["event_type"], event["to_state"]), ("acceptance.granted", "settlement_pending"))
        self.assertEqual(event["data"], {
            "obligation_response_id": self.result["response"], "obligation_id": self.obligation})

    def test_the_act(self):
        act = self.desk.obligation_act("acceptance.granted", "20", assertion_id=self.assertion)
        self.assertEqual(self.desk.workspace.store.acts(TRANSACTION)[value_hash(act)], act)

    def test_20_00_is_20(self):
        desk, _, assertion = asserted()
        result = desk.respond("accept", assertion, "20.00", accepted_quantity="20.00")
        self.assertEqual(result["state"], "settlement_pending")


class Rejected(RefusalCase):

    def test_every_registered_reason(self):
        for reason in REASONS:
            with self.subTest(reason=reason):
                desk, obligation, assertion = asserted()
                result = desk.respond("reject", assertion, reason_code=reason)
                self.assertEqual(result["state"], "in_performance")
                payload = desk.workspace.store.held_object(result["response"])["payload"]
                self.assertEqual(payload, {
                    "obligation_id": obligation, "response_type": "reject", "assertion_id": assertion,
                    "assertion_hash": payload["assertion_hash"], "reason_code": reason})

    def test_an_unknown_or_no_reason(self):
        desk, _, assertion = asserted()
        for reason in ("too_late", "", "QUANTITY_SHORT", ..., None):
            with self.subTest(reason=reason):
                self.assert_refused(
                    desk, "record_obligation", desk.response("reject", assertion, reason_code=reason), REASON)

    def test_rejected_asserted_again_accepted(self):
        desk, obligation, first = asserted()
        desk.respond("reject", first)
        second = desk.assert_(obligation)
        desk.respond("accept", second)
        record = desk.record()
        self.assertEqual([event["event_type"] for event in record["events"]], [
            "agreement.direct", "agreement.committed", "obligation.activated", "performance.declared",
            "acceptance.rejected", "performance.declared", "acceptance.granted"])
        self.assertEqual((record["chain"], record["state"]), ("linked", "settlement_pending"))


class Waived(RefusalCase):

    def test_in_each_state_that_allows_it_and_without_an_event(self):
        for name, steps in (("pending", 0), ("asserted", 1), ("rejected", 2)):
            with self.subTest(name):
                desk = Desk().introduce()
                desk.form()
                obligation = desk.issue()
                if steps:
                    assertion = desk.assert_(obligation)
                if steps == 2:
                    desk.respond("reject", assertion)
                before = desk.record()
                result = desk.respond("waive", obligation)
                self.assertEqual(result["state"], before["state"])
                after = desk.record()
                self.assertEqual(after["events"], before["events"])
                document = desk.workspace.store.held_object(result["response"])
                self.assertEqual(document["payload"], {"obligation_id": obligation, "response_type": "waive"})
                self.assertEqual([entry["key_id"] for entry in document["signatures"]], ["key_northstar_agent_01"])

    def test_its_decision_is_recorded(self):
        desk = Desk().introduce()
        desk.form()
        obligation = desk.issue()
        desk.respond("waive", obligation)
        act = desk.obligation_act("obligation.waived", "20", obligation_id=obligation)
        decision = [each for each in desk.objects() if each["object_type"] == "policy_decision"][-1]
        self.assertEqual(decision["payload"]["action_hash"], value_hash(act))

    def test_not_after_the_end(self):
        desk, obligation, assertion = asserted()
        desk.respond("accept", assertion)
        self.assert_refused(desk, "record_obligation", desk.response("waive", obligation), STATE)
        desk, obligation, assertion = asserted()
        desk.respond("waive", obligation)
        self.assert_refused(desk, "record_obligation", desk.response("waive", obligation), STATE)
        self.assert_refused(desk, "record_obligation", desk.response("accept", assertion), STATE)


class Partial(RefusalCase):

    def setUp(self):
        self.desk, self.obligation, self.assertion = asserted()

    def accept(self, quantity, remainder=None):
        named = {} if remainder is None else {"remainder_obligation_id": remainder}
        return self.desk.response("accept", self.assertion, quantity, accepted_quantity=quantity, **named)

    def test_with_a_remainder(self):
        price = {"currency": "EUR", "amount": "800.00"}
        remainder = self.desk.issue("5", price)
        result = self.desk.done("record_obligation", self.accept("15", remainder))
        payload = self.desk.workspace.store.held_object(result["response"])["payload"]
        self.assertEqual((payload["accepted_quantity"], payload["remainder_obligation_id"]), ("15", remainder))
        self.assertEqual(result["state"], "settlement_pending")
        # The rest is owed still: asserted and accepted without an event.
        rest = self.desk.assert_(remainder, "5", price)
        last = self.desk.respond("accept", rest, "5", price)
        self.assertEqual((last["state"], len(self.desk.events())), ("settlement_pending", 5))

    def test_without_a_remainder(self):
        self.assert_refused(self.desk, "record_obligation", self.accept("15"), REMAINDER)
        self.assert_refused(self.desk, "record_obligation", self.accept("15", "obl_unknown_one"), REMAINDER)
        self.assert_refused(self.desk, "record_obligation", self.accept("15", self.obligation), REMAINDER)

    def test_an_assertion_of_less_accepted_whole_leaves_a_rest_as_well(self):
        desk, _, assertion = asserted("15")
        self.assert_refused(desk, "record_obligation", desk.response("accept", assertion, "15"), REMAINDER)

    def test_a_remainder_that_does_not_fit(self):
        for name, quantity, change in (
            ("too much", "6", {}), ("too little", "4.999999999", {}),
            ("another term", "5", {"term_path": "$.terms.core"}),
            ("another unit", "5", {"unit_code": "KGM"}),
        ):
            with self.subTest(name):
                act = self.desk.obligation_act(
                    "obligation.activated", quantity, unit=change.get("unit_code", "H87"),
                    agreement_id=self.desk.agreement["agreement_id"])
                remainder = self.desk.issue(quantity, decision=self.desk.decide(self.desk.buyer, act), **change)
                self.assert_refused(self.desk, "record_obligation", self.accept("15", remainder), REMAINDER)

    def test_a_remainder_that_costs_more(self):
        desk = Desk().introduce()
        desk.form()
        cheap = {"currency": "EUR", "amount": "10.00"}
        assertion = desk.assert_(desk.issue("20", cheap), "20", cheap)
        dear = desk.issue("5", {"currency": "EUR", "amount": "10.01"})
        arguments = desk.response(
            "accept", assertion, "15", cheap, accepted_quantity="15", remainder_obligation_id=dear)
        self.assert_refused(desk, "record_obligation", arguments, REMAINDER)
        even = desk.issue("5", cheap)
        self.assertEqual(
            desk.done("record_obligation", {**arguments, "remainder_obligation_id": even})["outcome"], "recorded")

    def test_a_remainder_on_a_full_acceptance(self):
        remainder = self.desk.issue("5")
        self.assert_refused(self.desk, "record_obligation", self.accept("20", remainder), DENIED)

    def test_nothing_more_than_asserted_or_no_quantity(self):
        for quantity in ("0", "0.0", "20.000000001", "21"):
            with self.subTest(quantity=quantity):
                self.assert_refused(self.desk, "record_obligation", self.accept(quantity), TERMS_INVALID)
        for quantity in ("-1", "2e1", "", "020"):
            with self.subTest(quantity=quantity):
                arguments = self.desk.response("accept", self.assertion, accepted_quantity=quantity)
                refusal = self.assert_refused(self.desk, "record_obligation", arguments, TERMS_INVALID)
                self.assertIn("accepted_quantity", refusal.detail)


class Refused(RefusalCase):

    @classmethod
    def setUpClass(cls):
        cls.desk, cls.obligation, cls.assertion = asserted()

    def refuse(self, codes, kind="accept", **changes):
        reference = self.obligation if kind == "waive" else self.assertion
        arguments = {
            name: value for name, value in {**self.desk.response(kind, reference),
                **changes}.items() if value is not ...}
        return self.assert_refused(self.desk, "record_obligation", arguments, *codes)

    def test_only_the_obligee_answers(self):
        buyer, supplier = self.desk.buyer, self.desk.supplier
        for kind in ("accept", "reject", "waive"):
            for name, change in {
                "the obligor": {"responder": supplier, "counterparty": buyer},
                "another agent of the obligee": {"responder": {**buyer, "agent_id": "agt_other_one"}},
                "another organisation": {"responder": {**buyer, "organization_id": "org_epsilon"}},
            }.items():
                with self.subTest(name, kind=kind):
                    self.refuse([UNAUTHORIZED], kind, **change)

    def test_the_counterparty_is_the_obligor(self):
        supplier = self.desk.supplier
        for change in (self.desk.buyer, {**supplier, "agent_id": "agt_other_one"},
            {**supplier, "organization_id": "org_x01"}):
            with self.subTest(change=change):
                self.refuse([UNREFERENCED], counterparty=change)

    def test_each_party_signs_with_the_key_its_mandate_names(self):
        buyer, supplier = self.desk.buyer, self.desk.supplier
        for kind in ("accept", "reject", "waive"):
            for name, change in {
                "the obligee's principal's key": {"responder": {**buyer, "key_id": "key_northstar_principal_01"}},
                "the obligee's key for the obligor": {"counterparty": {**supplier, "key_id": buyer["key_id"]}},
                "the obligor's principal's key": {"counterparty": {**supplier, "key_id": "key_delta_principal_01"}},
                "an unknown mandate for the obligor": {"counterparty": {**supplier, "mandate_id": "mnd_unknown_one"}},
            }.items():
                with self.subTest(name, kind=kind):
                    self.refuse([DENIED], kind, **change)

    def test_references(self):
        self.refuse([UNREFERENCED], assertion_id="prf_unknown_one")
        self.refuse([UNREFERENCED], "waive", obligation_id="obl_unknown_one")

    def test_shapes(self):
        for name, kind, change in (
            ("no kind", "accept", {"response_type": ...}),
            ("another kind", "accept", {"response_type": "ignore"}),
            *((f"no {member}", "accept", {member: ...}) for member in (
                "assertion_id", "responder", "counterparty", "decision")),
            ("no assertion to reject", "reject", {"assertion_id": ...}),
            ("no obligation to waive", "waive", {"obligation_id": ...}),
            ("a reason for accepting", "accept", {"reason_code": "quantity_short"}),
            ("a quantity in a rejection", "reject", {"accepted_quantity": "1"}),
            ("a remainder in a rejection", "reject", {"remainder_obligation_id": "obl_unknown_one"}),
            ("an assertion in a waiver", "waive", {"assertion_id": "prf_unknown_one"}),
            ("a quantity in a waiver", "waive", {"accepted_quantity": "1"}),
            ("a reason for waiving", "waive", {"reason_code": "quantity_short"}),
            ("a remainder in a waiver", "waive", {"remainder_obligation_id": "obl_unknown_one"}),
        ):
            with self.subTest(name):
                self.refuse([DENIED], kind, **change)

    def test_decisions(self):
        good = self.desk.response("accept", self.assertion)["decision"]
        for name, change, codes in (
            ("a deny", {"decision": "deny"}, [DENIED]),
            ("a hold", {"decision": "require_approval"}, ["A202-APPROVAL-REQUIRED"]),
            ("another act", {"action_hash": "a" * 64}, [MISMATCH]),
            ("an old one", {"checked_at": "2026-08-20T09:58:59Z"}, [UNRESOLVED]),
            ("the obligor's mandate", {"mandate_id": self.desk.supplier["mandate_id"]}, [DENIED]),
        ):
            with self.subTest(name):
                self.refuse(codes, decision={**good, **change})

    def test_the_decision_to_reject_is_none_to_accept(self):
        rejecting = self.desk.response("reject", self.assertion)["decision"]
        refusal = self.refuse([MISMATCH], decision=rejecting)
        self.assertEqual(refusal.proposed_action, self.desk.obligation_act(
            "acceptance.granted", "20", assertion_id=self.assertion))

    def test_the_refusal_tells_the_waivers_act(self):
        refusal = self.refuse([MISMATCH], "waive", decision=self.desk.response("accept", self.assertion)["decision"])
        self.assertEqual(refusal.proposed_action, self.desk.obligation_act(
            "obligation.waived", "20", obligation_id=self.obligation))


class Order(RefusalCase):

    def test_an_assertion_is_answered_once(self):
        for first in ("accept", "reject"):
            for second in ("accept", "reject"):
                with self.subTest(first=first, second=second):
                    desk, _, assertion = asserted()
                    desk.respond(first, assertion)
                    self.assert_refused(desk, "record_obligation", desk.response(second, assertion), STATE)

    def test_only_the_outstanding_assertion_is_answered(self):
        desk, obligation, first = asserted()
        desk.respond("reject", first)
        second = desk.assert_(obligation)
        self.assert_refused(desk, "record_obligation", desk.response("accept", first), STATE)
        self.assertEqual(desk.respond("accept", second)["state"], "settlement_pending")

    def test_two_obligations_share_one_path_of_events(self):
        desk, _, first = asserted()
        second_obligation = desk.issue()
        second = desk.assert_(second_obligation)
        self.assertEqual(desk.respond("accept", second)["state"], "settlement_pending")
        self.assertEqual(desk.respond("reject", first)["state"], "settlement_pending")
        self.assertEqual(len(desk.events()), 5)

    def test_an_answer_to_an_act_without_event_moves_what_is_registered_from_here(self):
        desk, _, first = asserted()
        second = desk.assert_(desk.issue())
        self.assertEqual(desk.respond("reject", first)["state"], "in_performance")
        self.assertEqual(desk.respond("accept", second)["state"], "in_performance")
        self.assertEqual(desk.events()[-1], ("acceptance.rejected", "acceptance_pending", "in_performance"))
