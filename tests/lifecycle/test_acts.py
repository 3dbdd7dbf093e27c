"""Surface 1: an act document has what it needs and no null, so that one act has one hash."""

import unittest

from hypothesis import given

from a202_reference.canonical import value_hash
from a202_reference.lifecycle.acts import (
    Setting,
    answer_act,
    assert_act,
    core_of,
    formation_act,
    issue_act,
    waive_act,
    without_nulls,
)
from tests.reference.strategies import PROPERTY, documents

SETTING = Setting("txn_one", "org_south")
BASE = {"transaction_id": "txn_one", "counterparty_organization_id": "org_south"}
PRICE = {"currency": "EUR", "amount": "3200.00"}
CORE = {"quantity": "20", "unit_code": "H87", "total": PRICE}


class TheTable(unittest.TestCase):

    def test_each_act(self):
        terms = {"profile": "p", "core": {}, "profile_terms": {}}
        core = core_of("20", "H87", PRICE)
        for built, expected in (
            (formation_act("offer.submit", SETTING, terms), {"action_type": "offer.submit", "proposed_terms": terms}),
            (formation_act("offer.accept", SETTING, terms), {"action_type": "offer.accept", "proposed_terms": terms}),
            (issue_act(SETTING, core, "agr_one"),
             {"action_type": "obligation.activated", "proposed_terms": {"core": CORE}, "agreement_id": "agr_one"}),
            (assert_act(SETTING, core, "obl_one"),
             {"action_type": "performance.declared", "proposed_terms": {"core": CORE}, "obligation_id": "obl_one"}),
            (answer_act("acceptance.granted", SETTING, core, "prf_one"),
             {"action_type": "acceptance.granted", "proposed_terms": {"core": CORE}, "assertion_id": "prf_one"}),
            (answer_act("acceptance.rejected", SETTING, core, "prf_one"),
             {"action_type": "acceptance.rejected", "proposed_terms": {"core": CORE}, "assertion_id": "prf_one"}),
            (waive_act(SETTING, core, "obl_one"),
             {"action_type": "obligation.waived", "proposed_terms": {"core": CORE}, "obligation_id": "obl_one"}),
        ):
            with self.subTest(action=expected["action_type"]):
                self.assertEqual(built, {**BASE, **expected})

    def test_total_is_left_out_without_consideration(self):
        self.assertEqual(core_of("20", "H87", None), {"quantity": "20", "unit_code": "H87"})
        self.assertEqual(core_of("20", "H87", PRICE), CORE)

    def test_what_the_scope_needs_only_where_it_has_a_value(self):
        placed = Setting("txn_one", "org_south", category="lab", geography="NL")
        self.assertEqual(
            waive_act(placed, CORE, "obl_one"),
            {**waive_act(SETTING, CORE, "obl_one"), "category": "lab", "geography": "NL"})


class OneHash(unittest.TestCase):

    def test_a_member_sent_as_null_is_one_left_out(self):
        act = issue_act(SETTING, CORE, "agr_one")
        sent = {**act, "category": None, "geography": None, "obligation_id": None}
        self.assertEqual(value_hash(without_nulls(sent)), value_hash(act))

    def test_nulls_inside_are_hashed_as_sent(self):
        act = {"action_type": "a.b", "message": {"note": None}, "proposed_terms": {"core": None}}
        self.assertEqual(without_nulls(act), act)

    @PROPERTY
    @given(documents)
    def test_only_top_level_nulls_go(self, value):
        kept = without_nulls({"a": value, "b": None})
        self.assertEqual(kept, {} if value is None else {"a": value})
