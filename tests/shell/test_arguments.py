"""Surface 4: how arguments are read against a tool's schema."""

import json
import unittest

from hypothesis import given, settings
from hypothesis import strategies as st

from a202_mcp.bilateral.arguments import foreign_keywords, read_arguments
from a202_mcp.bilateral.tools import TOOLS
from a202_reference.codes import Code, Refusal

MONEY = {
    "type": "object",
    "description": "money",
    "properties": {
        "currency": {"type": "string", "description": "c"},
        "amount": {"type": "string", "description": "a", "pattern": r"(0|[1-9][0-9]*)(\.[0-9]{1,18})?"},
    },
    "required": ["currency", "amount"],
    "additionalProperties": False,
}
SCHEMA = {
    "type": "object",
    "properties": {
        "txn": {"type": "string", "description": "id", "pattern": "^txn_[a-z]+$", "maxLength": 12},
        "total": MONEY,
        "limit": {"type": "integer", "description": "l", "minimum": 1, "maximum": 100},
        "quiet": {"type": "boolean", "description": "q"},
        "side": {"type": "string", "description": "s", "enum": ["buyer", "supplier"]},
        "note": {"type": "string", "description": "n", "minLength": 2},
        "parts": {
            "type": "array", "description": "p", "minItems": 1,
            "items": {
                "type": "object", "description": "part",
                "properties": {"name": {"type": "string", "description": "n"}, "price": MONEY},
                "required": ["name"],
            },
        },
        "terms": {"type": "object", "description": "any terms"},
        "value": {"description": "anything"},
    },
    "required": ["txn"],
    "additionalProperties": False,
}
EUR = {"currency": "EUR", "amount": "3200.00"}

READ = {
    "what fits is passed on": ({"txn": "txn_a", "total": EUR}, {"txn": "txn_a", "total": EUR}),
    "null for an optional member is absent": ({"txn": "txn_a", "total": None, "limit": None}, {"txn": "txn_a"}),
    "the text null for an optional member is absent": ({"txn": "txn_a", "terms": "null"}, {"txn": "txn_a"}),
    "null below the root is absent": ({"txn": "txn_a", "parts": [{"name": "x", "price": None}]},
                                      {"txn": "txn_a", "parts": [{"name": "x"}]}),
    "an object sent as text is that object": ({"txn": "txn_a", "total": json.dumps(EUR)},
                                              {"txn": "txn_a", "total": EUR}),
    "an array sent as text is that array": ({"txn": "txn_a", "parts": '[{"name": "x"}]'},
                                            {"txn": "txn_a", "parts": [{"name": "x"}]}),
    "an entry sent as text is that entry": ({"txn": "txn_a", "parts": ['{"name": "x"}']},
                                            {"txn": "txn_a", "parts": [{"name": "x"}]}),
    "a member of text that was itself text": (
        {"txn": "txn_a", "parts": json.dumps([{"name": "x", "price": json.dumps(EUR)}])},
        {"txn": "txn_a", "parts": [{"name": "x", "price": EUR}]}),
    "an object without declared members as text": ({"txn": "txn_a", "terms": '{"n": 1.5}'},
                                                   {"txn": "txn_a", "terms": {"n": 1.5}}),
    "an object without declared members is left alone": (
        {"txn": "txn_a", "terms": {"n": None, "deep": '{"a":1}'}},
        {"txn": "txn_a", "terms": {"n": None, "deep": '{"a":1}'}}),
    "an open object keeps what it does not declare": ({"txn": "txn_a", "parts": [{"name": "x", "more": 1}]},
                                                      {"txn": "txn_a", "parts": [{"name": "x", "more": 1}]}),
    "a member without a type takes any value": ({"txn": "txn_a", "value": [1, None]},
                                                {"txn": "txn_a", "value": [1, None]}),
    "digits are an integer": ({"txn": "txn_a", "limit": "12"}, {"txn": "txn_a", "limit": 12}),
    "a whole fraction is an integer": ({"txn": "txn_a", "limit": 12.0}, {"txn": "txn_a", "limit": 12}),
}

