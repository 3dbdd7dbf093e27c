"""Which evidence an object references, and where (rules 12.6; verification step 7)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from a202_reference.evidence.entry import Entry
from a202_reference.gate.reading import items, members

_LISTS: Final = ("evidence_refs", "assurance_evidence_refs", "identity_evidence_refs", "authority_evidence_refs")


def references(entry: Entry) -> Iterator[tuple[str, Any]]:
    """Every evidence reference of an object, with the member that holds it."""
    for member in _LISTS:
        for reference in items(entry.payload.get(member)):
            yield member, reference
    for reference in items(members(entry.payload.get("outcome")).get("evidence_relied_on")):
        yield "evidence_relied_on", reference
    proof = members(entry.payload.get("channel_proof")).get("evidence_ref")
    if proof is not None:
        yield "evidence_ref", proof


def referenced_id(reference: Any) -> str | None:
    """The evidence a reference names, in either form."""
    named = reference if isinstance(reference, str) else members(reference).get("evidence_id")
    return named if isinstance(named, str) else None
