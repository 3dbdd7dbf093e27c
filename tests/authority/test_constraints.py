"""Rules 3.4; D-10; design overrides 2 and 3: every operator on every type, absent paths, what cannot be evaluated."""

import unittest

from hypothesis import given
from hypothesis import strategies as st

from a202_reference.authority.constraints import EvidenceStanding, check, evaluate, is_anchored, limit_fault
from a202_reference.documents.mandate import Constraint, Predicate
from a202_reference.registries import ConstraintOperator, ConstraintType
from tests.reference.strategies import PROPERTY, documents

EVERYWHERE = {"present", "absent"}
NUMBERS = EVERYWHERE | {"equals", "not_equals", "one_of", "none_of", "minimum", "maximum"}
SUITS = {
    "commercial.decimal": NUMBERS,
    "commercial.integer": NUMBERS,
    "commercial.string": EVERYWHERE | {"equals", "not_equals", "one_of", "none_of", "matches"},
    "commercial.boolean": EVERYWHERE | {"equals", "not_equals"},
    "commercial.timestamp": EVERYWHERE | {"equals", "not_equals", "before", "after"},
    "commercial.set": EVERYWHERE | {"equals", "not_equals", "one_of", "none_of"},
    "disclosure.path": EVERYWHERE,
    "evidence.reference": EVERYWHERE | {"evidence_verified", "equals", "one_of"},
    "counterparty.reference": EVERYWHERE | {"equals", "not_equals", "one_of", "none_of", "matches"},
    "geography.reference": EVERYWHERE | {"equals", "not_equals", "one_of", "none_of"},
}
"""Rules 3.4, first table."""

VALUES = {
    "commercial.decimal": "20.00", "commercial.integer": "20", "commercial.string": "EUR", "commercial.boolean": True,
    "commercial.timestamp": "2026-08-20T10:00:00Z", "commercial.set": ["a", "b"], "disclosure.path": "x",
    "evidence.reference": "evd_one", "counterparty.reference": "org_south", "geography.reference": "NL",
}
HELD = {
    "evd_one": EvidenceStanding("a" * 64, "attestation", True),
    "evd_two": EvidenceStanding("b" * 64, "inspection_result", True),
    "evd_bad": EvidenceStanding("c" * 64, "attestation", False),
}
SATISFIED, UNSATISFIED, UNEVALUABLE = "satisfied", "unsatisfied", "unevaluable"


def limit_for(kind, operator):
    """A value that suits the operator under the type."""
    value = VALUES[kind]
    return {
        "present": True, "absent": True, "evidence_verified": True, "matches": "^.*$",
        "one_of": value if isinstance(value, list) else [value],
        "none_of": value if isinstance(value, list) else [value],
    }.get(operator, value)


def result_of(kind, operator, limit, *actual, path="$.v"):
    act = {"v": actual[0]} if actual else {}
    return evaluate(kind, Predicate(path, operator, limit), act, HELD.get)[0].value


