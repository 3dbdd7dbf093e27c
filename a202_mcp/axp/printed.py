"""The configuration as `member check` prints it: each setting as it counts, a secret as set or missing (axp 2, 9)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from decimal import Decimal
from typing import Final

from a202_mcp.axp.origin import Origin
from a202_mcp.axp.pricing import typical
from a202_mcp.axp.secret import NAMES, Credentials
from a202_mcp.axp.settings import Settings
from a202_mcp.one_owner.documented import Documented

_MEMBER: Final = ("name", "roles", "contact_email", "mcp_url")
_TABLES: Final = ("exchange", "seller", "buyer", "review")
_IN_THE_FILE: Final = {"parts": "per", "maximum": "max"}
"""Fields that the file names otherwise."""


def lines(settings: Settings) -> Iterator[str]:
    """One line for each setting, in the words of the file; what is left out there has its default."""
    held = Credentials(settings.state_dir, settings.member_id, settings.secrets)
    for name in _MEMBER:
        yield from _shown(f"member.{name}", getattr(settings, name))
    yield f"member.member_id: {held.member_id or 'missing'}"
    for name in NAMES:
        yield f"secrets.{name}: {'missing' if getattr(held, name) is None else 'set'}"
    yield f"state.dir: {settings.state_dir}"
    yield f"exchange.base_url: {settings.exchange.origin.call('')}"
    yield f"review.answer: {'skip' if settings.review.rating is None else 'fixed'}"
    for name in _TABLES:
        yield from _shown(name, getattr(settings, name))
    for at, skill in enumerate(settings.skills.values()):
        yield f"skills[{at}]: {skill.task_type}: from {typical(skill)[0]} USD"
        yield from _shown(f"skills[{at}]", skill)
    yield from _shown("mandate", settings.limits)


def _shown(place: str, value: object) -> Iterator[str]:
    if (not value and not isinstance(value, int)) or isinstance(value, Documented | Origin):
        return
    if is_dataclass(value):
        for field in fields(value):
            yield from _shown(f"{place}.{_IN_THE_FILE.get(field.name, field.name)}", getattr(value, field.name))
    elif isinstance(value, tuple) and any(map(is_dataclass, value)):
        for at, member in enumerate(value):
            yield from _shown(f"{place}[{at}]", member)
    else:
        yield f"{place}: {_word(value)}"


def _word(value: object) -> str:
    if isinstance(value, tuple):
        return ", ".join(map(str, value))
    if isinstance(value, bool):
        return str(value).lower()
    return format(value, "f") if isinstance(value, Decimal) else str(value)
