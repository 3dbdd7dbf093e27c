"""Surface 2, issue_mandate; rules 3.1, 3.2, 3.7: what is issued, what is refused, whose key is whose."""

import unittest

from a202_reference.signing import check_proof
from tests.bilateral.parties import (
    APPROVAL_RULE,
    BUYER_ISSUER,
    TRANSACTION,
    Desk,
    RefusalCase,
    buyer_mandate,
    changed,
    supplier_mandate,
)

CONSTRAINT = {
    "id": "c_unit", "type": "commercial.string", "path": "$.proposed_terms.core.unit_code", "operator": "equals",
    "value": "H87", "on_failure": "deny"}
DENIED = "A202-POLICY-DENIED"
WIDENING = "A202-MANDATE-DELEGATION-WIDENING"


class Issued(unittest.TestCase):

    def test_result(self):
        desk = Desk()
        result = desk.done("issue_mandate", buyer_mandate())
        self.assertEqual(result["outcome"], "issued")
        self.assertEqual(result["role_scope"], "a202-scope/bilateral/0.1")
        self.assertEqual(result["mandate_id"], result["mandate"]["id"])
        self.assertTrue(result["mandate_id"].startswith("mnd_"))
        self.assertEqual(desk.workspace.mandate(result["mandate_id"]), result["mandate"])
        self.assertEqual(set(result), {"outcome", "mandate_id", "mandate", "role_scope"})

    def test_the_whole_signed_document(self):
        desk = Desk()
        document = desk.done("issue_mandate", buyer_mandate())["mandate"]
        self.assertEqual(set(document), {
            "spec_version", "id", "issuer", "subject", "represented_organization_id", "parent_mandate_id", "valid_from",
            "valid_until", "status_endpoint", "actions", "scope", "constraints", "approval_rules", "delegation",
            "evidence_refs", "proof"})
        self.assertEqual(check_proof(document, desk.workspace.store.key).outcome.value, "verified")
        self.assertEqual(document["proof"]["created_at"], "2026-08-20T10:00:00Z")
        self.assertEqual(
            (document["delegation"], document["parent_mandate_id"], document["approval_rules"],
                document["evidence_refs"]),
            ({"allowed": False, "maximum_depth": 0}, None, [], []))

    def test_every_optional_member(self):
        desk = Desk()
        document = desk.done("issue_mandate", buyer_mandate(
            constraints=[CONSTRAINT], approval_rules=[APPROVAL_RULE], delegation={"allowed": True, "maximum_depth": 3},
            evidence_refs=["evd_authority_one"], mandate_id="mnd_chosen_one", parent_mandate_id=None,
            scope={"categories": ["lab.calibration"], "geographies": ["NL"]}))["mandate"]
        self.assertEqual(document["id"], "mnd_chosen_one")
        self.assertEqual([each["id"] for each in document["constraints"]],
            ["c_total_amount", "c_total_currency", "c_unit"])
        self.assertEqual(document["approval_rules"], [APPROVAL_RULE])
        self.assertEqual(document["delegation"], {"allowed": True, "maximum_depth": 3})
        self.assertEqual(document["evidence_refs"], ["evd_authority_one"])

    def test_constraints_of_ones_own_instead_of_a_limit(self):
        document = Desk().done("issue_mandate", buyer_mandate(spending_limit=..., constraints=[CONSTRAINT]))["mandate"]
        self.assertEqual(document["constraints"], [CONSTRAINT])

    def test_null_counts_as_absent(self):
        document = Desk().done("issue_mandate", buyer_mandate(
            constraints=None, approval_rules=None, delegation=None, parent_mandate_id=None, mandate_id=None,
            subject={"agent_id": "agt_one", "principal_id": None, "key_id": "key_one"},
            scope={"transaction_ids": [TRANSACTION], "categories": None}))["mandate"]
        self.assertEqual(document["subject"], {"agent_id": "agt_one", "key_id": "key_one"})
        self.assertEqual(document["scope"], {"transaction_ids": [TRANSACTION]})

    def test_for_a_principal(self):
        desk = Desk()
        document = desk.done("issue_mandate", buyer_mandate(
            subject={"principal_id": "prn_deputy", "key_id": "key_deputy"}))["mandate"]
        self.assertEqual(document["subject"], {"principal_id": "prn_deputy", "key_id": "key_deputy"})
        self.assertEqual(desk.workspace.store.key("key_deputy").owner.principal_id, "prn_deputy")

    def test_keys_are_bound_to_principal_and_agent(self):
        desk = Desk()
        desk.done("issue_mandate", buyer_mandate())
        owners = {key: desk.workspace.store.key(key).owner.document for key in (
            "key_northstar_principal_01", "key_northstar_agent_01")}
        self.assertEqual(owners, {
            "key_northstar_principal_01": {
                "principal_id": "prn_northstar_procurement_director", "organization_id": "org_northstar"},
            "key_northstar_agent_01": {"agent_id": "agt_northstar_buyer_01", "organization_id": "org_northstar"}})

    def test_a_key_is_made_once(self):
        desk = Desk()
        first = desk.done("issue_mandate", buyer_mandate())
        keys = [desk.workspace.store.key(key).public for key in ("key_northstar_principal_01",
            "key_northstar_agent_01")]
        second = desk.done("issue_mandate", buyer_mandate())
        self.assertNotEqual(first["mandate_id"], second["mandate_id"])
        self.assertEqual(
            [desk.workspace.store.key(key).public for key in ("key_northstar_principal_01", "key_northstar_agent_01")],
            keys)


