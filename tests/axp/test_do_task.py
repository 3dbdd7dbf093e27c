"""Requirements A44 to A57 and A83 to A86: taking a task, doing it, delivering it once."""

import asyncio
import fcntl
import json
import sys
from datetime import timedelta
from functools import partial
from typing import ClassVar

from a202_mcp.axp import owner
from a202_mcp.axp.mandate_commands import turn_switches
from a202_mcp.axp.mandates import turned
from a202_mcp.axp.view import Plan
from a202_mcp.axp.work import _begun
from a202_reference.registries import MandateStatus
from tests.axp.exchange import HTTP, Exchange, Reply
from tests.axp.support import KEY, SECRET, MemberCase, quote_arguments

URL = "/deliver/t1"


class Taken(MemberCase):

    async def test_a44_a_quoted_task_is_done_and_delivered_once(self):
        self.assertEqual(await self.take(), {"accepted": True})
        await self.settle()
        [sent] = self.exchange.sent()
        self.assertEqual((sent.path, sent.headers["authorization"]), (URL, f"Bearer {SECRET}"))
        self.assertEqual(
            sent.json, {"content": "Result for t1\n", "filename": "result.txt", "mime_type": "text/plain"})
        self.assertEqual(len(self.runs), 1)
        self.assertEqual(self.member.store.item("sold", "t1")["state"], "delivered")

    async def test_a45_a_test_runs_nothing(self):
        before = self.everything()
        arguments = self.task_arguments("t1", {"price_usd": 1, "eta_minutes": 1})
        self.assertEqual(await self.call("do_task", **arguments, test=True), {"accepted": True})
        arguments["task_type"] = "other"
        self.assertEqual(await self.call("do_task", **arguments, test=True), {"accepted": False})
        await self.settle()
        self.assertEqual((self.everything(), self.runs, self.exchange.requests), (before, [], []))

    async def test_a46_a_repeated_task_is_one_run(self):
        quoted = await self.quote()
        arguments = self.task_arguments("t1", quoted)
        for _ in range(3):
            self.assertEqual(await self.call("do_task", **arguments), {"accepted": True})
            await self.settle()
        for change in ({"price_usd": 8}, {"eta_minutes": 99}, {"params": {}}, {"acceptance_checks": {"json": True}},
                       {"deliver_url": f"{self.exchange.base}/else"}):
            self.assertEqual(await self.call("do_task", **{**arguments, **change}), {"accepted": False})
        await self.settle()
        self.assertEqual((len(self.runs), len(self.exchange.requests)), (1, 1))

    async def test_a47_another_price_type_time_or_params_is_not_accepted(self):
        quoted = await self.quote()
        right = self.task_arguments("t1", quoted)
        for change in ({"price_usd": 7.01}, {"price_usd": 6.99}, {"task_type": "many_params"}, {"eta_minutes": 33},
                       {"params": {"text": "hello", "pages": 5}}, {"params": {}},
                       {"acceptance_checks": {"max_bytes": 0}}):
            with self.subTest(change=change):
                self.assertEqual(await self.call("do_task", **{**right, **change}), {"accepted": False})
        await self.settle()
        self.assertEqual(self.runs, [])
        right.update(price_usd=7.0, eta_minutes=40)
        self.assertEqual(await self.call("do_task", **right), {"accepted": True})

    async def test_a48_what_was_not_quoted_or_is_no_longer_is_not_accepted(self):
        arguments = self.task_arguments("t1", {"price_usd": 7, "eta_minutes": 34})
        self.assertEqual(await self.call("do_task", **arguments), {"accepted": False})
        await self.quote()
        self.clock.forward(minutes=60)
        self.assertEqual(await self.call("do_task", **arguments), {"accepted": False})
        await self.settle()
        self.assertEqual((self.runs, self.exchange.requests), ([], []))

    async def test_a48_what_the_mandate_no_longer_allows_is_not_accepted(self):
        quoted = await self.quote()
        use = self.member.view.identity.mandates["seller"]
        self.member.carry_out(lambda _: Plan(writes=(turned(use, MandateStatus.SUSPENDED),)))
        arguments = self.task_arguments("t1", quoted)
        self.assertEqual(await self.call("do_task", **arguments), {"accepted": False})
        self.member.carry_out(lambda _: Plan(writes=(turned(use, MandateStatus.ACTIVE),)))
        self.assertEqual(await self.call("do_task", **arguments), {"accepted": True})

    async def test_a54_a_run_that_was_cut_off_is_not_made_again_without_runs_left(self):
        await self.take()
        self.member.carry_out(partial(_begun, task_id="t1"))
        self.restart()
        await self.settle()
        self.assertEqual((self.runs, self.exchange.requests), ([], []))
        self.assertIn("cut off", self.inbox("work")[0].detail)

    async def done_while_suspended(self):
        """A task whose work ends while the mandate is suspended; the owner's item about it."""
        await self.take()
        self.assertIsNone(turn_switches(self.member.store, "suspend"))
        await self.settle()
        self.assertEqual((len(self.runs), self.exchange.requests), (1, []))
        waiting = self.inbox("work")
        self.assertEqual([item.status for item in waiting], ["open"])
        return waiting[0]

    async def test_a54_work_that_ends_while_the_mandate_is_suspended_is_kept_and_delivered_once(self):
        item = await self.done_while_suspended()
        self.clock.now += timedelta(seconds=61)
        self.restart()
        await self.settle()
        self.assertEqual((self.exchange.requests, len(self.inbox("work"))), ([], 1))
        self.assertIsNone(turn_switches(self.member.store, "resume"))
        await self.settle()
        self.assertEqual(self.exchange.requests, [])
        self.clock.now += timedelta(seconds=61)
        await self.settle()
        self.assertEqual((len(self.runs), len(self.exchange.sent(URL))), (1, 1))
        self.assertEqual(self.member.store.inbox_item(item.id).status, "done")
        self.assert_verifies("seller", "t1")

    async def test_a54_kept_work_is_delivered_at_once_where_the_owner_says_so(self):
        item = await self.done_while_suspended()
        owner.approve(self.member, item)
        await self.settle()
        self.assertEqual((self.exchange.requests, self.inbox("work")), ([], [item]))
        self.assertIsNone(turn_switches(self.member.store, "resume"))
        owner.approve(self.member, item)
        await self.settle()
        self.assertEqual(len(self.exchange.sent(URL)), 1)

    async def test_a54_kept_work_that_the_owner_rejects_is_over(self):
        item = await self.done_while_suspended()
        self.assertEqual(owner.reject(self.member, item), "rejected")
        self.assertIsNone(turn_switches(self.member.store, "resume"))
        self.clock.now += timedelta(seconds=61)
        await self.settle()
        self.assertEqual((self.exchange.requests, self.member.store.item("sold", "t1")["state"]), ([], "failed"))

    async def test_a49_a_foreign_deliver_url_gets_nothing(self):
        foreign = Exchange()
        await foreign.start()
        self.addAsyncCleanup(foreign.stop)
        quoted = await self.quote()
        base, port = self.exchange.base, self.exchange.port
        for url in (f"{foreign.base}/x", f"https:{base[5:]}/x", f"{HTTP}localhost:{port}/x",
                    f"{base}@{foreign.base[7:]}/x", f"{HTTP}u@127.0.0.1:{port}/x", f"{base}/a/../x",
                    f"{base}/a/%2e%2e/x", f"{base}/a/..%2fx", f"{base}/x#y", f"{base}/a b", f"{base}\\@x/",
                    f"{base}/\u00e9", f"{HTTP}127.0.0.1:99999/x", base[5:], "x", "", f"{HTTP}[127.0.0.1:{port}/x"):
            with self.subTest(url=url):
                arguments = {**self.task_arguments("t1", quoted), "deliver_url": url}
                self.assertEqual(await self.call("do_task", **arguments), {"accepted": False})
        await self.settle()
        self.assertEqual((foreign.requests, self.exchange.requests), ([], []))

    async def test_a50_429_and_500_are_tried_again(self):
        self.exchange.answers(URL, Reply(429, headers=(("retry-after", "7"),)), Reply(500), Reply(None), Reply(200))
        await self.take()
        await self.settle()
        waits = []
        for _ in range(3):
            waits.append(self.member.store.next_due() - self.clock().timestamp())
            self.clock.forward(seconds=waits[-1])
            await self.settle()
        self.assertEqual([round(wait, 3) for wait in waits], [7.0, 0.6, 1.2])
        sent = self.exchange.sent(URL)
        self.assertEqual(len({each.body for each in sent}), 1)
        self.assertEqual((len(sent), len(self.runs)), (4, 1))
        self.assertEqual(self.member.store.item("sold", "t1")["state"], "delivered")

    async def test_a50_after_the_last_attempt_the_owner_is_told_and_it_goes_on(self):
        self.exchange.answers(URL, Reply(503))
        await self.take()
        await self.settle()
        for _ in range(5):
            self.clock.forward(seconds=30)
            await self.settle()
        self.assertEqual(len(self.exchange.sent(URL)), 6)
        self.assertEqual([item.kind for item in self.inbox()], ["outbox"])
        self.clock.forward(seconds=299)
        await self.settle()
        self.assertEqual(len(self.exchange.sent(URL)), 6)
        self.exchange.answers(URL, Reply(200))
        self.clock.forward(seconds=1)
        await self.settle()
        self.assertEqual(self.member.store.item("sold", "t1")["state"], "delivered")

    async def test_a51_409_on_a_repeat_is_done(self):
        self.exchange.answers(URL, Reply(None), Reply(409))
        await self.take()
        await self.settle()
        self.clock.forward(seconds=1)
        await self.settle()
        self.assertEqual(self.member.store.item("sold", "t1")["state"], "delivered")
        self.assertEqual((len(self.exchange.sent(URL)), self.inbox()), (2, []))

    async def test_a51_409_on_the_first_try_is_a_failure(self):
        self.exchange.answers(URL, Reply(409))
        await self.take()
        await self.settle()
        self.clock.forward(seconds=1000)
        await self.settle()
        self.assertEqual((len(self.exchange.sent(URL)), [item.kind for item in self.inbox()]), (1, ["outbox"]))

    async def failed_work(self, body, reason, **task):
        self.work_done(body)
        self.assertEqual(await self.take(**task), {"accepted": True})
        await self.settle()
        self.assertEqual(self.exchange.requests, [])
        [item] = self.inbox("work")
        self.assertIn(reason, item.detail)
        self.assertEqual(self.member.store.item("sold", "t1")["state"], "failed")

    async def test_a52_more_than_the_limit_is_not_delivered(self):
        await self.failed_work("print('\u00e9' * 131_072)".encode("ascii", "backslashreplace").decode(), "262144 bytes")

    async def test_a52_exactly_the_limit_is_delivered(self):
        self.work_done("sys.stdout.write('x' * 262_144)")
        await self.take()
        await self.settle()
        self.assertEqual(len(self.exchange.sent(URL)[0].json["content"]), 262_144)

    async def test_a53_a_bare_link_is_not_delivered(self):
        await self.failed_work("print('https:' + '//files.invalid/result')", "link")

    async def test_a54_work_that_fails_is_not_delivered(self):
        await self.failed_work("sys.stderr.write('private detail'); sys.exit(3)", "status 3")
        self.assertEqual(self.member.store.item("work_errors", "t1")["stderr"], "private detail")
        self.assertNotIn("private", self.inbox()[0].detail)

    async def test_a54_no_utf8_and_nothing_are_not_delivered(self):
        await self.failed_work("sys.stdout.buffer.write(b'\\xff\\xfe')", "UTF-8")

    async def test_a54_nothing_is_not_delivered(self):
        await self.failed_work("print('  ')", "empty")

    async def test_a54_too_much_output_is_not_delivered(self):
        await self.failed_work("sys.stdout.write('x' * 5_000_000)", "too much")

    async def test_a55_accepted_before_the_work_ends(self):
        go = self.folder / "go"
        waiting = f"while not pathlib.Path({str(go)!r}).exists(): time.sleep(0.01)"
        self.work_done(f"import pathlib, time\n{waiting}\nprint('late')")
        self.assertEqual(await self.take(), {"accepted": True})
        self.work.look()
        self.assertEqual(await self.quote(task_id="t2"), await self.quote(task_id="t2"))
        self.assertEqual((len(self.work.busy), self.exchange.requests), (1, []))
        go.touch()
        await self.settle()
        self.assertEqual(self.exchange.sent(URL)[0].json["content"], "late\n")

    async def test_a56_the_workers_environment_holds_no_secret(self):
        await self.take()
        await self.settle()
        environment = json.loads(self.runs[0].split(" ", 1)[1])
        self.assertLessEqual(set(environment) - {"LC_CTYPE"}, {"PATH", "HOME", "LANG"})
        self.assertNotIn(SECRET, self.runs[0])
        self.assertNotIn(KEY, self.runs[0])

    async def test_a57_parallel_identical_tasks_are_one_run(self):
        arguments = self.task_arguments("t1", await self.quote())
        answers = await asyncio.gather(*(self.call("do_task", **arguments) for _ in range(16)))
        self.assertEqual(answers, [{"accepted": True}] * 16)
        await self.settle()
        self.assertEqual((len(self.runs), len(self.exchange.requests)), (1, 1))

    async def test_a84_a_result_that_fails_a_check_is_not_delivered(self):
        cases = ((1, {"must_contain": "absent"}), (2, {"must_contain": ["Result", "absent"]}), (3, {"max_bytes": 5}),
                 (4, {"json": True}))
        for at, checks in cases:
            quoted = await self.quote(task_id=f"t{at}")
            arguments = {**self.task_arguments(f"t{at}", quoted), "acceptance_checks": checks}
            self.assertEqual(await self.call("do_task", **arguments), {"accepted": True})
            await self.settle()
        self.assertEqual(self.exchange.requests, [])
        self.assertEqual(len(self.inbox("work")), 4)

    async def test_a84_a_result_that_passes_is_delivered(self):
        await self.take(acceptance_checks={"must_contain": ["Result", "t1"], "max_bytes": 14, "unknown": [1]})
        await self.settle()
        self.assertEqual(len(self.exchange.sent(URL)), 1)

    async def test_a85_one_redo_within_the_guarantee_and_not_two(self):
        await self.take()
        await self.settle()
        await self.call("task_update", task_id="t1", status="delivered", event="redo_requested", test=True)
        await self.settle()
        self.assertEqual(len(self.runs), 1)
        for told, note in enumerate(("again", "again", "once more")):
            await self.call("task_update", task_id="t1", status="redo_requested", data={"note": note}, told=told)
            await self.settle()
        self.assertEqual((len(self.runs), len(self.exchange.sent(URL))), (2, 2))
        self.assertEqual([item.detail[:22] for item in self.inbox("work")],
                         ["redo_requested again, ", "redo_requested beyond "])

    async def test_a86_a_redirect_is_not_followed(self):
        self.exchange.answers(URL, Reply(307, headers=(("location", "/elsewhere"),)))
        await self.take()
        await self.settle()
        self.assertEqual([each.path for each in self.exchange.requests], [URL])
        self.assertEqual([item.kind for item in self.inbox()], ["outbox"])


