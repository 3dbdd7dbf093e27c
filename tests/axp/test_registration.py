"""Requirements A78, A80: registering loses no secret and tells none, and a sandbox job is told without any."""

import asyncio
import io
import json
import os
import stat
from contextlib import redirect_stderr, redirect_stdout
from unittest import mock

from a202_mcp.axp import registration, secret
from a202_mcp.axp.commands import run
from tests.axp.exchange import Reply
from tests.axp.support import KEY, SECRET, TOKEN, MemberCase

REGISTER = "/api/members/register"
NEW = {"AXP_TEST_KEY": "an old key", "AXP_TEST_SECRET": "an old secret"}


def told(**changes):
    """The exchange's answer to a registration."""
    return Reply(201, json.dumps(
        {"member": {"id": "mem_1"}, "member_secret": SECRET, "platform_key": KEY, **changes}).encode())


class CommandCase(MemberCase):
    """Commands run in a thread of this process: `self.status`, `self.out`, `self.err`."""

    secrets = ""

    def write_configuration(self, **options):
        super().write_configuration(secrets=self.secrets, **options)

    def start(self):
        """The commands have the state."""

    def close(self):
        """The same."""

    async def command(self, *arguments):
        with redirect_stdout(io.StringIO()) as out, redirect_stderr(io.StringIO()) as err:
            self.status = await asyncio.to_thread(run, [*arguments, "--config", str(self.config)])
        self.out, self.err = out.getvalue(), err.getvalue()
        for value in (KEY, SECRET, TOKEN):
            self.assertNotIn(value, self.out + self.err)

    @property
    def stored(self):
        folder = self.folder / "member-state" / secret.FOLDER
        return {path.name: path.read_text() for path in folder.iterdir()} if folder.exists() else {}


class Registering(CommandCase):

    async def test_a80_what_the_answer_lacks_or_garbles_is_not_stored_in_part(self):
        for changes, named in (
                ({"member_secret": None}, "member_secret"), ({"platform_key": "\ud800"}, "platform_key"),
                ({"platform_key": 7, "member_secret": ""}, "member_secret, platform_key"),
                ({"member_secret": "two\nlines"}, "member_secret"), ({"platform_key": "x" * 4097}, "platform_key"),
                ({"member": {"id": "mem 1"}}, "member_id"), ({"member": {"id": "\ud800"}}, "member_id"),
                ({"member": {"id": "x" * 201}}, "member_id"), ({"member": None}, "member_id")):
            with self.subTest(changes=changes):
                self.exchange.answers(REGISTER, told(**changes))
                await self.command("register")
                self.assertEqual((self.status, self.out, self.stored), (1, "", {}))
                self.assertEqual(
                    self.err, f"the exchange's answer holds no usable {named}; nothing was stored\n")

    async def test_a80_where_the_secrets_cannot_be_stored_the_exchange_is_not_asked(self):
        place = self.folder / "member-state" / secret.FOLDER
        await self.command("init")
        for blocked, reason in ((place, "File exists"), (place / "platform_key", "Is a directory")):
            blocked.touch() if blocked == place else blocked.mkdir(parents=True)
            await self.command("register")
            self.assertEqual((self.status, self.exchange.requests), (1, []))
            self.assertRegex(self.err, rf"\A\w+ could not be stored in secrets/\w+: {reason}\n\Z")
            blocked.unlink() if blocked == place else blocked.rmdir()
        self.assertEqual(self.stored, {})

    async def test_a80_a_disk_that_fills_up_meanwhile_leaves_what_was_there(self):
        await self.command("init")
        self.exchange.answers(REGISTER, told())
        await self.command("register")
        before = self.stored
        self.exchange.answers(REGISTER, told(member_secret="another"))
        full, real = OSError(28, "No space left on device"), registration.write_over

        def fills(files):
            with mock.patch.object(os, "fsync", side_effect=[None, full]):
                real(files)

        with mock.patch.object(registration, "write_over", fills):
            await self.command("register", "--again")
        self.assertEqual((self.status, self.stored), (1, before))
        self.assertIn("nothing could be stored: No space left on device", self.err)

    async def test_a80_another_id_in_the_file_is_told(self):
        self.exchange.answers(REGISTER, told(member={"id": "mem_new"}))
        await self.command("register")
        self.assertEqual((self.status, self.stored["member_id"]), (0, "mem_new"))
        self.assertEqual(self.err, "member.member_id is mem_1, and the exchange gave us mem_new: change it, or take "
                                   "it out\n")
        self.exchange.answers(REGISTER, told())
        await self.command("register", "--again")
        self.assertEqual((self.status, self.err), (0, ""))


class NamedFiles(CommandCase):
    secrets = 'platform_key = "file:held/key"\nmember_secret = "file:held/deep/secret"'

    async def test_a80_the_secrets_go_into_the_files_that_are_named(self):
        self.exchange.answers(REGISTER, told())
        await self.command("register")
        self.assertEqual((self.status, self.err, self.stored), (0, "", {"member_id": "mem_1"}))
        for name, value in (("held/key", KEY), ("held/deep/secret", SECRET)):
            path = self.folder / name
            self.assertEqual((path.read_text(), stat.S_IMODE(path.stat().st_mode)), (value, 0o600))
        await self.command("check")
        self.assertEqual(self.status, 0)
        self.assertIn("secrets.platform_key: set\nsecrets.member_secret: set\n", self.out)


