"""Delegation may only narrow: each axis is widened alone, by the smallest step there is (rules 3.7, D-14)."""

import copy
import unittest
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from a202_reference.authority.delegation import widening_faults
from conformance.documents.mandates import child_mandate, mandate
from conformance.world import Document, at, changed, days, without
from tests.reference.strategies import PROPERTY, documents

PARENT = mandate()
CHILD = child_mandate()
DENY = {"id": "limit", "type": "commercial.decimal", "path": "$.proposed_terms.core.quantity", "on_failure": "deny"}


def faults(child: Any, parent: Any = PARENT) -> tuple[str, ...]:
    return widening_faults(parent, child)


def bound(operator: str, theirs: Any, mine: Any, **members: Any) -> tuple[str, ...]:
    """The faults of a pair that differ in one constraint's value alone."""
    parent = {**PARENT, "constraints": [{**DENY, "operator": operator, "value": theirs}]}
    child = {**CHILD, "constraints": [{**DENY, "operator": operator, "value": mine, **members}]}
    return faults(child, parent)


class Narrower(unittest.TestCase):
    def test_a_narrower_child_and_one_as_wide(self) -> None:
        self.assertEqual(faults(CHILD), ())
        wide = {**CHILD, **{name: PARENT[name] for name in (
            "valid_from", "valid_until", "actions", "scope", "constraints", "approval_rules")}}
        self.assertEqual(faults(wide), ())

    def test_an_axis_only_the_child_has_is_free(self) -> None:
        parent = without(PARENT, "scope.geographies")
        self.assertEqual(faults(CHILD, parent), ())

    def test_approval_rules_and_soft_constraints_may_go(self) -> None:
        soft = {**DENY, "operator": "maximum", "value": "5", "on_failure": "require_approval"}
        self.assertEqual(faults(CHILD, {**PARENT, "constraints": [*PARENT["constraints"], soft]}), ())

    def test_the_child_may_be_issued_under_the_parents_subject_key(self) -> None:
        issuer = {**CHILD["issuer"], "key_id": PARENT["subject"]["key_id"]}
        self.assertEqual(faults({**CHILD, "issuer": issuer}), ())


class Wider(unittest.TestCase):
    def test_each_axis_alone(self) -> None:
        cases: dict[str, Document] = {
            "does not name this parent": {**CHILD, "parent_mandate_id": None},
            "represents another organisation": {**CHILD, "represented_organization_id": "org_fernhill"},
            "issuer is of another organisation": changed(CHILD, "issuer.organization_id", "org_fernhill"),
            "under neither": changed(CHILD, "issuer.key_id", "key_other_one"),
            "starts before": {**CHILD, "valid_from": at(-1)},
            "ends after": {**CHILD, "valid_until": at(days(60) + 1)},
            "valid_until cannot be compared": {**CHILD, "valid_until": "2026-04-01"},
            "an action": {**CHILD, "actions": ["offer.accept", "dispute.raise"]},
            "scope.transaction_ids": changed(CHILD, "scope.transaction_ids", ["txn_other_deal_01"]),
            "scope.categories": changed(CHILD, "scope.categories", []),
            "scope.counterparty_organization_ids": without(CHILD, "scope.counterparty_organization_ids"),
            "scope.geographies": changed(CHILD, "scope.geographies", ["NL", "BE"]),
            "constraint currency is not retained": {**CHILD, "constraints": CHILD["constraints"][:1]},
            "constraint ceiling is loosened": changed(CHILD, "constraints.0.value", "2000.01"),
            "constraint ceiling no longer denies": changed(CHILD, "constraints.0.on_failure", "require_approval"),
            "delegation depth": {**CHILD, "delegation": {"allowed": True, "maximum_depth": 1}},
        }
        for words, child in cases.items():
            with self.subTest(words):
                found = faults(child)
                self.assertEqual(len(found), 1)
                self.assertIn(words, found[0])

    def test_a_parent_that_does_not_delegate(self) -> None:
        parent = {**PARENT, "delegation": {"allowed": False, "maximum_depth": 0}}
        self.assertEqual(len(faults(CHILD, parent)), 2)

    def test_a_constraint_of_another_path_is_not_the_same(self) -> None:
        child = changed(CHILD, "constraints.0.path", "$.proposed_terms.core.quantity")
        self.assertEqual(len(faults(child)), 1)


