"""request_quote: T22, T26 to T34, T73."""

import json
import unittest
from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as st

from a202_mcp.treatyway.prices import digits_of, line_amount, money
from a202_mcp.treatyway.settings import Price
from tests.treatyway.shops import MONDAY, ShopTest, token

VISIT = {"summary": "measure a doorway", "offer_id": "site-visit", "destination": "Oakland",
         "start": "2026-11-20T10:00:00-08:00"}
PERSON = "a decision by a person"


class Quoted(ShopTest):
    CLOCK = MONDAY

    def asked(self, **arguments):
        return self.ask("request_quote", {"summary": "s", **arguments})

    def price(self, **arguments):
        return self.asked(**arguments)["price"]

    def missing(self, **arguments):
        found = self.asked(**arguments)
        self.assertEqual(found["price"], "needs_human")
        self.assertNotIn("expires_at", found)
        return found["needs_human"]["missing"]

    def test_t22_summary_is_required_and_nothing_is_stored(self):
        for arguments in ({}, {"summary": ""}, {"summary": " \n"}, {"summary": None}):
            with self.subTest(arguments):
                self.assertEqual(self.fails("invalid_input", "request_quote", arguments), "summary is required")
        self.assertEqual(list(self.shop.store.entries("quote")), [])
        self.assertEqual(self.shop.workspace.transactions(1)["count"], 0)

    def test_t26_t27_summary_alone_suffices_and_ids_differ(self):
        found = [self.asked(), self.asked(), self.asked(offer_id="brass-rod", quantity=2)]
        self.assertEqual(len({each["quote_id"] for each in found}), 3)

    def test_t28_prices_are_exact(self):
        for arguments, amount in (
                ({"offer_id": "brass-rod", "quantity": 3}, "42.50"),
                ({"offer_id": "brass-rod", "quantity": 19}, "242.50"),
                ({"offer_id": "brass-rod", "quantity": "20"}, "225.00"),
                ({"offer_id": "brass-rod", "quantity": 2.0}, "30.00"),
                (VISIT, "170.00"),
                ({**VISIT, "end": "2026-11-20T10:20:00-08:00"}, "125.00"),
                ({**VISIT, "end": "2026-11-20T10:10:00-08:00"}, "120.00"),
                ({"items": [{"offer_id": "brass-rod", "quantity": 2}, {"offer_id": "brass-rod", "quantity": 3}]},
                 "72.50"),
                ({"items": [{"offer_id": "scrap", "quantity": 30}], "offer_id": "nothing", "quantity": 7}, "30.00")):
            with self.subTest(arguments):
                self.assertEqual(self.price(**arguments), {"amount": amount, "currency": "USD"})

    def test_t29_what_cannot_be_priced(self):
        for arguments, missing in (
                ({}, ["which offer is wanted"]),
                ({"offer_id": "x"}, ["an offer_id from describe_offer"]),
                ({"offer_id": "site-visit"}, ["the start date or time", "the destination"]),
                ({**VISIT, "start": "2026-11-20"}, ["the start time"]),
                ({"offer_id": "brass-rod"}, ["the quantity"]),
                ({"offer_id": "brass-rod", "quantity": "a dozen"}, ["the quantity as a number"]),
                ({"offer_id": "brass-rod", "quantity": 41}, [PERSON]),
                ({"offer_id": "scrap", "quantity": 1000}, [PERSON]),
                ({"offer_id": "odd-job"}, [PERSON]),
                ({**VISIT, "start": "2026-11-21T10:00:00-08:00"}, ["another start date or time"]),
                ({**VISIT, "start": "2026-11-17T10:00:00-08:00"}, ["another start date or time"]),
                ({"items": [{"offer_id": "brass-rod", "quantity": 30}, {"offer_id": "brass-rod", "quantity": 30}]},
                 [PERSON])):
            with self.subTest(arguments):
                self.assertEqual(self.missing(**arguments), missing)

    def test_t31_a_price_has_a_future_end(self):
        self.assertEqual(self.asked(offer_id="brass-rod", quantity=2)["expires_at"], "2026-11-23T17:00:00Z")

    def test_t32_fields_of_hosted_calls_are_ignored(self):
        self.assertEqual(self.price(offer_id="brass-rod", quantity=2, business_id=9, subject=["x"], message={}), {
            "amount": "30.00", "currency": "USD"})

    def test_t33_it_is_served_without_a_pass(self):
        self.assertIn("quote_id", self.asked())

    def test_t34_wrong_types_are_errors(self):
        wrong = {
            "summary": [7, [], {}, True, 1.5, "x" * 4097], "destination": [7, []], "offer_id": [7, {}],
            "quantity": [0, -1, 1.5, True, [], {}, 10**6 + 1, 10**40, "0"], "start": [7, "soon", [], "2026-13-01"],
            "end": ["x"], "needed_by": ["x"],
            "items": [[], {}, "x", [7], [{"quantity": 0}], [{"offer_id": 7}], [{}] * 51],
            "contact": [7], "idempotency_key": [7, "x" * 256]}
        for name, values in wrong.items():
            for value in values:
                with self.subTest(name, value=value):
                    message = self.fails("invalid_input", "request_quote", {"summary": "s", name: value})
                    self.assertTrue(message.startswith(name), message)
        self.assertEqual(
            self.fails("invalid_input", "request_quote", {"summary": "s", "items": [{}, {"quantity": "0"}]}),
            "items[1].quantity: must be a whole number from 1 to 1000000")

    def test_a_service_with_a_default_offer(self):
        self.open(quote='default_offer = "scrap"\nvalid_for = "1h"')
        found = self.asked(quantity=30)
        self.assertEqual((found["price"]["amount"], found["expires_at"]), ("30.00", "2026-11-16T18:00:00Z"))


