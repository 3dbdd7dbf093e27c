"""Rules 3.5 steps 8 and 9: actions and the four axes; silence on a declared axis denies."""

import unittest

from a202_reference.authority.scope import action_fault, scope_faults
from tests.authority.mandates import view

AXES = {
    "transaction_ids": ("transaction_id", "txn_one", "txn_two"),
    "categories": ("category", "lab.calibration", "lab"),
    "counterparty_organization_ids": ("counterparty_organization_id", "org_south", "org_west"),
    "geographies": ("geography", "NL", "DE"),
}


class Actions(unittest.TestCase):

    def test_only_what_is_listed(self):
        mandate = view(actions=["offer.accept", "offer.submit"])
        for action, permitted in (
            ("offer.accept", True), ("offer.submit", True), ("offer", False), ("offer.accept.all", False),
            ("OFFER.ACCEPT", False), ("", False), (None, False), (7, False), (["offer.accept"], False), ({}, False),
        ):
            with self.subTest(action=action):
                self.assertIs(action_fault(mandate, {"action_type": action}) is None, permitted)
        self.assertIsNotNone(action_fault(mandate, {}))


class Scope(unittest.TestCase):

    def test_each_declared_axis_must_contain_the_acts_value(self):
        for axis, (member, inside, outside) in AXES.items():
            bound = {axis: [inside, "x"]} if axis in ("transaction_ids", "categories") else {
                "transaction_ids": ["txn_one"], axis: [inside]}
            if axis in ("transaction_ids", "categories"):
                bound = {axis: [inside]}
            mandate = view(signed=False, scope=bound)
            stated = {"transaction_id": "txn_one", member: inside}
            for value, faults in (
                (inside, 0), (outside, 1), (None, 1), ("", 1), ([inside], 1), ({}, 1), (7, 1),
                (inside.upper() + "x", 1),
            ):
                with self.subTest(axis=axis, value=value):
                    self.assertEqual(len(scope_faults(mandate, {**stated, member: value})), faults)
            with self.subTest(axis=axis, value="not stated"):
                silent = {name: value for name, value in stated.items() if name != member}
                found = scope_faults(mandate, silent)
                self.assertEqual(len(found), 1)
                self.assertIn(f"must state `{member}`", found[0])

    def test_an_axis_that_is_not_declared_does_not_matter(self):
        mandate = view(scope={"transaction_ids": ["txn_one"]})
        self.assertEqual(scope_faults(mandate, {"transaction_id": "txn_one", "geography": "DE", "category": 7}), [])

    def test_every_fault_is_named(self):
        mandate = view(scope={axis: [inside] for axis, (_, inside, _) in AXES.items()})
        act = {member: outside for member, _, outside in AXES.values()}
        self.assertEqual(len(scope_faults(mandate, act)), 4)
        self.assertEqual(scope_faults(mandate, {member: inside for member, inside, _ in AXES.values()}), [])
