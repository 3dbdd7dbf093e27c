"""Requirements A35, A50 to A57, A65, A66, A76, A77, A85: how calls, their tasks and what waits of them end together."""

import asyncio
import json
import signal
from dataclasses import replace
from functools import partial
from typing import ClassVar

import httpx2

from a202_mcp.axp import owner
from a202_mcp.axp.mandates import turned
from a202_mcp.axp.view import Plan
from a202_mcp.axp.work import _begun
from a202_reference.registries import MandateStatus
from tests.axp.exchange import Reply
from tests.axp.process import ProcessCase
from tests.axp.support import MemberCase, offer, quote_arguments
from tests.axp.test_buyer import ACCEPT, CONTENT, DISPUTE, HASH, TASK, WORK, BuyerCase

URL = "/deliver/t1"
CHOOSE = "/choose/b1"
FAILS = (Reply(404), Reply(400), Reply(409), Reply(302))
DAY = 24 * 3600


def works_until_told(case):
    """Have the worker wait for a file; its path."""
    go = case.folder / "go"
    case.work_done(f"import pathlib, time\nwhile not pathlib.Path({str(go)!r}).exists(): time.sleep(0.01)\nprint(1)")
    return go


class Ended(MemberCase):
    """What a test says of one row of the outbox, its task and its item."""

    def state(self, kind, task_id):
        return self.member.store.item(kind, task_id)["state"]

    async def pass_time(self, **delta):
        self.clock.forward(**delta)
        await self.settle()


