"""Foreign text on the owner's terminal."""

import unittest

from a202_mcp.one_owner.terminal import plain


class Plain(unittest.TestCase):
    def test_what_does_not_print_shows_as_its_escape(self):
        for text, shown in (("é 漢 [b]", "é 漢 [b]"), ("a\x1b[31m", r"a\x1b[31m"), ("a\nb", r"a\nb"),
                            ("\u202egpj.exe", r"\u202egpj.exe"), ("a\u200bb", r"a\u200bb"), ("\ud800", r"\ud800"),
                            ("", "")):
            with self.subTest(ascii(text)):
                self.assertEqual(plain(text), shown)
