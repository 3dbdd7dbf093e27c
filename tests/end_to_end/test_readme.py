"""The README holds: its commands run, its block starts a server, its table and its error texts are the code's."""

import asyncio
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from importlib.util import find_spec
from pathlib import Path

from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

from a202_mcp.bilateral.table import table
from a202_mcp.bilateral.tools import TOOLS
from tests.end_to_end.process import ROOT, environment

README = (ROOT / "README.md").read_text(encoding="utf-8")
NOT_COPIED = shutil.ignore_patterns(".*", "__pycache__", "*.egg-info", "dist", "build")
ONE_TEST = Path("tests", "shell", "test_results.py")


def blocks(language):
    """The README's code blocks of one language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", README, re.DOTALL | re.MULTILINE)


def squeezed(text):
    """Text without what only breaks lines: blanks, quotes and the marks of joined strings."""
    return re.sub(r'["\s]|\bf(?=")', "", text)


def checkout(place):
    """A copy of the project with one test in it, so that its test command is short."""
    shutil.copytree(ROOT, place, ignore=NOT_COPIED)
    shutil.rmtree(place / "tests")
    for part in (Path("tests", "__init__.py"), Path("tests", "shell", "__init__.py"), ONE_TEST):
        (place / part).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / part, place / part)
    shutil.copy(ROOT / ".gitignore", place)
    return place


class Readme(unittest.TestCase):
    @unittest.skipUnless(find_spec("ensurepip"), "this Python cannot make virtual environments")
    def test_every_command_runs_from_a_fresh_checkout(self):
        commands = [line for block in blocks("sh") for line in block.splitlines()]
        self.assertIn("python3 dev.py demo", commands)
        self.assertIn("python3 dev.py test", commands)
        path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
        with tempfile.TemporaryDirectory() as scratch:
            place = checkout(Path(scratch, "checkout"))
            settings = environment(PATH=path)
            for name in ("A202_VENV", "A202_INTEROP", "VIRTUAL_ENV"):
                settings.pop(name, None)
            for command in commands:
                with self.subTest(command):
                    ran = subprocess.run(
                        ["bash", "-c", command], cwd=place, env=settings, capture_output=True, text=True, check=False)
                    self.assertEqual(ran.returncode, 0, ran.stdout + ran.stderr)
                    if command == "python3 dev.py check":
                        self.assertNotIn("installing", ran.stderr, "what is installed already is installed again")
            self.assertTrue((place / ".venv" / "pyvenv.cfg").is_file())

    def test_the_documented_block_starts_a_server(self):
        (block,) = blocks("json")
        server = json.loads(block)["mcpServers"]["a202"]
        self.assertTrue(server["command"].startswith("/path/to/"))
        self.assertTrue(server["env"]["A202_MCP_STATE_DIR"].startswith("/path/to/"))

        async def names(directory):
            parameters = StdioServerParameters(
                command=sys.executable, args=server["args"], cwd=directory,
                env=environment(A202_MCP_STATE_DIR=directory, PYTHONPATH=str(ROOT)))
            async with Client(stdio_client(parameters)) as client:
                return [tool.name for tool in (await client.list_tools()).tools]

        with tempfile.TemporaryDirectory() as directory:
            self.assertEqual(asyncio.run(names(directory)), [tool.name for tool in TOOLS])

    def test_the_printed_block_has_the_documented_shape(self):
        printed = subprocess.run(
            [sys.executable, "-m", "a202_mcp", "config", "claude-code", "--state-dir", "kept"],
            cwd=ROOT, env=environment(), capture_output=True, text=True, check=True).stdout
        (documented,) = (json.loads(block)["mcpServers"]["a202"] for block in blocks("json"))
        server = json.loads(printed)["mcpServers"]["a202"]
        self.assertEqual(server["args"], documented["args"])
        self.assertLessEqual(documented.keys() | documented["env"].keys(), server.keys() | server["env"].keys())

    def test_the_tool_table_is_the_one_the_code_prints(self):
        self.assertIn(f"\n{table()}\n", README)

    def test_every_quoted_error_is_written_in_the_code(self):
        section = README.split("## Troubleshooting", 1)[1].split("\n## ", 1)[0]
        quoted = re.findall(r"^\| `([^`]+)` \|", section, re.MULTILINE)
        self.assertGreater(len(quoted), 5)
        files = [ROOT / "dev.py", *(ROOT / "a202_mcp").rglob("*.py"), *(ROOT / "a202_reference").rglob("*.py")]
        code = "".join(squeezed(file.read_text(encoding="utf-8")) for file in files)
        for text in quoted:
            with self.subTest(text):
                self.assertTrue(squeezed(text) in code, "no source file holds this text")


if __name__ == "__main__":
    unittest.main()
