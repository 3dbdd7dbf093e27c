"""Every refusal once over a real connection, with nothing booked: T30, T35 to T42, T54, T63, T66, T74, T82, T88."""

import json
import time
import unittest

import httpx2

from a202_mcp.treatyway.book import open_book
from tests.treatyway.processes import HEADERS, Process
from tests.treatyway.shops import KEY, b64, claims, config, signed, token

ADDRESS = "http" + "s://"
ORDER = "place_order requires trust level 2"
SLOW = """
[[offers]]
id = "brief"
name = "Brief"
kind = "good"
valid_for = "1s"
stock = 9
price = { per_unit = "30.00" }
"""


class Refused(Process):
    """One server for all of it: what a refusal changed would show in the next one."""

    def setUp(self):
        super().setUp()
        self.file.write_text(config(offers=SLOW, level0=40, level1=41))
        self.served = self.serve()

    def held(self):
        """Everything that could have been booked."""
        store = open_book(self.folder / "seller-state")
        try:
            return (list(store.entries("order")), [list(store.entries(kind)) for kind in ("stock", "quote", "message")],
                    store._connection.execute("SELECT * FROM shop_bookings").fetchall())
        finally:
            store.close()

    def quoted(self, offer="brass-rod", **more):
        found = self.call(self.served, "request_quote", {"summary": "x", "offer_id": offer, "quantity": 2, **more},
                          token())
        return found["structuredContent"]["quote_id"]

    def refuses(self, code, message, tool, arguments, pass_=None):
        before = self.held()
        found = self.call(self.served, tool, arguments, pass_)
        self.assertTrue(found["isError"], found)
        data = found["structuredContent"]
        self.assertEqual((data["error"]["code"], data["error"]["message"]), (code, message))
        self.assertEqual(data["answered_by"], {"name": "Example Metals", "role": "business"})
        self.assertEqual(self.held(), before)

    def test_t30_t35_t37_levels(self):
        quote = {"quote_id": self.quoted()}
        for pass_ in (None, token(level=0), token(level=1), token(level=None), token(level="2")):
            self.refuses("trust_level", ORDER, "place_order", quote, pass_)
        self.refuses("trust_level", "request_quote requires trust level 1", "request_quote", {"summary": "x"},
                     token(level=0))
        self.assertEqual(
            self.call(self.served, "place_order", quote, token())["structuredContent"]["status"], "accepted")

    def test_t42_quotes_that_are_unknown_another_s_expired_or_unpriced(self):
        unknown = "No quote or order with that id"
        foreign, brief = {"quote_id": self.quoted()}, {"quote_id": self.quoted("brief")}
        self.refuses("not_found", unknown, "place_order", {"quote_id": "q_0"}, token())
        self.refuses("not_found", unknown, "place_order", foreign, token(sub="agent-8"))
        self.refuses("not_found", unknown, "get_status", foreign, token(sub="agent-8"))
        self.refuses("not_found", unknown, "get_status", {"order_id": "o_0"})
        self.until(lambda: self.call(self.served, "get_status", brief, token())["structuredContent"]["status"]
                   == "expired")
        self.refuses("quote_expired", "This quote has expired; ask again with request_quote", "place_order", brief,
                     token())
        unpriced = {"quote_id": self.quoted("odd-job")}
        before = self.held()
        found = self.call(self.served, "place_order", unpriced, token())
        self.assertNotIn("order_id", found["structuredContent"])
        self.assertEqual(found["structuredContent"]["status"], "needs_human")
        self.assertEqual(self.held(), before)

    def test_t22_t48_t49_inputs(self):
        for tool, arguments, message in (
            ("request_quote", {}, "summary is required"), ("request_quote", {"summary": " "}, "summary is required"),
            ("message", {}, "text is required"), ("place_order", {}, "quote_id is required"),
            ("request_quote", {"summary": 7}, "summary: must be text"),
            ("check_availability", {"start": "soon"}, "start: must be a date or an RFC 3339 time"),
            ("request_quote", [], "arguments: must be one JSON object"),
        ):
            with self.subTest(tool, arguments=arguments):
                self.refuses("invalid_input", message, tool, arguments, token())

    def test_t54_caps(self):
        for _ in range(40):
            self.call(self.served, "check_availability", {"offer_id": "brass-rod"})
        before = self.held()
        for tool, arguments in (("message", {"text": "x"}), ("request_quote", {"summary": "x"}),
                                ("check_availability", {})):
            found = self.call(self.served, tool, arguments)["structuredContent"]
            self.assertEqual(found["error"]["code"], "cap_reached")
            self.assertRegex(found["error"]["message"], r"\ANo more requests accepted for now; try again after "
                                                        r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ\Z")
            self.assertEqual(found["answered_by"]["name"], "Example Metals")
        self.assertEqual(self.held(), before)
        self.assertNotIn("error", self.call(self.served, "describe_offer", {})["structuredContent"])
        self.assertNotIn("error", self.call(self.served, "message", {"text": "x"}, token())["structuredContent"])

    def test_t63_t66_t74_passes_that_are_worth_nothing(self):
        now = int(time.time())
        first = f"{b64(json.dumps({'alg': 'none', 'kid': 'test-1'}).encode())}.{b64(json.dumps(claims()).encode())}."
        quote, before = {"quote_id": self.quoted()}, self.held()
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
                           "params": {"name": "place_order", "arguments": quote}})
        for what, pass_ in (
            ("expired", token(exp=now - 1)), ("another audience", token(aud="other.example")),
            ("another issuer", token(iss="x")), ("no algorithm", first),
            ("another algorithm", signed({"alg": "HS256", "kid": "test-1"}, claims(), KEY)),
            ("unknown key", signed({"alg": "ES256", "kid": "x"}, claims(), KEY)), ("no token", "x"),
            ("not yet", token(nbf=now + 100)), ("too long", "x" * 9000),
        ):
            with self.subTest(what):
                answer = self.post(self.served, body, pass_)
                self.assertEqual((answer.status_code, answer.json()), (401, {"error": "invalid_token"}))
                self.assertEqual(answer.headers["www-authenticate"], 'Bearer error="invalid_token"')
        self.assertEqual(self.held(), before)

    def test_t88_origins_and_hosts(self):
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
                           "params": {"name": "message", "arguments": {"text": "x"}}})
        before = self.held()
        for headers in ({"origin": ADDRESS + "evil.example"}, {"origin": "null"}, {"host": "evil.example"},
                        {"host": "metals.example.evil.example"}, {"origin": ADDRESS + "[::1"}, {"host": "[::1"}):
            with self.subTest(headers):
                self.assertEqual(self.post(self.served, body, **headers).status_code, 403)
        self.assertEqual(self.held(), before)
        for headers in ({"origin": "http:" + "//127.0.0.2:3000"}, {"host": "localhost.:8401"}, {"host": "127.0.0.2"},
                        {"host": "LOCALHOST"}, {"host": "metals.example."}, {"host": "[::ffff:127.0.0.1]:1"},
                        {"origin": ADDRESS + "METALS.example"}):
            with self.subTest(headers):
                self.assertEqual(self.post(self.served, body, **headers).status_code, 200)

    def test_t82_hostile_bodies(self):
        before = self.held()
        call = '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"message","arguments":%s}}'
        for body, status in (
            (b"", 400), (b"{", 400), (b"\xff\xfe", 400), (b"[]", 400), (b"[" * 100_000, 400), (b"7", 400),
            (b'[{"jsonrpc":"2.0","id":1,"method":"tools/list"}]', 400), (b"x" * (1024 * 1024 + 1), 413),
            (b'{"jsonrpc":"1.0","id":1,"method":"tools/list"}', 400), (b'{"jsonrpc":"2.0","id":1,"method":7}', 400),
            ((call % ("[" * 100_000)).encode(), 400), ((call % "7").encode(), 200), ((call % "NaN").encode(), 200),
        ):
            with self.subTest(body[:50]):
                answer = self.post(self.served, body)
                self.assertEqual(answer.status_code, status, answer.text)
                self.assertNotRegex(answer.text, r"pydantic|Traceback|https?:/")
        self.assertEqual(self.held(), before)
        self.assertEqual(self.call(self.served, "describe_offer", {}).get("isError", False), False)
        self.assertNotIn("Traceback", "".join(self.served.said))
        self.assertNotIn("defect", "".join(self.served.said))