class Warned(unittest.TestCase):
    """What can never be evaluated is issued with a warning, and denies later."""

    def test_a_warning_names_the_constraint(self):
        for name, change in {
            "an unsuited operator": {"operator": "minimum"},
            "a broken pattern": {"operator": "matches", "value": "("},
            "an odd path": {"path": "$.list[0]"},
            "an unreadable limit": {"type": "commercial.decimal", "operator": "maximum", "value": "4e3"},
            "existence of something else than true": {"operator": "present", "value": "yes"},
        }.items():
            with self.subTest(name):
                desk = Desk()
                result = desk.done("issue_mandate", buyer_mandate(constraints=[{**CONSTRAINT, **change}]))
                self.assertIn("c_unit", result["detail"])
                desk.buyer = desk.party(result["mandate"])
                desk.supplier = {"organization_id": "org_delta"}
                found = desk.decide(desk.buyer, desk.formation_act(desk.buyer))
                self.assertEqual((found["decision"], found["reason_codes"]),
                    ("deny", ["A202-MANDATE-CONSTRAINT-UNKNOWN"]))

    def test_an_unanchored_pattern_is_pointed_out_and_searches(self):
        desk = Desk()
        result = desk.done("issue_mandate", buyer_mandate(
            constraints=[{**CONSTRAINT, "operator": "matches", "value": "8"}]))
        self.assertIn("c_unit", result["detail"])
        desk.buyer, desk.supplier = desk.party(result["mandate"]), {"organization_id": "org_delta"}
        self.assertEqual(desk.decide(desk.buyer, desk.formation_act(desk.buyer))["decision"], "allow")

    def test_no_warning_without_cause(self):
        result = Desk().done("issue_mandate", buyer_mandate(
            constraints=[{**CONSTRAINT, "operator": "matches", "value": "^H87$"}]))
        self.assertNotIn("detail", result)


