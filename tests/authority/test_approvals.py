"""Rules 3.8; D-15; design override 1: when a person must approve, and what a presented approval releases."""

import unittest
from dataclasses import replace
from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st

from a202_reference.authority.approvals import Hold, approval_fault, rule_matches
from a202_reference.canonical import value_hash
from a202_reference.documents.mandate import ApprovalRule, Predicate
from a202_reference.registries import ConstraintOperator
from a202_reference.times import format_instant
from tests.authority.mandates import ACT, BINDINGS, LARGE_ACT, NOW, RULE, approval, circumstances, decide, mandate
from tests.reference.strategies import PROPERTY, documents

REQUIRED, MISMATCH = "A202-APPROVAL-REQUIRED", "A202-APPROVAL-HASH-MISMATCH"
STREAM, SIGNATURE = "A202-STREAM-MISMATCH", "A202-EVIDENCE-SIGNATURE-INVALID"


def at(seconds):
    return format_instant(NOW + timedelta(seconds=seconds))


class RuleMatches(unittest.TestCase):

    def matches(self, operator, value, *actual, path="$.v"):
        return rule_matches(Predicate(path, operator, value), {"v": actual[0]} if actual else {}, lambda _: None)

    def test_where_the_predicate_holds(self):
        for operator, value, actual, asked in (
            ("minimum", "2500.00", "2500", True), ("minimum", "2500.00", "2499.99", False),
            ("maximum", "10", "10.0", True), ("maximum", "10", "11", False),
            ("equals", "20", "20.00", True), ("equals", "EUR", "EUR", True), ("equals", "EUR", "USD", False),
            ("equals", True, True, True), ("equals", True, False, False),
            ("one_of", ["DE", "FR"], "DE", True), ("one_of", ["DE", "FR"], "NL", False),
            ("none_of", ["NL"], "DE", True), ("none_of", ["NL"], "NL", False),
            ("not_equals", "EUR", "USD", True), ("not_equals", "EUR", "EUR", False),
            ("matches", "^urgent", "urgent order", True), ("matches", "^urgent", "an order", False),
            ("before", "2026-09-01T00:00:00Z", "2026-08-31T00:00:00Z", True),
            ("after", "2026-09-01T00:00:00Z", "2026-08-31T00:00:00Z", False),
            ("equals", ["a", "b"], ["b", "a"], True), ("equals", ["a"], ["b"], False),
        ):
            with self.subTest(operator=operator, value=value, actual=actual):
                self.assertIs(self.matches(operator, value, actual), asked)

    def test_where_the_path_is_absent_except_under_present_and_absent(self):
        for operator in ConstraintOperator:
            value = True if operator in ("present", "absent", "evidence_verified") else "x"
            with self.subTest(operator=operator.value):
                self.assertIs(self.matches(operator.value, value), operator != "present")

    def test_existence(self):
        self.assertIs(self.matches("present", True, None), True)
        self.assertIs(self.matches("absent", True, None), False)

    def test_where_the_predicate_cannot_be_evaluated(self):
        for operator, value, actual in (
            ("minimum", "2500", "4e3"), ("minimum", "NaN", "1"), ("matches", "(", "x"), ("equals", "x", {"a": 1}),
            ("present", "yes", "x"), ("absent", None, "x"), ("before", "tomorrow", "2026-08-31T00:00:00Z"),
            ("resembles", "x", "x"),
        ):
            with self.subTest(operator=operator, value=value, actual=actual):
                self.assertIs(self.matches(operator, value, actual), True)

    def test_where_the_path_is_outside_the_grammar(self):
        for path in ("$.v[0]", "$.*", "$", "v"):
            for operator in ("minimum", "present", "absent"):
                with self.subTest(path=path, operator=operator):
                    self.assertIs(self.matches(operator, True, "1", path=path), True)

    @PROPERTY
    @given(st.sampled_from([each.value for each in ConstraintOperator]), documents, documents)
    def test_total(self, operator, value, actual):
        self.assertIn(self.matches(operator, value, actual), (True, False))


def rule(**changes):
    fields = {"id": "a_one", "when": Predicate("$.v", "present", True), "organization_id": "org_north",
              "role": "director", "expires_after_seconds": 3600}
    return ApprovalRule(**{**fields, **changes})


