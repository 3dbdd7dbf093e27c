"""What a task costs and how long it takes (spec 2, "Price"; 7.1 rows 4 to 6; requirement A30).

Rules this module applies:

- fixed + sum of each x param, at least the minimum; exact decimals; the price is rounded half-up to cents, the time
  up to whole minutes and at least one;
- a param that is absent takes its default; without one, it is missing;
- a param that is no number, negative, or above its maximum cannot be priced.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_HALF_UP, Decimal
from typing import Any, Final

from a202_mcp.axp.settings import Formula, Part, Skill

CENT: Final = Decimal("0.01")
HIGHEST: Final = Decimal(100000)
LONGEST: Final = 43200


@dataclass(frozen=True, slots=True)
class Priced:
    """A price in US dollars and minutes of work."""

    price: Decimal
    eta_minutes: int


@dataclass(frozen=True, slots=True)
class Unpriceable:
    """The param that makes a price impossible; None where the whole is out of range."""

    param: str | None


def missing_params(skill: Skill, params: Mapping[str, Any]) -> list[str]:
    """The params without which there is no price, each once."""
    needed = [*skill.requires, *(part.param for formula in (skill.price, skill.eta) for part in formula.parts
                                 if part.default is None)]
    return [name for name in dict.fromkeys(needed) if params.get(name) is None]


def price_task(skill: Skill, params: Mapping[str, Any], *, test: bool = False) -> Priced | Unpriceable:
    """Price and time. test: a param that is missing without default counts as 1."""
    price, minutes = _value(skill.price, params, test), _value(skill.eta, params, test)
    if isinstance(price, Unpriceable):
        return price
    if isinstance(minutes, Unpriceable):
        return minutes
    rounded = max(price, skill.price.minimum).quantize(CENT, ROUND_HALF_UP)
    eta = max(1, int(minutes.to_integral_value(ROUND_CEILING)))
    return Priced(rounded, eta) if rounded <= HIGHEST and eta <= LONGEST else Unpriceable(None)


def typical(skill: Skill) -> tuple[Decimal, int]:
    """The least price and the time of an ordinary task, for the list of skills."""
    minutes = _value(skill.eta, {}, test=True)
    eta = int(minutes.to_integral_value(ROUND_CEILING)) if isinstance(minutes, Decimal) else LONGEST
    least = max(skill.price.minimum, skill.price.fixed).quantize(CENT, ROUND_HALF_UP)
    return least, min(max(1, eta), LONGEST)


def _value(formula: Formula, params: Mapping[str, Any], test: bool) -> Decimal | Unpriceable:
    total = formula.fixed
    for part in formula.parts:
        units = _units(part, params, test)
        if units is None:
            return Unpriceable(part.param)
        total += part.each * units
    return total


def _units(part: Part, params: Mapping[str, Any], test: bool) -> Decimal | None:
    given = params.get(part.param)
    if given is None:
        given = part.default if part.default is not None else Decimal(1) if test else None
    if not isinstance(given, Decimal) or given < 0 or (part.maximum is not None and given > part.maximum):
        return None
    return given
