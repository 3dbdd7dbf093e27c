"""What an owner may write into a file or on a command line ends in words and a status, never in a traceback."""

import json
import os
import tempfile
import unittest
from pathlib import Path

from a202_mcp.addresses import is_https, taken_apart
from a202_mcp.state_dir import state_dir
from tests.axp.process import run_command
from tests.shell.test_command_line import run
from tests.treatyway.shops import config, jwk

RAW = os.fsdecode(b"\xff")
"""An argument whose bytes are no UTF-8, as Python hands it over."""
TEXTS = (
    ("seller", "status", RAW), ("seller", "status", "q_x", "--set", RAW), ("seller", "status", "q_x", "--summary", RAW),
    ("seller", "answer", RAW, "--approve"), ("seller", "answer", "q_x", "--text", RAW),
    ("seller", "answer", "q_x", "--approve", "--as", RAW), ("seller", "answer", "q_x", "--reject", "--reason", RAW),
    ("seller", "answer", "q_x", "--price", RAW), ("seller", "answer", "q_x", "--price", "1", "--currency", RAW),
    ("seller", "answer", "q_x", "--price", "1", "--valid-for", RAW), ("seller", "stock", RAW),
    ("seller", "stock", "rod", RAW), ("seller", "mandate", RAW),
    ("member", "status", RAW), ("member", "approve", RAW), ("member", "reject", RAW), ("member", "task", "add", RAW),
    ("member", "sandbox", RAW), ("member", "mandate", RAW), ("export", RAW, "--state-dir", "x"))
PLACES = (
    ("--port", "99999"), ("--port", "-1"), ("--port", "65536"), ("--port", "x"), ("--port", "1.5"), ("--port", "²"),
    ("--port", "9" * 5000), ("--host", "..x"), ("--host", "a" * 64), ("--host", RAW))
BASE = config()
COMMAND = '[[custom_tools]]\nname = "x"\ndescription = "x"\ncommand = {}\n[caps]'
SELLER = {
    "an address with half a bracket": ('jwks = "keys.json"', 'jwks = "https://[x"'),
    "a loopback address with half a bracket": ('jwks = "keys.json"', 'jwks = "http://[::1"'),
    "a port that is none": ('jwks = "keys.json"', 'jwks = "https://x.example:99999/"'),
    "a host that is none": ('jwks = "keys.json"', 'jwks = "https:///keys"'),
    "a key list that is none": ('jwks = "keys.json"', 'jwks = "seller.toml"'),
    "a folder": ('jwks = "keys.json"', 'jwks = "."'),
    "a status address with half a bracket": ("[mandate]", '[mandate]\nstatus_url = "https://[x"'),
    "a status address without TLS": ("[mandate]", '[mandate]\nstatus_url = "http://127.0.0.1/"'),
    "a NUL in a path": ("[orders]", '[state]\ndir = "a\\u0000b"\n[orders]'),
    "a number of 5000 digits": ("level2 = 1000", "level2 = 1" + "0" * 5000),
    "arrays in arrays": ("[caps]", "[more]\nx = " + "[" * 5000 + "]" * 5000 + "\n[caps]"),
    "infinity": ('fixed = "80.00"', "fixed = inf"), "no number": ('fixed = "80.00"', "fixed = nan"),
    "no such currency": ("[seller]", '[seller]\ncurrency = "ZZZ"'),
    "the currency for none": ("[seller]", '[seller]\ncurrency = "XXX"'),
    "a key beside the limits": ("[mandate]", '[mandate]\nissuer_jwk = "keys.json"'),
    "asking above what is denied": ('ask_above = "500.00"', 'ask_above = "2000.01"'),
    "a floor above the ceiling": ('min_total = "20.00"', 'min_total = "2000.01"'),
    "a program that is not there": ("[caps]", COMMAND.format('["./nope.sh"]')),
    "a program that is nowhere": ("[caps]", COMMAND.format('["no-such-program"]')),
    "a program that cannot be run": ("[caps]", COMMAND.format('["./keys.json"]')),
    "a folder as a program": ("[caps]", COMMAND.format('["./"]')), "no program": ("[caps]", COMMAND.format("[]")),
    "a program with a NUL": ("[caps]", COMMAND.format('["a\\u0000"]')),
    "the name of the declaration": ("[caps]", COMMAND.format('["cat"]').replace('"x"', '"treatyway_x"', 1)),
    "a name that a later tool may get": (
        "[caps]", COMMAND.format('["cat"]').replace('"x"', '"request_quote_bulk"', 1)),
    "the name of a tool": ("[caps]", COMMAND.format('["cat"]').replace('"x"', '"message"', 1))}
