"""Requirements A2, A11, A18, A75: what arrives over a real connection, in whatever pieces, and however hostile."""

import asyncio
import json
import time

import httpx2

from tests.axp.process import ProcessCase
from tests.axp.support import DEADLINE, MemberCase, message, signed_headers
from tests.axp.test_signing import EFFECTS

NONCE = "\u20ac\U0001f600\u6f22\u00e9"
BODY = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
    "name": "contact_test", "arguments": {"nonce": NONCE, "member_id": "mem_1"}}}, ensure_ascii=False).encode()
NESTED = json.loads("[" * 300 + "]" * 300)
HOSTILE = (NESTED, float("nan"), "\ud800", -1, True, {}, [], [{}], "..", "\x00", 10 ** 30, "x" * 9000)


class Wire(ProcessCase):

    async def asyncSetUp(self):
        await super().asyncSetUp()
        await self.serve()

    async def raw(self, *pieces):
        """The status and body that are answered to these bytes, sent piece by piece on a connection of their own."""
        async with asyncio.timeout(DEADLINE):
            reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
            for piece in pieces:
                writer.write(piece)
                await writer.drain()
                await asyncio.sleep(0.002)
            head = await reader.readuntil(b"\r\n\r\n")
            sizes = [int(line[15:]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")]
            body = await reader.readexactly(sizes[0]) if sizes else await reader.read()
            writer.close()
            return int(head.split(b" ")[1]), body

    def head(self, body, *more, changes=()):
        """A rightly signed request's first bytes, before the header that says how its body comes."""
        changed = dict(changes)
        headers = [(name, changed.get(name, value)) for name, value in signed_headers(body, int(time.time()))]
        lines = [b"POST /mcp HTTP/1.1", b"host: x", *(name + b": " + value for name, value in [*headers, *more])]
        return b"\r\n".join(lines) + b"\r\n"

    def whole(self, body, *more, **changes):
        return self.head(body, *more, **changes) + b"content-length: %d\r\n\r\n" % len(body) + body

    async def test_a18_multi_byte_text_verifies_in_whatever_pieces_it_comes(self):
        head = self.head(BODY)
        cut = [BODY[at:at + 1] for at in range(len(BODY))]
        chunks = [b"%x\r\n%s\r\n" % (len(piece), piece) for piece in cut]
        for pieces in (
                [self.whole(BODY)], [head + b"content-length: %d\r\n\r\n" % len(BODY), *cut],
                [head + b"transfer-encoding: chunked\r\n\r\n", *chunks, b"0\r\n\r\n"],
                [head + b"transfer-encoding: chunked\r\n\r\n" + b"".join(chunks) + b"0\r\n\r\n"]):
            status, answer = await self.raw(*pieces)
            self.assertEqual((status, json.loads(answer)["result"]["structuredContent"]["nonce"]), (200, NONCE))

    async def test_a11_a75_header_bytes_that_are_no_text_are_refused(self):
        for name, _ in signed_headers(BODY, 0):
            for value in (b"\xff", b"\xc3\xa9", b"\x80abc", b"\xed\xa0\x80" * 20):
                with self.subTest(name=name, value=value):
                    status, answer = await self.raw(self.whole(BODY, changes=[(name, value)]))
                    self.assertEqual((status, answer), (401, b'{"error":"unauthorized"}'))
        status, _ = await self.raw(self.whole(BODY, (b"x-other", b"\xff\xfe"), (b"authorization", b"\xff")))
        self.assertEqual(status, 200)

    async def test_a75_hostile_calls_that_are_no_tests_are_answered_without_5xx(self):
        calls = [(name, {**arguments, key: value})
                 for name, arguments in EFFECTS.items() for key in arguments for value in HOSTILE]
        calls.append(("announcement", {"announcement_id": "a", "title": "t", "body": "x" * 900_000}))
        async with httpx2.AsyncClient(trust_env=False, timeout=DEADLINE) as client:
            for name, arguments in calls:
                with self.subTest(tool=name, arguments=str(arguments)[:200]):
                    status, result = await self.tool(client, name, **arguments)
                    self.assertEqual(status, 200)
                    self.assertNotEqual(result["structuredContent"].get("error"), "internal error")
        self.assertNotIn(b"defect", self.errors)

    async def test_a75_bodies_that_are_none_are_answered_without_5xx(self):
        for body, expected in ((b"", 400), (b"\xff", 400), (b"[" * 100_000, 400), (b"{}", 400), (b"nul", 400),
                               (b" " * (1024 * 1024 + 1), 413), (b"x" * (1024 * 1024), 400)):
            with self.subTest(body=body[:3]):
                self.assertEqual((await self.raw(self.whole(body)))[0], expected)
        for first in (b"GET /mcp HTTP/1.1", b"PUT /mcp HTTP/1.1", b"POST /other HTTP/1.1", b"POST /mcp HTTP/1.0"):
            status, _ = await self.raw(self.whole(b"{}").replace(b"POST /mcp HTTP/1.1", first))
            self.assertLess(status, 500)
        self.assertEqual((await self.post(message("ping")))[0], 200)


class Ids(MemberCase):

    async def test_a25_an_id_comes_back_as_it_was_written(self):
        for written in ("1", "0", "-7", "1.5", "12345678901234567890", "9" * 30, "1e300", "1e-12", "0.1234567890123456",
                        "-123456789012345678", "null", '"seven"', '""', '"\\ud800"', f'"{"x" * 300}"', "9" * 5000):
            with self.subTest(written=written[:30]):
                body = f'{{"jsonrpc":"2.0","id":{written},"method":"ping"}}'.encode()
                status, answer = await self.request(body, signed_headers(body, self.stamp()))
                self.assertEqual((status, answer.decode()), (200, f'{{"jsonrpc":"2.0","id":{written},"result":{{}}}}'))

    async def test_a25_what_can_be_no_id_is_an_invalid_request(self):
        for written in ("true", "[1]", "{}", "NaN", "-Infinity"):
            body = f'{{"jsonrpc":"2.0","id":{written},"method":"ping"}}'.encode()
            status, answer = await self.post(body)
            self.assertEqual((status, answer["error"]["code"], answer["id"]), (400, -32600, None))

    async def test_a38_a_test_of_another_type_is_an_error_of_every_tool(self):
        for name, arguments in EFFECTS.items():
            for test in ("true", 1, 0, [], {}, "false"):
                with self.subTest(tool=name, test=test):
                    self.assertEqual(await self.refused(name, **{**arguments, "test": test}), "test: must be boolean")
        for name in ("contact_test", "get_skills"):
            for test in (True, False, None):
                await self.call(name, **EFFECTS[name], test=test)
