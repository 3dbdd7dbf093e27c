"""Rules 1.2, 12.1: prefixes, the form of an identifier, the form of a hash."""

import unittest

from hypothesis import given
from hypothesis import strategies as st

from a202_reference.identifiers import ANY_ID, Prefix, is_sha256_hex
from tests.reference.strategies import PROPERTY

PREFIXES = """
    org agt prn mnd cap int inv ina txn ses act off acc agr cmt obl obr prf exc dsp det evd evt pol apr stl adp clr key
    rev req chn
"""
GOOD = ("org_abc", "org_a-_", "org_0_0", "org_Abc", "org_" + "a" * 128)
BAD = (
    "org_", "org_ab", "org_" + "a" * 129, "org_-ab", "org__ab", "org", "orgabc", "org-abc", "ORG_abc", "or_abc",
    "orga_abc", "org_abc\n", "\norg_abc", "org_a b", "org_abc.d", "org_ab\u00e9", "org_ab\u0661", "org_ab/../c", "",
    None,
    7, b"org_abc", ["org_abc"], {"id": "org_abc"}, True)


class Identifiers(unittest.TestCase):

    def test_exactly_the_registered_prefixes(self):
        self.assertEqual({prefix.value for prefix in Prefix}, set(PREFIXES.split()))

    def test_well_formed(self):
        for text in GOOD:
            with self.subTest(text=text):
                self.assertTrue(Prefix.ORGANIZATION.names(text))

    def test_malformed(self):
        for text in BAD:
            with self.subTest(text=text):
                self.assertFalse(Prefix.ORGANIZATION.names(text))

    def test_of_another_kind(self):
        for prefix in Prefix:
            with self.subTest(prefix=prefix):
                self.assertTrue(prefix.names(f"{prefix.value}_abc"))
                others = [other for other in Prefix if other is not prefix]
                self.assertFalse(any(other.names(f"{prefix.value}_abc") for other in others))

    @PROPERTY
    @given(st.sampled_from(list(Prefix)), st.text("0123456789abcdef", min_size=24, max_size=24))
    def test_what_is_minted_is_well_formed(self, prefix, suffix):
        minted = prefix.minted(suffix)
        self.assertTrue(prefix.names(minted))
        self.assertIsNotNone(ANY_ID.fullmatch(minted))
        self.assertTrue(minted.endswith(suffix))


class Hashes(unittest.TestCase):

    def test_64_lowercase_hexadecimal_digits(self):
        self.assertTrue(is_sha256_hex("0123456789abcdef" * 4))
        for text in (
            "0123456789ABCDEF" * 4, "a" * 63, "a" * 65, "a" * 64 + "\n", "g" * 64, "", " " + "a" * 63, "0x" + "a" * 62,
            "sha256:" + "a" * 64, "\u0661" * 64, None, 0, ["a" * 64], b"a" * 64,
        ):
            with self.subTest(text=text):
                self.assertFalse(is_sha256_hex(text))
