"""Requirements A41, A61, A72, A76, A78, A79: what the owner sees and gives, on whatever terminal."""

import json
import os
import socket
from datetime import timedelta
from typing import ClassVar

from a202_mcp.axp.member import initialise
from a202_mcp.axp.record import Matter
from a202_mcp.one_owner import keyfiles
from a202_mcp.one_owner.keyfiles import KeyFileError
from tests.axp.process import ProcessCase, run_command
from tests.axp.support import MANDATE, TOKEN, MemberCase, offer, tool_message

EVIL = "\x1b[31mred\x07 \u202egnp.exe\u200b\u2066 \x85 \u2028 [bold]x[/bold] <b> \u6f22"
SHOWN = "\\x1b[31mred\\x07 \\u202egnp.exe\\u200b\\u2066 \\x85 \\u2028 [bold]x[/bold] <b> "
CONFIGURED = """\
member.name: Example Works
member.roles: seller, buyer
member.contact_email: ops@works.example
member.mcp_url: {https}works.example/mcp
member.member_id: mem_1
secrets.platform_key: set
secrets.member_secret: set
secrets.auth_token: missing
state.dir: {state}
exchange.base_url: {base}
review.answer: skip
exchange.timeout_seconds: 10
exchange.attempts: 6
exchange.backoff_ms: 300
exchange.heartbeat_hours: 0
seller.max_open: 4
seller.valid_minutes: 60
seller.free_work: false
seller.guarantee.free_redo: 1
seller.guarantee.refund_if_fails_checks: true
buyer.choose: cheapest
buyer.max_eta_minutes: 1440
buyer.daily_budget: 50.00
buyer.accept: checked
buyer.only_tasks: any
skills[0]: summarize_text: from 6.00 USD
skills[0].task_type: summarize_text
skills[0].description: Summaries of plain text
skills[0].requires: text
skills[0].price.fixed: 5.00
skills[0].price.per[0].param: pages
skills[0].price.per[0].each: 0.50
skills[0].price.per[0].default: 1
skills[0].price.per[0].max: 2000
skills[0].price.minimum: 6.00
skills[0].eta.fixed: 30
skills[0].eta.per[0].param: pages
skills[0].eta.per[0].each: 1
skills[0].eta.per[0].default: 1
skills[0].max_open: 2
"""


class Checks(MemberCase):

    async def test_a79_check_prints_every_setting(self):
        status, out, err = run_command("member", "check", "--config", str(self.config))
        self.assertEqual((status, err), (0, ""))
        expected = CONFIGURED.format(
            https="https:" + "//", base=self.exchange.base, state=self.folder / "member-state")
        self.assertEqual(out[:len(expected)], expected)
        for line in ("skills[0].worker.timeout_seconds: 600", "skills[1].task_type: many_params",
                     "mandate.max_price: 100.00", "mandate.ask_spend_above: 10.00", "mandate.valid_days: 365"):
            self.assertIn(line + "\n", out)

    async def test_a79_check_prints_no_secret_and_no_terminal_codes(self):
        self.write_configuration(secrets='auth_token = "env:AXP_TEST_TOKEN"')
        self.config.write_text(self.config.read_text().replace('"Example Works"', '"Works \u202e"'))
        status, out, _ = run_command("member", "check", "--config", str(self.config))
        self.assertEqual(status, 0)
        self.assertIn("secrets.auth_token: set", out)
        self.assertIn("member.name: Works \\u202e\n", out)
        self.assertNotIn(TOKEN, out)

    async def test_a79_a_price_that_says_nothing_and_a_review_that_is_skipped_are_judged(self):
        given = self.config.read_text()
        for old, new, problem in (
                ('price = { fixed = "8.00" }', "price = {}",
                 "skills[1].price: is empty: say at least one of fixed, per and minimum"),
                ('price = { fixed = "8.00" }', "price = { per = [] }",
                 "skills[1].price: is empty: say at least one of fixed, per and minimum"),
                ('price = { fixed = "8.00" }', "", "skills[1].price: is required"),
                ("[mandate]", '[review]\nrating = "5"\n[mandate]',
                 'review.rating: must be a whole number from 1 to 5, not "5"'),
                ("[mandate]", '[review]\nanswer = "skip"\ncomment = 7\n[mandate]',
                 "review.comment: must be text of 1 to 1000 characters, not 7")):
            with self.subTest(new=new):
                self.assertIn(old, given)
                self.config.write_text(given.replace(old, new))
                self.assertEqual(run_command("member", "check", "--config", str(self.config)),
                                 (2, "", f"member.toml: {problem}\n"))


