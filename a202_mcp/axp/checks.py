"""Acceptance checks that we can run ourselves (spec 7.1 row 7, 7.2; requirement A84). Their shapes are assumed."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from a202_mcp.axp.reading import NO_NUMBER, NoJson, read


def cannot_be_met(checks: Mapping[str, Any]) -> bool:
    """True where nothing we deliver could pass."""
    limit = checks.get("max_bytes")
    return limit is NO_NUMBER or (isinstance(limit, Decimal) and limit < 1)


def failed_check(checks: Mapping[str, Any], content: str) -> str | None:
    """The first check that this content fails, or None."""
    if any(text not in content for text in _texts(checks.get("must_contain"))):
        return "must_contain"
    limit = checks.get("max_bytes")
    if isinstance(limit, Decimal) and len(content.encode("utf-8")) > limit:
        return "max_bytes"
    if checks.get("json") is True and isinstance(read(content), NoJson):
        return "json"
    return None


def _texts(value: object) -> list[str]:
    """A text, or the texts of a list."""
    return [each for each in (value if isinstance(value, list) else [value]) if isinstance(each, str)]
