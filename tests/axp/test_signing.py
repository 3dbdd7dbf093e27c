"""Requirements A1 to A18: every call is judged on its raw bytes, and a refused one leaves no trace."""

import json
import unittest
from typing import ClassVar

from a202_mcp.axp import signing
from a202_mcp.axp.secret import Secret
from tests.axp.support import (
    KEY,
    TOKEN,
    MemberCase,
    message,
    offer,
    quote_arguments,
    sign,
    signed_headers,
    tool_message,
)

BODY = (b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"contact_test","arguments":'
        b'{"nonce":"n-1","member_id":"mem_1"}}}')
METHODS = ("initialize", "server/discover", "ping", "tools/list", "notifications/initialized", "nothing/known")


class Vectors(unittest.TestCase):

    def test_a01_byte_exact_vectors(self):
        key = Secret(KEY)
        self.assertEqual(
            signing.sign(key, b"contact_test.n-1"), "645d93d63ae7616525655999430e4be9c68cd67ce2ad494acdceca672f295b64")
        self.assertEqual(
            signing.sign(key, b"1700000000." + BODY),
            "57ebd9416eaff44860be51e11c0576454783b9f8a885507ef59b518f73341e97")


class Signing(MemberCase):

    async def refuses(self, body, headers, **more):
        before = self.everything()
        status, answer = await self.request(body, headers, **more)
        self.assertEqual((status, answer), (401, b'{"error":"unauthorized"}'))
        self.assertEqual(self.everything(), before)
        self.assertEqual(self.exchange.requests, [])

    def right(self, body=BODY, offset=0):
        return signed_headers(body, self.stamp(offset))

    async def test_a01_a_right_signature_passes_with_headers_in_any_case(self):
        for change in (bytes.lower, bytes.upper, bytes.title):
            status, answer = await self.request(BODY, [(change(name), value) for name, value in self.right()])
            self.assertEqual(status, 200)
            self.assertEqual(json.loads(answer)["result"]["structuredContent"]["nonce"], "n-1")

    async def test_a02_each_missing_header_is_refused(self):
        for missing in range(3):
            with self.subTest(missing=missing):
                await self.refuses(BODY, [header for at, header in enumerate(self.right()) if at != missing])

    async def test_a02_a_repeated_header_is_refused(self):
        for at in range(3):
            with self.subTest(at=at):
                name, value = self.right()[at]
                await self.refuses(BODY, [*self.right(), (name, value)])
                rest = [header for header in self.right() if header[0] != name]
                await self.refuses(BODY, [*rest, (name, value[:3]), (name, value[3:])])

    async def test_a02_a_repeated_authorization_header_is_refused(self):
        for values in ((b"Bearer a", b"Bearer a"), (b"Bearer ", b"a"), (b"", b"")):
            await self.refuses(BODY, [*self.right(), *((b"authorization", value) for value in values)])

    async def test_a03_another_key_is_refused(self):
        await self.refuses(BODY, signed_headers(BODY, self.stamp(), key=KEY[:-1] + "0"))

    async def test_a04_other_body_bytes_are_refused(self):
        for body in (BODY.replace(b"n-1", b"n-2"), BODY + b" ", json.dumps(json.loads(BODY)).encode()):
            with self.subTest(body=body):
                self.assertNotEqual(body, BODY)
                await self.refuses(body, self.right())

    async def test_a05_another_timestamp_under_the_old_signature_is_refused(self):
        headers = self.right()
        headers[1] = (headers[1][0], str(self.stamp(1)).encode())
        await self.refuses(BODY, headers)

    async def test_a06_301_and_310_seconds_old_are_refused(self):
        for offset in (-301, -310):
            await self.refuses(BODY, self.right(offset=offset))

    async def test_a07_295_and_300_seconds_old_pass(self):
        for offset in (-295, -300, 300):
            status, _ = await self.request(BODY, self.right(offset=offset))
            self.assertEqual(status, 200)

    async def test_a08_310_seconds_ahead_is_refused(self):
        for offset in (301, 310):
            await self.refuses(BODY, self.right(offset=offset))

    async def test_a09_timestamps_that_are_no_digits_are_refused(self):
        now = self.stamp()
        for text in (b"", "²".encode(), b"1.7e9", hex(now).encode(), b"+%d" % now, b"-%d" % now, b" %d" % now,
                     b"%d\n" % now, b"0" * 3 + b"%d" % now, "\u0661".encode() * 10):
            with self.subTest(text=text):
                headers = [(b"x-ax-member-id", b"mem_1"), (b"x-ax-timestamp", text),
                           (b"x-ax-signature", sign(text + b"." + BODY).encode())]
                await self.refuses(BODY, headers)

    async def test_a10_another_member_id_with_a_valid_mac_is_refused(self):
        for member_id in ("mem_2", "", "MEM_1", "mem_1 "):
            await self.refuses(BODY, signed_headers(BODY, self.stamp(), member_id=member_id))

    async def test_a11_signatures_of_another_form_are_refused(self):
        right = self.right()[2][1]
        for value in (right[:-1], right.upper(), b"sha256=" + right, right + b"0", b"\xff" * 64, "é".encode() * 32,
                      right[:-1] + b"\n", b""):
            with self.subTest(value=value):
                await self.refuses(BODY, [*self.right()[:2], (b"x-ax-signature", value)])

    async def test_a13_without_a_token_none_is_needed(self):
        for more in ([], [(b"authorization", b"Bearer whatever")]):
            status, _ = await self.request(BODY, [*self.right(), *more])
            self.assertEqual(status, 200)

    async def test_a14_unsigned_calls_of_every_method_are_refused(self):
        for method in METHODS:
            with self.subTest(method=method):
                await self.refuses(message(method), [])

    async def test_a16_forged_and_stale_calls_of_every_tool_leave_no_trace(self):
        bodies = [tool_message(name, arguments) for name, arguments in EFFECTS.items()] + list(map(message, METHODS))
        for body in bodies:
            with self.subTest(body=body):
                await self.refuses(body, [])
                await self.refuses(body, signed_headers(body, self.stamp(), key="another"))
                await self.refuses(body, signed_headers(body, self.stamp(-301)))
                await self.refuses(body + b" ", signed_headers(body, self.stamp()))
        await self.settle()
        self.assertEqual(self.exchange.requests, [])

    async def test_a17_garbage_is_refused_unsigned_and_a_parse_error_signed(self):
        for body in (b"{", b"", b"\xff\xfe", b"[" * 100_000):
            await self.refuses(body, [])
            status, answer = await self.post(body)
            self.assertEqual((status, answer["error"]["code"]), (400, -32700))
        for body in (b"[]", b"1", b'"x"', b"{}", b'{"jsonrpc":"2.0","id":1}'):
            status, answer = await self.post(body)
            self.assertEqual((status, answer["error"]["code"]), (400, -32600))

    async def test_a18_multi_byte_text_in_split_chunks_verifies(self):
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
            "name": "contact_test", "arguments": {"nonce": "\u20ac\U0001f600\u6f22", "member_id": "mem_1"}}},
            ensure_ascii=False).encode()
        pieces = [body[at:at + 1] for at in range(len(body))]
        status, answer = await self.request(body, self.right(body), pieces=pieces)
        self.assertEqual(status, 200)
        self.assertEqual(json.loads(answer)["result"]["structuredContent"]["nonce"], "\u20ac\U0001f600\u6f22")

    async def test_a16_a_body_over_the_limit_is_refused_unhashed(self):
        body = b" " * (1024 * 1024 + 1)
        self.assertEqual((await self.request(body, self.right(body)))[0], 413)
        self.assertEqual((await self.request(body, []))[0], 401)
        length = [(b"content-length", str(len(body)).encode())]
        self.assertEqual((await self.request(b"", [*self.right(b""), *length]))[0], 413)


