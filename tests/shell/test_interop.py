"""The lists of what is known to differ from a peer are strict in both directions."""

import contextlib
import importlib.util
import io
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
SPEC = importlib.util.spec_from_file_location("interop", ROOT / "scripts" / "interop.py")
interop = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(interop)


def judged(total, differing, listed):
    """Counts and output for a list with these lines."""
    with tempfile.TemporaryDirectory() as scratch, contextlib.redirect_stdout(io.StringIO()) as out:
        file = Path(scratch, "list.txt")
        file.write_text("\n".join(listed), encoding="utf-8")
        return interop.judged("case", total, differing, file), out.getvalue()


class Lists(unittest.TestCase):
    def test_nothing_differs_and_nothing_is_listed(self):
        self.assertEqual(judged(5, [], ["# a comment", ""]), ((5, 0), ""))

    def test_a_listed_difference_passes(self):
        self.assertEqual(judged(5, ["a-1"], ["a-1  # why"]), ((5, 0), ""))

    def test_a_difference_that_is_not_listed_fails(self):
        counts, output = judged(5, ["a-1", "a-2"], ["a-1"])
        self.assertEqual(counts, (4, 1))
        self.assertIn("case a-2 differs and is not listed", output)

    def test_a_listed_case_that_no_longer_differs_fails(self):
        counts, output = judged(5, [], ["a-1"])
        self.assertEqual(counts, (5, 1))
        self.assertIn("case a-1 is listed in list.txt and does not differ", output)

    def test_a_missing_list_lists_nothing(self):
        self.assertEqual(interop.known(Path("no-such-list")), set())


if __name__ == "__main__":
    unittest.main()
