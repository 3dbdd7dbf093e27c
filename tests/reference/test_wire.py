"""Design, "Parse once"; D-1: every text gets an answer, and what is ambiguous is refused before it is read."""

import json
import unittest

from hypothesis import given
from hypothesis import strategies as st

from a202_reference.wire import Numbers, Unreadable, has_lone_surrogate, read_json
from tests.reference.strategies import PROPERTY, SAFE, documents

REFUSED = {
    "a name twice": '{"a":1,"a":1}',
    "a name twice, escaped differently": '{"a":1,"\\u0061":2}',
    "a name twice, in surrogate escapes": '{"\U0001f600":1,"\\ud83d\\ude00":2}',
    "a name twice, deep inside": '[{"b":{"a":1,"c":2,"a":3}}]',
    "NaN": '{"a":NaN}',
    "Infinity": "Infinity",
    "-Infinity": "[-Infinity]",
    "a fraction": '{"a":1.5}',
    "a whole number with a fraction": "1.0",
    "an exponent": "1e3",
    "a negative exponent": "10E-1",
    "an integer above 2^53 - 1": str(SAFE + 1),
    "an integer below -(2^53 - 1)": str(-SAFE - 1),
    "an integer of 5,000 digits": "9" * 5000,
    "a lone high surrogate": '"\\ud800"',
    "a lone low surrogate": '"\\udfff"',
    "surrogates in the wrong order": '"\\ude00\\ud83d"',
    "a lone surrogate in a name": '{"\\ud800":1}',
    "65 arrays": "[" * 65 + "]" * 65,
    "65 objects": '{"a":' * 65 + "1" + "}" * 65,
    "100,000 arrays": "[" * 100_000 + "]" * 100_000,
    "100,000 arrays left open": "[" * 100_000,
    "nothing": "",
    "white space": " \n",
    "two values": "1 2",
    "a trailing comma": "[1,]",
    "a comment": "[1] // one",
    "single quotes": "{'a':1}",
    "an unquoted name": "{a:1}",
    "a control character in a string": '"\n"',
    "a leading zero": "01",
    "a plus sign": "+1",
    "a leading point": ".5",
    "a byte order mark": "\ufeff{}",
    "a bad escape": '"\\x41"',
}


class Refused(unittest.TestCase):

    def test_each_is_unreadable_as_text_and_as_bytes(self):
        for name, text in REFUSED.items():
            for data in (text, text.encode("utf-8")):
                with self.subTest(name, kind=type(data).__name__):
                    self.assertIsInstance(read_json(data), Unreadable)

    def test_bytes_that_are_no_utf8(self):
        for data in (b'"\xff"', b'"\xc0\x80"', b'"\xed\xa0\x80"', b"\xff\xfe1\x00", '{"a":1}'.encode("utf-16")):
            with self.subTest(data=data):
                self.assertIsInstance(read_json(data), Unreadable)

    def test_the_reason_holds_nothing_of_the_text(self):
        for text in ('{"hunter2":1,"hunter2":2}', '{"hunter2":1.5}', '"hunter2', '{"hunter2":"\\ud800"}'):
            with self.subTest(text=text):
                self.assertNotIn("hunter2", read_json(text).reason)

    def test_size_is_counted_before_parsing(self):
        self.assertEqual(read_json(b"[1,2]", max_bytes=5), [1, 2])
        self.assertIsInstance(read_json(b"[1,2]", max_bytes=4), Unreadable)

    def test_depth_ends_at_64(self):
        for opening, closing in (("[", "]"), ('{"a":', "}")):
            with self.subTest(opening=opening):
                self.assertNotIsInstance(read_json(opening * 64 + "1" + closing * 64), Unreadable)
                self.assertIsInstance(read_json(opening * 65 + "1" + closing * 65), Unreadable)

    def test_depth_counts_levels_not_members(self):
        self.assertEqual(read_json("[" + ",".join(["[]"] * 1000) + "]"), [[]] * 1000)


class Read(unittest.TestCase):

    def test_values(self):
        for text, value in (
            ("null", None), ("true", True), ('"\\ud83d\\ude00"', "\U0001f600"), (str(SAFE), SAFE), (str(-SAFE), -SAFE),
            ("-0", 0), (' {"a" : [ ] } ', {"a": []}), ('{"a":{"b":1},"b":{"a":1}}', {"a": {"b": 1}, "b": {"a": 1}}),
        ):
            with self.subTest(text=text):
                self.assertEqual(read_json(text), value)

    def test_true_is_not_the_number_one(self):
        self.assertIs(read_json("true"), True)
        self.assertIs(type(read_json("1")), int)

    def test_any_numbers_where_a_caller_must_point_at_them(self):
        self.assertEqual(read_json('[1.5,1e3,' + str(SAFE + 1) + "]", numbers=Numbers.ANY), [1.5, 1000.0, SAFE + 1])
        for text in ("1e400", "-1e400", "NaN", "9" * 5000):
            with self.subTest(text=text):
                self.assertIsInstance(read_json(text, numbers=Numbers.ANY), Unreadable)

    @PROPERTY
    @given(documents, st.booleans())
    def test_what_json_writes_is_read(self, value, ascii_only):
        self.assertEqual(read_json(json.dumps(value, ensure_ascii=ascii_only)), value)


class Total(unittest.TestCase):
    """Nothing is raised, whatever comes."""

    @PROPERTY
    @given(st.binary(max_size=60))
    def test_any_bytes(self, data):
        read_json(data)

    @PROPERTY
    @given(st.text(st.characters(), max_size=40), st.sampled_from(list(Numbers)))
    def test_any_text(self, text, numbers):
        read_json(text, numbers=numbers)

    @PROPERTY
    @given(st.text('{}[]":,\\u0123dD8.eE-tnfaN \n', max_size=60))
    def test_nearly_json(self, text):
        value = read_json(text)
        if not isinstance(value, Unreadable):
            self.assertEqual(value, json.loads(text))


class LoneSurrogates(unittest.TestCase):

    def test_found(self):
        for text, lone in (("", False), ("a\u20ac\U0001f600", False), ("\ud800", True), ("a\udfffb", True)):
            with self.subTest(text=ascii(text)):
                self.assertIs(has_lone_surrogate(text), lone)
