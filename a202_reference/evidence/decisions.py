"""Which act a policy decision was about, rebuilt from the recorded objects (surface 1; design overrides 5 and 6).

Rules this module applies:

- the verifier rebuilds the act of every offer, acceptance, obligation, assertion and response from the objects
  themselves; only `category` and `geography` are taken from the carried act document;
- a decision is about the object whose rebuilt act is the decision's, by the same party. The decision that an event
  cites is about the object that the event names;
- a decision about an object by the same party, of the same kind and reference, whose act is another, does not match.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from typing import Any, Final

from a202_reference.evidence.entry import Entry
from a202_reference.evidence.inquiry import Inquiry
from a202_reference.evidence.rebuilding import ACTED, FROM_THE_ACT, Rebuilt, about, core_hash, rebuild
from a202_reference.gate.reading import members
from a202_reference.registries import ObjectType
from a202_reference.times import parse_instant

_NEVER: Final = datetime.max.replace(tzinfo=UTC)

EVENT_OBJECTS: Final[Mapping[str, tuple[str, ObjectType]]] = {
    "agreement.direct": ("acceptance_id", ObjectType.ACCEPTANCE),
    "agreement.committed": ("agreement_id", ObjectType.AGREEMENT),
    "obligation.activated": ("obligation_id", ObjectType.OBLIGATION),
    "performance.declared": ("performance_event_id", ObjectType.PERFORMANCE_EVENT),
    "acceptance.granted": ("obligation_response_id", ObjectType.OBLIGATION_RESPONSE),
    "acceptance.rejected": ("obligation_response_id", ObjectType.OBLIGATION_RESPONSE),
}
"""The member of an event's data that names the object whose act it records."""


