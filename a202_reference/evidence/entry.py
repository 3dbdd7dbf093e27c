"""One object of the set, read as it came: whatever is not of its type counts as absent (D51)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final, NamedTuple

from a202_reference.gate.reading import items, members
from a202_reference.identifiers import ANY_ID
from a202_reference.registries import ObjectType
from a202_reference.times import parse_instant

_TYPES: Final[Mapping[str, ObjectType]] = {member.value: member for member in ObjectType}


class Actor(NamedTuple):
    """A party as an object names it; members that are no text are None."""

    organization_id: str | None
    agent_id: str | None
    mandate_id: str | None

    @classmethod
    def of(cls, raw: object) -> Actor:
        """The party in a member that may be anything."""
        if not isinstance(raw, dict):
            return cls(None, None, None)
        organization, agent, mandate = raw.get("organization_id"), raw.get("agent_id"), raw.get("mandate_id")
        return cls(
            organization if isinstance(organization, str) else None, agent if isinstance(agent, str) else None,
            mandate if isinstance(mandate, str) else None)


@dataclass(slots=True, eq=False)
class Entry:
    """One object of the set.

    subject: what the report calls it: its identifier, or its place where it has none.
    hash: the recomputed content hash; None where it has no canonical form, and then `uncanonical` says why.
    odd_hashes: False where no text under a name that ends in `_hash` can be malformed.
    odd_names: False where no member is named like a secret or an award unit.
    entries: its signature entries. values: per entry, why its value is not the key's signature; None where it
    is; `...` where that cannot be told (placeholder, unknown key).
    """

    raw: Mapping[str, Any]
    subject: str
    id: str | None
    type: ObjectType | None
    payload: Mapping[str, Any]
    author: Actor
    transaction_id: str | None
    created_at: datetime | None
    hash: str | None = None
    uncanonical: str = ""
    odd_hashes: bool = True
    odd_names: bool = True
    entries: tuple[Any, ...] = ()
    values: list[Any] = field(default_factory=list)

    @classmethod
    def of(cls, raw: Any, position: int) -> Entry:
        """The entry of whatever was given at this place, not examined yet."""
        document, place = members(raw), f"objects[{position}]"
        identifier, kind = document.get("id"), document.get("object_type")
        own = identifier if isinstance(identifier, str) and ANY_ID.fullmatch(identifier) else None
        return cls(
            document, own or place, own,
            _TYPES.get(kind) if isinstance(kind, str) else None, members(document.get("payload")),
            Actor.of(document.get("created_by")), _text(document.get("transaction_id")),
            parse_instant(document.get("created_at")),
            uncanonical="" if isinstance(raw, dict) else "it is no JSON object",
            entries=tuple(items(document.get("signatures"))))

    def text(self, member: str) -> str | None:
        """A member of the payload, where it is text."""
        return _text(self.payload.get(member))

    def party(self, member: str) -> Actor:
        """A party of the payload."""
        return Actor.of(self.payload.get(member))

    @property
    def is_event(self) -> bool:
        """True for a transaction_event, on whatever stream."""
        return self.type is ObjectType.TRANSACTION_EVENT


class StreamKey(NamedTuple):
    """A stream is named by kind and id together (D18)."""

    kind: str | None
    id: str | None


def stream_of(event: Entry) -> StreamKey:
    """The stream an event says it is on; parts that are no text are None."""
    stream = members(event.payload.get("stream"))
    return StreamKey(_text(stream.get("kind")), _text(stream.get("id")))


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None
