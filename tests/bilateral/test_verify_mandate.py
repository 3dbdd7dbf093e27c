"""Surface 2, verify_mandate; rules 3.5: the members of an answer, what denies, what holds, what cannot be evaluated."""

import unittest
from datetime import timedelta

from a202_reference.canonical import value_hash
from a202_reference.times import format_instant
from tests.bilateral.parties import (
    APPROVAL_RULE,
    BUYER_ISSUER,
    NOW,
    TERMS,
    TRANSACTION,
    Desk,
    RefusalCase,
    buyer_mandate,
    changed,
)

DENIED, UNRESOLVED, INACTIVE = "A202-POLICY-DENIED", "A202-MANDATE-STATUS-UNRESOLVED", "A202-MANDATE-INACTIVE"
SIGNATURE, REQUIRED = "A202-EVIDENCE-SIGNATURE-INVALID", "A202-APPROVAL-REQUIRED"
MEMBERS = {
    "mandate_id", "refusals", "schema_errors", "proof", "validity_interval", "status", "constraints",
    "approval_rules_matched", "approval", "approval_id", "status_results", "action_hash", "decision", "reason_codes",
    "checked_at"}


def at(seconds):
    return format_instant(NOW + timedelta(seconds=seconds))


class Decisions(RefusalCase):

    def setUp(self):
        self.desk = Desk().introduce()
        self.act = self.desk.formation_act(self.desk.buyer)

    def verify(self, **changes):
        arguments = {
            "mandate_id": self.desk.buyer["mandate_id"], "status": self.desk.status(), "proposed_action": self.act,
            **changes}
        return self.desk.done(
            "verify_mandate", {name: value for name, value in arguments.items() if value is not ...})

    def check(self, decision, codes, **changes):
        found = self.verify(**changes)
        self.assertEqual((found["decision"], found["reason_codes"]), (decision, codes), found["detail"])
        return found

    def test_members(self):
        found = self.check("allow", [])
        self.assertLessEqual(MEMBERS, set(found))
        self.assertEqual(found["action_hash"], value_hash(self.act))
        self.assertEqual(found["checked_at"], at(0))
        self.assertEqual(
            found["status_results"],
            [{"mandate_id": self.desk.buyer["mandate_id"], "status": "active", "retrieved_at": at(-30)}])
        self.assertEqual([set(each) for each in found["constraints"]], [
            {"id", "path", "on_failure", "result", "code", "detail"}] * 2)
        self.assertEqual(
            (found["refusals"], found["schema_errors"], found["approval"], found["approval_id"]),
            ([], [], "not_presented", None))

    def test_without_an_act(self):
        found = self.check("allow", [], proposed_action=...)
        self.assertIsNone(found["action_hash"])
        self.assertEqual(found["constraints"], [])
        self.check("deny", [INACTIVE], proposed_action=..., status=self.desk.status(status="revoked"))

    def test_the_same_act_has_one_hash_with_and_without_nulls(self):
        null = {**self.act, "agreement_id": None, "obligation_id": None, "category": None}
        self.assertEqual(self.verify(proposed_action=null)["action_hash"], self.verify()["action_hash"])
        message = {**self.act, "message": {"note": None}}
        self.assertEqual(self.verify(proposed_action=message)["action_hash"], value_hash(message))

    def test_status(self):
        for name, status, decision, codes in (
            ("absent", ..., "deny", [UNRESOLVED]),
            ("60 s old", self.desk.status(60), "allow", []),
            ("61 s old", self.desk.status(61), "deny", [UNRESOLVED]),
            ("60 s ahead", self.desk.status(-60), "allow", []),
            ("61 s ahead", self.desk.status(-61), "deny", [UNRESOLVED]),
            ("suspended", self.desk.status(status="suspended"), "deny", [INACTIVE]),
            ("revoked", self.desk.status(status="revoked"), "deny", [INACTIVE]),
            ("expired", self.desk.status(status="expired"), "deny", [INACTIVE]),
            ("unknown", self.desk.status(status="fine"), "deny", [UNRESOLVED]),
            ("of another mandate", {**self.desk.status(), "mandate_id": "mnd_other_one"}, "deny", [UNRESOLVED]),
            ("of no instant", {"status": "active", "retrieved_at": "now"}, "deny", [UNRESOLVED]),
            ("outlived", {**self.desk.status(), "expires_at": at(-1)}, "deny", [UNRESOLVED]),
        ):
            with self.subTest(name):
                found = self.check(decision, codes, status=status)
                self.assertEqual(found["status"], "verified" if decision == "allow" else "failed")

    def test_at_a_stated_instant(self):
        fresh = {"status": "active", "retrieved_at": "2026-09-19T23:59:59Z"}
        self.check("allow", [], at="2026-09-19T23:59:59Z", status=fresh)
        found = self.check("deny", [INACTIVE], at="2026-09-20T00:00:00Z", status=fresh)
        self.assertEqual((found["validity_interval"], found["checked_at"]), ("failed", "2026-09-20T00:00:00Z"))
        fresh = {"status": "active", "retrieved_at": "2026-08-19T23:59:59Z"}
        self.check("deny", [INACTIVE], at="2026-08-19T23:59:59Z", status=fresh)
        self.check("allow", [], at="2026-08-20T00:00:00Z", status=fresh)

    def test_instants_far_away_are_answered(self):
        for instant in ("0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z"):
            with self.subTest(instant=instant):
                found = self.check("deny", [UNRESOLVED, INACTIVE], at=instant)
                self.assertEqual(found["checked_at"], instant)

    def test_action_and_scope(self):
        for name, change in {
            "an action that is not listed": {"action_type": "settlement.instruct"},
            "another transaction": {"transaction_id": "txn_other_one"},
            "no transaction": {"transaction_id": None},
            "another counterparty": {"counterparty_organization_id": "org_epsilon"},
            "no counterparty": {"counterparty_organization_id": None},
        }.items():
            with self.subTest(name):
                self.check("deny", [DENIED], proposed_action={**self.act, **change})

    def test_a_scoped_geography_must_be_stated(self):
        desk = Desk().introduce(buyer={"scope": {
            "transaction_ids": [TRANSACTION], "geographies": ["NL"], "categories": ["lab"]}})
        self.desk, self.act = desk, desk.formation_act(desk.buyer)
        found = self.check("deny", [DENIED])
        for member in ("geography", "category"):
            self.assertIn(member, found["detail"])
        self.check("allow", [], proposed_action={**self.act, "geography": "NL", "category": "lab"})
        self.check("deny", [DENIED], proposed_action={**self.act, "geography": "DE", "category": "lab"})

    def test_constraints(self):
        for path, value, codes in (
            ("proposed_terms.core.total.amount", "4000.00", []),
            ("proposed_terms.core.total.amount", "4000.01", [DENIED]),
            ("proposed_terms.core.total.amount", "4e3", ["A202-MANDATE-CONSTRAINT-UNKNOWN"]),
            ("proposed_terms.core.total.amount", "NaN", ["A202-MANDATE-CONSTRAINT-UNKNOWN"]),
            ("proposed_terms.core.total.currency", "USD", [DENIED]),
            ("proposed_terms.core.total", ..., [DENIED]),
            ("proposed_terms", ..., [DENIED]),
        ):
            with self.subTest(path=path, value=value):
                self.check("deny" if codes else "allow", codes, proposed_action=changed(self.act, path, value))

    def test_a_deny_is_an_answer_and_records_nothing(self):
        before = self.desk.dump()
        self.check("deny", [UNRESOLVED], status=...)
        self.check("allow", [])
        self.assertEqual(self.desk.dump(), before)


