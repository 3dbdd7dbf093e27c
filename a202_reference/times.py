"""Instants: RFC 3339 date-times in UTC with a capital `Z` (rules 2; design override 11).

Rules this module applies:

- a shared document writes every instant as `YYYY-MM-DDThh:mm:ss[.fraction]Z`, a real calendar date and
  time, no offset, no leap second, no lower-case letters; anything else is unreadable (`None`), and the
  rule that needed the instant fails;
- the core never asks a clock. Time comes in as an argument, cut to whole seconds by the shell.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from functools import lru_cache

_REMEMBERED_LENGTH = 40
STATUS_WINDOW = timedelta(seconds=60)
"""How old, and how far ahead, a status answer or a decision may be (rules 3.6)."""

_PATTERN = re.compile(
    r"([0-9]{4})-([0-9]{2})-([0-9]{2})T([0-9]{2}):([0-9]{2}):([0-9]{2})(?:\.([0-9]+))?Z", re.ASCII)


def parse_instant(text: object) -> datetime | None:
    """The instant written in `text`, or None where it is not one. Fractions are cut to microseconds."""
    if not isinstance(text, str):
        return None
    return _remembered(text) if len(text) <= _REMEMBERED_LENGTH else _read(text)


def _read(text: str) -> datetime | None:
    found = _PATTERN.fullmatch(text)
    if found is None:
        return None
    year, month, day, hour, minute, second = (int(part) for part in found.groups()[:6])
    microsecond = int((found.group(7) or "0")[:6].ljust(6, "0"))
    try:
        return datetime(year, month, day, hour, minute, second, microsecond, UTC)
    except ValueError:
        return None


# Documents of one record repeat few instants, and each is read many times; a long text is a stranger's, and not kept.
_remembered = lru_cache(maxsize=4096)(_read)


def format_instant(moment: datetime) -> str:
    """The moment in UTC, whole seconds, as shared documents write it.

    Raises ValueError for a moment without a time zone: such a moment names no instant.
    """
    if moment.tzinfo is None:
        raise ValueError("an instant needs a time zone")
    return moment.astimezone(UTC).replace(microsecond=0, tzinfo=None).isoformat() + "Z"


def whole_second(moment: datetime) -> datetime:
    """The moment in UTC, cut (not rounded) to its second."""
    return moment.astimezone(UTC).replace(microsecond=0)


def within_window(moment: datetime, reference: datetime) -> bool:
    """True where `moment` is neither more than 60 s before nor more than 60 s after `reference`."""
    return -STATUS_WINDOW <= reference - moment <= STATUS_WINDOW
