"""Who names whom in the set: each relation computed once, when it is first asked for.

What several objects say about one thing is reduced to what the checks need (the first instant, the first sequence), so
that a set in which everything names the same thing costs no more than any other.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from typing import Any

from a202_reference.evidence.entry import Actor, Entry, StreamKey
from a202_reference.evidence.index import Index
from a202_reference.evidence.references import referenced_id, references
from a202_reference.gate.reading import members
from a202_reference.registries import ObjectType
from a202_reference.times import parse_instant

_ROLES = {
    ObjectType.OFFER: ("offeror", "offeree"),
    ObjectType.AGREEMENT: ("buyer", "supplier"),
    ObjectType.OBLIGATION: ("obligor", "obligee"),
}


@dataclass
class Relations:
    """The relations among the objects of one index."""

    index: Index

    @cached_property
    def ordered_streams(self) -> Mapping[StreamKey, tuple[Entry, ...]]:
        """Events per stream in the order of their sequence; those without one come first."""
        return {key: tuple(sorted(events, key=_place)) for key, events in self.index.streams.items()}

    @cached_property
    def direct_transactions(self) -> frozenset[Any]:
        """Transactions whose agreement was formed directly: no operator stands in their record."""
        return frozenset(
            event.transaction_id for event in self.index.of(ObjectType.TRANSACTION_EVENT)
            if event.payload.get("event_type") == "agreement.direct" and isinstance(event.transaction_id, str))

    @cached_property
    def session_transactions(self) -> frozenset[str | None]:
        """Transactions with an event on a session stream, or with an object that a session ordered (D-45)."""
        on_stream = {event.transaction_id for key, events in self.index.streams.items() if key.kind == "session"
                     for event in events}
        ordered = {entry.transaction_id for entry in self.index.entries
                   if members(entry.raw.get("kernel_annotations")).get("session_id") is not None}
        return frozenset(on_stream | ordered)

    @cached_property
    def superseding(self) -> Mapping[str, tuple[datetime, str]]:
        """When each offer was first superseded, and by which."""
        found: dict[str, tuple[datetime, str]] = {}
        for offer in self.index.of(ObjectType.OFFER):
            named = offer.text("supersedes_offer_id")
            if named is not None and named != offer.id and offer.created_at is not None:
                told = (offer.created_at, offer.subject)
                found[named] = min(found.get(named, told), told)
        return found

    @cached_property
    def formed(self) -> frozenset[tuple[str | None, str | None]]:
        """Acceptances by which an `agreement.direct` of their transaction formed an agreement."""
        return frozenset(
            (event.transaction_id, _named(event, "acceptance_id"))
            for event in self.index.of(ObjectType.TRANSACTION_EVENT) if event.text("event_type") == "agreement.direct")

    @cached_property
    def committed(self) -> Mapping[str, int]:
        """The first sequence at which an event committed or amended each agreement."""
        found: dict[str, int] = {}
        for event in self.index.of(ObjectType.TRANSACTION_EVENT):
            named = _named(event, "agreement_id")
            if named is not None and event.text("event_type") in ("agreement.committed", "agreement.amended"):
                sequence = sequence_of(event) or 0
                found[named] = min(found.get(named, sequence), sequence)
        return found

    @cached_property
    def committed_streams(self) -> Mapping[StreamKey, int]:
        """The first sequence at which each stream committed an agreement."""
        found: dict[StreamKey, int] = {}
        for key, events in self.ordered_streams.items():
            for event in events:
                sequence = sequence_of(event)
                if event.text("event_type") == "agreement.committed" and sequence is not None:
                    found.setdefault(key, sequence)
        return found

    @cached_property
    def recorded_at(self) -> Mapping[str, datetime]:
        """When an event first recorded each object that events name."""
        found: dict[str, datetime] = {}
        for event in self.index.of(ObjectType.TRANSACTION_EVENT):
            occurred = parse_instant(event.payload.get("occurred_at"))
            if occurred is None:
                continue
            for named in members(event.payload.get("data")).values():
                if isinstance(named, str):
                    found[named] = min(found.get(named, occurred), occurred)
        return found

    @cached_property
    def superseded_by(self) -> Mapping[str, tuple[Entry, ...]]:
        """Which determinations first superseded each: the earliest, and the earliest that answers another dispute."""
        found: dict[str, tuple[Entry, ...]] = {}
        for later in sorted(self.index.of(ObjectType.DETERMINATION), key=_when):
            named = members(later.payload.get("supersedes")).get("determination_id")
            if not isinstance(named, str):
                continue
            known = found.get(named, ())
            if not known or (len(known) == 1 and known[0].text("dispute_id") != later.text("dispute_id")):
                found[named] = (*known, later)
        return found

    @cached_property
    def references(self) -> Mapping[Entry, tuple[tuple[str, Any], ...]]:
        """The evidence references of each object that has any, with the members that hold them."""
        found = ((entry, tuple(references(entry))) for entry in self.index.entries)
        return {entry: named for entry, named in found if named}

    @cached_property
    def parties(self) -> Mapping[str | None, frozenset[Actor]]:
        """The parties that each transaction's offers, agreements and obligations name."""
        found: dict[str | None, set[Actor]] = defaultdict(set)
        for kind, roles in _ROLES.items():
            for entry in self.index.of(kind):
                found[entry.transaction_id].update(
                    party for role in roles if (party := entry.party(role)).organization_id is not None)
        return {transaction: frozenset(named) for transaction, named in found.items()}

    @cached_property
    def agents(self) -> Mapping[tuple[str | None, str | None], frozenset[str | None]]:
        """The agents by which each transaction's parties act, by transaction and organisation."""
        found: dict[tuple[str | None, str | None], set[str | None]] = defaultdict(set)
        for transaction, parties in self.parties.items():
            for party in parties:
                found[transaction, party.organization_id].add(party.agent_id)
        return {key: frozenset(agents) for key, agents in found.items()}

    @cached_property
    def evidence_signers(self) -> Mapping[str, Actor]:
        """Who signs each evidence object, as the references to it say."""
        found: dict[str, Actor] = {}
        for held in self.references.values():
            for _, reference in held:
                named, signer = referenced_id(reference), Actor.of(members(reference).get("signed_by"))
                if named is not None and isinstance(reference, dict):
                    found[named] = min(found.get(named, signer), signer, key=str)
        return found

    @cached_property
    def naming(self) -> Mapping[tuple[ObjectType, str], tuple[Entry, ...]]:
        """Assertions and responses under the obligation they name, events under each object they name."""
        found: dict[tuple[ObjectType, str], list[Entry]] = defaultdict(list)
        for kind in (ObjectType.PERFORMANCE_EVENT, ObjectType.OBLIGATION_RESPONSE):
            for entry in self.index.of(kind):
                named = entry.text("obligation_id")
                if named is not None:
                    found[kind, named].append(entry)
        for event in self.index.of(ObjectType.TRANSACTION_EVENT):
            for named in members(event.payload.get("data")).values():
                if isinstance(named, str):
                    found[ObjectType.TRANSACTION_EVENT, named].append(event)
        return {key: tuple(entries) for key, entries in found.items()}


def sequence_of(event: Entry) -> int | None:
    """An event's sequence, or None where it has none."""
    value = event.payload.get("sequence")
    return value if type(value) is int else None


def _when(entry: Entry) -> tuple[datetime, str]:
    return entry.created_at or datetime.min.replace(tzinfo=UTC), entry.subject


def _named(event: Entry, member: str) -> str | None:
    named = members(event.payload.get("data")).get(member)
    return named if isinstance(named, str) else None


def _place(event: Entry) -> tuple[int, str, str]:
    sequence = sequence_of(event)
    return (-1 if sequence is None else sequence, event.hash or "", event.subject)
