"""The schema layer (objects 1 to 7, 10, 11): is a document of the shape its type demands?

Rules this module applies:

- the JSON Schemas under `schemas/v0.1` are the only statement of shape;
- one small schema per object type, chosen by `object_type`, compiled at first use and kept;
- errors are short sentences that name the place and the rule, at most eight, and never quote a document.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from jsonschema.exceptions import ValidationError

from a202_reference.registries import ObjectType
from a202_reference.schema_compiler import BrokenSchemaError, SchemaRegistry, compile_schema, kernel_registry
from a202_reference.schema_keywords import Compiled, Validator

MAX_ERRORS = 8
MAX_MESSAGE = 200

_KERNEL = "commercial-kernel.schema.json"
_MANDATE = "commercial-mandate.schema.json"
_GRADE = "conformance-grade.schema.json"
_OBJECTS = "envelope.schema.json#/$defs/"


@dataclass(frozen=True, slots=True)
class CompiledSchema:
    """A schema with every reference resolved, ready to judge."""

    _schema: Compiled | bool
    _validator: Any = field(repr=False)

    @classmethod
    def at(cls, reference: str, registry: SchemaRegistry) -> CompiledSchema:
        """The schema at an absolute reference. Raises BrokenSchemaError."""
        schema = compile_schema(reference, registry)
        return cls(schema, Validator(schema))

    def is_valid(self, document: object) -> bool:
        """True where the document satisfies the schema. Never raises."""
        if isinstance(self._schema, bool):
            return self._schema
        try:
            return self._schema.accepts(document)
        except RecursionError:
            return False

    def errors(self, document: object) -> tuple[str, ...]:
        """Why it does not, at most eight sentences; empty where it does. Never raises."""
        if self.is_valid(document):
            return ()
        messages: dict[str, None] = {}
        try:
            for error in self._validator.iter_errors(document):
                messages[_sentence(error)] = None
                if len(messages) == MAX_ERRORS:
                    break
        except RecursionError:
            return ("document: is nested too deeply",)
        return tuple(messages) or ("document: does not have the form its schema demands",)


def object_errors(document: object) -> tuple[str, ...]:
    """Why the document is no envelope object of its type; empty where it is one."""
    schema = _schema_of(document)
    if schema is not None:
        return schema.errors(document)
    if not isinstance(document, dict):
        return ("document: must be of type object",)
    return ("object_type: is not one of the registered values",)


def is_valid_object(document: object) -> bool:
    """As `object_errors`, the answer alone."""
    schema = _schema_of(document)
    return schema is not None and schema.is_valid(document)


def mandate_errors(document: object) -> tuple[str, ...]:
    """Why the document is no mandate; empty where it is one."""
    return mandate_schema().errors(document)


def grade_errors(document: object) -> tuple[str, ...]:
    """Why the document is no grade; empty where it is one."""
    return grade_schema().errors(document)


@cache
def object_schema(object_type: ObjectType) -> CompiledSchema:
    """The envelope with this type's payload."""
    return CompiledSchema.at(_base() + _OBJECTS + object_type.value, kernel_registry())


@cache
def mandate_schema() -> CompiledSchema:
    """The mandate."""
    return CompiledSchema.at(_base() + _MANDATE, kernel_registry())


@cache
def grade_schema() -> CompiledSchema:
    """The conformance grade."""
    return CompiledSchema.at(_base() + _GRADE, kernel_registry())


@cache
def _base() -> str:
    """Where our schemas say they live: the part of the kernel's address before its file name."""
    for address in kernel_registry():
        if address.endswith("/" + _KERNEL):
            return address.removesuffix(_KERNEL)
    raise BrokenSchemaError(f"{_KERNEL} is missing")


def _schema_of(document: object) -> CompiledSchema | None:
    name = document.get("object_type") if isinstance(document, dict) else None
    known = _OBJECT_TYPES.get(name) if isinstance(name, str) else None
    return None if known is None else object_schema(known)


_OBJECT_TYPES: Mapping[str, ObjectType] = {member.value: member for member in ObjectType}


def _sentence(error: ValidationError) -> str:
    place = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in error.absolute_path)
    text = f"{place.lstrip('.') or 'document'}: {error.message}"
    return text if len(text) <= MAX_MESSAGE else text[:MAX_MESSAGE - 3] + "..."
