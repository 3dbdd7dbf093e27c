"""Tasks in hand, and what may still be taken (spec 7.1 row 3, 7.2)."""

from __future__ import annotations

from typing import Final

from a202_mcp.axp.settings import Skill
from a202_mcp.axp.view import View

SOLD: Final = "sold"
"""The kind under which a seller's taken tasks are remembered."""

ACCEPTED, WORKING, DELIVERING, DELIVERED, TASK_FAILED = "accepted", "working", "delivering", "delivered", "failed"
FINISHED: Final = "finished"
"""Done, and kept until the mandate allows the delivery."""
IN_HAND: Final = (ACCEPTED, WORKING, FINISHED, DELIVERING)


def places_left(view: View, skill: Skill) -> int:
    """How many more tasks of this kind may be taken now."""
    in_hand = view.store.items_where(SOLD, "state", IN_HAND).values()
    of_kind = sum(1 for task in in_hand if task["task_type"] == skill.task_type)
    return min(view.settings.seller.max_open - len(in_hand), skill.max_open - of_kind)


def availability(view: View, skill: Skill) -> str:
    """high, medium or low, by the places left."""
    most = min(view.settings.seller.max_open, skill.max_open)
    left = places_left(view, skill)
    if 2 * left > most:
        return "high"
    return "medium" if left > 1 else "low"
