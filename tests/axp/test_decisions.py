"""Requirements A41, A61 to A64, A76: the owner's decisions against one another, the server, and what came since.

Two processes on one state folder are two members here, so that one can act at an exact moment of the other's decision;
and where it matters, real ones.
"""

import asyncio
import json
import sqlite3
import sys
from datetime import UTC, datetime
from typing import ClassVar
from unittest import mock

from a202_mcp.axp import configuration, owner, record
from a202_mcp.axp.book import MemberStore
from a202_mcp.axp.member import open_member
from a202_mcp.workspace import Workspace
from a202_reference.canonical import sha256_hex
from tests.axp.exchange import Exchange, Reply
from tests.axp.process import ProcessCase, run_command
from tests.axp.support import MemberCase, offer, tool_message
from tests.axp.test_buyer import BuyerCase

_judge = record.judge


class Together(BuyerCase):
    """`self.other` is a second process on the state folder, one that does not wait for the first."""

    options: ClassVar = {"budget": "16.00"}

    async def asyncSetUp(self):
        await super().asyncSetUp()
        ids = (f"{at:024x}" for at in range(10 ** 9, 2 * 10 ** 9))
        space = Workspace(
            MemberStore.open(self.folder / "member-state"), clock=self.clock, ids=lambda: next(ids))
        space.store._connection.execute("PRAGMA busy_timeout = 0")
        self.other = open_member(configuration.load(self.config), space)
        self.addCleanup(space.close)

    async def held(self, *task_ids):
        for task_id in task_ids:
            await self.offered(offer("o", 15), task_id=task_id)
        await self.settle()
        return self.inbox("choice")

    def during(self, act):
        """Have the other process act once, when the first has read what it decides from."""
        def judged(*given):
            verdict = _judge(*given)
            if not self.tried:
                self.tried.append(act)
                with self.assertRaisesRegex(sqlite3.OperationalError, "locked"):
                    act()
            return verdict

        self.tried = []
        return mock.patch.object(owner, "judge", judged)

    async def test_a64_two_approvals_at_once_keep_the_daily_budget(self):
        first, second = await self.held("b1", "b2")
        with self.during(lambda: owner.approve(self.other, second)):
            owner.approve(self.member, first)
        self.assertEqual(len(self.tried), 1)
        with self.assertRaisesRegex(owner.RefusedError, r"over daily_budget 16\.00"):
            owner.approve(self.other, second)
        await self.settle()
        self.assertEqual([each.path for each in self.exchange.sent()], ["/choose/b1"])

    async def test_a61_of_an_approval_and_a_rejection_at_once_one_counts(self):
        [item] = await self.held("b1")
        with self.during(lambda: owner.reject(self.other, item)):
            owner.approve(self.member, item)
        with self.assertRaisesRegex(owner.RefusedError, "it is approved already"):
            owner.reject(self.other, item)
        await self.offered(offer("o", 15))
        await self.settle()
        self.assertEqual(len(self.chosen()), 1)

    async def test_a61_after_a_rejection_no_approval_counts_and_nothing_is_sent(self):
        [item] = await self.held("b1")
        owner.reject(self.member, item)
        before = self.objects("buyer", "b1")
        with self.assertRaisesRegex(owner.RefusedError, "it is rejected already"):
            owner.approve(self.other, item)
        await self.offered(offer("o", 15))
        await self.settle()
        self.assertEqual((self.objects("buyer", "b1"), self.exchange.requests), (before, []))

    async def test_a61_a_refused_approval_leaves_nothing_behind(self):
        first, second = await self.held("b1", "b2")
        owner.approve(self.member, first)
        before = self.everything()
        for _ in range(2):
            with self.assertRaises(owner.RefusedError):
                owner.approve(self.member, second)
        self.assertEqual(self.everything(), before)

    async def test_a64_the_server_and_the_owner_keep_one_budget(self):
        [item] = await self.held("b1")
        await self.offered(offer("cheap", 5), task_id="b2")
        await self.settle()
        self.assertEqual(len(self.chosen("b2")), 1)
        with self.assertRaisesRegex(owner.RefusedError, "daily_budget"):
            owner.approve(self.other, item)


