"""A member as its own process, on loopback, with the test's exchange beside it."""

import asyncio
import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import httpx2

from tests.axp.exchange import HTTP
from tests.axp.support import DEADLINE, MemberCase, signed_headers, tool_message

ROOT = str(Path(__file__).resolve().parents[2])
LISTENING = re.compile(rb"listening on 127\.0\.0\.1:(\d+)")


class ProcessCase(MemberCase):
    """A MemberCase whose calls go over HTTP to a server of its own; `self.server` is it."""

    def start(self):
        """Nothing in this process: the server has the state."""
        self.server = None
        self.errors = b""
        self.member = _Nobody()

    async def asyncTearDown(self):
        if self.server is not None and self.server.returncode is None:
            self.server.kill()
            await self.server.wait()

    async def serve(self):
        """Start the server and wait until it listens."""
        self.server = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "a202_mcp", "member", "--config", str(self.config), "--port", "0",
            stderr=asyncio.subprocess.PIPE, cwd=ROOT)
        async with asyncio.timeout(DEADLINE):
            while (found := LISTENING.search(line := await self.server.stderr.readline())) is None:
                self.errors += line
                self.assertTrue(line, self.errors)
        self.errors += line
        self.port = int(found[1])
        self.reading = asyncio.get_running_loop().create_task(self._read())

    async def _read(self):
        self.errors += await self.server.stderr.read()

    async def end(self, number):
        """End the server with a signal; its exit status."""
        self.server.send_signal(number)
        async with asyncio.timeout(DEADLINE):
            status = await self.server.wait()
            await self.reading
        return status

    async def send(self, client, body, headers=None, method="POST", path="/mcp"):
        given = signed_headers(body, int(time.time())) if headers is None else headers
        answer = await client.request(method, f"{HTTP}127.0.0.1:{self.port}{path}", content=body, headers=given)
        return answer.status_code, answer.content

    async def post(self, body):
        async with httpx2.AsyncClient(trust_env=False) as client:
            status, answer = await self.send(client, body)
        return status, json.loads(answer) if answer else None

    async def tool(self, client, name, **arguments):
        status, answer = await self.send(client, tool_message(name, arguments))
        return status, json.loads(answer)["result"]

    async def command(self, *arguments, status=0, env=None):
        """Run a command of the owner's beside the server; its standard output."""
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "a202_mcp", *arguments, stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE, cwd=ROOT, env={**os.environ, **(env or {})})
        async with asyncio.timeout(DEADLINE):
            output, errors = await process.communicate()
        self.assertEqual(process.returncode, status, errors.decode())
        self.errors += errors
        return output.decode()

    async def owner(self, name, *arguments, status=0, env=None):
        return await self.command("member", name, *arguments, "--config", str(self.config), status=status, env=env)

    async def state_of(self, task_id):
        return json.loads(await self.owner("status", task_id, "--json"))


class _Nobody:
    class workspace:  # noqa: N801 - stands for an attribute
        @staticmethod
        def close():
            """Nothing is open in this process."""


def run_command(*arguments, env=None):
    """A command run to its end: status, output, errors."""
    done = subprocess.run(
        [sys.executable, "-m", "a202_mcp", *arguments], capture_output=True, text=True, cwd=ROOT, check=False,
        timeout=DEADLINE, env={**os.environ, **(env or {})})
    return done.returncode, done.stdout, done.stderr
