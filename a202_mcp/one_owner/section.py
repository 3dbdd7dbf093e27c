"""One table of the owner's file, read member by member (treatyway 3, "Validation"; axp 2).

Rules this module applies:

- a problem is one line: the place, and what is wrong with what stands there. It is kept, none is raised; a value that
  has one reads as its default, so that the rest of the file is judged all the same;
- a member that nobody asked for is a problem, with the nearest one that somebody did;
- money is text: an amount written as a number is a problem that shows the text;
- text without control characters other than tab and line feed: a NUL in a path is no traceback;
- what stands where a table belongs is not repeated: it may be a secret that slipped up a line.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from difflib import get_close_matches
from typing import Any, Final, TypeVar

from a202_mcp.one_owner.written import LONGEST_AMOUNT, as_amount, shown
from a202_reference.money import parse_amount

_Read = TypeVar("_Read")
_Default = TypeVar("_Default")

_CONTROL: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
_MOST: Final = Decimal(10) ** 9


class Section:
    """A table, where it stands, and the problems found in the whole file."""

    def __init__(self, raw: Mapping[str, Any], place: str, problems: list[str]) -> None:
        self._raw = raw
        self._place = place
        self._problems = problems
        self._known: list[str] = []
        self._inner: list[Section] = []

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

    def value(self, name: str, *, required: bool = False) -> Any:
        """What stands there, as the file has it; None where nothing does."""
        self._known.append(name)
        value = self._raw.get(name)
        if value is None and required:
            self.wrong(name, "is required")
        return value

    def text(
        self, name: str, default: _Default, *, required: bool = False, longest: int = 4096,
    ) -> str | _Default:
        """A text that is not blank."""
        value = self.value(name, required=required)
        if value is None:
            return default
        if not isinstance(value, str) or not value.strip() or len(value) > longest:
            self.wrong(name, f"must be text of 1 to {longest} characters, not {shown(value)}")
            return default
        if _CONTROL.search(value):
            self.wrong(name, "must be text without control characters")
            return default
        return value

    def flag(self, name: str) -> bool:
        """True or false; false where it is left out."""
        value = self.value(name)
        if value is not None and not isinstance(value, bool):
            self.wrong(name, f"must be true or false, not {shown(value)}")
        return value is True

    def whole(self, name: str, lowest: int, highest: int, default: _Default) -> int | _Default:
        """A whole number between these, both included."""
        value = self.value(name)
        if value is None:
            return default
        if not isinstance(value, int) or isinstance(value, bool) or not lowest <= value <= highest:
            self.wrong(name, f"must be a whole number from {lowest} to {highest}, not {shown(value)}")
            return default
        return value

    def number(self, name: str, default: _Default) -> Decimal | _Default:
        """A quantity that is no money: a whole number, or a decimal as text."""
        value = self.value(name)
        if value is None:
            return default
        found = Decimal(value) if type(value) is int else parse_amount(value)
        if found is None or not 0 <= found <= _MOST:
            hint = f'; write it as text, "{value}"' if isinstance(value, float) else ""
            self.wrong(name, f"must be a number from 0 to {_MOST:f}{hint}")
            return default
        return found

    def amount(
        self, name: str, default: _Default, *, required: bool = False, most: Decimal | None = None,
    ) -> Decimal | _Default:
        """Money as text, at most `most`."""
        value = self.value(name, required=required)
        if value is None:
            return default
        if isinstance(value, int | float) and not isinstance(value, bool):
            self.wrong(name, f"amounts are text: write \"{as_amount(value)}\", not {shown(value)}")
            return default
        found = parse_amount(value)
        if found is None or len(str(value)) > LONGEST_AMOUNT:
            self.wrong(name, f"must be an amount such as \"12.50\", not {shown(value)}")
            return default
        if most is not None and found > most:
            self.wrong(name, f"must be at most {most:f}, not {shown(value)}")
            return default
        return found

    def choice(self, name: str, words: Sequence[str], default: str, *, required: bool = False) -> str:
        """One of these words."""
        value = self.value(name, required=required)
        if value is None:
            return default
        if value not in words:
            listed = " or ".join(f'"{word}"' for word in words)
            self.wrong(name, f"must be {listed}, not {shown(value)}")
            return default
        return str(value)

    def read(self, name: str, reader: Callable[[str], _Read | None], example: str) -> _Read | None:
        """A text in a form of its own; `example` shows it."""
        value = self.value(name)
        if value is None:
            return None
        found = reader(value) if isinstance(value, str) else None
        if found is None:
            self.wrong(name, f"must be {example}, not {shown(value)}")
        return found

    def texts(self, name: str, *, required: bool = False) -> tuple[str, ...]:
        """A list of texts."""
        value = self.value(name, required=required)
        if value is None:
            return ()
        if not isinstance(value, list) or any(not isinstance(text, str) or not text for text in value):
            self.wrong(name, "must be a list of texts")
            return ()
        if any(_CONTROL.search(text) for text in value):
            self.wrong(name, "must be texts without control characters")
            return ()
        return tuple(value)

    def each(self, name: str, reader: Callable[[str], _Read | None], example: str) -> tuple[tuple[str, _Read], ...]:
        """A list of texts in a form of their own: each text and what it means."""
        found = []
        for at, text in enumerate(self.texts(name)):
            meaning = reader(text)
            if meaning is None:
                self.wrong(f"{name}[{at}]", f"must be {example}, not {shown(text)}")
            else:
                found.append((text, meaning))
        return tuple(found)

    def table(self, name: str) -> Section:
        """A table inside this one; an empty one where it is left out."""
        value = self.value(name)
        if value is not None and not isinstance(value, dict):
            self.wrong(name, "must be a table")
        return self._inside(name, value if isinstance(value, dict) else {})

    def tables(self, name: str) -> tuple[Section, ...]:
        """A list of tables inside this one."""
        value = self.value(name)
        if value is None:
            return ()
        if not isinstance(value, list) or any(not isinstance(entry, dict) for entry in value):
            self.wrong(name, f"must be a list of tables, written as [[{name}]]")
            return ()
        return tuple(self._inside(f"{name}[{at}]", entry) for at, entry in enumerate(value))

    def aside(self, name: str) -> Section:
        """A table inside this one whose problems are not the file's; `is_sound` tells whether it has any."""
        value = self.value(name)
        return Section(value if isinstance(value, dict) else {}, name, [])

    def is_sound(self) -> bool:
        """True where nothing in this table is a problem, now that all of it was read."""
        self.end()
        return not self._problems

    def end(self) -> None:
        """Name the members that nobody knows, here and in every table that was read from here."""
        for name in self._raw:
            if name not in self._known:
                near = get_close_matches(name, self._known, 1, cutoff=0.0)
                self.wrong(name, "is not known" + (f"; did you mean {near[0]}?" if near else ""))
        for section in self._inner:
            section.end()

    def _inside(self, name: str, raw: Mapping[str, Any]) -> Section:
        section = Section(raw, f"{self._place}.{name}" if self._place else name, self._problems)
        self._inner.append(section)
        return section
