"""What follows one another: decisions in one second, words of the owner, times that pass. T45, T51, T78, T80, T85, T90.

The record of every sequence verifies in every form of its export.
"""

from contextlib import contextmanager
from datetime import timedelta
from decimal import Decimal
from typing import ClassVar

from a202_mcp.treatyway import person, words
from a202_mcp.treatyway.deals import Order, Quote, Remark, State, read
from a202_mcp.treatyway.opened import open_for_owner
from a202_mcp.treatyway.person import Refused
from a202_mcp.treatyway.status import set_switch
from a202_reference.registries import MandateStatus
from tests.treatyway.shops import MONDAY, ShopTest, config, token

FORMS = ((), ("--private",), ("--without-mandate",))
PERSON = {"missing": ["a decision by a person"]}
VISIT = {"summary": "x", "offer_id": "site-visit", "destination": "Oakland", "start": "2026-11-20T10:00:00-08:00"}


class Sequence(ShopTest):
    """A shop whose clock stands still unless a test moves it, and its owner beside it."""

    CLOCK = MONDAY

    def setUp(self):
        super().setUp()
        now = int(MONDAY.timestamp())
        self.pass_ = token(iat=now, exp=now + 10**7)

    def order(self, quote_id, pass_=None, **more):
        return super().order(quote_id, pass_ or self.pass_, **more)

    def turn(self, status):
        self.assertIsNone(set_switch(self.shop.store, self.shop.authority.mandate_id, status))

    def suspended(self, quote_id):
        """What an order is answered while the mandate is suspended."""
        self.turn(MandateStatus.SUSPENDED)
        found = self.order(quote_id)
        self.turn(MandateStatus.ACTIVE)
        return found

    def requested(self, **more):
        return self.ask("request_quote", {"summary": "a gate", **more}, self.pass_)["quote_id"]

    def status_of(self, quote_id):
        return self.ask("get_status", {"quote_id": quote_id}, self.pass_)

    @contextmanager
    def owner(self):
        shop = open_for_owner(self.shop.settings, self.clock, with_owner=True)
        try:
            yield shop
        finally:
            shop.workspace.close()

    def decided(self, act, identifier, *arguments):
        """One act of the owner's, at this shop's time."""
        with self.owner() as shop, shop.store.deciding():
            deal = read(Quote, shop.store.entry("quote", identifier)) or read(
                Order, shop.store.entry("order", identifier))
            if isinstance(deal, Quote) and deal.order_id is not None:
                deal = read(Order, shop.store.entry("order", deal.order_id))
            return act(shop, deal, *arguments, *(() if act is words.set_word else (person.person(shop, "Ada"),)))

    def approved(self, identifier):
        deal = person.approve_order if read(
            Quote, self.shop.store.entry("quote", identifier)).order_id else person.approve_quote
        return self.decided(deal, identifier)

    def priced(self, identifier, amount="100.00"):
        return self.decided(person.give_price, identifier, person.Price(Decimal(amount), "USD"))

    def rejected(self, identifier, reason=None):
        return self.decided(words.reject, identifier, reason)

    def worded(self, identifier, word, summary=None):
        return self.decided(words.set_word, identifier, word, summary, self.shop.now())

    def assert_verifies(self, quote_id):
        for form in FORMS:
            with self.subTest(form):
                transaction = read(Quote, self.shop.store.entry("quote", quote_id)).transaction_id
                _, status, report = self.export(transaction, *form)
                self.assertEqual((status, report["results"]["failed"]), (0, 0), report)


