"""Surface 2, issue_approval; rules 3.8: a person decides on one exact act, under a key of their own."""

import unittest

from a202_reference.canonical import content_bytes
from a202_reference.codes import Outcome
from a202_reference.registries import Purpose
from a202_reference.signing import check_entry
from tests.bilateral.parties import (
    APPROVAL_RULE,
    BUYER_ISSUER,
    TRANSACTION,
    Desk,
    RefusalCase,
    buyer_mandate,
    changed,
)

DENIED, REQUIRED = "A202-POLICY-DENIED", "A202-APPROVAL-REQUIRED"
HASH = "a" * 64
DIRECTOR = {"principal_id": BUYER_ISSUER["principal_id"], "role": "procurement_director",
    "key_id": BUYER_ISSUER["key_id"]}


class Recorded(unittest.TestCase):

    def setUp(self):
        self.desk = Desk().introduce(buyer={"approval_rules": [APPROVAL_RULE]})

    def approve(self, **changes):
        return self.desk.done("issue_approval", self.desk.approval(HASH, **changes))

    def held(self, result):
        return self.desk.workspace.store.held_object(result["approval_id"])

    def test_result(self):
        result = self.approve()
        self.assertEqual(
            {name: result[name] for name in result if name != "approval_id"},
            {"outcome": "recorded", "action_hash": HASH, "expires_at": "2026-08-20T11:00:00Z", "decision": "approved"})
        self.assertTrue(result["approval_id"].startswith("apr_"))

    def test_the_object(self):
        document = self.held(self.approve(conditions=["one", "two"], decision="rejected"))
        self.assertEqual(document["payload"], {
            "action_hash": HASH,
            "approver": {
                "organization_id": "org_northstar", "principal_id": BUYER_ISSUER["principal_id"],
                "role": "procurement_director"},
            "decision": "rejected", "expires_at": "2026-08-20T11:00:00Z", "conditions": ["one", "two"]})
        self.assertEqual((document["transaction_id"], document["created_at"]), (TRANSACTION, "2026-08-20T10:00:00Z"))

    def test_signed_by_the_principals_key(self):
        document = self.held(self.approve())
        [entry] = document["signatures"]
        self.assertEqual((entry["key_id"], entry["purpose"]), (BUYER_ISSUER["key_id"], "object_issuance"))
        finding = check_entry(
            content_bytes(document), entry, frozenset({Purpose.OBJECT_ISSUANCE}), self.desk.workspace.store.key)
        self.assertIs(finding.outcome, Outcome.VERIFIED)

    def test_its_end(self):
        for change, ends in (
            ({}, "2026-08-20T11:00:00Z"),
            ({"expires_after_seconds": 1}, "2026-08-20T10:00:01Z"),
            ({"expires_after_seconds": 86400}, "2026-08-21T10:00:00Z"),
            ({"expires_at": "2026-08-20T10:30:00Z"}, "2026-08-20T10:30:00Z"),
            ({"expires_at": "2026-08-20T10:30:00Z", "expires_after_seconds": 60}, "2026-08-20T10:30:00Z"),
            ({"expires_at": "2020-01-01T00:00:00Z"}, "2020-01-01T00:00:00Z"),
        ):
            with self.subTest(change=change):
                self.assertEqual(self.approve(**change)["expires_at"], ends)

    def test_its_default_end_is_the_shortest_of_the_rules(self):
        for seconds, ends in (([600, 60, 900], "2026-08-20T10:01:00Z"), ([7200], "2026-08-20T11:00:00Z"),
            ([], "2026-08-20T11:00:00Z")):
            rules = [{**APPROVAL_RULE, "id": f"a_{each}", "expires_after_seconds": each} for each in seconds]
            mandate = self.desk.done("issue_mandate", buyer_mandate(approval_rules=rules))["mandate"]
            with self.subTest(seconds=seconds):
                self.assertEqual(self.approve(requested_by=self.desk.party(mandate))["expires_at"], ends)

    def test_who_asked_is_not_matched_against_a_mandate(self):
        asked = {**self.desk.buyer, "mandate_id": "mnd_unknown_one", "agent_id": "agt_unknown_one"}
        self.assertEqual(self.approve(requested_by=asked)["outcome"], "recorded")

    def test_a_key_named_here_first_is_made_and_bound(self):
        approver = {"principal_id": "prn_new_one", "role": "clerk", "key_id": "key_new_one"}
        self.assertEqual(self.approve(approver=approver)["outcome"], "recorded")
        self.assertEqual(
            self.desk.workspace.store.key("key_new_one").owner.document,
            {"principal_id": "prn_new_one", "organization_id": "org_northstar"})
        public = self.desk.workspace.store.key("key_new_one").public
        self.approve(approver=approver)
        self.assertEqual(self.desk.workspace.store.key("key_new_one").public, public)

    def test_a_principal_of_another_organisation_stays_of_that_organisation(self):
        approver = {"principal_id": "prn_delta_managing_director", "role": "r", "key_id": "key_delta_principal_01"}
        self.assertEqual(self.held(self.approve(approver=approver))["payload"]["approver"]["organization_id"],
            "org_delta")

    def test_it_moves_no_transaction(self):
        self.approve()
        record = self.desk.record()
        self.assertEqual((record["known"], record["state"], record["events"]), (True, "draft", []))
        desk = Desk().introduce()
        desk.done("issue_approval", desk.approval(HASH))
        self.assertEqual(desk.form()["state"], "committed")