class ByValue(RefusalCase):
    """A document presented inline is judged by its own bytes."""

    def setUp(self):
        self.desk = Desk().introduce()
        self.document = self.desk.workspace.mandate(self.desk.buyer["mandate_id"])

    def verify(self, document):
        return self.desk.done("verify_mandate", {
            "mandate": document, "status": self.desk.status(),
            "proposed_action": self.desk.formation_act(self.desk.buyer)})

    def test_unaltered(self):
        self.assertEqual(self.verify(self.document)["decision"], "allow")

    def test_one_nobody_holds_is_judged_alike(self):
        other = Desk(ids=lambda: "f" * 24)
        document = other.done("issue_mandate", buyer_mandate())["mandate"]
        found = self.verify(document)
        self.assertEqual((found["decision"], found["reason_codes"], found["proof"]), ("deny", [SIGNATURE], "failed"))

    def test_altered_never_yields_an_allow(self):
        for path, value, proof in (
            ("constraints.0.value", "9999.00", "failed"), ("actions", ["offer.accept"], "failed"),
            ("valid_until", "2027-09-20T00:00:00Z", "failed"), ("proof.created_at", "2026-08-20T09:00:00Z", "failed"),
            ("proof.signature", "A" * 86, "failed"),
            ("proof.signature", "synthetic-placeholder-signature-value", "not_checkable"),
            ("subject.agent_id", "agt_other_one", "failed"), ("evidence_refs", ["evd_one"], "failed"),
        ):
            with self.subTest(path=path):
                found = self.verify(changed(self.document, path, value))
                self.assertEqual((found["decision"], found["proof"]), ("deny", proof))
                self.assertIn(SIGNATURE, found["reason_codes"])

    def test_under_a_key_that_is_not_held(self):
        document = changed(changed(self.document, "issuer.key_id", "key_unknown_one"), "proof.key_id",
            "key_unknown_one")
        found = self.verify(document)
        self.assertEqual((found["proof"], found["reason_codes"]), ("not_checkable", [SIGNATURE]))

    def test_no_mandate_at_all(self):
        for document in ({"id": "mnd_one"}, {"id": ["mnd_one"]}, {"proof": []},
            {"issuer": {}, "proof": {"purpose": []}}, {
                "issuer": {"key_id": ["x"]}, "proof": {"key_id": ["x"], "purpose": "mandate_issuance"}}):
            with self.subTest(document=document):
                found = self.verify(document)
                self.assertEqual(found["decision"], "deny")
                self.assertTrue(found["schema_errors"])
                self.assertTrue(all(code.startswith("A202-") for code in found["reason_codes"]))

    def test_prose_stays_out_of_the_codes(self):
        found = self.verify({**self.document, "note": "x"})
        self.assertEqual(found["reason_codes"], [DENIED, SIGNATURE])
        self.assertEqual(found["refusals"], [])
        self.assertTrue(found["schema_errors"])


