"""Exact decimals on strings: money, quantities, percentages (rules 2; D-10).

Rules this module applies:

- an amount is `0` or digits without leading zero, with at most 18 fraction digits; a quantity has at
  most 9; neither has a sign or an exponent; neither is ever a JSON number;
- a decimal under evaluation follows the grammar of D-10: optional minus, up to 40 digits, up to 30
  fraction digits; no exponent, plus sign, underscore, NaN or Infinity;
- values are compared and subtracted exactly. Binary floating point is never used.
"""

from __future__ import annotations

import re
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal, Inexact

AMOUNT = re.compile(r"(0|[1-9][0-9]*)(\.[0-9]{1,18})?", re.ASCII)
QUANTITY = re.compile(r"(0|[1-9][0-9]*)(\.[0-9]{1,9})?", re.ASCII)
UNIT_CODE = re.compile(r"[A-Z0-9]{2,3}", re.ASCII)
CURRENCY = re.compile(r"[A-Z]{3}", re.ASCII)
_EVALUATED = re.compile(r"-?[0-9]{1,40}(\.[0-9]{1,30})?", re.ASCII)
_INTEGER = re.compile(r"-?[0-9]{1,40}", re.ASCII)


def parse_amount(text: object) -> Decimal | None:
    """The amount, or None where `text` is not of the amount's form."""
    return _decimal(AMOUNT, text)


def parse_quantity(text: object) -> Decimal | None:
    """The quantity, or None where `text` is not of the quantity's form."""
    return _decimal(QUANTITY, text)


def is_unit_code(value: object) -> bool:
    """True for two or three capitals or digits, as UN/ECE Recommendation 20 writes its codes."""
    return isinstance(value, str) and UNIT_CODE.fullmatch(value) is not None


def is_money(value: object) -> bool:
    """True for exactly {currency, amount}, both of their form."""
    return (
        isinstance(value, dict)
        and value.keys() == {"currency", "amount"}
        and isinstance(value["currency"], str)
        and CURRENCY.fullmatch(value["currency"]) is not None
        and parse_amount(value["amount"]) is not None
    )


def number_for_text(value: object, path: str = "") -> tuple[str, str] | None:
    """The first place in a document where a JSON number stands for an amount or a quantity, and the text to send.

    An amount is the `amount` beside a `currency`; a quantity is the `quantity` beside a `unit_code` or in a `core`.
    None where there is none. Recursion ends where the reader's limit on nesting does.
    """
    if isinstance(value, list):
        places = ((f"{path}[{index}]", member) for index, member in enumerate(value))
        return next((found for place, member in places if (found := number_for_text(member, place))), None)
    if not isinstance(value, dict):
        return None
    for name, member in value.items():
        place = f"{path}.{name}" if path else name
        money = name == "amount" and "currency" in value
        quantity = name == "quantity" and ("unit_code" in value or path.rpartition(".")[2] == "core")
        if (money or quantity) and isinstance(member, int | float) and not isinstance(member, bool):
            return place, format(Decimal(repr(member)), "f")
        if found := number_for_text(member, place):
            return found
    return None


def evaluated_decimal(value: object) -> Decimal | None:
    """A decimal string or a JSON integer as a number under a constraint (D-10), else None."""
    return _evaluated(_EVALUATED, value)


def evaluated_integer(value: object) -> Decimal | None:
    """As `evaluated_decimal`, whole numbers only: a fraction is not an integer, even `2.0`."""
    return _evaluated(_INTEGER, value)


def subtract(minuend: Decimal, subtrahend: Decimal) -> Decimal:
    """The exact difference, whatever the number of digits."""
    digits = max(len(number.as_tuple().digits) + abs(number.adjusted()) for number in (minuend, subtrahend))
    exact = Context(prec=2 * digits + 60, Emax=MAX_EMAX, Emin=MIN_EMIN, traps=[Inexact])
    return exact.subtract(minuend, subtrahend)


def plain(number: Decimal) -> str:
    """The number as a base-10 string without exponent and without trailing fraction zeros."""
    text = format(number, "f")
    return text.rstrip("0").rstrip(".") if "." in text else text


def _decimal(pattern: re.Pattern[str], text: object) -> Decimal | None:
    return Decimal(text) if isinstance(text, str) and pattern.fullmatch(text) else None


def _evaluated(pattern: re.Pattern[str], value: object) -> Decimal | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return Decimal(value)
    return _decimal(pattern, value)
