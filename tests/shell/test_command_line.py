"""Surface 7: the command line's own part."""

import contextlib
import io
import json
import os
import sys
import unittest
from pathlib import Path
from unittest import mock

from a202_mcp.bilateral.addresses import bundle_address, parse_address
from a202_mcp.cli import main
from a202_mcp.state_dir import VARIABLE, state_dir


def run(*arguments: str) -> tuple[int, str, str]:
    """Exit status, stdout and stderr of one command line."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            status = main(list(arguments))
        except SystemExit as left:
            status = left.code
    return status, out.getvalue(), err.getvalue()


class CommandLine(unittest.TestCase):
    def test_help_names_every_command_that_there_is(self):
        status, out, err = run("--help")
        self.assertEqual((status, err), (0, ""))
        for command in ("demo", "export", "verify", "config", "seller", "member", "--state-dir", "--version"):
            self.assertIn(command, out)

    def test_version_is_one_line(self):
        status, out, err = run("--version")
        self.assertEqual((status, err), (0, ""))
        self.assertRegex(out, r"\Aa202-mcp \S+\n\Z")

    def test_what_is_unknown_is_named_and_refused(self):
        for arguments in (("serve",), ("--state",), ("--state-dir", "x", "surplus")):
            with self.subTest(arguments):
                status, out, err = run(*arguments)
                self.assertEqual((status, out), (2, ""))
                self.assertIn(arguments[-1], err)

    def test_config_names_this_interpreter_and_no_environment_without_a_directory(self):
        for client in ("claude-code", "claude-desktop"):
            with self.subTest(client), mock.patch("a202_mcp.cli._version", return_value="0.1.0"):
                status, out, _ = run("config", client)
                self.assertEqual(status, 0)
                expected = {"command": sys.executable, "args": ["-P", "-m", "a202_mcp"]}
                self.assertEqual(json.loads(out), {"mcpServers": {"a202": expected}})

    def test_config_with_a_directory_names_it_absolutely(self):
        with mock.patch("a202_mcp.cli._version", return_value="0.1.0"):
            _, out, _ = run("config", "claude-code", "--state-dir", "kept")
        server = json.loads(out)["mcpServers"]["a202"]
        self.assertEqual(server["env"], {VARIABLE: str(Path.cwd() / "kept")})

    def test_config_of_code_that_is_not_installed_says_where_it_lies(self):
        with mock.patch("a202_mcp.cli._version", return_value="0+unknown"):
            _, out, _ = run("config", "claude-code")
        path = Path(json.loads(out)["mcpServers"]["a202"]["env"]["PYTHONPATH"])
        self.assertTrue((path / "a202_mcp" / "cli.py").is_file())

    def test_config_for_another_client_is_refused(self):
        status, out, err = run("config", "another")
        self.assertEqual((status, out), (2, ""))
        self.assertIn("claude-desktop", err)


class StateDir(unittest.TestCase):
    def test_the_option_wins_over_the_variable_and_neither_means_memory(self):
        cases = {("one", "two"): "one", (None, "two"): "two", ("one", ""): "one", (None, ""): None, ("", ""): None}
        for (option, variable), expected in cases.items():
            with self.subTest(option=option, variable=variable), mock.patch.dict(os.environ, {VARIABLE: variable}):
                self.assertEqual(state_dir(option), Path.cwd() / expected if expected else None)

    def test_home_and_variables_are_expanded(self):
        with mock.patch.dict(os.environ, {"HOME": "/home/one", "A202_PLACE": "deep"}):
            self.assertEqual(state_dir("~/x/$A202_PLACE"), Path("/home/one/x/deep"))


class Addresses(unittest.TestCase):
    def test_addresses_name_what_they_say(self):
        cases = {
            "a202://transactions/txn_one/record": ("record", "txn_one"),
            bundle_address("txn_one"): ("bundle", "txn_one"),
            "a202://mandates/mnd_one": ("mandates", "mnd_one"),
        }
        for address, named in cases.items():
            with self.subTest(address):
                self.assertEqual(parse_address(address), named)

    def test_what_is_no_address_names_nothing(self):
        for address in ("a202://transactions", "a202://mandates", "a202://transactions/txn_one", "a202://mandates/txn_one",
                        "a202://transactions/txn_one/bundle/", "a202://transactions/../etc/bundle", "file:///etc/passwd",
                        "a202://transactions/txn_a/b/record", "", "a202://mandates/mnd_one\n"):
            with self.subTest(address):
                self.assertIsNone(parse_address(address))


if __name__ == "__main__":
    unittest.main()
