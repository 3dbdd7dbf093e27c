"""What a verifier was handed: objects, and what they are checked with (verification, "Inputs of the verifier").

Rules this module applies:

- objects count as given; mandates, keys, act documents and status answers are beside them, never among them;
- a key carries where it came from. One public key under an identifier is pinned by the reader or held by this
  server, and another is declared under it: the pinned one counts, and the conflict is a failure of its own
  (surface 2, verify_evidence; surface 6);
- nothing is fetched, and nothing is taken for granted: any of these may be absent.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import Any, Final

from a202_reference.keys import KeyBinding

_NOTHING: Final[Mapping[str, Any]] = MappingProxyType({})


class Source(StrEnum):
    """Who says so."""

    DECLARED = "declared by the bundle"
    HELD = "held by this server"
    PINNED = "pinned by the reader"
    RECORDED = "stated by a key record among the objects"


@dataclass(frozen=True, slots=True)
class DeclaredKey:
    """A key, where it came from, and whether another key or owner was declared under the same identifier."""

    binding: KeyBinding
    source: Source
    conflict: bool = False


@dataclass(frozen=True, slots=True)
class Head:
    """Where a record is said to end. `object_count` is None in a bundle that discloses a part."""

    sequence: Any
    event_hash: Any
    object_count: Any = None


@dataclass(frozen=True, slots=True)
class Material:
    """Everything a verification reads.

    objects: as given, each of them whatever it is. mandates: documents. acts: documents under their action hash.
    status_results: {action_hash, mandate_id, status, retrieved_at}. rules_version: the version under which events
    replay, unless `event_rules` names another for an event's id. stated_gaps: identifiers openly left out.
    disclosed: what a partial bundle says of itself. determination_inputs: a determination's id to its input set.
    subject_act_at: when a contested act happened, where its object is not here.
    carried: where mandates, acts and status answers came from.
    exported: True for a bundle, which ought to say where its record ends.
    """

    objects: tuple[Any, ...]
    mandates: tuple[Any, ...] = ()
    keys: Mapping[str, DeclaredKey] = field(default_factory=lambda: _NOTHING)
    acts: Mapping[str, Any] = field(default_factory=lambda: _NOTHING)
    status_results: tuple[Any, ...] = ()
    head: Head | None = None
    rules_version: str | None = None
    stated_gaps: frozenset[str] = frozenset()
    transaction_id: str | None = None
    disclosed: Any = None
    event_rules: Mapping[str, str] = field(default_factory=lambda: _NOTHING)
    determination_inputs: Mapping[str, Any] = field(default_factory=lambda: _NOTHING)
    subject_act_at: Any = None
    carried: Source = Source.DECLARED
    exported: bool = False

    @property
    def is_whole(self) -> bool:
        """True where the record claims to be complete, so that what is missing is missing, not withheld."""
        return self.head is not None and self.head.object_count is not None and self.disclosed is None


def merged_keys(
    declared: Mapping[str, DeclaredKey], trusted: Mapping[str, KeyBinding], source: Source,
) -> dict[str, DeclaredKey]:
    """The declared keys under the trusted ones: what is trusted counts, and a difference is a conflict."""
    merged = dict(declared)
    for key_id, binding in trusted.items():
        told = declared.get(key_id)
        differs = told is not None and (
            told.conflict or (told.binding.public, told.binding.owner) != (binding.public, binding.owner))
        merged[key_id] = DeclaredKey(binding, source, differs)
    return merged
