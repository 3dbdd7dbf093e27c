"""Rules 8.2; D-37; design override 7: due conditions, and obligations that wait for each other."""

import unittest
from datetime import UTC, datetime, timedelta

from hypothesis import given

from a202_reference.lifecycle.due import DueFacts, discharge_targets, has_cycle, is_due
from tests.reference.strategies import PROPERTY, documents

AT = datetime(2026, 9, 10, 12, tzinfo=UTC)
TIME = {"type": "due_at_time", "at": "2026-09-10T12:00:00Z"}
DAYS = {"type": "due_at_time", "business_days": {"days": 3, "calendar": "NL"}}
ACT = {"type": "due_on_event", "act_ref": "a" * 64}
SHOWN = {"type": "due_on_event", "evidence_type": "inspection_result"}
DONE = {"type": "due_on_discharge", "obligation_id": "obl_one"}
MET, NOT_MET, NOT_COMPUTABLE = "met", "not_met", "not_computable"


def all_of(*conditions):
    return {"type": "all_of", "conditions": list(conditions)}


class Due(unittest.TestCase):

    def due(self, condition, **facts):
        return is_due(condition, DueFacts(**{"at": AT, **facts})).value

    def test_a_time_is_met_from_its_instant_on(self):
        for seconds, expected in ((-1, NOT_MET), (0, MET), (1, MET)):
            with self.subTest(seconds=seconds):
                self.assertEqual(self.due(TIME, at=AT + timedelta(seconds=seconds)), expected)

    def test_business_days_have_no_calendar_here(self):
        self.assertEqual(self.due(DAYS), NOT_COMPUTABLE)
        self.assertEqual(self.due(DAYS, at=AT + timedelta(days=3650)), NOT_COMPUTABLE)

    def test_an_event(self):
        self.assertEqual(self.due(ACT), NOT_MET)
        self.assertEqual(self.due(ACT, act_hashes=frozenset({"b" * 64})), NOT_MET)
        self.assertEqual(self.due(ACT, act_hashes=frozenset({"a" * 64})), MET)

    def test_evidence(self):
        self.assertEqual(self.due(SHOWN), NOT_MET)
        self.assertEqual(self.due(SHOWN, evidence_types=frozenset({"attestation"})), NOT_MET)
        self.assertEqual(self.due(SHOWN, evidence_types=frozenset({"inspection_result"})), MET)

    def test_a_discharge(self):
        self.assertEqual(self.due(DONE), NOT_MET)
        self.assertEqual(self.due(DONE, discharged=frozenset({"obl_one"})), MET)

    def test_all_of(self):
        for condition, expected in (
            (all_of(TIME, TIME), MET), (all_of(TIME, ACT), NOT_MET), (all_of(ACT, TIME), NOT_MET),
            (all_of(TIME, DAYS), NOT_COMPUTABLE), (all_of(DAYS, ACT), NOT_MET),
        ):
            with self.subTest(condition=condition):
                self.assertEqual(self.due(condition), expected)

    def test_an_unknown_type_is_never_due(self):
        for condition in ({"type": "due_someday"}, {"type": None}, {}, {"type": ["due_at_time"]},
            all_of(TIME, all_of(TIME))):
            with self.subTest(condition=condition):
                self.assertNotEqual(self.due(condition), MET)


class Cycles(unittest.TestCase):

    @staticmethod
    def waits(*targets):
        leaves = [{"type": "due_on_discharge", "obligation_id": target} for target in targets]
        return leaves[0] if len(leaves) == 1 else all_of(TIME, *leaves)

    def test_loops(self):
        for name, conditions in {
            "itself": {"a": self.waits("a")},
            "itself within all_of": {"a": all_of(TIME, self.waits("a"))},
            "two": {"a": self.waits("b"), "b": self.waits("a")},
            "three, and one outside": {"a": self.waits("b"), "b": self.waits("c"), "c": self.waits("a"), "d": TIME},
            "within all_of": {"a": self.waits("b", "c"), "b": TIME, "c": self.waits("a", "b")},
        }.items():
            with self.subTest(name):
                self.assertTrue(has_cycle(conditions))

    def test_no_loops(self):
        for name, conditions in {
            "none": {},
            "a line": {"a": self.waits("b"), "b": self.waits("c"), "c": TIME},
            "a diamond": {"a": self.waits("b", "c"), "b": self.waits("d"), "c": self.waits("d"), "d": TIME},
            "one that is not held": {"a": self.waits("z")},
            "the same one twice": {"a": self.waits("b", "b"), "b": TIME},
        }.items():
            with self.subTest(name):
                self.assertFalse(has_cycle(conditions))

    def test_a_long_line_and_a_long_loop(self):
        line = {str(at): self.waits(str(at + 1)) for at in range(2000)}
        self.assertFalse(has_cycle(line))
        self.assertTrue(has_cycle({**line, "2000": self.waits("0")}))

    def test_targets(self):
        self.assertEqual(discharge_targets(DONE), ("obl_one",))
        self.assertEqual(discharge_targets(all_of(TIME, DONE, self.waits("obl_two"))), ("obl_one", "obl_two"))
        for other in (
            TIME, {**TIME, "obligation_id": "obl_one"}, {"type": "due_on_discharge", "obligation_id": ["obl_one"]},
            {"type": "due_on_event", "conditions": [DONE]}, {"type": "all_of", "conditions": DONE},
        ):
            with self.subTest(other=other):
                self.assertEqual(discharge_targets(other), ())

    @PROPERTY
    @given(documents)
    def test_total(self, condition):
        discharge_targets(condition)
        discharge_targets({"type": "all_of", "conditions": condition})
        discharge_targets({"type": "due_on_discharge", "obligation_id": condition})
        has_cycle({"a": condition})
