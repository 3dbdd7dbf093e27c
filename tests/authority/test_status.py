"""Rules 3.6; D-13; surface 2 and 3: a status answer is usable from -60 s to +60 s, and only `active` permits."""

import unittest
from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st

from a202_reference.authority.status import StatusResult, by_mandate, status_fault
from a202_reference.times import format_instant
from tests.authority.mandates import NOW
from tests.reference.strategies import PROPERTY, documents

UNRESOLVED, INACTIVE = "A202-MANDATE-STATUS-UNRESOLVED", "A202-MANDATE-INACTIVE"


def at(seconds):
    return format_instant(NOW + timedelta(seconds=seconds))


def code(**answer):
    result = StatusResult.of("mnd_one", {"status": "active", "retrieved_at": at(0), **answer})
    fault = status_fault(result, NOW)
    return None if fault is None else fault[0]


class Usable(unittest.TestCase):

    def test_age(self):
        for seconds, expected in ((-61, UNRESOLVED), (-60, None), (0, None), (60, None), (61, UNRESOLVED)):
            with self.subTest(seconds=seconds):
                self.assertEqual(code(retrieved_at=at(seconds)), expected)

    def test_age_to_the_fraction(self):
        self.assertEqual(code(retrieved_at="2026-08-20T09:59:00.000Z"), None)
        self.assertEqual(code(retrieved_at="2026-08-20T09:58:59.999Z"), UNRESOLVED)
        self.assertEqual(code(retrieved_at="2026-08-20T10:01:00.001Z"), UNRESOLVED)

    def test_values(self):
        for status, expected in (
            ("active", None), ("suspended", INACTIVE), ("revoked", INACTIVE), ("expired", INACTIVE),
            ("Active", UNRESOLVED), ("", UNRESOLVED), ("unknown", UNRESOLVED), (None, UNRESOLVED), (True, UNRESOLVED),
            (7, UNRESOLVED), (["active"], UNRESOLVED), ({"status": "active"}, UNRESOLVED),
        ):
            with self.subTest(status=status):
                self.assertEqual(code(status=status), expected)

    def test_a_stale_answer_is_unresolved_whatever_it_says(self):
        for status in ("active", "suspended", "revoked", "expired"):
            with self.subTest(status=status):
                self.assertEqual(code(status=status, retrieved_at=at(-61)), UNRESOLVED)

    def test_unreadable_instants(self):
        for text in (None, "", "yesterday", "2026-08-20T10:00:00+00:00", 1787220000, ["2026-08-20T10:00:00Z"]):
            with self.subTest(text=text):
                self.assertEqual(code(retrieved_at=text), UNRESOLVED)

    def test_the_answers_own_expiry(self):
        for expires_at, expected in (
            (at(1), None), (at(60), None), (at(0), UNRESOLVED), (at(-1), UNRESOLVED), (at(61), UNRESOLVED),
            ("soon", UNRESOLVED), (7, UNRESOLVED), ([], UNRESOLVED),
        ):
            with self.subTest(expires_at=expires_at):
                self.assertEqual(code(expires_at=expires_at), expected)

    def test_absent(self):
        self.assertEqual(status_fault(None, NOW)[0], UNRESOLVED)
        for raw in (None, "active", [], 7):
            with self.subTest(raw=raw):
                self.assertIsNone(StatusResult.of("mnd_one", raw))
        self.assertEqual(status_fault(StatusResult.of("mnd_one", {}), NOW)[0], UNRESOLVED)

    def test_an_answer_about_another_mandate_is_no_answer(self):
        self.assertIsNone(StatusResult.of("mnd_one", {"mandate_id": "mnd_two", "status": "active"}))
        self.assertIsNotNone(StatusResult.of("mnd_one", {"mandate_id": "mnd_one", "status": "active"}))

    def test_of_two_answers_one_that_is_not_active_counts_in_either_order(self):
        revoked, active = StatusResult("mnd_one", "revoked", at(0)), StatusResult("mnd_one", "active", at(0))
        self.assertEqual(by_mandate([revoked, active]), {"mnd_one": revoked})
        self.assertEqual(by_mandate([active, revoked]), {"mnd_one": revoked})
        self.assertEqual(by_mandate([active, StatusResult("mnd_one", "odd", at(0))])["mnd_one"].status, "odd")

    def test_as_decisions_carry_it(self):
        said = {"mandate_id": "mnd_one", "status": "active", "retrieved_at": at(0)}
        self.assertEqual(StatusResult("mnd_one", "active", at(0)).document, said)
        self.assertEqual(StatusResult("mnd_one", "active", at(0), at(9)).document, {**said, "expires_at": at(9)})

    @PROPERTY
    @given(documents, st.sampled_from(["status", "retrieved_at", "expires_at"]))
    def test_total(self, value, member):
        self.assertIn(code(**{member: value}), (None, UNRESOLVED, INACTIVE))