class SuitedOperators(unittest.TestCase):
    """The first table: which operator suits which type."""

    def test_every_pair(self):
        self.assertEqual(set(SUITS), {kind.value for kind in ConstraintType})
        for kind in ConstraintType:
            for operator in ConstraintOperator:
                with self.subTest(kind=kind.value, operator=operator.value):
                    suits = operator.value in SUITS[kind.value]
                    predicate = Predicate("$.v", operator.value, limit_for(kind.value, operator.value))
                    self.assertEqual(limit_fault(kind.value, predicate) is None, suits)
                    found = result_of(kind.value, operator.value, predicate.value, VALUES[kind.value])
                    self.assertEqual(found != UNEVALUABLE, suits)

    def test_an_absent_path_is_unsatisfied_except_under_absent(self):
        for kind, operators in SUITS.items():
            for operator in operators:
                with self.subTest(kind=kind, operator=operator):
                    expected = SATISFIED if operator == "absent" else UNSATISFIED
                    self.assertEqual(result_of(kind, operator, limit_for(kind, operator)), expected)

    def test_an_unsuited_operator_is_unevaluable_also_where_the_path_is_absent(self):
        for kind, operators in SUITS.items():
            for operator in {each.value for each in ConstraintOperator} - operators:
                with self.subTest(kind=kind, operator=operator):
                    self.assertEqual(result_of(kind, operator, limit_for(kind, operator)), UNEVALUABLE)

    def test_a_null_exists(self):
        for kind in SUITS:
            with self.subTest(kind=kind):
                self.assertEqual(result_of(kind, "present", True, None), SATISFIED)
                self.assertEqual(result_of(kind, "absent", True, None), UNSATISFIED)

    def test_existence_wants_true(self):
        for operator in ("present", "absent"):
            for limit in (False, None, 1, "true", [True], {}):
                for actual in ((), ("x",)):
                    with self.subTest(operator=operator, limit=limit, actual=actual):
                        self.assertEqual(result_of("commercial.string", operator, limit, *actual), UNEVALUABLE)

    def test_unregistered_names(self):
        for kind, operator in (
            ("commercial.colour", "equals"), ("commercial.string", "resembles"), ("", ""), (None, None), ([], {}),
        ):
            with self.subTest(kind=kind, operator=operator):
                self.assertEqual(result_of(kind, operator, "x", "x"), UNEVALUABLE)

    def test_a_path_outside_the_grammar(self):
        for path in ("$", "$.v[0]", "$.v.*", "v", "$" + ".v" * 17, None):
            for operator in ("equals", "present", "absent"):
                with self.subTest(path=path, operator=operator):
                    limit = True if operator != "equals" else "x"
                    self.assertEqual(result_of("commercial.string", operator, limit, "x", path=path), UNEVALUABLE)


