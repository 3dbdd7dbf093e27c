"""Reading the owner's file: every problem is one line, at its place, and nothing that stands in a file stops that."""

import tempfile
import unittest
from decimal import Decimal
from pathlib import Path

from a202_mcp.one_owner.configuration import read_configuration
from tests.axp.process import run_command

READERS = {
    "text": lambda section: section.text("value", "usual", longest=50),
    "flag": lambda section: section.flag("value"),
    "whole": lambda section: section.whole("value", 1, 9, 5),
    "number": lambda section: section.number("value", Decimal(7)),
    "amount": lambda section: section.amount("value", None, most=Decimal(100)),
    "choice": lambda section: section.choice("value", ("one", "two"), "one"),
    "read": lambda section: section.read("value", lambda text: text if text.isdigit() else None, "digits"),
    "texts": lambda section: section.texts("value"),
    "each": lambda section: section.each("value", lambda text: text if text.isdigit() else None, "digits"),
    "table": lambda section: section.table("value").flag("inner"),
    "tables": lambda section: [each.flag("inner") for each in section.tables("value")],
}
RIGHT = (
    ("text", 'value = "a\\tb"', "a\tb"), ("text", "", "usual"), ("flag", "value = true", True), ("flag", "", False),
    ("whole", "value = 9", 9), ("whole", "", 5), ("number", "value = 3", 3),
    ("number", 'value = "0.5"', Decimal("0.5")),
    ("number", "", 7), ("amount", 'value = "12.50"', Decimal("12.50")), ("amount", "", None),
    ("choice", 'value = "two"', "two"), ("read", 'value = "12"', "12"), ("read", "", None),
    ("texts", 'value = ["a"]', ("a",)), ("texts", "", ()), ("each", 'value = ["1"]', (("1", "1"),)),
    ("table", "value = { inner = true }", True), ("table", "", False), ("tables", "[[value]]\ninner = true", [True]))
WRONG = (
    ("text", "value = 7", "must be text of 1 to 50 characters, not 7"),
    ("text", 'value = " "', 'must be text of 1 to 50 characters, not " "'),
    ("text", f'value = "{"x" * 51}"', f'must be text of 1 to 50 characters, not "{"x" * 40}"'),
    ("text", "value = 2026-11-30", "must be text of 1 to 50 characters, not the date 2026-11-30"),
    ("text", f"value = 0x{'f' * 5000}", "must be text of 1 to 50 characters, not a number of that size"),
    ("text", 'value = "a\\u0000b"', "must be text without control characters"),
    ("text", 'value = "a\\u001b[2J"', "must be text without control characters"),
    ("flag", 'value = "yes"', 'must be true or false, not "yes"'),
    ("whole", "value = 10", "must be a whole number from 1 to 9, not 10"),
    ("whole", "value = true", "must be a whole number from 1 to 9, not true"),
    ("whole", "value = [1]", "must be a whole number from 1 to 9, not a list"),
    ("number", "value = -1", "must be a number from 0 to 1000000000"),
    ("number", "value = 0.5", 'must be a number from 0 to 1000000000; write it as text, "0.5"'),
    ("amount", "value = 12.5", 'amounts are text: write "12.5", not 12.5'),
    ("amount", "value = 5.0", 'amounts are text: write "5.00", not 5.0'),
    ("amount", "value = 5", 'amounts are text: write "5.00", not 5'),
    ("amount", "value = nan", 'amounts are text: write "12.50", not nan'),
    ("amount", "value = 1e300", 'amounts are text: write "12.50", not 1e+300'),
    ("amount", f"value = 0x{'f' * 5000}", 'amounts are text: write "12.50", not a number of that size'),
    ("amount", 'value = "a lot"', 'must be an amount such as "12.50", not "a lot"'),
    ("amount", 'value = "100.01"', 'must be at most 100, not "100.01"'),
    ("choice", 'value = "three"', 'must be "one" or "two", not "three"'),
    ("choice", "value = {}", 'must be "one" or "two", not a table'),
    ("read", 'value = "x"', 'must be digits, not "x"'),
    ("texts", 'value = ["a", 1]', "must be a list of texts"),
    ("texts", 'value = ["a", "b\\u0000"]', "must be texts without control characters"),
    ("each", 'value = ["1", "x"]', 'must be digits, not "x"'),
    ("table", 'value = "pk_secret"', "must be a table"),
    ("tables", 'value = ["pk_secret"]', "must be a list of tables, written as [[value]]"))
UNREADABLE = {
    "not there": None, "no TOML": b"value = [", "a control character": b"\x00", "not UTF-8": b'value = "\xff"',
    "a number of 5000 digits": b"value = 1" + b"0" * 5000, "nested without end": b"value = " + b"[" * 100_000,
}


class Reading(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.file = Path(folder.name, "owner.toml")

    def read(self, text, reader):
        self.file.write_text(text)
        return read_configuration(self.file, reader)

    def test_what_is_right_is_read(self):
        for kind, text, value in RIGHT:
            with self.subTest(kind, text=text):
                self.assertEqual(self.read(text, READERS[kind]), value)

    def test_what_is_wrong_is_one_line_at_its_place(self):
        for kind, text, what in WRONG:
            with self.subTest(kind, text=text[:60]):
                place = "value[1]" if kind == "each" else "value"
                self.assertEqual(self.read(text, READERS[kind]), [f"owner.toml: {place}: {what}"])

    def test_members_that_nobody_reads_are_named_in_every_table(self):
        def reader(root):
            root.table("inner").flag("heartbeat")
            root.knows("elsewhere")
            return [each.flag("flag") for each in root.tables("many")]

        text = "elsewhere = 1\nforeign = 2\n[inner]\nhartbeat = true\n[[many]]\n[[many]]\nflag = false\nx = 1\n"
        self.assertEqual(self.read(text, reader), [
            "owner.toml: foreign: is not known; did you mean inner?",
            "owner.toml: inner.hartbeat: is not known; did you mean heartbeat?",
            "owner.toml: many[1].x: is not known; did you mean flag?"])

    def test_what_is_required_and_absent_is_a_problem(self):
        def reader(root):
            return (root.text("a", "", required=True), root.amount("b", None, required=True),
                    root.choice("c", ("x",), "x", required=True), root.texts("d", required=True))

        self.assertEqual(self.read("", reader), [f"owner.toml: {name}: is required" for name in "abcd"])

    def test_a_file_that_cannot_be_read_is_one_line(self):
        for what, content in UNREADABLE.items():
            with self.subTest(what):
                if content is not None:
                    self.file.write_bytes(content)
                problems = read_configuration(self.file, self.fail)
                self.assertEqual(len(problems), 1)
                self.assertTrue(problems[0].startswith("owner.toml: "))
                self.assertEqual(len(problems[0].splitlines()), 1)

    def test_both_servers_name_a_problem_where_python_itself_would_stop(self):
        for server in ("seller", "member"):
            for text in ('[state]\ndir = "a\\u0000b"\n', "[state]\ndir = 1" + "0" * 5000 + "\n"):
                with self.subTest(server, text=text[:20]):
                    self.file.write_text(text)
                    status, out, err = run_command(server, "check", "--config", str(self.file))
                    self.assertEqual((status, out), (2, ""))
                    self.assertNotIn("Traceback", err)
                    self.assertTrue(all(line.startswith("owner.toml: ") for line in err.splitlines()))
