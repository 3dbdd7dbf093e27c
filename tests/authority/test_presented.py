"""Surface 3: a presented decision is a claim; each claim with its code, and the verdict is recomputed."""

import unittest
from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st

from a202_reference.authority.presented import Authorised, Presented, authorise, read_presented
from a202_reference.authority.status import StatusResult
from a202_reference.canonical import value_hash
from a202_reference.codes import Refusal
from a202_reference.documents.parties import Party
from a202_reference.times import format_instant
from tests.authority.mandates import ACT, LARGE_ACT, NOW, RULE, active, approval, chain, decide, mandate
from tests.reference.strategies import PROPERTY, documents

DENIED, REQUIRED = "A202-POLICY-DENIED", "A202-APPROVAL-REQUIRED"
MISMATCH, UNRESOLVED = "A202-APPROVAL-HASH-MISMATCH", "A202-MANDATE-STATUS-UNRESOLVED"
ROOT = mandate()
HASH = value_hash(ACT)
PARTY = Party("org_north", "agt_buyer", "mnd_root", "key_agent")


def at(seconds):
    return format_instant(NOW + timedelta(seconds=seconds))


DECISION = {
    "mandate_id": "mnd_root", "decision": "allow", "action_hash": HASH, "reason_codes": [], "status": "verified",
    "checked_at": at(0), "approval_id": None,
    "status_results": [{"mandate_id": "mnd_root", "status": "active", "retrieved_at": at(-30)}]}


