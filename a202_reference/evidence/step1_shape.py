"""Step 1, the object as such: its shape and the gate's rules for its type (verification 4, 5; rules 11.1, 12.8).

Rules this module applies:

- every object passes the gate that judges what is issued here: its schema, and the rules of its type. What the rules
  refuse fails with their code (`well_formed`);
- a refusal by the schema alone has no code: it is not checkable what such an object means, and it never counts as
  verified. There is no row for an object without fault;
- a profile, a rail or a due condition that is not registered here is not checkable and named in step 7.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from a202_reference.codes import Code
from a202_reference.evidence.entry import Entry
from a202_reference.evidence.inquiry import Inquiry
from a202_reference.evidence.report import Judgement, failed, unknown
from a202_reference.gate.reading import items, members
from a202_reference.registries import DueType
from a202_reference.schemas import object_errors

_UNREGISTERED: Final[Mapping[Code, str]] = {
    Code.PROFILE_UNKNOWN: "profile",
    Code.SETTLEMENT_RAIL_UNKNOWN: "rail",
    Code.EVIDENCE_TYPE_UNKNOWN: "evidence type",
    Code.OBLIGATION_CONDITION_UNKNOWN: "due condition",
}
"""Codes that may come from a value of somebody else's registry."""
_DUE_TYPES: Final = frozenset(kind.value for kind in DueType)


def is_well_formed(entry: Entry, inquiry: Inquiry) -> bool:
    """True where the gate has nothing against the object itself."""
    return inquiry.is_shaped(entry) and not inquiry.gate_codes(entry)


def shape_rows(entry: Entry, inquiry: Inquiry) -> Iterator[tuple[str, Judgement]]:
    """A row for each code; where there is none, one that says what the schema refuses."""
    found = False
    for code in inquiry.gate_codes(entry):
        foreign = _foreign(entry, code)
        if foreign is None:
            found = True
            yield "well_formed", failed(code, code.meaning)
        elif code is not Code.EVIDENCE_TYPE_UNKNOWN:
            named = f"{_UNREGISTERED[code]} {foreign[:64]}"
            inquiry.unregistered.add(named)
            yield "well_formed", unknown(f"the {named} is not registered here")
    if not found and not inquiry.is_shaped(entry):
        errors = object_errors(entry.raw)
        yield "well_formed", unknown(f"it is not of its shape: {errors[0] if errors else 'unknown'}")


def _foreign(entry: Entry, code: Code) -> str | None:
    """The value that is not registered, where that is why the code was raised; None where something is wrong."""
    payload = entry.payload
    if code is Code.OBLIGATION_CONDITION_UNKNOWN:
        condition = members(payload.get("due_condition"))
        kinds = [leaf.get("type") for leaf in (condition, *map(members, items(condition.get("conditions"))))]
        return next((kind for kind in kinds if isinstance(kind, str) and kind not in _DUE_TYPES), None)
    named = {
        Code.PROFILE_UNKNOWN: members(payload.get("terms")).get("profile"),
        Code.SETTLEMENT_RAIL_UNKNOWN: payload.get("rail"),
        Code.EVIDENCE_TYPE_UNKNOWN: "it has a row of its own",
    }.get(code)
    return named if isinstance(named, str) else None
