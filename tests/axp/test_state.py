"""Requirements A76 to A82: what a restart, a kill and many callers leave of it, and where secrets are not."""

import asyncio
import hashlib
import json
import signal
import sqlite3
import stat
import time
import tomllib
from datetime import UTC, datetime
from pathlib import Path
from typing import ClassVar

import httpx2

from a202_mcp.axp import configuration
from a202_mcp.one_owner import keyfiles
from tests.axp.exchange import Reply
from tests.axp.process import ROOT, ProcessCase, run_command
from tests.axp.support import KEY, SECRET, TOKEN, MemberCase, message, quote_arguments, signed_headers


class Restarts(MemberCase):

    async def test_a76_a_quote_from_before_a_restart_is_accepted(self):
        quoted = await self.quote()
        self.restart()
        self.assertEqual(await self.quote(), quoted)
        self.assertEqual(await self.call("do_task", **self.task_arguments("t1", quoted)), {"accepted": True})
        self.restart()
        self.assertEqual(await self.call("do_task", **self.task_arguments("t1", quoted)), {"accepted": True})
        await self.settle()
        self.assertEqual((len(self.runs), len(self.exchange.requests)), (1, 1))

    async def test_a76_a_changed_mandate_needs_the_owner(self):
        from a202_mcp.one_owner.issuing import NotReadyError  # noqa: PLC0415 - one use

        self.member.workspace.close()
        self.config.write_text(self.config.read_text().replace('max_price = "100.00"', 'max_price = "900.00"'))
        with self.assertRaises(NotReadyError):
            self.start()
        status, out, err = run_command("member", "init", "--config", str(self.config))
        self.assertEqual((status, err), (0, ""))
        self.assertIn("mandate for seller: mnd_", out)
        self.clock.now = datetime.now(UTC)
        self.start()
        self.assertEqual((await self.quote(params={"text": "x", "pages": 90}))["price_usd"], 50)

    async def test_a76_init_issues_anew_what_is_revoked_and_nothing_else(self):
        command = ("--config", str(self.config))
        issued = [run_command("member", "init", *command)[1] for _ in range(2)]
        self.assertEqual(run_command("member", "mandate", "revoke", *command)[0], 0)
        self.assertIn("revoked, and that is final", run_command("member", "mandate", "suspend", *command)[2])
        issued += [run_command("member", "init", *command)[1] for _ in range(2)]
        self.assertEqual((issued[0], issued[2]), (issued[1], issued[3]))
        self.assertNotEqual(issued[0], issued[2])
        self.assertEqual(run_command("member", "mandate", "suspend", *command)[:2], (0, "suspended\n"))

    async def test_a76_where_an_address_answers_the_status_there_is_no_switch(self):
        command = ("--config", str(self.config))
        self.config.write_text(self.config.read_text().replace(
            "[mandate]", '[mandate]\nstatus_url = "https://status.works.invalid/"'))
        self.assertEqual(run_command("member", "init", *command)[0], 0)
        for act in ("suspend", "resume", "revoke"):
            status, out, err = run_command("member", "mandate", act, *command)
            self.assertEqual((status, out), (1, ""))
            self.assertIn("answered by mandate.status_url", err)

    async def test_a76_a_state_folder_keeps_its_organisation(self):
        self.config.write_text(self.config.read_text().replace("[mandate]", '[mandate]\norganization_id = "org_other"'))
        status, _, err = run_command("member", "init", "--config", str(self.config))
        self.assertEqual(status, 2)
        self.assertIn("mandate.organization_id is org_other, and this state folder belongs to org_", err)

    async def test_a76_a_suspended_mandate_stops_prices_until_it_is_resumed(self):
        switch = ("member", "mandate")
        for action, priced in (("suspend", False), ("resume", True), ("revoke", False)):
            self.assertEqual(run_command(*switch, action, "--config", str(self.config))[0], 0)
            self.assertEqual("price_usd" in await self.quote(task_id=action), priced)
        self.assertEqual(run_command(*switch, "resume", "--config", str(self.config))[0], 1)


class Keys(MemberCase):

    async def test_a76_a_key_that_is_lost_or_another_is_not_made_anew(self):
        for name, command in ((keyfiles.AGENT, ("inbox",)), (keyfiles.OWNER, ("init",))):
            path = self.folder / "member-state" / keyfiles.FOLDER / name
            own = path.read_bytes()
            path.unlink()
            if name == keyfiles.OWNER:  # init opens it only where there is a mandate to issue
                self.config.write_text(self.config.read_text().replace('max_price = "100.00"', 'max_price = "90.00"'))
            status, _, err = run_command("member", *command, "--config", str(self.config))
            self.assertEqual((status, path.exists()), (2, False))
            self.assertIn(f"keys/{name} cannot be read", err)
            keyfiles.make(self.folder / "member-state", name)
            status, _, err = run_command("member", *command, "--config", str(self.config))
            self.assertEqual(status, 2)
            self.assertIn(f"keys/{name} is not the key that this state folder knows", err)
            path.write_bytes(own)


