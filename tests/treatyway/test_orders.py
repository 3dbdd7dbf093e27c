"""place_order: T35 to T46, T87. Whatever is refused books nothing."""

import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from typing import ClassVar

from a202_mcp.treatyway import counter
from a202_mcp.treatyway.callers import PassFacts, by_pass
from a202_mcp.treatyway.opened import open_shop
from a202_reference.canonical import sha256_hex
from tests.treatyway.shops import ISSUER, KID, MONDAY, ShopTest, claims, signed, token

OWN = """
[[customers]]
name = "Harbour Yard"
token_sha256 = "8a8bd98a84a8da00ab2eb4ca9a8b1a2b4b9f4dce0a2a2f3aee4ffdbb0e10a5d1"
may_order = {}
"""


class Booking(ShopTest):
    def booked(self):
        """Everything that an order would have left behind."""
        store = self.shop.store
        bookings = store._connection.execute("SELECT count(*) FROM shop_bookings").fetchone()[0]
        return len(list(store.entries("order"))), bookings, self.shop.stock("brass-rod")

    def assert_nothing_booked(self):
        self.assertEqual(self.booked(), (0, 0, 40))


class Refused(Booking):
    def test_t35_t36_level_1_is_refused_by_name(self):
        quote = self.quote(token(level=1))["quote_id"]
        found = self.call("place_order", {"quote_id": quote}, token(level=1))
        self.assertTrue(found["isError"])
        self.assertIn("place_order requires trust level 2", found["content"][0]["text"])
        self.assertNotIn("needs_human", found["structuredContent"])
        self.assert_nothing_booked()

    def test_t37_no_pass_and_level_0_are_refused_alike(self):
        quote = self.quote()["quote_id"]
        for pass_ in (None, token(level=0)):
            message = self.fails("trust_level", "place_order", {"quote_id": quote}, pass_)
            self.assertEqual(message, "place_order requires trust level 2")
        self.assert_nothing_booked()

    def test_t38_t39_off_it_is_in_neither_list_and_refused_at_level_2(self):
        quote = self.quote(token())["quote_id"]
        self.open(place_order="false")
        self.assertNotIn("place_order", self.ask("treatyway_contract")["tools"])
        listed = [tool["name"] for tool in self.rpc("tools/list", {})["result"]["tools"]]
        self.assertNotIn("place_order", listed)
        document = self.rpc("tools/call", {"name": "place_order", "arguments": {"quote_id": quote}}, token())
        self.assertIn("Unknown tool", document["error"]["message"])
        self.assert_nothing_booked()

    def test_t40_on_it_is_in_both_lists(self):
        listed = [tool["name"] for tool in self.rpc("tools/list", {})["result"]["tools"]]
        self.assertIn("place_order", listed)
        self.assertIn("place_order", self.ask("treatyway_contract")["tools"])

    def test_passes_that_are_none_book_nothing(self):
        quote = self.quote()["quote_id"]
        call = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
                           "params": {"name": "place_order", "arguments": {"quote_id": quote}}})
        bad = {"foreign": token(aud="other.example"), "issuer": token(iss=ISSUER + ".evil"), "expired": token(exp=1),
               "algorithm": signed({"alg": "HS256", "kid": KID}, claims()), "kid": signed({"alg": "ES256"}, claims()),
               "changed": token()[:-8] + "AAAAAAAA"}
        for name, pass_ in bad.items():
            with self.subTest(name):
                headers = {"authorization": f"Bearer {pass_}", "content-type": "application/json",
                           "accept": "application/json, text/event-stream"}
                self.assertEqual(self.http(body=call, headers=headers).status_code, 401)
        self.assert_nothing_booked()

    def test_a_cap_books_nothing(self):
        quote = self.quote(token())["quote_id"]
        caps = self.shop.settings.caps
        self.shop.settings = replace(self.shop.settings, caps=(*caps[:2], 1))
        self.fails("cap_reached", "place_order", {"quote_id": quote}, token())
        self.assert_nothing_booked()

    def test_t42_unknown_quotes_and_unpriced_ones(self):
        self.assertEqual(self.fails("not_found", "place_order", {"quote_id": "q_x"}, token()),
                         "No quote or order with that id")
        foreign = self.quote(token(sub="agent-8"))["quote_id"]
        self.fails("not_found", "place_order", {"quote_id": foreign}, token())
        unpriced = self.ask("request_quote", {"summary": "x"}, token())
        found = self.order(unpriced["quote_id"])
        self.assertEqual((found["status"], found.get("order_id")), ("needs_human", None))
        self.assertEqual(found["needs_human"], unpriced["needs_human"])
        self.assert_nothing_booked()

    def test_another_start_or_destination_needs_another_quote(self):
        quote = self.quote(token(), destination="Oakland")["quote_id"]
        for other in ({"start": "2027-03-01T10:00:00Z"}, {"destination": "Berkeley"}):
            with self.subTest(other):
                found = self.order(quote, **other)
                self.assertEqual(found["needs_human"]["missing"], ["a new quote for that start or destination"])
                self.assertNotIn("order_id", found)
        self.assert_nothing_booked()
        self.fails("invalid_input", "place_order", {"quote_id": quote, "start": "later"}, token())
        self.assertEqual(self.order(quote, destination="Oakland")["status"], "accepted")


    def test_another_start_or_destination_needs_another_quote_also_where_there_is_an_order(self):
        for start, others in ((None, ["2027-03-01T10:00:00Z", "2027-03-01"]), ("2035-03-01T10:00:00-08:00", [
                "2035-03-01T10:00:00Z", "2035-03-01"])):
            quote = self.quote(token(), destination="Oakland", start=start)["quote_id"]
            placed = self.order(quote)
            for other in ([{"start": each} for each in others] + [{"destination": "Berkeley"}]):
                with self.subTest(other):
                    found = self.order(quote, **other)
                    self.assertEqual((found["status"], found.get("order_id")), ("needs_human", None))
                    self.assertEqual(found["needs_human"]["missing"], ["a new quote for that start or destination"])
            self.assertEqual(self.order(quote, destination="Oakland"), placed)
        self.assertEqual(self.order(quote, start="2035-03-01T18:00:00Z"), placed)