REFUSED = {
    "no object": ([1], "The arguments are an array: send an object with txn."),
    "nothing at all": (None, "txn is required: send text of 0 to 12 characters of the form ^txn_[a-z]+$."),
    "null for a required member": ({"txn": None}, "txn is required: send text"),
    "an unknown member names the known": (
        {"txn": "txn_a", "force": True},
        "force is not an argument of this tool: leave it out, known are txn, total, limit,"),
    "an unknown member of a closed object": (
        {"txn": "txn_a", "total": {**EUR, "vat": "1"}},
        "total.vat is not a member of total: leave it out, known are currency, amount."),
    "an unknown member is quoted where it is no name": ({"txn": "txn_a", "a\nb": 1}, r'"a\nb" is not an argument'),
    "a long unknown member is not repeated": ({"txn": "txn_a", "x" * 99: 1}, "text of 99 characters is not"),
    "a missing member below the root": ({"txn": "txn_a", "total": {"currency": "EUR"}}, "total.amount is required"),
    "a whole number for an amount": (
        {"txn": "txn_a", "total": {"currency": "EUR", "amount": 3200}},
        'total.amount is a number: send "3200" as a string.'),
    "a fraction for an amount": (
        {"txn": "txn_a", "total": {"currency": "EUR", "amount": 3200.5}},
        'total.amount is a number: send "3200.5" as a string.'),
    "a large number for an amount has no exponent": (
        {"txn": "txn_a", "total": {"currency": "EUR", "amount": 1e22}},
        'total.amount is a number: send "10000000000000000000000" as a string.'),
    "a number that fits no amount": (
        {"txn": "txn_a", "total": {"currency": "EUR", "amount": -1}},
        r"total.amount is a number: send text of the form (0|[1-9][0-9]*)(\.[0-9]{1,18})?."),
    "a truth value for text": ({"txn": True}, "txn is true or false: send text"),
    "an object for text": ({"txn": {}}, "txn is an object: send text"),
    "text of another form": ({"txn": "mnd_a"}, 'txn is "mnd_a": send text'),
    "a line feed after the form": ({"txn": "txn_a\n"}, r'txn is "txn_a\n": send text'),
    "text that is too long": ({"txn": "txn_" + "a" * 9}, "txn has 13 characters: send text of 0 to 12 characters"),
    "text that is too short": ({"txn": "txn_a", "note": "x"}, "note has 1 characters: send text of at least 2"),
    "a word that is not listed": ({"txn": "txn_a", "side": "seller"},
                                  'side is "seller": send one of "buyer", "supplier".'),
    "an integer out of range": ({"txn": "txn_a", "limit": 101},
                                "limit is out of range: send a whole number from 1 up to 100."),
    "a fraction for an integer": ({"txn": "txn_a", "limit": 1.5}, "limit is 1.5: send a whole number"),
    "words for an integer": ({"txn": "txn_a", "limit": "ten"}, 'limit is "ten": send a whole number'),
    "a truth value for an integer": ({"txn": "txn_a", "limit": True}, "limit is true or false: send a whole number"),
    "a number for a truth value": ({"txn": "txn_a", "quiet": 1}, "quiet is a number: send true or false."),
    "an array for an object": ({"txn": "txn_a", "total": []},
                               "total is an array: send an object with currency, amount."),
    "an object for an array": ({"txn": "txn_a", "parts": {}}, "parts is an object: send an array"),
    "too few entries": ({"txn": "txn_a", "parts": []}, "parts has too few entries: send an array of at least 1"),
    "null for an entry": ({"txn": "txn_a", "parts": [{"name": "x"}, None]}, "parts[1] is null: send an object"),
    "text that is no JSON for an object": ({"txn": "txn_a", "terms": "{"},
                                           "terms is text that cannot be read (the text is not JSON)"),
    "text with one name twice": ({"txn": "txn_a", "terms": '{"a":1,"a":2}'},
                                 "terms is text that cannot be read (a member name occurs twice in one object)"),
    "text that holds another kind": ({"txn": "txn_a", "terms": "[1]"}, "terms is an array: send an object"),
    "text that is text inside": ({"txn": "txn_a", "terms": '"{}"'}, "terms is text: send an object"),
}

_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=8) | st.sampled_from(["null", "{}", "[]", "{", "txn_first_01", "mnd_x_01", "3200", "-1"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=12,
)


class ReadArguments(unittest.TestCase):
    def test_what_is_read(self):
        for rule, (given_arguments, read) in READ.items():
            with self.subTest(rule):
                self.assertEqual(read_arguments(SCHEMA, given_arguments), read)

    def test_what_is_refused_names_the_member_and_what_to_send(self):
        for rule, (given_arguments, sentence) in REFUSED.items():
            with self.subTest(rule):
                refusal = read_arguments(SCHEMA, given_arguments)
                self.assertIsInstance(refusal, Refusal)
                exact = sentence.startswith("total.amount is a number")
                self.assertEqual(refusal.codes, (Code.TERMS_INVALID if exact else Code.POLICY_DENIED,))
                self.assertTrue(refusal.detail.startswith(sentence), refusal.detail)

    def test_every_fault_is_named_up_to_a_number(self):
        refusal = read_arguments(SCHEMA, {"txn": 5, "limit": "x", "parts": [None] * 50})
        self.assertIn("txn is a number", refusal.detail)
        self.assertIn("limit is", refusal.detail)
        self.assertIn("parts[5] is null", refusal.detail)
        self.assertNotIn("parts[6]", refusal.detail)
        self.assertTrue(refusal.detail.endswith("And 44 more faults."))

    def test_arguments_stay_as_they_came(self):
        sent = {"txn": "txn_a", "total": json.dumps(EUR), "limit": "3"}
        read_arguments(SCHEMA, sent)
        self.assertEqual(sent, {"txn": "txn_a", "total": json.dumps(EUR), "limit": "3"})


class ToolSchemas(unittest.TestCase):
    def test_tools_use_no_keyword_that_is_not_read(self):
        for tool in TOOLS:
            with self.subTest(tool.name):
                self.assertEqual(list(foreign_keywords(tool.input_schema)), [])

    def test_foreign_keywords_are_found_at_every_level(self):
        inner = {"type": ["string"], "oneOf": []}
        found = foreign_keywords({"properties": {"a": {"items": inner}}, "title": "x"})
        self.assertEqual(list(found), ["$: title", "$.a[]: oneOf", "$.a[]: type ['string']"])

    @settings(max_examples=60, deadline=None)
    @given(data=st.data())
    def test_whatever_arrives_is_read_or_refused_and_reading_is_stable(self, data):
        tool = data.draw(st.sampled_from(TOOLS))
        names = st.sampled_from(sorted(tool.input_schema["properties"])) | st.text(max_size=5)
        read = read_arguments(tool.input_schema, data.draw(st.dictionaries(names, _JSON, max_size=6) | _JSON))
        if isinstance(read, Refusal):
            self.assertTrue(read.codes)
            self.assertLessEqual(set(read.codes), {Code.POLICY_DENIED, Code.TERMS_INVALID})
        else:
            self.assertLessEqual(read.keys(), tool.input_schema["properties"].keys())
            self.assertEqual(read_arguments(tool.input_schema, read), read)


if __name__ == "__main__":
    unittest.main()
