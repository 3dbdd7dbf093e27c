"""Reading a document that may be anything (verification 8, D51).

The rule layer runs whether or not the schema layer accepted, so no reader here trusts a type: a member of
another type counts as absent, and the rule that needed it fails. Nothing raises.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeGuard

from a202_reference.gate.judgement import Lookup
from a202_reference.registries import ObjectType

_NO_MEMBERS: Mapping[str, Any] = {}
_CONTAINERS = (dict, list)
ENVELOPE_ONLY = (
    ObjectType.EXTERNAL_IDENTITY_ASSERTION, ObjectType.CAPABILITY, ObjectType.INTENT,
    ObjectType.QUALIFICATION_REQUIREMENT, ObjectType.COMMERCIAL_REQUEST, ObjectType.CLARIFICATION,
    ObjectType.DELEGATION, ObjectType.EXCEPTION, ObjectType.EVIDENCE_MANIFEST, ObjectType.AUDIT_BUNDLE)
"""Types whose payload this version leaves open (rules 12.2)."""


def members(value: Any) -> Mapping[str, Any]:
    """The value where it is an object, else an object without members."""
    return value if isinstance(value, dict) else _NO_MEMBERS


def items(value: Any) -> Sequence[Any]:
    """The value where it is an array, else an empty one."""
    return value if isinstance(value, list) else ()


def is_one_of(value: Any, registry: Container[str]) -> TypeGuard[str]:
    """True where the value is a text of a closed registry. Total: a list or an object is in none."""
    return isinstance(value, str) and value in registry


def organization(party: Any) -> Any:
    """The organisation a party reference names, or None."""
    return members(party).get("organization_id")


def objects_in(value: Any) -> Iterator[Mapping[str, Any]]:
    """The value and everything in it, at any depth, that is an object."""
    stack = [value]
    while stack:
        node = stack.pop()
        if isinstance(node, dict):
            yield node
            node = node.values()
        elif not isinstance(node, list):
            continue
        stack.extend([member for member in node if isinstance(member, _CONTAINERS)])


@dataclass(frozen=True, slots=True)
class Subject:
    """One envelope under judgement: the document, its payload as an object, and what is held beside it."""

    document: Mapping[str, Any]
    payload: Mapping[str, Any]
    lookup: Lookup

    @property
    def type(self) -> Any:
        """The declared object type, whatever it is."""
        return self.document.get("object_type")

    @property
    def defined_payload(self) -> Mapping[str, Any]:
        """The payload, unless the type is one of which only the envelope is defined: its members mean nothing."""
        return _NO_MEMBERS if self.type in ENVELOPE_ONLY else self.payload
