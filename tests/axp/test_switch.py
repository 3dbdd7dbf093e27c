"""Stopping a member, whatever its file says; first starts at once; programs that end with their server.

A40: what the mandate does not allow now is declined. A54, A56: the worker. A76: starts. A79: mistakes of the file.
"""

import asyncio
import json
import os
import signal
import socket
import time
from datetime import UTC, datetime
from typing import ClassVar

import httpx2

from a202_mcp.axp import configuration, enrolment
from a202_mcp.axp.member import open_member
from a202_mcp.one_owner.issuing import NotReadyError
from tests.axp.process import ProcessCase, run_command
from tests.axp.support import MANDATE, MemberCase, message, quote_arguments
from tests.shell.test_command_line import run
from tests.treatyway.processes import is_running

CHANGED = MANDATE.replace('ask_above = "50.00"', 'ask_above = "40.00"')
SECTIONS = {
    "another limit": CHANGED, "no section": "", "an unknown key": MANDATE + 'maximum = "1"\n',
    "a number": MANDATE.replace('"100.00"', "100"), "a document beside it": MANDATE + 'document = "absent.json"\n',
    "an address that is none": MANDATE + 'status_url = "https://[x"\n',
    "another organisation": MANDATE + 'organization_id = "org_other"\n'}
BROKEN = {"an unknown key": "[state]\nfolder = 1\n", "no TOML": "[oops\n", "nested without end": "x = " + "[" * 5000,
          "another kind": "[review]\nanswer = 7\n"}


class Switch(MemberCase):

    def owner(self, *arguments, status=0):
        """One of the owner's commands; what it printed."""
        found, out, said = run("member", *arguments, "--config", str(self.config))
        self.assertEqual(found, status, out + said)
        return out + said

    async def active(self):
        self.asked = getattr(self, "asked", 0) + 1
        self.clock.now = datetime.now(UTC)  # the commands have no clock of the test's
        return "price_usd" in await self.quote(task_id=f"t{self.asked}")

    def changed(self, **options):
        self.write_configuration(**options)
        return configuration.load(self.config)

    async def test_a40_the_owner_s_commands_work_whatever_the_mandate_section_says(self):
        before = self.member.view.identity.mandates
        os.environ.pop("AXP_TEST_KEY")
        for what, section in SECTIONS.items():
            with self.subTest(what):
                self.write_configuration(mandate=section)
                self.assertEqual(self.owner("mandate", "suspend"), "suspended\n")
                self.assertFalse(await self.active())
                self.assertIn("suspended", self.owner("mandate", "show"))
                self.owner("mandate", "resume")
                self.assertTrue(await self.active())
                self.assertIn("nothing waits", self.owner("inbox"))
                self.owner("task", "add", "t1")
                self.assertIn("quoted", self.owner("status", f"t{self.asked}"))
                self.assertIn("agent_key", self.owner("key"))
                self.owner("approve", "nothing", status=2)
        self.assertEqual(self.member.view.identity.mandates, before)

    async def test_a40_the_switch_works_beside_a_broken_file_and_without_one(self):
        for what, more in BROKEN.items():
            with self.subTest(what):
                self.write_configuration(more=more)
                self.assertIn("member.toml: ", self.owner("mandate", "suspend"))
                self.assertFalse(await self.active())
                self.owner("mandate", "resume")
                self.assertTrue(await self.active())
                self.owner("inbox", status=2)
        self.config.unlink()
        for path in (self.folder / "member-state" / "keys").iterdir():
            path.unlink()
        self.owner("mandate", "suspend", status=2)
        self.owner("mandate", "suspend", "--state-dir", str(self.folder / "member-state"))
        self.assertFalse(await self.active())
        self.owner("mandate", "suspend", "--state-dir", str(self.folder / "absent"), status=2)
        self.assertFalse((self.folder / "absent").exists())

    async def test_a40_superseding_mandates_keep_the_suspension_and_count_at_once(self):
        before = self.member.view.identity.mandates
        self.owner("mandate", "suspend")
        self.write_configuration(mandate=CHANGED)
        with self.assertRaises(NotReadyError):
            open_member(configuration.load(self.config))
        self.owner("init")
        after = self.member.view.identity.mandates
        self.assertEqual(set(before.values()) & set(after.values()), set())
        self.assertFalse(await self.active())
        self.owner("mandate", "resume")
        self.assertTrue(await self.active())
        self.write_configuration()
        self.owner("init")
        self.assertTrue(await self.active())
        self.owner("mandate", "revoke")
        self.owner("mandate", "resume", status=1)
        self.owner("init")
        self.assertTrue(await self.active())

    async def test_a40_an_init_that_a_suspension_overtakes_keeps_it(self):
        made, turns = enrolment.made, [lambda: self.owner("mandate", "suspend")]

        def overtaken(*given):
            found = made(*given)
            while turns:
                turns.pop()()
            return found

        enrolment.made = overtaken
        self.addCleanup(setattr, enrolment, "made", made)
        self.write_configuration(mandate=CHANGED)
        self.owner("init")
        self.assertFalse(await self.active())
        self.owner("mandate", "resume")
        self.assertTrue(await self.active())

    async def test_a76_a_folder_from_before_learns_who_answers_the_status(self):
        settings = self.changed(mandate=MANDATE + 'status_url = "https' + '://status.invalid/m"\n')
        self.owner("init")
        store = self.member.store
        kept = store.item("identity", "self")
        self.assertEqual(kept.pop("status_url"), settings.limits.status_url)
        store.remember([enrolment.replace("identity", "self", store.item("identity", "self"), kept)])
        member = open_member(settings)
        self.addCleanup(member.workspace.close)
        self.assertEqual(member.view.identity.status_url, settings.limits.status_url)
        self.assertFalse(await self.active())
        self.assertIn("status_url", self.owner("mandate", "suspend", status=1))


