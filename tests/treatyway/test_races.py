"""Nothing is checked in one state and written in another: T43, T46, T73, T87, caps, approvals, the switch.

Another process tries to write between the check and the write of a first one: it cannot, and comes after it. Then real
servers on one state folder are asked at once, and one of them is killed.
"""

import asyncio
import contextlib
import json
import signal
import sqlite3
from unittest import mock

import httpx2

from a202_mcp.treatyway import counter, ordering, person, quoting, status
from a202_mcp.treatyway.answers import UNAVAILABLE
from a202_mcp.treatyway.callers import PassFacts, by_nothing, by_pass
from a202_mcp.treatyway.opened import open_shop
from a202_mcp.treatyway.status import set_switch
from a202_reference.registries import MandateStatus
from tests.treatyway.shops import ISSUER, ShopTest, config, token
from tests.treatyway.test_transports import Process

CALLER = by_pass(PassFacts(ISSUER, "agent-7", 2, "j", None, "0" * 64))
VISIT = {"summary": "x", "offer_id": "site-visit", "destination": "Oakland", "start": "2035-03-01T10:00:00-08:00"}


class Between(ShopTest):
    """`self.meanwhile` lets a second shop on the same folder act between a check of the first one and its write."""

    def setUp(self):
        super().setUp()
        self.rival = open_shop(self.shop.settings)
        self.rival.store._connection.execute("PRAGMA busy_timeout = 0")
        self.addCleanup(self.rival.workspace.close)

    def said(self, shop, tool, caller=CALLER, **arguments):
        return counter.answer(shop, tool, caller, arguments, b"{}")

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

    def raced(self, module, name, tool, mine, theirs):
        """What both are answered in the end; in between the rival can do nothing."""
        with self.meanwhile(module, name, lambda: self.assertIs(self.said(self.rival, tool, **theirs), UNAVAILABLE)):
            first = self.said(self.shop, tool, **mine)
        return first, self.said(self.rival, tool, **theirs)

    def ordered_twice(self, **request):
        quotes = [self.ask("request_quote", {"summary": "x", **request}, token())["quote_id"] for _ in range(2)]
        first, second = self.raced(
            ordering, "taking", "place_order", {"quote_id": quotes[0]}, {"quote_id": quotes[1]})
        self.assertEqual((first["status"], second["status"]), ("accepted", "rejected"))
        self.assertNotIn("order_id", second)
        return quotes

    def test_t46_the_last_pieces_are_sold_once(self):
        quotes = self.ordered_twice(offer_id="brass-rod", quantity=30)
        self.assertEqual(self.shop.stock("brass-rod"), 10)
        self.assertEqual(self.ask("get_status", {"quote_id": quotes[1]}, token())["status"], "quoted")

    def test_t87_the_last_place_is_given_once(self):
        self.ordered_twice(**VISIT)
        self.assertEqual(self.shop.store._connection.execute("SELECT count(*) FROM shop_bookings").fetchone(), (1,))

    def test_t43_one_quote_is_ordered_once(self):
        quote = self.quote(token())["quote_id"]
        first, second = self.raced(ordering, "taking", "place_order", {"quote_id": quote}, {"quote_id": quote})
        self.assertEqual((first["status"], first), ("accepted", second))
        self.assertEqual(self.shop.stock("brass-rod"), 38)

    def test_t73_one_key_is_used_once(self):
        asked = {"summary": "x", "offer_id": "brass-rod", "quantity": 2, "idempotency_key": "k"}
        first, second = self.raced(quoting, "priced", "request_quote", asked, asked)
        self.assertEqual(first, second)
        self.assertEqual(len(list(self.shop.store.entries("quote"))), 1)

    def test_t46_an_approval_and_an_order_of_the_same_stock(self):
        held, other = (self.quote(token(), quantity=30)["quote_id"] for _ in range(2))
        set_switch(self.shop.store, self.shop.authority.mandate_id, MandateStatus.SUSPENDED)
        self.order(held)
        set_switch(self.shop.store, self.shop.authority.mandate_id, MandateStatus.ACTIVE)
        order = {"quote_id": other}
        with self.meanwhile(person, "taking", lambda: self.assertIs(
                self.said(self.rival, "place_order", **order), UNAVAILABLE)):
            self.seller("answer", held, "--approve")
        self.assertEqual(self.said(self.rival, "place_order", **order)["status"], "rejected")
        self.assertEqual(self.shop.stock("brass-rod"), 10)

    def test_t54_the_last_call_under_a_cap_is_made_once(self):
        self.open(level0=1, level1=2)
        self.rival.settings = self.shop.settings
        nobody = {"caller": by_nothing("203.0.113.7"), "text": "x"}
        first, second = self.raced(counter, "count", "message", nobody, nobody)
        self.assertIn("message_id", first)
        self.assertEqual(second.code, "cap_reached")

    def test_a_cap_of_a_shop_s_own_tools(self):
        self.open(level0=1, level1=2)
        self.rival.settings = self.shop.settings
        nobody = by_nothing("203.0.113.7")

        def locked():
            with self.assertRaises(sqlite3.OperationalError):
                counter.admitted(self.rival, nobody)

        with self.meanwhile(counter, "count", locked):
            self.assertIsNone(counter.admitted(self.shop, nobody))
        self.assertEqual(counter.admitted(self.rival, nobody).code, "cap_reached")

    def test_revoked_is_final_also_for_who_resumes_at_the_same_time(self):
        mandate = self.shop.authority.mandate_id

        def turn(shop, to):
            return set_switch(shop.store, mandate, to)

        def locked():
            with self.assertRaises(sqlite3.OperationalError):
                turn(self.rival, MandateStatus.ACTIVE)

        turn(self.shop, MandateStatus.SUSPENDED)
        with self.meanwhile(status, "put", locked):
            self.assertIsNone(turn(self.shop, MandateStatus.REVOKED))
        self.assertIn("revoked, and that is final", turn(self.rival, MandateStatus.ACTIVE))
        self.assertEqual(status.switch(self.shop.store, mandate), "revoked")

    def test_whoever_suspends_and_resumes_at_the_same_time_is_told_what_is_true(self):
        """A switch that another one turned meanwhile is turned all the same: nothing else than revoked is final."""
        for act, word in (("suspend", "suspended"), ("resume", "active"), ("resume", "active")):
            self.assertEqual(json.loads(self.seller("mandate", act))["status"], word)

    def test_a_defect_counts_and_books_nothing(self):
        self.open(level0=500, level1=600)
        quote = self.quote(token())["quote_id"]
        before = self.shop.store._connection.execute("SELECT count(*) FROM shop_calls").fetchone()[0]
        with mock.patch.object(self.shop, "commit", side_effect=KeyError):
            self.fails("unavailable", "place_order", {"quote_id": quote}, token())
        after = self.shop.store._connection.execute("SELECT count(*) FROM shop_calls").fetchone()[0]
        self.assertEqual((after - before, self.shop.stock("brass-rod")), (1, 40))
        self.assertEqual(list(self.shop.store.entries("order")), [])
        self.assertEqual(self.order(quote)["status"], "accepted")


