"""The mandate that the plain limits of `seller.toml` mean (treatyway 9.2).

The limits are of the category of direct sales; the acts are `offer.submit` and `agreement.sign`.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any, Final

from a202_mcp.one_owner.identity import Identity
from a202_mcp.one_owner.limits import Grant, TotalLimits
from a202_mcp.treatyway.settings import Limits

CATEGORY: Final = "sales.direct"
OFFER: Final = "offer.submit"
SIGN: Final = "agreement.sign"


def from_limits(
    limits: Limits, currency: str, status_url: str | None, who: Identity, mandate_id: str, now: datetime,
) -> dict[str, Any]:
    """The mandate that the limits mean, its proof still to come."""
    return Grant(
        (OFFER, SIGN), CATEGORY, TotalLimits(limits.max_total, currency, limits.ask_above, limits.min_total),
        limits.valid_days, status_url).mandate(who, mandate_id, now)