class Refused(RefusalCase):

    def setUp(self):
        self.desk = Desk().introduce()
        self.arguments = self.desk.approval(HASH)

    def refuse(self, code, **changes):
        return self.assert_refused(self.desk, "issue_approval", self.desk.approval(HASH, **changes), code)

    def test_keys_that_do_not_approve(self):
        for name, change in {
            "the acting agent's": {"key_id": "key_northstar_agent_01"},
            "another agent's": {"key_id": "key_delta_agent_01"},
            "another principal's": {"key_id": "key_delta_principal_01"},
            "an agent's under a new principal": {"principal_id": "prn_new_one", "key_id": "key_northstar_agent_01"},
            "the principal's under another name": {"principal_id": "prn_new_one"},
        }.items():
            with self.subTest(name):
                refusal = self.refuse(REQUIRED, approver={**DIRECTOR, **change})
                self.assertIn("key_id", refusal.detail)

    def test_an_agent_that_has_signed_on_this_transaction(self):
        self.desk.form()
        self.refuse(REQUIRED, approver={**DIRECTOR, "key_id": "key_northstar_agent_01"})

    def test_the_hash(self):
        for value in (HASH.upper(), "a" * 63, "", "not a hash", "sha256:" + HASH, HASH + "\n"):
            with self.subTest(value=value):
                self.assert_refused(
                    self.desk, "issue_approval", self.desk.approval(value), "A202-HASH-FORMAT-INVALID")

    def test_shapes(self):
        for name, change in {
            "another decision": {"decision": "maybe"},
            "no life": {"expires_after_seconds": 0},
            "a negative life": {"expires_after_seconds": -5},
            "a life that is no number": {"expires_after_seconds": "soon"},
            "an end that is no instant": {"expires_at": "tomorrow"},
            "an end with an offset": {"expires_at": "2026-08-20T12:00:00+02:00"},
            "an empty condition": {"conditions": [""]},
            "a condition twice": {"conditions": ["x", "x"]},
            "an empty role": {"approver": {**DIRECTOR, "role": ""}},
            "no role": {"approver": changed(DIRECTOR, "role", ...)},
            "a key of another kind": {"approver": {**DIRECTOR, "key_id": "agt_one"}},
            "a principal of another kind": {"approver": {**DIRECTOR, "principal_id": "agt_one"}},
            "a transaction of another kind": {"transaction_id": "agr_one"},
            "nobody asking": {"requested_by": ...},
            "an unknown member": {"colour": "red"},
        }.items():
            with self.subTest(name):
                self.refuse(DENIED, **change)

    def test_a_refused_approval_leaves_no_key_behind(self):
        arguments = self.desk.approval("x", approver={**DIRECTOR, "key_id": "key_new_one"})
        self.assert_refused(self.desk, "issue_approval", arguments, "A202-HASH-FORMAT-INVALID")
        self.assertIsNone(self.desk.workspace.store.key("key_new_one"))
        self.assertIsNone(self.desk.workspace.keyring.signer("key_new_one"))
