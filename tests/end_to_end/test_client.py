"""The real server and the SDK's client, in both protocol eras, and a state directory that is none."""

import asyncio
import json
import sys
import tempfile
import unittest
from pathlib import Path

from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.shared.exceptions import MCPError
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS, MODERN_PROTOCOL_VERSIONS

from a202_mcp.bilateral.tools import TOOLS
from tests.end_to_end.process import INITIALIZE, REAL, ROOT, Server, call, environment, request

NAMES = [tool.name for tool in TOOLS]


def client(mode):
    """The SDK's client on a server process of its own."""
    parameters = StdioServerParameters(
        command=sys.executable, args=["-m", "a202_mcp"], cwd=str(ROOT), env=environment())
    return Client(stdio_client(parameters), mode=mode)


class BothEras(unittest.TestCase):
    def in_each_era(self, check):
        async def run(mode):
            async with client(mode) as connected:
                await check(connected)

        for mode in ("legacy", "auto", *MODERN_PROTOCOL_VERSIONS):
            with self.subTest(mode):
                asyncio.run(run(mode))

    def test_a_client_lists_reads_is_refused_and_is_told_apart_from_errors(self):
        async def check(connected):
            listed = (await connected.list_tools()).tools
            self.assertEqual([tool.name for tool in listed], NAMES)
            for tool, declared in zip(listed, TOOLS, strict=True):
                self.assertEqual(tool.input_schema, declared.input_schema)

            read = await connected.call_tool("get_transaction_record", {"transaction_id": "txn_nothing_01"})
            self.assertFalse(read.is_error)
            self.assertIs(read.structured_content["known"], False)
            self.assertEqual(json.loads(read.content[0].text), read.structured_content)

            refused = await connected.call_tool("get_transaction_record", {})
            self.assertTrue(refused.is_error)
            self.assertEqual(refused.structured_content["outcome"], "refused")
            self.assertIn("transaction_id", refused.content[0].text.split("\n")[0])

            with self.assertRaises(MCPError):
                await connected.call_tool("settle_everything", {})

        self.in_each_era(check)

    def test_a_client_finds_the_resources(self):
        async def check(connected):
            self.assertEqual(
                [resource.uri for resource in (await connected.list_resources()).resources], ["a202://transactions"])
            templates = (await connected.list_resource_templates()).resource_templates
            self.assertEqual(
                [template.uri_template for template in templates],
                ["a202://transactions/{transaction_id}/record", "a202://transactions/{transaction_id}/bundle",
                 "a202://mandates/{mandate_id}"])
            (contents,) = (await connected.read_resource("a202://transactions")).contents
            self.assertEqual(contents.mime_type, "application/json")
            self.assertEqual(json.loads(contents.text)["count"], 0)
            for address in ("a202://transactions/txn_nothing_01/record", "a202://transactions/txn_nothing_01/bundle",
                            "a202://mandates/mnd_nothing_01", "a202://elsewhere"):
                with self.assertRaisesRegex(MCPError, "Resource not found"):
                    await connected.read_resource(address)

        self.in_each_era(check)

    def test_every_handshake_version_is_answered_in_kind(self):
        for version in HANDSHAKE_PROTOCOL_VERSIONS:
            with self.subTest(version), Server(greet=False) as server:
                hello = {**INITIALIZE, "params": {**INITIALIZE["params"], "protocolVersion": version}}
                self.assertEqual(server.ask(hello)["result"]["protocolVersion"], version)

    def test_instructions_name_every_tool_and_are_short(self):
        with Server() as server:
            instructions = server.greeting["instructions"]
            self.assertLess(len(instructions), 2000)
            for name in NAMES:
                self.assertIn(name, instructions)


class StateDirectory(unittest.TestCase):
    def test_one_that_cannot_be_used_is_told_at_the_first_call_and_costs_no_tool_list(self):
        with tempfile.TemporaryDirectory() as scratch:
            file = Path(scratch) / "a-file"
            file.touch()
            for place in (file, file / "below"):
                with self.subTest(place.name), Server(*REAL, "--state-dir", str(place)) as server:
                    self.assertEqual(len(server.ask(request(1, "tools/list"))["result"]["tools"]), len(NAMES))
                    for ident in (2, 3):
                        reply = server.ask(call(ident, "get_transaction_record", transaction_id="txn_nothing_01"))
                        self.assertIn("The state directory cannot be used", reply["error"]["message"])
                        self.assertNotIn("a-file", json.dumps(reply))
                    self.assertEqual(len(server.ask(request(4, "tools/list"))["result"]["tools"]), len(NAMES))
                    server.end()
                    self.assertIn("a-file", server.stderr())
                    self.assertNotIn("Traceback", server.stderr())

    def test_it_is_made_with_its_parents_and_for_its_owner_only(self):
        with tempfile.TemporaryDirectory() as scratch:
            place = Path(scratch) / "deep" / "er"
            with Server(A202_MCP_STATE_DIR=str(place)) as server:
                server.ask(call(1, "get_transaction_record", transaction_id="txn_nothing_01"))
                server.end()
            self.assertEqual(place.stat().st_mode & 0o777, 0o700)


if __name__ == "__main__":
    unittest.main()
