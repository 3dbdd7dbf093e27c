"""`a202-mcp seller`: serve a shop, or run one of the owner's commands (spec 4).

Exit status: 0 done, 1 refused by a rule, 2 usage or configuration; a server ended by a signal: 128 plus its number.
Help is answered before anything heavy is imported. All of the file counts for a start, `check` and `init`; the owner's
other commands work with the mandate in force whatever `[mandate]` says, and `mandate` also beside a broken file.
"""

from __future__ import annotations

import argparse
import sqlite3
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from a202_mcp.one_owner.terminal import plain
from a202_mcp.state_dir import state_dir
from a202_mcp.state_file import trouble
from a202_mcp.treatyway.arguments import parser

_USAGE: Final = 2
_WHOLE: Final = (None, "check", "init")
"""A start, and the commands for which all of the file counts."""
_STATE_DIR: Final = "seller-state"


def run(arguments: Sequence[str]) -> int:
    """Serve, or run one command; the exit status."""
    options = parser().parse_args(list(arguments))
    from a202_mcp.one_owner.issuing import NotReadyError  # noqa: PLC0415 - the core's libraries are heavy

    try:
        return _run(options)
    except NotReadyError as unready:
        sys.stderr.write(f"a202-mcp seller: {unready}\n")
    except sqlite3.Error as unusable:
        sys.stderr.write(f"a202-mcp seller: the state cannot be used: {trouble(unusable) or unusable}\n")
    except OSError as unusable:
        sys.stderr.write(f"a202-mcp seller: {unusable}\n")
    return _USAGE


def _run(options: argparse.Namespace) -> int:
    from a202_mcp.treatyway import commands  # noqa: PLC0415 - the core's libraries are heavy
    from a202_mcp.treatyway.reading import read_settings  # noqa: PLC0415 - the same
    from a202_mcp.treatyway.serving import serve  # noqa: PLC0415 - the same

    named = getattr(options, "state_dir_after", None) or options.state_dir
    given = None if named is None else state_dir(named)
    file = Path(getattr(options, "config_after", None) or options.config)
    settings = read_settings(file, given, mandate_counts=options.command in _WHOLE)
    if isinstance(settings, list):
        for problem in settings:
            sys.stderr.write(plain(problem) + "\n")
        return _turned_all_the_same(file, given, options.act) if options.command == "mandate" else _USAGE
    return serve(settings, options) if options.command is None else commands.run(settings, options)


def _turned_all_the_same(file: Path, given: Path | None, act: str) -> int:
    """Stopping the agent does not wait for a file that is in order, where the state folder is known."""
    from a202_mcp.one_owner.configuration import state_dir_in  # noqa: PLC0415 - the core's libraries are heavy
    from a202_mcp.treatyway.mandate_commands import turn  # noqa: PLC0415 - the same

    folder = given or state_dir_in(file, _STATE_DIR)
    if folder is None:
        sys.stderr.write("a202-mcp seller: the state folder cannot be read from that file: name it with --state-dir\n")
        return _USAGE
    return turn(folder, act)
