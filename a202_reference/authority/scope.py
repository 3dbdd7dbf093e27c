"""What a mandate is about: its actions and the four scope axes (rules 3.5 steps 8 and 9; D-12).

An action that is not listed is denied. Every axis that the scope declares must contain the act's value;
an axis whose value the act does not state denies, because silence is not consent. An axis the scope does
not declare does not matter.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from a202_reference.documents.mandate import AXES, Mandate


def action_fault(mandate: Mandate, act: Mapping[str, Any]) -> str | None:
    """Step 8: why the mandate does not let its subject do this kind of act, or None."""
    action = act.get("action_type")
    if isinstance(action, str) and action in mandate.actions:
        return None
    named = action[:80] if isinstance(action, str) else "that was given"
    return f"{mandate.id} does not list the action {named}; it lists {', '.join(sorted(mandate.actions))[:400]}"


def scope_faults(mandate: Mandate, act: Mapping[str, Any]) -> list[str]:
    """Step 9: one sentence for each declared axis that the act does not fit."""
    faults = []
    for axis, member in AXES:
        if axis not in mandate.scope:
            continue
        value = act.get(member)
        if value is None:
            faults.append(f"{mandate.id} bounds {axis}: the act must state `{member}`")
        elif not isinstance(value, str) or value not in mandate.scope[axis]:
            faults.append(f"{mandate.id} bounds {axis}: the act's `{member}` is not among them")
    return faults