TABLE = {
    "commercial.decimal": (
        ("equals", "20", "20.00", SATISFIED), ("equals", "20", 20, SATISFIED), ("equals", 20, "20", SATISFIED),
        ("equals", "20", "20.000000001", UNSATISFIED), ("equals", "0", "-0", SATISFIED),
        ("equals", "0.1", "0.1000000000000000055", UNSATISFIED),
        ("not_equals", "20", "20.00", UNSATISFIED), ("not_equals", "20", "21", SATISFIED),
        ("one_of", ["10", "20"], "20.0", SATISFIED), ("one_of", ["10"], "20", UNSATISFIED),
        ("none_of", ["10", "20"], "20.0", UNSATISFIED), ("none_of", ["10"], "20", SATISFIED),
        ("none_of", [], "20", SATISFIED),
        ("maximum", "4000.00", "4000", SATISFIED), ("maximum", "4000", "4000.000000000000000001", UNSATISFIED),
        ("maximum", "4000", "-1", SATISFIED), ("maximum", "9" * 40, "9" * 40, SATISFIED),
        ("minimum", "2500", "2500.00", SATISFIED), ("minimum", "2500", "2499.999999999999999999", UNSATISFIED),
        ("minimum", "2500", "10000", SATISFIED),
    ),
    "commercial.integer": (
        ("equals", "20", 20, SATISFIED), ("maximum", 20, "20", SATISFIED), ("maximum", "20", "21", UNSATISFIED),
        ("minimum", "-5", "-6", UNSATISFIED), ("one_of", [1, "2"], "2", SATISFIED), ("none_of", [1], 1, UNSATISFIED),
        ("not_equals", "1", "01", UNSATISFIED),
    ),
    "commercial.string": (
        ("equals", "EUR", "EUR", SATISFIED), ("equals", "EUR", "eur", UNSATISFIED),
        ("equals", "20", "20.00", UNSATISFIED), ("equals", "", "", SATISFIED),
        ("equals", "\u00e9", "e\u0301", UNSATISFIED), ("not_equals", "EUR", "USD", SATISFIED),
        ("not_equals", "EUR", "EUR", UNSATISFIED), ("one_of", ["EUR", "USD"], "USD", SATISFIED),
        ("one_of", ["EUR"], "USD", UNSATISFIED), ("none_of", ["EUR"], "USD", SATISFIED),
        ("none_of", ["EUR"], "EUR", UNSATISFIED),
        ("matches", "^EU", "EUR", SATISFIED), ("matches", "^U", "EUR", UNSATISFIED),
        ("matches", "U", "EUR", SATISFIED), ("matches", "^EUR$", "EUR\n", UNSATISFIED),
        ("matches", "^[a-z\u00e9]+$", "caf\u00e9", SATISFIED), ("matches", "", "", SATISFIED),
        ("matches", "a" * 512, "a" * 512, SATISFIED), ("matches", "^a*$", "a" * 4096, SATISFIED),
    ),
    "commercial.boolean": (
        ("equals", True, True, SATISFIED), ("equals", True, False, UNSATISFIED), ("equals", False, False, SATISFIED),
        ("not_equals", True, False, SATISFIED), ("not_equals", False, False, UNSATISFIED),
    ),
    "commercial.timestamp": (
        ("equals", "2026-08-20T10:00:00Z", "2026-08-20T10:00:00.000Z", SATISFIED),
        ("equals", "2026-08-20T10:00:00Z", "2026-08-20T10:00:00.1Z", UNSATISFIED),
        ("not_equals", "2026-08-20T10:00:00Z", "2026-08-20T10:00:01Z", SATISFIED),
        ("before", "2026-08-20T10:00:00Z", "2026-08-20T09:59:59Z", SATISFIED),
        ("before", "2026-08-20T10:00:00Z", "2026-08-20T10:00:00Z", UNSATISFIED),
        ("after", "2026-08-20T10:00:00Z", "2026-08-20T10:00:01Z", SATISFIED),
        ("after", "2026-08-20T10:00:00Z", "2026-08-20T10:00:00Z", UNSATISFIED),
    ),
    "commercial.set": (
        ("equals", ["a", "b"], ["b", "a", "a"], SATISFIED), ("equals", ["a"], ["a", "b"], UNSATISFIED),
        ("equals", "a", ["a"], SATISFIED), ("equals", ["a"], "a", SATISFIED), ("equals", [], [], SATISFIED),
        ("equals", [1], [True], UNSATISFIED), ("equals", [1], ["1"], UNSATISFIED), ("equals", [None], None, SATISFIED),
        ("not_equals", ["a"], ["b"], SATISFIED), ("not_equals", ["a", "b"], ["b", "a"], UNSATISFIED),
        ("one_of", ["a", "b"], ["a"], SATISFIED), ("one_of", ["a", "b"], ["a", "c"], UNSATISFIED),
        ("one_of", ["a"], [], UNSATISFIED), ("one_of", ["a", "b"], "b", SATISFIED),
        ("none_of", ["a", "b"], ["c"], SATISFIED), ("none_of", ["a", "b"], ["c", "a"], UNSATISFIED),
        ("none_of", ["a"], [], SATISFIED), ("none_of", [], ["a"], SATISFIED),
    ),
    "disclosure.path": (
        ("present", True, "x", SATISFIED), ("absent", True, "x", UNSATISFIED), ("present", True, {}, SATISFIED),
    ),
    "evidence.reference": (
        ("evidence_verified", True, "evd_one", SATISFIED), ("evidence_verified", True, "evd_bad", UNSATISFIED),
        ("evidence_verified", True, "evd_missing", UNSATISFIED),
        ("evidence_verified", True, ["evd_one", "evd_two"], SATISFIED),
        ("evidence_verified", True, ["evd_one", "evd_bad"], UNSATISFIED),
        ("evidence_verified", ["attestation"], "evd_one", SATISFIED),
        ("evidence_verified", ["attestation"], ["evd_one", "evd_two"], UNSATISFIED),
        ("evidence_verified", True, {"evidence_id": "evd_one", "content_hash": "a" * 64}, SATISFIED),
        ("evidence_verified", True, {"evidence_id": "evd_one", "content_hash": "b" * 64}, UNSATISFIED),
        ("equals", "evd_one", "evd_one", SATISFIED), ("equals", "evd_one", "evd_two", UNSATISFIED),
        ("equals", "evd_one", {"evidence_id": "evd_one", "content_hash": "a" * 64}, SATISFIED),
        ("one_of", ["evd_one", "evd_two"], "evd_two", SATISFIED),
        ("one_of", ["evd_one"], ["evd_one", "evd_two"], UNSATISFIED),
        ("present", True, "evd_one", SATISFIED),
    ),
    "counterparty.reference": (
        ("equals", "org_south", "org_south", SATISFIED), ("equals", "org_south", "org_west", UNSATISFIED),
        ("not_equals", "org_south", "org_west", SATISFIED), ("one_of", ["org_south"], "org_south", SATISFIED),
        ("none_of", ["org_south"], "org_south", UNSATISFIED), ("matches", "^org_so", "org_south", SATISFIED),
        ("matches", "^org_no", "org_south", UNSATISFIED),
    ),
    "geography.reference": (
        ("equals", "NL", "NL", SATISFIED), ("equals", "NL", "DE", UNSATISFIED), ("not_equals", "NL", "DE", SATISFIED),
        ("one_of", ["NL", "DE"], "DE", SATISFIED), ("none_of", ["NL"], "NL", UNSATISFIED),
    ),
}
"""For each type: operator, limit, the act's value, and the result."""