class WhatWasApproved(BuyerCase):

    async def held(self, *offers, **more):
        await self.offered(*(offers or (offer("o", 15),)), **more)
        await self.settle()
        return next(iter(self.inbox("choice")), None)

    async def test_a61_what_waited_is_carried_out_whatever_came_since(self):
        item = await self.held()
        statement = item.body["request"]
        for offers, url in (((offer("o", 19),), "https://elsewhere.invalid/choose"),
                            ((offer("o", 30),), f"{self.exchange.base}/choose/other")):
            await self.offered(*offers, choose_url=url)
            await self.settle()
        owner.approve(self.member, item)
        await self.settle()
        [sent] = self.exchange.sent()
        self.assertEqual((sent.path, sent.json), ("/choose/b1", {"offer_id": "o"}))
        evidence = [each for each in self.objects("buyer", "b1") if each["object_type"] == "evidence"]
        self.assertIn(statement, [each["payload"]["artifact_hash"] for each in evidence])

    async def test_a61_the_statement_of_what_was_chosen_can_be_shown(self):
        await self.offered(offer("o", 5))
        await self.settle()
        [evidence] = [each for each in self.objects("buyer", "b1") if each["object_type"] == "evidence"
                      and "one_sided choice" in each["payload"]["claim"]]
        salt = bytes.fromhex(self.member.store.item("salt", evidence["id"])["salt"])
        self.assertNotEqual(evidence["payload"]["artifact_hash"], sha256_hex(b""))
        self.assertEqual(len(salt), 32)

    async def test_a61_the_question_is_always_the_one_that_the_latest_list_asks(self):
        first, second = (offer("first", 15),), (offer("second", 14),)
        for at, offers in enumerate((first, second, first, first)):
            item = await self.held(*offers)
            self.assertIn(f"offer {offers[0]['offer_id']}:", item.detail, at)
        self.assertEqual([each.status for each in self.member.store.inbox(everything=True)],
                         ["superseded", "superseded", "open"])
        owner.approve(self.member, item)
        await self.settle()
        self.assertEqual(self.chosen(), [{"offer_id": "first"}])

    async def test_a61_the_same_terms_under_another_id_are_another_question(self):
        stale = await self.held(offer("old", 15))
        item = await self.held(offer("new", 15))
        with self.assertRaisesRegex(owner.RefusedError, "superseded already"):
            owner.approve(self.member, stale)
        owner.approve(self.member, item)
        await self.settle()
        self.assertEqual(self.chosen(), [{"offer_id": "new"}])

    async def test_a61_the_next_best_is_asked_for_after_a_rejection_and_the_rejected_one_never_again(self):
        item = await self.held(offer("best", 14), offer("next", 15))
        owner.reject(self.member, item)
        item = await self.held(offer("best", 14), offer("next", 15))
        self.assertIn("offer next:", item.detail)
        owner.reject(self.member, item)
        self.assertIsNone(await self.held(offer("best", 14), offer("next", 15)))

    async def test_a61_an_approval_ends_30_days_after_the_tasks_time(self):
        for days, accepted in ((29, 1), (31, 0)):
            with self.subTest(days=days):
                task_id = f"b{days}"
                await self.offered(offer("o", 15), task_id=task_id)
                await self.settle()
                owner.approve(self.member, self.inbox("choice")[0])
                await self.settle()
                self.clock.forward(days=days, minutes=29)
                paths = [f"/api/tasks/{task_id}{rest}" for rest in ("", "/deliverable", "/accept")]
                sha256 = sha256_hex(b"work")
                self.exchange.answers(paths[0], Reply(200, json.dumps({"deliverable": {"sha256": sha256}}).encode()))
                self.exchange.answers(paths[1], Reply(200, b"work"))
                await self.call("task_update", task_id=task_id, status="delivered", deliverable={"sha256": sha256})
                await self.settle()
                self.assertEqual(len(self.exchange.sent(paths[2])), accepted)
        [item] = self.inbox("delivery")
        self.assertIn("the mandate does not allow to accept it", item.detail)
        owner.approve(self.member, item)
        await self.settle()
        self.assertEqual(len(self.exchange.sent(paths[2])), 1)

    async def test_a61_a_mandate_that_denies_by_now_signs_nothing(self):
        item = await self.held()
        before = self.objects("buyer", "b1")
        self.assertEqual(run_command("member", "mandate", "suspend", "--config", str(self.config))[0], 0)
        with self.assertRaisesRegex(owner.RefusedError, "the mandate denies it"):
            owner.approve(self.member, item)
        self.assertEqual((self.objects("buyer", "b1"), self.inbox("choice")), (before, [item]))


class WithinTheBudget(BuyerCase):
    options: ClassVar = {"budget": "14.00"}

    async def test_a64_what_is_over_the_budget_is_not_even_asked_for(self):
        await self.offered(offer("over", 14.5), task_id="b1")
        await self.offered(offer("over", 14.5), offer("within", 14), task_id="b2")
        await self.settle()
        [item] = self.inbox("choice")
        self.assertEqual((item.task_id, item.body["offer"]["offer_id"]), ("b2", "within"))


