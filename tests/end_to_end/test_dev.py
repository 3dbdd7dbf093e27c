"""dev.py's own answers; that it installs and runs is shown by the README's test."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from tests.end_to_end.process import ROOT, environment


def dev(*arguments, **more):
    """dev.py from another directory."""
    return subprocess.run(
        [sys.executable, str(ROOT / "dev.py"), *arguments], cwd=tempfile.gettempdir(), env=environment(**more),
        capture_output=True, text=True, check=False)


class Dev(unittest.TestCase):
    def test_without_a_command_or_with_another_it_says_what_there_is(self):
        for arguments, status in (((), 2), (("deploy",), 2), (("--help",), 0)):
            with self.subTest(arguments):
                ran = dev(*arguments)
                self.assertEqual(ran.returncode, status)
                for command in ("demo", "test", "check", "A202_VENV"):
                    self.assertIn(command, ran.stdout + ran.stderr)

    def test_it_leaves_a_directory_alone_that_is_no_environment(self):
        with tempfile.TemporaryDirectory() as scratch:
            held = Path(scratch, "something")
            held.write_text("kept", encoding="utf-8")
            ran = dev("demo", A202_VENV=scratch)
            self.assertEqual(ran.returncode, 1)
            self.assertIn("is no virtual environment; set A202_VENV to another directory", ran.stderr)
            self.assertEqual([held], list(Path(scratch).iterdir()))


if __name__ == "__main__":
    unittest.main()
