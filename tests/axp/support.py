"""A member in the test's own loop, with a clock that moves when a test says so and an exchange beside it.

Calls go as the exchange's do: signed, as raw bytes, through the ASGI application.
"""

import asyncio
import contextlib
import hashlib
import hmac
import io
import itertools
import json
import os
import shutil
import sys
import tempfile
import unittest
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import ClassVar

from a202_mcp.axp import configuration
from a202_mcp.axp.book import MemberStore, put
from a202_mcp.axp.exchange import ExchangeClient
from a202_mcp.axp.member import open_member
from a202_mcp.axp.outbox import Outbox
from a202_mcp.axp.web import WebApp
from a202_mcp.axp.work import WorkQueue
from a202_mcp.cli import main
from a202_mcp.workspace import Workspace
from tests.axp.exchange import Exchange

KEY = "pk_test_0123456789abcdef"
SECRET = "msec_test_zyxwvutsrqponmlk"
TOKEN = "tok_test_abcdefghijkl"
DEADLINE = 60
"""Seconds after which a test that waits for something real has failed, on a machine that is busy with others too."""
FORMS = ((), ("--private",), ("--without-mandate",))
"""The forms of an export."""
NOW = datetime(2026, 11, 30, 10, 0, tzinfo=UTC)
WORKER = """\
import json, os, sys
job = json.load(sys.stdin)
with open({marks!r}, "a") as marks:
    marks.write(job["task_id"] + " " + json.dumps(dict(os.environ)) + "\\n")
{body}
"""
SELLER = """\
[seller]
max_open = {max_open}
valid_minutes = 60
free_work = {free_work}
{guarantee}

[[skills]]
task_type = "summarize_text"
description = "Summaries of plain text"
requires = ["text"]
price = {{ fixed = "5.00", per = [ {{ param = "pages", each = "0.50", default = 1, max = 2000 }} ], minimum = "6.00" }}
eta = {{ fixed = 30, per = [ {{ param = "pages", each = 1, default = 1 }} ] }}
max_open = 2
worker = {worker}

[[skills]]
task_type = "many_params"
requires = ["a", "b", "c", "d", "e", "f", "g"]
price = {{ fixed = "8.00" }}
worker = {worker}
"""
BUYER = """\
[buyer]
choose = "{choose}"
max_eta_minutes = 1440
daily_budget = "{budget}"
accept = "{accept}"
only_tasks = "{only_tasks}"
"""
MANDATE = """\
[mandate]
max_price = "100.00"
min_price = "5.00"
ask_above = "50.00"
max_spend = "20.00"
ask_spend_above = "10.00"
"""


def sign(data, key=KEY):
    return hmac.new(key.encode(), data, hashlib.sha256).hexdigest()


def message(method, params=None, request_id=1):
    return json.dumps({"jsonrpc": "2.0", "id": request_id, "method": method, "params": params or {}}).encode()


def tool_message(name, arguments):
    return message("tools/call", {"name": name, "arguments": arguments})


def signed_headers(body, timestamp, key=KEY, member_id="mem_1"):
    return [
        (b"x-ax-member-id", member_id.encode()), (b"x-ax-timestamp", str(timestamp).encode()),
        (b"x-ax-signature", sign(str(timestamp).encode() + b"." + body, key).encode())]


class Clock:
    def __init__(self):
        self.now = NOW

    def __call__(self):
        return self.now

    def forward(self, **delta):
        self.now += timedelta(**delta)


