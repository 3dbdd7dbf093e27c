"""The delegation chain of a mandate (rules 3.5 step 6): parents up to a root, at most 8 hops, no loop.

A parent that is not at hand, or is not a well-formed mandate, leaves the narrowing unproven
(`A202-MANDATE-DELEGATION-WIDENING`); a parent's own document faults keep their codes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from a202_reference.codes import Code
from a202_reference.documents.mandate import Mandate

MAX_HOPS = 8


@dataclass(frozen=True, slots=True)
class Chain:
    """The acting mandate and its ancestors as far as they resolve, and what kept the rest away."""

    nearest_first: tuple[Mandate, ...]
    faults: tuple[tuple[Code, str], ...]

    @property
    def acting(self) -> Mandate:
        """The mandate under which the act is done."""
        return self.nearest_first[0]

    @property
    def root_first(self) -> tuple[Mandate, ...]:
        """The order in which constraints and approval rules are evaluated (D-11)."""
        return self.nearest_first[::-1]


def resolve_chain(
    mandate: Mandate,
    mandates: Callable[[str], Mapping[str, Any] | None],
    gate: Callable[[Mapping[str, Any]], tuple[tuple[str, ...], tuple[Code, ...]]],
) -> Chain:
    """Follow `parent_mandate_id` to the root."""
    members = [mandate]
    faults: list[tuple[Code, str]] = []
    while (parent_id := members[-1].parent_mandate_id) is not None:
        if any(member.id == parent_id for member in members) or len(members) > MAX_HOPS:
            faults.append((Code.MANDATE_DELEGATION_WIDENING, f"the chain above {members[-1].id} has no root"))
            break
        document = mandates(parent_id)
        if document is None:
            faults.append((Code.MANDATE_DELEGATION_WIDENING, f"the parent mandate {parent_id} is not held"))
            break
        schema_errors, codes = gate(document)
        faults += [(code, f"the parent mandate {parent_id}: {code.meaning}") for code in codes]
        if schema_errors:
            faults.append((Code.MANDATE_DELEGATION_WIDENING, f"the parent mandate {parent_id}: {schema_errors[0]}"))
            break
        members.append(Mandate.of(document))
    return Chain(tuple(members), tuple(faults))