UNREADABLE = {
    "commercial.decimal": (
        *(("maximum", "4000", actual) for actual in (
            "4e3", "1_000", "+4000", "NaN", "Infinity", "-Infinity", "", " 1", "1 ", ".5", "9" * 41, True, None, 1.5,
            ["1"], {"amount": "1"}, "1,000", "\u0661")),
        *(("maximum", limit, "1") for limit in ("4e3", "NaN", "", True, None, 1.5, ["1"], {})),
        ("one_of", "20", "20"), ("one_of", ["20", "NaN"], "20"), ("one_of", {"20": 1}, "20"), ("none_of", "20", "10"),
        ("none_of", ["x"], "10"),
    ),
    "commercial.integer": (
        ("maximum", "20", "2.5"), ("maximum", "20", "2.0"), ("maximum", "2.5", "2"), ("equals", "20", "4e3"),
        ("equals", "20", True), ("one_of", ["1.5"], "1"), ("minimum", 1, 1.0),
    ),
    "commercial.string": (
        ("equals", "20", 20), ("equals", 20, "20"), ("equals", "a", None), ("equals", "a", ["a"]),
        ("one_of", "abc", "a"), ("one_of", ["a", 1], "a"), ("none_of", None, "a"),
        ("matches", "(", "a"), ("matches", "(a)\\1", "aa"), ("matches", "(?=a)a", "a"), ("matches", "a{2,1}", "a"),
        ("matches", None, "a"), ("matches", ["a"], "a"), ("matches", "a" * 513, "a"), ("matches", "\ud800", "a"),
        ("matches", "^a", 7), ("matches", "^a*$", "a" * 4097), ("matches", "a", "a\ud800"),
    ),
    "commercial.boolean": (
        ("equals", True, 1), ("equals", True, "true"), ("equals", 1, True), ("equals", "true", True),
        ("not_equals", True, None), ("not_equals", True, 0),
    ),
    "commercial.timestamp": (
        *(("before", "2026-08-20T10:00:00Z", actual) for actual in (
            "2026-08-20T10:00:00", "2026-08-20", "2026-02-30T10:00:00Z", "2026-08-20T10:00:00+00:00", "tomorrow",
            1787220000, None)),
        ("after", "2026-08-20", "2026-08-20T10:00:00Z"), ("equals", None, "2026-08-20T10:00:00Z"),
    ),
    "commercial.set": (
        ("equals", ["a"], [["a"]]), ("equals", ["a"], {"a": 1}), ("equals", ["a"], [{"a": 1}]),
        ("equals", [["a"]], ["a"]), ("one_of", "a", ["a"]), ("none_of", {"a": 1}, ["a"]), ("equals", [1.5], [1]),
        ("equals", [1], [1.5]),
    ),
    "evidence.reference": (
        ("evidence_verified", True, []), ("evidence_verified", True, "agt_one"), ("evidence_verified", True, None),
        ("evidence_verified", True, {"evidence_id": "evd_one"}),
        ("evidence_verified", True, {"evidence_id": "evd_one", "content_hash": "A" * 64}),
        ("evidence_verified", True, ["evd_one", 7]), ("evidence_verified", False, "evd_one"),
        ("evidence_verified", ["hearsay"], "evd_one"), ("evidence_verified", [], "evd_one"),
        ("evidence_verified", [["attestation"]], "evd_one"), ("evidence_verified", {"attestation": 1}, "evd_one"),
        ("equals", "org_one", "evd_one"),
        ("equals", None, "evd_one"), ("one_of", "evd_one", "evd_one"), ("one_of", [["evd_one"]], "evd_one"),
    ),
    "counterparty.reference": (
        ("equals", "org_south", "agt_south"), ("equals", "south", "org_south"),
        ("one_of", ["org_south", "x"], "org_south"),
        ("matches", "org", "south"), ("not_equals", "org_south", None),
    ),
    "geography.reference": (
        ("equals", "NL", "nl"), ("equals", "NL", "NLD"), ("equals", "nl", "NL"), ("equals", "NL", "N1"),
        ("one_of", ["NL", "Holland"], "NL"), ("none_of", ["NL"], None), ("equals", "\u00c4\u00d6", "\u00c4\u00d6"),
    ),
}
"""For each type: operator, limit and the act's value, of which one cannot be read under the type."""