class Sales(Ended):

    async def test_a51_a_delivery_that_failed_is_the_end_of_its_task_and_frees_its_place(self):
        for at, reply in enumerate(FAILS):
            with self.subTest(status=reply.status):
                task_id = f"t{at}"
                self.exchange.answers(f"/deliver/{task_id}", reply)
                self.assertEqual(await self.take(task_id), {"accepted": True})
                await self.settle()
                self.assertEqual(self.state("sold", task_id), "failed")
        self.assertEqual((await self.quote(task_id="next"))["availability"], "high")
        for item in self.inbox("outbox"):
            self.assertRegex(item.detail, r"^deliver failed: the exchange answered \d+$")
            with self.assertRaisesRegex(owner.RefusedError, "the exchange refused it"):
                owner.approve(self.member, item)
            owner.reject(self.member, item)
        self.assertEqual(self.inbox(), [])

    async def gave_up(self):
        self.exchange.answers(URL, Reply(503))
        await self.take()
        await self.settle()
        for _ in range(5):
            await self.pass_time(seconds=30)
        self.assertEqual(len(self.exchange.sent(URL)), 6)
        [item] = self.inbox("outbox")
        return item

    async def test_a50_the_item_of_a_row_waits_as_long_as_the_row_is_tried(self):
        item = await self.gave_up()
        for tries in (7, 8):
            owner.approve(self.member, item)
            await self.settle()
            self.assertEqual(len(self.exchange.sent(URL)), tries)
            [item] = self.inbox("outbox")
        self.exchange.answers(URL, Reply(200))
        await self.pass_time(minutes=5)
        self.assertEqual((self.inbox(), self.state("sold", "t1")), ([], "delivered"))
        self.assertEqual(self.member.store.inbox_item(item.id).status, "settled")
        with self.assertRaisesRegex(owner.RefusedError, "settled already"):
            owner.approve(self.member, item)

    async def test_a50_a_row_that_the_owner_rejects_is_sent_no_more(self):
        owner.reject(self.member, await self.gave_up())
        for _ in range(3):
            await self.pass_time(hours=1)
        self.assertEqual((len(self.exchange.sent(URL)), self.inbox(), self.state("sold", "t1")), (6, [], "failed"))
        self.assertEqual((await self.quote(task_id="next"))["availability"], "high")

    async def test_a50_a_call_that_arrives_while_it_is_being_rejected_has_arrived(self):
        item = await self.gave_up()

        async def rejected(_):
            owner.reject(self.member, item)

        self.exchange.during = rejected
        self.exchange.answers(URL, Reply(200))
        await self.pass_time(minutes=5)
        self.assertEqual((self.state("sold", "t1"), self.inbox()), ("delivered", []))

    async def test_a50_after_a_day_it_has_failed_and_the_owner_may_have_it_tried_for_another(self):
        item = await self.gave_up()
        before = DAY // 300
        for at in range(before + 2):
            self.clock.forward(minutes=5)
            if at in (before - 1, before, before + 1):
                await self.settle()
            else:  # a day of tries, without the network
                self.member.store._connection.execute(
                    "UPDATE axp_outbox SET next_at = ? WHERE state = 'open'", (self.clock().timestamp() + 300,))
        [row] = [row for row in self.member.store.outbox() if row.kind == "deliver"]
        self.assertEqual((row.state, self.state("sold", "t1")), ("failed", "failed"))
        [ended] = self.inbox("outbox")
        self.assertEqual((ended.id, ended.detail), (
            item.id, "deliver failed: the exchange answered 503, for a day"))
        tries = len(self.exchange.sent(URL))
        await self.pass_time(hours=1)
        self.assertEqual(len(self.exchange.sent(URL)), tries)
        self.exchange.answers(URL, Reply(503), Reply(409))
        owner.approve(self.member, ended)
        self.assertEqual(self.state("sold", "t1"), "delivering")
        await self.settle()
        self.assertEqual([each.id for each in self.inbox("outbox")], [item.id])
        await self.pass_time(minutes=5)
        self.assertEqual((self.state("sold", "t1"), self.inbox()), ("delivered", []))

    async def test_a50_rows_of_one_task_keep_their_order(self):
        self.exchange.answers(URL, Reply(503), Reply(200))
        await self.take()
        await self.settle()
        await self.call("task_update", task_id="t1", status="accepted")
        await self.settle()
        self.assertEqual([each.path for each in self.exchange.sent()], [URL])
        await self.take("t2")
        await self.settle()
        await self.pass_time(seconds=1)
        self.assertEqual([each.path for each in self.exchange.sent()], [
            URL, "/deliver/t2", URL, "/api/members/me/jobs/t1/request-payment"])

    async def test_a85_a_delivery_of_an_earlier_round_says_nothing_of_the_one_that_is_made(self):
        self.exchange.answers(URL, Reply(503), Reply(404), Reply(200))
        await self.take()
        await self.settle()
        await self.call("task_update", task_id="t1", status="redo_requested")
        await self.settle()
        self.assertEqual((len(self.runs), self.state("sold", "t1")), (2, "delivering"))
        await self.pass_time(seconds=1)
        self.assertEqual((len(self.exchange.sent(URL)), self.state("sold", "t1")), (3, "delivered"))


