#!/usr/bin/env python3
"""Run the project from a checkout, with nothing but Python.

    python3 dev.py demo [ARGUMENTS]   run the walkthrough (as a202-mcp demo)
    python3 dev.py test [ARGUMENTS]   run the tests (with arguments: as python -m unittest)
    python3 dev.py check              run ruff, mypy and the import contracts

The first run makes a virtual environment beside this file, or where the environment variable A202_VENV says, and
installs the project there with the releases in constraints.txt. Later runs install again only when pyproject.toml or
constraints.txt changed. Standard library only.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent
VENV = Path(os.environ.get("A202_VENV") or ROOT / ".venv").expanduser().absolute()
SCRIPTS = VENV / ("Scripts" if os.name == "nt" else "bin")
PYTHON = SCRIPTS / ("python.exe" if os.name == "nt" else "python")
STAMP = VENV / "a202-installed.json"
OLDEST = (3, 11)
SUPPORTED = ("3.13", "3.12", "3.11")
LONGEST = ("axp", "end_to_end", "treatyway")
"""The folders of tests that take longest, and begin first."""


def main() -> int:
    """Run one command; its exit status."""
    commands = {"demo": demo, "test": test, "check": check}
    command = sys.argv[1] if len(sys.argv) > 1 else ""
    if command not in commands:
        print(__doc__.strip(), file=sys.stderr if command not in ("", "-h", "--help") else sys.stdout)
        return 2 if command not in ("-h", "--help") else 0
    if sys.version_info < OLDEST:
        return with_newer_python()
    try:
        return commands[command](sys.argv[2:])
    except subprocess.CalledProcessError as failed:
        return failed.returncode or 1
    except KeyboardInterrupt:
        return 130


def demo(arguments: list[str]) -> int:
    """The walkthrough, in the caller's directory."""
    install([])
    return run([PYTHON, "-P", "-m", "a202_mcp", "demo", *arguments])


def test(arguments: list[str]) -> int:
    """The tests, in the checkout: all of them, folder beside folder, or those that the arguments name."""
    install(["member", "seller", "test"])
    if arguments:
        return run([PYTHON, "-m", "unittest", *arguments], cwd=ROOT)
    folders = {file.parent.name for file in (ROOT / "tests").glob("*/test_*.py")}
    ordered = sorted(folders, key=lambda name: (name not in LONGEST, name))
    with ThreadPoolExecutor(min(4, os.cpu_count() or 1)) as pool:
        told = list(pool.map(tested, ordered))
    ran, bad = (sum(column) for column in zip(*told, strict=True))
    print(f"tests: {ran - bad} passed, {bad} failed")
    return 1 if bad else 0


def tested(folder: str) -> tuple[int, int]:
    """How many tests of a folder ran and how many of them failed, its output shown when it is over."""
    ended = subprocess.run(
        [str(PYTHON), "-m", "unittest", "discover", "-s", f"tests/{folder}", "-t", "."], cwd=ROOT, check=False,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    print(f"== tests/{folder}\n{ended.stdout}", flush=True)
    ran = re.findall(r"^Ran ([0-9]+) tests? in ", ended.stdout, re.MULTILINE)
    bad = sum(map(int, re.findall(r"(?:failures|errors|unexpected successes)=([0-9]+)", ended.stdout[-300:])))
    ended_well = ended.returncode == 0 and ran and int(ran[-1]) > 0
    return (int(ran[-1]) if ran else 0) or 1, bad if ended_well else max(bad, 1)


def check(arguments: list[str]) -> int:
    """Every static check, also after one has failed."""
    install(["member", "seller", "test"])
    if arguments:
        say("check takes no arguments")
        return 2
    checks = (
        [PYTHON, "-m", "ruff", "check", "."],
        [PYTHON, "-m", "mypy"],
        [SCRIPTS / "lint-imports"],
    )
    return max(run(command, cwd=ROOT) for command in checks)


def install(extras: list[str]) -> None:
    """Have the environment hold the project, these extras, and the constrained releases."""
    held = stamp()
    wanted = {"sources": sources(), "extras": sorted({*extras, *held.get("extras", [])})}
    if held == wanted and runs(PYTHON):
        return
    make_venv()
    say(f"installing into {VENV} (about a minute the first time)")
    project = str(ROOT) + (f"[{','.join(wanted['extras'])}]" if wanted["extras"] else "")
    pip = [PYTHON, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    if run([*pip, "--constraint", ROOT / "constraints.txt", "--editable", project]):
        say("the installation failed; pip's message above says why. Once it is mended, run the same command again")
        raise SystemExit(1)
    STAMP.write_text(json.dumps(wanted), encoding="utf-8")


def make_venv() -> None:
    """Make the environment where there is none that works."""
    if runs(PYTHON):
        return
    if VENV.exists() and any(VENV.iterdir()) and not (VENV / "pyvenv.cfg").exists():
        say(f"{VENV} is there and is no virtual environment; set A202_VENV to another directory")
        raise SystemExit(1)
    say(f"making the virtual environment {VENV}")
    if run([sys.executable, "-m", "venv", "--clear", VENV]):
        say("this Python cannot make a virtual environment; on Debian or Ubuntu: apt install python3-venv")
        raise SystemExit(1)


def stamp() -> dict:
    """What the last installation put there."""
    try:
        held = json.loads(STAMP.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return held if isinstance(held, dict) else {}


def sources() -> str:
    """What decides whether an installation is up to date."""
    digest = hashlib.sha256(str(ROOT).encode())
    for name in ("pyproject.toml", "constraints.txt"):
        digest.update((ROOT / name).read_bytes())
    return digest.hexdigest()


def runs(python: Path) -> bool:
    """True where the environment's Python starts; one whose base was removed does not."""
    try:
        return subprocess.run([python, "-c", ""], check=False, capture_output=True).returncode == 0
    except OSError:
        return False


def with_newer_python() -> int:
    """Go on under a Python that the project supports, where one is installed."""
    for version in SUPPORTED:
        found = shutil.which(f"python{version}")
        if found and runs(Path(found)):
            return run([found, __file__, *sys.argv[1:]])
    say(f"Python 3.11 or newer is needed, this is {sys.version.split()[0]}; install one and run: python3.13 dev.py")
    return 1


def run(command: list, cwd: Path | None = None) -> int:
    """The command's exit status, its output going where ours goes."""
    sys.stdout.flush()
    return subprocess.call([str(part) for part in command], cwd=cwd)


def say(message: str) -> None:
    """A line on stderr."""
    print(f"dev.py: {message}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
