"""The owner's file, read whole: every problem is named at once, one line each (treatyway 3, "Validation"; axp 2).

Whatever the file holds, it is read or it has problems: TOML that Python's own reader gives up on is one.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, TypeVar

from a202_mcp.one_owner.section import Section
from a202_mcp.state_dir import expanded

_Settings = TypeVar("_Settings")

_STATE_ELSEWHERE: Final = re.compile(r"\s*(\[\s*)?[\"']?state\b")
"""Another way to write that table."""


def read_configuration(file: Path, read: Callable[[Section], _Settings]) -> _Settings | list[str]:
    """What `read` makes of the file, or every problem in it, each behind the file's name. Total.

    `read` gets the whole file as a section and is given defaults for what is wrong; what it leaves unread is unknown.
    """
    raw = _toml(file)
    problems = [raw] if isinstance(raw, str) else []
    root = Section({} if isinstance(raw, str) else raw, "", problems)
    if not isinstance(raw, str):
        settings = read(root)
        root.end()
    return [f"{file.name}: {problem}" for problem in problems] if problems else settings


def state_dir_in(file: Path, usual: str) -> Path | None:
    """The state folder that a file names, where nothing else of the file need be in order; None where none is known.

    Where the file is no TOML its `[state]` table is read alone. Total.
    """
    raw = _toml(file)
    state = raw.get("state", {}) if isinstance(raw, dict) else _state_table(file)
    named = state.get("dir", usual) if isinstance(state, dict) else None
    return file.absolute().parent / expanded(named) if isinstance(named, str) and "\0" not in named else None


def _state_table(file: Path) -> Any:
    """What the lines from `[state]` to the next table say; empty where there is no such line; None: unreadable."""
    try:
        lines = file.read_text("utf-8", "replace").splitlines()
    except OSError:
        return None
    heads = [at for at, line in enumerate(lines) if line.lstrip().startswith("[")]
    begins = next((at for at in heads if lines[at].split("#")[0].strip() == "[state]"), None)
    if begins is None:
        return None if any(_STATE_ELSEWHERE.match(line) for line in lines) else {}
    ends = next((at for at in heads if at > begins), len(lines))
    try:
        return tomllib.loads("\n".join(lines[begins:ends])).get("state")
    except (ValueError, RecursionError):
        return None


def _toml(file: Path) -> dict[str, Any] | str:
    """The file's content, or why there is none."""
    try:
        return tomllib.loads(file.read_text("utf-8"))
    except OSError as unread:
        return f"cannot be read: {unread.strerror}"
    except UnicodeDecodeError:
        return "is not UTF-8 text"
    except tomllib.TOMLDecodeError as broken:
        return f"is no TOML: {broken}"
    except (ValueError, RecursionError):  # a number of thousands of digits; arrays inside arrays without end
        return "is no TOML that can be read: a number is too long, or arrays or tables are nested too deeply"