class Kills(ProcessCase):

    async def test_a77_a_delivery_cut_off_by_a_kill_is_one_run_and_one_repeat_of_the_same_bytes(self):
        await self.serve()
        killed = asyncio.Event()

        async def kill(request):
            if request.path == "/deliver/t1" and not killed.is_set():
                killed.set()
                self.server.kill()
                await self.server.wait()

        self.exchange.during = kill
        self.exchange.answers("/deliver/t1", Reply(None), Reply(409))
        async with httpx2.AsyncClient(trust_env=False) as client:
            _, quoted = await self.tool(client, "quote", **quote_arguments())
            _, taken = await self.tool(client, "do_task", **self.task_arguments("t1", quoted["structuredContent"]))
        self.assertEqual(taken["structuredContent"], {"accepted": True})
        await self.until(killed.is_set)
        await self.serve()
        await self.until(lambda: len(self.exchange.sent("/deliver/t1")) == 2)
        await self.until(self.is_delivered)
        first, second = self.exchange.sent("/deliver/t1")
        self.assertEqual((first.body, len(self.runs)), (second.body, 1))
        self.assertEqual(await self.end(signal.SIGTERM), 0)
        self.assertEqual(len(self.exchange.requests) - len(self.exchange.sent("/api/members/me/skills", "PUT")), 2)

    async def is_delivered(self):
        return (await self.state_of("t1"))["state"] == "delivered"

    async def test_a76_a_second_server_on_one_folder_is_refused(self):
        await self.serve()
        self.assertIn("another server", await self.second())

    async def second(self):
        before = self.errors
        await self.command("member", "--config", str(self.config), "--port", "0", status=2)
        return self.errors[len(before):].decode()


class ManyCallers(ProcessCase):

    async def test_a82_64_calls_from_16_callers_are_all_answered(self):
        await self.serve()

        async def timed(client, task_id):
            before = time.monotonic()
            answer = await self.tool(client, "quote", **quote_arguments(task_id=task_id))
            took.append(time.monotonic() - before)
            return answer

        took = []

        async def caller(number):
            async with httpx2.AsyncClient(trust_env=False, timeout=30) as client:
                return [await timed(client, f"t{number}-{at}") for at in range(4)]

        answers = [each for four in await asyncio.gather(*map(caller, range(16))) for each in four]
        self.assertEqual(len(answers), 64)
        self.assertLess(max(took), 5)
        self.assertEqual({(status, result["structuredContent"]["price_usd"]) for status, result in answers}, {(200, 7)})


class Secrets(ProcessCase):
    options: ClassVar = {"secrets": 'platform_key = "env:AXP_TEST_KEY"\nmember_secret = "env:AXP_TEST_SECRET"\n'
                          'auth_token = "env:AXP_TEST_TOKEN"'}

    async def test_a78_no_secret_is_in_records_logs_or_output(self):
        out = await self.owner("check")
        self.assertIn("platform_key: set", out)
        await self.serve()
        async with httpx2.AsyncClient(trust_env=False, headers={"authorization": f"Bearer {TOKEN}"}) as client:
            _, quoted = await self.tool(client, "quote", **quote_arguments())
            await self.tool(client, "do_task", **self.task_arguments("t1", quoted["structuredContent"]))
            await self.tool(client, "task_update", task_id="t1", status="message", data={"text": "hello"})
            await self.until(lambda: self.exchange.sent("/deliver/t1"))
            await self.until(self.is_delivered)
        out += await self.owner("inbox", "--all", "--json") + await self.owner("key")
        status = json.loads(await self.owner("status", "t1", "--json"))
        out += await self.command("export", status["transaction_id"], "--state-dir", str(self.state))
        await self.end(signal.SIGTERM)
        kept = b"".join(path.read_bytes() for path in self.state.glob("*") if path.is_file())
        for secret in (KEY, SECRET, TOKEN):
            for where in (kept, self.errors, out.encode()):
                self.assertNotIn(secret.encode(), where)
        for path in (self.state / "keys").iterdir():
            self.assertEqual(stat.S_IMODE(path.stat().st_mode), 0o600)
            pem = path.read_text().splitlines()[1] if path.suffix == ".pem" else path.read_text()
            self.assertNotIn(pem.encode(), kept + self.errors + out.encode())

    async def is_delivered(self):
        return (await self.state_of("t1"))["state"] == "delivered"

    @property
    def state(self):
        return self.folder / "member-state"

    async def test_a78_a_configuration_shows_its_secrets_masked(self):
        settings = configuration.load(self.config)
        from a202_mcp.axp.secret import Credentials  # noqa: PLC0415 - one use

        held = Credentials(self.state, "mem_1", settings.secrets)
        self.assertEqual(held.platform_key.value, KEY)
        key = held.platform_key
        for shown in (repr(settings), repr(held), repr(key), str(key), f"{held.auth_token}"):
            for secret in (KEY, SECRET, TOKEN):
                self.assertNotIn(secret, shown)


