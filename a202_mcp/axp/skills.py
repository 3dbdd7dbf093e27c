"""The skills of the configuration: what is sold, at which price, and the program that does it (spec 2)."""

from __future__ import annotations

import re
from decimal import Decimal
from pathlib import Path
from typing import Final

from a202_mcp.axp.fields import Table
from a202_mcp.axp.settings import Formula, Guarantee, Part, Skill, WorkerPlan

TASK_TYPE: Final = re.compile(r"[a-z0-9][a-z0-9_-]{1,40}", re.ASCII)
PYTHON: Final = "python:"
"""Marks a command that names a callable instead of a program: ("python:", folder, "module:name")."""

_CALLABLE: Final = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_]\w*", re.ASCII)
_MIME: Final = re.compile(r"[a-z0-9][a-z0-9.+-]*/[a-z0-9][a-z0-9.+-]*", re.ASCII)


def read_skill(table: Table, folder: Path) -> Skill:
    """One entry of `skills`."""
    task_type = table.text("task_type", longest=41)
    if task_type and not TASK_TYPE.fullmatch(task_type):
        table.fault("task_type", "must match ^[a-z0-9][a-z0-9_-]{1,40}$")
    if "price" not in table.raw:
        table.fault("price", "is required")
    return Skill(
        task_type,
        table.optional("description", 4096) or task_type,
        table.texts("requires", ()),
        _formula(table, "price", money=True),
        _formula(table, "eta", money=False),
        table.integer("max_open", 1000, 1, 1000),
        _worker(table, folder))


def read_guarantee(seller: Table) -> Guarantee | None:
    """`guarantee`, or None where nothing is promised."""
    if "guarantee" not in seller.raw:
        return None
    table = seller.table("guarantee", ("free_redo", "refund_if_fails_checks"))
    return Guarantee(table.integer("free_redo", 0, 0, 3), table.flag("refund_if_fails_checks", default=False))


def _formula(skill: Table, name: str, *, money: bool) -> Formula:
    table = skill.table(name, ("fixed", "per", "minimum") if money else ("fixed", "per"))
    read = table.money if money else table.number
    zero = Decimal(0)
    parts = []
    for entry in table.tables("per", ("param", "each", "default", "max")):
        if "each" not in entry.raw:
            entry.fault("each", "is required")
        each = entry.money("each", zero) if money else entry.number("each", zero)
        parts.append(Part(
            entry.text("param", longest=100), each or zero, entry.number("default", None), entry.number("max", None)))
    return Formula(read("fixed", zero) or zero, tuple(parts), (table.money("minimum", zero) or zero) if money else zero)


def _worker(skill: Table, folder: Path) -> WorkerPlan:
    known = ("command", "python", "timeout_seconds", "output", "filename", "mime_type", "attempts")
    table = skill.table("worker", known)
    if ("command" in table.raw) == ("python" in table.raw):
        table.problems.add(table.place, "give either command or python")
    command: tuple[str, ...] = ()
    if "command" in table.raw:
        command = tuple(_beside(word, at, folder) for at, word in enumerate(table.texts("command", None)))
        if not command:
            table.fault("command", "must not be empty")
    elif "python" in table.raw:
        named = table.text("python", longest=200)
        if named and not _CALLABLE.fullmatch(named):
            table.fault("python", 'must be "module:name"')
        command = (PYTHON, str(folder), named)
    mime_type = table.text("mime_type", "text/plain", 100)
    if not _MIME.fullmatch(mime_type):
        table.fault("mime_type", 'must be a media type such as "text/markdown"')
    return WorkerPlan(
        command, table.integer("timeout_seconds", 600, 1, 86400), table.choice("output", ("text", "json"), "text"),
        table.text("filename", "result.txt", 200), mime_type, table.integer("attempts", 1, 1, 10))


def _beside(word: str, at: int, folder: Path) -> str:
    """A word that names a file beside the configuration, in full, since work is done in a folder of its own."""
    if (at == 0 and "/" not in word) or word.startswith(("-", "/")):
        return word
    path = folder / word
    return str(path) if path.is_file() else word
