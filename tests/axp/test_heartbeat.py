"""Requirements A68, A78: the exchange hears that we are there and what we sell, however often something fails."""

import asyncio
import io
import sqlite3
from contextlib import redirect_stderr
from unittest import mock

from a202_mcp.axp.exchange import ExchangeClient
from a202_mcp.axp.heartbeat import Heartbeat
from a202_mcp.axp.serving import LOOK_EVERY, Engine
from tests.axp.exchange import Reply
from tests.axp.process import ProcessCase
from tests.axp.support import KEY, SECRET, MemberCase

SKILLS, BEAT = "/api/members/me/skills", "/api/members/me/heartbeat"


class BeatCase(MemberCase):

    def write_configuration(self, **options):
        super().write_configuration(**options)
        self.config.write_text(self.config.read_text().replace("heartbeat_hours = 0", "heartbeat_hours = 2"))

    async def waits(self, number):
        """The first waits between what is said, each over at once."""
        waited = []

        async def sleep(seconds):
            waited.append(seconds)
            if len(waited) == number:
                raise asyncio.CancelledError

        client = ExchangeClient(self.member.settings.exchange, self.member.credentials)
        with self.assertRaises(asyncio.CancelledError):
            await Heartbeat(self.member, client, sleep).run()
        return waited

    def beats(self):
        return [each.json for each in self.exchange.sent(BEAT)]

    def pushes(self):
        return self.exchange.sent(SKILLS, "PUT")


class Beats(BeatCase):

    async def test_a68_the_skills_at_the_start_then_a_beat_every_interval(self):
        self.assertEqual(await self.waits(3), [7200, 7200, 7200])
        self.assertEqual(self.beats(), [{}, {}])
        [pushed] = self.pushes()
        self.assertEqual(pushed.json, {"skills": (await self.call("get_skills", member_id="mem_1"))["skills"]})
        self.assertEqual(pushed.headers["authorization"], f"Bearer {SECRET}")

    async def test_a68_the_skills_are_pushed_again_only_when_they_changed(self):
        await self.waits(1)
        self.restart()
        await self.waits(1)
        self.assertEqual(len(self.pushes()), 1)
        self.config.write_text(self.config.read_text().replace('"Summaries of plain text"', '"Summaries"'))
        self.restart()
        await self.waits(1)
        self.assertEqual([each.json["skills"][0]["description"] for each in self.pushes()],
                         ["Summaries of plain text", "Summaries"])

    async def test_a68_a_push_that_did_not_arrive_is_tried_again_between_the_beats(self):
        for failing in (Reply(503), Reply(None), Reply(400)):
            self.exchange.answers(SKILLS, failing, failing, Reply(200))
            before = len(self.pushes()), len(self.beats())
            self.member.store.remember(())
            self.member.store._connection.execute("DELETE FROM axp_items WHERE kind = 'pushed'")
            self.assertEqual(await self.waits(3), [300, 300, 6600])
            self.assertEqual((len(self.pushes()) - before[0], len(self.beats()) - before[1]), (3, 0))

    async def test_a68_a_beat_that_did_not_arrive_is_tried_again(self):
        self.exchange.answers(BEAT, Reply(500), Reply(200))
        self.assertEqual(await self.waits(3), [7200, 300, 7200])

    async def test_a68_no_failure_of_ours_ends_it(self):
        broken = sqlite3.ProgrammingError("private detail")
        with mock.patch.object(self.member.store, "item", side_effect=broken), \
                redirect_stderr(io.StringIO()) as errors:
            self.assertEqual(await self.waits(26), [300] * 26)
        self.assertEqual(len(self.beats()), 1)
        lines = errors.getvalue().splitlines()
        self.assertEqual(len(lines), 26)
        for line in lines:
            self.assertRegex(line, r"\Aa202-mcp: defect in the heartbeat: ProgrammingError > ")
            self.assertNotIn("private detail", line)

    async def test_a78_an_answer_that_repeats_our_secret_leaves_no_trace_of_it(self):
        said = io.StringIO()
        echo = Reply(500, f"Bearer {SECRET} {KEY}".encode(), (("x-echo", SECRET),))
        for path in (SKILLS, BEAT, "/deliver/t1"):
            self.exchange.answers(path, echo)
        with redirect_stderr(said):
            await self.waits(25)
            await self.take()
            for _ in range(7):
                await self.settle()
                self.clock.forward(seconds=30)
        self.assertEqual([item.kind for item in self.inbox()], ["outbox"])
        for secret in (SECRET, KEY):
            self.assertNotIn(secret, self.everything() + said.getvalue())


class BuyerBeats(BeatCase):
    roles = ("buyer",)

    async def test_a68_who_sells_nothing_pushes_nothing(self):
        self.assertEqual((await self.waits(2), self.pushes()), ([7200, 7200], []))


class NoBeats(MemberCase):

    async def test_a68_without_beats_it_is_over_once_the_skills_are_known(self):
        client = ExchangeClient(self.member.settings.exchange, self.member.credentials)
        await Heartbeat(self.member, client).run()
        self.assertEqual((len(self.exchange.sent(SKILLS, "PUT")), self.exchange.sent(BEAT)), (1, []))


class Engines(MemberCase):

    async def test_a77_a_failing_look_does_not_end_the_engine(self):
        engine = Engine(self.member, ExchangeClient(self.member.settings.exchange, self.member.credentials))
        for at, error in enumerate((sqlite3.OperationalError("locked"), ValueError("ours"))):
            with mock.patch.object(self.member.store, "next_due", side_effect=error) as asked, \
                    redirect_stderr(io.StringIO()) as errors:
                running = asyncio.get_running_loop().create_task(engine.run())
                await self.until(lambda asked=asked: asked.call_count >= 2)
                self.assertFalse(running.done())
                running.cancel()
                await asyncio.gather(running, return_exceptions=True)
            self.assertEqual(("defect in the work queue" in errors.getvalue()), bool(at))

    async def test_a77_a_row_under_way_does_not_keep_the_engine_busy(self):
        engine = Engine(self.member, ExchangeClient(self.member.settings.exchange, self.member.credentials))
        release = asyncio.Event()

        async def hang(_):
            await release.wait()

        self.exchange.during = hang
        await self.take()
        await self.until(lambda: engine.work.look() or self.member.store.outbox())
        self.assertEqual(engine._looked(), LOOK_EVERY)
        await self.until(lambda: self.exchange.sent("/deliver/t1"))
        self.assertEqual(engine._looked(), LOOK_EVERY)
        release.set()
        await self.until(lambda: not engine.outbox.busy)
        await engine.work.stop()


class Served(ProcessCase):

    async def test_a68_a_server_pushes_its_skills_at_its_start(self):
        await self.serve()
        [pushed] = await self.until(lambda: self.exchange.sent(SKILLS, "PUT"))
        self.assertEqual([each["task_type"] for each in pushed.json["skills"]], ["summarize_text", "many_params"])
