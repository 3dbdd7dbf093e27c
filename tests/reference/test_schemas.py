"""The schema layer: every document of the wrong shape is refused, whatever the engine makes of it."""

import copy
import json
import tempfile
import unittest
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator, FormatChecker

from a202_reference import schema_compiler, schema_keywords, schema_predicates, schemas
from a202_reference.json_values import json_key, printable, too_deep
from a202_reference.registries import ObjectType
from a202_reference.resources import data_root
from a202_reference.schema_leaves import is_uri
from a202_reference.times import parse_instant
from conformance.cases import CASES
from tests.reference.strategies import PROPERTY, documents

NAMES = json.loads((Path(__file__).parent / "schema_names.json").read_text("utf-8"))
"""What other schemas may point at (objects 10), by file."""

def document(name: str) -> Any:
    return CASES[name].build()


WHOLE = [(case.kind, case.build()) for case in CASES.values()
         if case.positive and case.kind in ("kernel", "mandate", "grade")]


def changed(value: Any, path: tuple[Any, ...], member: Any) -> Any:
    copied = copy.deepcopy(value)
    node = copied
    for step in path[:-1]:
        node = node[step]
    node[path[-1]] = member
    return copied


class NamesResolve(unittest.TestCase):
    """Other people's schemas point at these (objects 10)."""

    def test_every_published_name_resolves_and_compiles(self) -> None:
        registry = schema_compiler.kernel_registry()
        for file, names in NAMES.items():
            address = next(each for each in registry if each.endswith(f"/{file}.schema.json"))
            for name in names:
                with self.subTest(file=file, name=name):
                    self.assertTrue(schema_compiler.compile_schema(f"{address}#/$defs/{name}", registry))

    def test_the_kernel_names_are_all_of_them(self) -> None:
        registry = schema_compiler.kernel_registry()
        address = next(each for each in registry if each.endswith("/commercial-kernel.schema.json"))
        self.assertEqual(set(registry.contents(address)["$defs"]), set(NAMES["commercial-kernel"]))

    def test_every_file_is_a_schema_under_its_own_name(self) -> None:
        for path in (data_root() / "schemas" / "v0.1").glob("*.schema.json"):
            with self.subTest(path.name):
                schema = json.loads(path.read_text("utf-8"))
                Draft202012Validator.check_schema(schema)
                self.assertTrue(schema["$id"].endswith("/" + path.name))


class SameVerdictAsStock(unittest.TestCase):
    """Our keyword table and `jsonschema`'s own, over the whole kernel document, agree."""

    @classmethod
    def setUpClass(cls) -> None:
        registry = schema_compiler.kernel_registry()
        formats = FormatChecker(())
        formats.checks("date-time")(lambda value: not isinstance(value, str) or parse_instant(value) is not None)
        formats.checks("uri")(lambda value: not isinstance(value, str) or is_uri(value))
        cls.stock = {
            kind: Draft202012Validator(
                {"$ref": next(each for each in registry if each.endswith(f"/{file}.schema.json"))},
                registry=registry, format_checker=formats)
            for kind, file in (("kernel", "commercial-kernel"), ("mandate", "commercial-mandate"),
                               ("grade", "conformance-grade"))}
        cls.ours = {"kernel": schemas.object_errors, "mandate": schemas.mandate_errors, "grade": schemas.grade_errors}

    def hold(self, kind: str, value: Any) -> None:
        self.assertEqual(not self.ours[kind](value), self.stock[kind].is_valid(value))

    def test_over_every_fixture(self) -> None:
        for case in CASES.values():
            if case.kind in self.ours and "line-feed" not in case.name:  # there `$` differs, on purpose
                with self.subTest(case.name):
                    self.hold(case.kind, case.build())

    @PROPERTY
    @given(st.data())
    def test_over_altered_fixtures(self, data: st.DataObject) -> None:
        kind, whole = data.draw(st.sampled_from(WHOLE))
        path = data.draw(st.sampled_from(list(every_path(whole))))
        self.hold(kind, changed(whole, path, data.draw(documents | st.floats() | st.sampled_from(PARTS))))


