"""Surface 4: retries after a cancelled call, two servers on one directory, and the death of whoever started one."""

import json
import os
import select
import signal
import sqlite3
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from a202_mcp.store import FILE_NAME
from harness.keys import SharedKeyring
from harness.story import Story
from harness.wire import Server, warm
from tests.end_to_end.process import HANG_SECONDS, ROOT, environment
from tests.end_to_end.process import Server as RealServer
from tests.end_to_end.process import call as message

PARENT = """
import os, subprocess, sys
server = subprocess.Popen([sys.executable, "-m", "a202_mcp"], stdin=int(sys.argv[1]), stdout=int(sys.argv[2]))
print(server.pid, flush=True)
sys.stdin.read()
"""


class Cancelled(unittest.TestCase):

    def test_a_cancelled_call_recorded_all_or_nothing_and_its_key_tells_which(self):
        warm()
        with tempfile.TemporaryDirectory() as folder:
            place = Path(folder)
            server = Server(place, SharedKeyring("wire"))
            self.addCleanup(server.end)
            server.greet()
            story, answers = Story("txn_wire_01", server.call), []
            while (step := story.step(answers)) is not None:
                server.send(
                    {"jsonrpc": "2.0", "id": "first", "method": "tools/call",
                     "params": {"name": step.tool, "arguments": step.arguments}},
                    {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": "first"}},
                    {"jsonrpc": "2.0", "id": "again", "method": "tools/call",
                     "params": {"name": step.tool, "arguments": step.arguments}})
                while (reply := server.reply())["id"] != "again":
                    self.assertEqual(reply["id"], "first")
                answer = reply["result"]["structuredContent"]
                self.assertIn(answer["outcome"], ("issued", "recorded"), answer)
                answers.append(answer)
                with sqlite3.connect(place / FILE_NAME) as state:
                    self.assertEqual(state.execute("SELECT count(*) FROM commits").fetchone(), (len(answers),))
                state.close()


class TwoServers(unittest.TestCase):

    def test_the_second_reads_what_the_first_records_and_cannot_sign_with_its_keys(self):
        with tempfile.TemporaryDirectory() as folder, RealServer(A202_MCP_STATE_DIR=folder) as first, \
                RealServer(A202_MCP_STATE_DIR=folder) as second:

            def asked(server, tool, arguments):
                return server.ask(message(1, tool, **arguments))["result"]

            story = Story("txn_wire_02", lambda tool, arguments: asked(first, tool, arguments)["structuredContent"])
            answers = [asked(first, "issue_mandate", story.mandate(role))["structuredContent"]
                       for role in ("buyer", "supplier")]
            parties = story.parties(answers)
            formation = story.formation(parties)
            refused = asked(second, "create_agreement", formation)
            self.assertTrue(refused["isError"])
            self.assertEqual(refused["structuredContent"]["reason_codes"], ["A202-POLICY-DENIED"])
            for words in (parties["buyer"]["key_id"], parties["supplier"]["key_id"], "does not hold the private key",
                          "runs beside this one"):
                self.assertIn(words, refused["structuredContent"]["detail"])
            self.assertEqual(asked(first, "create_agreement", formation)["structuredContent"]["state"], "committed")
            record = asked(second, "get_transaction_record", {"transaction_id": "txn_wire_02"})["structuredContent"]
            self.assertEqual((record["state"], record["chain"]), ("committed", "linked"))
            report = asked(second, "verify_evidence", {"transaction_id": "txn_wire_02", "rules_version": "1.3"})
            self.assertEqual(report["structuredContent"]["results"]["failed"], 0)


class ParentGone(unittest.TestCase):

    def test_a_server_ends_with_whoever_started_it_even_where_its_pipe_stays_open(self):
        to_server, kept_open = os.pipe()
        answers, from_server = os.pipe()
        parent = subprocess.Popen(
            [sys.executable, "-c", PARENT, str(to_server), str(from_server)], cwd=ROOT, env=environment(),
            pass_fds=(to_server, from_server), stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        os.close(to_server)
        os.close(from_server)
        server, gone = int(parent.stdout.readline()), False
        try:
            os.write(kept_open, json.dumps({"jsonrpc": "2.0", "id": 1, "method": "ping"}).encode() + b"\n")
            self.assertIn(b'"id":1', self.read(answers))
            parent.kill()
            parent.wait()
            gone = self.read(answers) == b""  # every copy of the writing end is closed
            self.assertTrue(gone)
        finally:
            if not gone:
                os.kill(server, signal.SIGKILL)
            for stream in (parent.stdin, parent.stdout):
                stream.close()
            for descriptor in (kept_open, answers):
                os.close(descriptor)

    @staticmethod
    def read(descriptor):
        """What comes, or nothing at the end; a hang fails."""
        ready, _, _ = select.select([descriptor], [], [], HANG_SECONDS)
        return os.read(descriptor, 1 << 16) if ready else b"nothing came"


if __name__ == "__main__":
    unittest.main()