@dataclass
class Decisions:
    """The decisions of the set and the objects they are about."""

    inquiry: Inquiry

    def rebuilt(self, entry: Entry) -> Rebuilt | None:
        """The act of an object, or None where an object it rests on is not here or is malformed."""
        return self._rebuilt.get(entry)

    def of(self, entry: Entry) -> tuple[Entry, ...]:
        """The decisions about an object, by its author, over exactly its act."""
        return self._matches.get(entry, ())

    def matched(self, decision: Entry) -> Mapping[Entry, None]:
        """The objects a decision is about, in order."""
        return self._objects.get(decision, {})

    def cited_by(self, decision: Entry) -> tuple[Entry, ...]:
        """The events that cite a decision."""
        return self._citing.get(decision.id or "", ())

    def target(self, event: Entry) -> tuple[str | None, Entry | None]:
        """What an event's decision must be about: the identifier it names, and the object where it is here.

        The decision behind `agreement.committed` is the offeree's acceptance.
        """
        member, kind = EVENT_OBJECTS.get(event.text("event_type") or "", ("", ObjectType.TRANSACTION_EVENT))
        named = members(event.payload.get("data")).get(member)
        found = self.inquiry.index.get(named, kind)
        if kind is ObjectType.AGREEMENT and found is not None:
            named = found.payload.get("acceptance_id")
            found = self.inquiry.index.get(named, ObjectType.ACCEPTANCE)
        return (named if isinstance(named, str) else None), found

    def recorded(self, entry: Entry) -> bool:
        """True where an event records this very act."""
        return any(self.target(event)[1] is entry
                   for event in self.inquiry.naming.get((ObjectType.TRANSACTION_EVENT, entry.id or ""), ()))

    def rivals(self, decision: Entry) -> tuple[Entry, ...]:
        """Objects the decision would have to be about, by the same party, that no decision is about."""
        act = self.inquiry.acts.get(decision.text("action_hash"))
        if act is None:
            return ()
        return tuple(sorted(self._unmatched.get((decision.author, about(act)), ()), key=lambda entry: entry.subject))

    @cached_property
    def _rebuilt(self) -> dict[Entry, Rebuilt]:
        return {entry: rebuilt for kind in ACTED for entry in self.inquiry.index.of(kind)
                if (rebuilt := rebuild(entry, self.inquiry)) is not None}

    @cached_property
    def _matches(self) -> dict[Entry, tuple[Entry, ...]]:
        """Pair decisions with objects: what an event cites goes with what it names, the rest by time."""
        decided: dict[tuple[Any, str], list[Entry]] = defaultdict(list)
        for decision in self.inquiry.index.of(ObjectType.POLICY_DECISION):
            action_hash = decision.text("action_hash")
            act = self.inquiry.acts.get(action_hash)
            if act is None or action_hash is None:
                continue
            core = action_hash if act.keys().isdisjoint(FROM_THE_ACT) else core_hash(act)
            if core is not None:
                decided[decision.author, core].append(decision)
        done: dict[tuple[Any, str], list[Entry]] = defaultdict(list)
        for entry, rebuilt in self._rebuilt.items():
            done[entry.author, rebuilt.hash].append(entry)
        found: dict[Entry, list[Entry]] = defaultdict(list)
        for key, objects in done.items():
            cited, free = self._cited_pairs(decided.get(key, []), objects)
            named = {entry for entry, _ in cited}
            for entry, decision in cited + _paired([entry for entry in objects if entry not in named], free):
                found[entry].append(decision)
        return {entry: tuple(decisions) for entry, decisions in found.items()}

    def _cited_pairs(
        self, decisions: list[Entry], objects: list[Entry],
    ) -> tuple[list[tuple[Entry, Entry]], list[Entry]]:
        """The pairs that events tell of; and the decisions that no event cites."""
        own = set(objects)
        pairs = {(target, decision): None for decision in decisions for event in self.cited_by(decision)
                 if (target := self.target(event)[1]) in own and target is not None}
        return list(pairs), [decision for decision in decisions if not self.cited_by(decision)]

    @cached_property
    def _objects(self) -> dict[Entry, dict[Entry, None]]:
        found: dict[Entry, dict[Entry, None]] = defaultdict(dict)
        for entry, decisions in self._matches.items():
            for decision in decisions:
                found[decision][entry] = None
        return dict(found)

    @cached_property
    def _unmatched(self) -> dict[tuple[Any, tuple[Any, ...]], list[Entry]]:
        found: dict[tuple[Any, tuple[Any, ...]], list[Entry]] = defaultdict(list)
        for entry, rebuilt in self._rebuilt.items():
            if not self._matches.get(entry):
                found[entry.author, rebuilt.about].append(entry)
        return found

    @cached_property
    def _citing(self) -> dict[str, tuple[Entry, ...]]:
        found: dict[str, list[Entry]] = defaultdict(list)
        for event in self.inquiry.index.of(ObjectType.TRANSACTION_EVENT):
            named = event.text("policy_decision_id")
            if named is not None:
                found[named].append(event)
        return {named: tuple(sorted(events, key=lambda event: event.subject)) for named, events in found.items()}


def _paired(objects: list[Entry], decisions: list[Entry]) -> list[tuple[Entry, Entry]]:
    """Each object with the latest decision made by then; what is left over in order of time."""
    steps = sorted(
        [(_evaluated(decision), 0, decision.subject, decision) for decision in decisions]
        + [(entry.created_at or _NEVER, 1, entry.subject, entry) for entry in objects], key=lambda step: step[:3])
    pairs: list[tuple[Entry, Entry]] = []
    made: list[Entry] = []
    alone: list[Entry] = []
    for _, is_object, _, entry in steps:
        if not is_object:
            made.append(entry)
        elif made:
            pairs.append((entry, made.pop()))
        else:
            alone.append(entry)
    return pairs + list(zip(alone, made, strict=False))


def _evaluated(decision: Entry) -> datetime:
    return parse_instant(decision.payload.get("evaluated_at")) or _NEVER