class Claims(unittest.TestCase):

    def read(self, decision, party=PARTY, held=ROOT):
        return read_presented(decision, ACT, HASH, party, held, NOW)

    def check(self, codes, decision, party=PARTY, held=ROOT):
        found = self.read(decision, party, held)
        if codes:
            self.assertIsInstance(found, Refusal)
            self.assertEqual([code.value for code in found.codes], codes, found.detail)
        else:
            self.assertIsInstance(found, Presented)
        return found

    def test_in_order(self):
        found = self.check([], DECISION)
        self.assertEqual(found.checked_at, NOW)
        self.assertEqual(found.statuses, {"mnd_root": StatusResult("mnd_root", "active", at(-30))})
        self.assertEqual((found.approval_id, found.reason_codes), (None, ()))

    def test_it_is_an_object(self):
        for decision in (None, "allow", True, [DECISION], 7):
            with self.subTest(decision=decision):
                self.check([DENIED], decision)

    def test_it_claims_an_allow(self):
        for claim, code in (
            ("deny", DENIED), ("require_approval", REQUIRED), ("ALLOW", DENIED), (None, DENIED), (True, DENIED),
            (["allow"], DENIED), ({"allow": True}, DENIED), ("", DENIED),
        ):
            with self.subTest(claim=claim):
                self.check([code], {**DECISION, "decision": claim})

    def test_its_hash_is_the_rebuilt_acts(self):
        for carried in (
            "a" * 64, HASH.upper(), HASH[:-1], HASH + "\n", "", None, 7, [HASH], {}, "\u00e9" * 64, "\ud800",
        ):
            with self.subTest(carried=carried):
                found = self.check([MISMATCH], {**DECISION, "action_hash": carried})
                self.assertEqual(found.proposed_action, ACT)
        self.check([MISMATCH], {name: value for name, value in DECISION.items() if name != "action_hash"})

    def test_the_act_to_verify_only_where_the_hash_differs(self):
        self.assertIsNone(self.check([DENIED], {**DECISION, "decision": "deny"}).proposed_action)

    def test_it_evaluated_the_partys_mandate(self):
        for mandate_id in ("mnd_other", None, "", 7, ["mnd_root"]):
            with self.subTest(mandate_id=mandate_id):
                self.check([DENIED], {**DECISION, "mandate_id": mandate_id})

    def test_the_mandate_is_held(self):
        self.check([DENIED], DECISION, held=None)

    def test_the_mandate_names_this_agent_organisation_and_key(self):
        for change in (
            {"organization_id": "org_south"}, {"agent_id": "agt_other"}, {"key_id": "key_other"},
        ):
            with self.subTest(change=change):
                members = {"organization_id": "org_north", "agent_id": "agt_buyer", "mandate_id": "mnd_root",
                           "key_id": "key_agent", **change}
                self.check([DENIED], DECISION, party=Party.of(members))
        principal = mandate(subject={"principal_id": "prn_deputy", "key_id": "key_agent"})
        self.check([DENIED], DECISION, held=principal)

    def test_its_age(self):
        for seconds, codes in ((-61, [UNRESOLVED]), (-60, []), (0, []), (60, []), (61, [UNRESOLVED])):
            with self.subTest(seconds=seconds):
                self.check(codes, {**DECISION, "checked_at": at(seconds)})

    def test_an_instant_that_cannot_be_read(self):
        for checked_at in (None, "", "now", 7, [at(0)], "2026-08-20T12:00:00+02:00"):
            with self.subTest(checked_at=checked_at):
                self.check([UNRESOLVED], {**DECISION, "checked_at": checked_at})

    def test_its_status_had_resolved(self):
        for status in ("failed", "not_checkable", "active", None, True, ["verified"]):
            with self.subTest(status=status):
                self.check([UNRESOLVED], {**DECISION, "status": status})

    def test_all_faults_together_each_code_once(self):
        self.check([DENIED, MISMATCH, UNRESOLVED], {})
        self.check([REQUIRED, MISMATCH, DENIED, UNRESOLVED], {"decision": "require_approval"})

    def test_status_results_of_any_form_are_read_or_left_out(self):
        good = {"mandate_id": "mnd_root", "status": "active", "retrieved_at": at(0)}
        for results, read in (
            (None, 0), ("x", 0), ({}, 0), ([], 0), ([None, 7, "x", [], {}], 0), ([{"mandate_id": 7}], 0),
            ([{"mandate_id": ["mnd_root"], "status": "active"}], 0), ([good, good], 1),
            ([good, {"mandate_id": "mnd_two"}], 2),
        ):
            with self.subTest(results=results):
                self.assertEqual(len(self.check([], {**DECISION, "status_results": results}).statuses), read)

    def test_an_approval_id_of_another_form_is_none(self):
        for approval_id in (7, ["apr_one"], {}, None):
            with self.subTest(approval_id=approval_id):
                self.assertIsNone(self.check([], {**DECISION, "approval_id": approval_id}).approval_id)

    @PROPERTY
    @given(st.sampled_from(sorted(DECISION)), documents)
    def test_total(self, member, value):
        self.assertIsInstance(self.read({**DECISION, member: value}), Refusal | Presented)


