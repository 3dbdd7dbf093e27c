"""The real server over both transports: T79 (killed), T82 to T84, T88, and a buyer's whole session."""

import asyncio
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import ClassVar

import httpx2
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.shared.exceptions import MCPError
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from a202_mcp.treatyway.http import HttpApp
from tests.treatyway.processes import ENVIRONMENT, Process, over_http
from tests.treatyway.shops import ShopTest, token

ERAS = ("legacy", *MODERN_PROTOCOL_VERSIONS)


async def answer(client, tool, **arguments):
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, result
    return result.structured_content


class Sessions(Process):
    async def shopping(self, client):
        """What a buyer does without ordering; the id of a priced quote and of one that a person answered."""
        self.assertEqual((await answer(client, "treatyway_contract"))["contract"], "treatyway")
        self.assertTrue((await answer(client, "describe_offer", kind="good"))["offers"])
        self.assertTrue((await answer(client, "check_availability", offer_id="brass-rod", quantity=2))["available"])
        priced = await answer(client, "request_quote", summary="rods", offer_id="brass-rod", quantity=20)
        self.assertEqual(priced["price"], {"amount": "225.00", "currency": "USD"})
        unpriced = await answer(client, "request_quote", summary="a gate of an odd shape")
        self.assertEqual(unpriced["price"], "needs_human")
        await asyncio.to_thread(self.seller, "answer", unpriced["quote_id"], "--price", "480.00", "--as", "Ada")
        found = await answer(client, "get_status", quote_id=unpriced["quote_id"])
        self.assertEqual((found["price"]["amount"], found["answered_by"]["name"]), ("480.00", "Ada"))
        await answer(client, "message", text="Thank you", quote_id=priced["quote_id"])
        return priced["quote_id"], unpriced["quote_id"]

    def test_t83_a_buyer_s_session_over_http(self):
        served = self.serve()

        async def run(mode):
            async with over_http(served.url, token(), mode) as client:
                for quote in await self.shopping(client):
                    ordered = await answer(client, "place_order", quote_id=quote)
                    self.assertEqual(ordered["status"], "accepted")
                    found = await answer(client, "get_status", order_id=ordered["order_id"])
                    self.assertEqual(found["status"], "accepted")
                    status = json.loads(self.seller("status", ordered["order_id"], "--json"))
                    self.verified(status["transaction_id"])

        asyncio.run(run(ERAS[0]))
        self.seller("stock", "brass-rod", "40")
        asyncio.run(run(ERAS[-1]))
        self.assertEqual(served.end(), 128 + signal.SIGTERM)

    def test_t84_a_session_over_stdio_where_no_pass_travels(self):
        parameters = StdioServerParameters(
            command=sys.executable, args=["-m", "a202_mcp", "seller", "--config", str(self.file)], env=ENVIRONMENT)

        async def run(mode):
            async with Client(stdio_client(parameters, errlog=quiet), mode=mode) as client:
                quote, _ = await self.shopping(client)
                refused = await client.call_tool("place_order", {"quote_id": quote})
                self.assertTrue(refused.is_error)
                self.assertIn("place_order requires trust level 2", refused.content[0].text)
                with self.assertRaises(MCPError):
                    await client.call_tool("get_menu", {})

        with Path(os.devnull).open("w") as quiet:
            for mode in ERAS:
                with self.subTest(mode):
                    asyncio.run(run(mode))

    def test_t84_nothing_but_protocol_on_stdout(self):
        lines = [
            '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},'
            '"clientInfo":{"name":"t","version":"1"}}}',
            '{"jsonrpc":"2.0","method":"notifications/initialized"}', "not json", '{"jsonrpc":"2.0"}',
            '{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"message","arguments":{"text":"hi"}}}',
            '{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"message","arguments":"{}"}}',
            '{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"place_order","arguments":[]}}',
            '{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"place_order","arguments":{"a":nonsense}}}',
            '{"jsonrpc":"2.0","id":6,"method":"tools/call","params":{"name":"message","arguments":'
            '{"text":"hi","x":["\\ud800",1e999]}}}']
        done = subprocess.run(
            [sys.executable, "-m", "a202_mcp", "seller", "--config", str(self.file)], input="\n".join(lines) + "\n",
            capture_output=True, text=True, env=ENVIRONMENT, timeout=60, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        documents = {each.get("id"): each for each in map(json.loads, done.stdout.splitlines())}
        self.assertIn("message_id", documents[2]["result"]["structuredContent"])
        codes = {at: documents[at]["result"]["structuredContent"]["error"]["code"] for at in (3, 4, 5)}
        self.assertEqual(codes, {3: "invalid_input", 4: "trust_level", 5: "trust_level"})
        self.assertIn("message_id", documents[6]["result"]["structuredContent"])
        self.assertNotIn("Traceback", done.stderr)

    def test_t79_what_was_answered_survives_a_kill(self):
        served = self.serve()

        async def shop():
            async with over_http(served.url, token()) as client:
                quote = await answer(client, "request_quote", summary="rods", offer_id="brass-rod", quantity=2)
                return quote, await answer(client, "place_order", quote_id=quote["quote_id"])

        quote, ordered = asyncio.run(shop())
        served.end(signal.SIGKILL)
        again = self.serve()

        async def look():
            async with over_http(again.url, token()) as client:
                return (await answer(client, "get_status", quote_id=quote["quote_id"]),
                        await answer(client, "place_order", quote_id=quote["quote_id"]))

        found, repeated = asyncio.run(look())
        self.assertEqual((found["status"], found["order_id"]), ("accepted", ordered["order_id"]))
        self.assertEqual(repeated, ordered)
        self.assertEqual(self.seller("stock", "brass-rod").strip(), "38")

    def test_two_servers_and_two_orders_on_one_quote(self):
        servers = [self.serve(), self.serve()]

        async def run():
            async with over_http(servers[0].url, token()) as client:
                priced = await answer(client, "request_quote", summary="r", offer_id="brass-rod", quantity=2)
                quote = priced["quote_id"]

            async def place(url):
                async with over_http(url, token()) as client:
                    return await answer(client, "place_order", quote_id=quote)

            return await asyncio.gather(*(place(served.url) for served in servers * 3))

        found = asyncio.run(run())
        self.assertEqual({each["status"] for each in found}, {"accepted"})
        self.assertEqual(len({each["order_id"] for each in found}), 1)
        self.assertEqual(self.seller("stock", "brass-rod").strip(), "38")


class Doors(ShopTest):
    CALL = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
                       "params": {"name": "describe_offer", "arguments": {}}})
    HEADERS: ClassVar = {"content-type": "application/json", "accept": "application/json, text/event-stream"}

    def knock(self, headers=(), app=None, **more):
        return self.http(body=self.CALL, headers={**self.HEADERS, **dict(headers)}, app=app, **more)

    def test_t88_a_foreign_origin_is_refused(self):
        scheme = "https" + "://"
        for origin, status in ((scheme + "evil.example", 403), ("null", 403), ("http:" + "//localhost:3000", 200),
                               (scheme + "metals.example", 200), (scheme + "metals.example.evil.example", 403)):
            with self.subTest(origin):
                self.assertEqual(self.knock({"origin": origin}).status_code, status)

    def test_the_host_on_a_loopback_bind(self):
        for host, status in (("evil.example", 403), ("metals.example", 200), ("localhost:8401", 200), ("[::1]:9", 200)):
            with self.subTest(host):
                self.assertEqual(self.knock({"host": host}).status_code, status)
        self.assertEqual(self.knock({"host": "evil.example"}, HttpApp(self.desk, loopback=False)).status_code, 200)

    def test_paths_methods_and_health(self):
        self.assertEqual(self.http("GET", "/healthz").status_code, 200)
        self.assertEqual(self.http("POST", "/other", body="{}").status_code, 404)
        self.assertEqual(self.http("GET").status_code, 405)

    def test_the_peer_behind_a_proxy(self):
        self.open(level0=1, level1=2)
        body = self.CALL.replace("describe_offer", "message").replace('"arguments": {}', '"arguments": {"text": "x"}')

        def ask(forwarded, by, peer="192.0.2.1"):
            app = HttpApp(self.desk, forwarded_by=by)
            headers = {**self.HEADERS, "x-forwarded-for": forwarded}
            found = self.http(body=body, headers=headers, app=app, peer=peer).json()["result"]["structuredContent"]
            return "error" not in found

        self.assertTrue(ask("203.0.113.1", "192.0.2.1"))
        self.assertFalse(ask("198.51.100.1, 203.0.113.1", "192.0.2.1"))
        self.assertTrue(ask("203.0.113.1, 203.0.113.2", "192.0.2.1"))
        self.assertTrue(ask("203.0.113.9", None))
        self.assertFalse(ask("203.0.113.8", None))

    def test_t82_hostile_input_is_answered(self):
        deep = "[" * 3000 + "]" * 3000
        call = self.CALL
        bodies = [
            b"", b"{", b"\xff\xfe", b"[]", b"[1,2]", b"null", b"7", b'"x"', deep.encode(), b'{"jsonrpc":"2.0"}',
            b'{"jsonrpc":"1.0","id":1,"method":"tools/list"}', b'{"jsonrpc":"2.0","id":{},"method":"tools/list"}',
            b'{"jsonrpc":"2.0","id":1,"method":7}', b'{"jsonrpc":"2.0","id":1,"method":"no/such"}',
            call.replace('"arguments": {}', f'"arguments": {deep}').encode(),
            call.replace('"arguments": {}', '"arguments": {"a": ' + "[" * 50 + "]" * 50 + "}").encode(),
            call.replace('"arguments": {}', '"arguments": []').encode(),
            call.replace('"arguments": {}', '"arguments": "x"').encode(),
            call.replace('"arguments": {}', '"arguments": null').encode(),
            call.replace('"name": "describe_offer"', '"name": 7').encode(),
            call.replace('{}', '{"query": "\\ud800"}').encode(), call.replace('{}', '{"a": 1, "a": 2}').encode(),
            call.replace('{}', '{"query": NaN}').encode(), call.replace('{}', '{"query": 1e999}').encode(),
            call.replace('{}', '{"query": "' + "x" * 900_000 + '"}').encode(),
            b'{"jsonrpc":"2.0","method":"notifications/x"}', b'{"jsonrpc":"2.0","id":1,"result":{}}']
        for body in bodies:
            for headers in (self.HEADERS, {}, {**self.HEADERS, "mcp-protocol-version": MODERN_PROTOCOL_VERSIONS[-1]}):
                with self.subTest(body[:60], headers=len(headers)):
                    response = self.http(body=body, headers=headers)
                    self.assertLess(response.status_code, 500, response.text)
                    self.assertNotIn("Traceback", response.text)
        self.assertEqual(self.http(body=b"x" * (1024 * 1024 + 1), headers=self.HEADERS).status_code, 413)
        self.assertNotIn("Traceback", self.log.getvalue())

    def test_32_calls_at_once(self):
        async def run():
            served = HttpApp(self.desk)
            async with served.manager.run():
                transport = httpx2.ASGITransport(app=served, client=("203.0.113.7", 1))
                async with httpx2.AsyncClient(transport=transport, base_url="http:" + "//127.0.0.1") as client:
                    body = self.CALL.replace("describe_offer", "request_quote").replace(
                        '"arguments": {}', '"arguments": {"summary": "x", "offer_id": "brass-rod", "quantity": 2}')
                    calls = (client.post("/mcp", content=body, headers=self.HEADERS) for _ in range(32))
                    return await asyncio.gather(*calls)

        found = [each.json()["result"]["structuredContent"] for each in asyncio.run(run())]
        self.assertEqual(len({each["quote_id"] for each in found}), 32)
        self.assertTrue(all(each["price"]["amount"] == "30.00" for each in found))

    def test_a_defect_says_nothing(self):
        self.shop.authority.store.entry = None
        message = self.fails("unavailable", "request_quote", {"summary": "secret words", "offer_id": "brass-rod",
                                                              "quantity": 2})
        self.assertEqual(message, "The seller's server could not answer; try again later")
        self.assertIn("defect in request_quote", self.log.getvalue())
        self.assertNotIn("secret words", self.log.getvalue())
        del self.shop.authority.store.entry
