"""Requirements A44, A50, A70, A77, A86: when a call is made again, how long, and where it never goes."""

import asyncio
import hashlib
import json
import unittest
from typing import ClassVar

from a202_mcp.axp.book import MemberStore, put
from a202_mcp.axp.exchange import ExchangeClient
from a202_mcp.axp.outbox_rows import effect
from a202_mcp.axp.outgoing import Answer
from a202_mcp.axp.registration import helper, register
from a202_mcp.axp.sandbox import sandbox
from a202_mcp.axp.serving import LOOK_EVERY, Engine
from tests.axp.exchange import Exchange, Reply
from tests.axp.support import MemberCase, offer

URL = "/deliver/t1"
HASH = hashlib.sha256(b"{}").hexdigest()


class RetryAfter(unittest.TestCase):

    def test_a50_the_wait_that_is_asked_for_in_either_form_at_most_a_minute(self):
        now = 1_798_761_600.0  # 2027-01-01 00:00:00
        for text, wanted in (
                (None, 0), ("0", 0), ("7", 7), ("60", 60), ("61", 60), ("999999999", 60), ("9" * 10, 60),
                ("9" * 5000, 60), ("Fri, 01 Jan 2027 00:00:20 GMT", 20), ("Fri, 01 Jan 2027 00:00:20 +0000", 20),
                ("Friday, 01-Jan-27 00:00:20 GMT", 20), ("Fri Jan  1 00:00:20 2027", 20),
                ("Fri, 01 Jan 2027 01:00:20 +0100", 20), ("Wed, 01 Dec 2027 00:00:00 GMT", 60),
                ("Thu, 31 Dec 2026 23:59:00 GMT", 0), ("-5", 0), ("1.5", 0), ("\u0662", 0), ("", 0), ("soon", 0),
                ("Fri, 99 Jan 2027 00:00:20 GMT", 0), ("Fri, 01 Jan 99999 00:00:00 GMT", 0)):
            with self.subTest(text=text):
                self.assertEqual(Answer(429, retry_after=text).wanted_wait(now), wanted)


class Waits(MemberCase):
    options: ClassVar = {"attempts": 10}

    def wait(self):
        return round(self.member.store.next_due() - self.clock().timestamp(), 3)

    async def failing(self, *replies):
        """The waits between the tries of one delivery that is answered so; the last reply stays."""
        self.exchange.answers(URL, *replies)
        await self.take()
        await self.settle()
        waits = []
        for _ in range(9):
            waits.append(self.wait())
            await self.later(waits[-1])
        return waits

    async def later(self, seconds):
        """Just after that time, what is due by then is done."""
        self.clock.forward(seconds=seconds, milliseconds=1)
        await self.settle()

    async def test_a50_waits_double_up_to_30_seconds(self):
        self.assertEqual(await self.failing(Reply(503)), [0.3, 0.6, 1.2, 2.4, 4.8, 9.6, 19.2, 30, 30])

    async def test_a50_what_is_asked_for_wins_where_it_is_longer(self):
        self.assertEqual(await self.failing(Reply(429, headers=(("retry-after", "5"),))),
                         [5, 5, 5, 5, 5, 9.6, 19.2, 30, 30])

    async def test_a50_after_a_day_of_trying_it_is_given_up(self):
        await self.failing(Reply(503))
        sent = len(self.exchange.sent(URL))
        for at, later in enumerate((300, 300, 85_500), 1):
            self.assertEqual(self.wait(), 300)
            await self.later(later)
            self.assertEqual(len(self.exchange.sent(URL)), sent + at)
        await self.later(300)
        self.assertEqual(([row.state for row in self.member.store.outbox()], len(self.exchange.sent(URL))),
                         (["failed"], sent + 4))
        await self.later(200_000)
        self.assertEqual(len(self.exchange.sent(URL)), sent + 4)


