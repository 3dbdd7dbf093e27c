"""Which key an identifier names, whose it is, and whether it stood at an instant (rules 1.6; D-8; surface 6).

Rules this module applies:

- a key comes from the supplied keys, else from the version chain of a `key_record` among the objects; any version's
  identifier names the chain. A record does not authenticate itself: its source is reported;
- a signature is historically valid where `signed_at` lies inside [valid_from, valid_until) of a version whose status
  is active and no standing revocation record suspends or revokes the key at that instant. Later expiry or
  revocation does not undo it;
- a revocation record counts where its hash and a signature of its subject's own organisation verify; one that
  cannot be checked leaves the standing unknown; one by somebody else says nothing;
- revoked is final; suspended may be lifted by a later record.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, TypeAlias

from a202_reference.evidence.entry import Entry
from a202_reference.evidence.index import Index
from a202_reference.evidence.material import DeclaredKey, Source
from a202_reference.gate.reading import members
from a202_reference.identifiers import Prefix
from a202_reference.keys import KeyBinding, PublicKey
from a202_reference.registries import ObjectType
from a202_reference.times import parse_instant

ACTIVE = "active"


class Standing(StrEnum):
    """How something stands at an instant."""

    ACTIVE = "active"
    ENDED = "ended"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Span:
    """An interval, open at its end where `until` is None, and the status declared for it."""

    start: datetime
    until: datetime | None
    status: str

    def covers(self, moment: datetime) -> bool:
        """Half open."""
        return self.start <= moment and (self.until is None or moment < self.until)


@dataclass(frozen=True, slots=True)
class KnownKey:
    """A key as this verification knows it. `agent_id` and `principal_id` are None where only records name it."""

    key_id: str
    public: PublicKey
    organization_id: str
    agent_id: str | None
    principal_id: str | None
    spans: tuple[Span, ...]
    source: Source
    conflict: bool

    @property
    def whose(self) -> dict[str, str | None]:
        """The owner, for the report."""
        return {"organization_id": self.organization_id, "agent_id": self.agent_id,
                "principal_id": self.principal_id}

    def standing_at(self, moment: datetime) -> Standing:
        """Whether some version covers the instant, and was active."""
        covering = [span for span in self.spans if span.covers(moment)]
        if not covering:
            return Standing.ENDED
        if self.source is Source.RECORDED:
            return Standing.ACTIVE if any(span.status == ACTIVE for span in covering) else Standing.ENDED
        # A supplied key carries its status as of the export, not as of this instant.
        return Standing.ACTIVE if covering[-1].status == ACTIVE else Standing.UNKNOWN


@dataclass(frozen=True, slots=True)
class Revocations:
    """What the revocation records of one organisation say of one subject: from each instant on, how it stands."""

    instants: tuple[datetime, ...]
    standings: tuple[Standing, ...]

    def at(self, moment: datetime) -> Standing:
        """How the subject stands at an instant; active before the first record."""
        place = bisect_right(self.instants, moment)
        return self.standings[place - 1] if place else Standing.ACTIVE


RevocationBook: TypeAlias = Mapping[tuple[str, str], Revocations]
"""The records by subject and by the organisation that signed them."""


class Keychain:
    """The keys of one verification."""

    def __init__(self, supplied: Mapping[str, DeclaredKey], objects: Iterable[Any]) -> None:
        self._supplied = supplied
        self._known: dict[str, KnownKey] = _recorded(objects)
        self._known.update({key_id: _supplied(key) for key_id, key in supplied.items()})

    def get(self, key_id: object) -> KnownKey | None:
        """The key under this identifier, or None."""
        return self._known.get(key_id) if isinstance(key_id, str) else None

    def public(self, key_id: str) -> PublicKey | None:
        """Its public half, or None."""
        known = self._known.get(key_id)
        return None if known is None else known.public

    def binding(self, key_id: str) -> KeyBinding | None:
        """The supplied binding, for the rules that need an agent or a principal; None for a key of records only."""
        supplied = self._supplied.get(key_id)
        return None if supplied is None else supplied.binding


def revocations(index: Index, keychain: Keychain) -> RevocationBook:
    """The revocation records of the set."""
    found: dict[tuple[str, str], list[tuple[datetime, str, bool]]] = defaultdict(list)
    for entry in index.of(ObjectType.REVOCATION_RECORD):
        subject, status, organization = entry.text("subject_id"), entry.text("status"), entry.author.organization_id
        effective = parse_instant(entry.payload.get("effective_at"))
        if subject is not None and status is not None and effective is not None and organization is not None:
            found[subject, organization].append((effective, status, _authentic(entry, organization, keychain)))
    return {key: _timeline(sorted(records)) for key, records in found.items()}


def revoked_at(book: RevocationBook, subject: str, organization_id: str, moment: datetime) -> Standing:
    """What an organisation's records say of a subject at an instant; active where none speaks."""
    records = book.get((subject, organization_id))
    return Standing.ACTIVE if records is None else records.at(moment)


