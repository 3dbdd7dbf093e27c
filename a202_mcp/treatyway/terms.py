"""The terms of a quote, of profile a202-profile/direct-trade/0.1 (spec 9.1). The buyer's free text is never in them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any, Final

from a202_mcp.treatyway.basket import Basket
from a202_mcp.treatyway.opening import Span
from a202_mcp.treatyway.prices import money
from a202_mcp.treatyway.settings import Kind, Offer
from a202_reference.times import format_instant

PROFILE: Final = "a202-profile/direct-trade/0.1"
_PIECES, _SERVICE = "H87", "C62"
_LONGEST: Final = 4096


def priced(basket: Basket, reference: str, attested_by: str, currency: str) -> dict[str, Any]:
    """The terms of a price by the owner's rules."""
    lines = [
        {"offer_id": line.offer.id, "quantity": str(line.quantity), "amount": money(line.amount, currency)["amount"]}
        for line in basket.lines]
    quantity, unit = "1", _SERVICE
    if len(basket.lines) == 1:
        only = basket.lines[0]
        quantity, unit = str(only.quantity), _PIECES if only.offer.kind is Kind.GOOD else _SERVICE
    return _terms(basket.offers, reference, attested_by, money(basket.total, currency), lines, basket.span,
                  quantity, unit)


def by_person(
    basket: Basket, reference: str, attested_by: str, amount: Decimal, currency: str,
) -> dict[str, Any]:
    """The terms of a price that a person gives for the whole request."""
    return _terms(basket.offers, reference, attested_by, money(amount, currency), [], basket.span, "1", _SERVICE)


def _terms(  # noqa: PLR0913, PLR0917 - the terms have these parts
    offers: Sequence[Offer], reference: str, attested_by: str, total: Mapping[str, str],
    lines: Sequence[Mapping[str, str]], span: Span | None, quantity: str, unit: str,
) -> dict[str, Any]:
    description = "; ".join(dict.fromkeys(offer.name for offer in offers)) or f"Request {reference}"
    return {
        "profile": PROFILE,
        "core": {
            "description": description[:_LONGEST],
            "quantity": quantity,
            "unit_code": unit,
            "total": dict(total),
        },
        "profile_terms": {
            "channel": "treatyway",
            "reference": reference,
            "attested_by": attested_by,
            "lines": list(lines),
            **({} if span is None else {"start": format_instant(span[0]), "end": format_instant(span[1])}),
        },
    }
