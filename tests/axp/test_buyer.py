"""Requirements A58 to A67: what is chosen, what waits for the owner, and what is accepted or disputed."""

import hashlib
import json
from datetime import UTC, datetime
from typing import ClassVar

from a202_mcp.axp import owner
from tests.axp.exchange import Exchange, Reply
from tests.axp.process import run_command
from tests.axp.support import SECRET, MemberCase, offer

TASK, CONTENT, ACCEPT, DISPUTE = (f"/api/tasks/b1{rest}" for rest in ("", "/deliverable", "/accept", "/dispute"))
WORK = b"the delivered content"
HASH = hashlib.sha256(WORK).hexdigest()


class BuyerCase(MemberCase):
    roles = ("buyer",)

    async def offered(self, *offers, task_id="b1", **more):
        arguments = {"task_id": task_id, "offers": list(offers), "choose_url": f"{self.exchange.base}/choose/{task_id}",
                     **more}
        self.assertEqual(await self.call("receive_offers", **arguments), {"received": True})

    def chosen(self, task_id="b1"):
        return [each.json for each in self.exchange.sent(f"/choose/{task_id}")]

    async def bought(self, *offers):
        await self.offered(*(offers or (offer("o1", 5),)))
        await self.settle()
        self.assertEqual(len(self.chosen()), 1)

    def delivers(self, body=WORK, stated=HASH, nested=False):
        task = {"deliverable": {"url": "x", "sha256": stated}}
        self.exchange.answers(TASK, Reply(200, json.dumps({"task": task} if nested else task).encode()))
        self.exchange.answers(CONTENT, Reply(200, body))

    async def told_delivered(self, sha256=HASH, **more):
        await self.call("task_update", task_id="b1", status="delivered",
                        deliverable={"url": "https://files.invalid/x", "sha256": sha256}, **more)
        await self.settle()