MISTAKES = """\
[member]
roles = ["seller", "vendor"]
mcp_url = 7
[secrets]
platform_key = "pk_bare_secret_value_1234"
member_secret = "env:AXP_TEST_NOT_SET"
auth_token = "file:nowhere"
[exchange]
base_url = "http://works.example"
attempts = 11
backof_ms = 3
[seller]
guarantee = { free_redo = 4 }
[[skills]]
task_type = "Bad Type"
price = { fixed = 5.0 }
worker = { command = ["x"], python = "a:b" }
[[skills]]
task_type = "other_type"
price = { fixed = "5.00", per = [ { param = "p" } ] }
[buyer]
choose = "cheapest"
[review]
answer = "fixed"
[mandate]
min_price = "free"
[extra]
"""
NAMED = (
    "member.name", "member.roles", "member.mcp_url", "secrets.platform_key", "secrets.member_secret",
    "secrets.auth_token", "exchange.base_url", "exchange.attempts", "exchange.backof_ms", "seller.guarantee.free_redo",
    "skills[0].task_type", "skills[0].price.fixed", "skills[0].worker", "skills[1].price.per[0].each",
    "skills[1].worker", "buyer.daily_budget", "review.rating", "mandate.max_price", "mandate.min_price", "extra")


class Configuration(MemberCase):

    async def test_a79_every_mistake_is_named_at_once(self):
        file = self.folder / "wrong.toml"
        file.write_text(MISTAKES)
        tomllib.loads(MISTAKES)
        for arguments in (("check",), ()):
            status, out, err = run_command("member", *arguments, "--config", str(file))
            self.assertEqual((status, out), (2, ""))
            places = [line.split(": ")[1] for line in err.splitlines()]
            for place in NAMED:
                self.assertIn(place, places)
            self.assertNotIn("pk_bare_secret_value_1234", err)
            self.assertNotIn("Traceback", err)
            self.assertIn('"5.00"', err)
            self.assertIn("did you mean backoff_ms?", err)

    async def test_a79_a_secret_others_can_read_is_a_warning(self):
        secret = self.folder / "key"
        secret.write_text(KEY + "\n")
        secret.chmod(0o644)
        self.write_configuration(secrets='platform_key = "file:key"')
        settings = configuration.load(self.config)
        self.assertEqual(len(settings.warnings), 1)
        secret.chmod(0o600)
        self.assertEqual(configuration.load(self.config).warnings, ())

    async def test_a79_no_file_and_no_toml_are_one_line(self):
        for content in (None, "roles = [", "\x00"):
            file = self.folder / "none.toml"
            if content is not None:
                file.write_text(content)
            status, _, err = run_command("member", "check", "--config", str(file))
            self.assertEqual((status, len(err.splitlines())), (2, 1))


