"""Requirements A30 to A43: what a quote answers, row by row, and what it leaves behind."""

import contextlib
import io
import json
import re
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import ClassVar

from a202_mcp.axp import owner
from a202_mcp.cli import main
from a202_reference.times import parse_instant
from tests.axp.process import run_command
from tests.axp.support import MANDATE, MemberCase, message, quote_arguments

SHAPES = ({"price_usd", "eta_minutes", "valid_until", "availability", "guarantee"},
          {"decline", "reason_code", "reason"}, {"clarify", "questions"})
TELLING = re.compile(r"\d|mandate|policy|limit|budget|maximum|approv|A202", re.IGNORECASE)


def pages(number, **more):
    return {"params": {"text": "x", "pages": number}, **more}


class Quotes(MemberCase):

    async def raw_quote(self, **changes):
        """A quote whose numbers stand as written: text after `@` is put in as it is."""
        body = message("tools/call", {"name": "quote", "arguments": quote_arguments(**changes)})
        body = re.sub(rb'"@([^"]*)"', rb"\1", body)
        status, answer = await self.post(body)
        self.assertEqual(status, 200)
        return answer["result"]["structuredContent"]

    async def test_a30_the_arithmetic_is_exact(self):
        for at, (given, price, eta) in enumerate((
                ("@1", "6", 31), ("@4", "7", 34), ("@3.1", "6.55", 34), ("@3.01", "6.51", 34), ("@2.99", "6.5", 33),
                ("@0", "6", 30), ("@0.000000001", "6", 31), ("@3e1", "20", 60), ("@10.03", "10.02", 41),
                ("@10.008", "10", 41), ("@1.00000000000001", "6", 32))):
            with self.subTest(given=given):
                answer = await self.raw_quote(task_id=f"t{at}", params={"text": "x", "pages": given})
                self.assertEqual((Decimal(repr(answer["price_usd"])), answer["eta_minutes"]), (Decimal(price), eta))

    async def test_a30_numbers_that_are_none_are_cannot_do(self):
        for given in ("@1234567890123456", "@1.000000000000001",
                      "@1e16", "@1e-10", "@0." + "1" * 20, "@NaN", "@Infinity", "@1e999999999",
                      "@-1", "@2001", "4", True, [4], {"x": 4}):
            with self.subTest(given=given):
                answer = await self.raw_quote(params={"text": "x", "pages": given})
                self.assertEqual((answer["decline"], answer["reason_code"]), (True, "cannot_do"))
        self.assertEqual(self.objects("seller", "t1"), ())

    async def test_a30_no_price_or_time_is_out_of_range(self):
        self.close()
        edges = '[[skills]]\ntask_type = "edges"\nworker = { command = ["true"] }\n' \
            'price = { per = [ { param = "p", each = "1.00", default = 1 } ] }\n' \
            'eta = { per = [ { param = "m", each = 1, default = 1 } ] }\n'
        self.write_configuration(mandate=MANDATE.replace('"100.00"', '"900000000.00"').replace(
            'min_price = "5.00"', 'min_price = "0.00"').replace('ask_above = "50.00"\n', ""), more=edges)
        self.assertEqual(run_command("member", "init", "--config", str(self.config))[0], 0)
        self.clock.now = datetime.now(UTC)
        self.start()
        for at, (params, price, eta) in enumerate((
                ({"p": "@100000"}, 100000, 1), ({"p": "@100000.004"}, 100000, 1), ({"p": "@100000.005"}, None, None),
                ({"p": "@0.005"}, 0.01, 1), ({"p": "@0.0049"}, None, None), ({"p": "@0"}, None, None),
                ({"p": "@900000000"}, None, None), ({"m": "@43200"}, 1, 43200), ({"m": "@43199.5"}, 1, 43200),
                ({"m": "@43200.5"}, None, None), ({"m": "@0"}, 1, 1), ({"m": "@999999999"}, None, None))):
            for test in (False, True):
                with self.subTest(params=params, test=test):
                    answer = await self.raw_quote(task_id=f"t{at}", task_type="edges", params=params, test=test)
                    found = answer.get("price_usd"), answer.get("eta_minutes")
                    self.assertEqual(found, (price, eta))
                    self.assertEqual(answer.get("reason_code"), None if price else "cannot_do")

    async def test_a31_an_unlisted_task_is_cannot_do(self):
        for test in (False, True):
            answer = await self.quote(task_type="paint_house", test=test)
            self.assertEqual((answer["decline"], answer["reason_code"]), (True, "cannot_do"))

    async def test_a32_exactly_one_shape(self):
        for changes in ({}, {"task_type": "other"}, {"params": {}}, {"deadline_minutes": 1}, pages(500), pages(100),
                        {"payment_method": "free"}, {"acceptance_checks": {"max_bytes": 0}}, {"test": True}):
            with self.subTest(changes=changes):
                self.assertIn(set(await self.quote(task_id=json.dumps(changes), **changes)), SHAPES)

    async def test_a33_missing_params_are_asked_for(self):
        answer = await self.quote(params={"pages": 3})
        self.assertEqual(answer, {"clarify": True, "questions": ['What is the value of "text"?']})
        self.assertEqual(await self.quote(params={"text": None}), answer)
        many = (await self.quote(task_type="many_params", params={"a": 1}))["questions"]
        self.assertTrue(1 <= len(many) <= 5)
        for name in "bcdefg":
            self.assertIn(name, " ".join(many))
        self.assertEqual(self.objects("seller", "t1"), ())

    async def test_a34_a_deadline_that_cannot_be_met(self):
        answer = await self.quote(deadline_minutes=33)
        self.assertEqual(answer, {"decline": True, "reason_code": "deadline", "reason": "needs about 34 minutes"})
        self.assertIn("price_usd", await self.quote(deadline_minutes=34))

    async def test_a35_without_a_place_no_capacity(self):
        for task_id in ("t1", "t2"):
            self.assertEqual(await self.take(task_id), {"accepted": True})
        answer = await self.quote(task_id="t3")
        self.assertEqual((answer["reason_code"], answer["reason"]), (
            "no_capacity", "no capacity right now: all places for this kind of task are taken"))
        self.assertIn("price_usd", await self.quote(task_id="t3", test=True))
        other = await self.quote(task_id="t4", task_type="many_params", params=dict.fromkeys("abcdefg", 1))
        self.assertIn("price_usd", other)

    async def test_a36_free_work_is_declined(self):
        answer = await self.quote(payment_method="free")
        self.assertEqual(answer, {"decline": True, "reason_code": "other", "reason": "paid work only"})
        self.assertEqual(await self.quote(payment_method="free", test=True), answer)

    async def test_a37_valid_until_and_guarantee(self):
        answer = await self.quote()
        self.assertEqual(parse_instant(answer["valid_until"]) - self.clock(), timedelta(hours=1))
        self.assertEqual(answer["guarantee"], {"free_redo": 1, "refund_if_fails_checks": True})
        self.assertEqual(answer["availability"], "high")

    async def test_a38_a_test_leaves_nothing_and_never_asks(self):
        before = self.everything()
        self.assertEqual((await self.quote(test=True))["price_usd"], 7)
        self.assertEqual((await self.quote(test=True, params={}))["price_usd"], 6)
        self.assertEqual((await self.quote(test=True, task_type="many_params", params={}))["price_usd"], 8)
        self.assertIn("price_usd", await self.quote(test=True, **pages(500)))
        self.assertEqual((await self.quote(test=True, deadline_minutes=1))["reason_code"], "deadline")
        self.assertEqual((await self.quote(test=True, **pages(-1)))["reason_code"], "cannot_do")
        self.assertEqual(self.everything(), before)

    async def test_a38_only_true_is_a_test(self):
        for test in ("true", 1, 0, [], {}):
            self.assertIn("test", await self.refused("quote", **quote_arguments(test=test)))

    async def test_a39_nulls_and_an_anonymous_buyer_are_fine(self):
        buyers = (None, "anonymous", {}, {"id": None}, {"id": 7}, {"id": "buyer_1", "name": "\x1b[31m"})
        for at, buyer in enumerate(buyers):
            answer = await self.quote(
                task_id=f"t{at}", buyer=buyer, description=None, deadline_minutes=None, acceptance_checks=None,
                payment_method=None)
            self.assertEqual(answer["price_usd"], 7)

    async def test_a39_one_buyer_is_one_placeholder(self):
        others = []
        buyers = ({"id": "b1"}, {"id": "b1"}, {"id": "b2"}, None, None)
        for task_id, buyer in zip(("t1", "t2", "t3", "t4", "t5"), buyers, strict=True):
            await self.quote(task_id=task_id, buyer=buyer)
            offers = [each for each in self.objects("seller", task_id) if each["object_type"] == "offer"]
            others.append(offers[0]["payload"]["offeree"]["organization_id"])
        self.assertEqual(others[0], others[1])
        self.assertEqual(len(set(others)), 4)

    async def test_a40_a_denial_tells_nothing(self):
        answer = await self.quote(**pages(500))
        self.assertEqual(answer, {"decline": True, "reason_code": "other", "reason": "not able to take this task"})
        self.assertIsNone(TELLING.search(answer["reason"]))
        decisions = self.objects("seller", "t1")
        self.assertEqual([each["payload"]["decision"] for each in decisions], ["deny"])
        self.assertEqual(decisions[0]["payload"]["visibility"], "private_to_actor")
        self.assertEqual(self.inbox(), [])

    async def test_a81_a_record_of_nothing_but_the_owner_s_decisions_is_given_away_on_request_only(self):
        for task_id, params in (("denied", pages(500)), ("held", pages(100))):
            await self.quote(task_id=task_id, **params)
            transaction = self.member.store.item("trade", f"seller:{task_id}")["transaction_id"]
            for options, expected in (((), 1), (("--without-mandate",), 1), (("--private", "--without-mandate"), 1),
                                      (("--private",), 0)):
                with self.subTest(task_id, options=options):
                    status, out, said = self.export(transaction, *options)
                    self.assertEqual((status, bool(out)), (expected, expected == 0), said)
                    if expected:
                        self.assertEqual(said, f"a202-mcp export: {transaction} holds nothing but decisions, which are "
                                               "the owner's: --private gives them away\n")

    def export(self, transaction, *options):
        with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(io.StringIO()) as said:
            status = main(["export", transaction, "--state-dir", str(self.member.settings.state_dir), *options])
        return status, out.getvalue(), said.getvalue()

    async def test_a41_a_hold_reads_like_a_denial_and_waits(self):
        held = await self.quote(**pages(100))
        self.assertEqual(held, await self.quote(task_id="t2", **pages(500)))
        await self.quote(**pages(100))
        items = self.inbox("quote")
        self.assertEqual([item.task_id for item in items], ["t1"])
        self.assertIn("55.00 USD", items[0].detail)
        owner.approve(self.member, items[0])
        self.assertEqual(self.inbox(), [])
        self.assertEqual((await self.quote(**pages(100)))["price_usd"], 55)
        approvals = [each for each in self.objects("seller", "t1") if each["object_type"] == "approval"]
        self.assertEqual(len(approvals), 3)

    async def test_a41_a_held_quote_that_was_approved_can_be_taken_and_delivered(self):
        await self.quote(**pages(100))
        owner.approve(self.member, self.inbox("quote")[0])
        quoted = await self.quote(**pages(100))
        arguments = {**self.task_arguments("t1", quoted), **pages(100)}
        self.assertEqual(await self.call("do_task", **arguments), {"accepted": True})
        await self.settle()
        self.assertEqual(len(self.exchange.sent("/deliver/t1")), 1)

    async def test_a41_an_approval_releases_one_offer(self):
        await self.quote(**pages(100))
        owner.approve(self.member, self.inbox("quote")[0])
        self.assertEqual((await self.quote(**pages(100)))["price_usd"], 55)
        self.clock.forward(minutes=61)
        self.assertEqual((await self.quote(**pages(100)))["decline"], True)
        self.assertEqual(len(self.inbox("quote")), 1)

    async def test_a41_a_rejected_hold_stays_declined(self):
        await self.quote(**pages(100))
        owner.reject(self.member, self.inbox("quote")[0])
        self.assertEqual((await self.quote(**pages(100)))["decline"], True)
        self.assertEqual(self.inbox(), [])

    async def test_a42_a_repeat_gives_the_same_offer_while_it_is_valid(self):
        first = await self.quote()
        recorded = self.objects("seller", "t1")
        self.clock.forward(minutes=59)
        self.assertEqual(await self.quote(params={"pages": 4.0, "text": "hello"}), first)
        self.assertEqual(self.objects("seller", "t1"), recorded)
        self.clock.forward(minutes=2)
        self.assertNotEqual((await self.quote())["valid_until"], first["valid_until"])
        offers = [each for each in self.objects("seller", "t1") if each["object_type"] == "offer"]
        self.assertEqual(offers[1]["payload"]["supersedes_offer_id"], offers[0]["id"])
        self.assertEqual(offers[1]["payload"]["session_id"], offers[0]["payload"]["session_id"])

    async def test_a43_a_missing_required_argument_is_a_tool_error(self):
        for name in ("task_id", "task_type", "params", "test"):
            self.assertIn(name, await self.refused("quote", **quote_arguments(**{name: ...})))
            self.assertIn(name, await self.refused("quote", **quote_arguments(**{name: None})))


class FreeWork(MemberCase):
    options: ClassVar = {"free_work": "true"}

    async def test_a36_free_work_is_priced_0_under_its_own_mandate(self):
        self.assertEqual((await self.quote(payment_method="free"))["price_usd"], 0)
        self.assertEqual((await self.quote(task_id="t2", payment_method="crypto"))["price_usd"], 7)
        self.assertEqual((await self.quote(task_id="t3", **pages(500, payment_method="free")))["price_usd"], 0)
        self.assertEqual(len(self.member.view.identity.mandates), 3)

    async def test_a36_no_payment_is_asked_for_free_work(self):
        quoted = await self.quote(payment_method="free")
        self.assertEqual(await self.call("do_task", **self.task_arguments("t1", quoted)), {"accepted": True})
        await self.call("task_update", task_id="t1", status="accepted")
        await self.settle()
        self.assertEqual([each.path for each in self.exchange.sent()], ["/deliver/t1"])


class Suspended(MemberCase):
    options: ClassVar = {"mandate": MANDATE + "valid_days = 1\n"}

    async def test_a40_a_mandate_that_is_over_declines(self):
        self.clock.forward(days=2)
        self.assertEqual((await self.quote())["reason"], "not able to take this task")