class Choosing(BuyerCase):

    async def test_a58_received_before_choosing_then_the_cheapest_allowed(self):
        await self.offered(offer("dear", 9), offer("cheap", 5, 60), offer("tie", 5, 30), offer("too_slow", 1, 1441))
        self.assertEqual(self.exchange.requests, [])
        await self.settle()
        [sent] = self.exchange.sent()
        self.assertEqual((sent.path, sent.json, sent.headers["authorization"]), (
            "/choose/b1", {"offer_id": "tie"}, f"Bearer {SECRET}"))

    async def test_a58_malformed_offers_do_not_count(self):
        await self.offered(
            {"offer_id": "a", "price_usd": "1", "eta_minutes": 3}, {"offer_id": "b", "price_usd": 1}, "x", None,
            offer("c", 1.001), offer("d", -1), offer("..", 1), offer("e", 1, 0), offer("f", 1, 1.5), offer("good", 6))
        await self.settle()
        self.assertEqual(self.chosen(), [{"offer_id": "good"}])

    async def test_a59_a_test_or_no_offers_make_no_choice(self):
        before = self.everything()
        await self.offered(offer("o1", 5), test=True)
        await self.offered()
        await self.settle()
        self.assertEqual((self.everything(), self.exchange.requests), (before, []))

    async def test_a60_all_above_max_spend_no_choice(self):
        await self.offered(offer("o1", 20.01), offer("o2", 300))
        await self.settle()
        self.assertEqual((self.exchange.requests, self.inbox()), ([], []))

    async def test_a61_above_ask_spend_above_it_waits_and_is_chosen_after_approval(self):
        await self.offered(offer("dear", 18), offer("held", 15), offer("denied", 21))
        await self.settle()
        self.assertEqual(self.exchange.requests, [])
        [item] = self.inbox("choice")
        self.assertIn("offer held", item.detail)
        owner.approve(self.member, item)
        await self.settle()
        self.assertEqual(self.chosen(), [{"offer_id": "held"}])
        self.assertEqual(self.inbox(), [])
        approvals = [each for each in self.objects("buyer", "b1") if each["object_type"] == "approval"]
        self.assertEqual(len(approvals), 3)
        with self.assertRaises(owner.RefusedError):
            owner.approve(self.member, self.member.store.inbox_item(item.id))

    async def test_a61_an_approved_choice_is_accepted_with_its_own_approval(self):
        await self.offered(offer("held", 15))
        await self.settle()
        owner.approve(self.member, self.inbox("choice")[0])
        await self.settle()
        self.delivers()
        await self.told_delivered()
        self.assertEqual(len(self.exchange.sent(ACCEPT)), 1)

    async def test_a61_a_choice_that_is_denied_by_now_tells_the_owner_the_limit(self):
        await self.offered(offer("held", 15))
        await self.settle()
        self.close()
        self.config.write_text(self.config.read_text().replace('max_spend = "20.00"', 'max_spend = "12.00"'))
        self.assertEqual(run_command("member", "init", "--config", str(self.config))[0], 0)
        self.clock.now = datetime.now(UTC)
        self.start()
        with self.assertRaisesRegex(owner.RefusedError, r"denies it: .*c_total_amount is maximum 12\.00"):
            owner.approve(self.member, self.inbox("choice")[0])

    async def test_a61_a_rejected_choice_is_never_sent(self):
        await self.offered(offer("held", 15))
        await self.settle()
        owner.reject(self.member, self.inbox("choice")[0])
        await self.offered(offer("held", 15))
        await self.settle()
        self.assertEqual((self.exchange.requests, self.inbox()), ([], []))

    async def test_a62_a_second_list_makes_no_second_choice(self):
        await self.bought()
        await self.offered(offer("better", 1))
        await self.settle()
        self.restart()
        await self.offered(offer("best", 0.5))
        await self.settle()
        self.assertEqual(self.chosen(), [{"offer_id": "o1"}])

    async def test_a63_a_foreign_choose_url_is_never_called(self):
        foreign = Exchange()
        await foreign.start()
        self.addAsyncCleanup(foreign.stop)
        await self.offered(offer("o1", 5), choose_url=f"{foreign.base}/choose")
        await self.settle()
        self.assertEqual((foreign.requests, self.exchange.requests), ([], []))
        self.assertEqual([item.kind for item in self.inbox()], ["choice"])

    async def test_a64_the_daily_budget_holds(self):
        for at in range(6):
            await self.offered(offer("o", 9.5), task_id=f"b{at}")
            await self.settle()
        self.assertEqual(len(self.exchange.sent()), 5)
        await self.offered(offer("o", 2.51), offer("small", 2.5, 90), task_id="b7")
        await self.settle()
        self.assertEqual(self.chosen("b7"), [{"offer_id": "small"}])
        self.clock.forward(hours=14)
        await self.offered(offer("o", 9.5), task_id="b8")
        await self.settle()
        self.assertEqual(self.chosen("b8"), [{"offer_id": "o"}])

    async def test_a67_also_sell_does_nothing(self):
        await self.offered(offer("o1", 5), also_sell={"steps": ["POST /api/members/me/roles"], "url": "x"})
        await self.settle()
        self.assertEqual([each.path for each in self.exchange.requests], ["/choose/b1"])


class Fastest(BuyerCase):
    options: ClassVar = {"choose": "fastest"}

    async def test_a58_the_fastest_allowed_where_so_configured(self):
        await self.offered(offer("slow", 1, 90), offer("fast", 9, 10), offer("tie", 8, 10), offer("denied", 30, 1))
        await self.settle()
        self.assertEqual(self.chosen(), [{"offer_id": "tie"}])


class Person(BuyerCase):
    options: ClassVar = {"choose": "person", "accept": "person"}

    async def test_a61_a_person_chooses_and_accepts(self):
        await self.offered(offer("o1", 5))
        await self.settle()
        self.assertEqual(self.exchange.requests, [])
        owner.approve(self.member, self.inbox("choice")[0])
        await self.settle()
        self.assertEqual(self.chosen(), [{"offer_id": "o1"}])
        self.delivers()
        await self.told_delivered()
        self.assertEqual(self.exchange.sent(TASK, "GET"), [])
        owner.approve(self.member, self.inbox("delivery")[0])
        await self.settle()
        self.assertEqual(len(self.exchange.sent(ACCEPT)), 1)