class Releasing(unittest.TestCase):
    """What a presented approval must be; each fault with its code."""

    def fault(self, presented, *rules, act=LARGE_ACT, consumed=False, now=NOW, mandates=(), by_constraint=False):
        given_circumstances = circumstances(*(mandates or (mandate(),)))
        holds = tuple(Hold(each.organization_id, each) for each in rules or (rule(),))
        found = approval_fault(
            presented, (Hold("org_north"),) if by_constraint else holds, action_hash=value_hash(act),
            transaction_id=act["transaction_id"], now=now, keys=BINDINGS.get,
            principals=given_circumstances.principals, consumed=consumed)
        return None if found is None else found.code.value

    def test_released(self):
        self.assertIsNone(self.fault(approval()))

    def test_over_another_act(self):
        self.assertEqual(self.fault(approval(act=ACT)), MISMATCH)

    def test_the_hash_byte_for_byte(self):
        self.assertEqual(self.fault(approval(action_hash=value_hash(LARGE_ACT)[:-1] + "0" * 1)), MISMATCH)

    def test_on_another_transaction(self):
        self.assertEqual(self.fault(approval(transaction_id="txn_two")), STREAM)

    def test_a_bad_signature(self):
        good = approval()
        raw = good.envelope.raw
        for name, signatures in (
            ("none", []), ("altered", [{**raw["signatures"][0], "signature": "A" * 86}]),
            ("a placeholder", [{**raw["signatures"][0], "signature": "synthetic-placeholder-signature-value"}]),
            ("one of two", [raw["signatures"][0], {**raw["signatures"][0], "key_id": "key_missing"}]),
            ("another purpose", [{**raw["signatures"][0], "purpose": "event_append"}]),
        ):
            with self.subTest(name):
                forged = replace(good, envelope=replace(good.envelope, raw={**raw, "signatures": signatures}))
                self.assertEqual(self.fault(forged), SIGNATURE)

    def test_altered_after_signing(self):
        good = approval()
        raw = good.envelope.raw
        altered = {**raw, "payload": {**raw["payload"], "expires_at": at(600)}}
        forged = replace(good, envelope=replace(good.envelope, raw=altered))
        self.assertEqual(self.fault(forged), SIGNATURE)

    def test_a_key_that_is_not_held(self):
        self.assertEqual(self.fault(approval(key_ids=("key_unbound",))), SIGNATURE)

    def test_signed_by_another_than_the_named_principal(self):
        deputy = mandate(id="mnd_deputy", issuer={
            "organization_id": "org_north", "principal_id": "prn_deputy", "key_id": "key_deputy"})
        for name, key_id in (("the acting agent", "key_agent"), ("another principal", "key_deputy")):
            with self.subTest(name):
                presented = approval(key_ids=(key_id,))
                self.assertEqual(self.fault(presented, mandates=(mandate(), deputy)), REQUIRED)

    def test_a_key_that_no_verified_mandate_binds(self):
        presented = approval(key_ids=("key_deputy",), approver={
            "organization_id": "org_north", "principal_id": "prn_deputy", "role": "director"})
        self.assertEqual(self.fault(presented), REQUIRED)
        deputy = mandate(id="mnd_deputy", subject={"principal_id": "prn_deputy", "key_id": "key_deputy"})
        self.assertIsNone(self.fault(presented, mandates=(mandate(), deputy)))

    def test_of_another_organisation(self):
        approver = {"organization_id": "org_south", "principal_id": "prn_stranger", "role": "director"}
        presented = approval(key_ids=("key_stranger",), approver=approver)
        stranger = mandate(
            id="mnd_stranger", represented_organization_id="org_south", issuer={
                "organization_id": "org_south", "principal_id": "prn_stranger", "key_id": "key_stranger"})
        for by_constraint in (False, True):
            with self.subTest(by_constraint=by_constraint):
                self.assertEqual(
                    self.fault(presented, mandates=(mandate(), stranger), by_constraint=by_constraint), REQUIRED)
        self.assertIsNone(self.fault(presented, rule(organization_id="org_south"), mandates=(mandate(), stranger)))

    def test_in_another_role(self):
        for role in ("clerk", "Director", "director ", "directors"):
            with self.subTest(role=role):
                approver = {"organization_id": "org_north", "principal_id": "prn_director", "role": role}
                self.assertEqual(self.fault(approval(approver=approver)), REQUIRED)
                self.assertIsNone(self.fault(approval(approver=approver), by_constraint=True))

    def test_rejected(self):
        self.assertEqual(self.fault(approval(decision="rejected")), REQUIRED)

    def test_from_its_creation_up_to_not_at_its_end(self):
        presented = approval(created_at=at(0), expires_at=at(60))
        for seconds, code in ((-1, REQUIRED), (0, None), (59, None), (60, REQUIRED), (61, REQUIRED)):
            with self.subTest(seconds=seconds):
                self.assertEqual(self.fault(presented, now=NOW + timedelta(seconds=seconds)), code)

    def test_no_longer_lived_than_the_rule_admits(self):
        for seconds, code in ((3600, None), (3601, REQUIRED)):
            with self.subTest(seconds=seconds):
                presented = approval(created_at=at(-60), expires_at=at(-60 + seconds))
                self.assertEqual(self.fault(presented), code)
                self.assertIsNone(self.fault(presented, by_constraint=True))

    def test_conditions_that_nobody_can_check(self):
        self.assertEqual(self.fault(approval(conditions=["if the sun shines"])), REQUIRED)

    def test_consumed(self):
        self.assertEqual(self.fault(approval(), consumed=True), REQUIRED)

    def test_one_approval_serves_several_rules_only_if_it_meets_each(self):
        presented = approval(created_at=at(-60), expires_at=at(60))
        for others, code in (
            ((rule(), rule(id="a_two")), None),
            ((rule(), rule(id="a_two", role="auditor")), REQUIRED),
            ((rule(), rule(id="a_two", expires_after_seconds=60)), REQUIRED),
            ((rule(), rule(id="a_two", organization_id="org_south")), REQUIRED),
        ):
            with self.subTest(others=[each.id for each in others]):
                self.assertEqual(self.fault(presented, *others), code)


