"""Directories that a user names: where the record is kept (surface 7), and further profiles (objects 8).

`--state-dir`, else A202_MCP_STATE_DIR, else nowhere; `--profiles`, each time it is given, else the folders in
A202_MCP_PROFILES, else none. `~` and variables are expanded.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

VARIABLE: Final = "A202_MCP_STATE_DIR"
PROFILES: Final = "A202_MCP_PROFILES"


def state_dir(option: str | None) -> Path | None:
    """The absolute directory that the option or the environment names, `~` and variables expanded."""
    named = option or os.environ.get(VARIABLE)
    return _absolute(named) if named else None


def profile_dirs(options: list[str]) -> list[Path]:
    """The absolute directories of further profiles."""
    named = options or os.environ.get(PROFILES, "").split(os.pathsep)
    return [_absolute(folder) for folder in named if folder]


def expanded(named: str) -> Path:
    """A path with `~` and variables expanded; what names no user and no variable stands as it is. Total."""
    return Path(os.path.expanduser(os.path.expandvars(named)))  # noqa: PTH111 - the method raises for an unknown user


def _absolute(named: str) -> Path:
    return expanded(named).absolute()