class Purchases(BuyerCase, Ended):

    async def test_a51_a_choice_that_failed_is_the_end_of_its_task(self):
        self.exchange.answers(CHOOSE, Reply(404))
        await self.offered(offer("o1", 5))
        await self.settle()
        self.assertEqual(self.state("choice", "b1"), "failed")
        await self.offered(offer("o2", 4))
        await self.settle()
        self.assertEqual(len(self.exchange.sent(CHOOSE)), 1)

    async def test_a51_what_the_exchange_has_not_taken_is_neither_accepted_nor_disputed(self):
        for body, path, under_way, done in ((WORK, ACCEPT, "accepting", "accepted"),
                                            (b"other", DISPUTE, "disputing", "disputed")):
            for replies, states in (((Reply(404),), (None, "failed")), ((Reply(503), Reply(200)), (under_way, done))):
                with self.subTest(path=path, replies=[reply.status for reply in replies]):
                    await self.asyncSetUp()
                    await self.bought()
                    self.delivers(body)
                    self.exchange.answers(path, *replies)
                    await self.told_delivered()
                    self.assertIn(self.state("choice", "b1"), states)
                    await self.pass_time(seconds=1)
                    self.assertEqual(self.state("choice", "b1"), states[1])
                    self.close()

    async def approve_delivery(self):
        [item] = self.inbox("delivery")
        owner.approve(self.member, item)
        await self.settle()

    async def test_a66_a_delivery_is_looked_at_again_when_the_owner_says_so(self):
        suspended = partial(self.turn, MandateStatus.SUSPENDED)
        cases = (("the task was not there", lambda: self.exchange.answers(TASK, Reply(404))),
                 ("the content was not there", lambda: self.exchange.answers(CONTENT, Reply(404))),
                 ("two hashes", lambda: self.delivers(stated="0" * 64)), ("suspended", suspended))
        for name, trouble in cases:
            with self.subTest(name):
                await self.asyncSetUp()
                await self.bought()
                self.delivers()
                trouble()
                await self.told_delivered()
                self.assertEqual(self.exchange.sent(ACCEPT), [])
                if name == "suspended":
                    with self.assertRaisesRegex(owner.RefusedError, "the mandate denies it"):
                        owner.approve(self.member, self.inbox("delivery")[0])
                else:
                    await self.approve_delivery()
                self.assertEqual((self.exchange.sent(ACCEPT), len(self.inbox("delivery"))), ([], 1))
                self.turn(MandateStatus.ACTIVE)
                self.delivers()
                await self.approve_delivery()
                self.assertEqual((len(self.exchange.sent(ACCEPT)), self.inbox("delivery")), (1, []))
                self.close()

    def turn(self, to):
        mandate_id = self.member.view.identity.mandates["buyer"]
        self.member.carry_out(lambda _: Plan(writes=(turned(mandate_id, to),)))

    async def test_a66_an_acceptance_that_failed_is_sent_again_when_the_delivery_is_approved_or_told_anew(self):
        await self.bought()
        self.delivers()
        self.exchange.answers(ACCEPT, Reply(404), Reply(200))
        await self.told_delivered()
        self.assertEqual(self.state("choice", "b1"), "failed")
        await self.told_delivered(data="again")
        self.assertEqual((len(self.exchange.sent(ACCEPT)), self.state("choice", "b1"), self.inbox()),
                         (2, "accepted", []))

    async def test_a51_409_is_done_only_where_an_earlier_try_may_have_arrived(self):
        refused, silent = (Reply(404), Reply(409)), (Reply(None), Reply(None), Reply(409))
        for replies, state in ((refused, "failed"), (silent, "accepted")):
            with self.subTest(state=state):
                await self.asyncSetUp()
                await self.bought()
                self.delivers()
                self.exchange.answers(ACCEPT, *replies)
                self.member.settings = replace(
                    self.member.settings, exchange=replace(self.member.settings.exchange, attempts=1))
                await self.told_delivered()
                await self.pass_time(hours=25)
                self.assertEqual(self.state("choice", "b1"), "failed")
                await self.told_delivered(data="again")
                self.assertEqual((len(self.exchange.sent(ACCEPT)), self.state("choice", "b1")), (len(replies), state))
                self.close()

    async def test_a66_a_right_delivery_after_a_wrong_one_is_accepted(self):
        await self.bought()
        self.delivers(b"wrong")
        await self.told_delivered()
        self.delivers()
        await self.told_delivered(data="mended")
        self.assertEqual((len(self.exchange.sent(DISPUTE)), len(self.exchange.sent(ACCEPT))), (1, 1))
        self.delivers(b"wrong again")
        await self.told_delivered(data="late")
        self.assertEqual((len(self.exchange.sent(DISPUTE)), self.state("choice", "b1")), (1, "accepted"))

    async def test_a66_a_wrong_delivery_told_twice_is_disputed_once_and_stays_so(self):
        await self.bought()
        self.delivers(b"wrong")
        for data in ("one", "two"):
            await self.told_delivered(data=data)
        self.assertEqual((len(self.exchange.sent(DISPUTE)), self.state("choice", "b1")), (1, "disputed"))

    async def test_a65_a_mandate_without_the_acts_accepts_and_disputes_nothing(self):
        await self.bought()
        self.turn(MandateStatus.SUSPENDED)
        for body, what in ((WORK, "hash checked; the mandate does not allow to accept it"),
                           (b"wrong", "content does not match its hash; the mandate does not allow to dispute it")):
            self.delivers(body)
            await self.told_delivered(data=what)
            self.assertEqual([item.detail for item in self.inbox("delivery")], [what])
        self.assertEqual((self.exchange.sent(ACCEPT), self.exchange.sent(DISPUTE)), ([], []))

    async def test_a66_a_delivery_of_another_round_or_an_accepted_one_cannot_be_approved(self):
        await self.bought()
        self.delivers()
        self.exchange.answers(TASK, Reply(404))
        await self.told_delivered()
        [stale] = self.inbox("delivery")
        await self.call("task_update", task_id="b1", status="redo_requested")
        with self.assertRaisesRegex(owner.RefusedError, "another round"):
            owner.approve(self.member, stale)
        await self.told_delivered(data="next")
        self.assertEqual(self.member.store.inbox_item(stale.id).status, "superseded")
        [item] = self.inbox("delivery")
        self.delivers()
        await self.told_delivered(data="right")
        self.assertEqual((len(self.exchange.sent(ACCEPT)), self.inbox("delivery")), (1, []))
        with self.assertRaisesRegex(owner.RefusedError, "settled already"):
            owner.approve(self.member, item)


