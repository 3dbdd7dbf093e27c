"""When the shop can do a job: opening hours, closed days, lead time, capacity (spec 3, 5).

Rules this module applies:

- an interval is open where every part of it lies in some opening window of a day that is not closed;
- a day has a free hour where a job of one hour could begin on it: by the same rules as for any other interval;
- business days are Monday to Friday without the closed days; a lead time is counted in local time from now;
- a new booking fits where at no instant more bookings than the capacity would overlap.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime, time, timedelta
from typing import Final, TypeAlias

from a202_mcp.treatyway.moments import LAST_DAY, USUAL_LENGTH
from a202_mcp.treatyway.settings import Calendar, Lead

Span: TypeAlias = tuple[datetime, datetime]
"""Start and end in UTC; the end is not included."""

NEVER: Final = datetime.max.replace(tzinfo=UTC)
"""After every instant that a buyer can name. Nothing can be added to it."""

_WEEKEND: Final = 5
_ONE_DAY: Final = timedelta(days=1)
_LONGEST: Final = timedelta(days=60)


def is_open(calendar: Calendar, span: Span) -> bool:
    """True where the whole interval lies in opening hours. No job is longer than 60 days."""
    at, end = span
    if not at < end or end - at > _LONGEST:
        return False
    while at < end:
        day = at.astimezone(calendar.zone).date()
        reached = max((closes for opens, closes in windows_of(calendar, day) if opens <= at < closes), default=None)
        if reached is None:
            return False
        at = reached
    return True


def windows_of(calendar: Calendar, day: date) -> Iterator[Span]:
    """The opening windows of one local day."""
    if any(first <= day <= last for first, last in calendar.closed):
        return
    for window in calendar.windows:
        if window.weekday == day.weekday():
            yield _instant(calendar, day, window.begins), _instant(calendar, day, window.ends)


def earliest(calendar: Calendar, lead: Lead | None, now: datetime) -> datetime:
    """The first instant at which a job may begin; NEVER where no business day is left."""
    if lead is None:
        return now
    if lead.unit == "hours":
        return now + timedelta(hours=lead.count)
    local = now.astimezone(calendar.zone)
    if lead.unit == "days":
        return _same_time(local, local.date() + timedelta(days=lead.count))
    day: date | None = local.date()
    for _ in range(lead.count):
        day = None if day is None else _next_business_day(calendar, day)
    return NEVER if day is None else _same_time(local, day)


def fits(span: Span, bookings: Sequence[Span], capacity: int) -> bool:
    """True where one more booking overlaps with no more than the capacity admits."""
    start, end = span
    instants = [start, *(begins for begins, _ in bookings if start < begins < end)]
    return all(sum(begins <= at < ends for begins, ends in bookings) < capacity for at in instants)


def free_hour(calendar: Calendar, day: date, not_before: datetime, bookings: Sequence[Span]) -> bool:
    """True where an hour that begins on a local day is open, late enough and free. bookings: those of `hours_from`.

    The first such hour begins at the earliest instant, with an opening window or where a booking ends.
    """
    begins, ends = _instant(calendar, day, 0), _instant(calendar, day, 24 * 60)
    soonest = max(begins, not_before)
    starts = {soonest, *(opens for opens, _ in windows_of(calendar, day)), *(over for _, over in bookings)}
    hours = ((at, at + USUAL_LENGTH) for at in starts if soonest <= at < ends)
    return any(is_open(calendar, hour) and fits(hour, bookings, calendar.capacity) for hour in hours)


def hours_from(calendar: Calendar, day: date) -> Span:
    """From the first to the last instant of the hours that begin on a local day."""
    return _instant(calendar, day, 0), _instant(calendar, day, 24 * 60) + USUAL_LENGTH


def _instant(calendar: Calendar, day: date, minutes: int) -> datetime:
    days, rest = divmod(minutes, 24 * 60)
    local = datetime.combine(day + timedelta(days=days), time(rest // 60, rest % 60), calendar.zone)
    return local.astimezone(UTC)


def _same_time(local: datetime, day: date) -> datetime:
    return datetime.combine(day, local.timetz().replace(tzinfo=None), local.tzinfo).astimezone(UTC)


def _next_business_day(calendar: Calendar, day: date) -> date | None:
    """The first business day after `day`, or None before the end of all days that a buyer can name."""
    while day < LAST_DAY:
        day += _ONE_DAY
        reopens = max((last for first, last in calendar.closed if first <= day <= last), default=None)
        if reopens is None and day.weekday() < _WEEKEND:
            return day
        day = reopens or day
    return None