class Expired(Booking):
    CLOCK = MONDAY
    CHOICES: ClassVar = {"quote": 'valid_for = "1h"'}

    def test_t42_an_expired_quote(self):
        now = int(MONDAY.timestamp())
        pass_ = token(iat=now, exp=now + 9999)
        quote = self.quote(pass_)["quote_id"]
        self.clock.pass_on(hours=1)
        self.assertEqual(self.fails("quote_expired", "place_order", {"quote_id": quote}, pass_),
                         "This quote has expired; ask again with request_quote")
        self.assertEqual(self.ask("get_status", {"quote_id": quote}, pass_)["status"], "expired")
        self.assert_nothing_booked()


class Ordered(Booking):
    def test_t41_t45_level_2_and_a_live_quote(self):
        quote = self.quote(token())["quote_id"]
        found = self.order(quote)
        self.assertEqual((found["status"], found["quote_id"]), ("accepted", quote))
        self.assertTrue(found["order_id"].startswith("o_"))

    def test_t43_one_quote_one_order(self):
        quote = self.quote(token())["quote_id"]
        first = self.order(quote)
        self.assertEqual([self.order(quote) for _ in range(3)], [first] * 3)
        self.assertEqual(self.booked(), (1, 0, 38))

    def test_t43_two_processes_at_once(self):
        """Two shops over one state folder, as two processes have them."""
        quote = self.quote(token())["quote_id"]
        other = open_shop(self.shop.settings)
        caller = by_pass(PassFacts(self.shop.settings.passes.issuer, "agent-7", 2, "j", None, "0" * 64))
        place = partial(counter.answer, tool="place_order", caller=caller, raw={"quote_id": quote}, body=b"{}")
        try:
            with ThreadPoolExecutor(2) as pool:
                rounds = pool.map(lambda shop: [place(shop) for _ in range(4)], [self.shop, other])
                found = [answer for answers in rounds for answer in answers]
        finally:
            other.workspace.close()
        self.assertEqual({answer["status"] for answer in found}, {"accepted"})
        self.assertEqual(len({answer["order_id"] for answer in found}), 1)
        self.assertEqual(self.booked(), (1, 0, 38))

    def test_t44_nothing_asks_for_payment(self):
        schemas = json.dumps(self.rpc("tools/list", {})["result"]).lower()
        quote = self.quote(token())["quote_id"]
        for text in (schemas.replace("takes no payment", ""), json.dumps(self.order(quote)).lower()):
            for word in ("pay", "card", "iban", "invoice", "deposit"):
                self.assertNotIn(word, text)

    def test_t46_stock_falls_with_the_order_and_never_below_zero(self):
        quotes = [self.quote(token(), quantity=15)["quote_id"] for _ in range(3)]
        first, second, third = (self.order(quote) for quote in quotes)
        self.assertEqual((first["status"], second["status"], third["status"]), ("accepted", "accepted", "rejected"))
        self.assertNotIn("order_id", third)
        self.assertEqual(self.seller("stock", "brass-rod").strip(), "10")
        self.assertEqual(self.ask("get_status", {"quote_id": quotes[2]}, token())["status"], "quoted")
        self.seller("stock", "brass-rod", "15")
        self.assertEqual(self.order(quotes[2])["status"], "accepted")
        self.assertEqual(self.shop.stock("brass-rod"), 0)

    def test_a_customer_s_token_orders_only_where_the_file_says_so(self):
        section = OWN.replace("8a8bd98a84a8da00ab2eb4ca9a8b1a2b4b9f4dce0a2a2f3aee4ffdbb0e10a5d1",
                              sha256_hex(b"harbour-secret"))
        self.open(customers=section.format("false"))
        quote = self.quote("harbour-secret")["quote_id"]
        self.fails("trust_level", "place_order", {"quote_id": quote}, "harbour-secret")
        self.open(customers=section.format("true"))
        self.assertEqual(self.order(quote, "harbour-secret")["status"], "accepted")
        self.fails("not_found", "get_status", {"quote_id": quote}, token())
        self.assertEqual(self.status(quote)["caller"], "Own customer: Harbour Yard")
        kinds = [document["payload"].get("evidence_type") for document in self.objects(
            self.status(quote)["transaction_id"])]
        self.assertNotIn("signed_document", kinds)


class Calendar(Booking):
    CLOCK = MONDAY

    def test_t87_capacity_is_never_exceeded(self):
        now = int(MONDAY.timestamp())
        pass_ = token(iat=now, exp=now + 600)
        visit = {"summary": "x", "offer_id": "site-visit", "destination": "Oakland"}
        times = ["2026-11-20T10:00:00-08:00", "2026-11-20T10:30:00-08:00", "2026-11-20T11:00:00-08:00"]
        quotes = [self.ask("request_quote", {**visit, "start": start}, pass_)["quote_id"] for start in times]
        found = [self.order(quote, pass_)["status"] for quote in quotes]
        self.assertEqual(found, ["accepted", "rejected", "accepted"])
        asked = self.ask("check_availability", {"offer_id": "site-visit", "start": times[1]})
        self.assertIs(asked["available"], False)
        late = self.ask("request_quote", {**visit, "start": times[0]}, pass_)
        self.assertEqual(late["needs_human"]["missing"], ["another start date or time"])
