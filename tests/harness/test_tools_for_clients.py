"""Surface 4, "Input schemas": what clients and the interfaces behind them drop or refuse, and our list must not hold.

tests/bilateral/test_tool_list.py holds the surface's own rules; these are what is known of clients: a name that grows
past 64 characters behind a prefix, member names with odd characters, keywords and pattern constructs outside the
common subset, arrays that do not say of what, whole numbers beyond what JavaScript holds, lists too long for a model.
"""

import json
import re
import unittest

from a202_mcp.bilateral.arguments import foreign_keywords, read_arguments
from a202_mcp.bilateral.server import INSTRUCTIONS, _listed
from a202_mcp.bilateral.tools import TOOLS
from a202_reference.canonical import MAX_SAFE_INTEGER
from a202_reference.codes import Refusal
from tests.bilateral.test_tool_list import nodes

PREFIX = "mcp__a202__"
LONGEST_NAME = 64
DEEPEST = 4
UNTYPED = {"$.evidence_refs[]", "$.offer_evidence_refs[]"}
"""An identifier or a whole reference: the one place where two types are meant, and `anyOf` is what clients drop."""


class ToolList(unittest.TestCase):

    def each(self):
        for tool in TOOLS:
            for path, node in nodes(tool.input_schema):
                with self.subTest(tool=tool.name, path=path):
                    yield tool, path, node

    def test_names_stay_short_behind_a_clients_prefix(self):
        for tool in TOOLS:
            self.assertRegex(tool.name, r"\A[a-z][a-z0-9_]*\Z")
            self.assertLessEqual(len(PREFIX + tool.name), LONGEST_NAME)

    def test_member_names_are_plain(self):
        for _, _, node in self.each():
            for name in node.get("properties", {}):
                self.assertRegex(name, r"\A[a-z][a-z0-9_]{0,63}\Z")

    def test_only_keywords_that_are_read_here_and_everywhere(self):
        for tool in TOOLS:
            self.assertEqual(list(foreign_keywords(tool.input_schema)), [])

    def test_arrays_say_of_what_and_every_value_has_a_type(self):
        for _, path, node in self.each():
            if node.get("type") == "array":
                self.assertIn("items", node)
            if path not in UNTYPED:
                self.assertIn("type", node)

    def test_enumerations_are_of_distinct_words(self):
        for _, _, node in self.each():
            values = node.get("enum", ["x"])
            self.assertTrue(all(isinstance(value, str) and value for value in values))
            self.assertEqual(len(values), len(set(values)))

    def test_patterns_use_what_every_dialect_has(self):
        for _, _, node in self.each():
            pattern = node.get("pattern", "x")
            self.assertNotRegex(pattern, r"\(\?|\\[A-Za-z]|[*+?}]\+|\[\[")
            re.compile(pattern)

    def test_whole_numbers_stay_within_what_javascript_holds(self):
        for _, _, node in self.each():
            for bound in ("minimum", "maximum"):
                self.assertLessEqual(abs(node.get(bound, 0)), MAX_SAFE_INTEGER)

    def test_schemas_are_shallow_and_the_list_is_short(self):
        for _, path, _ in self.each():
            self.assertLessEqual(path.count(".") + path.count("[]"), DEEPEST)
        listed = [_listed(tool).model_dump(by_alias=True, exclude_none=True) for tool in TOOLS]
        self.assertLess(len(json.dumps(listed)), 48_000)
        self.assertLess(len(INSTRUCTIONS), 2_000)

    def test_hints_are_booleans_where_they_are_given(self):
        for tool in TOOLS:
            hints = _listed(tool).annotations
            self.assertIs(hints.read_only_hint, tool.reads)
            self.assertIs(hints.destructive_hint, False)
            self.assertIs(hints.open_world_hint, False)
            self.assertIn(hints.idempotent_hint, (True, None))


class ForgivingInOneTry(unittest.TestCase):
    """A refusal names the member and what to send, so that the second call is right."""

    def test_what_the_refusal_says_is_enough_to_mend_the_call(self):
        schema = next(tool for tool in TOOLS if tool.name == "issue_mandate").input_schema
        good = {
            "issuer": {"organization_id": "org_one", "principal_id": "prn_one", "key_id": "key_one"},
            "subject": {"agent_id": "agt_one", "key_id": "key_two"}, "represented_organization_id": "org_one",
            "valid_from": "2026-08-20T00:00:00Z", "valid_until": "2026-09-20T00:00:00Z", "status_endpoint": "x",
            "actions": ["offer.accept"], "scope": {"transaction_ids": ["txn_one"]},
            "spending_limit": {"currency": "EUR", "amount": "4000.00"}}
        self.assertEqual(read_arguments(schema, good), good)
        for change, words in (
            ({"spending_limit": {"currency": "EUR", "amount": 4000.5}}, 'amount is a number: send "4000.5" as a'),
            ({"spending_limit": {"currency": "EUR", "amount": 10**21}}, 'send "1000000000000000000000" as a string'),
            ({"issuer": "org_one"}, "issuer is text that cannot be read"),
            ({"actions": "offer.accept"}, "send an array, each entry text"),
            ({"limit": 5}, "limit is not an argument of this tool: leave it out, known are issuer"),
            ({"issuer": {"organization_id": "org_one", "principal_id": "prn_one", "key": "key_one"}},
             "issuer.key_id is required: send text"),
        ):
            with self.subTest(change):
                answer = read_arguments(schema, {**good, **change})
                self.assertIsInstance(answer, Refusal)
                self.assertIn(words, answer.detail.split("\n")[0])

    def test_what_clients_do_to_values_is_read_as_what_was_meant(self):
        schema = next(tool for tool in TOOLS if tool.name == "issue_mandate").input_schema
        good = {
            "issuer": {"organization_id": "org_one", "principal_id": "prn_one", "key_id": "key_one"},
            "subject": {"agent_id": "agt_one", "key_id": "key_two"}, "represented_organization_id": "org_one",
            "valid_from": "x", "valid_until": "x", "status_endpoint": "x", "actions": ["offer.accept"],
            "scope": {"transaction_ids": ["txn_one"]}}
        for change in (
            {"issuer": json.dumps(good["issuer"])}, {"actions": json.dumps(good["actions"])},
            {"scope": json.dumps(good["scope"])}, {"spending_limit": None}, {"spending_limit": "null"},
            {"mandate_id": None}, {"constraints": "null"}, {"idempotency_key": "null"},
        ):
            with self.subTest(change):
                self.assertEqual(read_arguments(schema, {**good, **change}), good)


if __name__ == "__main__":
    unittest.main()