class Levels(ShopTest):
    def test_t30_level_0_is_refused_and_nothing_stored(self):
        for pass_ in (token(level=0), token(level=None)):
            message = self.fails("trust_level", "request_quote", {"summary": "x"}, pass_)
            self.assertEqual(message, "request_quote requires trust level 1")
        self.assertEqual(self.inbox("--all"), [])


class Repeated(ShopTest):
    def test_t73_one_key_one_request_one_answer(self):
        key = {"idempotency_key": "0123456789abcdef"}
        for pass_ in (token(), None):
            with self.subTest(known=pass_ is not None):
                first = self.quote(pass_, **key)
                self.assertEqual(self.quote(pass_, **key, unknown=7, contact=None), first)
                self.assertEqual(self.quote(pass_, **{**key, "quantity": "2"}), first)
                other = {"summary": "rods", "offer_id": "brass-rod", "quantity": 3, **key}
                self.fails("idempotency_conflict", "request_quote", other, pass_)
        self.assertEqual(len(self.inbox("--all")), 2)

    def test_keys_are_per_caller_and_per_tool(self):
        key = {"idempotency_key": "0123456789abcdef"}
        first = self.quote(token(), **key)
        self.assertNotEqual(self.quote(token(sub="agent-8"), **key), first)
        order = self.order(first["quote_id"], **key)
        self.assertEqual(self.order(first["quote_id"], **key), order)
        message = self.ask("message", {"text": "x", **key}, token())
        self.assertEqual(self.ask("message", {"text": "x", **key}, token()), message)

    def test_without_a_pass_a_short_key_is_ignored(self):
        self.assertNotEqual(self.quote(idempotency_key="1"), self.quote(idempotency_key="1"))

    def test_what_is_stored_is_the_answer(self):
        answer = self.quote(token(), idempotency_key="k")
        rows = list(self.shop.store._connection.execute("SELECT answer FROM shop_once"))
        self.assertEqual(json.loads(rows[0][0])["quote_id"], answer["quote_id"])


class Arithmetic(unittest.TestCase):
    AMOUNT = st.decimals(0, 10**9, places=4, allow_nan=False)

    @given(AMOUNT, AMOUNT, AMOUNT, AMOUNT, AMOUNT, st.integers(1, 10**6), st.integers(0, 400),
           st.sampled_from(["USD", "JPY", "KWD"]))
    def test_t28_a_line_is_the_formula_rounded_once(  # noqa: PLR0917 - the formula has these parts
            self, setup, fixed, unit, hour, least, quantity, quarters, currency):
        hours = Decimal(quarters) / 4
        found = line_amount(Price(setup, fixed, unit, hour, least), quantity, hours, currency)
        cents = max(int(10**6 * (setup + fixed)) + int(10**6 * unit) * quantity + int(10**6 * hour) * quarters // 4,
                    int(10**6 * least))
        step = 10 ** (6 - digits_of(currency))
        self.assertEqual(int(found * 10**6), (cents + step // 2) // step * step)
        written = money(found, currency)["amount"]
        self.assertEqual(len(written.partition(".")[2]), digits_of(currency))

    def test_the_tier_with_the_greatest_from_counts(self):
        zero = Decimal(0)
        price = Price(zero, zero, Decimal(3), zero, zero, ((10, Decimal(2)), (100, Decimal(1))))
        for quantity, total in ((9, 27), (10, 20), (99, 198), (100, 100)):
            with self.subTest(quantity):
                self.assertEqual(line_amount(price, quantity, zero, "USD"), total)
