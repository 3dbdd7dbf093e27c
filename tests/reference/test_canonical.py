"""Rules 1.1, 1.3, D-1: one value has one canonical form, and what has none is refused before it is hashed."""

import hashlib
import json
import unittest

import rfc8785
from hypothesis import given

from a202_reference.canonical import (
    NotCanonicalError,
    canonical_bytes,
    content_bytes,
    content_hash,
    sha256_hex,
    value_hash,
)
from tests.reference.strategies import PROPERTY, SAFE, documents


def nested(levels, leaf=None):
    value = leaf
    for _ in range(levels):
        value = [value]
    return value


class CanonicalForm(unittest.TestCase):
    """RFC 8785."""

    @PROPERTY
    @given(documents)
    def test_equals_rfc8785(self, value):
        self.assertEqual(canonical_bytes(value), rfc8785.dumps(value))

    @PROPERTY
    @given(documents)
    def test_reads_back_as_the_same_value(self, value):
        self.assertEqual(json.loads(canonical_bytes(value)), value)

    def test_known_forms(self):
        for value, form in (
            ({}, b"{}"),
            ([], b"[]"),
            ({"b": 1, "a": [True, False, None]}, b'{"a":[true,false,null],"b":1}'),
            ({"a": -SAFE, "b": SAFE}, b'{"a":-9007199254740991,"b":9007199254740991}'),
            (0, b"0"),
            ("\u20ac$\x0f\nA'B\"\\\"/", b'"\xe2\x82\xac$\\u000f\\nA\'B\\"\\\\\\"/"'),
            ("\x7f\u2028", b'"\x7f\xe2\x80\xa8"'),
        ):
            with self.subTest(value=value):
                self.assertEqual(canonical_bytes(value), form)

    def test_members_are_ordered_by_utf16_units(self):
        # U+1F600 is written D83D DE00 and stands before U+FB33, though its code point is higher.
        value = {"\ufb33": 1, "\U0001f600": 2, "\u20ac": 3, "a": 4, "": 5}
        self.assertEqual(list(json.loads(canonical_bytes(value))), ["", "a", "\u20ac", "\U0001f600", "\ufb33"])

    def test_an_astral_name_deep_inside_orders_its_own_object(self):
        value = {"z": [{"\ufb33": 1, "\U0001f600": 2}], "a": {"b": 1}}
        self.assertEqual(canonical_bytes(value), rfc8785.dumps(value))

    def test_64_levels_have_a_form(self):
        self.assertEqual(canonical_bytes(nested(64, 1)), b"[" * 64 + b"1" + b"]" * 64)


class NoCanonicalForm(unittest.TestCase):
    """D-1: refused, with the place."""

    def test_refused(self):
        for name, value in {
            "a fraction": 1.5,
            "a whole float": 1.0,
            "not a number": float("nan"),
            "infinity": float("inf"),
            "an integer above the limit": SAFE + 1,
            "an integer below the limit": -SAFE - 1,
            "a lone high surrogate": "\ud83d",
            "a lone low surrogate": "\udc00",
            "a lone surrogate in a name": {"\ud800": 1},
            "a lone surrogate beside a non-ASCII name": {"\u20ac": "\ud800"},
            "65 levels": nested(65),
            "65 levels of objects": {"a": nested(64)},
            "a name that is no string": {1: "a"},
            "bytes": b"a",
            "a set": {1},
            "no JSON": object(),
        }.items():
            for place, document in (("alone", value), ("inside", {"a": [value]})):
                with self.subTest(name, place=place), self.assertRaises(NotCanonicalError):
                    canonical_bytes(document)

    def test_the_refusal_names_the_place(self):
        with self.assertRaises(NotCanonicalError) as refused:
            canonical_bytes({"terms": {"core": [{"quantity": 2.5}]}})
        self.assertEqual(refused.exception.path, "$.terms.core[0].quantity")

    def test_endless_nesting_is_refused_not_overflown(self):
        loop = []
        loop.append(loop)
        with self.assertRaises(NotCanonicalError):
            canonical_bytes(loop)


ENVELOPE = {"id": "off_abc", "payload": {"a": 1}, "content_hash": "x", "signatures": [1], "kernel_annotations": {}}


class Hashes(unittest.TestCase):
    """Rules 1.1: what is hashed."""

    def test_sha256_is_lowercase_hexadecimal(self):
        self.assertEqual(
            sha256_hex(b""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")

    def test_value_hash_is_over_canonical_bytes(self):
        self.assertEqual(value_hash({"b": 1, "a": 2}), hashlib.sha256(b'{"a":2,"b":1}').hexdigest())

    def test_three_members_are_left_out_at_the_top_only(self):
        self.assertEqual(content_bytes(ENVELOPE), b'{"id":"off_abc","payload":{"a":1}}')
        inner = {"payload": {"content_hash": "x", "signatures": [], "kernel_annotations": {}}}
        self.assertEqual(content_bytes(inner), canonical_bytes(inner))

    def test_signatures_and_annotations_change_no_hash(self):
        bare = {"id": "off_abc", "payload": {"a": 1}}
        self.assertEqual(content_hash(ENVELOPE), content_hash(bare))

    def test_every_other_member_changes_the_hash(self):
        for member in ("id", "payload", "proof", "extra"):
            with self.subTest(member=member):
                self.assertNotEqual(
                    content_hash({**ENVELOPE, member: "other"}), content_hash(ENVELOPE))
