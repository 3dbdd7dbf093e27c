"""describe_offer, check_availability, get_status, message: T15 to T25, T47 to T53."""

from a202_mcp.treatyway.reading import read_settings
from tests.treatyway.shops import MONDAY, ShopTest, token


class Described(ShopTest):
    def ids(self, **filters):
        return [offer["id"] for offer in self.ask("describe_offer", filters)["offers"]]

    def test_t15_t16_t17_t18_everything_that_is_sold(self):
        found = self.ask("describe_offer")
        self.assertEqual({offer["kind"] for offer in found["offers"]}, {"service", "good"})
        self.assertTrue(all(offer["id"] and offer["name"] for offer in found["offers"]))
        self.assertEqual(found["how_to_order"], "Describe the job or the basket with request_quote.")
        visit, rod = found["offers"][:2]
        self.assertEqual((visit["lead_time"], rod["lead_time"]), ("3 business days", "Ships in 2 business days"))
        self.assertEqual((visit["hours"], visit["area"]), ("mon-fri 08:00-16:00", "Oakland and Berkeley"))

    def test_t19_filters_narrow(self):
        self.assertEqual(self.ids(kind="good"), ["brass-rod", "scrap"])
        self.assertEqual(self.ids(offer_id="site-visit"), ["site-visit"])
        self.assertEqual(self.ids(query="oakland VISIT"), ["site-visit"])
        for nothing in ({"kind": "goods"}, {"offer_id": "x"}, {"offer_id": "site-visit", "kind": "good"}):
            with self.subTest(nothing):
                self.assertEqual(self.ids(**nothing), [])


class Available(ShopTest):
    CLOCK = MONDAY

    def asked(self, **arguments):
        return self.ask("check_availability", arguments)

    def test_t20_a_service_is_free_or_not_and_start_is_echoed(self):
        start = "2026-11-20T10:00:00-08:00"
        found = self.asked(offer_id="site-visit", start=start)
        self.assertEqual((found["available"], found["start"]), (True, start))
        self.assertEqual(self.asked(offer_id="site-visit", start="2026-11-20T10:00:00")["start"], start)
        self.assertIs(self.asked(offer_id="site-visit", start="2026-11-20")["available"], True)

    def test_t20_start_and_end_are_echoed_by_whatever_is_answered(self):
        for arguments in ({"offer_id": "site-visit"}, {"offer_id": "brass-rod"}, {"offer_id": "x"}, {},
                          {"offer_id": "brass-rod", "quantity": "some"}):
            for start, end, echo in (
                    ("2026-11-20T10:00:00-08:00", "2026-11-20T12:00:00", "2026-11-20T12:00:00-08:00"),
                    ("2026-11-20T10:00:00", "2026-11-20T20:00:00Z", "2026-11-20T20:00:00Z"),
                    ("2026-11-20", "2026-11-20", "2026-11-20")):
                with self.subTest(arguments, end=end):
                    found = self.asked(**arguments, start=start, end=end)
                    self.assertEqual(found["end"], echo)
                    self.assertEqual(found["start"][:10], "2026-11-20")
        self.assertNotIn("end", self.asked(offer_id="site-visit", start="2026-11-20T10:00:00"))

    def test_t21_a_good_has_a_count(self):
        for quantity, available in ((None, True), (40, True), (41, False), ("41", False)):
            with self.subTest(quantity=quantity):
                found = self.asked(offer_id="brass-rod", quantity=quantity)
                self.assertEqual((found["available"], found["quantity_available"]), (available, 40))

    def test_t23_what_nobody_here_knows_is_for_a_person(self):
        for arguments in ({}, {"offer_id": "x"}, {"offer_id": "site-visit"}, {"offer_id": "scrap"},
                          {"offer_id": "brass-rod", "quantity": "some"}):
            with self.subTest(arguments):
                found = self.asked(**arguments)
                self.assertNotIn("available", found)
                self.assertTrue(found["needs_human"]["missing"])

    def test_t24_it_works_without_a_pass(self):
        self.assertIn("available", self.asked(offer_id="brass-rod"))

    def test_t25_outside_hours_lead_time_and_past_are_false(self):
        for start in ("2026-11-20T07:59:00-08:00", "2026-11-20T15:30:00-08:00", "2026-11-21T10:00:00-08:00",
                      "2026-12-24T10:00:00-08:00", "2026-11-18T10:00:00-08:00", "2020-01-06T10:00:00-08:00",
                      "2026-11-21", "2026-11-17", "2020-01-06"):
            with self.subTest(start):
                self.assertIs(self.asked(offer_id="site-visit", start=start)["available"], False)

    def test_without_a_calendar_a_person_answers_times(self):
        text = self.file.read_text().replace('open = ["mon-fri 08:00-16:00"]', "")
        self.file.write_text(text)
        self.shop.settings = read_settings(self.file, None)
        self.assertNotIn("available", self.asked(offer_id="site-visit", start="2026-11-20T10:00:00"))

    def test_errors_name_the_field(self):
        for arguments, message in (
                ({"start": "tomorrow"}, "start: must be a date or an RFC 3339 time"),
                ({"start": 5}, "start: must be text, a date or an RFC 3339 time"),
                ({"quantity": 0}, "quantity: must be a whole number from 1 to 1000000"),
                ({"start": "2026-11-20T10:00:00Z", "end": "2026-11-20T10:00:00Z"}, "end: must be after start"),
                ({"offer_id": 7}, "offer_id: must be text")):
            with self.subTest(arguments):
                self.assertEqual(self.fails("invalid_input", "check_availability", arguments), message)


