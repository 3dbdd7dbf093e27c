"""Declaration and the form of answers: T1 to T14."""

import json
import unittest
from typing import ClassVar
from unittest import mock

from a202_mcp.treatyway.answers import ErrorCode
from tests.treatyway.shops import MONDAY, ShopTest, token

HEADERS = {"content-type": "application/json", "accept": "application/json, text/event-stream"}
ODD = ('"\\ud800"', "[" * 65 + "]" * 65, '{"a":' * 400 + "1" + "}" * 400, "1e999", "-1e999", "9" * 5000,
       "0." + "9" * 5000)
TOOL = """
[[custom_tools]]
name = "get_menu"
description = "Alloys on the shelf."
reply = "brass"
"""
FIVE = ["describe_offer", "check_availability", "request_quote", "get_status", "message"]
SIX = ["describe_offer", "check_availability", "request_quote", "place_order", "get_status", "message"]


class Declared(ShopTest):
    CHOICES: ClassVar = {"place_order": "false", "more": TOOL}

    def listed(self):
        return [tool["name"] for tool in self.rpc("tools/list", {})["result"]["tools"]]

    def test_t1_t2_t3_t4_t5_the_declaration_is_the_contract_s(self):
        found = self.ask("treatyway_contract")
        self.assertEqual((found["contract"], found["version"], found["tools"]), ("treatyway", "1", FIVE))

    def test_t6_each_declared_tool_is_listed(self):
        self.assertEqual(self.listed(), ["treatyway_contract", *FIVE, "get_menu"])

    def test_t7_t8_the_instructions_carry_the_major_version(self):
        document = self.rpc("initialize", {
            "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}})
        lines = [line for line in document["result"]["instructions"].splitlines() if "contract:" in line]
        self.assertEqual(lines, ["treatyway-contract: 1"])

    def test_t9_unknown_inputs_neither_change_nor_fail_a_call(self):
        self.open()
        quote = self.quote()["quote_id"]
        calls = {"treatyway_contract": {}, "describe_offer": {"kind": "good"},
                 "check_availability": {"offer_id": "brass-rod"}, "get_status": {"quote_id": quote}}
        for tool, arguments in calls.items():
            with self.subTest(tool):
                more = {**arguments, "business_id": 7, "x": {"y": [None, 1.5]}}
                self.assertEqual(self.ask(tool, more), self.ask(tool, arguments))
        for tool, arguments in {"request_quote": {"summary": "s"}, "message": {"text": "t"}}.items():
            self.assertEqual(self.ask(tool, {**arguments, "subject": []}).keys(), self.ask(tool, arguments).keys())
        self.assertEqual(self.order(quote, trust_level=9)["status"], "accepted")

    def test_t9_whatever_is_in_an_unknown_member_or_beside_the_arguments(self):
        """What no tool knows is no reason to refuse: not its depth, its numbers or characters, nor that it is twice."""
        self.open(more=TOOL)
        quote = self.quote()["quote_id"]
        calls = {"treatyway_contract": {}, "describe_offer": {"kind": "good"}, "get_menu": {},
                 "check_availability": {"offer_id": "brass-rod"}, "get_status": {"quote_id": quote},
                 "request_quote": {"summary": "s"}, "message": {"text": "t"}, "place_order": {"quote_id": quote}}
        for strange in ODD:
            for tool, arguments in calls.items():
                with self.subTest(tool, strange=strange[:20]):
                    inside = f'{json.dumps(arguments)[:-1]}{", " if arguments else ""}"x": {strange}, "x": {strange}}}'
                    found = self.sent(tool, inside)
                    self.assertFalse(found["result"].get("isError"), found)
            beside = self.sent("message", '{"text": "t"}', more=f', "_x": {strange}')
            self.assertFalse(beside["result"].get("isError"), beside)

    def test_t9_a_strange_value_of_a_known_member_is_that_member_s_error(self):
        for name, strange, message in (
            ("quantity", "1e999", "quantity: must be a whole number from 1 to 1000000"),
            ("quantity", "9" * 5000, "quantity: must be a whole number from 1 to 1000000"),
            ("quantity", "[" * 65 + "]" * 65, "quantity: must be a whole number from 1 to 1000000"),
            ("summary", '"\\ud800"', "summary: must be text that can be written as UTF-8"),
            ("summary", "[" * 65 + "]" * 65, "summary: must be text"),
            ("items", "[" * 65 + "]" * 65, "items[0]: must be an object"),
            ("start", '"\\udfff"', "start: must be a date or an RFC 3339 time"),
            ("idempotency_key", "1e999", "idempotency_key: must be text"),
        ):
            with self.subTest(name, strange=strange[:20]):
                given = '"summary": "s", ' if name != "summary" else ""
                found = self.sent("request_quote", f'{{{given}"{name}": {strange}}}')["result"]
                error = found["structuredContent"]["error"]
                self.assertEqual(error, {"code": "invalid_input", "message": message})

    def test_a_command_gets_what_was_sent_as_json(self):
        self.open(more=TOOL.replace('reply = "brass"', 'command = ["cat"]'))
        inside = f'{{"a": "\\ud800", "b": 1e999, "c": {"[" * 70}{"]" * 70}, "d": {"9" * 5000}, "e": 2}}'
        text = self.sent("get_menu", inside)["result"]["content"][0]["text"]
        found = json.loads(text, parse_constant=self.fail)
        self.assertEqual((found["a"], found["b"], found["d"], found["e"]), ("\ud800", None, None, 2))
        self.assertEqual(json.dumps(found["c"]), "[" * 63 + "null" + "]" * 63)

    def sent(self, tool, arguments, more=""):
        """A call whose arguments are this very text."""
        body = ('{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": '
                f'{{"name": "{tool}", "arguments": {arguments}{more}}}}}')
        answer = self.http(body=body, headers={**HEADERS, "authorization": f"Bearer {token()}"})
        self.assertEqual(answer.status_code, 200, answer.text)
        return answer.json()

    def test_schemas_are_open_and_described(self):
        self.open()
        for tool in self.rpc("tools/list", {})["result"]["tools"]:
            with self.subTest(tool["name"]):
                schema = tool["inputSchema"]
                self.assertEqual(schema["type"], "object")
                self.assertIsNot(schema.get("additionalProperties"), False)
                self.assertTrue(all(each["description"] for each in schema["properties"].values()))
                self.assertLess(len(tool["description"]), 2000)


class Answers(ShopTest):
    CLOCK = MONDAY
    ANSWERED: ClassVar = {
        "describe_offer": {}, "check_availability": {"offer_id": "brass-rod"}, "request_quote": {"summary": "a job"},
        "message": {"text": "hello"}}
    WRONG: ClassVar = {
        "describe_offer": {"kind": 7}, "check_availability": {"start": "soon"}, "request_quote": {},
        "place_order": {}, "get_status": {}, "message": {}}

    def test_t10_t11_every_output_names_who_answered(self):
        for tool, arguments in self.ANSWERED.items():
            with self.subTest(tool):
                by = self.ask(tool, arguments)["answered_by"]
                self.assertEqual(by, {"name": "Example Metals", "role": "business"})
        quote = self.ask("request_quote", {"summary": "rods", "offer_id": "brass-rod", "quantity": 2})["quote_id"]
        self.assertEqual(self.ask("get_status", {"quote_id": quote})["answered_by"]["name"], "Example Metals")
        ordered = self.call("place_order", {"quote_id": quote}, self.pass_())["structuredContent"]
        self.assertEqual((ordered["status"], ordered["answered_by"]["name"]), ("accepted", "Example Metals"))
        for tool, arguments in self.WRONG.items():
            with self.subTest(tool, error=True):
                found = self.call(tool, arguments, self.pass_())
                self.assertTrue(found["isError"])
                self.assertEqual(found["structuredContent"]["answered_by"]["name"], "Example Metals")

    def test_t10_errors_of_every_code_name_who_answered(self):
        self.open(level0=30, level1=31, quote='on_deny = "refuse"\nvalid_for = "60s"', more=TOOL.replace(
            'reply = "brass"', 'command = ["false"]'))
        rods = {"summary": "x", "offer_id": "brass-rod", "quantity": 2}
        key, found = {"idempotency_key": "0123456789abcdef"}, []
        quote = {"quote_id": self.ask("request_quote", rods, self.pass_())["quote_id"]}
        self.ask("message", {"text": "x", **key})
        for code, tool, arguments, pass_ in (
            ("invalid_input", "message", {}, None), ("trust_level", "place_order", quote, None),
            ("trust_level", "request_quote", rods, self.pass_(level=0)),
            ("not_found", "get_status", {"quote_id": "q_0"}, None),
            ("not_found", "place_order", quote, self.pass_(sub="agent-8")),
            ("not_quoted", "request_quote", {"summary": "x", "offer_id": "plant"}, None),
            ("idempotency_conflict", "message", {"text": "y", **key}, None), ("unavailable", "get_menu", {}, None),
        ):
            found.append((code, self.call(tool, arguments, pass_)))
        self.clock.pass_on(seconds=61)
        found.append(("quote_expired", self.call("place_order", quote, self.pass_())))
        for _ in range(30):
            last = self.call("check_availability", {"offer_id": "brass-rod"})
        found.append(("cap_reached", last))
        with mock.patch.object(self.shop.store, "calls", side_effect=ValueError):
            found.append(("unavailable", self.call("message", {"text": "x"})))
        for code, result in found:
            with self.subTest(code):
                self.assertIs(result["isError"], True)
                data = result["structuredContent"]
                self.assertEqual(data["error"]["code"], code)
                self.assertEqual(data["answered_by"], {"name": "Example Metals", "role": "business"})
        self.assertEqual({code for code, _ in found}, {code.value for code in ErrorCode})
        self.assertIn("defect in message", self.log.getvalue())

    def test_t10_an_error_of_the_protocol_is_one_and_says_nothing_of_the_library(self):
        for method, params, code in (("tools/call", {"name": "no_such", "arguments": {}}, -32602),
                                     ("tools/call", {"arguments": {}}, -32602), ("tools/call", {"name": 7}, -32602),
                                     ("no/such", {}, -32601)):
            with self.subTest(method, params=params):
                body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
                answer = self.http(body=body, headers=HEADERS)
                self.assertEqual(answer.json()["error"]["code"], code)
                self.assertNotRegex(answer.text, r"pydantic|https?:/|Traceback")

    def pass_(self, **more):
        now = int(self.clock().timestamp())
        return token(iat=now, exp=now + 10**5, **more)

    def waiting(self):
        """Every kind of answer in which a person is needed: what was asked, and the result."""
        priced, pass_ = self.quote()["quote_id"], self.pass_()
        unpriced, held = (self.ask("request_quote", {"summary": "x", **more})["quote_id"]
                          for more in ({}, {"offer_id": "survey"}))
        calls = [
            *(("request_quote", {"summary": "x", **more}) for more in (
                {}, {"offer_id": "x"}, {"offer_id": "site-visit"}, {"offer_id": "survey"}, {"offer_id": "plant"},
                {"offer_id": "brass-rod", "quantity": "a few"}, {"offer_id": "brass-rod", "quantity": 41},
                {"offer_id": "odd-job"}, {"items": [{"offer_id": f"x{at}"} for at in range(50)]})),
            *(("check_availability", more) for more in (
                {}, {"offer_id": "x"}, {"offer_id": "site-visit"}, {"offer_id": "scrap"},
                {"offer_id": "brass-rod", "quantity": "a few"})),
            *(("place_order", {"quote_id": quote}) for quote in (unpriced, held)),
            ("place_order", {"quote_id": priced, "destination": "elsewhere"}),
            *(("get_status", {"quote_id": quote}) for quote in (unpriced, held)),
            ("message", {"text": "x"})]
        return [(call, self.call(*call, pass_)) for call in calls]

    def test_t11_t12_t13_what_is_missing_is_short_texts_and_no_error(self):
        for call, found in self.waiting():
            with self.subTest(call):
                self.assertFalse(found.get("isError"))
                missing = found["structuredContent"]["needs_human"]["missing"]
                self.assertIsInstance(missing, list)
                self.assertTrue(1 <= len(missing) <= 10)
                self.assertTrue(all(isinstance(text, str) and 0 < len(text) <= 200 for text in missing))
                self.assertIn(found["structuredContent"]["answered_by"]["role"], ("business", "person", "agent"))
                self.assertEqual(json.loads(found["content"][0]["text"]), found["structuredContent"])

    def test_t14_the_text_block_is_the_same_json(self):
        self.open(more=TOOL)
        quote = self.quote(self.pass_())["quote_id"]
        order = {"quote_id": quote}
        calls = {"treatyway_contract": {}, **self.ANSWERED, "place_order": order, "get_status": order, "get_menu": {}}
        for tool, arguments in calls.items():
            with self.subTest(tool):
                found = self.call(tool, arguments, self.pass_())
                self.assertEqual(len(found["content"]), 1)
                content = found["structuredContent"]
                self.assertEqual(
                    found["content"][0]["text"] if tool == "get_menu" else json.loads(found["content"][0]["text"]),
                    content["text"] if tool == "get_menu" else content)

    def test_t10_every_error_names_who_answered(self):
        """One of each code, over every tool that can give it; a repeat too."""
        self.open(level0=1, level1=600, more=TOOL, quote='on_deny = "refuse"\nvalid_for = "1h"')
        pass_ = self.pass_()
        expired, key = self.quote(pass_)["quote_id"], {"idempotency_key": "k"}
        self.ask("message", {"text": "x", **key}, pass_)
        self.clock.pass_on(hours=1)
        self.ask("message", {"text": "x"})
        errors = (
            ("trust_level", "place_order", {"quote_id": "q"}, self.pass_(level=1, sub="b")),
            ("trust_level", "request_quote", {"summary": "x"}, self.pass_(level=0, sub="c")),
            ("trust_level", "place_order", {"quote_id": "q"}, None),
            *(("cap_reached", tool, arguments, None) for tool, arguments in (
                ("message", {"text": "x"}), ("request_quote", {"summary": "x"}), ("check_availability", {}),
                ("get_menu", {}))),
            ("not_found", "place_order", {"quote_id": "q"}, pass_),
            ("not_found", "get_status", {"order_id": "o"}, None),
            ("not_found", "message", {"text": "x", "quote_id": "q"}, pass_),
            ("quote_expired", "place_order", {"quote_id": expired}, pass_),
            *(("not_quoted", "request_quote", {"summary": "x", "offer_id": "plant", "idempotency_key": "p"}, pass_)
              for _ in range(2)),
            ("idempotency_conflict", "message", {"text": "y", **key}, pass_))
        for code, tool, arguments, who in errors:
            with self.subTest(code, tool=tool):
                found = self.call(tool, arguments, who)
                self.assertTrue(found["isError"])
                self.assertEqual(found["structuredContent"]["error"]["code"], code)
                by = found["structuredContent"]["answered_by"]
                self.assertEqual(by, {"name": "Example Metals", "role": "business"})


if __name__ == "__main__":
    unittest.main()