class Serving(MemberCase):

    async def test_a79_an_address_that_cannot_be_had_is_one_line(self):
        with socket.create_server(("127.0.0.1", 0)) as taken:
            port = str(taken.getsockname()[1])
            for arguments, reason in (
                    (("--port", port), f"127.0.0.1 port {port} cannot be listened on: Address already in use"),
                    (("--host", "192.0.2.1", "--port", "0"), "192.0.2.1 port 0 cannot be listened on: ")):
                status, out, err = run_command("member", "--config", str(self.config), *arguments)
                self.assertEqual((status, out), (2, ""))
                self.assertIn(reason, err.splitlines()[-1])
                self.assertNotIn("Traceback", err)


class Terminals(MemberCase):

    async def test_a72_foreign_text_is_shown_as_plain_text_on_any_terminal(self):
        await self.take()
        await self.call("task_update", task_id="t1", status="message", data={"text": EVIL})
        await self.call("announcement", announcement_id="a1", title=EVIL, body="\ud800", severity="action_required")
        self.close()
        for env, last in (({"PYTHONIOENCODING": "utf-8"}, "\u6f22"), ({"PYTHONIOENCODING": "ascii"}, "\\u6f22"),
                          ({"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}, "\\u6f22")):
            with self.subTest(env=env):
                status, out, err = run_command("member", "inbox", "--config", str(self.config), env=env)
                self.assertEqual((status, err), (0, ""))
                first, second = out.splitlines()
                self.assertTrue(first.endswith(f"message: {SHOWN}{last}"), first)
                self.assertTrue(second.endswith(f"{SHOWN}{last}: \\ud800"), second)
        status, out, _ = run_command("member", "inbox", "--json", "--config", str(self.config))
        self.assertEqual(json.loads(out)["items"][0]["detail"], f"message: {EVIL}")
        self.start()

    async def test_a72_a_text_of_the_inbox_is_cut_at_2000_characters(self):
        for at, length in enumerate((1996, 1997, 1998, 50_000)):
            await self.call("announcement", announcement_id=f"a{at}", title="t", body="\u6f22" * length,
                            severity="action_required")
        self.assertEqual([len(item.detail) for item in self.inbox()], [1999, 2000, 2000, 2000])


class Renewal(MemberCase):
    options: ClassVar = {"mandate": MANDATE + "valid_days = 1\n"}

    async def test_a76_a_mandate_that_is_over_is_issued_anew_by_init_and_not_before(self):
        space, settings = self.member.workspace, self.member.settings
        first = self.member.view.identity.mandates
        self.clock.now += timedelta(hours=23)
        self.assertEqual(initialise(settings, space).mandates, first)
        self.clock.now += timedelta(hours=2)
        self.assertTrue((await self.quote())["decline"])
        self.assertTrue(set(initialise(settings, space).mandates.values()).isdisjoint(first.values()))
        self.restart()
        self.assertEqual((await self.quote(task_id="t2"))["price_usd"], 7)


class Passphrase(ProcessCase):

    async def test_a61_a_sealed_owner_key_opens_with_its_passphrase_alone(self):
        right, wrong = ({keyfiles.PASSPHRASE: text} for text in ("correct horse", "battery staple"))
        await self.owner("init", env=right)
        sealed = (self.folder / "member-state" / keyfiles.FOLDER / keyfiles.OWNER).read_bytes()
        self.assertIn(b"ENCRYPTED", sealed)
        await self.serve()
        await self.post(tool_message("receive_offers", {
            "task_id": "b1", "offers": [offer("o1", 15)], "choose_url": f"{self.exchange.base}/choose/b1"}))
        [item] = await self.until(self.waiting)
        for env, reason in (({}, "is sealed: set A202_OWNER_PASSPHRASE"), (wrong, "a wrong A202_OWNER_PASSPHRASE")):
            before = len(self.errors)
            await self.owner("approve", item["id"], status=2, env=env)
            self.assertIn(reason, self.errors[before:].decode())
        self.assertEqual(self.exchange.sent("/choose/b1"), [])
        await self.owner("approve", item["id"], env=right)
        await self.until(lambda: self.exchange.sent("/choose/b1"))
        self.assertNotIn(b"correct horse", self.errors)

    async def waiting(self):
        return json.loads(await self.owner("inbox", "--json"))["items"]

    def test_a76_the_agents_key_is_not_sealed_and_a_wrong_passphrase_makes_no_key(self):
        os.environ[keyfiles.PASSPHRASE] = "one"
        self.addCleanup(os.environ.pop, keyfiles.PASSPHRASE)
        keyfiles.make_missing(self.folder)
        keyfiles.load(self.folder, keyfiles.AGENT)
        with self.assertRaises(KeyFileError):
            keyfiles.load(self.folder, keyfiles.OWNER, b"two")


class Acts(MemberCase):

    async def test_a41_a_document_of_an_act_does_not_change_between_two_identical_quotes(self):
        await self.quote()
        first = Matter.of(self.member.store.item("offered", "t1")).act("offer.submit")
        self.clock.forward(hours=2)
        await self.quote()
        self.assertEqual(Matter.of(self.member.store.item("offered", "t1")).act("offer.submit"), first)