class Places(MemberCase):
    options: ClassVar = {"max_open": 3}

    async def test_a35_the_places_of_all_skills_count_as_well_as_those_of_one(self):
        other = {"task_type": "many_params", "params": dict.fromkeys("abcdefg", 1)}
        offers = {task_id: await self.quote(task_id=task_id, **more) for task_id, more in (
            ("t1", {}), ("t2", {}), ("t3", {}), ("m1", other), ("m2", other))}

        async def taken(task_id, **more):
            return (await self.call(
                "do_task", **{**self.task_arguments(task_id, offers[task_id]), **more}))["accepted"]

        self.assertEqual([await taken("t1"), await taken("t2"), await taken("t3")], [True, True, False])
        self.assertEqual([await taken("m1", **other), await taken("m2", **other)], [True, False])
        self.assertEqual((await self.quote(task_id="m3", **other))["reason_code"], "no_capacity")
        await self.settle()
        self.assertEqual([await taken("t3"), await taken("m2", **other)], [True, True])

    async def test_a55_no_more_programs_run_at_once_than_there_are_places(self):
        go = works_until_told(self)
        for task_id in ("t1", "t2"):
            await self.take(task_id)
        settings = self.member.settings
        self.member.settings = replace(settings, seller=replace(settings.seller, max_open=1))
        self.work.look()
        self.work.look()
        self.assertEqual(len(self.work.busy), 1)
        go.touch()
        await self.settle()
        self.assertEqual(len(self.runs), 2)


class Stops(MemberCase):

    async def until_running(self):
        self.work.look()
        async with asyncio.timeout(30):
            while not self.runs:
                await asyncio.sleep(0.01)

    async def test_a54_an_orderly_end_of_the_server_is_no_run_of_the_worker(self):
        go = works_until_told(self)
        await self.take()
        await self.until_running()
        await self.work.stop()
        self.assertEqual(self.member.store.item("sold", "t1")["state"], "accepted")
        self.restart()
        go.touch()
        await self.settle()
        self.assertEqual((len(self.runs), len(self.exchange.sent(URL)), self.inbox()), (2, 1, []))


class SecondRun(MemberCase):
    options: ClassVar = {"worker_more": ", attempts = 2"}

    async def test_a54_a_run_that_a_crash_cut_off_is_made_again_where_runs_remain(self):
        await self.take()
        self.member.carry_out(partial(_begun, task_id="t1"))
        self.restart()
        await self.settle()
        self.assertEqual((len(self.runs), len(self.exchange.sent(URL))), (1, 1))


