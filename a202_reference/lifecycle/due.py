"""Due conditions (rules 8.2; D-37; design override 7).

Rules this module applies:

- four registered types, nothing else, and an unknown one is never due; `all_of` joins at least two leaves and
  is not nested. The shape is the gate's to judge; here a condition is computed;
- a time is met when the instant judged is not before it; business days need calendar data that nobody
  registered, so they are not computable; an event is met when the act with that hash is recorded, or evidence
  of that type is presented and verified; a discharge when that obligation is discharged;
- an early assertion is recorded: whether the obligation was due then is reported and used by the obligee's
  answer, it is no bar;
- obligations may not wait for each other in a loop (`A202-OBLIGATION-CONDITION-CYCLIC`).
"""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from a202_reference.registries import DueType
from a202_reference.times import parse_instant


class Due(StrEnum):
    """Whether an obligation is due at the instant judged."""

    MET = "met"
    NOT_MET = "not_met"
    NOT_COMPUTABLE = "not_computable"


@dataclass(frozen=True, slots=True)
class DueFacts:
    """What a condition may look at.

    act_hashes: content hashes of recorded acts. evidence_types: types of presented, verified evidence.
    discharged: obligations that are discharged.
    """

    at: datetime
    act_hashes: frozenset[str] = frozenset()
    evidence_types: frozenset[str] = frozenset()
    discharged: frozenset[str] = frozenset()


def is_due(condition: Mapping[str, Any], facts: DueFacts) -> Due:
    """Compute a schema-valid condition; of an `all_of`, one that is not met decides."""
    if condition.get("type") != DueType.ALL_OF:
        return _leaf(condition, facts)
    members = {_leaf(leaf, facts) for leaf in condition["conditions"]}
    return next(due for due in (Due.NOT_MET, Due.NOT_COMPUTABLE, Due.MET) if due in members)


def discharge_targets(condition: object) -> tuple[str, ...]:
    """The obligations a condition waits for. Total over any document."""
    if not isinstance(condition, Mapping):
        return ()
    nested = condition.get("conditions")
    leaves = nested if condition.get("type") == DueType.ALL_OF and isinstance(nested, list) else [condition]
    return tuple(
        leaf["obligation_id"] for leaf in leaves
        if isinstance(leaf, Mapping) and leaf.get("type") == DueType.ON_DISCHARGE
        and isinstance(leaf.get("obligation_id"), str))


def has_cycle(conditions: Mapping[str, object]) -> bool:
    """True where obligations (id to due condition) wait for each other in a loop, a self-reference included.

    Those that wait for nobody are set free, and with each of them those that waited only for it; whoever is never
    set free waits in a loop. Each wait is looked at once.
    """
    waits: dict[str, int] = {}
    awaited_by: dict[str, list[str]] = {}
    for obligation, condition in conditions.items():
        targets = set(discharge_targets(condition)) & conditions.keys()
        waits[obligation] = len(targets)
        for target in targets:
            awaited_by.setdefault(target, []).append(obligation)
    free = [obligation for obligation, count in waits.items() if count == 0]
    freed = 0
    while free:
        freed += 1
        for obligation in awaited_by.get(free.pop(), ()):
            waits[obligation] -= 1
            if waits[obligation] == 0:
                free.append(obligation)
    return freed < len(waits)


def _leaf(condition: Mapping[str, Any], facts: DueFacts) -> Due:
    kind = condition.get("type")
    if kind == DueType.AT_TIME:
        at = parse_instant(condition.get("at"))
        return Due.NOT_COMPUTABLE if at is None else _met(facts.at >= at)
    if kind == DueType.ON_EVENT:
        return _met(_named(condition, "act_ref", facts.act_hashes)
                    or _named(condition, "evidence_type", facts.evidence_types))
    if kind == DueType.ON_DISCHARGE:
        return _met(_named(condition, "obligation_id", facts.discharged))
    return Due.NOT_COMPUTABLE


def _named(condition: Mapping[str, Any], member: str, held: Container[Any]) -> bool:
    return condition.get(member) in held


def _met(holds: bool) -> Due:
    return Due.MET if holds else Due.NOT_MET
