"""Reading a configuration file: every mistake is noted with its place, and reading goes on (spec 2).

A reader returns a value that is safe to go on with, and the caller looks at `problems` before using any of it.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Final

from a202_reference.money import parse_amount

_CONTROL: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")


@dataclass
class Problems:
    """The mistakes found so far, one line each."""

    lines: list[str] = field(default_factory=list)

    def add(self, place: str, what: str) -> None:
        """Note one mistake. `what` never repeats a value that might be a secret."""
        self.lines.append(f"{place}: {what}")


@dataclass(frozen=True)
class Table:
    """One table of the file, its place, and where mistakes go."""

    place: str
    raw: Mapping[str, Any]
    problems: Problems

    @classmethod
    def of(cls, value: object, place: str, known: Sequence[str], problems: Problems) -> Table:
        """The table; what is none is an empty one. Unknown keys are mistakes."""
        if not isinstance(value, Mapping):
            if value is not None:
                problems.add(place, "must be a table")
            return cls(place, {}, problems)
        for name in value:
            if name not in known:
                near = difflib.get_close_matches(name, known, 1)
                problems.add(f"{place}.{name}" if place else name,
                             "unknown key" + (f"; did you mean {near[0]}?" if near else ""))
        return cls(place, value, problems)

    def at(self, name: str) -> str:
        """The place of one key."""
        return f"{self.place}.{name}" if self.place else name

    def fault(self, name: str, what: str) -> None:
        """Note a mistake at one key."""
        self.problems.add(self.at(name), what)

    def text(self, name: str, default: str | None = None, longest: int = 1000) -> str:
        """A text; required where there is no default."""
        value = self.raw.get(name, default)
        if value is None:
            self.fault(name, "is required")
        elif not isinstance(value, str) or not value.strip() or len(value) > longest or _CONTROL.search(value):
            if value != default:
                self.fault(name, f"must be text of 1 to {longest} characters")
        else:
            return value
        return default or ""

    def optional(self, name: str, longest: int = 1000) -> str | None:
        """A text, or None where it is not given."""
        return self.text(name, longest=longest) if name in self.raw else None

    def choice(self, name: str, words: Sequence[str], default: str) -> str:
        """One of some words."""
        value = self.raw.get(name, default)
        if isinstance(value, str) and value in words:
            return value
        self.fault(name, "must be " + " or ".join(f'"{word}"' for word in words)
                   + (f', not "{value[:40]}"' if isinstance(value, str) else ""))
        return default

    def flag(self, name: str, default: bool) -> bool:
        """true or false."""
        value = self.raw.get(name, default)
        if isinstance(value, bool):
            return value
        self.fault(name, "must be true or false")
        return default

    def integer(self, name: str, default: int, least: int, most: int) -> int:
        """A whole number within bounds."""
        value = self.raw.get(name, default)
        if type(value) is int and least <= value <= most:
            return value
        self.fault(name, f"must be a whole number from {least} to {most}")
        return default

    def number(self, name: str, default: Decimal | None, least: Decimal = Decimal(0)) -> Decimal | None:
        """A quantity that is no money: a whole number, or a decimal as text."""
        value = self.raw.get(name)
        if value is None:
            return default
        parsed = Decimal(value) if type(value) is int else parse_amount(value)
        if parsed is None or parsed < least or parsed > 10**9:
            hint = f'; write it as text, "{value}"' if isinstance(value, float) else ""
            self.fault(name, f"must be a number from {least} to 1000000000{hint}")
            return default
        return parsed

    def money(self, name: str, default: Decimal | None = None, *, required: bool = False) -> Decimal | None:
        """An amount as text."""
        value = self.raw.get(name)
        if value is None:
            if required:
                self.fault(name, "is required")
            return default
        parsed = parse_amount(value)
        if parsed is None or parsed > 10**9:
            shown = f'"{value:.2f}"' if isinstance(value, int | float) and not isinstance(value, bool) else '"12.50"'
            self.fault(name, f"must be an amount as text, such as {shown}")
            return default
        return parsed

    def table(self, name: str, known: Sequence[str]) -> Table:
        """A table inside this one; empty where it is not given."""
        return Table.of(self.raw.get(name), self.at(name), known, self.problems)

    def tables(self, name: str, known: Sequence[str]) -> list[Table]:
        """A list of tables; empty where it is not given."""
        value = self.raw.get(name, [])
        if not isinstance(value, list):
            self.fault(name, "must be a list of tables")
            return []
        return [Table.of(entry, f"{self.at(name)}[{index}]", known, self.problems) for index, entry in enumerate(value)]

    def texts(self, name: str, default: Sequence[str] | None) -> tuple[str, ...]:
        """A list of texts; required where there is no default."""
        value = self.raw.get(name, None if default is None else list(default))
        if isinstance(value, list) and all(isinstance(entry, str) and entry for entry in value):
            return tuple(value)
        self.fault(name, "is required" if value is None else "must be a list of texts")
        return tuple(default or ())