class Refused(RefusalCase):

    def test_document_rules(self):
        for name, change, code in (
            ("no constraint", {"spending_limit": ...}, "A202-MANDATE-UNBOUNDED"),
            ("an empty list of constraints", {"spending_limit": ..., "constraints": []}, "A202-MANDATE-UNBOUNDED"),
            ("only a geography", {"scope": {"geographies": ["NL"]}}, "A202-MANDATE-SCOPE-TOO-BROAD"),
            ("only a counterparty", {"scope": {"counterparty_organization_ids": ["org_delta"]}},
             "A202-MANDATE-SCOPE-TOO-BROAD"),
            ("no scope", {"scope": {}}, "A202-MANDATE-SCOPE-TOO-BROAD"),
            ("an empty axis", {"scope": {"transaction_ids": []}}, "A202-MANDATE-SCOPE-TOO-BROAD"),
            ("an end at its start", {"valid_until": "2026-08-20T00:00:00Z"}, "A202-MANDATE-INTERVAL-INVALID"),
            ("an end before its start", {"valid_until": "2026-08-19T00:00:00Z"}, "A202-MANDATE-INTERVAL-INVALID"),
            ("a start that is no instant", {"valid_from": "yesterday"}, "A202-MANDATE-INTERVAL-INVALID"),
            ("an end with an offset", {"valid_until": "2026-09-20T00:00:00+02:00"}, "A202-MANDATE-INTERVAL-INVALID"),
            ("a plain endpoint", {"status_endpoint": "http:" + "//status.northstar.invalid"},
                "A202-MANDATE-STATUS-INSECURE"),
            ("no endpoint", {"status_endpoint": "northstar"}, "A202-MANDATE-STATUS-INSECURE"),
            ("two subjects", {"subject": {"agent_id": "agt_one", "principal_id": "prn_one", "key_id": "key_one"}},
             "A202-MANDATE-SUBJECT-AMBIGUOUS"),
            ("no subject", {"subject": {"key_id": "key_one"}}, "A202-MANDATE-SUBJECT-AMBIGUOUS"),
            ("delegation without depth", {"delegation": {"allowed": True, "maximum_depth": 0}},
             "A202-MANDATE-DELEGATION-INCOHERENT"),
            ("depth without delegation", {"delegation": {"allowed": False, "maximum_depth": 1}},
             "A202-MANDATE-DELEGATION-INCOHERENT"),
            ("an unregistered type", {"constraints": [{**CONSTRAINT, "type": "commercial.colour"}]},
             "A202-MANDATE-CONSTRAINT-UNKNOWN"),
            ("an unregistered operator", {"constraints": [{**CONSTRAINT, "operator": "resembles"}]},
             "A202-MANDATE-CONSTRAINT-UNKNOWN"),
        ):
            with self.subTest(name):
                self.assert_refused(Desk(), "issue_mandate", buyer_mandate(**change), code)

    def test_bare_shapes(self):
        for name, change in {
            "no actions": {"actions": []},
            "an action of another form": {"actions": ["Accept Everything"]},
            "an action twice": {"actions": ["offer.accept", "offer.accept"]},
            "an organisation of another form": {"represented_organization_id": "northstar"},
            "a key of another form": {"subject": {"agent_id": "agt_one", "key_id": "agt_one"}},
            "a subject with more": {"subject": {"agent_id": "agt_one", "key_id": "key_one", "name": "x"}},
            "a subject without key": {"subject": {"agent_id": "agt_one"}},
            "a geography of another form": {"scope": {"transaction_ids": [TRANSACTION], "geographies": ["nl"]}},
            "another axis": {"scope": {"transaction_ids": [TRANSACTION], "planets": ["earth"]}},
            "a delegation deeper than 8": {"delegation": {"allowed": True, "maximum_depth": 9}},
            "a rule too short": {"approval_rules": [{**APPROVAL_RULE, "expires_after_seconds": 59}]},
            "a rule too long": {"approval_rules": [{**APPROVAL_RULE, "expires_after_seconds": 86401}]},
            "a rule without approver": {"approval_rules": [changed(APPROVAL_RULE, "approver", ...)]},
            "a constraint with another failure": {"constraints": [{**CONSTRAINT, "on_failure": "warn"}]},
            "a constraint without value": {"constraints": [changed(CONSTRAINT, "value", ...)]},
            "a path of another form": {"constraints": [{**CONSTRAINT, "path": "proposed_terms"}]},
            "an id of another kind": {"mandate_id": "agr_other_one"},
            "an unknown member": {"colour": "red"},
            "an evidence id of another kind": {"evidence_refs": ["agt_one"]},
        }.items():
            with self.subTest(name):
                self.assert_refused(Desk(), "issue_mandate", buyer_mandate(**change), DENIED)

    def test_every_required_member(self):
        for name in ("issuer", "subject", "represented_organization_id", "valid_from", "valid_until", "status_endpoint",
                     "actions", "scope"):
            for absent in (..., None):
                with self.subTest(name=name, absent=absent):
                    refusal = self.assert_refused(Desk(), "issue_mandate", buyer_mandate(**{name: absent}), DENIED)
                    self.assertIn(name, refusal.detail)

    def test_a_value_without_canonical_form(self):
        for value in (1.5, 2**60):
            with self.subTest(value=value):
                self.assert_refused(Desk(), "issue_mandate", buyer_mandate(
                    constraints=[{**CONSTRAINT, "value": value}]), DENIED)

    def test_a_spending_limit_is_money(self):
        for limit in (
            {"currency": "EUR", "amount": "-1"}, {"currency": "EUR", "amount": "4e3"},
            {"currency": "EUR", "amount": "04"},
            {"currency": "eur", "amount": "1"}, {"currency": "EURO", "amount": "1"}, {"currency": "EUR", "amount": ""},
        ):
            with self.subTest(limit=limit):
                refusal = self.assert_refused(
                    Desk(), "issue_mandate", buyer_mandate(spending_limit=limit), "A202-TERMS-INVALID")
                self.assertIn("spending_limit", refusal.detail)

    def test_a_root_is_issued_by_the_represented_organisation(self):
        self.assert_refused(
            Desk(), "issue_mandate", buyer_mandate(represented_organization_id="org_delta"), DENIED)

    def test_a_held_id_is_never_overwritten(self):
        desk = Desk()
        first = desk.done("issue_mandate", buyer_mandate(mandate_id="mnd_chosen_one"))
        self.assert_refused(
            desk, "issue_mandate", buyer_mandate(mandate_id="mnd_chosen_one", actions=["offer.accept"]), DENIED)
        self.assert_refused(desk, "issue_mandate", supplier_mandate(mandate_id="mnd_chosen_one"), DENIED)
        self.assertEqual(desk.workspace.mandate("mnd_chosen_one"), first["mandate"])


