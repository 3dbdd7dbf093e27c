"""Where the schemas and profiles lie: in the wheel beside this package, or in a checkout above it."""

from __future__ import annotations

from functools import cache
from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent


@cache
def data_root() -> Path:
    """The folder that holds `schemas/` and `profiles/`.

    Raises FileNotFoundError where neither the wheel's data nor a checkout is there: the installation is
    broken, and nothing can be judged without the schemas.
    """
    for root in (_PACKAGE / "_data", _PACKAGE.parent):
        if (root / "schemas" / "v0.1").is_dir() and (root / "profiles").is_dir():
            return root
    raise FileNotFoundError("schemas/v0.1 and profiles are neither in the installed package nor in a checkout")
