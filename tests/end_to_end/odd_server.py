"""A stdio server of tools that misbehave, for the tests of what surrounds the tools. Run as a program.

`python -m tests.end_to_end.odd_server [DIRECTORY]`; the directory holds the named pipes `began` and `end` of `wait`.
"""

import sqlite3
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from a202_mcp.bilateral.main import serve
from a202_mcp.bilateral.tool import Tool
from a202_reference.codes import Code, Refusal

OPEN = {"type": "object", "properties": {"value": {"description": "any"}}, "additionalProperties": False}


@dataclass(frozen=True)
class OddTool(Tool):
    """A tool with its handler at hand."""

    handler: Callable

    def answer(self, workspace, arguments):
        return self.handler(workspace, arguments)


class OddWorkspace:
    """Holds what was written; the tools need no more of a workspace."""

    def __init__(self):
        self.kept = []

    def close(self):
        pass


def _echo(_, arguments):
    return {"outcome": "recorded", **arguments}


def _keep(workspace, arguments):
    workspace.kept.append(arguments.get("value"))
    return {"outcome": "recorded", "kept": list(workspace.kept)}


def _refuse(_, __):
    return Refusal((Code.APPROVAL_HASH_MISMATCH,), "decision is over another act. More.", {"action_type": "a"})


def _crash(_, arguments):
    raise ValueError(f"secret {arguments}")


def _locked(_, __):
    raise sqlite3.OperationalError("database is locked")


def _print(_, __):
    print("stray text on standard output")  # noqa: T201 - what the test is about
    subprocess.run([sys.executable, "-c", "print('a child, too')"], check=True)
    return {"outcome": "recorded", "stdin": sys.stdin.read()}


def _unwritable(_, __):
    return {"outcome": "recorded", "value": "\ud800"}


def _wait(directory, _, __):
    """Work until the test lets it end, as a long computation would: both ends of a pipe meet."""
    (directory / "began").open("wb").close()
    (directory / "end").open("rb").close()
    return {"outcome": "recorded"}


def main():
    directory = Path(sys.argv[1]) if len(sys.argv) > 1 else Path()
    answers = {
        "echo": _echo, "keep": _keep, "refuse": _refuse, "crash": _crash, "print": _print, "unwritable": _unwritable,
        "locked": _locked,
        "wait": partial(_wait, directory),
    }
    tools = [OddTool(name, name.title(), f"{name} oddly", OPEN, False, answer) for name, answer in answers.items()]
    return serve(tools, OddWorkspace)


if __name__ == "__main__":
    sys.exit(main())
