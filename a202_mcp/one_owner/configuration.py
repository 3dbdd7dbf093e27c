"""The owner's file, read whole: every problem is named at once, one line each (treatyway 3, "Validation"; axp 2).

Whatever the file holds, it is read or it has problems: TOML that Python's own reader gives up on is one.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from a202_mcp.one_owner.section import Section

_Settings = TypeVar("_Settings")


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
