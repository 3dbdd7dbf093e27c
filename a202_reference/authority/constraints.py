"""Constraint types and operators (rules 3.4; D-10; design overrides 2 and 3).

Rules this module applies:

- a constraint is satisfied, unsatisfied (then `on_failure` decides), or unevaluable; what cannot be
  evaluated always denies, with `A202-MANDATE-CONSTRAINT-UNKNOWN`, and no approver can release it;
- unevaluable: a path outside the grammar, an operator that does not suit the type, a limit or an actual
  value that is not of the type, a pattern that does not compile;
- an absent path is unsatisfied, except under `absent`; a null that is there exists;
- `matches` searches, as JSON Schema patterns do, on a linear-time engine; pattern and subject are bounded.

The operators stand in one table, `OPERATORS`; which suit which type in another, `SUITS`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache, partial
from typing import Any, TypeAlias

import re2

from a202_reference.authority.paths import ABSENT, parse_path, resolve
from a202_reference.codes import Code
from a202_reference.documents.mandate import Constraint, Predicate
from a202_reference.identifiers import Prefix, is_sha256_hex
from a202_reference.money import evaluated_decimal, evaluated_integer
from a202_reference.registries import ConstraintOperator as Op
from a202_reference.registries import ConstraintType as Type
from a202_reference.registries import EvidenceType
from a202_reference.times import parse_instant
from a202_reference.wire import has_lone_surrogate

MAX_PATTERN = 512
MAX_SUBJECT = 4096


class Result(StrEnum):
    """Outcome of one constraint."""

    SATISFIED = "satisfied"
    UNSATISFIED = "unsatisfied"
    UNEVALUABLE = "unevaluable"


@dataclass(frozen=True, slots=True)
class EvidenceStanding:
    """What is known of one evidence object: its recomputed hash, its type, and whether it stands.

    verified: content hash and signatures verify, and its `verification.status` is `verified`.
    """

    content_hash: str
    evidence_type: str
    verified: bool


EvidenceLookup: TypeAlias = Callable[[str], EvidenceStanding | None]


@dataclass(frozen=True, slots=True)
class ConstraintFinding:
    """One constraint against one act, as verify_mandate reports it."""

    constraint: Constraint
    result: Result
    code: Code | None
    detail: str

    @property
    def denies(self) -> bool:
        """True where this finding denies, whatever else holds."""
        return self.code is not None and self.code is not Code.APPROVAL_REQUIRED

    @property
    def document(self) -> dict[str, Any]:
        """The member of `constraints` in a decision (surface 2)."""
        return {
            "id": self.constraint.id,
            "path": self.constraint.predicate.path,
            "on_failure": self.constraint.on_failure,
            "result": self.result.value,
            "code": self.code.value if self.code else None,
            "detail": self.detail,
        }


def check(constraint: Constraint, act: Mapping[str, Any], evidence: EvidenceLookup) -> ConstraintFinding:
    """Evaluate one constraint of a mandate against an act document."""
    result, detail = evaluate(constraint.type, constraint.predicate, act, evidence)
    return ConstraintFinding(constraint, result, _code(constraint, result), detail)


def limit_fault(type_name: str, predicate: Predicate) -> str | None:
    """Why a comparison can never be evaluated, whatever the act says; None where it can."""
    try:
        kind, operator = Type(type_name), Op(predicate.operator)
    except ValueError:
        return "the type or operator is not registered"
    if parse_path(predicate.path) is None:
        return "the path is not `$` followed by 1 to 16 member names"
    if operator not in SUITS[kind]:
        return f"{operator} does not suit {kind}"
    if operator in _EXISTENCE:
        return None if predicate.value is True else f"the value of {operator} must be true"
    read = _admitted if kind is Type.EVIDENCE_REFERENCE else partial(_limit, kind)
    if read(operator, predicate.value) is None:
        return f"the constraint's own value cannot be read for {operator} under {kind}"
    return None


def evaluate(
    type_name: str, predicate: Predicate, act: Mapping[str, Any], evidence: EvidenceLookup,
) -> tuple[Result, str]:
    """The result of one comparison under a type, and a sentence for the reader where it is not satisfied."""
    fault = limit_fault(type_name, predicate)
    names = parse_path(predicate.path)
    if fault is not None or names is None:
        return Result.UNEVALUABLE, fault or ""
    kind, operator, actual = Type(type_name), Op(predicate.operator), resolve(act, names)
    if operator in _EXISTENCE:
        return _existence(operator, actual)
    if actual is ABSENT:
        return Result.UNSATISFIED, "the act says nothing at this path"
    if kind is Type.EVIDENCE_REFERENCE:
        return _of_evidence(operator, actual, predicate.value, evidence)
    return _of_value(kind, operator, actual, predicate.value)


_Read: TypeAlias = Callable[[Any], Any]


def _scalars(value: Any) -> frozenset[tuple[str, Any]] | None:
    """A set of scalars; a JSON true is not the number 1."""
    members = value if isinstance(value, list) else [value]
    if any(not isinstance(member, str | int | bool | None) for member in members):
        return None
    return frozenset((type(member).__name__, member) for member in members)


READERS: Mapping[Type, _Read] = {
    Type.DECIMAL: evaluated_decimal,
    Type.INTEGER: evaluated_integer,
    Type.STRING: lambda value: value if isinstance(value, str) else None,
    Type.BOOLEAN: lambda value: value if isinstance(value, bool) else None,
    Type.TIMESTAMP: parse_instant,
    Type.SET: _scalars,
    Type.COUNTERPARTY_REFERENCE: lambda value: value if Prefix.ORGANIZATION.names(value) else None,
    Type.GEOGRAPHY_REFERENCE: lambda value: value if _is_country(value) else None,
}
"""How a value is read under each type; None where it is not of the type."""

_EQUALITY = frozenset({Op.EQUALS, Op.NOT_EQUALS})
_LISTS = frozenset({Op.ONE_OF, Op.NONE_OF})
_EXISTENCE = frozenset({Op.PRESENT, Op.ABSENT})
_BOUNDS = frozenset({Op.MINIMUM, Op.MAXIMUM})
_ORDER = frozenset({Op.BEFORE, Op.AFTER})

SUITS: Mapping[Type, frozenset[Op]] = {
    Type.DECIMAL: _EQUALITY | _LISTS | _BOUNDS | _EXISTENCE,
    Type.INTEGER: _EQUALITY | _LISTS | _BOUNDS | _EXISTENCE,
    Type.STRING: _EQUALITY | _LISTS | _EXISTENCE | {Op.MATCHES},
    Type.BOOLEAN: _EQUALITY | _EXISTENCE,
    Type.TIMESTAMP: _EQUALITY | _ORDER | _EXISTENCE,
    Type.SET: _EQUALITY | _LISTS | _EXISTENCE,
    Type.DISCLOSURE_PATH: _EXISTENCE,
    Type.EVIDENCE_REFERENCE: _EXISTENCE | {Op.EVIDENCE_VERIFIED, Op.EQUALS, Op.ONE_OF},
    Type.COUNTERPARTY_REFERENCE: _EQUALITY | _LISTS | _EXISTENCE | {Op.MATCHES},
    Type.GEOGRAPHY_REFERENCE: _EQUALITY | _LISTS | _EXISTENCE,
}
"""Which operators suit which type (D-10)."""

OPERATORS: Mapping[Op, Callable[[Any, Any], bool]] = {
    Op.EQUALS: lambda actual, limit: actual == limit,
    Op.NOT_EQUALS: lambda actual, limit: actual != limit,
    Op.MINIMUM: lambda actual, limit: actual >= limit,
    Op.MAXIMUM: lambda actual, limit: actual <= limit,
    Op.BEFORE: lambda actual, limit: actual < limit,
    Op.AFTER: lambda actual, limit: actual > limit,
    Op.ONE_OF: lambda actual, limit: actual in limit,
    Op.NONE_OF: lambda actual, limit: actual not in limit,
    Op.MATCHES: lambda actual, limit: limit.search(actual) is not None,
}
"""What each operator demands of two values that were read under the constraint's type."""