class Registering(ProcessCase):
    options: ClassVar = {"secrets": 'auth_token = "env:AXP_TEST_TOKEN"'}

    def write_configuration(self, **options):
        super().write_configuration(**options)
        self.config.write_text(self.config.read_text().replace('member_id = "mem_1"\n', ""))

    async def test_a80_register_posts_the_fields_and_stores_the_secrets(self):
        self.exchange.answers("/api/members/register", Reply(201, json.dumps(
            {"member": {"id": "mem_1"}, "member_secret": SECRET, "platform_key": KEY}).encode()))
        out = await self.owner("register", "--check")
        [sent] = self.exchange.sent("/api/members/register")
        self.assertNotIn("authorization", sent.headers)
        self.assertEqual(set(sent.json), {
            "roles", "name", "contact_email", "mcp_url", "auth_token", "skills", "identity"})
        self.assertEqual((sent.json["auth_token"], sent.json["roles"]), (TOKEN, ["seller", "buyer"]))
        self.assertEqual(set(sent.json["identity"]), {
            "agent_framework", "agent_model", "operator_name", "operator_website"})
        for path in ("/api/members/me/verify", "/api/members/me/conformance"):
            self.assertEqual(self.exchange.sent(path)[0].headers["authorization"], f"Bearer {SECRET}")
        stored = self.folder / "member-state" / "secrets"
        self.assertEqual({path.name: path.read_text() for path in stored.iterdir()}, {
            "member_id": "mem_1", "member_secret": SECRET, "platform_key": KEY})
        for path in stored.iterdir():
            self.assertEqual(stat.S_IMODE(path.stat().st_mode), 0o600)
        for secret in (SECRET, KEY, TOKEN):
            self.assertNotIn(secret, out + self.errors.decode())

    async def test_a80_twice_only_when_asked_and_a_running_server_takes_the_new_secrets(self):
        await self.serve()
        async with httpx2.AsyncClient(trust_env=False, headers={"authorization": f"Bearer {TOKEN}"}) as client:
            status, _ = await self.send(client, b"{}")
            self.assertEqual(status, 401)
            self.exchange.answers("/api/members/register", Reply(200, json.dumps(
                {"member_id": "mem_1", "member_secret": SECRET, "platform_key": KEY}).encode()))
            await self.owner("register")
            status, result = await self.tool(client, "contact_test", nonce="n", member_id="mem_1")
            self.assertEqual((status, result["isError"]), (200, False))
            await self.owner("register", status=1)
            await self.rotated(client)
        self.assertEqual(len(self.exchange.sent("/api/members/register")), 2)

    async def rotated(self, client):
        """Registered again under another key: the running server takes it, and the old one no longer counts."""
        self.exchange.answers("/api/members/register", Reply(200, json.dumps(
            {"member_id": "mem_1", "member_secret": SECRET, "platform_key": "another key"}).encode()))
        await self.owner("register", "--again")
        for key, expected in ((KEY, 401), ("another key", 200)):
            body = message("ping")
            status, _ = await self.send(client, body, signed_headers(body, int(time.time()), key=key))
            self.assertEqual(status, expected)

    async def test_a80_an_answer_without_secrets_stores_nothing(self):
        for reply in (Reply(500), Reply(200, b"[]"), Reply(200, b'{"member_id":"mem_1","member_secret":""}')):
            self.exchange.answers("/api/members/register", reply)
            await self.owner("register", status=1)
        self.assertFalse((self.folder / "member-state" / "secrets").exists())


class Export(MemberCase):

    async def test_a81_the_export_of_a_done_task_holds_our_side_alone_and_verifies(self):
        await self.take()
        await self.settle()
        await self.call("task_update", task_id="t1", status="accepted")
        await self.settle()
        transaction = self.member.store.item("trade", "seller:t1")["transaction_id"]
        self.member.workspace.close()
        file = self.folder / "bundle.json"
        state = str(self.folder / "member-state")
        self.assertEqual(run_command("export", transaction, "--state-dir", state, "-o", str(file))[0], 0)
        bundle = json.loads(file.read_text())
        kinds = [each["object_type"] for each in bundle["objects"]]
        self.assertEqual(set(kinds), {"offer", "policy_decision", "evidence"})
        self.assertEqual(kinds.count("offer"), 1)
        decided = {each["payload"]["decision"] for each in bundle["objects"] if "decision" in each["payload"]}
        self.assertEqual(decided, {"allow"})
        content = hashlib.sha256(self.exchange.sent("/deliver/t1")[0].json["content"].encode()).hexdigest()
        evidence = [each["payload"] for each in bundle["objects"] if each["object_type"] == "evidence"]
        self.assertIn(content, [each["artifact_hash"] for each in evidence
                                if each["evidence_type"] == "delivery_confirmation"])
        self.assertTrue(any(each["claim"].startswith("one_sided order") for each in evidence))
        status, out, err = run_command("verify", str(file), "--format", "json")
        self.assertEqual((status, err), (0, ""))
        self.assertEqual(json.loads(out)["results"]["failed"], 0)
        bundle["objects"][0]["payload"]["claim" if kinds[0] == "evidence" else "visibility"] = "altered"
        file.write_text(json.dumps(bundle))
        self.assertEqual(run_command("verify", str(file))[0], 1)

    async def test_a81_the_state_is_a_file_that_only_its_owner_reads(self):
        path = Path(self.folder / "member-state" / "a202.sqlite3")
        self.assertEqual(stat.S_IMODE(path.stat().st_mode), 0o600)
        with sqlite3.connect(path) as connection:
            self.assertEqual(connection.execute("PRAGMA integrity_check").fetchone(), ("ok",))


class Documentation(MemberCase):

    async def test_a79_the_readmes_configuration_is_right(self):
        readme = (Path(ROOT) / "README.md").read_text("utf-8")
        section = readme.split("## Work on the ManyLives exchange", 1)[1]
        file = self.folder / "readme.toml"
        file.write_text(section.split("```toml\n", 1)[1].split("```", 1)[0])
        status, out, err = run_command("member", "check", "--config", str(file))
        self.assertEqual((status, err), (0, ""))
        self.assertIn("summarize_text: from 6.00 USD", out)