class Redirects(MemberCase):

    async def test_a86_no_call_of_ours_follows_a_redirect(self):
        foreign = Exchange()
        await foreign.start()
        self.addAsyncCleanup(foreign.stop)
        client = ExchangeClient(self.member.settings.exchange, self.member.credentials)
        await self.take()
        await self.call("receive_offers", task_id="b1", offers=[offer("o1", 5)],
                        choose_url=f"{self.exchange.base}/choose/b1")
        await self.settle()
        task, paths = "/api/tasks/b1", []
        right = {task: Reply(200, json.dumps({"deliverable": {"sha256": HASH}}).encode())}
        for status in (301, 302, 303, 307, 308):
            away = Reply(status, headers=(("location", f"{foreign.base}/x"),))
            self.exchange.replies = {path: [away] for path in (
                "/api/members/register", "/api/members/me/verify", "/api/members/me/sandbox", "/deliver/t9",
                f"{task}/deliverable", "/api/members/me/jobs/t1/request-payment", f"{task}/accept", f"{task}/dispute",
                "/choose/b9")}
            self.exchange.replies.update({path: [reply] for path, reply in right.items()})
            await register(self.member, client)
            await helper(client, "verify")
            await sandbox(client, "seller", "summarize_text")
            now = self.clock().timestamp()
            rows = [effect("deliver", "t9", status, {"url": f"{self.exchange.base}/deliver/t9", "json": {}}, now),
                    effect("choose", "b9", status, {"url": f"{self.exchange.base}/choose/b9", "json": {}}, now),
                    effect("check", "b1", status, {"sha256": HASH}, now),
                    *(effect(kind, task_id, status, {"json": {}}, now) for kind, task_id in (
                        ("request_payment", "t1"), ("accept", "b1"), ("dispute", "b1")))]
            self.member.store.remember(rows)
            await self.settle()
            paths.append({each.path for each in self.exchange.requests} >= set(self.exchange.replies))
        self.assertEqual((paths, foreign.requests), ([True] * 5, []))


class Seen(MemberCase):

    async def test_a77_a_row_that_a_command_wrote_is_sent_within_a_second(self):
        self.assertLess(LOOK_EVERY, 1)
        engine = Engine(self.member, ExchangeClient(self.member.settings.exchange, self.member.credentials))
        running = asyncio.get_running_loop().create_task(engine.run())
        await asyncio.sleep(0.1)
        other = MemberStore.open(self.folder / "member-state")
        other.remember([effect("deliver", "t9", 0, {"url": f"{self.exchange.base}/deliver/t9", "json": {}}, 0)])
        other.close()
        async with asyncio.timeout(20):
            await self.until(lambda: self.exchange.sent("/deliver/t9"))
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)

    def test_a44_only_the_first_open_row_of_a_task_is_due_and_none_under_way_counts(self):
        store = self.member.store
        store.remember([effect("deliver", task_id, round_, {}, due) for task_id, round_, due in (
            ("a", 0, 50), ("a", 1, 1), ("b", 0, 70), ("c", 0, 90))])
        first, _, second, third = (row.id for row in store.outbox())
        self.assertEqual([row.id for row in store.due(80)], [first, second])
        for under_way, due in (((), 50), ([first], 70), ([first, second], 90), ([first, second, third], None)):
            self.assertEqual(store.next_due(under_way), due)

    def test_a82_the_tasks_in_hand_are_found_without_reading_the_others(self):
        store = self.member.store
        store.remember([put("sold", f"t{at}", {"state": "working" if at < 2 else "delivered", "day": f"d{at}"})
                        for at in range(5)])
        self.assertEqual(list(store.items_where("sold", "state", ("accepted", "working"))), ["t0", "t1"])
        self.assertEqual(list(store.items_where("sold", "day", ("d4", "d3"))), ["t3", "t4"])
        read = []
        store._connection.set_trace_callback(read.append)
        store.items_where("sold", "state", ("working",))
        store.items_where("sold", "day", ("d1",))
        store._connection.set_trace_callback(None)
        for statement in read:
            [plan] = [row[3] for row in store._connection.execute(f"EXPLAIN QUERY PLAN {statement}")
                      if row[3].startswith("S")]
            self.assertRegex(plan, r"SEARCH axp_items USING INDEX axp_items_by_\w+ \(kind=\? AND <expr>=\?\)")
