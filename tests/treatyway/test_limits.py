"""Caps, names, configuration: T54 to T60."""

import contextlib
import io
import json
import os
import unittest
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import ClassVar
from unittest import mock

from a202_mcp.cli import main
from a202_mcp.treatyway.names import name_fault
from a202_mcp.treatyway.peers import counted_as, read_address, speaker
from tests.treatyway.shops import MONDAY, ShopTest, config, token

TOOL = """
[[custom_tools]]
name = "{name}"
description = "Something."
{way}
"""


class Capped(ShopTest):
    CLOCK = MONDAY
    CHOICES: ClassVar = {"level0": 3, "level1": 5}

    def pass_(self, **more):
        now = int(self.clock().timestamp())
        return token(iat=now, exp=now + 600, **more)

    def test_t54_t55_callers_without_a_pass_stop_first(self):
        self.ask("check_availability", {"offer_id": "brass-rod"})
        self.ask("request_quote", {"summary": "x"})
        self.fails("invalid_input", "message", {})
        self.assertEqual(
            self.fails("cap_reached", "message", {"text": "x"}),
            "No more requests accepted for now; try again after 2026-11-17T17:00:01Z")
        for free in ("describe_offer", "treatyway_contract"):
            self.ask(free)
        self.ask("message", {"text": "x"}, peer="198.51.100.9")
        for _ in range(5):
            self.ask("request_quote", {"summary": "x"}, self.pass_(level=1))
        self.fails("cap_reached", "request_quote", {"summary": "x"}, self.pass_(level=1))
        self.ask("request_quote", {"summary": "x"}, self.pass_(level=1, sub="agent-8"))

    def test_errors_count_and_so_do_refusals_of_a_level(self):
        refused = self.pass_(level=0)
        for _ in range(3):
            self.fails("trust_level", "place_order", {"quote_id": "q_x"})
        self.fails("cap_reached", "message", {"text": "x"})
        for tool in ("request_quote", "place_order", "request_quote"):
            self.fails("trust_level", tool, {}, refused)
        self.fails("cap_reached", "message", {"text": "x"}, refused)
        for tool, arguments, code in (
                ("place_order", {}, "invalid_input"), ("place_order", {"quote_id": "q_x"}, "not_found"),
                ("check_availability", {"start": "soon"}, "invalid_input"),
                ("message", {"text": "x", "quote_id": "q_x"}, "not_found"), ("request_quote", {}, "invalid_input")):
            self.fails(code, tool, arguments, self.pass_(level=1 if tool != "place_order" else 2, sub="agent-8"))
        self.fails("cap_reached", "message", {"text": "x"}, self.pass_(level=1, sub="agent-8"))
    def test_arguments_that_are_no_object_are_judged_counted_and_noted_in_their_turn(self):
        self.open(level0=3, level1=5, more=TOOL.format(name="get_menu", way='reply = "x"'))
        self.assertEqual(self.fails("trust_level", "place_order", []), "place_order requires trust level 2")
        self.assertEqual(self.fails("invalid_input", "message", "text"), "arguments: must be one JSON object")
        self.assertEqual(self.fails("invalid_input", "get_menu", 7), "arguments: must be one JSON object")
        self.fails("cap_reached", "message", [7])
        self.fails("cap_reached", "get_menu", [7])
        self.fails("invalid_input", "get_status", [7])
        noted = [line.split()[-3:] for line in self.log.getvalue().splitlines() if "Z " in line]
        self.assertEqual(noted, [
            ["place_order", "none", "trust_level"], ["message", "none", "invalid_input"],
            ["get_menu", "none", "invalid_input"], ["message", "none", "cap_reached"],
            ["get_menu", "none", "cap_reached"], ["get_status", "none", "invalid_input"]])

    def test_refusals_by_trust_count(self):
        for _ in range(3):
            self.fails("trust_level", "place_order", {"quote_id": "q_0"}, self.pass_(level=0))
        self.fails("cap_reached", "message", {"text": "x"}, self.pass_(level=0))

    def test_the_window_slides_and_survives_a_restart(self):
        for _ in range(3):
            self.ask("message", {"text": "x"})
        self.open(**self.CHOICES)
        self.fails("cap_reached", "message", {"text": "x"})
        self.clock.pass_on(days=1, seconds=1)
        self.ask("message", {"text": "x"})

    def test_repeats_by_key_do_not_count_and_conflicts_do(self):
        key = {"idempotency_key": "0123456789abcdef"}
        for _ in range(9):
            self.ask("message", {"text": "x", **key})
        self.fails("idempotency_conflict", "message", {"text": "y", **key})
        self.ask("message", {"text": "z"})
        self.fails("cap_reached", "message", {"text": "z"})
        self.ask("message", {"text": "x", **key})

    def test_peers(self):
        for address, peer in (("203.0.113.7", "203.0.113.7"), ("2001:db8::1", "2001:db8::/64"), (None, "unknown"),
                              ("2001:db8::ffff:2", "2001:db8::/64"), ("::ffff:203.0.113.7", "203.0.113.7"),
                              ("203.0.113.7:4000", "203.0.113.7"), ("[2001:db8::1]:443", "2001:db8::/64"),
                              ("[::ffff:203.0.113.7]", "203.0.113.7"), ("fe80::1%eth0", "fe80::/64"),
                              ("x", "unknown"), ("x:4000", "unknown"), ("localhost", "unknown"), ("", "unknown")):
            with self.subTest(address):
                self.assertEqual(counted_as(read_address(address)), peer)

    def test_only_the_one_address_speaks_for_others(self):
        for connects, trusted, forwarded, peer in (
            ("192.0.2.1", "192.0.2.1", ["198.51.100.1, 203.0.113.7"], "203.0.113.7"),
            ("192.0.2.1", "192.0.2.1", ["198.51.100.1", "203.0.113.7:4000"], "203.0.113.7"),
            ("192.0.2.1", "192.0.2.1", ["[2001:db8::9]:443"], "2001:db8::9"),
            ("::ffff:192.0.2.1", "192.0.2.1", ["203.0.113.7"], "203.0.113.7"),
            ("2001:db8::1", "2001:db8:0::1", ["203.0.113.7"], "203.0.113.7"),
            ("2001:db8::2", "2001:db8::1", ["203.0.113.7"], "2001:db8::2"),
            ("192.0.2.2", "192.0.2.1", ["203.0.113.7"], "192.0.2.2"),
            ("192.0.2.1", None, ["203.0.113.7"], "192.0.2.1"),
            ("192.0.2.1", "192.0.2.1", [], "192.0.2.1"),
            ("192.0.2.1", "192.0.2.1", ["203.0.113.7, unknown"], "192.0.2.1"),
        ):
            with self.subTest(connects, trusted=trusted, forwarded=forwarded):
                found = speaker(read_address(connects), read_address(trusted), forwarded)
                self.assertEqual(found, read_address(peer))