class Operators(unittest.TestCase):
    """The second table: when an operator is satisfied."""

    def test_values(self):
        for kind, rows in TABLE.items():
            for operator, limit, actual, result in rows:
                with self.subTest(kind=kind, operator=operator, limit=limit, actual=actual):
                    self.assertEqual(result_of(kind, operator, limit, actual), result)

    def test_every_suited_operator_is_in_the_table(self):
        for kind, operators in SUITS.items():
            with self.subTest(kind=kind):
                self.assertEqual(operators - {row[0] for row in TABLE[kind]} - EVERYWHERE, set())

    def test_unreadable(self):
        for kind, rows in UNREADABLE.items():
            for operator, limit, actual in rows:
                with self.subTest(kind=kind, operator=operator, limit=limit, actual=actual):
                    self.assertEqual(result_of(kind, operator, limit, actual), UNEVALUABLE)

    def test_a_catastrophic_pattern_is_answered(self):
        # A backtracking engine would not come back from this one.
        for pattern in ("^(a+)+$", "^(a|aa)+$", "(x+x+)+y", "^(([a-z])+.)+[A-Z]([a-z])+$"):
            with self.subTest(pattern=pattern):
                self.assertEqual(result_of("commercial.string", "matches", pattern, "a" * 4000 + "!"), UNSATISFIED)

    def test_a_pattern_too_large_for_the_engine(self):
        self.assertEqual(
            result_of("commercial.string", "matches", "((((a{100}){100}){100}){100})", "a"), UNEVALUABLE)

    def test_anchoring_is_the_issuers_choice(self):
        for pattern, anchored in (("^a$", True), ("a", False), ("^a", False), ("a$", False), (None, False)):
            with self.subTest(pattern=pattern):
                self.assertIs(is_anchored(pattern), anchored)

    @PROPERTY
    @given(st.sampled_from(sorted(SUITS)), st.sampled_from([each.value for each in ConstraintOperator]), documents,
        documents)
    def test_total(self, kind, operator, limit, actual):
        self.assertIn(result_of(kind, operator, limit, actual), (SATISFIED, UNSATISFIED, UNEVALUABLE))

    @PROPERTY
    @given(st.integers(-10**30, 10**30), st.integers(-10**30, 10**30))
    def test_numbers_compare_as_numbers(self, limit, actual):
        for operator, holds in (
            ("equals", actual == limit), ("not_equals", actual != limit), ("maximum", actual <= limit),
            ("minimum", actual >= limit),
        ):
            expected = SATISFIED if holds else UNSATISFIED
            self.assertEqual(result_of("commercial.decimal", operator, str(limit), f"{actual}.0"), expected)