class Ends(ProcessCase):
    options: ClassVar = {"attempts": 1}

    async def begun(self, task_id):
        """A server whose worker runs, and started a program of its own; the numbers of both."""
        self.work_done("import subprocess, time\nchild = subprocess.Popen(['sleep', '300'])\n"
                       "open(marks.name + '.pids', 'w').write(f'{os.getpid()} {child.pid}')\ntime.sleep(300)")
        await self.serve()
        async with httpx2.AsyncClient(trust_env=False) as client:
            _, quoted = await self.tool(client, "quote", **quote_arguments(task_id=task_id))
            await self.tool(client, "do_task", **self.task_arguments(task_id, quoted["structuredContent"]))
        path = self.folder / "runs.pids"
        await self.until(lambda: path.exists() and len(path.read_text().split()) == 2)
        return path.read_text().split()

    async def test_a54_a_signal_ends_the_worker_and_what_it_started(self):
        for number in (signal.SIGTERM, signal.SIGINT):
            with self.subTest(number):
                children = await self.begun(number.name)
                begins = time.monotonic()
                self.assertEqual(await self.end(number), 0)
                self.assertLess(time.monotonic() - begins, 4)
                await self.until(lambda children=children: not any(map(is_running, children)))
                (self.folder / "runs.pids").unlink()

    async def test_a79_a_port_that_is_taken_is_words_and_status_2(self):
        with socket.create_server(("127.0.0.1", 0)) as taken:
            port = str(taken.getsockname()[1])
            status, out, said = await asyncio.to_thread(
                run_command, "member", "--config", str(self.config), "--port", port)
        self.assertEqual((status, out), (2, ""))
        self.assertIn(f"127.0.0.1 port {port} cannot be listened on: ", said)
        self.assertNotIn("Traceback", said)

    async def test_a75_every_way_to_name_this_machine_is_served(self):
        await self.serve()
        async with httpx2.AsyncClient(trust_env=False) as client:
            for host in ("localhost", "127.0.0.1", "localhost.", "works.example"):
                with self.subTest(host):
                    headers = {"host": host, "origin": f"http://{host}"}
                    answer = await client.get(f"http://127.0.0.1:{self.port}/healthz", headers=headers)
                    self.assertEqual(answer.status_code, 200)
        self.assertEqual((await self.post(message("ping")))[0], 200)


class FirstStarts(ProcessCase):

    async def test_a76_first_commands_at_once_are_one_member(self):
        names = ("init", "key", "init", "inbox", "init")
        said = await asyncio.gather(*(self.owner(name) for name in names))
        printed = {line for name, out in zip(names, said, strict=True) if name == "init" for line in out.splitlines()}
        shown = await self.owner("mandate", "show")
        self.assertEqual(len(printed), 2, said)
        for line in printed:
            self.assertIn(line.rpartition(" ")[2], shown)
        self.assertEqual(json.loads(said[1]), json.loads(await self.owner("key")))

    async def test_a76_a_first_start_beside_an_init_is_one_member(self):
        serving = asyncio.create_task(self.serve())
        await asyncio.gather(serving, self.owner("init"), self.owner("key"))
        async with httpx2.AsyncClient(trust_env=False) as client:
            _, quoted = await self.tool(client, "quote", **quote_arguments())
        self.assertIn("price_usd", quoted["structuredContent"])
        self.assertEqual(await self.end(signal.SIGTERM), 0)
