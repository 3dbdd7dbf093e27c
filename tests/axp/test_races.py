"""Nothing is checked in one state and written in another: A35, A42, A44, A62, A64, the owner's decisions, the switch.

Another process tries to write between the check and the write of a first one: it cannot, and comes after it.
"""

import contextlib
import io
import json
import sqlite3
from typing import ClassVar
from unittest import mock

from a202_mcp.axp import choosing, configuration, do_task, mandate_commands, offering, owner, patience
from a202_mcp.axp.book import MemberStore
from a202_mcp.axp.mandate_commands import turn_switches
from a202_mcp.axp.mandates import switch
from a202_mcp.axp.member import open_member
from a202_mcp.axp.reading import read
from a202_mcp.axp.toolbox import call_tool
from a202_mcp.one_owner.book import Write
from a202_mcp.workspace import Workspace
from tests.axp.support import MemberCase, offer, quote_arguments

LOCKED = {"error": "internal error"}
NOTHING = Write("SELECT 1", ())
"""In the place of the write that marks a step as done."""


def at_once(call):
    """What a call answers that waits for nothing, in the middle of another one."""
    try:
        call.send(None)
    except StopIteration as answered:
        return answered.value
    raise AssertionError("it waits")


class Between(MemberCase):
    """`self.meanwhile` lets a second member on the same folder act between a check of the first one and its write."""

    def rival(self):
        settings = configuration.load(self.config)
        space = Workspace(MemberStore.open(settings.state_dir), clock=self.clock)
        space.store._connection.execute("PRAGMA busy_timeout = 0")
        self.addCleanup(space.close)
        return open_member(settings, space)

    @contextlib.contextmanager
    def meanwhile(self, module, name, act):
        """While the block runs, the first call of a function between check and write is preceded by `act`."""
        acts, real = [act], getattr(module, name)

        def between(*arguments, **named):
            if acts:
                acts.pop()()
            return real(*arguments, **named)

        with mock.patch.object(module, name, between):
            yield
        self.assertEqual(acts, [], f"{name} was not called")

    def raced(self, module, name, act, other):
        """A first member acts and then a rival; in between the rival can do nothing."""
        rival = self.rival()

        def locked():
            with self.assertRaises(sqlite3.OperationalError):
                other(rival)

        with self.meanwhile(module, name, locked):
            act(self.member)
        other(rival)

    def both_call(self, module, name, tool, *arguments):
        """The answers to a tool call each; in between the rival's is a failure."""
        rival, (mine, theirs) = self.rival(), arguments

        def answer(of, given):
            return at_once(call_tool(of, tool, read(json.dumps(given)), b"{}"))[0]

        def locked():
            with contextlib.redirect_stderr(io.StringIO()), mock.patch.object(patience, "ANSWER_SECONDS", 0):
                self.assertEqual(answer(rival, theirs), LOCKED)

        with self.meanwhile(module, name, locked):
            first = answer(self.member, mine)
        return first, answer(rival, theirs)


class Selling(Between):
    roles = ("seller",)
    options: ClassVar = {"max_open": 1}

    async def test_a35_the_last_place_is_taken_once(self):
        tasks = [self.task_arguments(task_id, await self.quote(task_id=task_id)) for task_id in ("t1", "t2")]
        first, second = self.both_call(do_task, "_task", "do_task", *tasks)
        self.assertEqual((first, second), ({"accepted": True}, {"accepted": False}))

    async def test_a44_one_task_is_taken_once(self):
        task = self.task_arguments("t1", await self.quote())
        found = self.both_call(do_task, "_task", "do_task", task, task)
        self.assertEqual(found, ({"accepted": True}, {"accepted": True}))
        taken = [each for each in self.member.store.history("t1") if each["event"] == "taken"]
        self.assertEqual(len(taken), 1)

    async def test_a42_one_request_gets_one_offer(self):
        first, second = self.both_call(offering, "scribe_of", "quote", quote_arguments(), quote_arguments())
        self.assertEqual(first, second)
        offers = [each for each in self.objects("seller", "t1") if each["object_type"] == "offer"]
        self.assertEqual(len(offers), 1)

    async def test_a40_a_price_that_was_denied_and_given_in_one_second(self):
        self.assertIsNone(turn_switches(self.member.store, "suspend"))
        self.assertIn("decline", await self.quote())
        self.assertIsNone(turn_switches(self.member.store, "resume"))
        self.assertEqual((await self.quote())["price_usd"], 7)
        self.assert_verifies("seller", "t1")