def is_anchored(pattern: object) -> bool:
    """True where a pattern names its whole subject (design override 3: anchoring is the issuer's choice)."""
    return isinstance(pattern, str) and pattern.startswith("^") and pattern.endswith("$")


def _of_value(kind: Type, operator: Op, actual: Any, limit: Any) -> tuple[Result, str]:
    bound, value = _limit(kind, operator, limit), READERS[kind](actual)
    if value is None or (operator is Op.MATCHES and (len(value) > MAX_SUBJECT or has_lone_surrogate(value))):
        return Result.UNEVALUABLE, f"the act's value at this path is not a {kind}"
    if kind is Type.SET and operator in _LISTS:
        held = bool(value) and value <= bound if operator is Op.ONE_OF else not value & bound
    else:
        held = OPERATORS[operator](value, bound)
    return (Result.SATISFIED, "") if held else (Result.UNSATISFIED, f"the act's value does not hold {operator}")


def _limit(kind: Type, operator: Op, limit: Any) -> Any | None:
    """The constraint's value as its operator needs it, or None where it cannot be read."""
    if operator is Op.MATCHES:
        return _pattern(limit)
    read = READERS[kind]
    if operator not in _LISTS:
        return read(limit)
    if not isinstance(limit, list) or (operator is Op.ONE_OF and not limit):
        return None
    if kind is Type.SET:
        return read(limit)
    members = [read(member) for member in limit]
    return None if any(member is None for member in members) else members


