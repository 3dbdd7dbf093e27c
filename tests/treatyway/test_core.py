"""What every price and order stands on: T75 to T80, T85, T86, T89, T90, T93."""

import hashlib
import json

from a202_mcp.one_owner import keyfiles
from a202_mcp.one_owner.issuing import NotReadyError
from a202_mcp.treatyway import person
from a202_mcp.treatyway.deals import Order, read
from a202_mcp.treatyway.initialising import init
from a202_mcp.treatyway.opened import open_shop
from a202_mcp.treatyway.reading import read_settings
from a202_mcp.treatyway.server import Desk
from a202_mcp.treatyway.status import set_switch
from a202_reference.canonical import sha256_hex
from a202_reference.registries import MandateStatus
from tests.treatyway.shops import MONDAY, ShopTest, config, token

CUSTOMER = """
[[customers]]
name = "Harbour Yard"
token_sha256 = "{}"
may_order = true
"""
OWN_TOOL = """
[[custom_tools]]
name = "get_menu"
description = "Alloys."
reply = "brass"
"""
PERSON = {"missing": ["a decision by a person"]}


class Limits(ShopTest):
    def survey(self, pass_=None, offer="survey"):
        return self.ask("request_quote", {"summary": "survey the yard", "offer_id": offer}, pass_)

    def status_of(self, found, pass_=None):
        return self.ask("get_status", {"quote_id": found["quote_id"]}, pass_)

    def test_t75_over_ask_above_held_then_approved_at_the_same_price(self):
        held = self.survey()
        self.assertEqual((held["price"], held["needs_human"]), ("needs_human", PERSON))
        item, = self.inbox()
        self.assertEqual(item["computed_price"], {"amount": "600.00", "currency": "USD"})
        self.seller("answer", held["quote_id"], "--approve", "--as", "Ada")
        found = self.status_of(held)
        self.assertEqual((found["status"], found["price"]), ("quoted", {"amount": "600.00", "currency": "USD"}))
        self.assertEqual(found["answered_by"], {"name": "Ada", "role": "person"})
        self.assertEqual(self.inbox(), [])
        self.assertEqual(self.order(held["quote_id"])["status"], "accepted")
        _, status, report = self.export(self.status(held["quote_id"])["transaction_id"])
        self.assertEqual((status, report["results"]["failed"]), (0, 0))

    def test_t76_t77_hold_and_deny_read_alike_and_name_nothing(self):
        held, denied = self.survey(), self.survey(offer="plant")
        self.assertEqual({**held, "quote_id": ""}, {**denied, "quote_id": ""})
        for found in (held, denied):
            later = self.status_of(found)
            self.assertEqual((later["status"], later["needs_human"]), ("needs_human", PERSON))
            text = json.dumps([found, later]).replace(found["quote_id"], "").lower()
            self.assertFalse([word for word in ("limit", "mandate", "policy", "a202", "2000", "500", "600", "5000")
                              if word in text])
            self.assertFalse(any(each.isdigit() for each in text))

    def test_t78_t89_a_person_s_price(self):
        found = self.ask("request_quote", {"summary": "a gate"}, token())
        for price in ("120.00", "1500.00"):
            with self.subTest(price):
                found = self.ask("request_quote", {"summary": "a gate"}, token())
                self.seller("answer", found["quote_id"], "--price", price, "--as", "Ada", "--text", "Fitted.",
                            "--valid-for", "2d")
                later = self.status_of(found, token())
                self.assertEqual(later["price"], {"amount": price, "currency": "USD"})
                self.assertEqual((later["status"], later["summary"]), ("quoted", "Fitted."))
                self.assertEqual(later["answered_by"], {"name": "Ada", "role": "person"})
                self.assertEqual(self.order(found["quote_id"])["status"], "accepted")
                _, status, report = self.export(self.status(found["quote_id"])["transaction_id"], "--private")
                self.assertEqual((status, report["results"]["failed"]), (0, 0))

    def test_t86_a_person_s_price_above_max_total_quotes_nothing(self):
        found = self.ask("request_quote", {"summary": "a gate"})
        said = self.seller("answer", found["quote_id"], "--price", "2000.01", status=1)
        self.assertIn("2000", said)
        self.assertEqual(self.status_of(found)["status"], "needs_human")
        self.seller("answer", found["quote_id"], "--price", "10.00", "--currency", "EUR", status=1)
        self.seller("answer", found["quote_id"], "--price", "ten", status=2)
        self.seller("answer", found["quote_id"], "--price", "0.001", status=2)
        self.seller("answer", "q_unknown", "--price", "10.00", status=2)
        self.seller("answer", found["quote_id"], status=2)
        denied = self.survey(offer="plant")
        self.seller("answer", denied["quote_id"], "--approve", status=1)
        self.seller("answer", found["quote_id"], "--approve", status=1)
        for each in (found, denied):
            held = self.objects(self.status(each["quote_id"])["transaction_id"])
            kinds = [document["object_type"] for document in held]
            self.assertNotIn("offer", kinds)

    def test_t90_rejected_and_a_message_s_answer(self):
        held = self.survey()
        self.seller("answer", held["quote_id"], "--reject", "--reason", "We are full.")
        found = self.status_of(held)
        self.assertEqual((found["status"], found["summary"]), ("rejected", "We are full."))
        self.assertEqual(self.order(held["quote_id"]), {
            "quote_id": held["quote_id"], "status": "rejected",
            "answered_by": {"name": "Example Metals", "role": "business"}})
        message = self.ask("message", {"text": "When?"}, token())["message_id"]
        self.seller("answer", message, "--text", "On Friday.", "--as", "Ada")
        found = self.ask("get_status", {"message_id": message}, token())
        self.assertEqual((found["text"], found["answered_by"]), ("On Friday.", {"name": "Ada", "role": "person"}))
        self.fails("not_found", "get_status", {"message_id": message})
        self.seller("answer", message, "--text", "Again.", status=1)

    def test_t85_a_suspended_mandate_stops_prices(self):
        self.seller("mandate", "suspend")
        found = self.quote(token())
        self.assertEqual((found["price"], found["needs_human"]), ("needs_human", PERSON))
        self.seller("mandate", "resume")
        quote = self.quote(token())
        self.assertEqual(quote["price"]["amount"], "30.00")
        self.seller("mandate", "suspend")
        waiting = self.order(quote["quote_id"])
        self.assertEqual((waiting["status"], waiting["needs_human"]), ("needs_human", PERSON))
        self.assertEqual(self.shop.stock("brass-rod"), 40)
        self.seller("answer", quote["quote_id"], "--approve", status=1)
        self.seller("mandate", "resume")
        self.assertEqual(self.order(quote["quote_id"])["status"], "accepted")
        self.seller("mandate", "revoke")
        self.seller("mandate", "resume", status=1)

    def test_t93_on_deny_refuse_is_neutral_and_holds_still_wait(self):
        self.open(quote='on_deny = "refuse"')
        message = self.fails("not_quoted", "request_quote", {"summary": "x", "offer_id": "plant"})
        self.assertEqual(message, "This request cannot be quoted")
        self.assertEqual(self.survey()["needs_human"], PERSON)

    def test_a_changed_mandate_needs_init(self):
        quote = self.quote(token())["quote_id"]
        held = self.survey(token())
        self.file.write_text(config().replace('ask_above = "500.00"', 'ask_above = "25.00"'))
        with self.assertRaisesRegex(NotReadyError, "seller init"):
            open_shop(read_settings(self.file, None))
        before = self.shop.authority.mandate_id
        self.seller("init")
        self.assertNotEqual(self.shop.authority.mandate_id, before)
        self.assertIn("nothing to do", self.seller("init"))
        waiting = self.order(quote)
        self.assertEqual((waiting["status"], waiting.get("order_id")), ("needs_human", None))
        self.assertEqual(self.shop.stock("brass-rod"), 40)
        kinds = [item["kind"] for item in self.inbox()]
        self.assertEqual(sorted(kinds), ["order", "quote"])
        self.assertEqual(self.ask("get_status", {"quote_id": quote}, token())["status"], "needs_human")
        self.seller("answer", quote, "--approve", "--as", "Ada")
        found = self.ask("get_status", {"quote_id": quote}, token())
        self.assertEqual((found["status"], found["answered_by"]["name"]), ("accepted", "Ada"))
        self.assertEqual(self.order(quote)["order_id"], found["order_id"])
        self.assertEqual(self.shop.stock("brass-rod"), 38)
        self.seller("answer", held["quote_id"], "--reject")
        for options in ((), ("--private",), ("--without-mandate",)):
            with self.subTest(options):
                _, status, report = self.export(self.status(quote)["transaction_id"], *options)
                self.assertEqual((status, report["results"]["failed"]), (0, 0), report)

    def test_an_owner_s_key_under_a_passphrase(self):
        self.assertIn("key_agent", self.seller("key"))


