#!/usr/bin/env python3
"""Compare this checkout with a peer's published cases: its gate's answers, its fixtures, its scenarios over stdio.

    A202_INTEROP=DIRECTORY python scripts/interop.py [gate] [manifest] [scenarios]

DIRECTORY holds the peer's `compare.py`, `scenarios.py`, `manifest.json`, `fixtures/` and `scenarios/`. A case that is
known to differ stands in a list under `conformance/`, with the reason behind a `#`. The lists are strict: a difference
that is not listed fails, and so does a listed one that no longer differs. The last line counts every case; exit
status 0 only where none failed.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
CASE_LIST = ROOT / "conformance" / "expected_case_differences.txt"
SCENARIO_LIST = ROOT / "conformance" / "expected_scenario_failures.txt"
MOST_LINES = 30
_SCENARIO = re.compile(r"^(ok  |FAIL)  (\S+)", re.MULTILINE)
_COMPARED = re.compile(r"(\d+) cases in ")

Counts = tuple[int, int]


def main() -> int:
    """Run the named comparisons, or all; 0 only where nothing failed."""
    parts: dict[str, Callable[[Path], Counts]] = {"gate": gate, "manifest": manifest, "scenarios": scenarios}
    chosen = sys.argv[1:] or list(parts)
    named = os.environ.get("A202_INTEROP")
    if not named or not Path(named).is_dir() or not set(chosen) <= set(parts):
        print(__doc__, file=sys.stderr)
        return 2
    counts = [parts[part](Path(named)) for part in chosen]
    passed, failed = (sum(column) for column in zip(*counts, strict=True))
    print(f"interop: {passed} passed, {failed} failed")
    return 1 if failed else 0


def gate(cases: Path) -> Counts:
    """Every recorded case: the same verdict, the same answer of the schema layer, and the same codes where it accepts.

    Where both sides' schemas refuse, the codes beside that are each side's own addition and are not compared.
    """
    with tempfile.TemporaryDirectory() as scratch:
        differing = Path(scratch) / "differing.jsonl"
        command = f"{shlex.quote(sys.executable)} -m conformance --stdin"
        output = shown(cases / "compare.py", "--command", command, "--save", differing, "--show", "10")
        if not differing.exists():
            return failure("the comparison ended without a result")
        differences = [json.loads(line) for line in differing.read_text(encoding="utf-8").splitlines()]
        found = [difference["case"]["id"] for difference in differences if counts(difference)]
    compared = _COMPARED.search(output)
    total = int(compared[1]) if compared else 0
    return judged("gate", total, found, CASE_LIST) if total else failure("no case was compared")


def counts(difference: dict[str, Any]) -> bool:
    """True unless both schema layers refuse, so that only the codes beside the refusal differ."""
    return bool(difference["case"]["schema_valid"] or difference["answer"].get("schema_valid", True))


def manifest(cases: Path) -> Counts:
    """Every published fixture, judged by our own runner against the peer's manifest."""
    fixtures, listed = cases / "fixtures", cases / "manifest.json"
    command = [sys.executable, "-m", "conformance", "--fixtures", fixtures, "--manifest", listed]
    status = subprocess.call([str(part) for part in command], cwd=ROOT)
    return (1, 0) if status == 0 else failure(f"the manifest run ended with status {status}")


def scenarios(cases: Path) -> Counts:
    """Every scenario, each against a server process of its own."""
    server = f"{shlex.quote(sys.executable)} -m a202_mcp"
    output = shown(cases / "scenarios.py", "--server", server, "--cwd", ROOT, "--jobs", 2, cases / "scenarios")
    outcomes = _SCENARIO.findall(output)
    failed = [name for outcome, name in outcomes if outcome == "FAIL"]
    return judged("scenario", len(outcomes), failed, SCENARIO_LIST) if outcomes else failure("no scenario ran")


def judged(kind: str, total: int, differing: Iterable[str], listed_in: Path) -> Counts:
    """Hold what differs against the list of what is known to."""
    found, listed = set(differing), known(listed_in)
    report(sorted(found - listed), f"{kind} {{}} differs and is not listed in {listed_in.name}")
    report(sorted(listed - found), f"{kind} {{}} is listed in {listed_in.name} and does not differ: take it out")
    return total - len(found - listed), len(found ^ listed)


def report(names: list[str], sentence: str) -> None:
    """One line for each name, up to a number."""
    for name in names[:MOST_LINES]:
        print("interop: " + sentence.format(name))
    if len(names) > MOST_LINES:
        print(f"interop: and {len(names) - MOST_LINES} more of this kind")


def known(listed_in: Path) -> set[str]:
    """The ids in a list; a missing list is empty."""
    if not listed_in.exists():
        return set()
    lines = (line.split("#", 1)[0].strip() for line in listed_in.read_text(encoding="utf-8").splitlines())
    return {line for line in lines if line}


def shown(script: Path, *arguments: object) -> str:
    """Run a Python script, passing its output on as it comes; the output."""
    command = [sys.executable, str(script), *(str(argument) for argument in arguments)]
    lines = []
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, encoding="utf-8") as process:
        for line in process.stdout or ():
            print(line, end="", flush=True)
            lines.append(line)
    return "".join(lines)


def failure(message: str) -> Counts:
    """One failure that no list excuses."""
    print(f"interop: {message}")
    return 0, 1


if __name__ == "__main__":
    sys.exit(main())
