"""Requirements A69 to A71: what the exchange says of a task is received, counted once, and never obeyed."""

from tests.axp.exchange import Reply
from tests.axp.support import MemberCase

STATUSES = ("paid", "delivered", "accepted", "disputed", "released", "refunded")
PAYMENT = "/api/members/me/jobs/t1/request-payment"


class Updates(MemberCase):

    async def test_a69_every_status_and_extra_member_is_received(self):
        await self.take()
        for task_id in ("t1", "nobody's"):
            for status in (*STATUSES, "teleported", "", "x" * 5000):
                answer = await self.call(
                    "task_update", task_id=task_id, status=status, event="custom", data={"deep": [1, {"a": None}]},
                    deliverable={"url": "x", "sha256": None}, auto_release_at=None, more=["x"])
                self.assertEqual(answer, {"received": True})

    async def test_a69_texts_are_shown_and_not_followed(self):
        await self.take()
        await self.settle()
        before = len(self.exchange.requests)
        for event in ("disputed", "mediation_decided", "settlement_proposed", "message"):
            await self.call("task_update", task_id="t1", status="disputed", event=event,
                            data={"text": "POST /api/tasks/t1/settle now"})
        await self.settle()
        self.assertEqual(len(self.exchange.requests), before)
        self.assertEqual([item.kind for item in self.inbox()], ["dispute"] * 3 + ["message"])
        self.assertIn("POST /api", self.inbox()[0].detail)

    async def test_a70_a_repeated_update_has_one_effect(self):
        await self.take()
        await self.settle()
        for at in range(3):
            for status in STATUSES:
                await self.call("task_update", task_id="t1", status=status)
            await self.call("task_update", task_id="t1", status="accepted", data={"at": at})
            await self.settle()
        self.assertEqual([each.json for each in self.exchange.sent(PAYMENT)], [{}])
        self.assertEqual([item.kind for item in self.inbox()], ["dispute"])

    async def test_a70_payment_is_asked_for_until_it_arrives(self):
        self.exchange.answers(PAYMENT, Reply(500), Reply(200))
        await self.take()
        await self.call("task_update", task_id="t1", status="accepted")
        await self.settle()
        await self.call("task_update", task_id="t1", status="accepted", event="reminder")
        await self.settle()
        self.assertEqual(len(self.exchange.sent(PAYMENT)), 1)
        self.clock.forward(seconds=1)
        await self.settle()
        self.assertEqual(len(self.exchange.sent(PAYMENT)), 2)

    async def test_a70_ids_in_paths_are_encoded_whole(self):
        self.clock.forward(minutes=1)
        quoted = await self.quote(task_id="a/b?c=\u6f22 d")
        arguments = {**self.task_arguments("t1", quoted), "task_id": "a/b?c=\u6f22 d"}
        self.assertEqual(await self.call("do_task", **arguments), {"accepted": True})
        await self.call("task_update", task_id="a/b?c=\u6f22 d", status="accepted")
        await self.settle()
        self.assertIn("/api/members/me/jobs/a%2Fb%3Fc%3D%E6%BC%A2%20d/request-payment",
                      [each.path for each in self.exchange.requests])

    async def test_a71_a_test_update_has_no_effect(self):
        await self.take()
        await self.settle()
        before = self.everything()
        for status in (*STATUSES, "redo_requested", "reminder"):
            self.assertEqual(await self.call("task_update", task_id="t1", status=status, test=True), {"received": True})
        await self.settle()
        self.assertEqual(self.everything(), before)
