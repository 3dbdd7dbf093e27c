"""What a crash leaves at the end of the state's log is set aside and reported; what was acknowledged is kept."""

import contextlib
import io
import os
import sqlite3
import struct
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from a202_mcp.state_file import FILE_NAME, StateFile

ROOT = Path(__file__).resolve().parents[2]
WRITES = """
import os, sys
from pathlib import Path
from a202_mcp.state_file import StateFile
file = StateFile.open(Path(sys.argv[1]))
for value in sys.argv[2:]:
    with file.writing():
        file.connection.execute("INSERT INTO meta VALUES (?, 'kept')", (value,))
os.kill(os.getpid(), 9)
"""


class Tails(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.log = self.folder / f"{FILE_NAME}-wal"

    def crash(self, *values):
        """A process that commits each value and is killed; what it said."""
        done = subprocess.run([sys.executable, "-c", WRITES, str(self.folder), *values], cwd=ROOT, text=True,
                              capture_output=True, env={**os.environ, "PYTHONPATH": str(ROOT)}, check=False)
        self.assertEqual(done.returncode, -9, done.stderr)
        return done.stderr

    def opened(self):
        """What an open says, and the values that are there."""
        with contextlib.redirect_stderr(io.StringIO()) as said:
            file = StateFile.open(self.folder)
        with contextlib.closing(file.connection):
            rows = file.connection.execute("SELECT name FROM meta WHERE value = 'kept' ORDER BY name").fetchall()
        return said.getvalue(), [name for (name,) in rows]

    def kept(self):
        return [path.read_bytes() for path in sorted(self.folder.glob(f"{FILE_NAME}-tail-*"))]

    def frame_bytes(self):
        return 24 + struct.unpack(">I", self.log.read_bytes()[8:12])[0]

    def test_a_garbage_tail_is_kept_beside_and_named(self):
        self.crash("a", "b")
        garbage = os.urandom(5000)
        with self.log.open("ab") as log:
            log.write(garbage)
        said, values = self.opened()
        self.assertRegex(said, r"\Aa202-mcp: the state's log ended in 5000 bytes that belong to no whole write, .* "
                               rf"kept in {FILE_NAME}-tail-[0-9a-f]{{8}}, and do not count\n\Z")
        self.assertEqual((values, self.kept()), (["a", "b"], [garbage]))
        [kept] = self.folder.glob(f"{FILE_NAME}-tail-*")
        self.assertEqual(kept.stat().st_mode & 0o777, 0o600)
        self.assertEqual(self.opened(), ("", ["a", "b"]))

    def test_a_write_that_was_cut_off_is_kept_beside_and_what_came_before_it_counts(self):
        self.crash("a", "b")
        files = {path: path.read_bytes() for path in self.folder.iterdir()}
        frame = self.frame_bytes()
        for missing in (1, 100, frame - 1):
            with self.subTest(missing):
                for path in self.folder.iterdir():
                    path.unlink()
                for path, data in files.items():
                    path.write_bytes(data)
                self.log.write_bytes(files[self.log][:-missing])
                said, values = self.opened()
                self.assertIn(f"ended in {frame - missing} bytes", said)
                self.assertEqual((values, [len(tail) for tail in self.kept()]), (["a"], [frame - missing]))

    def test_a_tail_of_the_very_turn_without_a_commit_is_one(self):
        self.crash("a", "b")
        log = bytearray(self.log.read_bytes())
        frame = self.frame_bytes()
        log += log[-frame:-frame + 20] + b"\0" * (frame - 20)
        self.log.write_bytes(log)
        said, values = self.opened()
        self.assertIn(f"ended in {frame} bytes", said)
        self.assertEqual(values, ["a", "b"])

    def test_a_log_without_a_tail_says_nothing(self):
        self.assertEqual(self.opened(), ("", []))
        self.assertEqual(self.crash("a", "b", "c"), "")
        self.assertEqual(self.opened(), ("", ["a", "b", "c"]))
        self.assertEqual(self.kept(), [])

    def test_frames_of_an_earlier_turn_are_no_tail(self):
        with contextlib.closing(sqlite3.connect(self.folder / FILE_NAME)):
            self.crash(*"abcdefgh")
        self.assertEqual(self.crash("i"), "")
        self.assertEqual(self.crash("j"), "")
        self.assertEqual((self.opened(), self.kept()), (("", list("abcdefghij")), []))

    def test_another_process_that_is_writing_leaves_no_tail(self):
        first = StateFile.open(self.folder)
        self.addCleanup(first.connection.close)
        for at in range(20):
            with first.writing():
                first.connection.execute("INSERT INTO meta VALUES (?, 'kept')", (f"{at:02}",))
            self.assertEqual(self.opened()[0], "")
        self.assertEqual(self.kept(), [])


if __name__ == "__main__":
    unittest.main()
