"""Surface 4: how a server ends, and what becomes of the calls it holds."""

import os
import signal
import tempfile
import unittest
from pathlib import Path

from tests.end_to_end.process import ODD, Server, call, request


class Endings(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.directory = Path(scratch.name)
        for pipe in ("began", "end"):
            os.mkfifo(self.directory / pipe)

    def waiting_server(self):
        """A server in the midst of a call that does not end by itself."""
        server = Server(*ODD, str(self.directory))
        server.send(call("long", "wait"))
        (self.directory / "began").open("rb").close()
        return server

    def let_end(self):
        (self.directory / "end").open("wb").close()

    def test_calls_received_before_the_end_of_input_are_answered(self):
        with Server(*ODD) as server:
            server.send(*[call(number, "keep", value=number) for number in range(40)])
            rest, status = server.end()
            self.assertEqual(status, 0)
            self.assertEqual({reply["id"] for reply in rest}, set(range(40)))
            last = next(reply for reply in rest if reply["id"] == 39)
            self.assertEqual(last["result"]["structuredContent"]["kept"], list(range(40)))

    def test_a_last_line_without_a_line_feed_is_read(self):
        with Server(*ODD) as server:
            server.process.stdin.write(b'{"jsonrpc":"2.0","id":"last","method":"ping"}')
            self.assertEqual(server.end(), ([{"jsonrpc": "2.0", "id": "last", "result": {}}], 0))

    def test_the_end_of_input_ends_a_server_that_was_never_greeted(self):
        with Server(*ODD, greet=False) as server:
            self.assertEqual(server.end(), ([], 0))
            self.assertEqual(server.stderr(), "")

    def test_a_signal_ends_an_idle_server_quietly(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            with self.subTest(number), Server(*ODD) as server:
                server.process.send_signal(number)
                self.assertEqual(server.process.wait(), 128 + number)
                self.assertEqual(server.process.stdout.read(), b"")
                self.assertEqual(server.stderr(), "")

    def test_a_signal_ends_a_server_whose_call_does_not_end(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            with self.subTest(number), self.waiting_server() as server:
                server.process.send_signal(number)
                self.assertEqual(server.process.wait(), 128 + number)
                self.assertEqual(server.process.stdout.read(), b"")
                self.assertNotIn("Traceback", server.stderr())

    def test_a_reader_that_is_gone_ends_the_server_quietly(self):
        with Server(*ODD) as server:
            server.process.stdout.close()
            server.send(call(1, "echo"))
            self.assertEqual(server.process.wait(), 0)
            self.assertEqual(server.stderr(), "")

    def test_pings_are_answered_while_a_call_runs(self):
        with self.waiting_server() as server:
            self.assertEqual(server.ask(request("ping", "ping")), {"jsonrpc": "2.0", "id": "ping", "result": {}})
            self.let_end()
            self.assertEqual(server.reply()["id"], "long")

    def test_a_cancelled_call_that_waits_is_never_begun(self):
        with self.waiting_server() as server:
            server.send(
                call("first", "keep", value="first"),
                {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "first"}},
                call("second", "keep", value="second"),
            )
            self.assertEqual(server.ask(request("ping", "ping"))["id"], "ping")
            self.let_end()
            self.assertEqual(server.reply()["id"], "long")
            reply = server.reply()
            self.assertEqual(reply["id"], "second")
            self.assertEqual(reply["result"]["structuredContent"]["kept"], ["second"])

    def test_a_cancelled_call_that_runs_completes_unanswered(self):
        with self.waiting_server() as server:
            server.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "long"}})
            self.assertEqual(server.ask(request("ping", "ping"))["id"], "ping")
            self.let_end()
            self.assertEqual(server.ask(call("next", "echo"))["id"], "next")

    def test_the_end_of_input_ends_a_server_whose_cancelled_call_still_runs(self):
        with self.waiting_server() as server:
            server.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "long"}})
            self.assertEqual(server.end(), ([], 0))


if __name__ == "__main__":
    unittest.main()