class YesOrNoAsTheReasonsHaveIt(unittest.TestCase):
    """The predicate of a schema, its reasons, and `jsonschema`'s own table agree, keyword by keyword."""

    SCHEMAS = (
        {"properties": {"a": {"type": "integer", "minimum": 1}, "b": True, "c": False}},
        {"properties": {"a": True}, "additionalProperties": False},
        {"properties": {"a": True}, "additionalProperties": {"type": ["string", "null"]}},
        {"additionalProperties": {"type": "boolean"}, "patternProperties": {"^a": {"type": "number"}, "b$": True}},
        {"type": "object", "required": ["a"], "properties": {"a": {"minimum": 1}, "b": True},
         "additionalProperties": False},
        {"type": "string", "pattern": "^a"},
        {"propertyNames": {"maxLength": 1}},
        {"items": {"type": ["array", "object"], "minItems": 1}},
        {"prefixItems": [{"const": "a"}, False], "items": {"enum": ["a", 1, None]}},
        {"allOf": [{"type": "string"}, {"pattern": "^a"}]},
        {"allOf": [{"minLength": 2}], "type": "string", "maxLength": 3},
        {"anyOf": [{"type": "string"}, {"required": ["a"]}, {"maxItems": 1}]},
        {"anyOf": [False, {"const": 1}]},
        {"oneOf": [{"type": "number"}, {"minimum": 2}, {"type": "object", "maxProperties": 1}]},
        {"if": {"type": "object"}, "then": {"required": ["a"]}, "else": {"type": "array"}},
        {"if": {"required": ["a"]}, "then": False},
        {"if": {"const": {"a": 1}}, "else": {"not": {"type": "object"}}},
        {"not": {"items": {"type": "string"}}, "uniqueItems": True},
    )
    VALUES = st.recursive(
        st.sampled_from([None, True, False, 0, 1, 2, 1.0, 0.5, "", "a", "ab", "ba", "abcd"]),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc") | st.just("ab"), inner))

    def test_every_keyword_is_here(self) -> None:
        named = {keyword for schema in self.SCHEMAS for keyword in schema}
        self.assertLessEqual(schema_keywords.COMPOSITES.keys(), named)
        self.assertEqual(schema_keywords.COMPOSITES.keys() - {"then", "else"}, schema_predicates.COMPOSITES.keys())

    @PROPERTY
    @given(st.sampled_from(SCHEMAS), VALUES)
    def test_over_any_value(self, schema: Any, value: Any) -> None:
        resource = schema_compiler.DRAFT202012.create_resource({"$id": "urn:test", **schema})
        compiled = schema_compiler.compile_schema(
            "urn:test", schema_compiler.kernel_registry().with_resource("urn:test", resource))
        assert isinstance(compiled, schema_keywords.Compiled)
        expected = Draft202012Validator(schema).is_valid(value)
        self.assertEqual(compiled.accepts(value), expected)
        self.assertEqual(not schema_keywords.walk(compiled, value), expected)

    @PROPERTY
    @given(st.data())
    def test_over_altered_fixtures(self, data: st.DataObject) -> None:
        kind, whole = data.draw(st.sampled_from(WHOLE))
        path = data.draw(st.sampled_from(list(every_path(whole))))
        value = changed(whole, path, data.draw(documents | st.floats() | st.sampled_from(PARTS)))
        schema = {"mandate": schemas.mandate_schema, "grade": schemas.grade_schema}.get(
            kind, lambda: schemas.object_schema(ObjectType(whole["object_type"])))()
        self.assertEqual(schema.is_valid(value), not schema_keywords.walk(schema._schema, value))


def every_path(value: Any, path: tuple[Any, ...] = ()) -> Any:
    if path:
        yield path
    for step, member in value.items() if isinstance(value, dict) else enumerate(
            value if isinstance(value, list) else ()):
        yield from every_path(member, (*path, step))


def at(value: Any, path: tuple[Any, ...]) -> Any:
    for step in path:
        value = value[step]
    return value


PARTS = [at(whole, path) for _, whole in WHOLE for path in every_path(whole)]


class StricterThanLibraries(unittest.TestCase):
    """Design override 11: real times, real addresses, and no line feed after a pattern's end."""

    def test_no_string_with_a_pattern_may_end_in_a_line_feed(self) -> None:
        offer = document("valid-offer")
        for path in (("id",), ("content_hash",), ("created_by", "agent_id"), ("payload", "session_id"),
                     ("payload", "terms", "profile"), ("payload", "terms", "core", "unit_code"),
                     ("payload", "terms", "core", "total", "amount"), ("signatures", 0, "key_id")):
            with self.subTest(path):
                altered = changed(offer, path, at(offer, path) + "\n")
                self.assertNotEqual(schemas.object_errors(altered), ())

    def test_times(self) -> None:
        offer = document("valid-offer")
        for text, good in (
            ("2026-03-02T10:00:00Z", True), ("2026-03-02T10:00:00.123456789Z", True), ("2024-02-29T00:00:00Z", True),
            ("2026-02-29T00:00:00Z", False), ("2026-03-02T24:00:00Z", False), ("2026-03-02T10:00:60Z", False),
            ("2026-03-02 10:00:00Z", False), ("2026-03-02t10:00:00Z", False), ("2026-03-02T10:00:00z", False),
            ("2026-03-02T10:00:00+00:00", False), ("2026-03-02T10:00Z", False), ("20260302T100000Z", False),
            ("2026-03-02T10:00:00Z\n", False), ("\u0662026-03-02T10:00:00Z", False), ("", False), ("soon", False),
        ):
            with self.subTest(text):
                errors = schemas.object_errors(changed(offer, ("created_at",), text))
                self.assertEqual(errors == (), good)

    def test_addresses(self) -> None:
        agent = document("valid-agent")
        addresses = json.loads((Path(__file__).parent / "addresses.json").read_text("utf-8"))
        for text, good in [(text, kind == "good") for kind, texts in addresses.items() for text in texts]:
            with self.subTest(text):
                errors = schemas.object_errors(changed(agent, ("payload", "endpoint"), text))
                self.assertEqual(errors == (), good)

    def test_numbers_are_json_numbers(self) -> None:
        offer = document("valid-offer")
        for version, good in ((1, True), (1.0, True), (True, False), ("1", False), (1.5, False), (0, False)):
            with self.subTest(version):
                self.assertEqual(schemas.object_errors(changed(offer, ("version",), version)) == (), good)

    def test_equal_items_are_equal_as_json(self) -> None:
        self.assertEqual(json_key([1, {"a": 1, "b": [2]}]), json_key([1.0, {"b": [2.0], "a": 1}]))
        self.assertNotEqual(json_key(1), json_key(True))
        self.assertNotEqual(json_key({"a": None}), json_key({}))


class Messages(unittest.TestCase):
    """They say where and what, shortly, and repeat nothing of the document."""

    def test_they_name_place_and_rule(self) -> None:
        offer = document("valid-offer")
        for path, member, expected in (
            (("payload", "terms", "core", "total", "amount"), 3, "payload.terms.core.total.amount: must be of type"),
            (("signatures", 0, "purpose"), "x", "signatures[0].purpose: is not one of the registered values"),
            (("payload", "evidence_refs"), [{}], "payload.evidence_refs[0]: lacks content_hash"),
            (("payload", "valid_until"), "never", "payload.valid_until: must be an RFC 3339 date-time"),
            (("surplus",), 1, "document: has members that are not allowed: surplus"),
        ):
            with self.subTest(path):
                errors = schemas.object_errors(changed(offer, path, member))
                self.assertEqual(len(errors), 1)
                self.assertTrue(errors[0].startswith(expected), errors[0])

    def test_they_are_few_and_short_and_keep_values_to_themselves(self) -> None:
        offer = document("valid-offer")
        marked = {name: "HIDDEN" * 200 if name != "object_type" else "offer" for name in offer}
        marked |= {f"surplus_{number:03}" + "x" * 300: "HIDDEN" for number in range(40)}
        errors = schemas.object_errors(marked)
        self.assertTrue(0 < len(errors) <= schemas.MAX_ERRORS)
        self.assertTrue(all(len(error) <= schemas.MAX_MESSAGE and error.isprintable() for error in errors))
        self.assertNotIn("HIDDEN", "".join(errors))

    def test_names_from_documents_are_made_printable(self) -> None:
        self.assertEqual(printable("a\x1b[31m\u202e"), r"a\x1b[31m\u202e")
        self.assertEqual(len(printable("n" * 500)), 40)


class Hostile(unittest.TestCase):
    """Every value gets an answer."""

    @PROPERTY
    @given(documents)
    def test_any_json_value(self, value: Any) -> None:
        for errors in (schemas.object_errors(value), schemas.mandate_errors(value), schemas.grade_errors(value)):
            self.assertTrue(errors)

    @PROPERTY
    @given(st.sampled_from([member.value for member in ObjectType]), documents)
    def test_any_payload_of_any_type(self, object_type: str, value: Any) -> None:
        errors = schemas.object_errors({"object_type": object_type, "payload": value, "signatures": value})
        self.assertTrue(errors)

    def test_depth_without_bottom(self) -> None:
        deep: Any = []
        for _ in range(100_000):
            deep = [deep]
        offer = document("valid-offer")
        self.assertTrue(schemas.object_errors(changed(offer, ("payload", "evidence_refs"), [deep, deep])))
        self.assertTrue(schemas.object_errors(deep))
        self.assertTrue(too_deep(deep))

    def test_depth_of_64_is_no_fault(self) -> None:
        level: Any = 1
        for _ in range(64):
            level = [level]
        self.assertFalse(too_deep(level))
        self.assertTrue(too_deep([level]))


class BrokenSchemas(unittest.TestCase):
    """Nothing is judged by a schema that is not understood whole."""

    def refusal(self, schema: Any) -> str:
        registry = schema_compiler.kernel_registry()
        resource = schema_compiler.DRAFT202012.create_resource({"$id": "urn:test", **schema})
        with self.assertRaises(schema_compiler.BrokenSchemaError) as caught:
            schema_compiler.compile_schema("urn:test", registry.with_resource("urn:test", resource))
        return str(caught.exception)

    def test_each_fault_is_named(self) -> None:
        for schema, words in (
            ({"$ref": "urn:elsewhere"}, "leads nowhere"),
            ({"$ref": "#/$defs/none"}, "leads nowhere"),
            ({"properties": {"child": {"$ref": "#"}}}, "leads back into itself"),
            ({"reqired": ["a"]}, "reqired is not supported"),
            ({"unevaluatedProperties": False}, "unevaluatedProperties is not supported"),
            ({"$dynamicRef": "#a"}, "$dynamicRef is not supported"),
            ({"pattern": "("}, "does not compile"),
            ({"pattern": r"(?=a)b"}, "does not compile"),
            ({"items": 7}, "neither an object nor a boolean"),
        ):
            with self.subTest(words):
                self.assertIn(words, self.refusal(schema))

    def test_a_file_that_is_no_schema(self) -> None:
        for text, words in (("[]", "names itself"), ("{", "not JSON"), ('{"a":1,"a":2}', "twice")):
            with self.subTest(text), temporary_file(text) as path:
                with self.assertRaises(schema_compiler.BrokenSchemaError) as caught:
                    schema_compiler.read_schema(path)
                self.assertIn(words, str(caught.exception))

    def test_our_patterns_end_where_both_engines_agree(self) -> None:
        for text in schema_compiler._reviewed_patterns():
            with self.subTest(text):
                inner = text.replace(r"\$", "").removesuffix("$")
                self.assertNotIn("$", inner)
                schema_compiler._matcher(text)


@contextmanager
def temporary_file(text: str) -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "some.schema.json"
        path.write_text(text, "utf-8")
        yield path


if __name__ == "__main__":
    unittest.main()
