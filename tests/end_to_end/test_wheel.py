"""The wheel is whole: built, installed elsewhere with the pinned releases, and run outside of any checkout."""

import subprocess
import sys
import tempfile
import unittest
import zipfile
from importlib.util import find_spec
from pathlib import Path

from tests.end_to_end.process import ROOT, environment


def run(*command, cwd):
    """A command that must succeed; its output."""
    ran = subprocess.run(
        [str(part) for part in command], cwd=cwd, env=environment(), capture_output=True, text=True, check=False)
    if ran.returncode:
        raise AssertionError(f"{command} ended with {ran.returncode}\n{ran.stdout}{ran.stderr}")
    return ran.stdout


@unittest.skipUnless(find_spec("build") and find_spec("ensurepip"), "this Python cannot build or make environments")
class Wheel(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        scratch = tempfile.TemporaryDirectory()
        cls.addClassCleanup(scratch.cleanup)
        cls.place = Path(scratch.name)
        run(sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", cls.place, ROOT, cwd=cls.place)
        (cls.wheel,) = cls.place.glob("*.whl")

    def test_it_carries_the_code_and_its_data_and_nothing_else(self):
        names = zipfile.ZipFile(self.wheel).namelist()
        tops = {name.split("/")[0] for name in names if ".dist-info/" not in name}
        self.assertEqual(tops, {"a202_reference", "a202_mcp", "conformance"})
        for folder in ("schemas/v0.1", "profiles"):
            with self.subTest(folder):
                held = {name for name in names if name.startswith(f"a202_reference/_data/{folder}/")}
                here = {path for path in (ROOT / folder).rglob("*") if path.is_file()}
                self.assertEqual(len(held), len(here))
                self.assertGreater(len(held), 0)

    def test_it_runs_the_walkthrough_where_no_checkout_is(self):
        python = self.place / "venv" / "bin" / "python"
        run(sys.executable, "-m", "venv", self.place / "venv", cwd=self.place)
        pip = (python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check")
        run(*pip, "--constraint", ROOT / "constraints.txt", self.wheel, cwd=self.place)
        command = self.place / "venv" / "bin" / "a202-mcp"
        self.assertEqual(run(command, "--version", cwd=self.place), "a202-mcp 0.1.0\n")
        self.assertIn("came out", run(command, "demo", cwd=self.place))


if __name__ == "__main__":
    unittest.main()