class InOneSecond(Sequence):
    def test_t80_t85_an_order_that_was_denied_and_then_allowed(self):
        for denials in (1, 3):
            with self.subTest(denials=denials):
                quote = self.quote(self.pass_)["quote_id"]
                for _ in range(denials):
                    self.assertEqual(self.suspended(quote)["needs_human"], PERSON)
                self.assertEqual(self.order(quote)["status"], "accepted")
                self.assert_verifies(quote)

    def test_t80_t85_an_order_that_was_refused_and_then_allowed(self):
        self.open(quote='on_deny = "refuse"')
        quote = self.quote(self.pass_)["quote_id"]
        self.assertEqual(self.suspended(quote)["status"], "rejected")
        self.assertEqual(self.status_of(quote)["status"], "quoted")
        self.assertEqual(self.order(quote)["status"], "accepted")
        self.assert_verifies(quote)

    def test_t80_t85_an_order_that_was_denied_and_then_approved(self):
        quote = self.quote(self.pass_)["quote_id"]
        self.suspended(quote)
        self.assertIs(self.approved(quote).state, State.ACCEPTED)
        self.assert_verifies(quote)

    def test_t75_t80_a_quote_that_was_held_and_then_approved_and_ordered(self):
        quote = self.requested(offer_id="survey")
        self.assertIs(self.approved(quote).state, State.QUOTED)
        self.assertEqual(self.suspended(quote)["needs_human"], PERSON)
        self.assertEqual(self.order(quote)["status"], "accepted")
        self.assert_verifies(quote)

    def test_t86_t89_prices_of_a_person_denied_and_allowed(self):
        quote = self.requested()
        for amount, allowed in (("2000.01", False), ("2000.01", False), ("1500.00", True)):
            self.assertEqual(not isinstance(self.priced(quote, amount), Refused), allowed)
        self.assertEqual(self.order(quote)["status"], "accepted")
        self.assert_verifies(quote)

    def test_t85_a_price_that_was_denied_by_the_switch_and_then_given(self):
        quote = self.requested()
        self.turn(MandateStatus.SUSPENDED)
        self.assertIsInstance(self.priced(quote), Refused)
        self.turn(MandateStatus.ACTIVE)
        self.assertIs(self.priced(quote).state, State.QUOTED)
        self.assert_verifies(quote)

    def test_denials_do_not_carry_the_clock_away(self):
        quote = self.quote(self.pass_)["quote_id"]
        self.turn(MandateStatus.SUSPENDED)
        for _ in range(5):
            self.order(quote)
        transaction = read(Quote, self.shop.store.entry("quote", quote)).transaction_id
        self.assertLessEqual(self.shop.now(transaction), MONDAY)


