"""Surface 2 and 3, record_obligation assert; rules 8.3; D-36; override 7: performance, declared with evidence."""

import unittest
from datetime import UTC, datetime

from a202_reference.canonical import content_hash, value_hash
from tests.bilateral.parties import EVIDENCE, PRICE, TRANSACTION, Desk, RefusalCase, changed

DENIED, UNREFERENCED = "A202-POLICY-DENIED", "A202-OBLIGATION-SUBJECT-UNREFERENCED"
MISMATCH, UNRESOLVED = "A202-APPROVAL-HASH-MISMATCH", "A202-MANDATE-STATUS-UNRESOLVED"
STATE, TERMS_INVALID = "A202-STATE-TRANSITION-DENIED", "A202-TERMS-INVALID"
UNEVIDENCED = "A202-OBLIGATION-ASSERTION-UNEVIDENCED"


def issued(quantity="20"):
    desk = Desk().introduce()
    desk.form()
    return desk, desk.issue(quantity)


class Recorded(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        cls.desk, cls.obligation = issued()
        second = {**EVIDENCE, "evidence_type": "measurement_record", "claim": "Measured"}
        cls.result = cls.desk.done("record_obligation", cls.desk.assertion(cls.obligation, evidence=[EVIDENCE, second]))
        cls.assertion = cls.desk.workspace.store.held_object(cls.result["assertion"])

    def test_result(self):
        self.assertEqual(
            (self.result["outcome"], self.result["act"], self.result["state"]),
            ("recorded", "assert", "acceptance_pending"))
        self.assertEqual(set(self.result), {"outcome", "act", "state", "assertion", "evidence_ids"})

    def test_each_entry_is_a_signed_evidence_object_referenced_in_full(self):
        references = self.assertion["payload"]["evidence_refs"]
        self.assertEqual([each["evidence_id"] for each in references], self.result["evidence_ids"])
        for reference in references:
            document = self.desk.workspace.store.held_object(reference["evidence_id"])
            self.assertEqual(reference, {
                "evidence_id": document["id"], "content_hash": content_hash(document),
                "evidence_type": document["payload"]["evidence_type"],
                "signed_by": {"organization_id": "org_delta", "agent_id": "agt_delta_supplier_01"}})
            self.assertEqual([entry["key_id"] for entry in document["signatures"]], ["key_delta_agent_01"])
        first = self.desk.workspace.store.held_object(self.result["evidence_ids"][0])
        self.assertEqual(first["payload"], EVIDENCE)

    def test_the_assertion(self):
        payload = self.assertion["payload"]
        self.assertEqual(
            (payload["obligation_id"], payload["asserted_quantity"], payload["unit_code"]),
            (self.obligation, "20", "H87"))
        self.assertEqual(self.assertion["created_by"]["agent_id"], "agt_delta_supplier_01")
        self.assertEqual([entry["key_id"] for entry in self.assertion["signatures"]], ["key_delta_agent_01"])

    def test_the_event_is_the_obligors(self):
        event = self.desk.record()["events"][-1]
        self.assertEqual(event["event_type"], "performance.declared")
        self.assertEqual(event["data"], {
            "performance_event_id": self.result["assertion"], "obligation_id": self.obligation})
        document = self.desk.workspace.store.held_object(event["event_id"])
        self.assertEqual(document["created_by"]["organization_id"], "org_delta")

    def test_the_act(self):
        act = self.desk.obligation_act("performance.declared", "20", obligation_id=self.obligation)
        self.assertEqual(act["counterparty_organization_id"], "org_northstar")
        self.assertEqual(self.desk.workspace.store.acts(TRANSACTION)[value_hash(act)], act)


class Early(unittest.TestCase):

    def test_before_and_after_its_due_time(self):
        for moment in (datetime(2026, 8, 20, 10, tzinfo=UTC), datetime(2026, 9, 10, 12, tzinfo=UTC)):
            with self.subTest(moment=moment):
                desk, obligation = issued()
                desk.clock.now = moment
                result = desk.done("record_obligation", desk.assertion(obligation))
                self.assertEqual(result["state"], "acceptance_pending")


class Partial(RefusalCase):

    def test_less_than_is_owed(self):
        for quantity in ("0.000000001", "19.999999999", "20.00"):
            with self.subTest(quantity=quantity):
                desk, obligation = issued()
                self.assertEqual(
                    desk.done("record_obligation", desk.assertion(obligation, quantity))["state"], "acceptance_pending")

    def test_nothing_or_more_than_is_owed(self):
        for quantity in ("0", "0.0", "20.000000001", "21"):
            with self.subTest(quantity=quantity):
                desk, obligation = issued()
                refusal = self.assert_refused(
                    desk, "record_obligation", desk.assertion(obligation, quantity), TERMS_INVALID)
                self.assertIn("asserted_quantity", refusal.detail)


class States(RefusalCase):

    def test_one_assertion_at_a_time(self):
        desk, obligation = issued()
        desk.assert_(obligation)
        self.assert_refused(desk, "record_obligation", desk.assertion(obligation), STATE)

    def test_again_after_a_rejection(self):
        desk, obligation = issued()
        desk.respond("reject", desk.assert_(obligation))
        self.assertEqual(desk.record()["state"], "in_performance")
        self.assertEqual(desk.done("record_obligation", desk.assertion(obligation))["state"], "acceptance_pending")

    def test_not_after_the_end(self):
        desk, obligation = issued()
        desk.respond("accept", desk.assert_(obligation))
        self.assert_refused(desk, "record_obligation", desk.assertion(obligation), STATE)
        desk, obligation = issued()
        desk.respond("waive", obligation)
        self.assert_refused(desk, "record_obligation", desk.assertion(obligation), STATE)

    def test_where_no_event_is_registered_the_object_alone_is_the_fact(self):
        desk, first = issued()
        second = desk.issue()
        desk.assert_(first)
        result = desk.done("record_obligation", desk.assertion(second))
        self.assertEqual((result["state"], len(desk.events())), ("acceptance_pending", 4))
        entries = desk.workspace.store.held_object(result["assertion"])["signatures"]
        self.assertEqual([entry["key_id"] for entry in entries], ["key_delta_agent_01"])


class Refused(RefusalCase):

    @classmethod
    def setUpClass(cls):
        cls.desk, cls.obligation = issued()

    def refuse(self, codes, **changes):
        arguments = {
            name: value for name, value in {**self.desk.assertion(self.obligation),
                **changes}.items() if value is not ...}
        return self.assert_refused(self.desk, "record_obligation", arguments, *codes)

    def test_no_evidence(self):
        self.refuse([UNEVIDENCED], evidence=[])

    def test_shapes(self):
        for name, change in {
            **{f"no {member}": {member: ...} for member in (
                "obligation_id", "obligor", "obligee", "asserted_quantity", "evidence", "decision")},
            "evidence that is no list": {"evidence": EVIDENCE},
            "an entry that is no object": {"evidence": ["certificate"]},
            "an entry with more": {"evidence": [{**EVIDENCE, "note": "x"}]},
            **{f"an entry without {member}": {"evidence": [changed(EVIDENCE, member, ...)]} for member in EVIDENCE},
            "an empty claim": {"evidence": [{**EVIDENCE, "claim": ""}]},
            "an issuer with more": {"evidence": [changed(EVIDENCE, "issuer.name", "Delta")]},
            "a verification of another word": {"evidence": [changed(EVIDENCE, "verification.status", "fine")]},
            "an obligation of another kind": {"obligation_id": "agr_one"},
        }.items():
            with self.subTest(name):
                self.refuse([DENIED], **change)

    def test_evidence_of_the_wrong_form(self):
        for name, entry, code in (
            ("an unregistered type", {**EVIDENCE, "evidence_type": "hearsay"}, "A202-EVIDENCE-TYPE-UNKNOWN"),
            ("a hash in capitals", {**EVIDENCE, "artifact_hash": "9F2C" * 16}, "A202-HASH-FORMAT-INVALID"),
            ("a short hash", {**EVIDENCE, "artifact_hash": "9f2c"}, "A202-HASH-FORMAT-INVALID"),
        ):
            with self.subTest(name):
                self.refuse([code], evidence=[entry])
                self.refuse([code], evidence=[EVIDENCE, entry])

    def test_an_obligation_that_is_not_held(self):
        self.refuse([UNREFERENCED], obligation_id="obl_unknown_one")

    def test_only_the_obligor_asserts(self):
        buyer, supplier = self.desk.buyer, self.desk.supplier
        for name, change, code in (
            ("the obligee", {"obligor": buyer, "obligee": supplier}, STATE),
            ("another agent of the obligor", {"obligor": {**supplier, "agent_id": "agt_other_one"}}, STATE),
            ("another organisation", {"obligor": {**supplier, "organization_id": "org_epsilon"}}, STATE),
            ("another obligee", {"obligee": {**buyer, "agent_id": "agt_other_one"}}, UNREFERENCED),
            ("the obligor as obligee", {"obligee": supplier}, UNREFERENCED),
        ):
            with self.subTest(name):
                self.refuse([code], **change)

    def test_each_party_signs_with_the_key_its_mandate_names(self):
        buyer, supplier = self.desk.buyer, self.desk.supplier
        for name, change in {
            "the obligor's principal's key": {"obligor": {**supplier, "key_id": "key_delta_principal_01"}},
            "the obligee's key for the obligor": {"obligor": {**supplier, "key_id": buyer["key_id"]}},
            "the obligor's key for the obligee": {"obligee": {**buyer, "key_id": supplier["key_id"]}},
            "the obligee's principal's key": {"obligee": {**buyer, "key_id": "key_northstar_principal_01"}},
            "the obligor's mandate for the obligee": {"obligee": {**buyer, "mandate_id": supplier["mandate_id"]}},
            "an unknown mandate for the obligee": {"obligee": {**buyer, "mandate_id": "mnd_unknown_one"}},
        }.items():
            with self.subTest(name):
                self.refuse([DENIED], **change)

    def test_quantities_of_the_wrong_form(self):
        for value in ("020", "+20", "-1", "2e1", "", "NaN", "1.0000000000"):
            with self.subTest(value=value):
                refusal = self.refuse([TERMS_INVALID], asserted_quantity=value)
                self.assertIn("asserted_quantity", refusal.detail)

    def test_decisions(self):
        good = self.desk.assertion(self.obligation)["decision"]
        for name, change, codes in (
            ("a deny", {"decision": "deny"}, [DENIED]),
            ("a hold", {"decision": "require_approval"}, ["A202-APPROVAL-REQUIRED"]),
            ("another act", {"action_hash": "a" * 64}, [MISMATCH]),
            ("an old one", {"checked_at": "2026-08-20T09:58:59Z"}, [UNRESOLVED]),
            ("the obligee's mandate", {"mandate_id": self.desk.buyer["mandate_id"]}, [DENIED]),
        ):
            with self.subTest(name):
                self.refuse(codes, decision={**good, **change})

    def test_the_decision_is_over_what_is_asserted(self):
        refusal = self.refuse([MISMATCH], asserted_quantity="19")
        self.assertEqual(refusal.proposed_action, self.desk.obligation_act(
            "performance.declared", "19", PRICE, obligation_id=self.obligation))

    def test_the_decision_comes_before_the_evidence(self):
        self.refuse([MISMATCH], asserted_quantity="19", evidence=[])

    def test_unregistered_rules(self):
        self.refuse([STATE], rules_version="0.9")

    def test_an_action_that_the_mandate_does_not_list(self):
        desk = Desk().introduce(supplier={"actions": ["offer.submit"]})
        desk.form()
        arguments = desk.assertion(desk.issue())
        self.assertEqual(arguments["decision"]["decision"], "deny")
        forged = {**arguments["decision"], "decision": "allow", "reason_codes": []}
        self.assert_refused(desk, "record_obligation", arguments, DENIED)
        self.assert_refused(desk, "record_obligation", {**arguments, "decision": forged}, DENIED)