class Parallel(Process):
    """Real servers on one state folder, asked at once."""

    SERVERS, AT_ONCE = 2, 6

    def setUp(self):
        super().setUp()
        self.file.write_text(config(level0=7, level1=600))
        self.served = [self.serve() for _ in range(self.SERVERS)]

    async def asked(self, calls, pass_=None):
        """The answers to calls that go out at once, each to the next server."""
        headers = {"content-type": "application/json", "accept": "application/json, text/event-stream",
                   **({} if pass_ is None else {"authorization": f"Bearer {pass_}"})}

        async def ask(client, at, tool, arguments):
            body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool, "arguments": arguments}}
            try:
                found = await client.post(self.served[at % self.SERVERS].url, json=body, headers=headers)
            except httpx2.TransportError:
                return {}  # its server was killed
            return found.json()["result"]["structuredContent"]

        async with httpx2.AsyncClient(timeout=60) as client:
            return await asyncio.gather(*(ask(client, at, *call) for at, call in enumerate(calls)))

    def all_of(self, calls, pass_=None):
        return asyncio.run(self.asked(calls, pass_))

    def quotes(self, count, **request):
        found = self.all_of([("request_quote", {"summary": "x", **request})] * count, token())
        return [each["quote_id"] for each in found]

    def test_t43_t46_t87_and_a_cap_hold_between_servers(self):
        for request in ({"offer_id": "brass-rod", "quantity": 30}, VISIT):
            with self.subTest(request["offer_id"]):
                orders = [("place_order", {"quote_id": quote}) for quote in self.quotes(self.AT_ONCE, **request)]
                found = self.all_of(orders, token())
                self.assertEqual(sorted(each["status"] for each in found),
                                 ["accepted", *["rejected"] * (self.AT_ONCE - 1)])
        self.assertEqual(self.seller("stock", "brass-rod").strip(), "10")
        quote, = self.quotes(1, offer_id="brass-rod", quantity=2)
        found = self.all_of([("place_order", {"quote_id": quote})] * self.AT_ONCE, token())
        self.assertEqual({(each["status"], each["order_id"]) for each in found}, {("accepted", found[0]["order_id"])})
        self.assertEqual(self.seller("stock", "brass-rod").strip(), "8")
        found = self.all_of([("message", {"text": "x"})] * 12)
        self.assertEqual(sum("message_id" in each for each in found), 7)
        self.assertEqual({each["error"]["code"] for each in found if "error" in each}, {"cap_reached"})

    def test_t79_what_was_answered_survives_a_kill_under_load(self):
        quotes = self.quotes(12, offer_id="brass-rod", quantity=2)

        async def killed():
            orders = asyncio.create_task(self.asked([("place_order", {"quote_id": each}) for each in quotes], token()))
            while self.seller("stock", "brass-rod").strip() == "40":
                await asyncio.sleep(0)
            self.served[1].end(signal.SIGKILL)
            return await orders

        found = asyncio.run(killed())
        answered = {each["quote_id"]: each["order_id"] for each in found if each}
        self.assertTrue(answered)
        self.served = [self.serve()] * self.SERVERS
        again = self.all_of([("get_status", {"quote_id": each}) for each in quotes], token())
        held = {each["quote_id"]: each["order_id"] for each in again if each["status"] == "accepted"}
        self.assertLessEqual(answered.items(), held.items())
        self.assertEqual(self.seller("stock", "brass-rod").strip(), str(40 - 2 * len(held)))
        for order in held.values():
            self.verified(json.loads(self.seller("status", order, "--json"))["transaction_id"])
