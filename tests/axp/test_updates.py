"""Requirements A69 to A71: what the exchange says of a task is received, counted once, and never obeyed."""

from typing import ClassVar

from tests.axp.exchange import Reply
from tests.axp.support import MemberCase

STATUSES = ("paid", "delivered", "accepted", "disputed", "released", "refunded")
PAYMENT = "/api/members/me/jobs/t1/request-payment"
DELIVER = "/deliver/t1"


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

    async def test_a69_what_was_paid_released_or_refunded_is_recorded_and_does_nothing(self):
        await self.take()
        await self.settle()
        requests, task = len(self.exchange.requests), self.member.store.item("sold", "t1")
        for status in ("paid", "released", "refunded"):
            await self.call("task_update", task_id="t1", status=status)
            await self.settle()
            last = self.objects("seller", "t1")[-1]
            self.assertEqual((last["object_type"], last["payload"]["evidence_type"], last["payload"]["claim"]),
                             ("evidence", "attestation", f"the exchange stated: {status}"))
        self.assertEqual((len(self.exchange.requests), self.member.store.item("sold", "t1"), self.inbox()),
                         (requests, task, []))
        self.assertEqual([each["event"] for each in self.member.store.history("t1")][-3:], [
            f"the exchange stated: {status}" for status in ("paid", "released", "refunded")])

    async def test_a69_a_text_is_shown_however_deep_it_lies(self):
        await self.take()
        for data, shown in (({"reason": {"text": "late", "more": ["and", {"x": "wrong"}]}}, "late; and; wrong"),
                            ("plain", "plain"), (["a", ["b"]], "a; b"), ({"n": 1, "none": None}, "no text"),
                            ({"long": "x" * 3000}, "x" * 1900)):
            with self.subTest(data=str(data)[:40]):
                await self.call("task_update", task_id="t1", status="disputed", data=data)
                self.assertEqual(self.inbox("dispute")[-1].detail, f"disputed: {shown}")

    async def test_a70_what_was_said_of_a_task_before_it_was_ours_counts_when_it_is_said_again(self):
        await self.call("task_update", task_id="t1", status="disputed", data="why")
        self.assertEqual(self.inbox(), [])
        await self.take()
        for _ in range(2):
            await self.call("task_update", task_id="t1", status="disputed", data="why")
        self.assertEqual([item.detail for item in self.inbox()], ["disputed: why"])

    async def remind(self, **more):
        await self.call("task_update", **{"task_id": "t1", "status": "accepted", "event": "reminder", **more})
        await self.settle()

    async def test_a70_where_only_the_reminder_arrived_its_step_is_made(self):
        await self.take()
        await self.settle()
        for _ in range(2):
            await self.remind()
        self.assertEqual(len(self.exchange.sent(PAYMENT)), 1)
        self.clock.forward(hours=1)
        await self.remind()
        self.assertEqual(len(self.exchange.sent(PAYMENT)), 1)

    async def test_a70_a_reminder_shortens_no_wait_between_attempts(self):
        self.exchange.answers(DELIVER, Reply(429, headers=(("retry-after", "60"),)))
        await self.take()
        await self.settle()
        for at in range(6):
            await self.remind(status="paid", data={"at": at})
        self.assertEqual(len(self.exchange.sent(DELIVER)), 1)

    async def test_a70_a_reminder_has_what_gave_up_tried_sooner_once_and_not_before_a_minute(self):
        self.exchange.answers(DELIVER, Reply(429, headers=(("retry-after", "60"),)))
        await self.take()
        await self.settle()
        for _ in range(5):
            self.clock.forward(seconds=60)
            await self.settle()
        self.assertEqual(len(self.exchange.sent(DELIVER)), 6)
        for _ in range(6):
            await self.remind(status="paid")
        self.assertEqual(len(self.exchange.sent(DELIVER)), 6)
        self.clock.forward(seconds=60)
        for _ in range(6):
            await self.remind(status="paid")
        self.assertEqual(len(self.exchange.sent(DELIVER)), 7)
        self.clock.forward(seconds=299)
        await self.settle()
        self.assertEqual(len(self.exchange.sent(DELIVER)), 7)
        self.clock.forward(seconds=302)
        await self.remind(status="paid")
        self.assertEqual(len(self.exchange.sent(DELIVER)), 8)

    async def test_a70_a_reminder_of_a_dispute_is_shown_and_of_a_redo_starts_none(self):
        await self.take()
        await self.settle()
        await self.remind(status="disputed", data="answer please")
        await self.remind(status="redo_requested")
        await self.remind(status="reminder")
        self.assertEqual([(item.kind, item.detail[:40]) for item in self.inbox()], [
            ("dispute", "reminder of disputed: answer please"), ("work", "redo_requested again, as a reminder or i")])
        self.assertEqual(len(self.runs), 1)

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


class Redone(MemberCase):
    options: ClassVar = {"guarantee": "guarantee = { free_redo = 3, refund_if_fails_checks = false }"}

    async def test_a70_the_very_bytes_of_a_redo_again_leave_nothing(self):
        await self.take()
        await self.settle()
        await self.call("task_update", task_id="t1", status="redo_requested")
        await self.settle()
        before = self.everything()
        for _ in range(4):
            await self.call("task_update", task_id="t1", status="redo_requested")
            await self.settle()
        self.assertEqual((self.everything(), len(self.runs), self.inbox("work")), (before, 2, []))

    async def test_a85_a_redo_in_words_that_counted_already_is_shown_once_for_each_round(self):
        await self.take()
        await self.settle()
        for _ in range(2):
            await self.call("task_update", task_id="t1", status="redo_requested")
        await self.settle()
        self.assertEqual((len(self.runs), self.inbox("work")), (2, []))
        for told in range(2):
            await self.call("task_update", task_id="t1", status="redo_requested", told=told)
            await self.settle()
        self.assertEqual((len(self.runs), len(self.inbox("work"))), (2, 1))
        for told in range(3):
            await self.call("task_update", task_id="t1", status="redo_requested", data={"round": 2}, told=told)
            await self.settle()
        self.assertEqual((len(self.runs), len(self.inbox("work"))), (3, 2))
