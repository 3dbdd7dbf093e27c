"""Every object once: hashed once, its signature values verified once, findable by what others name it by.

Rules this module applies:

- nothing is trusted: an entry may be any JSON value, a member of another type counts as absent (D51), and the
  hash by which an object is found is the recomputed one (D2);
- an identical copy of an object counts once; two different documents under one identifier both stay, and neither
  answers to it, since nobody can say which one is meant;
- signature values are verified here, over the same bytes that were hashed. The verifying is one function over
  one job, so that a caller may spread the jobs over processes; their order and number change nothing.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, TypeAlias

from a202_reference.canonical import UNHASHED_MEMBERS, NotCanonicalError, canonical_bytes, content_bytes, sha256_hex
from a202_reference.evidence.entry import Entry, StreamKey, stream_of
from a202_reference.gate.leaks import AWARD_UNIT_MEMBERS, SECRET_MEMBERS
from a202_reference.keys import SIGNATURE_BYTES, PublicKey, decode_base64url
from a202_reference.registries import ObjectType
from a202_reference.signing import is_placeholder, signed_bytes

_ODD_HASH: Final = re.compile(rb'_hash":"(?![a-f0-9]{64}")')
"""In canonical bytes, a quotation mark inside a text is escaped, so this finds members only."""

_ODD_NAMES: Final = tuple(f'"{name}":'.encode() for name in sorted(SECRET_MEMBERS | AWARD_UNIT_MEMBERS))
"""In the same way, the names that no payload has at any depth."""

SIGNATURE_MEMBERS: Final = frozenset({"key_id", "algorithm", "signature", "signed_at", "purpose"})

Spread: TypeAlias = Callable[[Callable[["Job"], bool], Iterable["Job"]], Iterable[bool]]
"""Applies a function to every job, in order, like `map`; a caller with processes brings a faster one."""


class Job(NamedTuple):
    """One signature to verify: `signature` is this key's over `data`."""

    public: PublicKey
    signature: bytes
    data: bytes


def verify_job(job: Job) -> bool:
    """Whether the signature is the key's."""
    return job.public.verifies(job.signature, job.data)


@dataclass(frozen=True, slots=True)
class Index:
    """The set of objects, findable."""

    entries: tuple[Entry, ...]
    by_id: Mapping[str, Entry]
    ambiguous: frozenset[str]
    by_hash: Mapping[str, Entry]
    by_type: Mapping[ObjectType, tuple[Entry, ...]]
    streams: Mapping[StreamKey, tuple[Entry, ...]]

    def get(self, identifier: object, kind: ObjectType | None = None) -> Entry | None:
        """The object held under this identifier, of this type where one is asked for, or None."""
        found = self.by_id.get(identifier) if isinstance(identifier, str) else None
        return found if found is not None and (kind is None or found.type is kind) else None

    def hashed(self, content_hash: object) -> Entry | None:
        """The object with this recomputed hash, or None."""
        return self.by_hash.get(content_hash) if isinstance(content_hash, str) else None

    def of(self, kind: ObjectType) -> tuple[Entry, ...]:
        """The objects of one type."""
        return self.by_type.get(kind, ())


def build_index(
    objects: Iterable[Any], publics: Callable[[str], PublicKey | None], spread: Spread = map,
) -> Index:
    """Examine every object and make the set findable. Time is linear in the set."""
    entries = _distinct(_examined(objects, publics, spread))
    by_id: dict[str, list[Entry]] = defaultdict(list)
    by_hash: dict[str, Entry] = {}
    by_type: dict[ObjectType, list[Entry]] = defaultdict(list)
    streams: dict[StreamKey, list[Entry]] = defaultdict(list)
    for entry in entries:
        if entry.id is not None:
            by_id[entry.id].append(entry)
        if entry.hash is not None:
            by_hash.setdefault(entry.hash, entry)
        if entry.type is not None:
            by_type[entry.type].append(entry)
        if entry.is_event:
            streams[stream_of(entry)].append(entry)
    return Index(
        tuple(entries),
        {identifier: held[0] for identifier, held in by_id.items() if len({entry.hash for entry in held}) == 1},
        frozenset(identifier for identifier, held in by_id.items() if len({entry.hash for entry in held}) > 1),
        by_hash,
        {kind: tuple(held) for kind, held in by_type.items()},
        {key: tuple(held) for key, held in streams.items()})


def _examined(
    objects: Iterable[Any], publics: Callable[[str], PublicKey | None], spread: Spread,
) -> list[Entry]:
    """Hash every object; verify every signature value in the same pass, so that no bytes are kept."""
    entries: list[Entry] = []
    pending: list[tuple[list[Any], int]] = []

    def jobs() -> Iterator[Job]:
        for position, raw in enumerate(objects):
            entry = Entry.of(raw, position)
            entries.append(entry)
            content = _hash(entry)
            for at, signature in enumerate(entry.entries):
                verdict = job_of(signature, content, publics)
                entry.values.append(verdict)
                if isinstance(verdict, Job):
                    pending.append((entry.values, at))
                    yield verdict

    for done, verified in enumerate(spread(verify_job, jobs())):
        values, at = pending[done]
        values[at] = None if verified else "the signature does not verify over these bytes"
    return entries


def _hash(entry: Entry) -> bytes | None:
    if entry.uncanonical:
        return None
    try:
        content = content_bytes(entry.raw)
    except NotCanonicalError as refused:
        entry.uncanonical = str(refused)
        return None
    entry.hash = sha256_hex(content)
    entry.odd_hashes = _ODD_HASH.search(content) is not None
    entry.odd_names = any(name in content for name in _ODD_NAMES)
    return content


def job_of(signature: Any, content: bytes | None, publics: Callable[[str], PublicKey | None]) -> Any:
    """The job that decides one entry; or why no key signed it; or `...` where that cannot be told."""
    if not isinstance(signature, dict):
        return "the signature entry is no object"
    if signature.keys() != SIGNATURE_MEMBERS:
        return "the signature entry has not exactly its five members"
    key_id = signature.get("key_id")
    public = publics(key_id) if isinstance(key_id, str) else None
    if is_placeholder(signature.get("signature")) or public is None:
        return ...
    if signature.get("algorithm") != public.algorithm:
        return "the algorithm is not the key's"
    value = decode_base64url(signature.get("signature"), SIGNATURE_BYTES)
    if value is None:
        return "the value is not 64 bytes in canonical base64url"
    if content is None:
        return "the object has no canonical bytes"
    try:
        return Job(public, value, signed_bytes(content, signature))
    except NotCanonicalError:
        return "the signature entry has no canonical bytes"


def _distinct(entries: list[Entry]) -> list[Entry]:
    """Drop copies that are equal in every member."""
    kept: list[Entry] = []
    seen: dict[tuple[str, str | None], set[bytes | None]] = {}
    first: dict[tuple[str, str | None], Entry] = {}
    for entry in entries:
        key = (entry.subject, entry.hash)
        earlier = first.setdefault(key, entry)
        if earlier is not entry:
            variants = seen.setdefault(key, {_beside(earlier)})
            variant = _beside(entry)
            if variant is not None and variant in variants:
                continue
            variants.add(variant)
        kept.append(entry)
    return kept


def _beside(entry: Entry) -> bytes | None:
    """What tells objects of one hash apart: the members outside it; None where they have no canonical form."""
    try:
        return canonical_bytes({name: entry.raw.get(name) for name in UNHASHED_MEMBERS})
    except NotCanonicalError:
        return None