class Names(unittest.TestCase):
    def checked(self, text, **files):
        with TemporaryDirectory() as folder:
            path = Path(folder, "seller.toml")
            path.write_text(text)
            Path(folder, "keys.json").write_text('{"keys": []}')
            for name, content in files.items():
                Path(folder, name).write_text(content)
            with contextlib.redirect_stderr(io.StringIO()) as err, contextlib.redirect_stdout(io.StringIO()):
                status = main(["seller", "check", "--config", str(path)])
            return status, err.getvalue().splitlines()

    def test_t56_t57_t58_reserved_names_stop_the_start(self):
        for name in ("treatyway_x", "request_quote_bulk", "message", "treatyway_contract", "get_status_",
                     "place_order"):
            with self.subTest(name):
                status, problems = self.checked(config(more=TOOL.format(name=name, way='reply = "x"')))
                self.assertEqual(status, 2)
                self.assertEqual(problems, [f'seller.toml: custom_tools[0].name: "{name}" is reserved by the Treatyway '
                                            "contract; choose another name"])

    def test_names_that_are_free(self):
        for name in ("get_menu", "messages", "request_quotes", "treaty", "configure_product", "x-1"):
            with self.subTest(name):
                self.assertIsNone(name_fault(name))
        self.assertIsNotNone(name_fault("a b"))

    def test_t60_every_mistake_is_named_at_once(self):
        text = """
[seller]
nam = "x"
currency = "usd"
role = "shop"
[orders]
place_order = true
[quote]
valid_for = "8 days"
on_deny = "no"
default_offer = "absent"
[calendar]
time_zone = "Mars/Base"
open = ["mon-fri 8-16"]
closed = ["2027-02-30"]
capacity = 0
[[offers]]
id = "A"
kind = "goods"
lead_time = "soon"
requires = ["colour"]
price = { fixed = 12.5, tiers = [ { per_unit = "x" } ] }
[[offers]]
id = "b"
name = "B"
kind = "service"
stock = 4
[[offers]]
id = "b"
name = "B"
kind = "good"
[pass]
jwks = "http://example.invalid/keys"
leeway_seconds = 301
[caps]
level0 = 9
level1 = 9
[[customers]]
name = "X"
token_sha256 = "open sesame"
[[custom_tools]]
name = "get menu"
description = "x"
reply = "a"
reply_file = "absent.json"
[mandate]
max_total = 2000
document = "absent.json"
[extra]
"""
        status, problems = self.checked(text)
        self.assertEqual(status, 2)
        places = {line.split(": ")[1] for line in problems}
        self.assertEqual(places, {
            "seller.name", "seller.nam", "seller.currency", "seller.role", "orders.place_order", "quote.valid_for",
            "quote.on_deny", "quote.default_offer", "calendar.time_zone", "calendar.open[0]", "calendar.closed[0]",
            "calendar.capacity", "offers[0].id", "offers[0].name", "offers[0].kind", "offers[0].lead_time",
            "offers[0].requires[0]", "offers[0].price.fixed", "offers[0].price.tiers[0].from",
            "offers[0].price.tiers[0].per_unit", "offers[1].stock", "offers[2].id", "pass.jwks", "pass.leeway_seconds",
            "caps", "customers[0].token_sha256", "custom_tools[0].name", "custom_tools[0]",
            "custom_tools[0].reply_file",
            "mandate", "mandate.document", "mandate.issuer_jwk", "extra"})
        self.assertIn('seller.toml: offers[0].kind: must be "service" or "good", not "goods"', problems)
        self.assertIn('seller.toml: seller.nam: is not known; did you mean name?', problems)
        self.assertIn('seller.toml: offers[0].price.fixed: amounts are text: write "12.5", not 12.5', problems)
        self.assertNotIn("open sesame", "\n".join(problems))

    def test_what_is_no_configuration(self):
        for text in ("", "[", "\x00", "seller = 7\noffers = 7\nmandate = 7", "offers = [7]"):
            with self.subTest(text):
                status, problems = self.checked(text)
                self.assertEqual(status, 2)
                self.assertTrue(problems)
        with contextlib.redirect_stderr(io.StringIO()) as err:
            self.assertEqual(main(["seller", "check", "--config", "/nowhere/seller.toml"]), 2)
        self.assertIn("cannot be read", err.getvalue())

    def test_a_good_file_and_the_warning_about_refusals(self):
        self.assertEqual(self.checked(config()), (0, []))
        status, warned = self.checked(config(quote='on_deny = "refuse"'))
        self.assertEqual(status, 0)
        self.assertIn("max_total", warned[0])


