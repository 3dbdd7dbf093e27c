"""A server process driven line by line, as a client's transport does."""

import contextlib
import json
import os
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
REAL = (sys.executable, "-m", "a202_mcp")
ODD = (sys.executable, "-m", "tests.end_to_end.odd_server")
HANG_SECONDS = 60

INITIALIZE = {
    "jsonrpc": "2.0", "id": "init", "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}},
}
INITIALIZED = {"jsonrpc": "2.0", "method": "notifications/initialized"}


def environment(**more):
    """This environment without a state directory of its own, and with what is given."""
    return {**{name: value for name, value in os.environ.items() if name != "A202_MCP_STATE_DIR"}, **more}


def request(ident, method, **params):
    """A request, without params where there are none."""
    return {"jsonrpc": "2.0", "id": ident, "method": method, **({"params": params} if params else {})}


def call(ident, tool, /, **arguments):
    """A `tools/call`."""
    return request(ident, "tools/call", name=tool, arguments=arguments)


class Server:
    """One process. Everything it writes to stdout is read as protocol lines; a hang ends it by force."""

    def __init__(self, *command, greet=True, **more):
        self._stderr = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the server
        self.process = subprocess.Popen(
            command or REAL, cwd=ROOT, env=environment(**more),
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._stderr,
        )
        self._guard = threading.Timer(HANG_SECONDS, self.process.kill)
        self._guard.start()
        if greet:
            self.send(INITIALIZE, INITIALIZED)
            self.greeting = self.reply()["result"]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._guard.cancel()
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout, self._stderr):
            with contextlib.suppress(BrokenPipeError):
                stream.close()

    def send(self, *messages):
        """Write messages, or lines of bytes as they are."""
        for message in messages:
            line = message if isinstance(message, bytes) else json.dumps(message).encode()
            self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()

    def reply(self):
        """The next line, as JSON."""
        line = self.process.stdout.readline()
        if not line:
            raise AssertionError(f"the server ended: {self.stderr()}")
        return json.loads(line)

    def ask(self, message):
        """The answer to one request."""
        self.send(message)
        return self.reply()

    def end(self):
        """End the input; the lines that were still to come, and the exit status."""
        self.process.stdin.close()
        rest = [json.loads(line) for line in self.process.stdout]
        return rest, self.process.wait()

    def stderr(self):
        """What stands on stderr by now."""
        self._stderr.seek(0)
        return self._stderr.read().decode("utf-8", "replace")