class Buying(Between):
    roles = ("buyer",)
    options: ClassVar = {"budget": "12.00"}

    async def offered(self, *task_ids, price=8):
        for task_id in task_ids:
            await self.call("receive_offers", task_id=task_id, offers=[offer("o1", price)],
                            choose_url=f"{self.exchange.base}/choose/{task_id}")

    def decided(self, task_id):
        """Choosing for a task, as a step of the outbox does it."""
        return lambda of: of.carry_out(lambda view: choosing.decide(view, task_id, (NOTHING,))).writes

    def choices(self):
        return sorted(self.member.store.items("choice"))

    async def test_a64_the_rest_of_the_budget_is_spent_once(self):
        await self.offered("b1", "b2")
        self.raced(choosing, "choice", self.decided("b1"), self.decided("b2"))
        self.assertEqual(self.choices(), ["b1"])

    async def test_a62_one_task_is_chosen_for_once(self):
        await self.offered("b1")
        self.raced(choosing, "choice", self.decided("b1"), self.decided("b1"))
        self.assertEqual(self.choices(), ["b1"])
        self.assertEqual(len([row for row in self.member.store.outbox() if row.kind == "choose"]), 1)

    async def test_a64_what_the_owner_approves_is_within_the_budget_or_leaves_nothing(self):
        self.close()
        self.write_configuration(choose="person")
        self.start()
        await self.offered("b1", "b2", price=11)
        await self.settle()
        first, second = self.inbox("choice")
        rival = self.rival()
        rival.approve_with(rival.owner())

        def locked():
            with self.assertRaises(sqlite3.OperationalError):
                owner.approve(rival, second)

        with self.meanwhile(owner, "choice", locked):
            owner.approve(self.member, first)
        before = self.everything()
        with self.assertRaisesRegex(owner.RefusedError, "over daily_budget 12"):
            owner.approve(rival, second)
        self.assertEqual(self.everything(), before)
        self.assertEqual(self.choices(), [first.task_id])

    async def test_a61_an_item_is_settled_once(self):
        await self.offered("b1", price=11)
        await self.settle()
        item, = self.inbox("choice")
        stale, rival = item, self.rival()
        owner.reject(self.member, item)
        for act in (owner.approve, owner.reject):
            with self.assertRaisesRegex(owner.RefusedError, "rejected already"):
                act(rival, stale)
        self.assertEqual(self.choices(), [])

    async def test_a61_a_choice_that_was_held_and_approved_in_one_second(self):
        await self.offered("b1", price=11)
        await self.settle()
        owner.approve(self.member, self.inbox("choice")[0])
        await self.settle()
        self.assert_verifies("buyer", "b1")

    async def test_a76_revoked_is_final_also_for_who_resumes_at_the_same_time(self):
        def locked():
            with self.assertRaises(sqlite3.OperationalError):
                turn_switches(rival.store, "resume")

        rival = self.rival()
        self.assertIsNone(turn_switches(self.member.store, "suspend"))
        with self.meanwhile(mandate_commands, "turned", locked):
            self.assertIsNone(turn_switches(self.member.store, "revoke"))
        self.assertIn("revoked, and that is final", turn_switches(rival.store, "resume") or "")
        self.assertEqual({switch(self.member.store, each) for each in self.member.view.identity.mandates.values()},
                         {"revoked"})
