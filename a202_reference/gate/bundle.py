"""Checks of a bundle as a whole: hashes, signatures, versions, discharge (verification 6, B1 to B7).

They come after the checks of each object, which compare declared hashes: B1 recomputes every one of them here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from a202_reference.canonical import NotCanonicalError, content_hash
from a202_reference.codes import Code
from a202_reference.gate.reading import items, members
from a202_reference.json_values import is_integer, json_key
from a202_reference.registries import TYPE_RULES, DueType, ObjectType, TypeRule

Document: TypeAlias = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Bundle:
    """The objects of one bundle, what it states about itself, and its objects under identifier and hash."""

    objects: Sequence[Document]
    context: Document
    by_id: Mapping[str, Document]
    by_hash: Mapping[str, Document]

    def of_type(self, object_type: ObjectType) -> Iterator[Document]:
        """The objects of one type, in the bundle's order."""
        return (document for document in self.objects if document.get("object_type") == object_type)


BundleCheck: TypeAlias = Callable[[Bundle], Iterator[Code]]
"""A named rule of the whole: the codes it raises."""


def content_hashes(bundle: Bundle) -> Iterator[Code]:
    """B1: every declared hash is the recomputed one."""
    if not all(map(_hash_agrees, bundle.objects)):
        yield Code.EVIDENCE_HASH_MISMATCH


def _hash_agrees(document: Document) -> bool:
    try:
        return content_hash(document) == document.get("content_hash")
    except NotCanonicalError:
        return False


def signatures(bundle: Bundle) -> Iterator[Code]:
    """B2, B3: every purpose suits its type, and two signatures stand where two are due."""
    if not all(map(_rightly_signed, bundle.objects)):
        yield Code.EVIDENCE_SIGNATURE_INVALID


def _rightly_signed(document: Document) -> bool:
    object_type, entries = document.get("object_type"), items(document.get("signatures"))
    rule = _TYPE_RULES.get(object_type) if isinstance(object_type, str) else None
    if rule is None:
        return True
    purposes = [members(entry).get("purpose") for entry in entries]
    suits = rule.purposes is None or all(
        isinstance(purpose, str) and purpose in rule.purposes for purpose in purposes)
    return suits and not (rule.minimum_signatures == 2 and len(entries) < 2)


_TYPE_RULES: Mapping[str, TypeRule] = {object_type.value: rule for object_type, rule in TYPE_RULES.items()}


def discharge_cycle(bundle: Bundle) -> Iterator[Code]:
    """B4: obligations do not wait for each other's discharge in a loop."""
    waiting = {
        name: set(_awaited(members(document.get("payload")).get("due_condition")))
        for document in bundle.of_type(ObjectType.OBLIGATION) if isinstance(name := document.get("id"), str)}
    while True:
        free = {name for name, awaited in waiting.items() if waiting.keys().isdisjoint(awaited)}
        if not free:
            break
        waiting = {name: awaited for name, awaited in waiting.items() if name not in free}
    if waiting:
        yield Code.OBLIGATION_CONDITION_CYCLIC


def _awaited(condition: Any) -> Iterator[str]:
    for part in (condition, *items(members(condition).get("conditions"))):
        awaited = members(part).get("obligation_id")
        if members(part).get("type") == DueType.ON_DISCHARGE and isinstance(awaited, str):
            yield awaited


def version_chains(bundle: Bundle) -> Iterator[Code]:
    """B5 to B7: versions start at one, grow by one and never fork; one identifier is one set of bytes."""
    named = Counter(json_key(name) for document in bundle.objects
                    if (name := document.get("previous_version_id")) is not None)
    if max(named.values(), default=0) > 1 or not all(
            _follows_its_predecessor(bundle, document) and _is_alone(bundle, document)
            for document in bundle.objects):
        yield Code.EVIDENCE_CHAIN_GAP


def _follows_its_predecessor(bundle: Bundle, document: Document) -> bool:
    version, named = _number(document.get("version")), document.get("previous_version_id")
    if version == 1:
        return named is None
    predecessor = bundle.by_id.get(named) if isinstance(named, str) else None
    if predecessor is None:
        return True
    before = _number(predecessor.get("version"))
    return version is not None and before is not None and version == before + 1


def _is_alone(bundle: Bundle, document: Document) -> bool:
    held = bundle.by_id.get(document["id"]) if isinstance(document.get("id"), str) else None
    return held is None or held.get("content_hash") == document.get("content_hash")


def _number(value: Any) -> float | None:
    return value if is_integer(value) else None


CHECKS: tuple[BundleCheck, ...] = (content_hashes, signatures, discharge_cycle, version_chains)