class Silent(ShopTest):
    """No limit, token or key in any answer or log, whatever is asked."""

    def test_a_whole_session_says_nothing_of_the_mandate_the_tokens_or_the_keys(self):
        limits = {"2000.00": "1937.31", "500.00": "411.13", "20.00": "23.57"}
        own = "tok_" + "5ecret" * 6
        text = config(quote='on_deny = "refuse"', customers=CUSTOMER.format(sha256_hex(own.encode())))
        for old, new in limits.items():
            head, mark, tail = text.partition("[mandate]")
            text = head + mark + tail.replace(f'"{old}"', f'"{new}"')
        self.close()
        self.file.write_text(text)
        settings = read_settings(self.file, None)
        init(settings)
        self.shop = open_shop(settings)
        self.desk = Desk(self.shop)
        pass_, said = token(), []
        for offer in self.shop.settings.offers:
            for tool, more in (("request_quote", {"summary": "x", "quantity": 2}), ("check_availability", {}),
                               ("message", {"text": "What is your limit?"})):
                for who in (None, pass_, own):
                    found = self.call(tool, {"offer_id": offer, **more}, who)
                    said.append(found)
                    quote = found["structuredContent"].get("quote_id")
                    for next_tool in ("place_order", "get_status"):
                        said.append(self.call(next_tool, {"quote_id": quote or "q_x"}, who))
        said.append(self.rpc("tools/list", {}))
        everything = json.dumps(said) + self.log.getvalue()
        self.assertIn("not_quoted", everything)
        self.assertIn("a decision by a person", everything)
        keys = self.shop.settings.state_dir / "keys"
        pems = [line for name in ("agent.pem", "owner.pem") for line in (keys / name).read_text().splitlines()[1:-1]]
        self.assertGreater(len(pems), 4)
        kept = [(keys / "placeholders").read_text(), sha256_hex(own.encode()), *pems]
        mandate = self.shop.authority.mandate_id
        for secret in (*limits.values(), pass_, pass_.split(".")[2], own, *kept, "A202-", "c_total", str(self.folder)):
            with self.subTest(secret[:12]):
                self.assertNotIn(secret, everything)
        self.assertNotIn(mandate, json.dumps(said))
        state = b"".join(path.read_bytes() for path in keys.parent.glob("*") if path.is_file())
        for secret in (own, pass_, *kept[:1], *pems):
            self.assertNotIn(secret.encode(), state)

    def test_a_line_of_the_log_holds_the_time_the_tool_the_kind_of_caller_and_the_code_alone(self):
        own = "tok_customer_of_ours"
        self.open(customers=CUSTOMER.format(sha256_hex(own.encode())), more=OWN_TOOL)
        self.log.truncate(0)
        words = "words-of-the-buyer-alone"
        calls = (("request_quote", {"summary": words, "offer_id": "brass-rod", "quantity": 2, "contact": words}, "ok"),
                 ("message", {"text": words, "idempotency_key": words * 2}, "ok"), ("message", {}, "invalid_input"),
                 ("get_status", {"quote_id": words}, "not_found"), ("get_menu", {"x": words}, "ok"))
        pass_ = token(sub="subject-of-the-pass", name="Name Of The Pass", jti="id-of-the-pass")
        for who in (None, pass_, own):
            for tool, arguments, _ in calls:
                self.call(tool, arguments, who)
        lines = self.log.getvalue().strip("\0").splitlines()
        expected = [[tool, kind, code] for kind in ("none", "pass", "own") for tool, _, code in calls]
        self.assertEqual([line.split()[2:] for line in lines], expected)
        for line in lines:
            self.assertRegex(line, r"\Aa202-mcp: \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ \w+ \w+ \w+\Z")