EFFECTS = {
    "quote": quote_arguments(),
    "do_task": {"task_id": "t1", "task_type": "summarize_text", "params": {}, "price_usd": 7, "eta_minutes": 40,
                "deliver_url": "x"},
    "receive_offers": {"task_id": "b1", "offers": [], "choose_url": "x"},
    "contact_test": {"nonce": "n", "member_id": "mem_1"},
    "get_skills": {"member_id": "mem_1"},
    "task_update": {"task_id": "t1", "status": "paid"},
    "announcement": {"announcement_id": "a1", "title": "t", "body": "b"},
    "mediation": {"mediation_id": "m1", "kind": "dispute", "task_id": "t1", "your_role": "seller"},
    "review": {"task_id": "t1", "your_role": "seller", "counterparty": {}, "task": {}},
}


class Replays(MemberCase):

    async def test_a16_a_replay_has_no_second_effect(self):
        quoted = await self.quote()
        bodies = [tool_message("do_task", self.task_arguments("t1", quoted)), *(
            tool_message(name, EFFECTS[name]) for name in ("task_update", "announcement", "mediation", "review"))]
        for body in bodies:
            with self.subTest(body=body):
                headers = signed_headers(body, self.stamp())
                first = await self.request(body, headers)
                await self.settle()
                kept = len(self.objects("seller", "t1")), len(self.exchange.requests), len(self.member.store.outbox())
                self.clock.forward(seconds=200)
                self.assertEqual(await self.request(body, headers), first)
                await self.settle()
                self.assertEqual(kept, (
                    len(self.objects("seller", "t1")), len(self.exchange.requests), len(self.member.store.outbox())))
        self.assertEqual(len(self.runs), 1)

    def left(self):
        """Everything that is kept, but when a step of ours was looked at last."""
        lines = self.everything().splitlines()
        return [line for line in lines if not line.startswith('INSERT INTO "axp_outbox"')], [
            (row.kind, row.task_id, row.round, row.body, row.state) for row in self.member.store.outbox()]

    async def test_a16_a_replay_of_what_waits_is_refused_or_only_noted_leaves_nothing(self):
        await self.take("t9")
        await self.settle()
        chosen, held, denied = ([offer("o", price)] for price in (5, 15, 30))
        url = f"{self.exchange.base}/choose/b1"
        calls = [("quote", quote_arguments(params={"text": "x", "pages": pages}, task_id=f"q{pages}"))
                 for pages in (4, 100, 500)]
        calls += [("receive_offers", {"task_id": f"b{at}", "offers": offers, "choose_url": given})
                  for at, (offers, given) in enumerate((
                      (chosen, url), (held, url), (denied, url), (held, "https://elsewhere.invalid/x")))]
        calls += [("task_update", {"task_id": task_id, "status": "accepted", "event": "reminder"})
                  for task_id in ("t9", "unknown")]
        calls += [("task_update", {"task_id": "t9", "status": status}) for status in ("message", "redo_requested")]
        for name, arguments in calls:
            with self.subTest(name=name, arguments=str(arguments)[:60]):
                body = tool_message(name, arguments)
                headers = signed_headers(body, self.stamp(299))
                self.assertEqual((await self.request(body, headers))[0], 200)
                await self.settle()
                kept, sent = self.left(), len(self.exchange.requests)
                for _ in range(5):
                    self.clock.forward(seconds=100)
                    self.assertEqual((await self.request(body, headers))[0], 200)
                    await self.settle()
                if arguments.get("status") == "redo_requested":
                    self.assertEqual((len(self.exchange.requests), len(self.runs)), (sent, 2))
                    continue
                self.assertEqual((self.left(), len(self.exchange.requests)), (kept, sent))