class Off(Process):
    def test_t38_t39_a_tool_that_is_off(self):
        self.file.write_text(config(place_order="false"))
        served = self.serve()
        quote = self.call(served, "request_quote", {"summary": "x", "offer_id": "brass-rod", "quantity": 2}, token())
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
            "name": "place_order", "arguments": {"quote_id": quote["structuredContent"]["quote_id"]}}}
        answer = self.post(served, json.dumps(body), token()).json()
        self.assertEqual(answer["error"]["code"], -32602)
        self.assertTrue(answer["error"]["message"].startswith("Unknown tool."))
        listed = self.post(served, json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/list"})).json()
        self.assertNotIn("place_order", [tool["name"] for tool in listed["result"]["tools"]])
        self.assertEqual(self.seller("stock", "brass-rod").strip(), "40")
        kinds = [item["kind"] for item in json.loads(self.seller("inbox", "--all", "--json"))["items"]]
        self.assertEqual(kinds, ["quote"])


class Bind(Process):
    def test_t88_on_another_loopback_address(self):
        served = self.serve("--host", "127.0.0.2")
        self.assertIn("127.0.0.2", served.url)
        body = '{"jsonrpc":"2.0","id":1,"method":"tools/list"}'
        self.assertEqual(httpx2.post(served.url, content=body, headers=HEADERS, trust_env=False).status_code, 200)
        self.assertEqual(self.post(served, body, host="evil.example").status_code, 403)


if __name__ == "__main__":
    unittest.main()
