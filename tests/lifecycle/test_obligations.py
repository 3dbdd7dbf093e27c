"""Rules 6.3, 8.4; D-26, D-36; surface 2: the obligation's own machine, quantities, and the remainder."""

import unittest

from hypothesis import given
from hypothesis import strategies as st

from a202_reference.lifecycle.obligation_state import MAY_ASSERT, MAY_WAIVE, facts_of
from a202_reference.lifecycle.obligations import acceptance_fault, asserted_fault
from tests.lifecycle.objects import BUYER, PRICE, SUBJECT, SUPPLIER, assertion, obligation, response
from tests.reference.strategies import PROPERTY

TERMS, REMAINDER = "A202-TERMS-INVALID", "A202-OBLIGATION-REMAINDER-MISSING"


class States(unittest.TestCase):

    def state(self, assertions=(), responses=()):
        return facts_of(obligation(), assertions, responses).state.value

    def test_derived_from_its_facts(self):
        first, second = assertion("prf_one"), assertion("prf_two")
        for name, assertions, responses, state in (
            ("issued", (), (), "pending"),
            ("asserted", (first,), (), "asserted"),
            ("rejected", (first,), (response("reject"),), "rejected"),
            ("asserted again", (first, second), (response("reject"),), "asserted"),
            ("rejected twice", (first, second), (response("reject"), response("reject", "prf_two")), "rejected"),
            ("accepted", (first,), (response("accept"),), "discharged"),
            ("accepted the second time", (first, second), (response("reject"), response("accept", "prf_two")),
                "discharged"),
            ("waived before anything", (), (response("waive"),), "waived"),
            ("waived after an assertion", (first,), (response("waive"),), "waived"),
            ("waived after a rejection", (first,), (response("reject"), response("waive")), "waived"),
        ):
            with self.subTest(name):
                self.assertEqual(self.state(assertions, responses), state)

    def test_the_carried_state_is_never_trusted(self):
        for state in ("due", "discharged", "waived", "accepted"):
            with self.subTest(state=state):
                self.assertEqual(facts_of(obligation(state=state), (), ()).state.value, "pending")

    def test_only_its_own_facts_count(self):
        facts = facts_of(obligation(), [assertion(of="obl_two")], [response("waive", of="obl_two")])
        self.assertEqual((facts.state.value, facts.assertions, facts.responses), ("pending", (), ()))

    def test_outstanding_assertions(self):
        first, second = assertion("prf_one"), assertion("prf_two")
        facts = facts_of(obligation(), [first, second], [response("reject")])
        self.assertEqual(facts.outstanding, (second,))
        self.assertEqual(list(facts.answered), ["prf_one"])

    def test_what_may_follow(self):
        self.assertEqual(MAY_ASSERT, {"pending", "due", "rejected"})
        self.assertEqual(MAY_WAIVE, {"pending", "due", "rejected", "asserted"})


class Asserting(unittest.TestCase):

    def test_more_than_nothing_and_no_more_than_is_owed(self):
        for quantity, code in (
            ("20", None), ("20.00", None), ("0.000000001", None), ("19.999999999", None), ("0", TERMS), ("0.0", TERMS),
            ("20.000000001", TERMS), ("-1", TERMS), ("4e0", TERMS), ("", TERMS), (20, TERMS), (None, TERMS),
        ):
            with self.subTest(quantity=quantity):
                fault = asserted_fault(obligation(), quantity)
                self.assertEqual(None if fault is None else fault.codes, None if code is None else (code,))


class Accepting(unittest.TestCase):

    def code(self, accepted, *, asserted="20", remainder=None, owed="20", **changes):
        rest = None if remainder is None else obligation("obl_two", quantity=remainder, **changes)
        fault = acceptance_fault(obligation(quantity=owed), assertion(quantity=asserted), accepted, rest)
        return None if fault is None else fault.codes[0].value

    def test_all_of_what_is_owed(self):
        for accepted in ("20", "20.00", "20.000000000"):
            with self.subTest(accepted=accepted):
                self.assertIsNone(self.code(accepted))

    def test_nothing_more_than_asserted_or_no_quantity(self):
        for accepted, asserted in (
            ("0", "20"), ("0.00", "20"), ("20.000000001", "20"), ("16", "15"), ("-1", "20"), ("1e1", "20"), ("", "20"),
            (None, "20"), (20, "20"),
        ):
            with self.subTest(accepted=accepted):
                self.assertEqual(self.code(accepted, asserted=asserted, remainder="4"), TERMS)

    def test_less_than_is_owed_names_a_remainder(self):
        self.assertEqual(self.code("19.999999999"), REMAINDER)
        self.assertEqual(self.code("15", asserted="15"), REMAINDER)
        self.assertIsNone(self.code("15", asserted="15", remainder="5"))
        self.assertIsNone(self.code("19.999999999", remainder="0.000000001"))

    def test_the_remainder_is_exactly_what_is_missing(self):
        for remainder, code in (("5", None), ("5.00", None), ("4.999999999", REMAINDER), ("5.000000001", REMAINDER)):
            with self.subTest(remainder=remainder):
                self.assertEqual(self.code("15", remainder=remainder), code)

    def test_the_remainder_is_of_the_same_kind(self):
        for name, change in {
            "agreement": {"agreement_id": "agr_two"},
            "terms": {"subject": {**SUBJECT, "terms_hash": "b" * 64}},
            "term path": {"subject": {**SUBJECT, "term_path": "$.terms.core.quantity"}},
            "unit": {"unit_code": "KGM"},
            "obligor": {"obligor": BUYER},
            "obligee": {"obligee": SUPPLIER},
        }.items():
            with self.subTest(name):
                self.assertEqual(self.code("15", remainder="5", **change), REMAINDER)

    def test_the_remainder_is_another_obligation(self):
        owed = obligation(quantity="20")
        fault = acceptance_fault(owed, assertion(), "10", obligation(quantity="10"))
        self.assertEqual(fault.codes, (REMAINDER,))

    def test_the_remainders_consideration_is_null_or_at_most_the_originals(self):
        for consideration, code in (
            (None, None), (PRICE, None), ({"currency": "EUR", "amount": "0"}, None),
            ({"currency": "EUR", "amount": "3200.000000000000000001"}, REMAINDER),
            ({"currency": "USD", "amount": "1"}, REMAINDER),
        ):
            with self.subTest(consideration=consideration):
                self.assertEqual(self.code("15", remainder="5", consideration=consideration), code)
        free = acceptance_fault(
            obligation(consideration=None), assertion(), "15", obligation("obl_two", quantity="5", consideration=PRICE))
        self.assertEqual(free.codes, (REMAINDER,))

    @PROPERTY
    @given(st.integers(1, 10**30), st.integers(1, 10**30))
    def test_remainders_are_exact_at_every_size(self, accepted, rest):
        owed = str(accepted + rest)
        self.assertIsNone(self.code(str(accepted), asserted=owed, owed=owed, remainder=str(rest)))
        self.assertEqual(self.code(str(accepted), asserted=owed, owed=owed, remainder=str(rest + 1)), REMAINDER)