class MemberCase(unittest.IsolatedAsyncioTestCase):
    """roles, and the members of `options` that a test class sets differently."""

    roles = ("seller", "buyer")
    options: ClassVar = {}

    async def asyncSetUp(self):
        asyncio.get_running_loop().set_debug(False)
        self.folder = Path(tempfile.mkdtemp(prefix="a202-axp-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        for name, value in (("AXP_TEST_KEY", KEY), ("AXP_TEST_SECRET", SECRET), ("AXP_TEST_TOKEN", TOKEN)):
            os.environ[name] = value
        self.exchange = Exchange()
        await self.exchange.start()
        self.addAsyncCleanup(self.exchange.stop)
        self.clock = Clock()
        self.ids = itertools.count(1)
        self.work_done("print('Result for ' + job['task_id'])")
        self.write_configuration()
        self.start()
        self.addCleanup(self.close)

    def write_configuration(self, **options):
        given = {
            "max_open": 4, "free_work": "false", "choose": "cheapest", "budget": "50.00", "accept": "checked",
            "guarantee": "guarantee = { free_redo = 1, refund_if_fails_checks = true }",
            "only_tasks": "any", "secrets": 'platform_key = "env:AXP_TEST_KEY"\nmember_secret = "env:AXP_TEST_SECRET"',
            "mandate": MANDATE, "more": "", "attempts": 6, "worker_more": "",
            **self.options, **options}
        command = f'{json.dumps(sys.executable)}, "work.py"'
        worker = given.get("worker") or f"{{ command = [{command}]{given['worker_more']} }}"
        parts = [
            f'[member]\nname = "Example Works"\nroles = {json.dumps(list(self.roles))}\nmember_id = "mem_1"\n'
            'contact_email = "ops@works.example"\nmcp_url = "https://works.example/mcp"\n',
            f"[secrets]\n{given['secrets']}\n",
            f'[exchange]\nbase_url = "{self.exchange.base}"\nbackoff_ms = 300\nattempts = {given["attempts"]}\n'
            "heartbeat_hours = 0\ntimeout_seconds = 10\n",
            SELLER.format(worker=worker, **{name: given[name] for name in ("max_open", "free_work", "guarantee")})
            if "seller" in self.roles else "",
            BUYER.format(**{name: given[name] for name in ("choose", "budget", "accept", "only_tasks")})
            if "buyer" in self.roles else "",
            given["mandate"], given["more"]]
        self.config = self.folder / "member.toml"
        self.config.write_text("\n".join(parts))

    def work_done(self, body):
        """What the worker does, as Python over `job`."""
        (self.folder / "work.py").write_text(WORKER.format(marks=str(self.folder / "runs"), body=body))

    @property
    def runs(self):
        """One line for each run of the worker."""
        path = self.folder / "runs"
        return path.read_text().splitlines() if path.exists() else []

    def start(self):
        """Open the member as a server's start does; again for a restart."""
        settings = configuration.load(self.config)
        self.assertNotIsInstance(settings, list, settings)
        settings.state_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
        space = Workspace(
            MemberStore.open(settings.state_dir), clock=self.clock, ids=lambda: f"{next(self.ids):010x}".ljust(24, "0"))
        self.member = open_member(settings, space)
        self.app = WebApp(self.member, lambda: self.clock().timestamp())
        self.work = WorkQueue(self.member)
        self.outbox = Outbox(self.member, ExchangeClient(settings.exchange, self.member.credentials))

    def close(self):
        self.member.workspace.close()

    def answered_at(self, address):
        """The mandates in force, as if issued with this status_url."""
        kept = self.member.store.item("identity", "self")
        self.member.store.remember([put("identity", "self", {**kept, "status_url": address})])

    def restart(self):
        self.close()
        self.ids = itertools.count(10 ** 6 + next(self.ids))
        self.start()

    async def settle(self):
        """Let work and outbox go on until nothing is left that is due now."""
        async with asyncio.timeout(DEADLINE):
            while True:
                self.work.look()
                self.outbox.look()
                busy = [*self.work.busy, *self.outbox.busy]
                if not busy:
                    return
                await asyncio.wait(busy)
                await asyncio.sleep(0)  # their endings are noted

    async def until(self, what):
        """Wait for something real, looked at until it holds: a condition, or a coroutine that tells it."""
        async with asyncio.timeout(DEADLINE):
            while True:
                found = what()
                found = await found if asyncio.iscoroutine(found) else found
                if found:
                    return found
                await asyncio.sleep(0.02)

    async def request(self, body, headers, method="POST", path="/mcp", pieces=None):
        """One HTTP request: status and body."""
        chunks = [body] if pieces is None else pieces
        incoming = iter([{"type": "http.request", "body": chunk, "more_body": at + 1 < len(chunks)}
                         for at, chunk in enumerate(chunks)])
        sent = []

        async def receive():
            return next(incoming)

        async def send(event):
            sent.append(event)

        scope = {"type": "http", "method": method, "path": path, "headers": headers}
        await self.app(scope, receive, send)
        return sent[0]["status"], b"".join(event.get("body", b"") for event in sent[1:])

    def stamp(self, offset=0):
        return int(self.clock().timestamp()) + offset

    async def post(self, body):
        """A rightly signed request: status and parsed body."""
        status, answer = await self.request(body, signed_headers(body, self.stamp()))
        return status, json.loads(answer) if answer else None

    async def result(self, name, **arguments):
        """The whole result of a tool call."""
        status, answer = await self.post(tool_message(name, arguments))
        self.assertEqual(status, 200, answer)
        return answer["result"]

    async def call(self, name, **arguments):
        """A tool's answer, which is no error."""
        result = await self.result(name, **arguments)
        self.assertFalse(result["isError"], result)
        return result["structuredContent"]

    async def refused(self, name, **arguments):
        """A tool error's text."""
        result = await self.result(name, **arguments)
        self.assertTrue(result["isError"], result)
        return result["structuredContent"]["error"]

    async def quote(self, **changes):
        return await self.call("quote", **quote_arguments(**changes))

    async def take(self, task_id="t1", **changes):
        """Quote a task and have it given to us."""
        quoted = await self.quote(task_id=task_id)
        return await self.call("do_task", **{**self.task_arguments(task_id, quoted), **changes})

    def task_arguments(self, task_id, quoted):
        return {"task_id": task_id, "task_type": "summarize_text", "params": {"text": "hello", "pages": 4},
                "price_usd": quoted["price_usd"], "eta_minutes": quoted["eta_minutes"],
                "deliver_url": f"{self.exchange.base}/deliver/{task_id}"}

    def inbox(self, kind=None):
        return [item for item in self.member.store.inbox() if kind in (None, item.kind)]

    def objects(self, role, task_id):
        """The record of one task."""
        trade = self.member.store.item("trade", f"{role}:{task_id}")
        return () if trade is None else self.member.store.holdings(trade["transaction_id"]).objects

    def export(self, transaction_id, *form):
        """The exported bundle, the exit status of verifying it, and the report."""
        file = self.folder / "bundle.json"
        state = str(self.folder / "member-state")
        with contextlib.redirect_stderr(io.StringIO()), contextlib.redirect_stdout(io.StringIO()) as out:
            self.assertEqual(main(["export", transaction_id, "--state-dir", state, "-o", str(file), *form]), 0)
            status = main(["verify", str(file), "--format", "json"])
        return json.loads(file.read_text()), status, json.loads(out.getvalue())

    def assert_verifies(self, role, task_id):
        """Every form of a task's export verifies."""
        transaction_id = self.member.store.item("trade", f"{role}:{task_id}")["transaction_id"]
        for form in FORMS:
            with self.subTest(form):
                _, status, report = self.export(transaction_id, *form)
                self.assertEqual((status, report["results"]["failed"]), (0, 0), report)

    def everything(self):
        """All that the state holds, as text: two equal ones have no trace between them."""
        return "\n".join(line for line in self.member.store._connection.iterdump())


def quote_arguments(**changes):
    given = {"task_id": "t1", "task_type": "summarize_text", "params": {"text": "hello", "pages": 4}, "test": False,
             **changes}
    return {name: value for name, value in given.items() if value is not ...}


def offer(offer_id, price, eta=30, seller="sel_1"):
    return {"offer_id": offer_id, "seller": {"id": seller, "name": "S"}, "price_usd": price, "eta_minutes": eta,
            "note": None}