class Recomputed(unittest.TestCase):

    def authorise(self, document=ROOT, act=ACT, above=(), *, now=NOW, decision=None, **circumstances):
        decision = decision or {**DECISION, "action_hash": value_hash(act)}
        party = Party("org_north", "agt_buyer", document["id"], "key_agent")
        claims = read_presented(
            {**decision, "mandate_id": document["id"]}, act, value_hash(act), party, document, now)
        self.assertIsInstance(claims, Presented)

        def recompute(presented):
            given_here = {"now": now, "status_at": presented.checked_at, "statuses": presented.statuses,
                **circumstances}
            return decide(document, act, *above, **given_here)

        return authorise(claims, act, party, now, recompute)

    def refused(self, codes, *args, **kwargs):
        found = self.authorise(*args, **kwargs)
        self.assertIsInstance(found, Refusal, found)
        self.assertEqual([code.value for code in found.codes], codes, found.detail)

    def test_an_allow_that_stands(self):
        found = self.authorise()
        self.assertIsInstance(found, Authorised)
        self.assertEqual((found.action_hash, found.mandate_ids), (HASH, ("mnd_root",)))
        self.assertEqual(found.statuses, (StatusResult("mnd_root", "active", at(-30)),))
        self.assertIsNone(found.consumes)

    def test_evaluated_at_is_the_earlier_of_the_decision_and_now(self):
        for seconds, evaluated in ((-20, -20), (0, 0), (20, 0)):
            with self.subTest(seconds=seconds):
                found = self.authorise(decision={**DECISION, "checked_at": at(seconds)})
                self.assertEqual(found.evaluated_at, at(evaluated))

    def test_a_forged_allow_is_refused_with_the_mandates_own_codes(self):
        self.refused([DENIED], mandate(actions=["offer.submit"]))
        self.refused([REQUIRED], mandate(approval_rules=[RULE]), LARGE_ACT)
        self.refused(["A202-MANDATE-INACTIVE"], mandate(valid_until="2026-08-20T10:00:00Z"))

    def test_a_mandate_that_ran_out_since_the_decision(self):
        document = mandate(valid_until=at(30))
        self.assertIsInstance(self.authorise(document), Authorised)
        self.refused(["A202-MANDATE-INACTIVE"], document, now=NOW + timedelta(seconds=30))

    def test_a_status_answer_that_was_not_fresh_at_the_decision(self):
        stale = [{"mandate_id": "mnd_root", "status": "active", "retrieved_at": at(-61)}]
        self.refused([UNRESOLVED], decision={**DECISION, "status_results": stale})
        self.assertIsInstance(
            self.authorise(decision={**DECISION, "checked_at": at(-5), "status_results": stale}), Authorised)

    def test_a_status_answer_that_a_reader_would_not_take_at_evaluated_at(self):
        ahead = [{"mandate_id": "mnd_root", "status": "active", "retrieved_at": at(70)}]
        self.refused([UNRESOLVED], decision={**DECISION, "checked_at": at(20), "status_results": ahead})

    def test_no_status_answer_or_a_hostile_one(self):
        for results in ([], None, [{"mandate_id": "mnd_root", "status": ["active"], "retrieved_at": at(0)}], [
                {"mandate_id": "mnd_root", "status": {}, "retrieved_at": {}}],
                [{"mandate_id": "mnd_two", "status": "active"}]):
            with self.subTest(results=results):
                self.refused([UNRESOLVED], decision={**DECISION, "status_results": results})

    def test_a_revoked_status(self):
        revoked = [{"mandate_id": "mnd_root", "status": "revoked", "retrieved_at": at(0)}]
        self.refused(["A202-MANDATE-INACTIVE"], decision={**DECISION, "status_results": revoked})

    def test_reason_codes_that_the_mandate_does_not_give(self):
        for reasons in ([REQUIRED], ["x"], None, "none", {}, [[]]):
            with self.subTest(reasons=reasons):
                self.refused([DENIED], decision={**DECISION, "reason_codes": reasons})

    def test_a_chain_lists_its_mandates_acting_first(self):
        *above, acting = chain(3)
        results = [each.document for each in active(acting, *above).values()]
        found = self.authorise(acting, ACT, above, decision={**DECISION, "status_results": results})
        self.assertEqual(found.mandate_ids, ("mnd_level_2", "mnd_level_1", "mnd_level_0"))
        self.assertEqual([each.mandate_id for each in found.statuses], list(found.mandate_ids))

    def test_an_approval_is_used_up_only_where_it_released_a_hold(self):
        decision = {**DECISION, "approval_id": "apr_one"}
        held = mandate(approval_rules=[RULE])
        found = self.authorise(
            held, LARGE_ACT, decision={**decision, "action_hash": value_hash(LARGE_ACT)}, approval=approval())
        self.assertEqual(found.consumes, "apr_one")
        self.assertIsNone(self.authorise(held, ACT, decision=decision, approval=approval(act=ACT)).consumes)