def _existence(operator: Op, actual: Any) -> tuple[Result, str]:
    if (actual is ABSENT) is (operator is Op.ABSENT):
        return Result.SATISFIED, ""
    return Result.UNSATISFIED, "the path does not exist" if actual is ABSENT else "the path exists"


def _of_evidence(operator: Op, actual: Any, limit: Any, lookup: EvidenceLookup) -> tuple[Result, str]:
    admitted, references = _admitted(operator, limit) or frozenset(), _references(actual)
    if references is None:
        return Result.UNEVALUABLE, "the act's value at this path is no evidence reference"
    if operator is not Op.EVIDENCE_VERIFIED:
        ids = frozenset(identifier for identifier, _ in references)
        held = ids == admitted if operator is Op.EQUALS else ids <= admitted
        return (Result.SATISFIED, "") if held else (Result.UNSATISFIED, "another evidence object is referenced")
    for identifier, content_hash in references:
        standing = lookup(identifier)
        if standing is None:
            return Result.UNSATISFIED, f"{identifier} is not at hand"
        if content_hash is not None and content_hash != standing.content_hash:
            return Result.UNSATISFIED, f"{identifier} has another content hash"
        if not standing.verified or standing.evidence_type not in admitted:
            return Result.UNSATISFIED, f"{identifier} is not verified, or not of an admitted type"
    return Result.SATISFIED, ""


def _admitted(operator: Op, limit: Any) -> frozenset[str] | None:
    """Evidence types for evidence_verified, evidence ids for equals and one_of."""
    if operator is Op.EVIDENCE_VERIFIED:
        if limit is True:
            return frozenset(EvidenceType)
        known = {member.value for member in EvidenceType}
        fits = isinstance(limit, list) and bool(limit) and all(isinstance(m, str) and m in known for m in limit)
        return frozenset(limit) if fits else None
    ids = [limit] if operator is Op.EQUALS and not isinstance(limit, list) else limit
    fits = isinstance(ids, list) and bool(ids) and all(Prefix.EVIDENCE.names(identifier) for identifier in ids)
    return frozenset(ids) if fits else None


def _references(actual: Any) -> Sequence[tuple[str, str | None]] | None:
    """(evidence id, carried hash or None) of each reference, or None where one is malformed."""
    entries = actual if isinstance(actual, list) else [actual]
    found: list[tuple[str, str | None]] = []
    for entry in entries:
        if isinstance(entry, str) and Prefix.EVIDENCE.names(entry):
            found.append((entry, None))
        elif isinstance(entry, dict) and Prefix.EVIDENCE.names(entry.get("evidence_id")) \
                and is_sha256_hex(entry.get("content_hash")):
            found.append((entry["evidence_id"], entry["content_hash"]))
        else:
            return None
    return found or None


def _code(constraint: Constraint, result: Result) -> Code | None:
    if result is Result.SATISFIED:
        return None
    if result is Result.UNEVALUABLE:
        return Code.MANDATE_CONSTRAINT_UNKNOWN
    if constraint.on_failure != "deny":
        return Code.APPROVAL_REQUIRED
    return {
        Type.DISCLOSURE_PATH: Code.DISCLOSURE_DENIED,
        Type.EVIDENCE_REFERENCE: Code.EVIDENCE_UNVERIFIED,
    }.get(Type(constraint.type), Code.POLICY_DENIED)


def _is_country(value: object) -> bool:
    return isinstance(value, str) and len(value) == 2 and value.isascii() and value.isalpha() and value.isupper()


def _re2_options() -> Any:
    options = re2.Options()
    options.log_errors = False
    options.max_mem = 1 << 20
    return options


_OPTIONS = _re2_options()


@lru_cache(maxsize=64)
def _compiled(pattern: str) -> Any | None:
    try:
        return re2.compile(pattern, _OPTIONS)
    except (re2.error, UnicodeEncodeError):
        return None


def _pattern(pattern: object) -> Any | None:
    return _compiled(pattern) if isinstance(pattern, str) and len(pattern) <= MAX_PATTERN else None
