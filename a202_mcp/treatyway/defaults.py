"""Addresses that the contract names. They live in a data file, so that no Python file carries one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

_FOUND: Final = json.loads((Path(__file__).parent / "defaults.json").read_text("utf-8"))
PASS_JWKS: Final = str(_FOUND["pass_jwks"])
PASS_ISSUER: Final = str(_FOUND["pass_issuer"])
