"""Every numbered requirement of the page has a test that names it, and every test names only such numbers.

A test names requirements in its own name: test_t41_..., test_t56_t57_...
"""

import ast
import json
import re
import unittest
from pathlib import Path

HERE = Path(__file__).parent
NUMBERS = {int(number) for number in json.loads((HERE / "requirements.json").read_text())}
NAMED = re.compile(r"t(\d+)(?=_)")


def tests():
    """The names of all test methods beside this file."""
    for path in sorted(HERE.glob("test_*.py")):
        if path != Path(__file__):
            for node in ast.walk(ast.parse(path.read_text())):
                if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
                    yield path.name, node.name


def named(name):
    """The numbers at the head of a test's name."""
    head = re.match(r"test_((?:t\d+_)*)", name)[1]
    return {int(number) for number in NAMED.findall(head)}


class BothWays(unittest.TestCase):
    def test_the_page_has_93_numbers_and_leaves_one_out(self):
        self.assertEqual(NUMBERS, set(range(1, 94)) - {92})

    def test_every_requirement_has_a_test(self):
        self.assertEqual(NUMBERS - set().union(*(named(name) for _, name in tests())), set())

    def test_every_test_names_requirements_of_the_page_only(self):
        for file, name in tests():
            with self.subTest(file=file, test=name):
                self.assertEqual(named(name) - NUMBERS, set())
