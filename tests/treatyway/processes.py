"""The seller as a process of its own, over real connections."""

import contextlib
import io
import json
import os
import queue
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from pathlib import Path

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from a202_mcp.cli import main
from tests.treatyway.shops import config, jwk

ROOT = Path(__file__).resolve().parents[2]
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT)}
HEADERS = {"content-type": "application/json", "accept": "application/json, text/event-stream"}


class Served:
    """`a202-mcp seller` in a process of its own, over HTTP on a free port."""

    def __init__(self, file, *options):
        self.process = subprocess.Popen(
            [sys.executable, "-m", "a202_mcp", "seller", "--config", str(file), "--transport", "http", "--port", "0",
             *options], stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=ENVIRONMENT)
        self.lines = queue.Queue()
        self.said = []
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        self.url = self._address()

    def _read(self):
        for line in self.process.stderr:
            self.said.append(line)
            self.lines.put(line)
        self.lines.put(None)

    def _address(self):
        while True:
            line = self.lines.get(timeout=30)
            if line is None:
                raise AssertionError("".join(self.said))
            if "listening on " in line:
                return line.split("listening on ")[1].strip()

    def end(self, number=signal.SIGTERM, seconds=10):
        self.process.send_signal(number)
        status = self.process.wait(seconds)
        self.process.stdout.close()
        self._reader.join(5)
        self.process.stderr.close()
        return status


class Process(unittest.TestCase):
    """A shop's folder, and servers of it that end with the test."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.file = self.folder / "seller.toml"
        (self.folder / "keys.json").write_text(json.dumps({"keys": [jwk()]}))
        self.file.write_text(config())

    def seller(self, *arguments, status=0):
        """One of the owner's commands; what it printed."""
        with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(io.StringIO()) as said:
            found = main(["seller", *arguments, "--config", str(self.file)])
        self.assertEqual(found, status, out.getvalue() + said.getvalue())
        return out.getvalue()

    def serve(self, *options):
        served = Served(self.file, *options)
        self.addCleanup(lambda: served.process.poll() is None and served.end(signal.SIGKILL))
        return served

    def post(self, served, body, pass_=None, **headers):
        """One request over a connection of its own."""
        bearer = {} if pass_ is None else {"authorization": f"Bearer {pass_}"}
        return httpx2.post(served.url, content=body, headers={**HEADERS, **bearer, **headers}, timeout=30,
                           trust_env=False)

    def call(self, served, tool, arguments, pass_=None, **headers):
        """One tool call over a connection of its own: the result."""
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
                           "params": {"name": tool, "arguments": arguments}})
        answer = self.post(served, body, pass_, **headers)
        self.assertEqual(answer.status_code, 200, answer.text)
        return answer.json()["result"]

    def verified(self, transaction):
        path = self.folder / "bundle.json"
        state = str(self.folder / "seller-state")
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            self.assertEqual(main(["export", transaction, "--state-dir", state, "-o", str(path)]), 0)
            self.assertEqual(main(["verify", str(path)]), 0)

    def until(self, what, seconds=10):
        """Wait for something of another process."""
        ends = time.monotonic() + seconds
        while not (found := what()):
            self.assertLess(time.monotonic(), ends, "it did not happen in time")
            time.sleep(0.01)
        return found


@contextlib.asynccontextmanager
async def over_http(url, pass_=None, mode="auto"):
    headers = {} if pass_ is None else {"authorization": f"Bearer {pass_}"}
    async with httpx2.AsyncClient(headers=headers) as http, Client(
            streamable_http_client(url, http_client=http), mode=mode) as client:
        yield client


def is_running(number):
    """True while a process of this number is there and is no zombie."""
    found = subprocess.run(["ps", "-o", "stat=", "-p", str(number)], capture_output=True, text=True, check=False)
    return found.returncode == 0 and not found.stdout.strip().startswith("Z")
