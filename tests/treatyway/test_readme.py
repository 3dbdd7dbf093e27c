"""The README's shop can be copied and runs; the longer page names every key and every command there is."""

import re
import unittest
from pathlib import Path

from a202_mcp.treatyway.arguments import parser
from tests.treatyway.test_transports import Process, answer, asyncio, over_http

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
PAGE = (ROOT / "docs" / "treatyway.md").read_text(encoding="utf-8")
KEY = re.compile(r"\.(?:text|flag|whole|amount|choice|read|texts|each|table|tables)\(\s*\"([a-z_]+)\"")
SECTION = README.split("## Sell as a Treatyway shop", 1)[1].split("\n## ", 1)[0]


class Copied(Process):
    def test_the_shop_of_the_readme_serves(self):
        self.file.write_text(re.search(r"^```toml\n(.*?)^```$", SECTION, re.DOTALL | re.MULTILINE)[1])
        self.assertIn("in order", self.seller("check"))
        served = self.serve()

        async def run():
            async with over_http(served.url) as client:
                return await answer(client, "request_quote", summary="rods", offer_id="brass-rod", quantity=20)

        self.assertEqual(asyncio.run(run())["price"], {"amount": "220.00", "currency": "USD"})


class Page(unittest.TestCase):
    def test_every_command_is_on_the_page(self):
        commands = parser()._subparsers._group_actions[0].choices
        table = PAGE.split("## The owner's commands", 1)[1].split("\n## ", 1)[0]
        for name, command in commands.items():
            with self.subTest(name):
                self.assertIn(f"| `{name}", table)
                for action in command._actions:
                    for option in action.option_strings:
                        if option not in ("-h", "--help", "--config", "--state-dir"):
                            self.assertIn(option, table)

    def test_every_key_of_the_file_is_on_the_page(self):
        keys = set()
        for path in (ROOT / "a202_mcp" / "treatyway").glob("reading*.py"):
            keys |= set(KEY.findall(path.read_text()))
        self.assertGreater(len(keys), 40)
        table = PAGE.split("## `seller.toml`", 1)[1].split("\n## ", 1)[0]
        for key in sorted(keys):
            with self.subTest(key):
                self.assertIn(key, table)
