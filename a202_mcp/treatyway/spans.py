"""Time spans and opening hours as the owner writes them (spec 3)."""

from __future__ import annotations

import re
from datetime import date, timedelta
from typing import Final

from a202_mcp.treatyway.settings import Lead, Window

DAYS: Final = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_UNITS: Final = {"s": 1, "m": 60, "h": 3600, "d": 86400}
_SPAN: Final = re.compile(r"([1-9][0-9]{0,8})([smhd])", re.ASCII)
_LEAD: Final = re.compile(r"([0-9]{1,4}) (business day|hour|day)s?", re.ASCII)
_OPEN: Final = re.compile(
    r"(mon|tue|wed|thu|fri|sat|sun)(?:-(mon|tue|wed|thu|fri|sat|sun))? "
    r"([0-9]{2}):([0-9]{2})-([0-9]{2}):([0-9]{2})", re.ASCII)
_DAY: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", re.ASCII)


def read_span(text: str) -> timedelta | None:
    """A span such as 7d, 1s to 365d, or None."""
    found = _SPAN.fullmatch(text)
    span = None if found is None else timedelta(seconds=int(found[1]) * _UNITS[found[2]])
    return span if span is not None and span <= timedelta(days=365) else None


def read_lead(text: str) -> Lead | None:
    """A lead time such as 3 business days, or None."""
    found = _LEAD.fullmatch(text)
    return None if found is None else Lead(int(found[1]), found[2] + "s")


def read_opening(text: str) -> tuple[Window, ...] | None:
    """Opening hours such as mon-fri 08:00-16:00, or None."""
    found = _OPEN.fullmatch(text)
    if found is None:
        return None
    begins, ends = (int(found[at]) * 60 + int(found[at + 1]) for at in (3, 5))
    if int(found[4]) > 59 or int(found[6]) > 59 or not begins < ends <= 24 * 60:
        return None
    first = DAYS.index(found[1])
    count = (DAYS.index(found[2]) - first) % 7 if found[2] else 0
    return tuple(Window((first + day) % 7, begins, ends) for day in range(count + 1))


def read_closed(text: str) -> tuple[date, date] | None:
    """A closed day, or first and last of closed days joined by `..`, or None."""
    parts = text.split("..")
    if len(parts) > 2 or not all(_DAY.fullmatch(part) for part in parts):
        return None
    try:
        first, last = date.fromisoformat(parts[0]), date.fromisoformat(parts[-1])
    except ValueError:
        return None
    return (first, last) if first <= last else None
