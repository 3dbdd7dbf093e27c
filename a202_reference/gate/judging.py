"""The gate's entrances: one document in, a judgement out (verification 4, 5, 6).

Rules this module applies:

- schema layer and rule layer both run, neither relies on the other;
- rules are named functions in tables from object type to checks; an unknown type gets those of every object;
- every value gets an answer. What is no document at all is a schema refusal.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from a202_reference.authority.delegation import widening_faults
from a202_reference.canonical import MAX_DEPTH
from a202_reference.codes import Code, distinct
from a202_reference.gate import bundle, common, disputes, events, formation, obligations, parties, settlement, streams
from a202_reference.gate.common import Check
from a202_reference.gate.judgement import EMPTY, Judgement, Lookup
from a202_reference.gate.mandates import GRADE_CHECKS, MANDATE_CHECKS, DocumentCheck, declaration_faults
from a202_reference.gate.reading import Subject, items, members
from a202_reference.json_values import too_deep
from a202_reference.profiles import ProfileRegistry
from a202_reference.schemas import grade_errors, mandate_errors, object_errors

CHECKS: Mapping[str, tuple[Check, ...]] = {
    object_type.value: checks
    for family in (formation, events, parties, obligations, disputes, settlement)
    for object_type, checks in family.CHECKS.items()
}
"""The rules of each object type, beside those of every object."""


_TOO_DEEP = Judgement((f"document: is nested deeper than {MAX_DEPTH} levels",), ())


def judge_object(
    document: object, lookup: Lookup = EMPTY, shape_errors: tuple[str, ...] | None = None,
) -> Judgement:
    """Judge one envelope object, beside the objects the lookup holds. `shape_errors`: the schema's, where known."""
    if too_deep(document):
        return _TOO_DEEP
    errors = object_errors(document) if shape_errors is None else shape_errors
    return Judgement(errors, distinct(_object_codes(document, lookup)))


def judge_mandate(document: object) -> Judgement:
    """Judge one mandate document."""
    if too_deep(document):
        return _TOO_DEEP
    return Judgement(mandate_errors(document), _codes(MANDATE_CHECKS, document))


def judge_chain(parent: object, child: object) -> Judgement:
    """Judge one hop of delegation, and both mandates (D44)."""
    if too_deep([parent, child]):
        return _TOO_DEEP
    errors = (*(f"parent.{error}" for error in mandate_errors(parent)),
              *(f"child.{error}" for error in mandate_errors(child)))
    codes = [*_codes(MANDATE_CHECKS, parent), *_codes(MANDATE_CHECKS, child)]
    codes += [Code.MANDATE_DELEGATION_WIDENING for _ in widening_faults(parent, child)]
    return Judgement(errors, distinct(codes))


def judge_grade(document: object) -> Judgement:
    """Judge one conformance grade."""
    if too_deep(document):
        return _TOO_DEEP
    return Judgement(grade_errors(document), _codes(GRADE_CHECKS, document))


def judge_declaration(local_party: object, counterparty: object) -> Judgement:
    """Judge a counterparty's carrier declaration against our own; a declaration has no schema."""
    if too_deep([local_party, counterparty]):
        return _TOO_DEEP
    return Judgement((), tuple(declaration_faults(local_party, counterparty)))


def judge_bundle(document: object, profiles: ProfileRegistry | None = None) -> Judgement:
    """Judge a bundle {context, objects}: every object beside the others, then the whole."""
    if too_deep(document):
        return _TOO_DEEP
    objects = [each for each in items(members(document).get("objects")) if isinstance(each, dict)]
    context = members(members(document).get("context"))
    by_id = {each["id"]: each for each in objects if isinstance(each.get("id"), str)}
    by_hash = {each["content_hash"]: each for each in objects if isinstance(each.get("content_hash"), str)}
    lookup = Lookup(
        by_id, by_hash,
        frozenset(each for each in items(context.get("stated_gaps")) if isinstance(each, str)),
        frozenset(each for each in items(context.get("resolvable_hashes")) if isinstance(each, str)),
        context.get("rules_version_in_force"),
        context.get("subject_act_at"),
        profiles)
    errors = tuple(f"objects[{index}].{error}" for index, each in enumerate(objects) for error in object_errors(each))
    whole = bundle.Bundle(objects, context, by_id, by_hash)
    codes = [code for each in objects for code in _object_codes(each, lookup)]
    codes += [code for check in (*bundle.CHECKS, *streams.CHECKS) for code in check(whole)]
    return Judgement(errors if isinstance(document, dict) else ("document: must be of type object",), distinct(codes))


def judge(kind: str, document: object) -> Judgement:
    """Judge a document of one of the six kinds; a kind that is none of them is a schema refusal."""
    entrance = _ENTRANCES.get(kind) if isinstance(kind, str) else None
    return Judgement(("kind: is not one of the six",), ()) if entrance is None else entrance(document)


_ENTRANCES: Mapping[str, Callable[[object], Judgement]] = {
    "kernel": judge_object,
    "mandate": judge_mandate,
    "mandate_chain": lambda document: judge_chain(
        members(document).get("parent", {}), members(document).get("child", {})),
    "grade": judge_grade,
    "declaration": lambda document: judge_declaration(
        members(document).get("local_party"), members(document).get("counterparty_declaration")),
    "bundle": judge_bundle,
}


def _object_codes(document: object, lookup: Lookup) -> Iterable[Code]:
    subject = Subject(members(document), members(members(document).get("payload")), lookup)
    own = CHECKS.get(subject.type, ()) if isinstance(subject.type, str) else ()
    return [code for check in (*common.CHECKS, *own) for code in check(subject)]


def _codes(checks: Iterable[DocumentCheck], document: Any) -> tuple[Code, ...]:
    return distinct(code for check in checks for code in check(members(document)))