class Words(Sequence):
    """The owner's word stands over what was when it was set, and hides nothing that happens later."""

    def test_t51_t78_a_price_after_a_word(self):
        for word in ("in_progress", "cancelled", "Looking at it"):
            with self.subTest(word):
                quote = self.requested()
                self.worded(quote, word, "Measuring.")
                found = self.status_of(quote)
                self.assertEqual((found["status"], found["summary"]), (word, "Measuring."))
                self.assertNotIn("price", found)
                self.priced(quote)
                found = self.status_of(quote)
                self.assertEqual((found["status"], found["price"]["amount"]), ("quoted", "100.00"))
                self.assertEqual(found["answered_by"], {"name": "Ada", "role": "person"})
                self.assertNotIn("summary", found)
                self.assertEqual(self.order(quote)["status"], "accepted")

    def test_t51_t75_an_approval_after_a_word(self):
        held = self.requested(offer_id="survey")
        self.worded(held, "open")
        self.approved(held)
        self.assertEqual(self.status_of(held)["status"], "quoted")
        quote = self.quote(self.pass_)["quote_id"]
        self.suspended(quote)
        self.worded(quote, "in_progress")
        self.assertEqual(self.status_of(quote)["status"], "in_progress")
        self.approved(quote)
        found = self.status_of(quote)
        self.assertEqual((found["status"], found["answered_by"]["name"]), ("accepted", "Ada"))
        self.worded(quote, "no_show", "Nobody was there.")
        found = self.status_of(quote)
        self.assertEqual((found["status"], found["summary"]), ("no_show", "Nobody was there."))

    def test_t51_t90_a_refusal_after_a_word_and_a_word_after_a_refusal(self):
        for identifier in (self.requested(), self.requested(offer_id="survey")):
            self.worded(identifier, "open", "Soon.")
            self.rejected(identifier, "We are full.")
            found = self.status_of(identifier)
            self.assertEqual((found["status"], found["summary"]), ("rejected", "We are full."))
            self.worded(identifier, "closed")
            found = self.status_of(identifier)
            self.assertEqual((found["status"], found["summary"]), ("closed", "We are full."))
            self.assertEqual(self.order(identifier)["status"], "rejected")

    def test_t42_t51_the_end_of_an_offer_after_a_word(self):
        quote = self.quote(self.pass_)["quote_id"]
        self.worded(quote, "open", "Come by.")
        self.assertEqual(self.status_of(quote)["status"], "open")
        self.clock.pass_on(days=7)
        found = self.status_of(quote)
        self.assertEqual((found["status"], found.get("summary")), ("expired", None))
        self.fails("quote_expired", "place_order", {"quote_id": quote}, self.pass_)

    def test_t41_t51_an_order_after_a_word(self):
        for word, status in (("open", "accepted"), ("in_progress", "accepted"), ("cancelled", "rejected"),
                             ("rejected", "rejected")):
            with self.subTest(word):
                quote = self.quote(self.pass_)["quote_id"]
                self.worded(quote, word)
                self.assertEqual(self.order(quote)["status"], status)
                self.assertEqual(self.status_of(quote)["status"], "accepted" if status == "accepted" else word)

    def test_t41_t51_an_order_that_waits_after_a_word(self):
        """Denied once, then a word of the owner, then asked again: what the owner ended is not booked."""
        for word, status in (("in_progress", "accepted"), ("cancelled", "rejected"), ("completed", "rejected"),
                             ("no_show", "rejected")):
            with self.subTest(word):
                quote = self.quote(self.pass_)["quote_id"]
                self.assertEqual(self.suspended(quote)["needs_human"], PERSON)
                self.worded(quote, word)
                found = self.order(quote)
                self.assertEqual((found["status"], "order_id" in found), (status, status == "accepted"))

    def test_t51_a_held_order_that_the_owner_ended_waits_no_more(self):
        quote = self.requested(offer_id="survey")
        self.approved(quote)
        self.suspended(quote)
        self.worded(quote, "cancelled")
        self.assertEqual(self.order(quote), {**self.order(quote), "status": "rejected"})
        self.assertEqual(self.status_of(quote)["status"], "cancelled")

    def test_the_last_note_of_an_order_is_shown(self):
        quote = self.quote(self.pass_)["quote_id"]
        self.turn(MandateStatus.SUSPENDED)
        for note, shown in (("first", "first"), ("second", "second"), (None, "second")):
            arguments = {"quote_id": quote} if note is None else {"quote_id": quote, "note": note}
            self.ask("place_order", arguments, self.pass_)
            order = read(Quote, self.shop.store.entry("quote", quote)).order_id
            self.assertEqual(read(Order, self.shop.store.entry("order", order)).note, shown)

    def test_t51_one_word_after_another_and_a_summary_alone(self):
        quote = self.requested()
        for word, summary, shown in (("open", None, ("open", None)), (None, "Soon.", ("open", "Soon.")),
                                     ("in_progress", None, ("in_progress", "Soon."))):
            self.worded(quote, word, summary)
            found = self.status_of(quote)
            self.assertEqual((found["status"], found.get("summary")), shown)

    def test_no_word_says_that_there_is_a_price_or_an_order(self):
        waiting, quoted = self.requested(), self.quote(self.pass_)["quote_id"]
        for identifier, word in ((waiting, "quoted"), (waiting, "accepted"), (quoted, "accepted")):
            with self.subTest(word):
                self.assertIsInstance(self.worded(identifier, word), Refused)
        self.assertIn("only a price", self.seller("status", waiting, "--set", "quoted", status=1))
        self.assertEqual(self.status_of(waiting)["status"], "needs_human")

    def test_what_waits_stays_in_the_inbox_until_a_word_ends_it(self):
        quote, ordered = self.requested(), self.quote(self.pass_)["quote_id"]
        self.suspended(ordered)
        for word, waits in (("in_progress", 2), ("cancelled", 0), ("open", 2)):
            with self.subTest(word):
                for identifier in (quote, ordered):
                    self.worded(identifier, word)
                self.assertEqual(len(self.inbox()), waits)

    def test_a_word_of_a_folder_from_before_they_stood_over_another(self):
        for state, over in (("accepted", "accepted"), ("waiting", "needs_human")):
            with self.subTest(state):
                quote = self.requested()
                entry = self.shop.store.entry("quote", quote)
                former = {**entry.body, "state": state, "word": "in_progress"}
                former.pop("remark")
                found = read(Quote, type(entry)(quote, entry.version, former))
                self.assertEqual(found.remark, Remark(over, "in_progress"))
                self.assertEqual(found.status(MONDAY), "in_progress")


