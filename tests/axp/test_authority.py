"""Statuses from an address, and a limit that is not set (A40, A61)."""

from typing import ClassVar

from a202_mcp.axp.mandate_status import StatusReader
from tests.axp.exchange import Reply
from tests.axp.support import MANDATE, MemberCase


class StatusAddress(MemberCase):

    async def test_a40_an_address_that_does_not_say_active_denies(self):
        self.answered_at(f"{self.exchange.base}/status")
        for at, (reply, priced) in enumerate((
                (Reply(200, b'{"status":"active"}'), True), (Reply(200, b'{"status":"suspended"}'), False),
                (Reply(200, b"[]"), False), (Reply(500), False), (Reply(None), False),
                (Reply(302, headers=(("location", "/status2"),)), False))):
            self.exchange.answers("/status", reply)
            self.member.statuses.clear()
            await StatusReader(self.member).refresh()
            self.assertEqual("price_usd" in await self.quote(task_id=f"t{at}"), priced)
        self.assertEqual({each.path for each in self.exchange.requests}, {"/status"})

    async def test_a40_an_answer_older_than_a_minute_denies(self):
        self.answered_at(f"{self.exchange.base}/status")
        self.exchange.answers("/status", Reply(200, b'{"status":"active"}'))
        await StatusReader(self.member).refresh()
        self.clock.forward(seconds=60)
        self.assertIn("price_usd", await self.quote())
        self.clock.forward(seconds=1)
        self.assertIn("decline", await self.quote(task_id="t2"))


class Spending(MemberCase):
    options: ClassVar = {"mandate": MANDATE.replace('ask_spend_above = "10.00"\n', "")}

    async def test_a61_without_ask_spend_above_nothing_waits(self):
        arguments = {"task_id": "b1", "offers": [{"offer_id": "o", "price_usd": 20, "eta_minutes": 3}],
                     "choose_url": f"{self.exchange.base}/choose"}
        await self.call("receive_offers", **arguments)
        await self.settle()
        self.assertEqual(len(self.exchange.sent("/choose")), 1)
