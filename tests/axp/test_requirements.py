"""The manifest of requirements, both ways: each has a test that names it, each test names one that is there."""

import json
import re
import unittest
from pathlib import Path

HERE = Path(__file__).parent
TEST = re.compile(r"^    (?:async )?def (test_\w+)", re.MULTILINE)
NAMES = re.compile(r"_a(\d+)(?=_)")


def named():
    """Every test of this folder but the ones here, with the requirements in its name."""
    return {
        f"{path.stem}.{test}": {f"A{int(number)}" for number in NAMES.findall(test)}
        for path in sorted(HERE.glob("test_*.py")) if path.name != Path(__file__).name
        for test in TEST.findall(path.read_text("utf-8"))}


class Requirements(unittest.TestCase):

    def setUp(self):
        self.manifest = json.loads((HERE / "requirements.json").read_text("utf-8"))

    def test_the_manifest_is_whole(self):
        self.assertEqual(list(self.manifest), [f"A{number}" for number in range(1, 87)])

    def test_every_requirement_has_a_test(self):
        self.assertEqual(set(self.manifest) - set().union(*named().values()), set())

    def test_every_test_names_a_requirement_that_is_there(self):
        for test, numbers in named().items():
            with self.subTest(test=test):
                self.assertTrue(numbers)
                self.assertLessEqual(numbers, set(self.manifest))