class Listed(MemberCase):
    options: ClassVar = {"only_tasks": "listed"}

    async def test_a16_a_replayed_list_for_a_task_that_is_not_listed_is_shown_once(self):
        arguments = {"task_id": "b1", "offers": [offer("o", 5)], "choose_url": f"{self.exchange.base}/choose"}
        for _ in range(3):
            await self.call("receive_offers", **arguments)
        self.assertEqual((len(self.inbox()), len(self.member.store.history("b1"))), (1, 2))


class Token(MemberCase):
    options: ClassVar = {"secrets": 'platform_key = "env:AXP_TEST_KEY"\nauth_token = "env:AXP_TEST_TOKEN"'}

    async def test_a12_a_missing_or_wrong_token_is_refused(self):
        right = signed_headers(BODY, self.stamp())
        for value in (None, b"Bearer " + TOKEN[:-1].encode(), TOKEN.encode(), b"Basic " + TOKEN.encode(),
                      b"Bearer  " + TOKEN.encode(), b"Bearer \xff"):
            with self.subTest(value=value):
                more = [] if value is None else [(b"authorization", value)]
                status, _ = await self.request(BODY, [*right, *more])
                self.assertEqual(status, 401)
        wanted = b"Bearer " + TOKEN.encode()
        for name, scheme in ((b"authorization", b"Bearer "), (b"AUTHORIZATION", b"bearer ")):
            status, _ = await self.request(BODY, [*right, (name, scheme + TOKEN.encode())])
            self.assertEqual(status, 200)
        for values in ((wanted, wanted), (wanted, b""), (wanted[:9], wanted[9:])):
            status, _ = await self.request(BODY, [*right, *((b"Authorization", value) for value in values)])
            self.assertEqual(status, 401)


class Unregistered(MemberCase):
    options: ClassVar = {"secrets": ""}

    async def test_a15_without_a_key_everything_is_refused(self):
        for body in (BODY, *map(message, METHODS)):
            for key in (KEY, ""):
                status, _ = await self.request(body, signed_headers(body, self.stamp(), key=key))
                self.assertEqual(status, 401)

    async def test_a15_a_stored_key_counts_as_soon_as_it_is_there(self):
        folder = self.member.settings.state_dir / "secrets"
        folder.mkdir()
        (folder / "platform_key").write_text(KEY + "\n")
        (folder / "platform_key").chmod(0o600)
        status, _ = await self.request(BODY, signed_headers(BODY, self.stamp()))
        self.assertEqual(status, 200)
