"""request_quote: T22, T26 to T34, T73."""

import json
import unittest
from decimal import Context, Decimal

from hypothesis import given
from hypothesis import strategies as st

from a202_mcp.treatyway.prices import digits_of, line_amount, money, total_of
from a202_mcp.treatyway.settings import Price
from tests.treatyway.shops import MONDAY, ShopTest, config, token

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

    def test_t29_what_is_asked_for_of_one_offer_counts_together(self):
        self.open(offers='[[offers]]\nid = "bolt"\nname = "Bolt"\nkind = "good"\nmax_quantity = 10\n'
                         'price = { per_unit = "5.00" }\n[[offers]]\nid = "lesson"\nname = "Lesson"\n'
                         'kind = "service"\nmax_quantity = 2\nprice = { per_unit = "20.00" }\n')
        for offer, quantities, priced in (
                ("bolt", [10], True), ("bolt", [11], False), ("bolt", [4, 6], True), ("bolt", [10, 1], False),
                ("bolt", [10, 10, 10], False), ("lesson", [1, 1], True), ("lesson", [1, 1, 1], False),
                ("brass-rod", [20, 20], True), ("brass-rod", [20, 21], False)):
            with self.subTest(offer, quantities=quantities):
                items = [{"offer_id": offer, "quantity": quantity} for quantity in quantities]
                found = self.asked(items=items)
                self.assertEqual(found["price"] != "needs_human", priced)
                if not priced:
                    self.assertEqual(found["needs_human"]["missing"], [PERSON])

    def test_t12_no_more_than_ten_things_are_missing(self):
        inputs = ["start", "end", "destination", "quantity", "needed_by", "contact"]
        self.open(offers="".join(
            f'[[offers]]\nid = "o{at}"\nname = "O"\nkind = "good"\nrequires = {json.dumps(inputs)}\n'
            f'price = {{ per_unit = "5.00" }}\n' for at in range(3)))
        items = [{"offer_id": "x"}, {"offer_id": "odd-job"}, {}, {"quantity": "many"},
                 *({"offer_id": f"o{at}"} for at in range(3))]
        missing = self.missing(items=items, start="2026-11-20")
        self.assertEqual(len(missing), 10)
        self.assertEqual(len(set(missing)), 10)
        self.assertEqual(self.ask("get_status", {"quote_id": self.asked(items=items)["quote_id"]})["needs_human"][
            "missing"], self.missing(items=items))

    def test_beside_items_the_top_level_is_not_looked_at(self):
        items = [{"offer_id": "brass-rod", "quantity": 2}]
        for beside in ({"quantity": 0}, {"quantity": "many"}, {"offer_id": 7}, {"offer_id": "plant", "quantity": 3}):
            with self.subTest(beside):
                self.assertEqual(self.price(items=items, **beside)["amount"], "30.00")
        said = {item["summary"] for item in self.inbox("--all")}
        self.assertEqual(said, {"s | items: offer_id brass-rod, quantity 2"})

    def test_where_the_shop_never_opens_again_a_person_is_asked(self):
        self.close()
        self.file.write_text(config().replace('"2026-12-24..2026-12-26"', '"2026-01-01..9999-12-31"'))
        self.reopened()
        self.assertEqual(self.missing(**{**VISIT, "summary": "s"}), ["another start date or time"])
        for start in (VISIT["start"], "2026-11-20"):
            found = self.ask("check_availability", {"offer_id": "site-visit", "start": start})
            self.assertIs(found["available"], False)

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

    def test_t73_what_was_refused_is_refused_again_and_nothing_more_is_kept(self):
        self.open(quote='on_deny = "refuse"')
        plant = {"summary": "x", "offer_id": "plant", "idempotency_key": "0123456789abcdef"}
        for pass_ in (token(), None):
            with self.subTest(known=pass_ is not None):
                before = self.shop.workspace.transactions(1)["count"]
                messages = {self.fails("not_quoted", "request_quote", plant, pass_) for _ in range(3)}
                self.assertEqual(messages, {"This request cannot be quoted"})
                self.assertEqual(self.shop.workspace.transactions(1)["count"], before + 1)
                self.fails("idempotency_conflict", "request_quote", {**plant, "offer_id": "brass-rod"}, pass_)
        calls = self.shop.store._connection.execute("SELECT count(*) FROM shop_calls").fetchone()[0]
        self.assertEqual(calls, 4)

    def test_t73_orders(self):
        first, second = (self.quote(token())["quote_id"] for _ in range(2))
        key = {"idempotency_key": "k"}
        placed = self.order(first, **key)
        self.assertEqual(self.order(first, **key, unknown=1, note=None), placed)
        for other in ({"quote_id": second}, {"quote_id": first, "note": "x"}, {"quote_id": first, "destination": "y"}):
            with self.subTest(other):
                self.fails("idempotency_conflict", "place_order", {**other, **key}, token())
        self.assertEqual(self.shop.stock("brass-rod"), 38)
        gone = self.quote(token(), quantity=30)["quote_id"]
        self.seller("stock", "brass-rod", "29")
        self.assertEqual(self.order(gone, idempotency_key="gone")["status"], "rejected")
        self.seller("stock", "brass-rod", "30")
        self.assertEqual(self.order(gone, idempotency_key="gone")["status"], "rejected")
        self.assertEqual(self.order(gone, idempotency_key="new")["status"], "accepted")

    def test_t73_two_requests_are_one_where_they_mean_one(self):
        basket = [{"offer_id": "brass-rod", "quantity": 2}]
        forms = (
            ({"start": "2035-03-01T10:00:00-08:00"}, {"start": "2035-03-01T18:00:00Z"}, True),
            ({"start": "2035-03-01T10:00:00-08:00"}, {"start": "2035-03-01T10:00"}, True),
            ({"start": "2035-03-01T10:00:00-08:00"}, {"start": "2035-03-01T10:00:00Z"}, False),
            ({"start": "2035-03-01"}, {"start": "2035-03-01T00:00:00"}, False),
            ({"end": "2035-03-01T10:00:00.0Z"}, {"end": "2035-03-01 10:00:00z"}, True),
            ({"needed_by": "2035-03-01T10:00:00+01:00"}, {"needed_by": "2035-03-01T09:00:00Z"}, True),
            ({"quantity": "2"}, {"quantity": 2.0}, True), ({"quantity": "two"}, {"quantity": 2}, False),
            ({"items": basket}, {"items": basket, "quantity": 3, "offer_id": "x"}, True),
            ({"items": basket}, {"items": [{"offer_id": "brass-rod", "quantity": "2", "note": " "}]}, True),
            ({"items": basket}, {"items": basket * 2}, False),
            ({"contact": None}, {"contact": " "}, True),
            ({"destination": "Oakland"}, {"destination": "oakland"}, False))
        for at, (first, second, one) in enumerate(forms):
            with self.subTest(first, second=second):
                key = {"summary": "x", "idempotency_key": f"0123456789abcdef{at}"}
                answer = self.ask("request_quote", {**key, **first})
                if one:
                    self.assertEqual(self.ask("request_quote", {**key, **second}), answer)
                else:
                    self.fails("idempotency_conflict", "request_quote", {**key, **second})

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