NAMED = {
    "the name of the declaration": 'seller.toml: custom_tools[0].name: "treatyway_x" is reserved',
    "a name that a later tool may get": 'seller.toml: custom_tools[0].name: "request_quote_bulk" is reserved',
    "the name of a tool": 'seller.toml: custom_tools[0].name: "message" is reserved',
    "a program that is not there": 'seller.toml: custom_tools[0].command: there is no program "./nope.sh"',
    "no program": "seller.toml: custom_tools[0].command: must not be empty",
    "asking above what is denied": "seller.toml: mandate.ask_above: is above max_total",
    "a key beside the limits": "seller.toml: mandate.issuer_jwk: stands beside the limits",
    "infinity": 'seller.toml: offers[0].price.fixed: amounts are text: write "12.50", not inf',
    "a key list that is none": "seller.toml: pass.jwks: seller.toml is no key list",
    "no such currency": 'seller.toml: seller.currency: must be an ISO 4217 code such as "USD", not "ZZZ"'}
MEMBER = """
[member]
name = "Example Works"
roles = ["seller", "buyer"]
member_id = "mem_1"
[secrets]
platform_key = "file:key"
[[skills]]
task_type = "sum"
price = {{ fixed = "5.00" }}
worker = {{ command = {command} }}
{more}
[mandate]
max_price = "100.00"
max_spend = "20.00"
{mandate}
"""
MEMBERS = {
    "a program that is not there": ({"command": '["./nope.py"]'}, 'skills[0].worker.command: there is no program'),
    "a program that is nowhere": ({"command": '["no-such-program"]'}, "skills[0].worker.command: there is no program"),
    "no program": ({"command": "[]"}, "skills[0].worker.command: must not be empty"),
    "a program with a NUL": ({"command": '["a\\u0000"]'}, "skills[0].worker.command: must be texts without control"),
    "asking above the ceiling": ({"mandate": 'ask_above = "100.01"'}, "mandate.ask_above: is above max_price"),
    "asking above the purse": ({"mandate": 'ask_spend_above = "20.01"'}, "mandate.ask_spend_above: is above max_spend"),
    "a key beside the limits": ({"mandate": 'issuer_jwk = "key"'}, "mandate.issuer_jwk: stands beside the limits"),
    "a status address with half a bracket": ({"mandate": 'status_url = "https://[x"'}, "mandate.status_url: must be"),
    "an exchange with half a bracket": ({"more": '[exchange]\nbase_url = "https://[x"'}, "exchange.base_url: must be"),
    "a port that is none": ({"more": '[exchange]\nbase_url = "https://x:99999"'}, "exchange.base_url: must be"),
    "a folder of nobody": ({"more": '[state]\ndir = "~nobody-here/\\u0000"'}, "state.dir: must be text without"),
    "a number of 5000 digits": ({"more": "[buyer]\nmax_eta_minutes = 1" + "0" * 5000}, "is no TOML that can be read"),
    "arrays in arrays": ({"more": "x = " + "[" * 5000 + "]" * 5000}, "is no TOML that can be read")}


