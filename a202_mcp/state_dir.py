"""Where the record is kept: `--state-dir`, else A202_MCP_STATE_DIR, else nowhere (surface 7)."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

VARIABLE: Final = "A202_MCP_STATE_DIR"


def state_dir(option: str | None) -> Path | None:
    """The absolute directory that the option or the environment names, `~` and variables expanded."""
    named = option or os.environ.get(VARIABLE)
    return Path(os.path.expandvars(named)).expanduser().absolute() if named else None
