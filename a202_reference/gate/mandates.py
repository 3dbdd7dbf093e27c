"""Checks of mandates, delegation, grades and carrier declarations (verification 5.11 to 5.14; rules 3.2, 10, 6.8)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any, TypeAlias

from a202_reference.codes import Code
from a202_reference.gate.common import evidence_reference
from a202_reference.gate.reading import items, members
from a202_reference.json_values import is_integer
from a202_reference.registries import FAMILIES, ConstraintOperator, ConstraintType, RoleScope
from a202_reference.resources import data_root
from a202_reference.schema_compiler import BrokenSchemaError
from a202_reference.times import parse_instant
from a202_reference.wire import read_json

DocumentCheck: TypeAlias = Callable[[Mapping[str, Any]], Iterator[Code]]

_TYPES = frozenset(member.value for member in ConstraintType)
_OPERATORS = frozenset(member.value for member in ConstraintOperator)
_MAJOR_MINOR = re.compile(r"[0-9]+\.[0-9]+", re.ASCII)


def mandate_interval(mandate: Mapping[str, Any]) -> Iterator[Code]:
    """A mandate starts before it ends."""
    start, end = parse_instant(mandate.get("valid_from")), parse_instant(mandate.get("valid_until"))
    if start is None or end is None or start >= end:
        yield Code.MANDATE_INTERVAL_INVALID


def mandate_bounds(mandate: Mapping[str, Any]) -> Iterator[Code]:
    """It has a constraint, and its scope names transactions or categories."""
    if not items(mandate.get("constraints")):
        yield Code.MANDATE_UNBOUNDED
    scope = members(mandate.get("scope"))
    if not items(scope.get("transaction_ids")) and not items(scope.get("categories")):
        yield Code.MANDATE_SCOPE_TOO_BROAD


def mandate_status_endpoint(mandate: Mapping[str, Any]) -> Iterator[Code]:
    """Its status is asked over HTTPS."""
    endpoint = mandate.get("status_endpoint")
    if isinstance(endpoint, str) and not endpoint.startswith("https://"):
        yield Code.MANDATE_STATUS_INSECURE


def mandate_constraints(mandate: Mapping[str, Any]) -> Iterator[Code]:
    """Every constraint is of a registered type and operator."""
    for constraint in items(mandate.get("constraints")):
        kind, operator = members(constraint).get("type"), members(constraint).get("operator")
        if not _registered(kind, _TYPES) or not _registered(operator, _OPERATORS):
            yield Code.MANDATE_CONSTRAINT_UNKNOWN
            return


def mandate_subject(mandate: Mapping[str, Any]) -> Iterator[Code]:
    """It is given to exactly one agent or one principal."""
    subject = members(mandate.get("subject"))
    if ("agent_id" in subject) == ("principal_id" in subject):
        yield Code.MANDATE_SUBJECT_AMBIGUOUS


def mandate_delegation(mandate: Mapping[str, Any]) -> Iterator[Code]:
    """Depth and permission to delegate agree."""
    delegation = members(mandate.get("delegation"))
    allowed, depth = delegation.get("allowed"), delegation.get("maximum_depth")
    number: Any = depth if is_integer(depth) else None
    if (allowed is False and number != 0) or (allowed is True and number is not None and number < 1):
        yield Code.MANDATE_DELEGATION_INCOHERENT


def mandate_evidence(mandate: Mapping[str, Any]) -> Iterator[Code]:
    """Its full evidence references are as those of any object."""
    for reference in items(mandate.get("evidence_refs")):
        if not isinstance(reference, str):
            yield from evidence_reference(reference)


MANDATE_CHECKS: tuple[DocumentCheck, ...] = (
    mandate_interval, mandate_bounds, mandate_status_endpoint, mandate_constraints, mandate_subject,
    mandate_delegation, mandate_evidence)


def grade_scope(grade: Mapping[str, Any]) -> Iterator[Code]:
    """Exactly one registered role scope, and no family from outside it."""
    named = items(members(grade.get("scope")).get("role_scopes"))
    scopes = [next((scope for scope in RoleScope if scope == name), None) for name in named]
    if None in scopes:
        yield Code.GRADE_SCOPE_UNKNOWN
    if len(scopes) != 1:
        yield Code.GRADE_SCOPE_INVALID
    elif scopes[0] is not None and not all(
            _registered(family, FAMILIES[scopes[0]]) for family in _families(grade)):
        yield Code.GRADE_SCOPE_OVERCLAIM


def _families(grade: Mapping[str, Any]) -> Iterator[Any]:
    for dimension in members(grade.get("dimensions")).values():
        yield from items(members(dimension).get("established_from"))
    yield from items(members(grade.get("held_out_coverage")).get("families"))


GRADE_CHECKS: tuple[DocumentCheck, ...] = (grade_scope,)


@cache
def carrier_extension() -> Mapping[str, Any]:
    """Our own declaration: `uri`, `description`, `read_versions`, `write_version` (objects 9.1)."""
    path = data_root() / "schemas" / "v0.1" / "carrier-extension.json"
    declared = read_json(path.read_bytes())
    if not isinstance(declared, dict) or not isinstance(declared.get("uri"), str):
        raise BrokenSchemaError(f"{path.name} does not declare the extension")
    return declared


def declaration_faults(local_party: object, counterparty: object) -> Iterator[Code]:
    """The other side reads what we write, we read what it writes, and it says so exactly once."""
    uri = carrier_extension()["uri"]
    declared = [entry for entry in items(members(counterparty).get("extensions")) if members(entry).get("uri") == uri]
    entry = declared[0] if len(declared) == 1 else {}
    ours, theirs = _versions(local_party), _versions(entry.get("params"))
    if (
        not isinstance(entry.get("required"), bool)
        or ours is None
        or theirs is None
        or theirs[1] not in ours[0]
        or ours[1] not in theirs[0]
    ):
        yield Code.EXTENSION_UNSUPPORTED


def _versions(params: object) -> tuple[list[str], str] | None:
    reads, writes = members(params).get("read_versions"), members(params).get("write_version")
    if not isinstance(reads, list) or not reads or not all(map(_is_version, (*reads, writes))):
        return None
    return reads, str(writes)


def _is_version(value: object) -> bool:
    return isinstance(value, str) and _MAJOR_MINOR.fullmatch(value) is not None


def _registered(value: Any, registry: frozenset[str]) -> bool:
    return isinstance(value, str) and value in registry
