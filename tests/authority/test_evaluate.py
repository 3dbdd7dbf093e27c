"""Rules 3.5; D-11, D-12, D-48: each step's code alone, all reasons in the order of the steps, deny before hold."""

import unittest
from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st

from a202_reference.authority.status import StatusResult
from a202_reference.canonical import value_hash
from a202_reference.keys import KeyBinding
from tests.authority.mandates import (
    ACT,
    BINDINGS,
    DEPUTY,
    LARGE_ACT,
    LIMIT,
    NOW,
    RULE,
    SIGNERS,
    active,
    chain,
    circumstances,
    decide,
    mandate,
)
from tests.reference.strategies import PROPERTY, documents

DENIED, SIGNATURE, INACTIVE = "A202-POLICY-DENIED", "A202-EVIDENCE-SIGNATURE-INVALID", "A202-MANDATE-INACTIVE"
UNRESOLVED, WIDENING = "A202-MANDATE-STATUS-UNRESOLVED", "A202-MANDATE-DELEGATION-WIDENING"
CONSTRAINT = "A202-MANDATE-CONSTRAINT-UNKNOWN"
ROOT = mandate()


class Allowed(unittest.TestCase):

    def test_an_act_within_its_mandate(self):
        found = decide(ROOT, ACT)
        self.assertEqual((found.decision.value, found.reasons), ("allow", ()))
        self.assertEqual(found.act.action_hash, value_hash(ACT))
        self.assertEqual(found.chain_ids, ("mnd_root",))
        self.assertEqual(
            (found.mandate.proof.value, found.mandate.validity_interval.value, found.mandate.status.value),
            ("verified",) * 3)

    def test_without_an_act_the_mandate_itself_is_judged(self):
        found = decide(ROOT, None)
        self.assertEqual((found.decision.value, found.act.action_hash, found.act.constraints), ("allow", None, ()))

    def test_a_delegated_mandate_with_every_ancestor_in_force(self):
        *above, acting = chain(3)
        found = decide(acting, ACT, *above)
        self.assertEqual((found.decision.value, found.reasons), ("allow", ()))
        self.assertEqual(found.chain_ids, ("mnd_level_2", "mnd_level_1", "mnd_level_0"))


