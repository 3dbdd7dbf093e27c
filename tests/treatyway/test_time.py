"""Times, opening hours, lead times, capacity, spans, and commands that take too long."""

import tempfile
import unittest
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

from hypothesis import given
from hypothesis import strategies as st

from a202_mcp.treatyway.custom import Commands
from a202_mcp.treatyway.moments import LAST_DAY, read_moment
from a202_mcp.treatyway.opening import NEVER, earliest, fits, free_hour, is_open
from a202_mcp.treatyway.settings import Calendar, CustomTool, Lead
from a202_mcp.treatyway.spans import read_closed, read_lead, read_opening, read_span

ZONE = ZoneInfo("Europe/Berlin")


def calendar(*lines, **more):
    return Calendar(ZONE, lines, tuple(each for line in lines for each in read_opening(line)), **more)


def at(text):
    return datetime.fromisoformat(text).replace(tzinfo=ZONE).astimezone(UTC)


def span(start, end):
    return at(start), at(end)


class Moments(unittest.TestCase):
    def test_what_a_time_is(self):
        for text, echo, instant in (
                ("2026-11-20T15:00:00-07:00", "2026-11-20T15:00:00-07:00", datetime(2026, 11, 20, 22, tzinfo=UTC)),
                ("2026-11-20T15:00:00", "2026-11-20T15:00:00+01:00", datetime(2026, 11, 20, 14, tzinfo=UTC)),
                ("2026-07-01 15:00", "2026-07-01T15:00:00+02:00", datetime(2026, 7, 1, 13, tzinfo=UTC)),
                ("2026-11-20t15:00:00z", "2026-11-20t15:00:00z", datetime(2026, 11, 20, 15, tzinfo=UTC)),
                ("2026-11-20", "2026-11-20", None)):
            with self.subTest(text):
                found = read_moment(text, ZONE)
                self.assertEqual((found.echo, found.at), (echo, instant))

    def test_what_is_no_time(self):
        for text in ("", "soon", "2026-13-01", "2026-02-30T10:00:00Z", "2026-11-20T25:00:00Z", "20261120", "2026-W01-1",
                     "9999-12-31T23:59:59Z", "0001-01-01", "2026-11-20T10:00:00+25:00", "2026-11-20T10:00:00 Z",
                     "\u0662\u0660\u0662\u0666-11-20", "2026-11-20\n"):
            with self.subTest(text):
                self.assertIsNone(read_moment(text, ZONE))

    @given(st.text(max_size=30))
    def test_any_text_gets_an_answer(self, text):
        read_moment(text, ZONE)


