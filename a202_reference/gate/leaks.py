"""The leak filters (rules 12.8, D-43; verification 5.2, 5.8): fixed names and patterns, applied literally.

The scans follow ASCII word boundaries but Unicode blanks and case, so that a letter or blank from another
script hides nothing.
"""

from __future__ import annotations

import re

from a202_reference.codes import Code

RIVAL_PARTS = (
    "competing", "rival", "other_bid", "bid_count", "bidder_count", "session_count", "participant_count",
    "winning_price", "best_price", "best_bid", "rank")
SECRET_MEMBERS = frozenset({"claim_secret", "claim_secret_value", "secret"})
AWARD_UNIT_MEMBERS = frozenset({"lot_id", "award_unit_id"})
TELLING_REASONS = frozenset({Code.BID_NO_IMPROVEMENT.value, Code.LOT_ALREADY_AWARDED.value})

_SECRET_WORD = re.compile(
    r"(?<![A-Za-z0-9_])(bearer|authorization|api[_-]?key|access[_-]?token|secret|password)(?![A-Za-z0-9_])",
    re.IGNORECASE)
_PARTY_TOKEN = re.compile(r"\b(?:org|agt|off|acc)_[A-Za-z0-9][A-Za-z0-9_-]{2,127}\b", re.ASCII)
_MONEY = re.compile(
    r"(?a:\b)[A-Z]{3}\s?[0-9]+(?:[.,][0-9]+)?(?a:\b)|(?a:\b)[0-9]+(?:[.,][0-9]{2})\s?[A-Z]{3}(?a:\b)")


def names_rival(name: str) -> bool:
    """True where a member name tells of competitors."""
    lowered = name.casefold()
    return any(part in lowered for part in RIVAL_PARTS)


def holds_secret(hint: str) -> bool:
    """True where a locator hint carries a credential."""
    return _SECRET_WORD.search(hint) is not None


def tells_too_much(text: str, known: frozenset[str]) -> bool:
    """True where free text names a party or offer beyond the known ones, an amount of money, or competitors."""
    return (
        not known.issuperset(_PARTY_TOKEN.findall(text))
        or _MONEY.search(text) is not None
        or names_rival(text))
