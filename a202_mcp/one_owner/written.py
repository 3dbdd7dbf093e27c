"""Values of the owner's file in the words of a problem (treatyway 3, axp 2): short, and never a failure."""

from __future__ import annotations

from datetime import date, datetime, time
from decimal import Decimal
from typing import Final

LONGEST_AMOUNT: Final = 30
_SHOWN: Final = 40
_EXAMPLE: Final = "12.50"
_WRITABLE_BITS: Final = 128
"""Python refuses to write integers of thousands of digits; far below that they are of no use in a line."""


def as_amount(value: int | float) -> str:
    """A number as the text of an amount: its own digits, or those of a whole one with cents."""
    exact = Decimal(value) if isinstance(value, int) else Decimal(repr(value))
    if not exact.is_finite() or exact.adjusted() > LONGEST_AMOUNT:
        return _EXAMPLE
    return format(exact, ".2f") if exact == exact.to_integral_value() else format(exact, "f")


def shown(value: object) -> str:
    """A value as the owner wrote it, cut."""
    if isinstance(value, str):
        return f'"{value[:_SHOWN]}"'
    if isinstance(value, dict | list):
        return "a table" if isinstance(value, dict) else "a list"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int) and value.bit_length() > _WRITABLE_BITS:
        return "a number of that size"
    return f"the {type(value).__name__} {value}" if isinstance(value, date | datetime | time) else str(value)[:_SHOWN]