class InADecision(unittest.TestCase):
    """The hold stays, each with its code; and nothing releases a deny."""

    HELD = mandate(approval_rules=[RULE])

    def test_held_until_approved(self):
        held = decide(self.HELD, LARGE_ACT)
        self.assertEqual((held.decision.value, held.approval), ("require_approval", "not_presented"))
        self.assertEqual(held.reason_codes, (REQUIRED,))
        released = decide(self.HELD, LARGE_ACT, approval=approval())
        self.assertEqual((released.decision.value, released.approval), ("allow", "verified"))
        self.assertEqual(released.reason_codes, ())
        self.assertTrue(released.released)

    def test_the_hold_stays(self):
        clerk = {"organization_id": "org_north", "principal_id": "prn_director", "role": "clerk"}
        for name, presented, code in (
            ("another act", approval(act=ACT), MISMATCH),
            ("another transaction", approval(transaction_id="txn_two"), STREAM),
            ("expired", approval(expires_at=at(0)), REQUIRED),
            ("rejected", approval(decision="rejected"), REQUIRED),
            ("another role", approval(approver=clerk), REQUIRED),
            ("an unheld key", approval(key_ids=("key_unbound",)), SIGNATURE),
        ):
            with self.subTest(name):
                found = decide(self.HELD, LARGE_ACT, approval=presented)
                self.assertEqual((found.decision.value, found.approval), ("require_approval", "failed"))
                self.assertEqual(found.reason_codes, (code,))
                self.assertFalse(found.released)

    def test_a_hold_by_a_constraint(self):
        limit = {"id": "c_small", "type": "commercial.decimal", "path": "$.proposed_terms.core.total.amount",
                 "operator": "maximum", "value": "2500", "on_failure": "require_approval"}
        document = mandate(constraints=[limit])
        self.assertEqual(decide(document, LARGE_ACT).decision.value, "require_approval")
        self.assertEqual(decide(document, LARGE_ACT, approval=approval()).decision.value, "allow")
        self.assertEqual(decide(document, ACT).decision.value, "allow")

    def test_nothing_releases_a_deny(self):
        too_much = {**LARGE_ACT, "proposed_terms": {"core": {"total": {"currency": "EUR", "amount": "4000.01"}}}}
        found = decide(self.HELD, too_much, approval=approval(act=too_much))
        self.assertEqual(found.decision.value, "deny")
        self.assertEqual(found.reason_codes, ("A202-POLICY-DENIED",))
        self.assertFalse(found.released)

    def test_an_approval_where_nothing_holds_is_not_used_up(self):
        found = decide(self.HELD, ACT, approval=approval(act=ACT))
        self.assertEqual(found.decision.value, "allow")
        self.assertFalse(found.released)

    def test_an_approval_without_an_act(self):
        found = decide(self.HELD, None, approval=approval())
        self.assertEqual((found.decision.value, found.approval), ("allow", "failed"))
