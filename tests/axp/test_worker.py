"""Requirements A44, A53, A54, A56, A77, A84: one run of the owner's program, and what it may leave behind."""

import asyncio
import fcntl
import json
import os
import signal
import stat
import time
import unittest
from pathlib import Path
from typing import ClassVar

from a202_mcp.axp import run_folder
from a202_mcp.axp.links import is_nothing_but_links
from tests.axp.process import ProcessCase
from tests.axp.support import DEADLINE, MemberCase, quote_arguments

URL = "/deliver/t1"
HTTPS = "https:" + "//"
LINKS = (
    f"{HTTPS}works.example/r", f"\ufeff{HTTPS}works.example/r", f"\u200b{HTTPS}works.example/r\u2060",
    f"{HTTPS}works.example/1 {HTTPS}works.example/2", f"{HTTPS}works.example/1\n{HTTPS}works.example/2\n",
    f'"{HTTPS}works.example/r"', f"'{HTTPS}works.example/r'", f"\u201c{HTTPS}works.example/r\u201d",
    f"({HTTPS}works.example/r)", f"<{HTTPS}works.example/r>", f"[{HTTPS}works.example/r]", f"`{HTTPS}works.example/r`",
    f"**{HTTPS}works.example/r**", f"[the result]({HTTPS}works.example/r)", f"![chart]({HTTPS}works.example/r.png)",
    f"![]({HTTPS}works.example/r.png)", f'[r]({HTTPS}works.example/r "title")',
    f'<a href="{HTTPS}works.example/r">the whole result</a>', f"<A HREF={HTTPS}works.example/r>r</A>",
    f'<img src="{HTTPS}works.example/r.png" alt="chart"/>', f"<p>{HTTPS}works.example/r</p>",
    f"- {HTTPS}works.example/1\n- {HTTPS}works.example/2", f"1. {HTTPS}works.example/1\n2) {HTTPS}works.example/2",
    "works.example/r", "files.works.example:8443/r?x=1", "works.example/", "//works.example/r", "www.works.example",
    "https:/works.example", "https:works.example", "HTTPS:" + "//WORKS.EXAMPLE", "ftp:" + "//works.example/r",
    "magnet:?xt=urn", "mailto:ops@works.example", f"\uff48\uff54\uff54\uff50\uff53:{HTTPS[6:]}works.example/r")
TEXTS = (
    f"See {HTTPS}works.example/r", f"{HTTPS}works.example/r is where it was found", "readme.md", "3.14", "12.5/20",
    "and/or", "a/b", "e.g.", "works.example", "[x] done", "1. one\n2. two", "-", "10:30", "C: drive", "<b>bold</b>",
    '{"answer": 1}', "\u6f22\u5b57")


class Links(unittest.TestCase):

    def test_a53_nothing_but_links_however_they_are_dressed(self):
        for text in LINKS:
            with self.subTest(text=text):
                self.assertTrue(is_nothing_but_links(text))
                self.assertTrue(is_nothing_but_links(f"  {text}\r\n"))

    def test_a53_a_text_is_a_text_also_with_a_link_in_it(self):
        for text in TEXTS:
            with self.subTest(text=text):
                self.assertFalse(is_nothing_but_links(text))

    def test_a53_no_text_takes_long_to_judge(self):
        for piece in ("[", "[](", "![](", "<a ", "<a href=x>", "<", "a.", "-", "<a href", f"{HTTPS}a ", "\u200b", "a"):
            with self.subTest(piece=piece):
                before = time.process_time()
                is_nothing_but_links((piece * 262_144)[:262_144])
                self.assertLess(time.process_time() - before, 2)


class WorkerCase(MemberCase):

    async def taken(self, body, task_id="t1", **more):
        """Have one task done by a program of these lines."""
        self.work_done(body)
        self.assertEqual(await self.take(task_id, **more), {"accepted": True})
        await self.settle()

    @property
    def delivered(self):
        return [each.json["content"] for each in self.exchange.sent(URL)]

    def left(self):
        """The folders of runs that are still there."""
        place = self.folder / "member-state" / run_folder.PLACE
        return list(place.iterdir()) if place.exists() else []

    def assert_ended(self, held):
        """Whoever held the lock on this file holds it no more."""
        with Path(held).open("a") as free:
            fcntl.flock(free, fcntl.LOCK_EX | fcntl.LOCK_NB)


def child(held, session="False"):
    """Lines that start another program, which holds our pipes and a lock for ten minutes."""
    lines = (f"import fcntl, time; held = open({str(held)!r}, 'w'); fcntl.flock(held, fcntl.LOCK_EX); "
             "held.write('x'); held.flush(); time.sleep(600)")
    return (f"import os, subprocess, time\nsubprocess.Popen([sys.executable, '-c', {lines!r}], "
            f"start_new_session={session})\nwhile not os.path.getsize({str(held)!r}): time.sleep(0.01)\n")


