"""Requirements A44, A55, A58, A75, A77, A82: while others hold the state, calls are answered, nothing is lost."""

import asyncio
import io
import sqlite3
import time
from contextlib import redirect_stderr
from unittest import mock

import httpx2

from a202_mcp.axp import patience
from a202_mcp.axp.book import put
from a202_mcp.store import DamagedError
from tests.axp.process import ProcessCase
from tests.axp.support import MemberCase, message, offer, quote_arguments

URL = "/deliver/t1"


class Lock:
    """Another program that holds the state."""

    def __init__(self, folder):
        self._held = sqlite3.connect(folder / "member-state" / "a202.sqlite3", isolation_level=None)
        self._held.execute("BEGIN IMMEDIATE")

    def release(self):
        self._held.execute("ROLLBACK")
        self._held.close()


class Locked(MemberCase):

    def start(self):
        super().start()
        self.member.store.never_wait()

    async def test_a55_a_call_waits_for_others_who_write_and_the_rest_is_answered_meanwhile(self):
        held = Lock(self.folder)
        asked = asyncio.get_running_loop().create_task(self.quote())
        for at in range(3):
            before = time.monotonic()
            self.assertEqual((await self.post(message("ping", request_id=at)))[0], 200)
            self.assertIn("skills", await self.call("get_skills", member_id="mem_1"))
            self.assertLess(time.monotonic() - before, 1)
            await asyncio.sleep(0.05)
        self.assertFalse(asked.done())
        held.release()
        self.assertEqual((await asked)["price_usd"], 7)

    async def test_a75_a_call_does_not_wait_for_ever(self):
        held = Lock(self.folder)
        with mock.patch.object(patience, "ANSWER_SECONDS", 0.2), redirect_stderr(io.StringIO()) as errors:
            self.assertEqual(await self.refused("quote", **quote_arguments()), "internal error")
        held.release()
        self.assertRegex(errors.getvalue(), r"\Aa202-mcp: a call was not answered: another program .*\n\Z")
        self.assertEqual((await self.quote())["price_usd"], 7)

    async def test_a44_what_was_done_while_the_state_was_held_is_delivered(self):
        go = self.folder / "go"
        self.work_done(f"import os, time\nwhile not os.path.exists({str(go)!r}): time.sleep(0.01)\nprint('late')")
        await self.take()
        self.work.look()
        await self.until(lambda: self.runs)
        held = Lock(self.folder)
        go.touch()
        await asyncio.sleep(0.5)
        self.assertEqual(len(self.work.busy), 1)
        held.release()
        await self.settle()
        self.assertEqual((len(self.runs), len(self.exchange.sent(URL)), self.inbox()), (1, 1, []))

    async def test_a58_no_step_of_the_outbox_ends_because_the_state_is_held(self):
        for kind, path in (("deliver", URL), ("decide", "/choose/b1")):
            if kind == "deliver":
                await self.take()
                self.work.look()
                await self.until(self.member.store.outbox)
            else:
                await self.call("receive_offers", task_id="b1", offers=[offer("o1", 5)],
                                choose_url=f"{self.exchange.base}/choose/b1")
            held = Lock(self.folder)
            self.outbox.look()
            await asyncio.sleep(0.2)
            self.assertEqual((len(self.outbox.busy), self.exchange.sent(path)), (1, []))
            held.release()
            await self.settle()
            self.assertEqual((len(self.exchange.sent(path)), self.inbox()), (1, []))

    async def test_a77_an_answer_that_cannot_be_noted_at_once_is_noted_later(self):
        held = []

        async def hold(_):
            held.append(Lock(self.folder))

        self.exchange.during = hold
        await self.take()
        self.work.look()
        await self.until(self.member.store.outbox)
        self.outbox.look()
        await self.until(lambda: held)
        await asyncio.sleep(0.2)
        held[0].release()
        await self.settle()
        self.assertEqual(self.member.store.item("sold", "t1")["state"], "delivered")
        self.assertEqual(len(self.exchange.sent(URL)), 1)


    async def ended_while_held(self, seconds):
        """What an orderly end says during a run, where the state is free again after so many seconds."""
        self.work_done("import time\ntime.sleep(600)")
        await self.take()
        self.work.look()
        await self.until(lambda: self.runs)
        held = Lock(self.folder)
        with mock.patch.object(patience, "ANSWER_SECONDS", 1), redirect_stderr(io.StringIO()) as errors:
            ending = asyncio.get_running_loop().create_task(self.work.stop())
            await asyncio.sleep(seconds)
            held.release()
            await ending
        task = self.member.store.item("sold", "t1")
        return task["state"], task["attempts"], errors.getvalue()

    async def test_a44_a_run_that_our_end_cut_off_is_put_back_as_soon_as_the_state_is_free(self):
        self.assertEqual(await self.ended_while_held(0.2), ("accepted", 0, ""))

    async def test_a44_a_run_that_our_end_cut_off_counts_where_the_state_stays_held(self):
        state, attempts, said = await self.ended_while_held(3)
        self.assertEqual((state, attempts), ("working", 1))
        self.assertRegex(said, r"\Aa202-mcp: a run that was cut off counts: another program .*\n\Z")

    async def test_a44_a_result_that_our_end_kept_from_being_noted_is_worked_for_again(self):
        go = self.folder / "go"
        self.work_done(f"import os, time\nwhile not os.path.exists({str(go)!r}): time.sleep(0.01)\nprint('late')")
        await self.take()
        self.work.look()
        await self.until(lambda: self.runs)
        held = Lock(self.folder)
        go.touch()
        await asyncio.sleep(0.5)
        ending = asyncio.get_running_loop().create_task(self.work.stop())
        await asyncio.sleep(0.1)
        held.release()
        await ending
        self.restart()
        await self.settle()
        self.assertEqual((len(self.runs), len(self.exchange.sent(URL)), self.inbox()), (2, 1, []))