class ByAPerson(BuyerCase):
    options: ClassVar = {"choose": "person", "budget": "14.00"}

    async def test_a64_a_persons_choice_is_held_to_the_budget_too(self):
        for task_id in ("b1", "b2"):
            await self.offered(offer("o", 9), task_id=task_id)
        await self.settle()
        first, second = self.inbox("choice")
        owner.approve(self.member, first)
        with self.assertRaisesRegex(owner.RefusedError, r"over daily_budget 14\.00"):
            owner.approve(self.member, second)
        self.clock.forward(hours=14)
        owner.approve(self.member, second)
        await self.settle()
        self.assertEqual(len(self.exchange.sent()), 2)


class Listing(BuyerCase):
    options: ClassVar = {"only_tasks": "listed"}

    async def list_it(self):
        self.assertEqual(
            run_command("member", "task", "add", "b1", "--config", str(self.config)), (0, "listed\n", ""))
        self.clock.now = max(self.clock.now, datetime.now(UTC))
        await self.settle()

    async def test_a63_listing_releases_what_waits_for_that_and_nothing_else(self):
        await self.offered(offer("o", 15))
        await self.settle()
        self.assertIn("not listed", self.inbox("choice")[0].detail)
        await self.list_it()
        [item] = self.inbox("choice")
        self.assertIn("offer o:", item.detail)
        await self.list_it()
        self.assertEqual(self.inbox("choice"), [item])
        owner.approve(self.member, item)
        await self.settle()
        self.assertEqual(self.chosen(), [{"offer_id": "o"}])

    async def test_a63_an_id_that_is_none_is_not_listed(self):
        for task_id in ("", "..", "x" * 201, "a\nb"):
            status, out, err = run_command("member", "task", "add", task_id, "--config", str(self.config))
            self.assertEqual((status, out, len(err.splitlines())), (2, "", 1))


class ForeignAddresses(BuyerCase):

    async def test_a63_no_form_of_a_foreign_address_is_called(self):
        foreign = Exchange()
        await foreign.start()
        self.addAsyncCleanup(foreign.stop)
        base, port = self.exchange.base, self.exchange.port
        forms = (f"{foreign.base}/x", f"https:{base[5:]}/x", base.replace("127.0.0.1", "localhost") + "/x",
                 f"{base}@{foreign.base[7:]}/x", base.replace("127", "u@127") + "/x", f"{base}/a/../x",
                 f"{base}/a/%2e%2e/x",
                 f"{base}/x#y", f"{base}/a b", f"{base}\\@x/", f"{base}/\u00e9", base.replace(str(port), "99999"),
                 base[5:], "x", "")
        for at, url in enumerate(forms):
            with self.subTest(url=url):
                await self.offered(offer("o", 5), task_id=f"b{at}", choose_url=url)
                await self.settle()
                [item] = [each for each in self.inbox("choice") if each.task_id == f"b{at}"]
                with self.assertRaisesRegex(owner.RefusedError, "nothing to choose"):
                    owner.approve(self.member, item)
        self.assertEqual((foreign.requests, self.exchange.requests), ([], []))


class HeldQuotes(MemberCase):

    async def ask(self):
        return await self.quote(params={"text": "x", "pages": 100})

    async def test_a41_one_act_waits_once_however_the_mandate_stood_between(self):
        await self.ask()
        for action in ("suspend", "resume"):
            self.assertEqual(run_command("member", "mandate", action, "--config", str(self.config))[0], 0)
            await self.ask()
        [item] = self.inbox("quote")
        owner.approve(self.member, item)
        self.assertEqual((await self.ask())["price_usd"], 55)

    async def test_a41_a_hold_that_the_mandate_denies_by_now_cannot_be_approved(self):
        await self.ask()
        [item] = self.inbox("quote")
        self.assertEqual(run_command("member", "mandate", "suspend", "--config", str(self.config))[0], 0)
        with self.assertRaisesRegex(owner.RefusedError, "the mandate denies it"):
            owner.approve(self.member, item)
        self.assertEqual(self.inbox("quote"), [item])

    async def test_a41_an_approval_given_late_still_releases(self):
        await self.ask()
        self.clock.forward(days=60)
        owner.approve(self.member, self.inbox("quote")[0])
        self.assertEqual((await self.ask())["price_usd"], 55)

    async def test_a41_an_approval_that_is_over_asks_anew(self):
        await self.ask()
        owner.approve(self.member, self.inbox("quote")[0])
        self.clock.forward(days=31)
        self.assertEqual((await self.ask())["decline"], True)
        self.assertEqual(len(self.inbox("quote")), 1)