class Own(ShopTest):
    def test_t59_a_tool_of_the_shop_s_own(self):
        (self.folder / "menu.json").write_text('{"alloys": ["brass"]}')
        for name in ("menu.sh", "absent.sh"):
            (self.folder / name).write_text("#!/bin/sh\ncat\n")
            (self.folder / name).chmod(0o700)
        ways = {"a": 'reply_file = "menu.json"', "b": 'reply = "brass"', "c": 'command = ["./menu.sh"]',
                "d": 'command = ["./absent.sh"]', "e": 'command = ["sh", "-c", "exit 3"]',
                "f": 'command = ["sh", "-c", "yes"]', "g": 'command = ["sh", "-c", "env"]'}
        more = "".join(TOOL.format(name=f"get_menu_{name}", way=way) for name, way in ways.items())
        secrets = mock.patch.dict(os.environ, {"A202_OWNER_PASSPHRASE": "x", "API_TOKEN": "y", "HOME": "/nowhere"})
        secrets.start()
        self.addCleanup(secrets.stop)
        self.open(more=more)
        (self.folder / "absent.sh").unlink()
        listed = [tool["name"] for tool in self.rpc("tools/list", {})["result"]["tools"]]
        self.assertLess({f"get_menu_{name}" for name in ways}, set(listed))
        self.assertFalse([name for name in self.ask("treatyway_contract")["tools"] if name.startswith("get_menu")])
        texts = {}
        for name in ways:
            result = self.call(f"get_menu_{name}", {"size": "10 mm"})
            texts[name] = None if result.get("isError") else result["content"][0]["text"]
            self.assertEqual(result["structuredContent"]["answered_by"]["name"], "Example Metals")
            if texts[name] is not None:
                self.assertEqual(result["structuredContent"]["text"], texts[name])
        self.assertEqual(texts["a"], '{"alloys": ["brass"]}')
        self.assertEqual(texts["b"], "brass")
        self.assertEqual(json.loads(texts["c"]), {"size": "10 mm"})
        self.assertEqual((texts["d"], texts["e"], texts["f"]), (None, None, None))
        given = {line.partition("=")[0] for line in texts["g"].splitlines()}
        self.assertLessEqual({"PATH"}, given)
        self.assertLessEqual(given, {"PATH", "LANG", "LC_ALL", "TZ", "TMPDIR", "PWD", "SHLVL", "_", "OLDPWD"})

    def test_own_tools_count_like_messages(self):
        self.open(more=TOOL.format(name="get_menu", way='reply = "x"'), level0=2, level1=3)
        for _ in range(2):
            self.call("get_menu")
        self.fails("cap_reached", "get_menu")