class EachStepAlone(unittest.TestCase):

    def check(self, codes, document, act=ACT, *above, decision="deny", **changes):
        found = decide(document, act, *above, **changes)
        self.assertEqual(
            (found.decision.value, [code.value for code in found.reason_codes]), (decision, codes),
            [reason.detail for reason in found.reasons])
        self.assertEqual(len(found.reason_codes), len(set(found.reason_codes)))
        return found

    def test_1_document_rules(self):
        for code, change in (
            ("A202-MANDATE-INTERVAL-INVALID",
                {"valid_from": "2026-08-25T00:00:00Z", "valid_until": "2026-08-25T00:00:00Z"}),
            ("A202-MANDATE-UNBOUNDED", {"constraints": []}),
            ("A202-MANDATE-SCOPE-TOO-BROAD", {"scope": {"geographies": ["NL"]}}),
            ("A202-MANDATE-STATUS-INSECURE", {"status_endpoint": "ftp:" + "//status.north.invalid"}),
            ("A202-MANDATE-SUBJECT-AMBIGUOUS", {"subject": {"key_id": "key_agent"}}),
            ("A202-MANDATE-DELEGATION-INCOHERENT", {"delegation": {"allowed": False, "maximum_depth": 1}}),
            (CONSTRAINT, {"constraints": [{**LIMIT, "type": "commercial.colour"}]}),
            (CONSTRAINT, {"constraints": [{**LIMIT, "operator": "resembles"}]}),
        ):
            with self.subTest(code=code, change=change):
                found = decide(mandate(**change), ACT)
                self.assertEqual(found.decision.value, "deny")
                self.assertEqual(found.reason_codes[0], code)
                self.assertIn(code, found.mandate.refusals)

    def test_1_a_bare_shape_error(self):
        found = self.check([DENIED], mandate(note="x"))
        self.assertTrue(found.mandate.schema_errors)
        self.assertEqual(found.mandate.proof.value, "verified")

    def test_1_nothing_of_a_broken_document_is_relied_on(self):
        found = decide(mandate(note="x"), ACT)
        self.assertIsNone(found.mandate.chain)
        self.assertEqual((found.mandate.status.value, found.mandate.validity_interval.value), ("failed", "failed"))

    def test_3_the_proof(self):
        placeholder = {**ROOT["proof"], "signature": "synthetic-placeholder"}
        for name, document, word in (
            ("altered after signing", {**ROOT, "actions": ["offer.accept", "offer.submit"]}, "failed"),
            ("a placeholder", mandate(signed=False, proof=placeholder), "not_checkable"),
            ("another key than the issuer's", {**ROOT, "proof": {**ROOT["proof"], "key_id": "key_deputy"}}, "failed"),
        ):
            with self.subTest(name):
                found = self.check([SIGNATURE], document)
                self.assertEqual(found.mandate.proof.value, word)

    def test_3_a_key_that_is_not_held(self):
        found = self.check([SIGNATURE], ROOT, keys=lambda _: None)
        self.assertEqual(found.mandate.proof.value, "not_checkable")

    def test_3_a_key_of_another_owner(self):
        other = {**BINDINGS, "key_director": KeyBinding(
            "key_director", DEPUTY, SIGNERS["key_director"].key.public, NOW - timedelta(days=9))}
        self.check([SIGNATURE], ROOT, keys=other.get)

    def test_3_a_root_is_issued_within_the_represented_organisation(self):
        self.check([DENIED], mandate(represented_organization_id="org_south"))

    def test_4_the_status(self):
        retrieved = active(ROOT)["mnd_root"].retrieved_at
        for name, statuses, code in (
            ("absent", {}, UNRESOLVED),
            ("stale", active(ROOT, age=61), UNRESOLVED),
            ("from ahead", active(ROOT, age=-61), UNRESOLVED),
            ("unreadable", {"mnd_root": StatusResult("mnd_root", ["active"], retrieved)}, UNRESOLVED),
            ("suspended", active(ROOT, status="suspended"), INACTIVE),
            ("revoked", active(ROOT, status="revoked"), INACTIVE),
            ("expired", active(ROOT, status="expired"), INACTIVE),
        ):
            with self.subTest(name):
                found = self.check([code], ROOT, statuses=statuses)
                self.assertEqual(found.mandate.status.value, "failed")

    def test_4_the_age_is_judged_at_status_at(self):
        self.check([], ROOT, status_at=NOW + timedelta(seconds=30), decision="allow")
        self.check([UNRESOLVED], ROOT, status_at=NOW + timedelta(seconds=31))

    def test_5_the_interval_from_its_start_up_to_not_at_its_end(self):
        for valid_from, valid_until, codes in (
            ("2026-08-20T10:00:00Z", "2026-08-20T10:00:01Z", []),
            ("2026-08-20T10:00:01Z", "2026-08-20T10:00:02Z", [INACTIVE]),
            ("2026-08-20T09:00:00Z", "2026-08-20T10:00:00Z", [INACTIVE]),
        ):
            with self.subTest(valid_from=valid_from):
                found = self.check(
                    codes, mandate(valid_from=valid_from, valid_until=valid_until),
                    decision="deny" if codes else "allow")
                self.assertEqual(found.mandate.validity_interval.value, "failed" if codes else "verified")

    def test_6_every_ancestor_stands(self):
        root, acting = chain(2)
        retrieved = active(root)["mnd_level_0"].retrieved_at
        for name, held, statuses, codes in (
            ("not held", (), active(acting), [WIDENING]),
            ("not held, its status given", (), active(acting, root), [WIDENING]),
            ("status absent", (root,), active(acting), [UNRESOLVED]),
            ("revoked", (root,), {**active(acting), **active(root, status="revoked")}, [INACTIVE]),
            ("stale", (root,), {**active(acting), **active(root, age=90)}, [UNRESOLVED]),
            ("of unreadable status", (root,), {
                **active(acting), "mnd_level_0": StatusResult("mnd_level_0", {}, retrieved)}, [UNRESOLVED]),
        ):
            with self.subTest(name):
                self.check(codes, acting, ACT, *held, statuses=statuses)

    def test_6_an_ancestors_proof_and_interval(self):
        root, acting = chain(2)
        forged = {**root, "actions": ["offer.accept", "offer.submit"]}
        self.check([SIGNATURE], acting, ACT, forged)
        short = {"valid_from": "2026-08-01T00:00:00Z", "valid_until": "2026-08-20T10:00:00Z"}
        root = mandate(id="mnd_level_0", **short)
        self.check([INACTIVE], mandate(
            id="mnd_level_1", parent_mandate_id="mnd_level_0", delegation={"allowed": False, "maximum_depth": 0},
            **short), ACT, root)

    def test_6_an_ancestors_own_document_faults(self):
        root = mandate(id="mnd_level_0", constraints=[])
        found = decide(chain(2)[1], ACT, root)
        self.assertIn("A202-MANDATE-UNBOUNDED", found.reason_codes)
        self.assertEqual(found.decision.value, "deny")

    def test_6_more_than_8_hops(self):
        *above, acting = [
            mandate(id=f"mnd_at_{at}", parent_mandate_id=f"mnd_at_{at - 1}" if at else None) for at in range(10)]
        found = decide(acting, ACT, *above)
        self.assertEqual(found.decision.value, "deny")
        self.assertIn(WIDENING, found.reason_codes)

    def test_7_every_hop_narrows(self):
        root, acting = chain(2)
        for name, change in (
            ("another action", {"actions": ["offer.accept", "offer.submit"]}),
            ("a higher limit", {"constraints": [{**LIMIT, "value": "4000.01"}]}),
            ("a longer life", {"valid_until": "2026-09-01T00:00:01Z"}),
        ):
            with self.subTest(name):
                wider = mandate(
                    id="mnd_level_1", parent_mandate_id="mnd_level_0", delegation=acting["delegation"], **change)
                self.check([WIDENING], wider, ACT, root)

    def test_7_a_child_issued_by_a_stranger(self):
        root, acting = chain(2)
        foreign = mandate(
            id="mnd_level_1", parent_mandate_id="mnd_level_0", delegation=acting["delegation"],
            issuer={"organization_id": "org_south", "principal_id": "prn_stranger", "key_id": "key_stranger"})
        self.check([WIDENING], foreign, ACT, root)

    def test_7_also_between_two_ancestors(self):
        root, middle, acting = chain(3)
        wide = mandate(
            id="mnd_level_1", parent_mandate_id="mnd_level_0", delegation=middle["delegation"],
            actions=["offer.accept", "offer.submit"])
        self.check([WIDENING], acting, ACT, wide, root)

    def test_8_the_action(self):
        self.check([DENIED], ROOT, {**ACT, "action_type": "offer.submit"})
        self.check([DENIED], ROOT, {name: value for name, value in ACT.items() if name != "action_type"})

    def test_9_the_scope(self):
        self.check([DENIED], ROOT, {**ACT, "transaction_id": "txn_two"})
        for axis, member, value in (
            ("geographies", "geography", "NL"), ("categories", "category", "lab"),
            ("counterparty_organization_ids", "counterparty_organization_id", "org_west"),
        ):
            with self.subTest(axis=axis):
                document = mandate(scope={"transaction_ids": ["txn_one"], axis: [value]})
                silent = {name: each for name, each in ACT.items() if name != member}
                found = self.check([DENIED], document, silent)
                self.assertIn(member, found.reasons[0].detail)
                self.check([], document, {**ACT, member: value}, decision="allow")

    def test_11_constraints(self):
        for constraint, codes in (
            ({**LIMIT, "value": "1999.99"}, [DENIED]),
            ({**LIMIT, "value": "NaN"}, [CONSTRAINT]),
            ({**LIMIT, "operator": "matches"}, [CONSTRAINT]),
            ({**LIMIT, "type": "disclosure.path", "path": "$.message", "operator": "present", "value": True},
             ["A202-DISCLOSURE-DENIED"]),
            ({**LIMIT, "type": "evidence.reference", "path": "$.evidence", "operator": "evidence_verified",
                "value": True},
             ["A202-EVIDENCE-UNVERIFIED"]),
        ):
            with self.subTest(constraint=constraint):
                self.check(codes, mandate(constraints=[constraint]))

    def test_11_a_constraint_that_holds(self):
        self.check(
            ["A202-APPROVAL-REQUIRED"],
            mandate(constraints=[{**LIMIT, "value": "1", "on_failure": "require_approval"}]),
            decision="require_approval")

    def test_11_what_cannot_be_evaluated_is_not_held_but_denied(self):
        self.check([CONSTRAINT], mandate(constraints=[{**LIMIT, "value": "x", "on_failure": "require_approval"}]))

    def test_11_an_ancestors_constraints_count_root_first_in_array_order(self):
        small = {**LIMIT, "id": "c_root", "value": "1000", "on_failure": "require_approval"}
        root = mandate(id="mnd_level_0", constraints=[small, {**LIMIT, "id": "c_second"}])
        acting = mandate(
            id="mnd_level_1", parent_mandate_id="mnd_level_0", delegation={"allowed": False, "maximum_depth": 0},
            constraints=[{**LIMIT, "id": "c_own"}])
        found = self.check(["A202-APPROVAL-REQUIRED"], acting, ACT, root, decision="require_approval")
        self.assertEqual([each.constraint.id for each in found.act.constraints], ["c_root", "c_second", "c_own"])

    def test_11_every_constraint_is_evaluated(self):
        document = mandate(constraints=[{**LIMIT, "id": "c_one", "value": "1"}, {**LIMIT, "id": "c_two", "value": "2"},
            LIMIT])
        found = self.check([DENIED], document)
        self.assertEqual([each.result.value for each in found.act.constraints],
            ["unsatisfied", "unsatisfied", "satisfied"])
        self.assertEqual(len(found.reasons), 2)

    def test_12_approval_rules_of_the_whole_chain(self):
        self.check(["A202-APPROVAL-REQUIRED"], mandate(approval_rules=[RULE]), LARGE_ACT, decision="require_approval")
        self.check([], mandate(approval_rules=[RULE]), ACT, decision="allow")
        root = mandate(id="mnd_level_0", approval_rules=[{**RULE, "id": "a_root"}])
        acting = mandate(
            id="mnd_level_1", parent_mandate_id="mnd_level_0", delegation={"allowed": False, "maximum_depth": 0},
            approval_rules=[{**RULE, "id": "a_own"}])
        found = self.check(["A202-APPROVAL-REQUIRED"], acting, LARGE_ACT, root, decision="require_approval")
        self.assertEqual([hold.rule.id for hold in found.act.holds], ["a_root", "a_own"])

    def test_an_act_without_canonical_form(self):
        found = self.check([DENIED], ROOT, {**ACT, "x": 1.5})
        self.assertIsNone(found.act.action_hash)


