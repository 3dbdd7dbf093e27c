"""Documents that once broke the gate, or took it longest, and a first run of new ones, get their answer."""

import copy
import json
import unittest
from pathlib import Path

from a202_reference.gate import judge
from harness.gate import KINDS, fixtures, judged, places

SEEDS = json.loads(Path(__file__).with_name("seeds.json").read_text("utf-8"))
FRESH = range(150)


class Hostile(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.sources = fixtures()

    def test_kept_and_fresh_seeds_are_answered_without_an_exception(self):
        for seed in (*SEEDS["kept"], *FRESH):
            with self.subTest(seed=seed):
                fault = judged(seed, self.sources).fault
                self.assertFalse(fault and "took" not in fault, fault)

    def test_no_member_of_a_wrong_type_anywhere_raises(self):
        # Found by fuzzing: a list where a registry's text belongs is in no registry, and no reason to stop.
        for source in self.sources[::8]:
            kind = next(kind for kind in ("bundle", "mandate_chain", "declaration", "mandate", "grade", "kernel")
                        if _looks_like(source, kind))
            for at in range(len(places(source))):
                for value in ([], {}, [{}], 0):
                    document = copy.deepcopy(source)
                    holder, key = places(document)[at]
                    holder[key] = value
                    judge(kind, document)
        self.assertEqual(len(KINDS), 6)


def _looks_like(document, kind):
    marks = {"bundle": "objects", "mandate_chain": "parent", "declaration": "counterparty_declaration",
             "mandate": "issuer", "grade": "dimensions", "kernel": "payload"}
    return kind == "kernel" or marks[kind] in document


if __name__ == "__main__":
    unittest.main()