class CodesOfFailure(unittest.TestCase):
    """The third table: what a failing constraint says."""

    def code(self, kind, on_failure, operator="equals", limit="x", actual="y"):
        constraint = Constraint("c_one", kind, Predicate("$.v", operator, limit), on_failure)
        found = check(constraint, {"v": actual}, HELD.get)
        return found.code, found.denies

    def test_unsatisfied(self):
        for kind, operator, limit, actual, code in (
            ("disclosure.path", "absent", True, "x", "A202-DISCLOSURE-DENIED"),
            ("evidence.reference", "evidence_verified", True, "evd_bad", "A202-EVIDENCE-UNVERIFIED"),
            ("commercial.decimal", "maximum", "1", "2", "A202-POLICY-DENIED"),
            ("commercial.integer", "maximum", "1", "2", "A202-POLICY-DENIED"),
            ("commercial.string", "equals", "x", "y", "A202-POLICY-DENIED"),
            ("commercial.boolean", "equals", True, False, "A202-POLICY-DENIED"),
            ("commercial.timestamp", "before", "2026-08-20T10:00:00Z", "2026-08-20T10:00:00Z", "A202-POLICY-DENIED"),
            ("commercial.set", "equals", ["a"], ["b"], "A202-POLICY-DENIED"),
            ("counterparty.reference", "equals", "org_one", "org_two", "A202-POLICY-DENIED"),
            ("geography.reference", "equals", "NL", "DE", "A202-POLICY-DENIED"),
        ):
            with self.subTest(kind=kind):
                self.assertEqual(self.code(kind, "deny", operator, limit, actual), (code, True))
                self.assertEqual(
                    self.code(kind, "require_approval", operator, limit, actual), ("A202-APPROVAL-REQUIRED", False))

    def test_satisfied_says_nothing(self):
        for on_failure in ("deny", "require_approval"):
            self.assertEqual(self.code("commercial.string", on_failure, actual="x"), (None, False))

    def test_unevaluable_always_denies(self):
        for kind, operator, limit, actual in (
            ("commercial.decimal", "maximum", "1", "NaN"), ("disclosure.path", "equals", "x", "x"),
            ("evidence.reference", "evidence_verified", True, 7), ("commercial.colour", "equals", "x", "x"),
            ("commercial.string", "resembles", "x", "x"), ("commercial.string", "matches", "(", "x"),
        ):
            for on_failure in ("deny", "require_approval"):
                with self.subTest(kind=kind, operator=operator, on_failure=on_failure):
                    self.assertEqual(
                        self.code(kind, on_failure, operator, limit, actual), ("A202-MANDATE-CONSTRAINT-UNKNOWN", True))

    def test_the_report_of_one_constraint(self):
        constraint = Constraint("c_one", "commercial.string", Predicate("$.v", "equals", "x"), "deny")
        self.assertEqual(
            check(constraint, {"v": "y"}, HELD.get).document.keys(),
            {"id", "path", "on_failure", "result", "code", "detail"})
