"""Schema files made ready to judge with (objects 10; design, Dependencies).

Rules this module applies:

- schemas are data, and so are their addresses. Nothing is fetched: what is not among the files does not
  resolve;
- a compiled schema holds no reference: each is put in place once. A schema that refers back into itself is
  refused, so judging is bounded by the schema and not by the document;
- only keywords that are judged here may occur, so none is overlooked;
- patterns of other people's schemas run on a linear-time engine, for a value is a counterparty's. Those of our
  own files are short and reviewed, and run on `re`, which is quicker;
- whatever breaks one of these makes compiling fail (`BrokenSchemaError`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, TypeAlias

import re2
from referencing import Registry, Resource
from referencing.exceptions import NoSuchResource, Unresolvable
from referencing.jsonschema import DRAFT202012, Schema

from a202_reference.resources import data_root
from a202_reference.schema_keywords import COMPOSITES, Compiled
from a202_reference.schema_leaves import LEAVES, Matcher
from a202_reference.wire import Unreadable, read_json

SchemaRegistry: TypeAlias = "Registry[Schema]"

_ANNOTATIONS = frozenset({"$schema", "$id", "$anchor", "$comment", "$defs", "title", "description", "examples",
                          "default", "deprecated", "readOnly", "writeOnly"})
_MAPS = frozenset({"properties", "patternProperties"})
_LISTS = frozenset({"allOf", "anyOf", "oneOf", "prefixItems"})
_JUDGED = frozenset(LEAVES) | frozenset(COMPOSITES) | {"$ref"}


class BrokenSchemaError(ValueError):
    """A schema that cannot be used: the installation or the configuration is at fault, never a document."""


@cache
def kernel_registry() -> SchemaRegistry:
    """Every schema of `schemas/v0.1` under its own address; anything else does not resolve."""
    paths = sorted((data_root() / "schemas" / "v0.1").glob("*.schema.json"))
    return Registry().with_resources(read_schema(path) for path in paths)


def read_schema(path: Path) -> tuple[str, Resource[Schema]]:
    """A schema file under its address. Raises BrokenSchemaError where it is none."""
    document = read_json(path.read_bytes())
    if isinstance(document, Unreadable):
        raise BrokenSchemaError(f"{path.name}: {document.reason}")
    if not isinstance(document, dict) or not isinstance(document.get("$id"), str):
        raise BrokenSchemaError(f"{path.name}: a schema names itself by $id")
    return document["$id"], DRAFT202012.create_resource(document)


def compile_schema(reference: str, registry: SchemaRegistry) -> Compiled | bool:
    """The schema at an absolute reference, compiled. Raises BrokenSchemaError."""
    return _Compiler().follow(registry.resolver(), reference)


@cache
def _reviewed_patterns() -> frozenset[str]:
    """The patterns of our own files: short, reviewed, safe on a backtracking engine."""
    registry = kernel_registry()
    return frozenset(text for address in registry for text in _patterns(registry.contents(address)))


def _patterns(node: Any) -> Iterator[str]:
    if isinstance(node, dict):
        if isinstance(node.get("pattern"), str):
            yield node["pattern"]
        for member in node.values():
            yield from _patterns(member)
    elif isinstance(node, list):
        for member in node:
            yield from _patterns(member)


@lru_cache(maxsize=1024)
def _matcher(text: str) -> Matcher:
    """Search by an ECMA-262 pattern. Both engines read a lone `$` as the very end."""
    try:
        if text in _reviewed_patterns():
            ends = text.endswith("$") and not text.endswith(r"\$")
            return re.compile(text[:-1] + r"\Z" if ends else text, re.ASCII).search
        search: Callable[[str], object] = re2.compile(text, _quiet()).search
    except (re.error, re2.error) as refused:
        raise BrokenSchemaError(f"the pattern {text[:60]!r} does not compile") from refused
    return search


def _quiet() -> Any:
    options = re2.Options()
    options.log_errors = False  # a pattern that does not compile is our caller's answer, not a line on stderr
    return options


class _Compiler:
    """Copies a schema with its references put in place, remembering which it is inside of."""

    def __init__(self) -> None:
        self._open: list[int] = []

    def follow(self, resolver: Any, reference: str) -> Compiled | bool:
        try:
            found = resolver.lookup(reference)
        except (Unresolvable, NoSuchResource) as lost:
            raise BrokenSchemaError(f"the reference {reference} leads nowhere") from lost
        if id(found.contents) in self._open:
            raise BrokenSchemaError(f"the reference {reference} leads back into itself")
        self._open.append(id(found.contents))
        schema = self._copy(found.resolver, found.contents)
        self._open.pop()
        return schema

    def _copy(self, resolver: Any, schema: Any) -> Compiled | bool:
        if isinstance(schema, bool):
            return schema
        if not isinstance(schema, dict):
            raise BrokenSchemaError("a subschema is neither an object nor a boolean")
        unknown = schema.keys() - _JUDGED - _ANNOTATIONS
        if unknown:
            raise BrokenSchemaError(f"the keyword {min(unknown)} is not supported")
        copied = {keyword: self._argument(resolver, keyword, argument)
                  for keyword, argument in schema.items() if keyword in _JUDGED and keyword != "$ref"}
        if "$ref" not in schema:
            return Compiled(copied)
        target = self.follow(resolver, schema["$ref"])
        if not copied:
            return target
        return Compiled({"allOf": [target, *copied.pop("allOf", [])], **copied})

    def _argument(self, resolver: Any, keyword: str, argument: Any) -> Any:
        if keyword == "patternProperties":
            return {_matcher(form): self._copy(resolver, each) for form, each in argument.items()}
        if keyword in _MAPS:
            return {name: self._copy(resolver, each) for name, each in argument.items()}
        if keyword in _LISTS:
            return [self._copy(resolver, each) for each in argument]
        if keyword in COMPOSITES:
            return self._copy(resolver, argument)
        return _matcher(argument) if keyword == "pattern" else argument