class Endless(MemberCase):
    options: ClassVar = {"worker": f'{{ command = [{json.dumps(sys.executable)}, "work.py"], timeout_seconds = 3 }}'}

    async def test_a54_endless_work_is_ended_with_its_children(self):
        held = self.folder / "held"
        child = (f"import fcntl, time; held = open({str(held)!r}, 'w'); fcntl.flock(held, fcntl.LOCK_EX); "
                 f"held.write('x'); held.flush(); time.sleep(600)")
        self.work_done(f"import subprocess\nsubprocess.run([sys.executable, '-c', {child!r}])")
        await self.take()
        await self.settle()
        self.assertEqual(held.read_text(), "x")
        with held.open("a") as free:
            fcntl.flock(free, fcntl.LOCK_EX | fcntl.LOCK_NB)
        self.assertEqual(self.exchange.requests, [])
        self.assertIn("longer than 3 seconds", self.inbox("work")[0].detail)


class SecondRun(MemberCase):
    options: ClassVar = {"worker_more": ", attempts = 2"}

    async def test_a54_a_failed_run_is_made_again_where_runs_remain(self):
        self.work_done(f"if len(open({str(self.folder / 'runs')!r}).readlines()) < 2: sys.exit(1)\nprint('second')")
        await self.take()
        await self.settle()
        self.assertEqual((len(self.runs), self.exchange.sent(URL)[0].json["content"]), (2, "second\n"))