class Delegated(RefusalCase):

    def setUp(self):
        self.desk = desk = Desk()
        root = desk.done("issue_mandate", buyer_mandate(delegation={"allowed": True, "maximum_depth": 2}))["mandate"]
        middle = desk.done("issue_mandate", buyer_mandate(
            delegation={"allowed": True, "maximum_depth": 1}, parent_mandate_id=root["id"],
            approval_rules=[APPROVAL_RULE],
            subject={"agent_id": "agt_middle_01", "key_id": "key_middle_01"}))["mandate"]
        child = desk.done("issue_mandate", buyer_mandate(
            parent_mandate_id=middle["id"],
            subject={"agent_id": "agt_junior_01", "key_id": "key_junior_01"}))["mandate"]
        self.ids = [child["id"], middle["id"], root["id"]]
        desk.buyer, desk.supplier = desk.party(child), {"organization_id": "org_delta"}
        self.act = desk.formation_act(desk.buyer, changed(TERMS, "core.total.amount", "2000.00"))

    def verify(self, ancestors, act=None, **more):
        return self.desk.done("verify_mandate", {
            "mandate_id": self.ids[0], "status": self.desk.status(), "proposed_action": act or self.act,
            "ancestor_statuses": ancestors, **more})

    def statuses(self, *values):
        return [{"mandate_id": each, **self.desk.status(status=value)} for each,
            value in zip(self.ids[1:], values, strict=True)]

    def test_every_ancestor_is_asked(self):
        for values, decision, codes in (
            (("active", "active"), "allow", []), (("active", "revoked"), "deny", [INACTIVE]),
            (("suspended", "active"), "deny", [INACTIVE]), (("active", "fine"), "deny", [UNRESOLVED]),
        ):
            with self.subTest(values=values):
                found = self.verify(self.statuses(*values))
                self.assertEqual((found["decision"], found["reason_codes"]), (decision, codes))
        for missing in ([], self.statuses("active", "active")[:1], self.statuses("active", "active")[1:]):
            found = self.verify(missing)
            self.assertEqual((found["decision"], found["reason_codes"]), ("deny", [UNRESOLVED]))

    def test_the_status_results_acting_first_then_each_ancestor_as_presented(self):
        given = self.statuses("active", "active")
        for order in (given, given[::-1]):
            found = self.verify(order)
            self.assertEqual(found["status_results"], [{"mandate_id": self.ids[0], **self.desk.status()}, *order])
            self.assertEqual(found["decision"], "allow")

    def test_an_ancestors_rule_holds_the_childs_act(self):
        act = self.desk.formation_act(self.desk.buyer)
        found = self.verify(self.statuses("active", "active"), act)
        self.assertEqual((found["decision"], found["approval_rules_matched"]),
            ("require_approval", ["a_large_commitment"]))

    def test_every_mandates_constraints_are_reported(self):
        found = self.verify(self.statuses("active", "active"))
        self.assertEqual(len(found["constraints"]), 6)