class TheMandateThatCounts(MemberCase):
    """The member of this process runs on while the owner's commands act beside it."""

    def command(self, *arguments):
        status, out, err = run_command("member", *arguments, "--config", str(self.config))
        self.assertEqual((status, err), (0, ""), err)
        self.clock.now = max(self.clock.now, datetime.now(UTC))
        return out

    def limits(self, old, new):
        text = self.config.read_text()
        self.assertIn(old, text)
        self.config.write_text(text.replace(old, new))

    async def priced(self, task_id, pages=4):
        return "price_usd" in await self.quote(task_id=task_id, params={"text": "x", "pages": pages})

    async def test_a76_init_acts_on_a_running_server_with_its_next_call(self):
        self.assertTrue(await self.priced("t1"))
        self.limits('max_price = "100.00"', 'max_price = "6.50"')
        self.limits('ask_above = "50.00"', "")
        self.assertTrue(await self.priced("t2"))
        self.command("init")
        self.assertFalse(await self.priced("t3"))
        self.assertTrue(await self.priced("t4", pages=1))

    async def test_a76_the_switch_acts_on_the_mandate_that_counts_before_and_after_init(self):
        self.limits('max_price = "100.00"', 'max_price = "80.00"')
        for at, (command, priced) in enumerate((
                (("mandate", "suspend"), False), (("mandate", "resume"), True), (("init",), True),
                (("mandate", "suspend"), False), (("mandate", "resume"), True), (("mandate", "revoke"), False),
                (("init",), True))):
            with self.subTest(at=at, command=command):
                self.command(*command)
                self.assertEqual(await self.priced(f"t{at}"), priced)

    async def test_a76_an_address_that_init_brings_is_asked_and_until_then_nothing_counts(self):
        self.assertTrue(await self.priced("t1"))
        self.limits("[mandate]", '[mandate]\nstatus_url = "https://status.works.invalid/"')
        self.assertTrue(await self.priced("t2"))
        self.command("init")
        self.assertFalse(await self.priced("t3"))

    async def test_a76_a_choice_is_made_under_the_limits_of_now(self):
        self.limits('max_spend = "20.00"', 'max_spend = "4.00"')
        self.limits('ask_spend_above = "10.00"', "")
        self.command("init")
        await self.call("receive_offers", task_id="b1", offers=[offer("o", 5)],
                        choose_url=f"{self.exchange.base}/choose/b1")
        await self.settle()
        self.assertEqual(self.exchange.requests, [])


class Processes(ProcessCase):
    options: ClassVar = {"budget": "16.00"}

    async def waiting(self, number):
        items = json.loads(await self.owner("inbox", "--json"))["items"]
        return items if len(items) == number else None

    async def offers(self, *task_ids):
        await self.serve()
        for task_id in task_ids:
            await self.receive(task_id)
        return [item["id"] for item in await self.until(lambda: self.waiting(len(task_ids)))]

    async def receive(self, task_id):
        status, _ = await self.post(tool_message("receive_offers", {
            "task_id": task_id, "offers": [offer("o", 15)], "choose_url": f"{self.exchange.base}/choose/{task_id}"}))
        self.assertEqual(status, 200)

    async def statuses(self, *commands):
        """The exit statuses of owner's commands that run at the same time."""
        running = [await asyncio.create_subprocess_exec(*self.arguments(*command), stdout=asyncio.subprocess.DEVNULL,
                                                        stderr=asyncio.subprocess.DEVNULL) for command in commands]
        return sorted([await each.wait() for each in running])

    def arguments(self, name, item_id):
        return (sys.executable, "-m", "a202_mcp", "member", name, item_id, "--config", str(self.config))

    async def test_a64_parallel_approvals_keep_the_budget(self):
        items = await self.offers("b1", "b2", "b3")
        self.assertEqual(await self.statuses(*(("approve", item) for item in items)), [0, 1, 1])
        await self.until(self.exchange.sent)
        self.assertEqual(len(await self.waiting(2)), 2)
        self.assertEqual(len(self.exchange.sent()), 1)

    async def test_a61_parallel_approvals_and_rejections_of_one_choice_decide_once(self):
        [item] = await self.offers("b1")
        self.assertEqual(
            await self.statuses(*((name, item) for name in ("approve", "reject") * 2)), [0, 1, 1, 1])
        [decided] = json.loads(await self.owner("inbox", "--all", "--json"))["items"]
        await self.receive("b1")
        self.assertEqual(await self.state(), {"approved": 1, "rejected": 0}[decided["status"]])

    async def state(self):
        """How many choices were sent, once there is nothing more to come."""
        store = MemberStore.open(self.folder / "member-state")
        self.addCleanup(store.close)
        await self.until(lambda: all(row.state == "done" for row in store.outbox()))
        return len(self.exchange.sent("/choose/b1"))