class Listed(BuyerCase):
    options: ClassVar = {"only_tasks": "listed"}

    async def test_a58_only_listed_tasks_are_chosen_for(self):
        from a202_mcp.axp.buying import list_task  # noqa: PLC0415 - one use

        await self.offered(offer("o1", 5))
        await self.settle()
        self.assertEqual((self.exchange.requests, len(self.inbox("choice"))), ([], 1))
        self.member.carry_out(lambda view: list_task(view, "b1"))
        await self.settle()
        self.assertEqual((self.chosen(), self.inbox()), ([{"offer_id": "o1"}], []))


class Deliveries(BuyerCase):

    async def test_a65_a_right_hash_is_accepted_with_it(self):
        await self.bought()
        self.delivers()
        await self.told_delivered()
        [sent] = self.exchange.sent(ACCEPT)
        self.assertEqual(sent.json["sha256"], HASH)
        self.assertEqual(set(sent.json), {"sha256", "notes"})
        await self.told_delivered(auto_release_at="2026-12-01T00:00:00Z")
        await self.told_delivered(HASH.upper())
        self.assertEqual(len(self.exchange.sent(ACCEPT)), 1)

    async def test_a65_a_json_object_is_tried_by_its_content(self):
        await self.bought()
        self.delivers(json.dumps({"content": WORK.decode(), "filename": "x"}).encode(), nested=True)
        await self.told_delivered()
        self.assertEqual(len(self.exchange.sent(ACCEPT)), 1)

    async def test_a66_a_wrong_hash_is_disputed_after_two_looks(self):
        await self.bought()
        self.delivers(b"something else")
        await self.told_delivered()
        [sent] = self.exchange.sent(DISPUTE)
        self.assertEqual(sent.json, {"reason": "content does not match its hash"})
        self.assertEqual((len(self.exchange.sent(CONTENT, "GET")), self.exchange.sent(ACCEPT)), (2, []))

    async def test_a66_a_hash_that_is_wrong_once_is_accepted(self):
        await self.bought()
        self.delivers()
        self.exchange.answers(CONTENT, Reply(200, b"stale"), Reply(200, WORK))
        await self.told_delivered()
        self.assertEqual((len(self.exchange.sent(ACCEPT)), self.exchange.sent(DISPUTE)), (1, []))

    async def test_a66_what_cannot_be_told_goes_to_the_owner(self):
        await self.bought()
        cases = ((TASK, Reply(404)), (CONTENT, Reply(404)), (CONTENT, Reply(200, b"x" * 1_048_577)),
                 (TASK, Reply(200, b"[]")), (TASK, Reply(200, b'{"deliverable":{"sha256":null}}')),
                 (TASK, Reply(200, json.dumps({"deliverable": {"sha256": "0" * 64}}).encode())))
        for at, (path, reply) in enumerate(cases):
            with self.subTest(path=path, reply=reply.body[:40]):
                self.delivers()
                self.exchange.answers(path, reply)
                await self.told_delivered()
                await self.call("task_update", task_id="b1", status="redo_requested", data={"at": at})
                await self.told_delivered(data={"at": at})
        await self.told_delivered(None, data="no hash")
        self.assertEqual((self.exchange.sent(ACCEPT), self.exchange.sent(DISPUTE)), ([], []))
        self.assertEqual({item.kind for item in self.inbox()}, {"delivery"})
        self.assertNotIn("/x", [each.path for each in self.exchange.requests])

    async def test_a66_a_failure_that_may_pass_is_tried_again(self):
        await self.bought()
        self.delivers()
        self.exchange.answers(CONTENT, Reply(503), Reply(200, WORK))
        await self.told_delivered()
        self.assertEqual(self.exchange.sent(ACCEPT), [])
        self.clock.forward(seconds=1)
        await self.settle()
        self.assertEqual(len(self.exchange.sent(ACCEPT)), 1)

    async def test_a65_nothing_is_accepted_for_a_task_that_was_not_chosen(self):
        self.delivers()
        await self.told_delivered()
        self.assertEqual(self.exchange.requests, [])
