"""Prices by the owner's rules (spec 3, "Price"): exact decimals, rounded half up to the currency's digits, per line.

setup + fixed + per_unit * quantity + per_hour * hours, then at least the minimum. The tier with the greatest `from`
not above the quantity replaces per_unit. Hours are rounded up to the quarter.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from decimal import ROUND_HALF_UP, Context, Decimal
from functools import reduce
from typing import Final

from a202_mcp.treatyway.settings import Price

_QUARTER: Final = timedelta(minutes=15)
_EXACT: Final = Context(prec=120)
_DIGITS: Final = {
    0: "BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF",
    3: "BHD IQD JOD KWD LYD OMR TND",
    4: "CLF UYW",
}
_BY_CURRENCY: Final = {code: digits for digits, codes in _DIGITS.items() for code in codes.split()}


def digits_of(currency: str) -> int:
    """How many fraction digits the currency is written with."""
    return _BY_CURRENCY.get(currency, 2)


def rounded(amount: Decimal, currency: str) -> Decimal:
    """Rounded half up to the currency's digits, written with exactly that many."""
    return amount.quantize(Decimal(1).scaleb(-digits_of(currency)), ROUND_HALF_UP, _EXACT)


def money(amount: Decimal, currency: str) -> dict[str, str]:
    """{currency, amount} of a rounded amount."""
    return {"currency": currency, "amount": format(rounded(amount, currency), "f")}


def hours_of(start: datetime, end: datetime) -> Decimal:
    """The length of a job in hours, rounded up to the quarter."""
    quarters = -((start - end) // _QUARTER)
    return Decimal(quarters) / 4


def line_amount(price: Price, quantity: int, hours: Decimal, currency: str) -> Decimal:
    """What one line costs, rounded."""
    per_unit = price.per_unit
    for begins, tier in price.tiers:
        if begins <= quantity:
            per_unit = tier
    total = _EXACT.add(price.setup, price.fixed)
    total = _EXACT.add(total, _EXACT.multiply(per_unit, Decimal(quantity)))
    total = _EXACT.add(total, _EXACT.multiply(price.per_hour, hours))
    return rounded(max(total, price.minimum), currency)


def total_of(amounts: Iterable[Decimal]) -> Decimal:
    """The sum of lines."""
    return reduce(_EXACT.add, amounts, Decimal(0))