class Kept(ShopTest):
    CLOCK = MONDAY

    def test_t73_a_key_is_kept_for_30_days(self):
        asked = {"text": "x", "idempotency_key": "0123456789abcdef"}
        first = self.ask("message", asked)
        self.clock.pass_on(days=30, seconds=-1)
        self.assertEqual(self.ask("message", asked), first)
        self.fails("idempotency_conflict", "message", {**asked, "text": "y"})
        self.clock.pass_on(seconds=1)
        second = self.ask("message", {**asked, "text": "y"})
        self.assertNotEqual(second["message_id"], first["message_id"])
        self.clock.pass_on(days=29)
        self.assertEqual(self.ask("message", {**asked, "text": "y"}), second)


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

    @given(st.lists(st.decimals(0, 10**30, places=2, allow_nan=False), max_size=50))
    def test_t28_a_total_is_the_exact_sum(self, amounts):
        cents = sum(int(amount.scaleb(2, Context(prec=60))) for amount in amounts)
        self.assertEqual(total_of(amounts), Decimal(cents).scaleb(-2, Context(prec=60)))

    def test_the_tier_with_the_greatest_from_counts(self):
        zero = Decimal(0)
        price = Price(zero, zero, Decimal(3), zero, zero, ((10, Decimal(2)), (100, Decimal(1))))
        for quantity, total in ((9, 27), (10, 20), (99, 198), (100, 100)):
            with self.subTest(quantity):
                self.assertEqual(line_amount(price, quantity, zero, "USD"), total)