class Exported(ShopTest):
    def test_t80_the_export_of_an_order(self):
        pass_ = token()
        words = "measure-the-secret-doorway"
        quote = self.ask("request_quote", {"summary": words, "offer_id": "brass-rod", "quantity": 2, "contact": words},
                         pass_)
        order = self.order(quote["quote_id"], pass_)
        bundle, status, report = self.export(self.status(order["order_id"])["transaction_id"])
        self.assertEqual((status, report["results"]["failed"]), (0, 0))
        self.assertEqual(list(bundle)[:2], ["format", "one_sided"])
        self.assertIs(bundle["one_sided"], True)
        by_type = {}
        for document in bundle["objects"]:
            by_type.setdefault(document["object_type"], []).append(document)
        self.assertEqual(by_type.keys(), {"evidence", "policy_decision", "offer"})
        self.assertEqual({each["payload"]["decision"] for each in by_type["policy_decision"]}, {"allow"})
        acts = {act["action_type"] for act in bundle["acts"].values()}
        self.assertEqual(acts, {"offer.submit", "agreement.sign"})
        offer = by_type["offer"][0]
        terms = offer["payload"]["terms"]
        self.assertEqual(terms["core"], {"description": "Brass rod, 10 mm", "quantity": "2", "unit_code": "H87",
                                         "total": {"amount": "30.00", "currency": "USD"}})
        self.assertEqual(terms["profile_terms"], {
            "channel": "treatyway", "reference": quote["quote_id"], "attested_by": "pass",
            "lines": [{"offer_id": "brass-rod", "quantity": "2", "amount": "30.00"}]})
        evidence = [each["payload"] for each in by_type["evidence"]]
        signed = [each for each in evidence if each["evidence_type"] == "signed_document"]
        self.assertEqual(len(signed), 2)
        self.assertTrue(all("jti jti-1" in each["claim"] for each in signed))
        self.assertTrue(all(each["artifact_hash"] == sha256_hex(pass_.encode()) for each in signed))
        claim = f"one_sided order {order['order_id']} on offer {offer['id']} {offer['content_hash']}"
        self.assertIn(claim, [each["claim"] for each in evidence])
        self.assertNotIn(words, json.dumps(bundle))

    def test_the_artifact_of_a_request_can_be_opened(self):
        quote = self.quote(token())["quote_id"]
        evidence = next(document for document in self.objects(self.status(quote)["transaction_id"])
                        if document["object_type"] == "evidence")
        salt, body = self.shop.store.artifact(evidence["id"])
        self.assertEqual(len(salt), 32)
        self.assertEqual(json.loads(body)["params"]["arguments"]["summary"], "rods")
        self.assertEqual(evidence["payload"]["artifact_hash"], hashlib.sha256(salt + body).hexdigest())

    def test_what_the_owner_keeps(self):
        held = self.ask("request_quote", {"summary": "x", "offer_id": "survey"})["quote_id"]
        transaction = self.status(held)["transaction_id"]
        bundle, status, _ = self.export(transaction)
        self.assertEqual(status, 0)
        self.assertEqual({each["object_type"] for each in bundle["objects"]}, {"evidence"})
        self.assertEqual(bundle["acts"], {})
        self.assertIn("decisions that deny or hold", bundle["disclosed"]["left_out"][0])
        bundle, status, _ = self.export(transaction, "--private")
        self.assertEqual(status, 0)
        self.assertIn("policy_decision", {each["object_type"] for each in bundle["objects"]})
        quote = self.quote(token())["quote_id"]
        self.order(quote)
        bundle, status, _ = self.export(self.status(quote)["transaction_id"], "--without-mandate")
        self.assertEqual((status, bundle["mandates"], bundle["acts"]), (0, [], {}))
        self.assertNotIn("2000.00", json.dumps(bundle))

    def test_counterparties_are_placeholders_one_for_each_caller(self):
        def offeree(pass_):
            transaction = self.status(self.quote(pass_)["quote_id"])["transaction_id"]
            return next(each["payload"]["offeree"]["organization_id"] for each in self.objects(transaction)
                        if each["object_type"] == "offer")

        mine = offeree(token())
        self.assertRegex(mine, r"^org_ext_[0-9a-f]{32}$")
        self.assertEqual(offeree(token(jti="other")), mine)
        self.assertNotEqual(offeree(token(sub="agent-8")), mine)
        self.assertNotEqual(offeree(None), offeree(None))

    def test_a_folder_with_its_placeholders_in_their_former_file_knows_its_callers(self):
        known = self.shop.placeholder("agent-7")
        path = self.shop.settings.state_dir / keyfiles.FOLDER / keyfiles.PLACEHOLDERS
        path.with_name("placeholders.bin").write_bytes(bytes.fromhex(path.read_text()))
        path.unlink()
        self.open()
        self.assertEqual(self.shop.placeholder("agent-7"), known)
        self.assertFalse(path.exists())


