"""D-9: constraint paths are `$` and 1 to 16 member names, through objects only; rules 8.1: term paths."""

import unittest

from hypothesis import given

from a202_reference.authority.paths import ABSENT, parse_path, resolve, resolves_in_terms
from tests.reference.strategies import PROPERTY, documents, texts


class Grammar(unittest.TestCase):

    def test_read(self):
        for text, names in (
            ("$.a", ("a",)), ("$.a.b_c.D9", ("a", "b_c", "D9")), ("$.0", ("0",)),
            ("$" + ".a" * 16, ("a",) * 16),
        ):
            with self.subTest(text=text):
                self.assertEqual(parse_path(text), names)

    def test_outside(self):
        for text in (
            "$", "", "a", "$.", "$a", "$..a", "$.a.", "$.a..b", "$.a[0]", "$.a[*]", "$['a']", "$.*", "$.a-b", "$.a b",
            "$.\u00e9", "$.\u0661", "$.a\n", " $.a", "@.a", "$" + ".a" * 17, None, 7, ["$.a"], {}, b"$.a",
        ):
            with self.subTest(text=text):
                self.assertIsNone(parse_path(text))

    @PROPERTY
    @given(texts)
    def test_total(self, text):
        names = parse_path(text)
        self.assertTrue(names is None or text == "$." + ".".join(names))


DOCUMENT = {"a": {"b": None, "c": [{"d": 1}], "0": "x"}, "list": ["y"]}


class Resolving(unittest.TestCase):

    def test_values(self):
        for path, value in (
            ("$.a.b", None), ("$.a.c", [{"d": 1}]), ("$.a.0", "x"), ("$.list", ["y"]), ("$.a.x", ABSENT),
            ("$.x", ABSENT), ("$.a.b.c", ABSENT), ("$.a.0.x", ABSENT),
        ):
            with self.subTest(path=path):
                self.assertEqual(resolve(DOCUMENT, parse_path(path)), value)

    def test_objects_only_no_index_into_arrays(self):
        for path in ("$.list.0", "$.a.c.0", "$.a.c.0.d", "$.a.c.d"):
            with self.subTest(path=path):
                self.assertIs(resolve(DOCUMENT, parse_path(path)), ABSENT)

    @PROPERTY
    @given(documents)
    def test_total(self, document):
        resolve(document, ("a", "b"))


TERMS = {"profile": "p", "core": {"quantity": "20", "unit_name": None}, "profile_terms": {"payment": {"days": 3}}}


class TermPaths(unittest.TestCase):

    def test_leads_somewhere(self):
        for path in (
            "$.terms.core", "$.terms.profile_terms", "$.terms.core.quantity", "$.terms.profile_terms.payment.days",
            "$.terms.core.unit_name",
        ):
            with self.subTest(path=path):
                self.assertTrue(resolves_in_terms(path, TERMS))

    def test_leads_nowhere(self):
        for path in (
            "$.terms", "$.terms.profile", "$.terms.core.price", "$.terms.core.quantity.x", "$.core.quantity",
            "$.proposed_terms.core", "$.terms.core.quantity\n", "$.terms.core.", "$.terms.core[0]", "terms.core", "",
            None,
            7, ["$.terms.core"],
        ):
            with self.subTest(path=path):
                self.assertFalse(resolves_in_terms(path, TERMS))