class Opening(unittest.TestCase):
    def test_hours_and_closed_days(self):
        holidays = (date(2026, 12, 24), date(2026, 12, 26))
        shop = calendar("mon-fri 08:00-12:00", "mon-fri 12:00-16:00", closed=(holidays,))
        for start, end, open_ in (
                ("2026-11-16T08:00", "2026-11-16T16:00", True), ("2026-11-16T07:59", "2026-11-16T09:00", False),
                ("2026-11-16T15:00", "2026-11-16T16:01", False), ("2026-11-15T10:00", "2026-11-15T11:00", False),
                ("2026-12-24T10:00", "2026-12-24T11:00", False), ("2026-11-16T10:00", "2026-11-17T10:00", False)):
            with self.subTest(start):
                self.assertIs(is_open(shop, span(start, end)), open_)

    def test_around_the_clock_across_midnight_and_the_change_of_time(self):
        shop = calendar("mon-sun 00:00-24:00")
        self.assertTrue(is_open(shop, span("2026-10-24T20:00", "2026-10-26T20:00")))
        self.assertFalse(is_open(shop, span("2026-10-24T20:00", "2027-10-26T20:00")))

    def test_lead_times(self):
        shop = calendar("mon-fri 08:00-16:00", closed=((date(2026, 11, 18), date(2026, 11, 18)),))
        now = at("2026-11-16T09:00")
        for lead, soonest in (
                (None, "2026-11-16T09:00"), (Lead(12, "hours"), "2026-11-16T21:00"),
                (Lead(2, "days"), "2026-11-18T09:00"),
                (Lead(3, "business days"), "2026-11-20T09:00"), (Lead(4, "business days"), "2026-11-23T09:00"),
                (Lead(0, "business days"), "2026-11-16T09:00")):
            with self.subTest(lead):
                self.assertEqual(earliest(shop, lead, now), at(soonest))

    def test_a_free_hour_of_a_day(self):
        shop = calendar("mon 08:00-10:00")
        day, now = date(2026, 11, 16), at("2026-11-01T00:00")
        self.assertTrue(free_hour(shop, day, now, []))
        self.assertTrue(free_hour(shop, day, now, [span("2026-11-16T08:00", "2026-11-16T09:00")]))
        self.assertFalse(free_hour(shop, day, now, [span("2026-11-16T08:30", "2026-11-16T09:30")]))
        self.assertTrue(free_hour(
            replace(shop, capacity=2), day, now, [span("2026-11-16T08:30", "2026-11-16T09:30")]))
        self.assertFalse(free_hour(shop, day, at("2026-11-16T09:01"), []))

    def test_no_lead_time_ends_where_the_shop_never_opens_again(self):
        for last in (date(2999, 12, 31), date.max):
            shop = calendar("mon-fri 08:00-16:00", closed=((date(2026, 1, 1), last),))
            for lead in (Lead(1, "business days"), Lead(9999, "business days")):
                with self.subTest(last=last, lead=lead):
                    self.assertEqual(earliest(shop, lead, at("2026-11-16T09:00")), NEVER)
                    self.assertFalse(free_hour(shop, date(2026, 11, 20), NEVER, []))
        shop = calendar("mon-fri 08:00-16:00", closed=((date(2026, 11, 17), date(2026, 11, 22)),) * 3)
        self.assertEqual(earliest(shop, Lead(1, "business days"), at("2026-11-16T09:00")), at("2026-11-23T09:00"))
        self.assertLess(earliest(shop, Lead(9999, "business days"), at("2026-11-16T09:00")), NEVER)

    def test_the_last_days_that_can_be_named(self):
        shop = calendar("mon-sun 00:00-24:00")
        for day in (date(1970, 1, 1), LAST_DAY):
            with self.subTest(day):
                self.assertTrue(free_hour(shop, day, at("1960-01-01T00:00"), []))

    def test_a_free_hour_off_the_quarter_and_across_windows(self):
        day = date(2026, 11, 16)
        for lines, bookings, now, free in (
                (("mon 08:00-16:00",), [("08:00", "09:10"), ("10:10", "16:00")], "00:00", True),
                (("mon 08:00-16:00",), [("08:00", "09:10"), ("10:09", "16:00")], "00:00", False),
                (("mon 08:00-08:30", "mon 08:30-09:00"), [], "00:00", True),
                (("mon 08:00-08:30", "mon 08:31-09:30"), [], "00:00", False),
                (("mon 08:00-16:00",), [], "14:59", True), (("mon 08:00-16:00",), [], "15:01", False),
                (("mon 23:30-24:00", "tue 00:00-00:30"), [], "00:00", True),
                (("mon 23:30-24:00", "tue 00:00-00:29"), [], "00:00", False)):
            with self.subTest(lines, bookings=bookings, now=now):
                taken = [span(f"2026-11-16T{begins}", f"2026-11-16T{ends}") for begins, ends in bookings]
                self.assertIs(free_hour(calendar(*lines), day, at(f"2026-11-16T{now}"), taken), free)

    DAY = st.lists(st.tuples(st.integers(0, 88), st.integers(1, 40)), max_size=5)

    @given(DAY, DAY, st.integers(1, 2), st.integers(0, 90))
    def test_a_day_is_free_where_some_hour_that_begins_on_it_is(self, windows, bookings, capacity, soonest):
        """In steps of a quarter of an hour over one Monday: the day and the hours are asked by the same rules."""
        def quarter(count):
            return f"{count // 4:02}:{15 * (count % 4):02}"

        lines = [f"mon {quarter(begins)}-{quarter(min(begins + lasts, 96))}" for begins, lasts in windows]
        shop, midnight = calendar(*lines, capacity=capacity), at("2026-11-16T00:00")

        def from_to(begins, lasts):
            return tuple(midnight + timedelta(minutes=15 * count) for count in (begins, begins + lasts))

        taken = [from_to(*each) for each in bookings]
        hours = [from_to(begins, 4) for begins in range(soonest, 96)]
        expected = any(is_open(shop, hour) and fits(hour, taken, capacity) for hour in hours)
        found = free_hour(shop, date(2026, 11, 16), from_to(soonest, 0)[0], taken)
        self.assertEqual(found, expected)

    BOOKINGS = st.lists(st.tuples(st.integers(0, 50), st.integers(1, 20)), max_size=8)

    @given(BOOKINGS, st.integers(0, 50), st.integers(1, 20), st.integers(1, 4))
    def test_t87_what_fits_never_overlaps_more_than_the_capacity(self, bookings, start, length, capacity):
        zero = datetime(2026, 1, 1, tzinfo=UTC)

        def minutes(begins, lasts):
            return zero + timedelta(minutes=begins), zero + timedelta(minutes=begins + lasts)

        taken = [(begins, begins + lasts) for begins, lasts in bookings]
        most = max(sum(a <= minute < b for a, b in taken) for minute in range(start, start + length))
        found = fits(minutes(start, length), [minutes(*booking) for booking in bookings], capacity)
        self.assertEqual(found, most < capacity)


class Spans(unittest.TestCase):
    def test_forms(self):
        self.assertEqual(read_span("365d"), timedelta(days=365))
        for text in ("0s", "366d", "8785h", "7 d", "d", "1w", "-1d", "1.5h", "\u0661d"):
            with self.subTest(text):
                self.assertIsNone(read_span(text))
        self.assertEqual(read_lead("1 hour"), Lead(1, "hours"))
        self.assertEqual(read_lead("3 business days"), Lead(3, "business days"))
        self.assertIsNone(read_lead("3 weeks"))
        self.assertEqual([each.weekday for each in read_opening("sat-mon 10:00-24:00")], [5, 6, 0])
        for text in ("mon 16:00-08:00", "mon 08:00-24:01", "mon 08:60-09:00", "Mon 08:00-09:00", "mon"):
            with self.subTest(text):
                self.assertIsNone(read_opening(text))
        self.assertIsNone(read_closed("2026-12-26..2026-12-24"))


class LateCommands(unittest.TestCase):
    def test_a_command_that_takes_too_long_is_ended_with_all_it_started(self):
        with tempfile.TemporaryDirectory() as folder:
            commands = Commands(Path(folder), seconds=0.3)
            tool = CustomTool("x", "x", command=("sh", "-c", "sleep 600 & sleep 600"))
            self.assertIsNone(commands.reply(tool, {}))

    def test_no_more_than_so_many_at_once(self):
        commands = Commands(Path(), most=1)
        commands._places.acquire()
        self.assertIsNone(commands.reply(CustomTool("x", "x", command=("true",)), {}))
        self.assertEqual(commands.reply(CustomTool("x", "x", reply="r"), {}), "r")
