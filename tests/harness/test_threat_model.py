"""docs/threat-model.md: every line names the test that holds it, or says that nothing does."""

import importlib
import json
import re
import unittest
from pathlib import Path

from a202_mcp import readout
from tests.bilateral.parties import TRANSACTION
from tests.bilateral.stories import walkthrough

PAGE = Path(__file__).resolve().parents[2] / "docs" / "threat-model.md"
HEAD = re.compile(r"\| It (tries|does|reads|changes|sends) \|")
TEST = re.compile(r"`(tests\.[a-z_.]+)\.([A-Z]\w*)\.(test_\w+)`")


class ThreatModel(unittest.TestCase):

    def rows(self):
        lines = PAGE.read_text("utf-8").splitlines()
        return [line for line in lines if line.startswith("| ") and not HEAD.match(line)]

    def test_every_line_has_a_test_or_says_that_it_is_not_prevented(self):
        self.assertGreater(len(self.rows()), 35)
        for line in self.rows():
            with self.subTest(line[:60]):
                self.assertTrue(TEST.search(line) or "**not" in line)

    def test_every_test_that_it_names_is_there(self):
        named = TEST.findall(PAGE.read_text("utf-8"))
        self.assertGreater(len(named), 40)
        for module, case, name in named:
            with self.subTest(f"{module}.{case}.{name}"):
                self.assertTrue(callable(getattr(getattr(importlib.import_module(module), case), name)))


class AsPresented(unittest.TestCase):

    def test_a_status_answer_is_told_as_the_acting_partys_own(self):
        desk = walkthrough()
        bundle = json.loads(json.dumps(readout.bundle(desk.workspace.store, TRANSACTION, desk.clock.now)))
        for answer in bundle["status_results"]:
            answer["status"] = "revoked"
        rows = [row for row in desk.done("verify_evidence", {"bundle": bundle})["checks"]
                if row["name"] == "mandate_active_at_append"]
        self.assertTrue(rows)
        for row in rows:
            self.assertIn("as presented by the acting party", row["detail"])


if __name__ == "__main__":
    unittest.main()