class Approvals(RefusalCase):

    def setUp(self):
        self.desk = Desk().introduce(buyer={"approval_rules": [APPROVAL_RULE]})
        self.act = self.desk.formation_act(self.desk.buyer)
        self.hash = value_hash(self.act)

    def outcome(self, **more):
        found = self.desk.decide(self.desk.buyer, self.act, **more)
        return found["decision"], found["approval"], found["reason_codes"]

    def approved(self, action_hash=None, **changes):
        return self.desk.done("issue_approval", self.desk.approval(action_hash or self.hash, **changes))["approval_id"]

    def test_released(self):
        approval_id = self.approved()
        self.assertEqual(self.outcome(approval_id=approval_id), ("allow", "verified", []))
        document = self.desk.workspace.store.held_object(approval_id)
        self.assertEqual(self.outcome(approval=document), ("allow", "verified", []))

    def test_the_four_that_do_not_release(self):
        director = {"principal_id": BUYER_ISSUER["principal_id"], "key_id": BUYER_ISSUER["key_id"]}
        for name, approval_id, code in (
            ("another act", self.approved("b" * 64), "A202-APPROVAL-HASH-MISMATCH"),
            ("expired", self.approved(expires_at=at(0)), REQUIRED),
            ("rejected", self.approved(decision="rejected"), REQUIRED),
            ("another role", self.approved(approver={**director, "role": "clerk"}), REQUIRED),
            ("with conditions", self.approved(conditions=["on Fridays"]), REQUIRED),
            ("too long-lived", self.approved(expires_after_seconds=86401), REQUIRED),
            ("by a principal that no mandate names",
             self.approved(approver={"principal_id": "prn_new_one", "role": "procurement_director",
                 "key_id": "key_new_one"}),
             REQUIRED),
        ):
            with self.subTest(name):
                self.assertEqual(self.outcome(approval_id=approval_id), ("require_approval", "failed", [code]))

    def test_of_another_organisation(self):
        approver = {"principal_id": "prn_delta_managing_director", "role": "procurement_director",
                    "key_id": "key_delta_principal_01"}
        approval_id = self.approved(approver=approver)
        self.assertEqual(self.outcome(approval_id=approval_id), ("require_approval", "failed", [REQUIRED]))

    def test_an_altered_document(self):
        document = self.desk.workspace.store.held_object(self.approved())
        for path, value in (
            ("payload.expires_at", "2026-08-20T12:00:00Z"), ("payload.approver.role", "director"),
            ("signatures.0.signature", "synthetic-placeholder-signature-value"), ("signatures.0.signature", "A" * 86),
            ("payload.decision", "rejected"),
        ):
            with self.subTest(path=path):
                altered = changed(document, path, value)
                found = self.desk.call("verify_mandate", {
                    "mandate_id": self.desk.buyer["mandate_id"], "status": self.desk.status(),
                    "proposed_action": self.act,
                    "approval": altered})
                self.assertIsInstance(found, dict)
                self.assertEqual(found["decision"], "require_approval")
                self.assertIn(found["reason_codes"], ([SIGNATURE], [REQUIRED]))

    def test_an_approval_id_that_resolves_to_nothing(self):
        base = {"mandate_id": self.desk.buyer["mandate_id"], "status": self.desk.status(), "proposed_action": self.act}
        self.assert_refused(self.desk, "verify_mandate", {**base, "approval_id": "apr_unknown_one"}, REQUIRED)
        for document in ({}, {"object_type": "approval"}, {"object_type": "offer"}, {"object_type": ["approval"]}):
            with self.subTest(document=document):
                self.assert_refused(self.desk, "verify_mandate", {**base, "approval": document}, REQUIRED)