class Files(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        (self.folder / "keys.json").write_text(json.dumps({"keys": [jwk()]}))
        (self.folder / "key").write_text("secret")
        self.seller, self.member = self.folder / "seller.toml", self.folder / "member.toml"

    def assert_words(self, found, status, name):
        self.assertEqual((found[0], found[1]), (status, ""), found[2])
        self.assertTrue(found[2])
        self.assertTrue(all(line.startswith(name) for line in found[2].splitlines()), found[2])

    def test_a_seller_s_file_that_cannot_work_stops_check_init_and_start(self):
        for what, (old, new) in SELLER.items():
            self.seller.write_text(BASE.replace(old, new, 1))
            for arguments in (("check",), ("init",), ("--transport", "http", "--port", "0")):
                with self.subTest(what, arguments=arguments):
                    found = run("seller", *arguments, "--config", str(self.seller))
                    self.assert_words(found, 2, "seller.toml: ")
                    self.assertIn(NAMED.get(what, ""), found[2])
        self.assertFalse((self.folder / "seller-state").exists())

    def test_a_member_s_file_that_cannot_work_stops_check_init_and_start(self):
        for what, (parts, said) in MEMBERS.items():
            self.member.write_text(MEMBER.format(**{"command": '["cat"]', "more": "", "mandate": "", **parts}))
            for arguments in (("check",), ("init",), ("--port", "0")):
                with self.subTest(what, arguments=arguments):
                    found = run("member", *arguments, "--config", str(self.member))
                    self.assert_words(found, 2, "member.toml: ")
                    self.assertIn(said, found[2])
        self.assertFalse((self.folder / "member-state").exists())
        self.member.write_text(MEMBER.format(command='["cat"]', more="", mandate=""))
        self.assertEqual(run("member", "check", "--config", str(self.member))[0], 0)

    def test_a_secret_that_is_no_text_is_named_and_not_printed(self):
        self.member.write_text(MEMBER.format(command='["cat"]', more="", mandate="").replace("file:key", "env:A202_T"))
        os.environ["A202_T"] = "pk" + RAW
        self.addCleanup(os.environ.pop, "A202_T")
        status, out, said = run("member", "check", "--config", str(self.member))
        self.assertEqual((status, out), (2, ""))
        self.assertIn("A202_T is missing, empty or no text", said)
        self.assertNotIn("pk", said)

    def test_a_folder_of_nobody_and_a_passphrase_of_bytes_are_no_traceback(self):
        self.seller.write_text(BASE)
        environment = {"A202_OWNER_PASSPHRASE": RAW}
        for _ in range(2):
            status, _, said = run_command("seller", "init", "--config", str(self.seller), env=environment)
            self.assertEqual((status, said), (0, ""))
        for folder in (self.seller, self.seller / "x", self.folder / ("x" * 300)):
            status, _, said = run("seller", "inbox", "--config", str(self.seller), "--state-dir", str(folder))
            self.assertEqual((status, said.count("\n")), (2, 1), said)
        self.assertEqual(state_dir("~nobody-here/x"), Path.cwd() / "~nobody-here" / "x")


class Lines(unittest.TestCase):
    def test_text_that_is_no_text_is_a_usage_error(self):
        for arguments in TEXTS:
            with self.subTest(arguments):
                status, out, said = run(*arguments)
                self.assertEqual((status, out), (2, ""))
                self.assertIn("error: argument", said)

    def test_bytes_that_are_no_text_reach_us_as_they_are(self):
        status, _, said = run_command("seller", "status", RAW)
        self.assertEqual(status, 2)
        self.assertIn("must be UTF-8 text", said)

    def test_a_place_to_listen_that_is_none_is_a_usage_error(self):
        for server in ("seller", "member"):
            for option, value in PLACES:
                with self.subTest(server, option=option, value=value[:10]):
                    status, out, said = run(server, option, value)
                    self.assertEqual((status, out), (2, ""))
                    self.assertIn(f"error: argument {option}: must be", said)

    def test_only_an_address_can_speak_for_others(self):
        for value in ("localhost", "192.0.2.0/24", "192.0.2.1:80", "proxy.example", "", RAW):
            with self.subTest(value):
                status, _, said = run("seller", "--forwarded-by", value)
                self.assertEqual(status, 2)
                self.assertIn("error: argument --forwarded-by: must be an IP address", said)


class Addresses(unittest.TestCase):
    def test_whatever_is_written_is_taken_apart_or_not(self):
        for address in ("https://[x", "http://[::1", "https://x:99999/", "https://x:b/", "https://x:0/",
                        "https://a b/", "https://\u212a.example/", "https://x\n/", "", 7, None, "x" * 5000, RAW):
            with self.subTest(str(address)[:20]):
                self.assertIsNone(taken_apart(address))
        for address, https in (("https://x.example/a", True), ("https://[::1]:8/", True), ("http://x/", False),
                               ("https:///x", False), ("x", False), ("//x", False)):
            with self.subTest(address):
                self.assertEqual(is_https(address), https)


if __name__ == "__main__":
    unittest.main()
