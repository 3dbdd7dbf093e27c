"""What goes to stderr: whatever happened is one line, with its places and without what was in it."""

import io
import logging
import unittest
from contextlib import redirect_stderr

from a202_mcp import logs


def deep(levels):
    if levels:
        deep(levels - 1)
    raise ValueError("a private\ndocument")


class Unread(io.StringIO):
    """A stderr that cannot be written: its reader is gone, its disk is full, or it is closed."""

    def __init__(self, error):
        super().__init__()
        self.error = error

    def write(self, _):
        raise self.error


class NobodyReads(unittest.TestCase):
    def test_a_line_that_cannot_be_written_fails_nothing(self):
        for error in (BrokenPipeError(), OSError(28, "no space left"), ValueError("closed file")):
            with self.subTest(type(error).__name__), redirect_stderr(Unread(error)):
                logs.say("a line")
                logs.defect("a call", error)


class OneLine(unittest.TestCase):

    def said(self, say, levels=2):
        with redirect_stderr(io.StringIO()) as errors:
            try:
                deep(levels)
            except ValueError as error:
                say(error)
        self.assertEqual(errors.getvalue().count("\n"), 1)
        self.assertNotIn("private", errors.getvalue())
        return errors.getvalue()

    def test_a_defect_names_its_type_and_the_places_it_passed(self):
        line = self.said(lambda error: logs.defect("a call", error))
        self.assertTrue(line.startswith(f"a202-mcp: defect in a call: ValueError > {__file__}:"), line)
        self.assertEqual(line.count(" in deep"), 3)

    def test_of_many_places_the_last_are_named(self):
        self.assertEqual(self.said(lambda error: logs.defect("a call", error), levels=400).count(" in deep"), 20)

    def test_a_librarys_error_is_one_line_too(self):
        kept = logging.getLogger().handlers[:], logging.getLogger().level
        self.addCleanup(logging.getLogger().setLevel, kept[1])
        self.addCleanup(setattr, logging.getLogger(), "handlers", kept[0])

        def say(error):
            logs.quieten_libraries()
            logging.getLogger("library").error("private %s", "text", exc_info=error)

        line = self.said(say)
        self.assertRegex(line, r"\Aa202-mcp: error in library, line \d+: ValueError > ")
