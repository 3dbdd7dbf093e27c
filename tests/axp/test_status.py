"""Requirements A40, A48, A82: the mandate's status where an address answers it, fresh whenever it decides."""

import asyncio
import json
import time

from a202_mcp.axp.mandate_status import StatusReader
from tests.axp.exchange import Reply
from tests.axp.support import MemberCase, message, quote_arguments

PATH = "/status"


class StatusCase(MemberCase):

    def start(self):
        super().start()
        self.answered_at(f"{self.exchange.base}{PATH}")
        self.member.refresh = StatusReader(self.member).refresh
        self.answers("active")

    def answers(self, status, **more):
        self.exchange.answers(PATH, Reply(200, json.dumps({"status": status}).encode(), **more))

    @property
    def asked(self):
        return len(self.exchange.sent(PATH, "GET"))

    async def priced(self, **changes):
        return "price_usd" in await self.quote(**changes)


class Status(StatusCase):

    async def test_a82_parallel_calls_wait_for_one_answer_and_none_is_denied(self):
        answer = asyncio.Event()

        async def slow(request):
            if request.path == PATH:
                await answer.wait()

        self.exchange.during = slow
        asked = [asyncio.get_running_loop().create_task(self.priced(task_id=f"t{at}")) for at in range(16)]
        await self.until(lambda: self.asked)
        before = time.monotonic()
        for body in (message("ping"), message("tools/list"), message("initialize")):
            self.assertEqual((await self.post(body))[0], 200)
        for name, arguments in (("get_skills", {"member_id": "mem_1"}), ("quote", quote_arguments(test=True)),
                                ("contact_test", {"nonce": "n", "member_id": "mem_1"}),
                                ("task_update", {"task_id": "t1", "status": "paid"})):
            await self.call(name, **arguments)
        self.assertLess(time.monotonic() - before, 1)
        self.assertFalse(any(each.done() for each in asked))
        answer.set()
        self.assertEqual((await asyncio.gather(*asked), self.asked), ([True] * 16, 1))

    async def test_a40_an_answer_counts_for_30_seconds_and_then_is_asked_again(self):
        self.assertTrue(await self.priced())
        self.answers("suspended")
        for seconds, allowed, asked in ((29, True, 1), (1, False, 2), (29, False, 2), (1, False, 3)):
            self.clock.forward(seconds=seconds)
            self.assertEqual(await self.priced(task_id=f"t{asked}{seconds}"), allowed)
            self.assertEqual(self.asked, asked)
        self.answers("active")
        self.clock.forward(seconds=30)
        self.assertTrue(await self.priced(task_id="last"))

    async def test_a40_an_answer_that_came_long_ago_denies(self):
        await self.member.refresh()
        self.member.refresh = self.nothing
        self.clock.forward(seconds=60)
        self.assertTrue(await self.priced(task_id="t60"))
        self.clock.forward(seconds=1)
        self.assertFalse(await self.priced(task_id="t61"))

    @staticmethod
    async def nothing():
        """The status is not asked for."""

    async def test_a40_what_is_no_answer_denies_and_is_asked_again_soon(self):
        for at, reply in enumerate((
                Reply(404), Reply(None), Reply(200, b"x"), Reply(200, b"[]"), Reply(200, b'{"status":7}'),
                Reply(302, b'{"status":"active"}', (("location", PATH),)),
                Reply(200, b'{"status":"active","more":"' + b"x" * 1024 * 1024 + b'"}'))):
            with self.subTest(reply=reply.status, at=at):
                self.exchange.answers(PATH, reply)
                self.assertFalse(await self.priced(task_id=f"t{at}"))
                before = self.asked
                self.answers("active")
                self.clock.forward(seconds=4)
                self.assertFalse(await self.priced(task_id=f"u{at}"))
                self.assertEqual(self.asked, before)
                self.clock.forward(seconds=1)
                self.assertTrue(await self.priced(task_id=f"v{at}"))
                self.clock.forward(seconds=30)

    async def test_a40_the_call_carries_nothing_of_ours(self):
        await self.priced()
        [asked] = self.exchange.sent(PATH, "GET")
        self.assertEqual((asked.body, "authorization" in asked.headers, "cookie" in asked.headers), (b"", False, False))


class BeforeAnAct(StatusCase):

    async def test_a48_the_status_is_fresh_before_each_act(self):
        quoted = await self.quote()
        self.clock.forward(seconds=30)
        arguments = self.task_arguments("t1", quoted)
        self.answers("suspended")
        self.assertEqual(await self.call("do_task", **arguments), {"accepted": False})
        self.answers("active")
        self.clock.forward(seconds=30)
        self.assertEqual(await self.call("do_task", **arguments), {"accepted": True})
        self.clock.forward(seconds=30)
        self.answers("suspended")
        await self.settle()
        self.assertEqual(self.exchange.sent("/deliver/t1"), [])
        self.assertIn("mandate does not allow", self.inbox("work")[0].detail)

    async def test_a48_a_choice_is_made_under_a_fresh_status(self):
        await self.member.refresh()
        self.clock.forward(seconds=30)
        self.answers("suspended")
        await self.call("receive_offers", task_id="b1", choose_url=f"{self.exchange.base}/choose/b1", offers=[
            {"offer_id": "o1", "seller": {"id": "s"}, "price_usd": 5, "eta_minutes": 5}])
        await self.settle()
        self.assertEqual((self.exchange.sent("/choose/b1"), self.asked), ([], 2))
