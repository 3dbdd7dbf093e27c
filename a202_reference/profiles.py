"""Transaction profiles (rules 2; objects 8): the part of the terms that the kernel does not read.

Rules this module applies:

- a file `<name>-<version>.schema.json` registers `a202-profile/<name>/<version>`; lookup is exact, no version
  stands for another, and a version stays where it is as long as agreements name it;
- profiles may point at the kernel's `$defs`; no profile points at another, and nothing is fetched;
- loading fails (`BrokenSchemaError`) for a file that is no schema, a name that is no profile identifier, a
  pattern or reference that cannot be used, and an identifier or address that is taken: a registry that loads
  can judge every profile it lists.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError

from a202_reference.resources import data_root
from a202_reference.schema_compiler import BrokenSchemaError, kernel_registry, read_schema
from a202_reference.schemas import CompiledSchema

_SUFFIX = ".schema.json"
_STEM = re.compile(r"([a-z0-9][a-z0-9-]*)-([0-9]+\.[0-9]+)", re.ASCII)


@dataclass(frozen=True, slots=True)
class ProfileRegistry:
    """The profiles of one configuration, compiled."""

    _schemas: Mapping[str, CompiledSchema]

    @classmethod
    def load(cls, directories: Iterable[Path] = ()) -> ProfileRegistry:
        """The installed profiles and those in further directories. Raises BrokenSchemaError."""
        schemas: dict[str, CompiledSchema] = {}
        for directory in (data_root() / "profiles", *directories):
            if not directory.is_dir():
                raise BrokenSchemaError(f"the profile directory {directory.name} does not exist")
            for path in sorted(directory.glob("*" + _SUFFIX)):
                profile_id = _profile_id(path)
                if profile_id in schemas:
                    raise BrokenSchemaError(f"{path.name}: {profile_id} is registered already")
                schemas[profile_id] = _compile(path)
        return cls(MappingProxyType(schemas))

    @property
    def ids(self) -> tuple[str, ...]:
        """The registered identifiers, sorted."""
        return tuple(sorted(self._schemas))

    def errors(self, profile_id: object, terms: object) -> tuple[str, ...] | None:
        """Why the profile refuses the terms, empty where it does not; None for a profile not registered."""
        schema = self._schemas.get(profile_id) if isinstance(profile_id, str) else None
        return None if schema is None else schema.errors(terms)


@cache
def installed_profiles() -> ProfileRegistry:
    """The profiles that come with this software."""
    return ProfileRegistry.load()


def profile_errors(
    profile_id: object, terms: object, registry: ProfileRegistry | None = None,
) -> tuple[str, ...] | None:
    """As `ProfileRegistry.errors`, for the installed profiles where no registry is given."""
    return (registry or installed_profiles()).errors(profile_id, terms)


def _profile_id(path: Path) -> str:
    found = _STEM.fullmatch(path.name.removesuffix(_SUFFIX))
    if found is None:
        raise BrokenSchemaError(f"{path.name}: a profile's file is named <name>-<major.minor>{_SUFFIX}")
    return f"a202-profile/{found[1]}/{found[2]}"


def _compile(path: Path) -> CompiledSchema:
    address, resource = read_schema(path)
    registry = kernel_registry()
    if address in registry:
        raise BrokenSchemaError(f"{path.name}: its $id is that of a kernel schema")
    contents: Any = resource.contents
    try:
        Draft202012Validator.check_schema(contents)
    except SchemaError as refused:
        raise BrokenSchemaError(f"{path.name}: not a draft 2020-12 schema: {refused.message[:200]}") from refused
    try:
        return CompiledSchema.at(address, registry.with_resource(address, resource))
    except BrokenSchemaError as broken:
        raise BrokenSchemaError(f"{path.name}: {broken}") from broken
