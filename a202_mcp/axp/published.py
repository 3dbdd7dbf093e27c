"""What the exchange published, read from data files: tools with their schemas, addresses, paths (spec 4, 5, 6)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import quote

_HERE = Path(__file__).parent


@cache
def tools() -> tuple[Mapping[str, Any], ...]:
    """The nine tools: name, roles, description, inputSchema, as published."""
    return tuple(_read("tools.json")["tools"])


def base_url() -> str:
    """The exchange's address where the configuration names none."""
    return str(_exchange()["base_url"])


def path(call: str, identifier: str = "") -> str:
    """The path of one of our calls; an identifier in it is percent-encoded whole."""
    return str(_exchange()["paths"][call]).replace("{id}", quote(identifier, safe=""))


@cache
def _exchange() -> dict[str, Any]:
    return dict(_read("exchange.json"))


def _read(name: str) -> Any:
    return json.loads((_HERE / name).read_text("utf-8"))
