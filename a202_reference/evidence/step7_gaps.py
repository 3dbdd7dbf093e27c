"""Step 7: stating the gaps (verification 1, step 7; 3; design override 4).

Rules this module applies:

- every row here is not checkable: it names what is referenced and not here, what nobody references, and what is not
  registered. It never says how much is withheld, only what the set itself names;
- a session identifier that two parties minted between themselves names no stream. It is listed among the undisclosed
  streams and adds no row;
- a reference that the set openly states as left out is listed all the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from a202_reference.evidence.entry import Entry
from a202_reference.evidence.inquiry import Inquiry
from a202_reference.evidence.references import referenced_id
from a202_reference.evidence.report import Scope, unknown
from a202_reference.gate.reading import items, members
from a202_reference.identifiers import Prefix
from a202_reference.lifecycle.due import discharge_targets
from a202_reference.registries import TYPE_RULES, ObjectType

_OPERATED_EVENTS: Final = frozenset({
    "request.published", "invitation.issued", "invitation.claimed", "invitation.declined", "invitation.expired",
    "invitation.revoked", "qualification.started", "negotiation.opened", "offer.selected"})
_NAMED: Final = (
    ("commitment_id", ObjectType.COMMITMENT), ("agreement_id", ObjectType.AGREEMENT),
    ("obligation_id", ObjectType.OBLIGATION), ("issuance_approval_id", ObjectType.APPROVAL),
    ("supersedes_offer_id", ObjectType.OFFER))
"""References that no other step follows for every type that carries them."""


def check(inquiry: Inquiry) -> Scope:
    """Run this step, and say what the report covers."""
    referenced = _evidence(inquiry)
    _plain_references(inquiry)
    undisclosed, bilateral = _streams(inquiry)
    for stream in sorted(undisclosed):
        inquiry.add(7, "undisclosed_stream", stream, unknown("it is named here, and no event of it is"))
    unreferenced = sorted(entry.subject for entry in inquiry.index.of(ObjectType.EVIDENCE)
                          if entry.subject not in referenced)
    for subject in unreferenced:
        inquiry.add(7, "unreferenced_evidence", subject, unknown("no reference here names it"))
    for named in sorted(inquiry.unregistered):
        inquiry.add(7, "unregistered_type", inquiry.whole, unknown(f"{named} is not registered"))
    for named in sorted(inquiry.unresolved):
        stated = named in inquiry.material.stated_gaps
        inquiry.add(7, "unresolved_reference", named, unknown(
            "it is openly left out" if stated else "it is named here, and not here itself"))
    return Scope(
        objects=tuple(dict.fromkeys(entry.subject for entry in inquiry.index.entries)),
        operated_objects=tuple(dict.fromkeys(
            entry.subject for entry in inquiry.index.entries if _is_operated(entry))),
        streams_disclosed=tuple(sorted(f"{key.kind}:{key.id}" for key in inquiry.index.streams)),
        undisclosed_streams=tuple(sorted(undisclosed | bilateral)),
        unresolved_references=tuple(sorted(inquiry.unresolved)),
        unreferenced_evidence=tuple(unreferenced))


def _evidence(inquiry: Inquiry) -> frozenset[str]:
    """A row for each reference whose evidence is not here; and every evidence identifier that is named."""
    named: set[str] = set()
    for subject, reference in _all_references(inquiry):
        identifier = referenced_id(reference)
        if identifier is None:
            continue
        named.add(identifier)
        if inquiry.find(identifier, ObjectType.EVIDENCE) is None:
            inquiry.add(7, "evidence_resolves", subject, unknown(f"{identifier[:140]} is not here"))
    return frozenset(named)


def _all_references(inquiry: Inquiry) -> Iterator[tuple[str, Any]]:
    for entry, held in inquiry.references.items():
        for _, reference in held:
            yield entry.subject, reference
    for mandate in inquiry.mandates.documents:
        for reference in items(mandate.get("evidence_refs")):
            yield inquiry.mandates.subject(mandate), reference


def _plain_references(inquiry: Inquiry) -> None:
    for entry in inquiry.index.entries:
        for member, kind in _NAMED:
            named = entry.payload.get(member)
            if named is not None:
                inquiry.find(named, kind)
        for named in items(entry.payload.get("commitment_ids")):
            inquiry.find(named, ObjectType.COMMITMENT)
    for obligation in inquiry.index.of(ObjectType.OBLIGATION):
        for named in discharge_targets(obligation.payload.get("due_condition")):
            inquiry.find(named, ObjectType.OBLIGATION)


def _streams(inquiry: Inquiry) -> tuple[set[str], set[str]]:
    """Streams that are named and not held; and session identifiers that name no stream."""
    held = {key.id for key in inquiry.index.streams}
    undisclosed: set[str] = set()
    bilateral: set[str] = set()
    for entry in inquiry.index.entries:
        if entry.transaction_id is not None and Prefix.TRANSACTION.names(entry.transaction_id):
            undisclosed.add(entry.transaction_id)
        for session in _sessions(entry):
            operated = entry.transaction_id in inquiry.session_transactions
            (undisclosed if operated else bilateral).add(session)
        if entry.type is ObjectType.POLICY_DECISION:
            stream = members(entry.payload.get("stream")).get("id")
            if isinstance(stream, str) and len(stream) <= 140:
                undisclosed.add(stream)
    return undisclosed - held, bilateral - held - undisclosed


def _sessions(entry: Entry) -> Iterator[str]:
    for holder in (entry.payload, members(entry.payload.get("data")), members(entry.raw.get("kernel_annotations"))):
        session = holder.get("session_id")
        if isinstance(session, str) and Prefix.SESSION.names(session):
            yield session


def _is_operated(entry: Entry) -> bool:
    """True for what belongs to the operated scope: its types, its events, whatever a control plane annotated."""
    if entry.type is not None and not TYPE_RULES[entry.type].bilateral:
        return True
    if "kernel_annotations" in entry.raw:
        return True
    stream = members(entry.payload.get("stream")).get("kind")
    return entry.is_event and (stream == "session" or entry.text("event_type") in _OPERATED_EVENTS)