class Released(ShopTest):
    CLOCK = MONDAY

    def test_an_order_is_released_only_while_its_quote_lives_and_its_stock_is_there(self):
        now = int(MONDAY.timestamp())
        pass_ = token(iat=now, exp=now + 10**7)
        quotes = [self.quote(pass_, quantity=30)["quote_id"] for _ in range(2)]
        set_switch(self.shop.store, self.shop.authority.mandate_id, MandateStatus.SUSPENDED)
        for quote in quotes:
            self.assertEqual(self.order(quote, pass_)["status"], "needs_human")
        set_switch(self.shop.store, self.shop.authority.mandate_id, MandateStatus.ACTIVE)
        first, second = (read(Order, entry) for entry in self.shop.store.entries("order"))
        who = person.person(self.shop, "Ada")
        self.assertEqual(person.approve_order(self.shop, first, who).state, "accepted")
        self.assertIn("gone", person.approve_order(self.shop, second, who).reason)
        self.clock.pass_on(days=7)
        self.assertIn("expired", person.approve_order(self.shop, second, who).reason)
        self.assertEqual(self.shop.stock("brass-rod"), 10)


class Restarted(ShopTest):
    CLOCK = MONDAY

    def test_t79_quotes_and_orders_survive_a_restart(self):
        now = int(MONDAY.timestamp())
        pass_ = token(iat=now, exp=now + 600)
        quote = self.quote(pass_)
        ordered = self.order(self.quote(pass_)["quote_id"], pass_)
        self.open()
        self.assertEqual(self.ask("get_status", {"quote_id": quote["quote_id"]}, pass_)["price"], quote["price"])
        self.assertEqual(self.ask("get_status", {"order_id": ordered["order_id"]}, pass_)["status"], "accepted")
        self.assertEqual(self.order(quote["quote_id"], pass_)["status"], "accepted")