class Together(unittest.TestCase):

    def test_all_reasons_in_the_order_of_the_steps(self):
        document = mandate(
            valid_until="2026-08-20T10:00:00Z", constraints=[{**LIMIT, "value": "x"}, {**LIMIT, "value": "1"}],
            approval_rules=[RULE])
        altered = {**document, "evidence_refs": ["evd_one"]}
        found = decide(altered, {**LARGE_ACT, "transaction_id": "txn_two"}, statuses={})
        self.assertEqual(
            [code.value for code in found.reason_codes], [SIGNATURE, UNRESOLVED, INACTIVE, DENIED, CONSTRAINT])
        self.assertEqual(found.decision.value, "deny")

    def test_document_faults_come_first(self):
        document = mandate(valid_from="2026-09-02T00:00:00Z")
        found = decide({**document, "evidence_refs": ["evd_one"]}, ACT)
        self.assertEqual(
            [code.value for code in found.reason_codes], ["A202-MANDATE-INTERVAL-INVALID", SIGNATURE, INACTIVE])

    def test_a_deny_beats_a_hold(self):
        hold = {**LIMIT, "id": "c_hold", "value": "1", "on_failure": "require_approval"}
        for constraints in ([hold, {**LIMIT, "value": "1"}], [{**LIMIT, "value": "1"}, hold]):
            with self.subTest(first=constraints[0]["id"]):
                found = decide(mandate(constraints=constraints, approval_rules=[RULE]), LARGE_ACT)
                self.assertEqual((found.decision.value, found.reason_codes), ("deny", (DENIED,)))

    def test_a_hold_beats_an_allow(self):
        found = decide(mandate(approval_rules=[RULE]), LARGE_ACT)
        self.assertEqual((found.decision.value, found.reason_codes), ("require_approval", ("A202-APPROVAL-REQUIRED",)))


