"""One table of a configuration file, read member by member; every problem is kept, none is raised (spec 3).

A problem is one line: the place, and what is wrong with what stands there. A value that has a problem reads as its
default, so that the rest of the file is judged all the same.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime, time
from decimal import Decimal
from difflib import get_close_matches
from typing import Any, TypeVar

from a202_reference.money import parse_amount

_Read = TypeVar("_Read")


class Section:
    """A table, where it stands, and the problems found in the whole file."""

    def __init__(self, raw: Mapping[str, Any], place: str, problems: list[str]) -> None:
        self._raw = raw
        self._place = place
        self._problems = problems
        self._known: list[str] = []

    def wrong(self, name: str, what: str) -> None:
        """Keep a problem with one member of this table, or (name empty) with the table."""
        place = ".".join(part for part in (self._place, name) if part)
        self._problems.append(f"{place}: {what}")

    def has(self, name: str) -> bool:
        """True where the table has this member."""
        return name in self._raw

    def knows(self, *names: str) -> None:
        """Say that these members may be here, whoever reads them."""
        self._known.extend(names)

    def text(self, name: str, default: str | None = None, *, required: bool = False, longest: int = 4096) -> str | None:
        """A text that is not blank."""
        value = self._take(name, required)
        if value is None:
            return default
        if not isinstance(value, str) or not value.strip() or len(value) > longest:
            self.wrong(name, f"must be text of 1 to {longest} characters, not {_shown(value)}")
            return default
        return value

    def flag(self, name: str) -> bool:
        """True or false; false where it is left out."""
        value = self._take(name)
        if value is not None and not isinstance(value, bool):
            self.wrong(name, f"must be true or false, not {_shown(value)}")
        return value is True

    def whole(self, name: str, lowest: int, highest: int, default: int | None = None) -> int | None:
        """A whole number between these, both included."""
        value = self._take(name)
        if value is None:
            return default
        if not isinstance(value, int) or isinstance(value, bool) or not lowest <= value <= highest:
            self.wrong(name, f"must be a whole number from {lowest} to {highest}, not {_shown(value)}")
            return default
        return value

    def amount(self, name: str, *, required: bool = False) -> Decimal | None:
        """Money as text."""
        value = self._take(name, required)
        if value is None:
            return None
        if isinstance(value, int | float) and not isinstance(value, bool):
            self.wrong(name, f"amounts are text: write \"{format(Decimal(repr(value)), 'f')}\", not {value}")
            return None
        found = parse_amount(value)
        if found is None or len(str(value)) > 30:
            self.wrong(name, f"must be an amount such as \"12.50\", not {_shown(value)}")
            return None
        return found

    def choice(self, name: str, words: Sequence[str], default: str, *, required: bool = False) -> str:
        """One of these words."""
        value = self._take(name, required)
        if value is None:
            return default
        if value not in words:
            shown = " or ".join(f'"{word}"' for word in words)
            self.wrong(name, f"must be {shown}, not {_shown(value)}")
            return default
        return str(value)

    def read(self, name: str, reader: Callable[[str], _Read | None], example: str) -> _Read | None:
        """A text in a form of its own; `example` shows it."""
        value = self._take(name)
        if value is None:
            return None
        found = reader(value) if isinstance(value, str) else None
        if found is None:
            self.wrong(name, f"must be {example}, not {_shown(value)}")
        return found

    def texts(self, name: str) -> tuple[str, ...]:
        """A list of texts."""
        value = self._take(name)
        if value is None:
            return ()
        if not isinstance(value, list) or any(not isinstance(text, str) or not text for text in value):
            self.wrong(name, "must be a list of texts")
            return ()
        return tuple(value)

    def each(self, name: str, reader: Callable[[str], _Read | None], example: str) -> tuple[tuple[str, _Read], ...]:
        """A list of texts in a form of their own: each text and what it means."""
        found = []
        for at, text in enumerate(self.texts(name)):
            meaning = reader(text)
            if meaning is None:
                self.wrong(f"{name}[{at}]", f"must be {example}, not {_shown(text)}")
            else:
                found.append((text, meaning))
        return tuple(found)

    def table(self, name: str) -> Section:
        """A table inside this one; an empty one where it is left out."""
        value = self._take(name)
        if value is not None and not isinstance(value, dict):
            self.wrong(name, f"must be a table, not {_shown(value)}")
        return Section(value if isinstance(value, dict) else {}, self._inside(name), self._problems)

    def tables(self, name: str) -> tuple[Section, ...]:
        """A list of tables inside this one."""
        value = self._take(name)
        if value is None:
            return ()
        if not isinstance(value, list) or any(not isinstance(entry, dict) for entry in value):
            self.wrong(name, f"must be a list of tables, written as [[{name}]]")
            return ()
        return tuple(Section(entry, f"{self._inside(name)}[{at}]", self._problems) for at, entry in enumerate(value))

    def end(self) -> None:
        """Name the members that nobody knows."""
        for name in self._raw:
            if name not in self._known:
                near = get_close_matches(name, self._known, 1)
                self.wrong(name, "is not known" + (f"; did you mean {near[0]}?" if near else ""))

    def _inside(self, name: str) -> str:
        return f"{self._place}.{name}" if self._place else name

    def _take(self, name: str, required: bool = False) -> Any:
        self._known.append(name)
        value = self._raw.get(name)
        if value is None and required:
            self.wrong(name, "is required")
        return value


def _shown(value: object) -> str:
    """A value as an owner wrote it, short."""
    if isinstance(value, str):
        return f'"{value[:40]}"'
    if isinstance(value, dict | list):
        return "a table" if isinstance(value, dict) else "a list"
    if isinstance(value, bool):
        return str(value).lower()
    return f"the {type(value).__name__} {value}" if isinstance(value, date | datetime | time) else str(value)[:40]
