"""Where each obligation stands, and whether it was due (surface 2, record_obligation; design override 7).

An obligation is owed early or late alike. Whether it is due, and whether it was when it was asserted, is stated
beside the checks and is none of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from a202_reference.evidence.entry import Entry
from a202_reference.evidence.inquiry import Inquiry
from a202_reference.evidence.obligation_replay import Replayed, replay
from a202_reference.evidence.report import ObligationReading
from a202_reference.gate.reading import items, members
from a202_reference.lifecycle.due import Due, DueFacts, is_due
from a202_reference.lifecycle.obligation_state import ObligationState
from a202_reference.registries import ObjectType


def obligation_readings(inquiry: Inquiry) -> tuple[ObligationReading, ...]:
    """One reading for each obligation of the set."""
    replayed = {obligation: replay(obligation, inquiry) for obligation in inquiry.index.of(ObjectType.OBLIGATION)}
    discharged = frozenset(obligation.subject for obligation, found in replayed.items()
                           if found.state == ObligationState.DISCHARGED)
    return tuple(_reading(obligation, found, discharged, inquiry) for obligation, found in replayed.items())


def _reading(
    obligation: Entry, found: Replayed, discharged: frozenset[str], inquiry: Inquiry,
) -> ObligationReading:
    condition = members(obligation.payload.get("due_condition"))
    due = _due(condition, inquiry.now, discharged, inquiry)
    asserted: str | None = None
    if found.assertion is not None and found.assertion.created_at is not None:
        then = _due(condition, found.assertion.created_at, discharged, inquiry)
        asserted = {Due.MET: "on_time", Due.NOT_MET: "early"}.get(then)
    return ObligationReading(obligation.subject, found.state, due.value, asserted)


def _due(condition: Mapping[str, Any], at: datetime, discharged: frozenset[str], inquiry: Inquiry) -> Due:
    """The condition at an instant: what was recorded, presented or discharged by then counts."""
    kinds = frozenset(kind for kind, presented in inquiry.first_presented.items() if presented <= at)
    named = {leaf.get("act_ref") for leaf in (condition, *map(members, items(condition.get("conditions"))))}
    acts = frozenset(str(ref) for ref in named if _recorded_by(ref, at, inquiry))
    if condition.get("type") == "all_of" and not items(condition.get("conditions")):
        return Due.NOT_COMPUTABLE
    return is_due(condition, DueFacts(at, acts, kinds, discharged))


def _recorded_by(content_hash: object, at: datetime, inquiry: Inquiry) -> bool:
    act = inquiry.index.hashed(content_hash)
    return act is not None and act.created_at is not None and act.created_at <= at