class Total(unittest.TestCase):
    """Any document gets an answer, and no stranger's document an allow."""

    @PROPERTY
    @given(documents, documents)
    def test_any_mandate(self, document, act):
        hostile = document if isinstance(document, dict) else {"id": document}
        found = decide(ROOT, ACT)
        self.assertEqual(found.decision.value, "allow")
        given_circumstances = circumstances(ROOT)
        from a202_reference.authority.evaluate import evaluate  # noqa: PLC0415 (under the root's circumstances)

        answer = evaluate(hostile, act if isinstance(act, dict) else None, given_circumstances)
        self.assertEqual(answer.decision.value, "deny")

    @PROPERTY
    @given(st.sampled_from(sorted(ROOT)), documents)
    def test_any_member_of_a_mandate(self, member, value):
        from a202_reference.authority.evaluate import evaluate  # noqa: PLC0415 (as above)

        answer = evaluate({**ROOT, member: value}, ACT, circumstances(ROOT))
        self.assertEqual(answer.decision.value, "allow" if value == ROOT[member] else "deny")

    @PROPERTY
    @given(st.sampled_from(sorted(ROOT["proof"])), documents)
    def test_any_member_of_a_proof(self, member, value):
        from a202_reference.authority.evaluate import evaluate  # noqa: PLC0415 (as above)

        answer = evaluate({**ROOT, "proof": {**ROOT["proof"], member: value}}, ACT, circumstances(ROOT))
        self.assertEqual(answer.decision.value, "allow" if value == ROOT["proof"][member] else "deny")

    @PROPERTY
    @given(documents)
    def test_any_act(self, act):
        if isinstance(act, dict):
            self.assertEqual(decide(ROOT, act).decision.value, "deny")
            mixed = decide(ROOT, {**ACT, "message": act})
            self.assertEqual(mixed.decision.value, "allow")

    def test_lone_surrogates_in_an_act_deny(self):
        document = mandate(constraints=[{
            **LIMIT, "type": "commercial.string", "path": "$.message", "operator": "matches", "value": "a"}])
        found = decide(document, {**ACT, "message": "a\ud800"})
        self.assertEqual([code.value for code in found.reason_codes], [DENIED, CONSTRAINT])