class Trouble(MemberCase):

    async def test_a44_no_trouble_of_the_disk_is_the_end_of_work(self):
        full = sqlite3.OperationalError("disk")
        full.sqlite_errorcode = sqlite3.SQLITE_FULL
        write = self.member.carry_out
        for at, trouble in enumerate((full, sqlite3.DatabaseError("malformed"))):
            with self.subTest(trouble=trouble), mock.patch.object(
                    self.member, "carry_out", side_effect=[trouble, trouble, *[mock.DEFAULT] * 9], wraps=write):
                task_id = f"t{at}"
                self.member.carry_out.side_effect = None
                await self.take(task_id)
                self.member.carry_out.side_effect = [trouble, trouble, *[mock.DEFAULT] * 9]
                await self.settle()
                self.assertEqual(self.member.store.item("sold", task_id)["state"], "delivered")
        self.assertEqual((len(self.runs), self.inbox()), (2, []))

    async def test_a44_long_trouble_is_told_once(self):
        full = sqlite3.OperationalError("disk")
        full.sqlite_errorcode = sqlite3.SQLITE_FULL
        act = mock.Mock(side_effect=[*[full] * 12, "done"])
        with mock.patch.object(patience.asyncio, "sleep", mock.AsyncMock()) as slept, \
                redirect_stderr(io.StringIO()) as errors:
            self.assertEqual(await patience.patiently(act), "done")
        waits = [call.args[0] for call in slept.await_args_list]
        self.assertEqual((waits[0], max(waits), len(waits)), (0.02, 2.0, 12))
        self.assertEqual(errors.getvalue(), "a202-mcp: the state cannot be written: the disk is full; make room and "
                                            "call again; it is tried again\n")

    async def test_a44_a_damaged_record_and_a_defect_are_not_waited_out(self):
        for error in (DamagedError([mock.Mock(detail="x")]), ValueError("ours"), sqlite3.ProgrammingError("ours")):
            with self.subTest(error=error), self.assertRaises(type(error)):
                await patience.patiently(mock.Mock(side_effect=error))

    async def test_a44_a_plan_that_writes_is_a_defect_and_not_waited_out(self):
        with self.assertRaisesRegex(RuntimeError, "readonly"):
            await self.member.record(lambda view: view.store.remember((put("x", "x", {}),)))


class Served(ProcessCase):

    async def test_a82_a_server_answers_while_another_program_holds_its_state(self):
        await self.serve()
        held = Lock(self.folder)
        async with httpx2.AsyncClient(trust_env=False, timeout=30) as client:
            asked = asyncio.get_running_loop().create_task(self.tool(client, "quote", **quote_arguments()))
            await asyncio.sleep(0.3)
            before = time.monotonic()
            self.assertEqual((await self.post(message("ping")))[0], 200)
            self.assertLess(time.monotonic() - before, 1)
            held.release()
            status, result = await asked
        self.assertEqual((status, result["structuredContent"]["price_usd"]), (200, 7))