class Values(unittest.TestCase):
    """When a child's value is as tight as its parent's (D-14)."""

    def test_tight_and_loose(self) -> None:
        for operator, theirs, tight, loose in (
            ("maximum", "10", ["10", "9.99", "10.00", 7, "-3"], ["10.01", "1e1", "+9", "", None, 9.5, True, "NaN"]),
            ("minimum", "10", ["10", "10.01", 11], ["9.99", "Infinity", "1_0", "\u0669", [], None]),
            ("before", "2026-03-02T10:00:00Z", ["2026-03-02T10:00:00Z", "2026-03-02T09:59:59Z"],
             ["2026-03-02T10:00:01Z", "2026-03-02T09:00:00+00:00", "2026-03-01", None]),
            ("after", "2026-03-02T10:00:00Z", ["2026-03-02T10:00:00Z", "2026-03-02T10:00:01Z"],
             ["2026-03-02T09:59:59Z", ""]),
            ("one_of", ["a", "b"], [["a"], ["b", "a"], []], [["a", "c"], "a", None]),
            ("none_of", ["a", "b"], [["a", "b"], ["c", "b", "a"]], [["a"], [], "ab", None]),
            ("equals", "EUR", ["EUR"], ["eur", "EUR ", None]),
            ("not_equals", 1, [1, 1.0], [True, "1", 2]),
            ("matches", "^a$", ["^a$"], ["^a", "^a$|b"]),
            ("present", True, [True], [1, "true", False]),
            ("absent", True, [True], [None]),
            ("evidence_verified", ["attestation"], [["attestation"]], [[], True]),
            ("of no registered kind", {"a": 1}, [{"a": 1}], [{"a": 2}]),
        ):
            for value, count in [*((value, 0) for value in tight), *((value, 1) for value in loose)]:
                with self.subTest(operator=operator, theirs=theirs, mine=value):
                    self.assertEqual(len(bound(operator, theirs, value)), count)

    def test_a_bound_that_cannot_be_read_is_kept_by_nothing(self) -> None:
        for theirs in ("1e3", "NaN", 3500.5, None):
            with self.subTest(theirs):
                self.assertEqual(len(bound("maximum", theirs, "1")), 1)

    def test_the_loosest_of_several_counts(self) -> None:
        ceiling, currency = CHILD["constraints"]
        for values, count in ((["900.00", "2000.00"], 0), (["900.00", "9000.00"], 1), (["9000.00", "900.00"], 1)):
            with self.subTest(values):
                several = [{**ceiling, "id": f"ceiling_{place}", "value": value} for place, value in enumerate(values)]
                self.assertEqual(len(faults({**CHILD, "constraints": [*several, currency]})), count)

    def test_one_of_several_must_deny(self) -> None:
        ceiling, currency = CHILD["constraints"]
        soft = {**ceiling, "id": "ceiling_soft", "on_failure": "require_approval"}
        self.assertEqual(faults({**CHILD, "constraints": [soft, ceiling, currency]}), ())


class Hostile(unittest.TestCase):
    """Whatever comes, there is an answer, and a doubt is a reason."""

    @PROPERTY
    @given(documents, documents)
    def test_any_pair(self, parent: Any, child: Any) -> None:
        self.assertTrue(faults(child, parent))

    @PROPERTY
    @given(st.sampled_from(sorted(PARENT)), documents | st.floats())
    def test_any_member_of_either(self, name: str, value: Any) -> None:
        for parent, child in (({**PARENT, name: value}, CHILD), (PARENT, {**CHILD, name: value})):
            self.assertIsInstance(faults(child, parent), tuple)

    def test_depth_without_bottom(self) -> None:
        deep: Any = []
        for _ in range(50_000):
            deep = [deep]
        child = copy.copy(CHILD)
        child["constraints"] = deep
        self.assertEqual(len(faults(child)), 1)

    def test_reasons_keep_values_to_themselves(self) -> None:
        child = changed(CHILD, "constraints.0.value", "HIDDEN")
        parent = changed(PARENT, "constraints.0.id", "x" * 500)
        self.assertNotIn("HIDDEN", "".join(faults(child, parent)))
        self.assertTrue(all(len(fault) < 200 for fault in faults(child, parent)))


if __name__ == "__main__":
    unittest.main()
