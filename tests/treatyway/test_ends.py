"""How a seller ends and begins: within a second of a signal, with all its commands, and beside another first start."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
import unittest
from concurrent.futures import ThreadPoolExecutor

import httpx2

from a202_mcp.treatyway.custom import Commands
from a202_mcp.treatyway.settings import CustomTool
from tests.treatyway.processes import ENVIRONMENT, HEADERS, Process, Served, is_running
from tests.treatyway.shops import config

TOOL = """
[[custom_tools]]
name = "get_menu"
description = "Something."
command = ["./menu.sh"]
"""
MENU = """#!/bin/sh
sleep 300 & echo $! >> children
echo $$ >> children
wait
"""
CALL = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
                   "params": {"name": "get_menu", "arguments": {}}})


class Ends(Process):
    def with_command(self):
        (self.folder / "menu.sh").write_text(MENU)
        (self.folder / "menu.sh").chmod(0o700)
        self.file.write_text(config(more=TOOL))

    def children(self, count=2):
        path = self.folder / "children"
        self.until(lambda: path.exists() and len(path.read_text().split()) == count)
        found = path.read_text().split()
        self.addCleanup(lambda: [os.kill(int(each), signal.SIGKILL) for each in found if is_running(each)])
        return found

    def assert_all_end(self, children):
        self.until(lambda: not any(map(is_running, children)), 5)

    def test_a_signal_ends_an_idle_server_within_a_second(self):
        for number in (signal.SIGTERM, signal.SIGINT):
            with self.subTest(number):
                served = self.serve()
                self.call(served, "describe_offer", {})
                begun = time.monotonic()
                self.assertEqual(served.end(number), 128 + number)
                self.assertLess(time.monotonic() - begun, 1)

    def test_a_signal_over_http_ends_the_commands_too(self):
        self.with_command()
        for twice in (False, True):
            with self.subTest(twice=twice):
                (self.folder / "children").unlink(missing_ok=True)
                served = self.serve()
                calling = [threading.Thread(target=self.asked, args=(served,)) for _ in range(2)]
                for each in calling:
                    each.start()
                children = self.children(4)
                begun = time.monotonic()
                if twice:
                    served.process.send_signal(signal.SIGTERM)
                    time.sleep(0.05)
                self.assertEqual(served.end(), 128 + signal.SIGTERM)
                self.assertLess(time.monotonic() - begun, 1.5)
                self.assert_all_end(children)
                for each in calling:
                    each.join(10)

    def asked(self, served):
        with contextlib.suppress(httpx2.HTTPError):
            httpx2.post(served.url, content=CALL, headers=HEADERS, timeout=30, trust_env=False)

    def test_a_signal_over_stdio_ends_the_commands_too(self):
        self.with_command()
        process = subprocess.Popen(
            [sys.executable, "-m", "a202_mcp", "seller", "--config", str(self.file)], env=ENVIRONMENT,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.stdin.close)
        self.addCleanup(process.kill)
        for line in ('{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18",'
                     '"capabilities":{},"clientInfo":{"name":"t","version":"1"}}}',
                     '{"jsonrpc":"2.0","method":"notifications/initialized"}', CALL):
            process.stdin.write(line.encode() + b"\n")
        process.stdin.flush()
        children = self.children()
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(5), 128 + signal.SIGTERM)
        self.assert_all_end(children)

    def test_the_group_ends_at_its_time_and_with_its_call(self):
        tools = {"late": "sleep 300 & echo $! >> children; echo $$ >> children; wait",
                 "left": "sleep 300 > /dev/null & echo $! >> children; echo $$ >> children; echo done",
                 "loud": "sleep 300 > /dev/null & echo $! >> children; echo $$ >> children; yes"}
        commands = Commands(self.folder, seconds=1)
        for name, script in tools.items():
            with self.subTest(name):
                (self.folder / "children").unlink(missing_ok=True)
                begun = time.monotonic()
                text = commands.reply(CustomTool(name, "", command=("sh", "-c", script)), {})
                self.assertLess(time.monotonic() - begun, 4)
                self.assertEqual(text, "done\n" if name == "left" else None)
                self.assert_all_end(self.children())

    def test_a_child_that_left_the_group_with_our_pipe_does_not_hold_us(self):
        script = ("import os, sys, time\nif os.fork() == 0:\n    os.setsid()\n    open('children', 'a').write("
                  "f'{os.getpid()} ')\n    time.sleep(300)\nprint('x')")
        begun = time.monotonic()
        tool = CustomTool("x", "", command=(sys.executable, "-c", script))
        self.assertIsNone(Commands(self.folder, seconds=2).reply(tool, {}))
        self.assertLess(time.monotonic() - begun, 6)
        self.children(1)

    def test_nothing_is_started_after_the_end(self):
        commands = Commands(self.folder)
        commands.end()
        commands.end()
        tool = CustomTool("x", "", command=("sh", "-c", "echo 1 >> children"))
        self.assertIsNone(commands.reply(tool, {}))
        self.assertFalse((self.folder / "children").exists())


class Begins(Process):
    def test_first_starts_at_once_are_one_shop(self):
        with ThreadPoolExecutor(3) as pool:
            servers = list(pool.map(lambda _: Served(self.file), range(3)))
        for served in servers:
            self.addCleanup(lambda served=served: served.process.poll() is None and served.end(signal.SIGKILL))
        rods = {"summary": "x", "offer_id": "brass-rod", "quantity": 2}
        for served in servers:
            found = self.call(served, "request_quote", rods)["structuredContent"]
            self.assertEqual(found["price"], {"amount": "30.00", "currency": "USD"})
            self.verified(json.loads(self.seller("status", found["quote_id"], "--json"))["transaction_id"])

    def test_first_inits_at_once_are_one_mandate(self):
        running = [subprocess.Popen(
            [sys.executable, "-m", "a202_mcp", "seller", command, "--config", str(self.file)], env=ENVIRONMENT,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for command in ("init", "key", "init", "init")]
        said = [process.communicate(timeout=60) for process in running]
        self.assertEqual([process.returncode for process in running], [0] * 4, said)
        mandates = {out.split()[1] for out, _ in said if out.startswith("mandate")}
        self.assertEqual(mandates, {json.loads(self.seller("mandate", "show"))["mandate_id"]})
        self.assertEqual(json.loads(said[1][0])["agent_id"], json.loads(self.seller("key"))["agent_id"])


if __name__ == "__main__":
    unittest.main()