class Runs(WorkerCase):

    async def test_a54_a_run_is_over_when_its_program_ends_whoever_holds_its_pipes(self):
        held = self.folder / "held"
        held.touch()
        before = time.monotonic()
        await self.taken(child(held) + "print('the result')")
        self.assertEqual(self.delivered, ["the result\n"])
        self.assertLess(time.monotonic() - before, DEADLINE)
        self.assert_ended(held)

    async def test_a54_a_child_that_left_the_group_does_not_hold_up_the_result(self):
        held = self.folder / "held"
        held.touch()
        note = self.folder / "pid"
        lines = child(held, session="True").replace("subprocess.Popen", "started = subprocess.Popen")
        await self.taken(f"{lines}open({str(note)!r}, 'w').write(str(started.pid))\nprint('the result')")
        self.addCleanup(os.kill, int(note.read_text()), signal.SIGKILL)
        self.assertEqual(self.delivered, ["the result\n"])

    async def test_a44_all_that_was_written_before_the_end_counts(self):
        await self.taken("sys.stdout.write('x' * 262_144)")
        self.assertEqual([len(content) for content in self.delivered], [262_144])

    async def test_a53_a_link_is_not_delivered(self):
        await self.taken(f"print('\\ufeff({HTTPS}works.example/r)')")
        self.assertEqual(self.delivered, [])
        self.assertEqual([item.detail for item in self.inbox("work")], ["the result is nothing but a link"])

    async def test_a54_the_end_of_what_it_wrote_to_stderr_is_kept_privately(self):
        await self.taken("sys.stderr.write('a' * 9000 + 'b' * 4090 + '\\u00e9nd!!')\nsys.exit(3)")
        kept = self.member.store.item("work_errors", "t1")["stderr"]
        self.assertEqual((len(kept.encode()), kept[-6:]), (4096, "b\u00e9nd!!"))
        self.assertEqual(self.inbox("work")[0].detail, "the worker ended with status 3")

    async def test_a54_a_run_has_a_folder_of_its_own_that_is_gone_afterwards_however_deep(self):
        note = self.folder / "cwd"
        await self.taken(
            f"open({str(note)!r}, 'w').write(os.getcwd())\nassert os.listdir() == []\n"
            "for _ in range(3000):\n    os.mkdir('d' * 20)\n    os.chdir('d' * 20)\nopen('file', 'w').close()\n"
            "os.chmod('.', 0)\nprint('the result')")
        folder = Path(note.read_text())
        self.assertTrue(folder.is_relative_to(self.folder / "member-state"))
        self.assertEqual((self.delivered, self.left()), (["the result\n"], []))

    async def test_a54_what_cannot_be_removed_does_not_lose_the_result(self):
        await self.taken("os.symlink('/', 'root')\nos.mkfifo('pipe')\nprint('the result')")
        self.assertEqual((self.delivered, self.left()), (["the result\n"], []))
        self.assertTrue(Path("/").exists())


class Leftovers(WorkerCase):

    def test_a77_a_folder_that_nobody_holds_is_only_removed(self):
        state = self.folder / "member-state"
        left = run_folder.RunFolder(state)
        left.belongs_to(os.getpgid(0))  # not ended: the lock is free
        os.close(left.descriptor)
        (state / run_folder.PLACE / "stray").touch()
        run_folder.end_leftovers(state)
        self.assertEqual([each.name for each in self.left()], ["stray"])

    def test_a77_where_there_was_no_run_there_is_nothing_to_end(self):
        run_folder.end_leftovers(self.folder / "nothing")


class Killed(ProcessCase):
    options: ClassVar = {"worker_more": ", attempts = 2"}

    async def test_a77_a_run_without_its_server_is_ended_before_it_is_made_again(self):
        held = self.folder / "held"
        self.work_done(
            f"import fcntl, time\nheld = open({str(held)!r}, 'a')\n"
            "try:\n    fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)\n"
            "except OSError:\n    sys.exit('side by side')\n"
            f"if len(open({str(self.folder / 'runs')!r}).readlines()) < 2: time.sleep(600)\nprint('second')")
        await self.serve()
        _, quoted = await self.post_tool("quote", **quote_arguments())
        await self.post_tool("do_task", **self.task_arguments("t1", quoted))
        await self.until(lambda: self.runs and held.exists())
        self.server.kill()
        await self.server.wait()
        await self.serve()
        await self.until(lambda: self.exchange.sent(URL))
        self.assertEqual([each.json["content"] for each in self.exchange.sent(URL)], ["second\n"])
        self.assertEqual(len(self.runs), 2)
        place = self.folder / "member-state" / run_folder.PLACE
        await self.until(lambda: not list(place.iterdir()))
        self.assertEqual(stat.S_IMODE(place.parent.stat().st_mode), 0o700)

    async def post_tool(self, name, **arguments):
        status, answer = await self.post(json.dumps({
            "jsonrpc": "2.0", "id": 1, "method": "tools/call",
            "params": {"name": name, "arguments": arguments}}).encode())
        return status, answer["result"]["structuredContent"]


class Checks(WorkerCase):

    async def test_a84_numbers_that_are_none_in_checks_cannot_be_met(self):
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
            "name": "quote", "arguments": quote_arguments(acceptance_checks={"max_bytes": "@"})}})
        for written in ("1234567890123456", "1e16", "NaN", "-Infinity", "0", "0.5", "-1"):
            with self.subTest(written=written):
                _, answer = await self.post(body.replace('"@"', written).encode())
                self.assertEqual(answer["result"]["structuredContent"]["reason_code"], "cannot_do")
        quoted = await self.quote()
        arguments = self.task_arguments("t1", quoted)
        call = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
            "name": "do_task", "arguments": {**arguments, "acceptance_checks": {"other": ["@"]}}}})
        _, answer = await self.post(call.replace('"@"', "1" * 16).encode())
        self.assertEqual(answer["result"]["structuredContent"], {"accepted": False})

    async def test_a55_accepted_within_a_second_whatever_the_work_takes(self):
        quoted = await self.quote()
        self.work_done("import time\ntime.sleep(600)")
        before = time.monotonic()
        self.assertEqual(await self.call("do_task", **self.task_arguments("t1", quoted)), {"accepted": True})
        self.assertLess(time.monotonic() - before, 1)
        self.work.look()
        await asyncio.sleep(0)
        before = time.monotonic()
        await self.quote(task_id="t2")
        self.assertLess(time.monotonic() - before, 1)
        await self.work.stop()
