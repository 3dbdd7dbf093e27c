"""The skills of the configuration: what is sold, at which price, and the program that does it (spec 2)."""

from __future__ import annotations

import re
from decimal import Decimal
from pathlib import Path
from typing import Final

from a202_mcp.axp.settings import Formula, Guarantee, Part, Skill, WorkerPlan
from a202_mcp.one_owner.named_files import command
from a202_mcp.one_owner.section import Section

TASK_TYPE: Final = re.compile(r"[a-z0-9][a-z0-9_-]{1,40}", re.ASCII)
PYTHON: Final = "python:"
"""Marks a command that names a callable instead of a program: ("python:", folder, "module:name")."""

HIGHEST: Final = Decimal(10) ** 9
"""No amount of the file is above it."""

_FIXED: Final = ("fixed", "minimum")
_ZERO: Final = Decimal(0)
_CALLABLE: Final = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_]\w*", re.ASCII)
_MIME: Final = re.compile(r"[a-z0-9][a-z0-9.+-]*/[a-z0-9][a-z0-9.+-]*", re.ASCII)


def read_skill(section: Section, folder: Path) -> Skill:
    """One entry of `skills`."""
    task_type = section.text("task_type", "", required=True)
    if task_type and not TASK_TYPE.fullmatch(task_type):
        section.wrong("task_type", "must match ^[a-z0-9][a-z0-9_-]{1,40}$")
    return Skill(
        task_type,
        section.text("description", task_type, longest=4096),
        section.texts("requires"),
        _price(section),
        _minutes(section.table("eta")),
        section.whole("max_open", 1, 1000, 1000),
        _worker(section.table("worker"), folder))


def read_guarantee(seller: Section) -> Guarantee | None:
    """`guarantee`, or None where nothing is promised."""
    section = seller.table("guarantee")
    promised = Guarantee(section.whole("free_redo", 0, 3, 0), section.flag("refund_if_fails_checks"))
    return promised if seller.has("guarantee") else None


def _price(skill: Section) -> Formula:
    """Money: every amount is text."""
    section = skill.table("price")
    parts = tuple(
        _part(part, part.amount("each", _ZERO, required=True, most=HIGHEST)) for part in section.tables("per"))
    if not skill.has("price"):
        skill.wrong("price", "is required")
    elif not parts and not any(map(section.has, _FIXED)):
        section.wrong("", "is empty: say at least one of fixed, per and minimum")
    fixed, minimum = (section.amount(name, _ZERO, most=HIGHEST) for name in _FIXED)
    return Formula(fixed, parts, minimum)


def _minutes(section: Section) -> Formula:
    """Minutes: numbers, or decimals as text."""
    parts = []
    for part in section.tables("per"):
        if not part.has("each"):
            part.wrong("each", "is required")
        parts.append(_part(part, part.number("each", _ZERO)))
    return Formula(section.number("fixed", _ZERO), tuple(parts), _ZERO)


def _part(section: Section, each: Decimal) -> Part:
    param = section.text("param", "", required=True, longest=100)
    return Part(param, each, section.number("default", None), section.number("max", None))


def _worker(section: Section, folder: Path) -> WorkerPlan:
    words = command(section, folder)
    named = section.text("python", "", longest=200)
    if section.has("command") == section.has("python"):
        section.wrong("", "give either command or python")
    if section.has("python"):
        if named and not _CALLABLE.fullmatch(named):
            section.wrong("python", 'must be "module:name"')
        words = (PYTHON, str(folder), named)
    else:
        words = tuple(_beside(word, at, folder) for at, word in enumerate(words))
    mime_type = section.text("mime_type", "text/plain", longest=100)
    if not _MIME.fullmatch(mime_type):
        section.wrong("mime_type", 'must be a media type such as "text/markdown"')
    return WorkerPlan(
        words, section.whole("timeout_seconds", 1, 86400, 600), section.choice("output", ("text", "json"), "text"),
        section.text("filename", "result.txt", longest=200), mime_type, section.whole("attempts", 1, 10, 1))


def _beside(word: str, at: int, folder: Path) -> str:
    """A word that names a file beside the configuration, in full, since work is done in a folder of its own."""
    if (at == 0 and "/" not in word) or word.startswith(("-", "/")):
        return word
    path = folder / word
    return str(path) if path.is_file() else word