class JsonOutput(MemberCase):
    options: ClassVar = {"worker_more": ', output = "json", filename = "a.txt"'}

    async def test_a44_a_worker_may_name_its_result(self):
        result = {"content": "c", "filename": "b.md", "mime_type": "text/markdown", "note": "n"}
        self.work_done(f"print(json.dumps({result}))")
        await self.take()
        await self.settle()
        self.assertEqual(self.exchange.sent(URL)[0].json, result)


class Callable(MemberCase):
    options: ClassVar = {"worker": '{ python = "jobs:summarise", mime_type = "text/markdown" }'}

    async def test_a83_a_python_callable_works_like_a_command(self):
        for task_id, body in (("t1", 'return "about " + job["params"]["text"]'),
                              ("t2", 'print("noise"); return {"content": "object", "note": "n"}')):
            (self.folder / "jobs.py").write_text(
                f"import os\ndef summarise(job):\n    assert 'AXP_TEST_SECRET' not in os.environ\n    {body}\n")
            await self.take(task_id)
            await self.settle()
        first, second = self.exchange.sent()
        self.assertEqual(first.json, {"content": "about hello", "filename": "result.txt", "mime_type": "text/markdown"})
        self.assertEqual((second.json["content"], second.json["note"]), ("object", "n"))

    async def test_a83_a_callable_that_fails_is_not_delivered(self):
        (self.folder / "jobs.py").write_text("def summarise(job):\n    raise ValueError\n")
        await self.take()
        await self.settle()
        self.assertEqual((self.exchange.requests, len(self.inbox("work"))), ([], 1))


class Mismatch(MemberCase):

    async def test_a47_quoted_params_are_kept(self):
        await self.quote()
        quoted = await self.quote(params={"text": "other", "pages": 4})
        arguments = self.task_arguments("t1", quoted)
        self.assertEqual(await self.call("do_task", **arguments), {"accepted": False})
        arguments["params"] = quote_arguments(params={"text": "other", "pages": 4})["params"]
        self.assertEqual(await self.call("do_task", **arguments), {"accepted": True})