class NothingToEvaluate(RefusalCase):

    def test_refused(self):
        desk = Desk().introduce()
        mandate_id = {"mandate_id": desk.buyer["mandate_id"], "status": desk.status()}
        for name, arguments in {
            "no mandate given": {},
            "no mandate held": {"mandate_id": "mnd_unknown_one"},
            "an id of another kind": {"mandate_id": "agr_unknown_one"},
            "an instant that is none": {**mandate_id, "at": "now"},
            "an act without a kind": {**mandate_id, "proposed_action": {"transaction_id": TRANSACTION}},
            "an act that is no object": {**mandate_id, "proposed_action": ["offer.accept"]},
            "a status that is no object": {**mandate_id, "status": "active"},
            "a status without its instant": {**mandate_id, "status": {"status": "active"}},
            "an unknown member": {**mandate_id, "colour": "red"},
            "an ancestor without id": {**mandate_id, "ancestor_statuses": [desk.status()]},
        }.items():
            with self.subTest(name):
                self.assert_refused(desk, "verify_mandate", arguments, DENIED)

    def test_a_number_where_text_belongs(self):
        desk = Desk().introduce()
        act = desk.formation_act(desk.buyer)
        for path, value, text in (
            ("proposed_terms.core.total.amount", 3200, '"3200"'),
            ("proposed_terms.core.total.amount", 3200.5, '"3200.5"'),
            ("proposed_terms.core.quantity", 20, '"20"'),
        ):
            with self.subTest(path=path, value=value):
                refusal = self.assert_refused(desk, "verify_mandate", {
                    "mandate_id": desk.buyer["mandate_id"], "status": desk.status(),
                    "proposed_action": changed(act, path, value)}, "A202-TERMS-INVALID")
                self.assertIn(text, refusal.detail)
                self.assertIn(path, refusal.detail)


class ActsWithoutForm(unittest.TestCase):

    def test_another_number_denies_and_has_no_hash(self):
        desk = Desk().introduce()
        found = desk.decide(desk.buyer, {**desk.formation_act(desk.buyer), "message": {"score": 1.5}})
        self.assertEqual((found["decision"], found["reason_codes"], found["action_hash"]), ("deny", [DENIED], None))