class PassedTimes(Sequence):
    """A job is not sold for a time that has passed (treatyway 9.5)."""

    def visit(self):
        return self.ask("request_quote", VISIT, self.pass_)

    def test_an_offer_ends_when_its_job_begins(self):
        self.assertEqual(self.visit()["expires_at"], "2026-11-20T18:00:00Z")
        self.open(quote='valid_for = "1h"')
        self.assertEqual(self.visit()["expires_at"], "2026-11-16T18:00:00Z")

    def test_t42_a_visit_is_not_ordered_after_its_time(self):
        quote = self.visit()["quote_id"]
        self.clock.pass_on(days=6)
        self.fails("quote_expired", "place_order", {"quote_id": quote}, self.pass_)

    def test_a_person_s_price_for_a_time_that_has_passed_is_not_ordered(self):
        quote = self.requested(start="2026-11-16T08:00:00-08:00")
        self.assertIs(self.priced(quote).state, State.QUOTED)
        found = self.order(quote)
        self.assertEqual((found["status"], found.get("order_id")), ("rejected", None))
        self.assertEqual(self.status_of(quote)["status"], "quoted")

    def test_a_held_visit_is_not_released_after_its_time(self):
        self.open(offers=('[[offers]]\nid = "long"\nname = "Long"\nkind = "service"\nrequires = ["start"]\n'
                          'price = { fixed = "600.00" }\n'))
        quote = self.requested(offer_id="long", start=VISIT["start"])
        ordered = self.visit()["quote_id"]
        self.suspended(ordered)
        self.clock.pass_on(days=6)
        self.assertIn("passed", self.approved(quote).reason)
        self.assertIn("expired", self.approved(ordered).reason)
        self.assertEqual(self.status_of(quote)["status"], "needs_human")

    def test_what_is_closed_by_now_is_not_ordered_unless_a_person_priced_it(self):
        ruled, by_person = self.visit()["quote_id"], self.requested(start=VISIT["start"])
        self.priced(by_person)
        self.close()
        self.file.write_text(config().replace('closed = ["2026-12-24', 'closed = ["2026-11-20", "2026-12-24'))
        self.reopened()
        self.assertEqual(self.order(ruled)["status"], "rejected")
        self.assertEqual(self.order(by_person)["status"], "accepted")

    def test_a_time_within_the_lead_time_is_ordered_while_its_quote_lives(self):
        quote = self.visit()["quote_id"]
        self.clock.now = MONDAY + timedelta(days=3)
        self.assertEqual(self.order(quote)["status"], "accepted")

    def test_a_good_with_a_time_takes_none(self):
        quote = self.quote(self.pass_, start="2020-01-06T10:00:00Z")
        self.assertEqual(quote["expires_at"], "2026-11-23T17:00:00Z")
        self.assertEqual(self.order(quote["quote_id"])["status"], "accepted")


class Statuses(Sequence):
    CHOICES: ClassVar = {"quote": 'on_deny = "refuse"'}

    def test_t45_every_answer_of_place_order_has_one_of_three_words(self):
        found = {}
        for name, quote in (
                ("accepted", self.quote(self.pass_)["quote_id"]), ("unpriced", self.requested()),
                ("held", self.requested(offer_id="survey")), ("gone", self.quote(self.pass_, quantity=39)["quote_id"]),
                ("cancelled", self.quote(self.pass_)["quote_id"]), ("denied", self.quote(self.pass_)["quote_id"])):
            if name == "cancelled":
                self.worded(quote, "cancelled")
            found[name] = self.suspended(quote) if name == "denied" else self.order(quote)
            found[f"{name} again"] = self.order(quote, start="2027-01-04T10:00:00Z")
        self.assertEqual({name: each["status"] for name, each in found.items()}, {
            "accepted": "accepted", "accepted again": "needs_human", "unpriced": "needs_human",
            "unpriced again": "needs_human", "held": "needs_human", "held again": "needs_human", "gone": "rejected",
            "gone again": "needs_human", "cancelled": "rejected", "cancelled again": "rejected", "denied": "rejected",
            "denied again": "needs_human"})
        for name, each in found.items():
            with self.subTest(name):
                self.assertEqual("order_id" in each, each["status"] == "accepted")
                self.assertEqual("needs_human" in each, each["status"] == "needs_human")
