"""Declaration and the form of answers: T1 to T14."""

import json
import unittest
from typing import ClassVar

from tests.treatyway.shops import MONDAY, ShopTest, token

FIVE = ["describe_offer", "check_availability", "request_quote", "get_status", "message"]
SIX = ["describe_offer", "check_availability", "request_quote", "place_order", "get_status", "message"]


class Declared(ShopTest):
    CHOICES: ClassVar = {"place_order": "false", "more": """
[[custom_tools]]
name = "get_menu"
description = "Alloys on the shelf."
reply = "brass, steel"
"""}

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
        self.assertIn("treatyway-contract: 1", document["result"]["instructions"].splitlines())

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

    def pass_(self):
        now = int(MONDAY.timestamp())
        return token(iat=now, exp=now + 600)

    def test_t12_t13_what_is_missing_is_short_texts_and_no_error(self):
        for arguments in ({"summary": "a job"}, {"summary": "x", "offer_id": "site-visit"},
                          {"summary": "x", "offer_id": "brass-rod", "quantity": "a few"}):
            with self.subTest(arguments):
                found = self.call("request_quote", arguments)
                self.assertFalse(found.get("isError"))
                missing = found["structuredContent"]["needs_human"]["missing"]
                self.assertTrue(1 <= len(missing) <= 10 and all(0 < len(text) <= 200 for text in missing))

    def test_t14_the_text_block_is_the_same_json(self):
        for tool, arguments in {"treatyway_contract": {}, **self.ANSWERED}.items():
            with self.subTest(tool):
                found = self.call(tool, arguments)
                self.assertEqual(len(found["content"]), 1)
                self.assertEqual(json.loads(found["content"][0]["text"]), found["structuredContent"])


if __name__ == "__main__":
    unittest.main()