class Keys(RefusalCase):
    """A key belongs to one owner, and to one kind of owner."""

    def test_a_key_of_another_owner(self):
        for name, change in {
            "another agent under the agent's key": {
                "subject": {"agent_id": "agt_other_one", "key_id": "key_northstar_agent_01"}},
            "another principal under the principal's key": {
                "issuer": {**BUYER_ISSUER, "principal_id": "prn_other_one"}},
            "a principal under the agent's key": {"issuer": {**BUYER_ISSUER, "key_id": "key_northstar_agent_01"}},
            "an agent under the principal's key": {
                "subject": {"agent_id": "agt_other_one", "key_id": "key_northstar_principal_01"}},
            "agent and principal under one new key": {
                "issuer": {**BUYER_ISSUER, "principal_id": "prn_new_one", "key_id": "key_new_one"},
                "subject": {"agent_id": "agt_new_one", "key_id": "key_new_one"}},
            "the same agent in another organisation": {
                "issuer": {"organization_id": "org_delta", "principal_id": "prn_new_one", "key_id": "key_new_one"},
                "represented_organization_id": "org_delta"},
        }.items():
            with self.subTest(name):
                desk = Desk()
                desk.done("issue_mandate", buyer_mandate())
                refusal = self.assert_refused(desk, "issue_mandate", buyer_mandate(**change), DENIED)
                self.assertRegex(refusal.detail, r"key_[a-z]+_")

    def test_a_principal_may_be_issuer_and_subject_under_one_key(self):
        desk = Desk()
        result = desk.done("issue_mandate", buyer_mandate(
            subject={"principal_id": BUYER_ISSUER["principal_id"], "key_id": BUYER_ISSUER["key_id"]}))
        self.assertEqual(result["outcome"], "issued")


class Delegated(RefusalCase):
    """A child names a held parent and is nowhere wider."""

    def setUp(self):
        self.desk = Desk()
        self.root = self.desk.done("issue_mandate",
            buyer_mandate(delegation={"allowed": True, "maximum_depth": 2}))["mandate"]

    def child(self, **changes):
        return buyer_mandate(
            parent_mandate_id=self.root["id"], subject={"agent_id": "agt_junior_01", "key_id": "key_junior_01"},
            **changes)

    def test_a_narrower_and_an_equal_child_are_issued(self):
        for change in (
            {}, {"spending_limit": {"currency": "EUR", "amount": "500.00"}, "actions": ["offer.accept"]},
            {"delegation": {"allowed": True, "maximum_depth": 1}}, {"valid_until": "2026-09-01T00:00:00Z"},
        ):
            with self.subTest(change=change):
                result = self.desk.done("issue_mandate", self.child(**change))
                self.assertEqual(result["mandate"]["parent_mandate_id"], self.root["id"])

    def test_refused(self):
        for name, change in {
            "a parent that is not held": {"parent_mandate_id": "mnd_unknown_one"},
            "a longer life": {"valid_until": "2026-09-20T00:00:01Z"},
            "an earlier start": {"valid_from": "2026-08-19T23:59:59Z"},
            "another action": {"actions": ["offer.accept", "settlement.instruct"]},
            "another transaction": {"scope": {
                "transaction_ids": [TRANSACTION, "txn_other_one"], "counterparty_organization_ids": ["org_delta"]}},
            "a dropped axis": {"scope": {"transaction_ids": [TRANSACTION]}},
            "a higher limit": {"spending_limit": {"currency": "EUR", "amount": "4000.01"}},
            "another currency": {"spending_limit": {"currency": "USD", "amount": "1.00"}},
            "no limit": {"spending_limit": ..., "constraints": [CONSTRAINT]},
            "as deep as its parent": {"delegation": {"allowed": True, "maximum_depth": 2}},
            "an issuer of neither key": {"issuer": {
                "organization_id": "org_northstar", "principal_id": "prn_other_one", "key_id": "key_other_one"}},
        }.items():
            with self.subTest(name):
                arguments = {**self.child(), **change}
                arguments = {name: value for name, value in arguments.items() if value is not ...}
                self.assert_refused(self.desk, "issue_mandate", arguments, WIDENING)

    def test_a_parent_that_does_not_delegate(self):
        parent = self.desk.done("issue_mandate", buyer_mandate())["mandate"]
        self.assert_refused(self.desk, "issue_mandate", {**self.child(), "parent_mandate_id": parent["id"]}, WIDENING)
