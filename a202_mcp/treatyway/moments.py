"""Times as buyers send them (spec 5, "Rules of value").

Rules this module applies:

- a date, or a date and time by RFC 3339; a time without offset is read in the seller's zone and echoed with its
  offset; text that is neither is no time;
- a job without `end` takes one hour.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Final
from zoneinfo import ZoneInfo

USUAL_LENGTH: Final = timedelta(hours=1)
_FORM: Final = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?:[Tt ][0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,9})?)?"
    r"(?P<offset>[Zz]|[+-][0-9]{2}:[0-9]{2})?)?", re.ASCII)
_DAY_LENGTH: Final = 10
LAST_DAY: Final = date(2999, 12, 31)
"""The last day that a buyer can name."""

_YEARS: Final = range(1970, LAST_DAY.year + 1)


@dataclass(frozen=True, slots=True)
class Moment:
    """A time that a buyer named. `at` (UTC) is None where only a day was named; `echo` is how it is sent back."""

    echo: str
    day: date
    at: datetime | None


def read_moment(text: str, zone: ZoneInfo) -> Moment | None:
    """The day or time in a text, or None."""
    found = _FORM.fullmatch(text)
    if found is None:
        return None
    try:
        read = datetime.fromisoformat(text.upper())
        if read.year not in _YEARS:
            return None
        if len(text) == _DAY_LENGTH:
            return Moment(text, read.date(), None)
        local = read.replace(tzinfo=zone) if read.tzinfo is None else read
        echo = text if found["offset"] else local.isoformat()
        return Moment(echo, local.astimezone(zone).date(), local.astimezone(UTC))
    except (ValueError, OverflowError):
        return None


def interval(start: Moment, end: Moment | None) -> tuple[datetime, datetime] | None:
    """Start and end of a job in UTC; None where only a day is known of either."""
    if start.at is None or (end is not None and end.at is None):
        return None
    return start.at, start.at + USUAL_LENGTH if end is None or end.at is None else end.at