def _timeline(records: Iterable[tuple[datetime, str, bool]]) -> Revocations:
    standing = Standing.ACTIVE
    final = False
    steps: dict[datetime, Standing] = {}
    for effective, status, authentic in records:
        if not final and not authentic:
            standing = Standing.UNKNOWN if standing is Standing.ACTIVE and status != ACTIVE else standing
        elif not final:
            standing = Standing.ACTIVE if status == ACTIVE else Standing.ENDED
            final = status == "revoked"
        steps[effective] = standing
    return Revocations(tuple(steps), tuple(steps.values()))


def _authentic(entry: Entry, organization: str, keychain: Keychain) -> bool:
    if entry.hash is None or entry.hash != entry.raw.get("content_hash"):
        return False
    signers = (keychain.get(members(signature).get("key_id"))
               for signature, value in zip(entry.entries, entry.values, strict=True) if value is None)
    return any(signer is not None and signer.organization_id == organization for signer in signers)


def _supplied(key: DeclaredKey) -> KnownKey:
    binding = key.binding
    span = Span(binding.valid_from, binding.valid_until, binding.status)
    return KnownKey(
        binding.key_id, binding.public, binding.owner.organization_id, binding.owner.agent_id,
        binding.owner.principal_id, (span,), key.source, key.conflict)


def _recorded(objects: Iterable[Any]) -> dict[str, KnownKey]:
    """Keys of `key_record` objects; every version's identifier names its chain's spans."""
    records: dict[str, Mapping[str, Any]] = {}
    for raw in objects:
        document = members(raw)
        identifier = document.get("id")
        if document.get("object_type") == ObjectType.KEY_RECORD and isinstance(identifier, str) \
                and Prefix.KEY.names(identifier):
            records.setdefault(identifier, document)
    chains = _chains(records)
    spans: dict[str, list[Span]] = defaultdict(list)
    for identifier, document in records.items():
        span = _span(members(document.get("payload")))
        if span is not None:
            spans[chains[identifier]].append(span)
    known = {}
    for identifier, document in records.items():
        payload = members(document.get("payload"))
        public = PublicKey.from_jwk(payload.get("public_key_jwk"))
        controller = payload.get("controller_organization_id")
        if public is not None and public.algorithm == payload.get("algorithm") and isinstance(controller, str):
            known[identifier] = KnownKey(
                identifier, public, controller, None, None,
                tuple(sorted(spans[chains[identifier]], key=lambda span: span.start)), Source.RECORDED, False)
    return known


def _chains(records: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    """The oldest held version of each record's chain; a loop ends where it began."""
    roots: dict[str, str] = {}
    for identifier in records:
        path: list[str] = []
        at = identifier
        while at not in roots:
            roots[at] = at
            path.append(at)
            before = records[at].get("previous_version_id")
            if not isinstance(before, str) or before not in records:
                break
            at = before
        for step in path:
            roots[step] = roots[at]
    return roots


def _span(payload: Mapping[str, Any]) -> Span | None:
    start, until, status = (payload.get(name) for name in ("valid_from", "valid_until", "status"))
    begins, ends = parse_instant(start), parse_instant(until)
    if begins is None or not isinstance(status, str) or (ends is None and until is not None):
        return None
    return Span(begins, ends, status)
