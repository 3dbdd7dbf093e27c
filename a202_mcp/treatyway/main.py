"""`a202-mcp seller`: serve a shop, or run one of the owner's commands (spec 4).

Exit status: 0 done, 1 refused by a rule, 2 usage or configuration; a server ended by a signal: 128 plus its number.
Help is answered before anything heavy is imported.
"""

from __future__ import annotations

import sqlite3
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from a202_mcp.one_owner.terminal import plain
from a202_mcp.state_dir import state_dir
from a202_mcp.treatyway.arguments import parser

_USAGE: Final = 2


def run(arguments: Sequence[str]) -> int:
    """Serve, or run one command; the exit status."""
    options = parser().parse_args(list(arguments))
    from a202_mcp.one_owner.issuing import NotReadyError  # noqa: PLC0415 - the same
    from a202_mcp.treatyway import commands  # noqa: PLC0415 - the core's libraries are heavy
    from a202_mcp.treatyway.reading import read_settings  # noqa: PLC0415 - the same
    from a202_mcp.treatyway.serving import serve  # noqa: PLC0415 - the same

    given = getattr(options, "state_dir_after", None) or options.state_dir
    file = Path(getattr(options, "config_after", None) or options.config)
    settings = read_settings(file, None if given is None else state_dir(given))
    if isinstance(settings, list):
        for problem in settings:
            sys.stderr.write(plain(problem) + "\n")
        return _USAGE
    try:
        return serve(settings, options) if options.command is None else commands.run(settings, options)
    except NotReadyError as unready:
        sys.stderr.write(f"a202-mcp seller: {unready}\n")
    except sqlite3.Error as unusable:
        sys.stderr.write(f"a202-mcp seller: the state in {settings.state_dir} cannot be used: {unusable}\n")
    except OSError as unusable:
        sys.stderr.write(f"a202-mcp seller: {unusable}\n")
    return _USAGE