class StatusAndMessage(ShopTest):
    def test_t47_by_quote_by_order_by_both(self):
        quote = self.quote(token())["quote_id"]
        self.assertEqual(self.ask("get_status", {"quote_id": quote}, token())["status"], "quoted")
        order = self.order(quote)["order_id"]
        for ids in ({"quote_id": quote}, {"order_id": order}, {"quote_id": quote, "order_id": order}):
            with self.subTest(ids):
                found = self.ask("get_status", ids, token())
                self.assertEqual((found["status"], found["quote_id"], found["order_id"]), ("accepted", quote, order))
        other = self.quote(token())["quote_id"]
        self.fails("not_found", "get_status", {"quote_id": other, "order_id": order}, token())

    def test_t48_a_message_without_text(self):
        for arguments in ({}, {"text": "  "}, {"text": None}):
            with self.subTest(arguments):
                self.assertEqual(self.fails("invalid_input", "message", arguments), "text is required")
        self.fails("invalid_input", "message", {"text": "x" * 8001})

    def test_t49_neither_id(self):
        self.assertIn("quote_id is required", self.fails("invalid_input", "get_status", {}))

    def test_t50_another_s_id_reads_as_unknown(self):
        quote = self.quote(token())["quote_id"]
        order = self.order(quote)["order_id"]
        unknown = self.fails("not_found", "get_status", {"quote_id": "q_" + "0" * 36})
        for ids in ({"quote_id": quote}, {"order_id": order}, {"quote_id": quote, "order_id": order}):
            for pass_ in (None, token(sub="agent-8"), token(level=1, sub="other")):
                with self.subTest(ids=ids, known=pass_ is not None):
                    self.assertEqual(self.fails("not_found", "get_status", ids, pass_), unknown)

    def test_others_with_an_open_quote_s_id_see_the_word_and_no_order(self):
        quote = self.quote()["quote_id"]
        order = self.order(quote)["order_id"]
        found = self.ask("get_status", {"quote_id": quote}, token(sub="agent-8"))
        self.assertEqual((found["status"], found.get("order_id")), ("accepted", None))
        self.assertNotIn(order, str(found))
        self.seller("status", order, "--set", "in_progress", "--summary", "At the yard of agent-7.")
        for pass_ in (token(sub="agent-8"), None):
            found = self.ask("get_status", {"quote_id": quote}, pass_)
            self.assertEqual((found["status"], found.get("summary")), ("in_progress", None))
            self.fails("not_found", "get_status", {"order_id": order}, pass_)
        self.assertEqual(self.ask("get_status", {"quote_id": quote}, token())["summary"], "At the yard of agent-7.")
        self.assertEqual(self.order(quote, token(sub="agent-8"))["status"], "rejected")

    def test_t51_the_owner_s_word_shows(self):
        quote = self.quote(token())["quote_id"]
        order = self.order(quote)["order_id"]
        self.seller("status", order, "--set", "in_progress", "--summary", "Cutting Thursday.")
        found = self.ask("get_status", {"order_id": order}, token())
        self.assertEqual((found["status"], found["summary"]), ("in_progress", "Cutting Thursday."))
        self.assertEqual(self.ask("get_status", {"quote_id": quote}, token())["status"], "in_progress")
        self.assertEqual(self.status(order)["status"], "in_progress")
        self.assertEqual(self.status(quote)["status"], "in_progress")

    def test_t52_a_message_answers_without_a_pass(self):
        found = self.ask("message", {"text": "Do you measure?"})
        self.assertTrue(found["message_id"].startswith("m_"))
        self.assertEqual(found["answered_by"]["name"], "Example Metals")
        self.assertTrue(found["needs_human"]["missing"])
        self.open(more='[message]\nauto_reply = "We read on weekdays."')
        self.assertEqual(self.ask("message", {"text": "x"})["text"], "We read on weekdays.")

    def test_t53_the_inbox_says_who_was_not_authenticated(self):
        self.ask("message", {"text": "one"})
        self.ask("message", {"text": "two"}, token(level=0))
        self.ask("message", {"text": "three"}, token(level=1, name="Mal\u202elory\n" + "x" * 99))
        self.ask("message", {"text": "four\x1b[2J[bold]"}, token(level=2))
        labels = {item["summary"][:3]: item["caller"] for item in self.inbox()}
        self.assertEqual(labels["one"], "No pass, not authenticated")
        self.assertEqual(labels["two"], "Level 0, not authenticated")
        self.assertEqual(labels["thr"], f'Level 1, name not checked: "Mallory{"x" * 73}"')
        self.assertEqual(labels["fou"], "Level 2, Owner proven")
        shown = self.seller("inbox")
        self.assertIn(r"four\x1b[2J[bold]", shown)
        self.assertNotIn("\x1b", shown)

    def test_ids_that_do_not_belong_together_read_as_unknown(self):
        quotes = [self.quote(token())["quote_id"] for _ in range(2)]
        orders = [self.order(quote)["order_id"] for quote in quotes]
        for tool, more in (("get_status", {}), ("message", {"text": "x"})):
            for quote, order, known in ((0, 0, True), (1, 1, True), (0, 1, False), (1, 0, False)):
                with self.subTest(tool, quote=quote, order=order):
                    ids = {"quote_id": quotes[quote], "order_id": orders[order], **more}
                    if known:
                        self.ask(tool, ids, token())
                    else:
                        self.fails("not_found", tool, ids, token())
        self.assertEqual(len(self.inbox()), 2)

    def test_a_message_s_context_must_be_the_caller_s(self):
        quote = self.quote(token())["quote_id"]
        self.ask("message", {"text": "x", "quote_id": quote}, token())
        self.fails("not_found", "message", {"text": "x", "quote_id": quote})

    def test_no_id_is_guessable(self):
        ids = {self.ask("message", {"text": "x"})["message_id"] for _ in range(3)}
        self.assertEqual(len(ids), 3)
        self.assertTrue(all(len(each) == 2 + 36 for each in ids))
