"""What the gate is asked with and what it answers (verification 4, 5).

Rules this module applies:

- the schema layer and the rule layer both speak, always; an object is accepted where neither objects. The
  answer has no truth value: ask for `accepted`, so that nobody mistakes "was judged" for "is good";
- a check that needs a counterpart looks it up. With nothing held, such a check has nothing to say; with
  something held, a counterpart that is missing and not stated as a gap is a finding of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from a202_reference.codes import Code
from a202_reference.profiles import ProfileRegistry


@dataclass(frozen=True, slots=True)
class Judgement:
    """The verdict on one document.

    schema_errors: sentences of the schema layer. codes: of the rule layer, distinct, in evaluation order.
    """

    schema_errors: tuple[str, ...]
    codes: tuple[Code, ...]

    @property
    def accepted(self) -> bool:
        """True where neither layer objects."""
        return not self.schema_errors and not self.codes

    def __bool__(self) -> bool:
        raise TypeError("a judgement has two layers; ask for .accepted")


@dataclass(frozen=True, slots=True)
class Lookup:
    """The objects held beside the one being judged.

    by_id, by_hash: identifier and declared content hash to document, the judged object's own included or not.
    stated_gaps: identifiers openly left out. resolvable_hashes: hashes accepted though their object is not here.
    rules_version_in_force, subject_act_at: under which rules, and when, the contested act happened; empty: not stated.
    profiles: the profiles of this configuration; None: those that come with this software.
    """

    by_id: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    by_hash: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    stated_gaps: frozenset[str] = frozenset()
    resolvable_hashes: frozenset[str] = frozenset()
    rules_version_in_force: Any = None
    subject_act_at: Any = None
    profiles: ProfileRegistry | None = None

    @classmethod
    def over(cls, held: Mapping[str, Mapping[str, Any]], profiles: ProfileRegistry | None = None) -> Lookup:
        """A lookup over documents held under their identifiers. Nothing is rehashed or judged."""
        by_hash = {document["content_hash"]: document for document in held.values()
                   if isinstance(document.get("content_hash"), str)}
        return cls(held, by_hash, profiles=profiles)

    @property
    def holds_anything(self) -> bool:
        """False for an object judged alone."""
        return bool(self.by_id or self.by_hash)

    def get(self, identifier: object) -> Mapping[str, Any] | None:
        """The document held under this identifier, or None."""
        return self.by_id.get(identifier) if isinstance(identifier, str) else None

    def resolves(self, content_hash: object) -> bool:
        """True where an object with this hash is held or may stay away."""
        return isinstance(content_hash, str) and (
            content_hash in self.by_hash or content_hash in self.resolvable_hashes)

    def states_gap(self, identifier: object) -> bool:
        """True where the identifier is openly left out."""
        return isinstance(identifier, str) and identifier in self.stated_gaps

    def of_type(self, object_type: str) -> Iterator[Mapping[str, Any]]:
        """The held documents of one type."""
        return (document for document in self.by_id.values() if document.get("object_type") == object_type)


EMPTY: Final = Lookup()
"""Nothing is held."""