class Kills(ProcessCase):

    async def taken(self):
        async with httpx2.AsyncClient(trust_env=False) as client:
            _, quoted = await self.tool(client, "quote", **quote_arguments())
            arguments = self.task_arguments("t1", quoted["structuredContent"])
            answers = await asyncio.gather(*(self.tool(client, "do_task", **arguments) for _ in range(16)))
        self.assertEqual({json.dumps(result["structuredContent"]) for _, result in answers}, {'{"accepted": true}'})

    async def restarted_in_work(self, number):
        go = works_until_told(self)
        await self.serve()
        await self.taken()
        await self.until(lambda: self.runs)
        await self.end(number)
        go.touch()
        await self.serve()

    async def in_state(self, state):
        return (await self.state_of("t1"))["state"] == state

    async def test_a57_a77_parallel_identical_tasks_are_one_run_and_an_orderly_end_in_it_is_none(self):
        await self.restarted_in_work(signal.SIGTERM)
        await self.until(lambda: self.in_state("delivered"))
        self.assertEqual((len(self.runs), len(self.exchange.sent(URL))), (2, 1))

    async def test_a77_a_kill_in_work_without_a_run_left_waits_for_the_owner(self):
        await self.restarted_in_work(signal.SIGKILL)
        await self.until(lambda: self.in_state("failed"))
        [item] = json.loads(await self.owner("inbox", "--json"))["items"]
        self.assertIn("cut off", item["detail"])
        self.assertEqual((len(self.runs), self.exchange.sent(URL)), (1, []))

    async def test_a76_a_kill_in_choosing_is_one_choice_and_one_repeat_of_the_same_bytes(self):
        await self.serve()
        killed = asyncio.Event()

        async def kill(request):
            if request.path == CHOOSE and not killed.is_set():
                killed.set()
                self.server.kill()
                await self.server.wait()

        self.exchange.during = kill
        self.exchange.answers(CHOOSE, Reply(None), Reply(409))
        async with httpx2.AsyncClient(trust_env=False) as client:
            offers = {"task_id": "b1", "choose_url": f"{self.exchange.base}{CHOOSE}"}
            await self.tool(client, "receive_offers", offers=[offer("o1", 5)], **offers)
            await killed.wait()
            await self.serve()
            await self.until(lambda: len(self.exchange.sent(CHOOSE)) == 2)
            await self.tool(client, "receive_offers", offers=[offer("o2", 1)], **offers)
        await self.until(self.chosen)
        first, second = self.exchange.sent(CHOOSE)
        self.assertEqual((first.body, json.loads(first.body)), (second.body, {"offer_id": "o1"}))

    async def chosen(self):
        return (await self.state_of("b1"))["state"] == "chosen"


class Reminded(BuyerCase):

    async def reminded(self, **more):
        await self.call("task_update", task_id="b1", status="delivered", event="reminder", **more)
        await self.settle()

    async def test_a65_where_only_the_reminder_arrived_the_delivery_is_checked(self):
        await self.bought()
        self.delivers()
        await self.reminded(deliverable={"url": "x", "sha256": HASH})
        self.assertEqual(len(self.exchange.sent(ACCEPT)), 1)
        fetched = len(self.exchange.sent(TASK, "GET"))
        self.clock.forward(hours=1)
        await self.reminded(deliverable={"url": "x", "sha256": HASH})
        self.assertEqual((len(self.exchange.sent(ACCEPT)), len(self.exchange.sent(TASK, "GET"))), (1, fetched))

    async def test_a65_a_reminder_repeats_a_check_that_came_to_nothing_by_the_hash_that_was_stated(self):
        await self.bought()
        self.exchange.answers(TASK, Reply(404))
        await self.told_delivered()
        self.delivers()
        await self.reminded()
        self.assertEqual((len(self.exchange.sent(ACCEPT)), self.inbox()), (1, []))
