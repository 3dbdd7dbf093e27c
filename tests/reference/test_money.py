"""Rules 2; D-10: exact decimals on strings, never numbers, never binary fractions."""

import unittest
from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as st

from a202_reference.money import (
    evaluated_decimal,
    evaluated_integer,
    is_money,
    number_for_text,
    parse_amount,
    parse_quantity,
    plain,
    subtract,
)
from tests.reference.strategies import PROPERTY

NEVER = (
    "", "-1", "+1", "01", "00", "1.", ".5", "1e3", "1E3", "1_000", "1,000", "1 000", " 1", "1 ", "1\n", "NaN",
    "Infinity",
    "-0", "0x10", "\u0661", "1.2.3", None, 1, 1.5, True, ["1"], {"amount": "1"})


class Forms(unittest.TestCase):

    def test_amount(self):
        for text in ("0", "1", "10", "0.0", "4000.00", "0." + "0" * 17 + "1", "9" * 60):
            with self.subTest(text=text):
                self.assertEqual(parse_amount(text), Decimal(text))
        for text in (*NEVER, "0." + "0" * 18 + "1"):
            with self.subTest(text=text):
                self.assertIsNone(parse_amount(text))

    def test_quantity_has_at_most_9_fraction_digits(self):
        for text in ("0", "20", "20.00", "2.5", "0.000000001", "9" * 60):
            with self.subTest(text=text):
                self.assertEqual(parse_quantity(text), Decimal(text))
        for text in (*NEVER, "0.0000000001"):
            with self.subTest(text=text):
                self.assertIsNone(parse_quantity(text))

    def test_money_is_a_currency_and_an_amount_and_nothing_else(self):
        self.assertTrue(is_money({"currency": "EUR", "amount": "3200.00"}))
        for value in (
            {"currency": "EUR"}, {"amount": "1"}, {"currency": "EUR", "amount": 1}, {"currency": "EUR", "amount": "-1"},
            {"currency": "eur", "amount": "1"}, {"currency": "EURO", "amount": "1"}, {"currency": "EU", "amount": "1"},
            {"currency": "EUR\n", "amount": "1"}, {"currency": None, "amount": "1"}, {"currency": 978, "amount": "1"},
            {"currency": "EUR", "amount": "1", "note": "x"}, "EUR 1", None, [], 1,
        ):
            with self.subTest(value=value):
                self.assertFalse(is_money(value))

    def test_evaluated_decimal(self):
        for value, number in (
            ("20", 20), ("20.00", 20), ("-1.5", Decimal("-1.5")), ("007", 7), ("9" * 40, int("9" * 40)), (20, 20),
            (-3, -3), (0, 0), ("0." + "1" * 30, Decimal("0." + "1" * 30)),
        ):
            with self.subTest(value=value):
                self.assertEqual(evaluated_decimal(value), number)
        for value in (
            "4e3", "4E3", "1_000", "+4000", "NaN", "Infinity", "-Infinity", "", " 1", "1\n", "9" * 41, "0." + "1" * 31,
            ".5",
            "5.", "--1", "\u0661", 1.5, True, False, None, ["1"], {},
        ):
            with self.subTest(value=value):
                self.assertIsNone(evaluated_decimal(value))

    def test_evaluated_integer_has_no_fraction(self):
        for value, number in (("20", 20), ("-1", -1), (20, 20)):
            with self.subTest(value=value):
                self.assertEqual(evaluated_integer(value), number)
        for value in ("2.5", "2.0", "4e3", "", "+1", 2.0, True, None, "9" * 41):
            with self.subTest(value=value):
                self.assertIsNone(evaluated_integer(value))


class Exact(unittest.TestCase):

    def test_no_binary_fraction(self):
        self.assertEqual(subtract(Decimal("0.3"), Decimal("0.1")), Decimal("0.2"))

    def test_as_many_digits_as_there_are(self):
        big, tiny = Decimal("1" + "0" * 80), Decimal("0.000000001")
        self.assertEqual(plain(subtract(big, tiny)), "9" * 80 + "." + "9" * 9)

    @PROPERTY
    @given(st.integers(0, 10**60), st.integers(0, 10**9 - 1), st.integers(0, 10**60), st.integers(0, 10**9 - 1))
    def test_equals_integer_arithmetic(self, whole, fraction, other_whole, other_fraction):
        difference = subtract(Decimal(f"{whole}.{fraction:09}"), Decimal(f"{other_whole}.{other_fraction:09}"))
        nanos = (whole * 10**9 + fraction) - (other_whole * 10**9 + other_fraction)
        sign, nanos = "-" if nanos < 0 else "", abs(nanos)
        self.assertEqual(difference, Decimal(f"{sign}{nanos // 10**9}.{nanos % 10**9:09}"))

    def test_written_without_exponent_and_trailing_zeros(self):
        for number, text in (("20.00", "20"), ("1E+3", "1000"), ("0.000000001", "0.000000001"), ("100", "100"),
            ("0.0", "0")):
            with self.subTest(number=number):
                self.assertEqual(plain(Decimal(number)), text)


class NumbersWhereTextBelongs(unittest.TestCase):
    """Surface 4: a number where money or a quantity belongs is refused with the corrected call."""

    def test_found_with_the_text_to_send(self):
        for document, found in (
            ({"total": {"currency": "EUR", "amount": 3200}}, ("total.amount", "3200")),
            ({"total": {"currency": "EUR", "amount": 3200.5}}, ("total.amount", "3200.5")),
            ({"core": {"quantity": 20, "unit_code": "H87"}}, ("core.quantity", "20")),
            ({"core": {"quantity": 20}}, ("core.quantity", "20")),
            ({"list": [{"currency": "EUR", "amount": 1}]}, ("list[0].amount", "1")),
        ):
            with self.subTest(document=document):
                self.assertEqual(number_for_text(document), found)

    def test_the_text_is_of_the_amounts_form(self):
        for number in (1e22, 1e-7, 2.5e-9, 12345678.125):
            with self.subTest(number=number):
                _, text = number_for_text({"currency": "EUR", "amount": number})
                self.assertIsNotNone(parse_amount(text), text)

    def test_other_numbers_are_left_alone(self):
        for document in (
            {"total": {"currency": "EUR", "amount": "3200"}}, {"business_days_after_collection": 15},
            {"currency": "EUR", "days": 3}, {"unit_code": "H87", "pieces": 3},
            {"amount": 3}, {"quantity": 3}, {"score": {"quantity": 3}}, {"currency": "EUR", "amount": True}, [],
            "text", None, 5,
        ):
            with self.subTest(document=document):
                self.assertIsNone(number_for_text(document))
