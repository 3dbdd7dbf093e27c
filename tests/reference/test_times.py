"""Rules 2, 3.6; design override 11: instants are RFC 3339 in UTC with `Z`, and nothing else is one."""

import unittest
from datetime import UTC, datetime, timedelta, timezone

from hypothesis import given
from hypothesis import strategies as st

from a202_reference.times import STATUS_WINDOW, format_instant, parse_instant, whole_second, within_window
from tests.reference.strategies import PROPERTY

GOOD = {
    "2026-08-20T10:00:00Z": datetime(2026, 8, 20, 10, tzinfo=UTC),
    "2024-02-29T23:59:59Z": datetime(2024, 2, 29, 23, 59, 59, tzinfo=UTC),
    "0001-01-01T00:00:00Z": datetime(1, 1, 1, tzinfo=UTC),
    "9999-12-31T23:59:59Z": datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC),
    "2026-08-20T10:00:00.5Z": datetime(2026, 8, 20, 10, 0, 0, 500_000, tzinfo=UTC),
    "2026-08-20T10:00:00.000001Z": datetime(2026, 8, 20, 10, 0, 0, 1, tzinfo=UTC),
    "2026-08-20T10:00:00.999999999Z": datetime(2026, 8, 20, 10, 0, 0, 999_999, tzinfo=UTC),
}
BAD = (
    "2026-08-20", "2026-08-20T10:00Z", "2026-08-20T10:00:00", "2026-08-20T10:00:00+00:00", "2026-08-20T10:00:00-00:00",
    "2026-08-20T12:00:00+02:00", "2026-08-20t10:00:00Z", "2026-08-20T10:00:00z", "2026-08-20 10:00:00Z",
    "2026-02-29T10:00:00Z", "2026-13-01T10:00:00Z", "2026-00-01T10:00:00Z", "2026-08-32T10:00:00Z",
    "2026-08-20T24:00:00Z", "2026-08-20T10:60:00Z", "2026-06-30T23:59:60Z", "0000-01-01T00:00:00Z",
    "2026-08-20T10:00:00.Z", "2026-08-20T10:00:00,5Z", "20260820T100000Z", "2026-W34-4T10:00:00Z",
    "2026-8-20T10:00:00Z", "2026-08-20T1:00:00Z", "+2026-08-20T10:00:00Z", "12026-08-20T10:00:00Z",
    "2026-08-20T10:00:00Z\n", " 2026-08-20T10:00:00Z", "2026-08-20T10:00:00 Z",
    "\u0662\u0660\u0662\u0666-08-20T10:00:00Z", "yesterday", "", None, 1787220000, 1.5, True,
    ["2026-08-20T10:00:00Z"], {})


class Instants(unittest.TestCase):

    def test_read(self):
        for text, moment in GOOD.items():
            with self.subTest(text=text):
                self.assertEqual(parse_instant(text), moment)

    def test_unreadable(self):
        for text in BAD:
            with self.subTest(text=text):
                self.assertIsNone(parse_instant(text))

    @PROPERTY
    @given(st.datetimes(timezones=st.just(UTC)))
    def test_what_is_written_is_read_back_to_the_second(self, moment):
        self.assertEqual(parse_instant(format_instant(moment)), moment.replace(microsecond=0))

    def test_written_in_utc(self):
        moment = datetime(2026, 8, 20, 12, 0, 0, 999_999, timezone(timedelta(hours=2)))
        self.assertEqual(format_instant(moment), "2026-08-20T10:00:00Z")

    def test_early_years_keep_four_digits(self):
        self.assertEqual(format_instant(datetime(1, 1, 1, tzinfo=UTC)), "0001-01-01T00:00:00Z")

    def test_a_moment_without_zone_is_no_instant(self):
        with self.assertRaises(ValueError):
            format_instant(datetime(2026, 8, 20))

    def test_cut_to_the_second_never_rounded(self):
        moment = datetime(2026, 8, 20, 12, 0, 0, 999_999, timezone(timedelta(hours=2)))
        self.assertEqual(whole_second(moment), datetime(2026, 8, 20, 10, tzinfo=UTC))


class Window(unittest.TestCase):

    def test_60_seconds_to_either_side(self):
        self.assertEqual(STATUS_WINDOW, timedelta(seconds=60))
        now = datetime(2026, 8, 20, 10, tzinfo=UTC)
        for seconds, usable in ((0, True), (-60, True), (60, True), (-60.000001, False), (60.000001, False)):
            with self.subTest(seconds=seconds):
                self.assertIs(within_window(now + timedelta(seconds=seconds), now), usable)