class NamedVariables(CommandCase):
    secrets = 'platform_key = "env:AXP_TEST_KEY"\nmember_secret = "env:AXP_TEST_SECRET"'

    async def test_a80_a_variable_that_wins_over_what_was_stored_is_told(self):
        self.exchange.answers(REGISTER, told())
        with mock.patch.dict(os.environ, NEW):
            await self.command("register", "--again")
        self.assertEqual((self.status, self.stored["platform_key"]), (0, KEY))
        for line, name in zip(self.err.splitlines(), ("member_secret", "platform_key"), strict=True):
            self.assertIn(f"secrets.{name} names the environment variable", line)


class Token(CommandCase):
    secrets = 'auth_token = "env:AXP_TEST_NO_TOKEN"'

    async def test_a80_a_token_that_is_named_and_missing_is_a_mistake_before_anything_is_sent(self):
        await self.command("register")
        self.assertEqual((self.status, self.exchange.requests), (2, []))
        self.assertIn("secrets.auth_token: the environment variable AXP_TEST_NO_TOKEN is missing", self.err)
        await self.command("init")
        self.assertEqual(self.status, 0)


class Sandbox(CommandCase):
    secrets = 'platform_key = "env:AXP_TEST_KEY"\nmember_secret = "env:AXP_TEST_SECRET"'

    async def test_a78_a_sandbox_job_is_told_without_any_secret_in_it(self):
        job = {"id": "sb/1", "member_secret": SECRET, "steps": [{"name": "quote", "ok": True, "ms": 12.5},
                                                                {"name": f"Bearer {SECRET}", "apiKey": "unseen"}],
               KEY: f"\x1b[31m{KEY}\u202e"}
        self.exchange.answers("/api/members/me/sandbox", Reply(201, json.dumps(
            {"job": job, "member_secret": SECRET}).encode()))
        self.exchange.answers("/api/members/me/sandbox/sb%2F1", Reply(200, json.dumps(job).encode()))
        await self.command("sandbox", "summarize_text")
        self.assertEqual(self.status, 0)
        self.assertEqual(self.exchange.sent("/api/members/me/sandbox")[0].json, {
            "as": "seller", "task_type": "summarize_text"})
        self.assertEqual(self.out.splitlines(), [
            "sandbox: status 201", "id: sb/1", "member_secret: (secret)", "steps[0].name: quote", "steps[0].ok: True",
            "steps[0].ms: 12.5", "steps[1].name: Bearer (secret)", "steps[1].apiKey: (secret)",
            "(secret): \\x1b[31m(secret)\\u202e"])

    async def test_a78_a_skill_that_is_not_in_the_file_is_named_beside_those_that_are_before_anything_is_sent(self):
        for skill, shown in (("summarise_text", "summarise_text"), ("Summarize_Text", "Summarize_Text"),
                             ("a\x1b[31m", "a\\x1b[31m")):
            with self.subTest(skill=skill):
                await self.command("sandbox", skill)
                self.assertEqual((self.status, self.out, self.exchange.requests), (2, "", []))
                self.assertEqual(self.err, f"no skill {shown} is in the file; there are: summarize_text, many_params\n")

    async def test_a78_a_buyer_asks_for_what_it_does_not_sell(self):
        self.roles = ("buyer",)
        self.write_configuration()
        self.exchange.answers("/api/members/me/sandbox", Reply(200))
        await self.command("sandbox", "translate_text")
        self.assertEqual([each.json for each in self.exchange.sent("/api/members/me/sandbox")], [
            {"as": "buyer", "task_type": "translate_text"}])

    async def test_a78_an_error_that_repeats_our_secret_is_its_status_alone(self):
        path = "/api/members/me/sandbox"
        for first, second, shown, status in (
                (Reply(500, SECRET.encode()), Reply(), "sandbox: status 500\n", 1),
                (Reply(None), Reply(), "sandbox: RemoteProtocolError\n", 1),
                (Reply(200, SECRET.encode()), Reply(), "sandbox: status 200\n", 0),
                (Reply(200, b'{"id":"1"}'), Reply(404, SECRET.encode()), "sandbox: status 200\nstatus 404\n", 0),
                (Reply(200, b'{"id":"1"}'), Reply(200, SECRET.encode()), "sandbox: status 200\n", 0),
                (Reply(200, b'{"id":"1"}'), Reply(200, b"[" * 90 + b"]" * 90), "sandbox: status 200\n", 0)):
            self.exchange.answers(path, first)
            self.exchange.answers(f"{path}/1", second)
            await self.command("sandbox", "summarize_text")
            self.assertEqual((self.out, self.status), (shown, status))

    async def test_a78_a_failed_registration_and_its_checks_are_told_by_their_status_alone(self):
        self.exchange.answers(REGISTER, Reply(403, f"{SECRET} {KEY}".encode()))
        await self.command("register", "--again")
        self.assertEqual((self.err, self.status), ("the exchange did not register us: status 403\n", 1))


class Files(MemberCase):

    def test_a80_exactly_one_line_break_is_dropped(self):
        file = self.folder / "secret"
        for written, read in ((b"s", "s"), (b"s\n", "s"), (b"s\r\n", "s"), (b"s\r", "s"), (b"s\n\n", "s\n"),
                              (b"s\r\r", "s\r"), (b"s\n\r", "s\n"), (b"s\r\n\r\n", "s\r\n"), (b" s \n", " s "),
                              (b"\n", ""), (b"\xff", None)):
            with self.subTest(written=written):
                file.write_bytes(written)
                self.assertEqual(secret.read_file(file), read)
