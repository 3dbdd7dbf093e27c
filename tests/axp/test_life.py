"""The whole life of a member on loopback, both sides, each step as a real exchange would take it; then the record."""

import hashlib
import json
import signal
import time
from functools import partial

import httpx2

from tests.axp.exchange import Reply
from tests.axp.process import ProcessCase
from tests.axp.support import KEY, SECRET, message, offer, quote_arguments, sign, signed_headers

WORK = b"what the seller delivered"


class WholeLife(ProcessCase):

    async def asyncSetUp(self):
        await super().asyncSetUp()
        await self.serve()
        self.client = httpx2.AsyncClient(trust_env=False, timeout=30)
        self.addAsyncCleanup(self.client.aclose)

    async def call(self, name, **arguments):
        status, result = await self.tool(self.client, name, **arguments)
        self.assertEqual((status, result["isError"]), (200, False), result)
        return result["structuredContent"]

    async def handshake(self):
        answer = await self.call("contact_test", nonce="hello", member_id="mem_1")
        self.assertEqual(answer["signature"], sign(b"contact_test.hello", KEY))
        self.assertEqual((await self.send(self.client, b"", [], "GET", "/healthz"))[0], 200)

    async def conformance(self):
        body = message("tools/list")
        now = int(time.time())
        for headers in ([], signed_headers(body, now - 310), signed_headers(body, now + 310),
                        signed_headers(body, now, key="other"), signed_headers(body, now, member_id="mem_2")):
            self.assertEqual((await self.send(self.client, body, headers))[0], 401)
        self.assertEqual((await self.send(self.client, b"{", signed_headers(b"{", now)))[0], 400)
        status, tools = await self.post(body)
        self.assertEqual((status, len(tools["result"]["tools"])), (200, 9))
        self.assertIn("price_usd", await self.call("quote", **quote_arguments(test=True)))
        arguments = self.task_arguments("t0", {"price_usd": 7, "eta_minutes": 34})
        self.assertEqual(await self.call("do_task", **arguments, test=True), {"accepted": True})
        self.assertEqual(await self.call("task_update", task_id="t0", status="paid", test=True), {"received": True})

    async def verified(self, task_id, kinds, *more):
        """Export a task's record, verify it, and hold it against the kinds of objects that it must have."""
        status = await self.state_of(task_id)
        file = self.folder / f"{task_id}.json"
        await self.command("export", status["transaction_id"], "--state-dir", str(self.folder / "member-state"),
                           "-o", str(file), *more)
        bundle = json.loads(file.read_text())
        self.assertEqual({each["object_type"] for each in bundle["objects"]}, kinds)
        report = json.loads(await self.command("verify", str(file), "--format", "json"))
        self.assertEqual(report["results"]["failed"], 0)
        self.assertGreater(report["results"]["verified"], 30)
        self.assertIs(bundle["one_sided"], True)
        return bundle

    async def test_a44_a50_a81_the_sellers_side(self):
        await self.handshake()
        await self.conformance()
        declined = await self.call("quote", **quote_arguments(task_id="x", task_type="dig"))
        self.assertEqual(declined["reason_code"], "cannot_do")
        self.assertIn("questions", await self.call("quote", **quote_arguments(task_id="t1", params={"pages": 4})))
        quoted = await self.call("quote", **quote_arguments(buyer={"id": "buy_1"}, payment_method="crypto"))
        self.exchange.answers("/deliver/t1", Reply(None), Reply(503), Reply(200))
        self.assertEqual(await self.call("do_task", **self.task_arguments("t1", quoted)), {"accepted": True})
        await self.until(lambda: len(self.exchange.sent("/deliver/t1")) == 3)
        self.assertEqual(len({each.body for each in self.exchange.sent("/deliver/t1")}), 1)
        for status in ("paid", "delivered", "accepted"):
            await self.call("task_update", task_id="t1", status=status)
        await self.until(lambda: self.exchange.sent("/api/members/me/jobs/t1/request-payment"))
        await self.call("task_update", task_id="t1", status="released")
        review = await self.call("review", task_id="t1", your_role="seller", counterparty={"id": "buy_1"}, task={})
        self.assertEqual(review, {"skip": True})
        await self.until(lambda: self.settled("t1", "request_payment answered by the exchange"))
        await self.verified("t1", {"offer", "policy_decision", "evidence"})
        self.assertEqual(len(self.runs), 1)
        self.assertEqual(await self.end(signal.SIGTERM), 0)

    async def test_a58_a61_a65_a66_the_buyers_side(self):
        await self.handshake()
        for task_id, price in (("b1", 5), ("b2", 15)):
            answer = await self.call("receive_offers", task_id=task_id, offers=[offer("o1", price), offer("o2", 99)],
                                     choose_url=f"{self.exchange.base}/choose/{task_id}")
            self.assertEqual(answer, {"received": True})
        await self.until(lambda: self.exchange.sent("/choose/b1"))
        [item] = await self.until(self.waiting)
        self.assertEqual((item["kind"], item["task_id"], self.exchange.sent("/choose/b2")), ("choice", "b2", []))
        await self.owner("approve", item["id"])
        await self.owner("approve", item["id"], status=1)
        await self.owner("approve", "nothing", status=2)
        await self.until(lambda: self.exchange.sent("/choose/b2"))
        self.assertEqual(self.exchange.sent("/choose/b2")[0].headers["authorization"], f"Bearer {SECRET}")
        for task_id, body, path in (("b1", WORK, "accept"), ("b2", b"other bytes", "dispute")):
            stated = hashlib.sha256(WORK).hexdigest()
            deliverable = {"url": "x", "sha256": stated}
            task = json.dumps({"deliverable": deliverable}).encode()
            self.exchange.answers(f"/api/tasks/{task_id}", Reply(200, task))
            self.exchange.answers(f"/api/tasks/{task_id}/deliverable", Reply(200, body))
            await self.call("task_update", task_id=task_id, status="delivered", deliverable=deliverable)
            await self.until(partial(self.exchange.sent, f"/api/tasks/{task_id}/{path}"))
            await self.until(partial(self.settled, task_id, f"{path} answered by the exchange"))
        statement = await self.call("mediation", mediation_id="m1", kind="dispute", task_id="b2", your_role="buyer",
                                    opened_by="seller", reason="the bytes are right", task={})
        self.assertIsNone(statement["proposed_refund_pct"])
        self.assertIn("15.00 USD", statement["statement"])
        await self.verified("b1", {"policy_decision", "evidence"})
        bundle = await self.verified("b2", {"policy_decision", "evidence", "approval"}, "--private")
        decided = {each["payload"].get("decision") for each in bundle["objects"]}
        self.assertLessEqual({"allow", "require_approval", "approved"}, decided)

    async def settled(self, task_id, event):
        return event in [each["event"] for each in (await self.state_of(task_id))["events"]]

    async def waiting(self):
        return json.loads(await self.owner("inbox", "--json"))["items"]
