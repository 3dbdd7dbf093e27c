"""Checks of obligations, assertions and responses (verification 5.6, 5.7; rules 8.1 to 8.4, D-36)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any

from a202_reference.codes import Code
from a202_reference.gate.common import Check, registered_evidence
from a202_reference.gate.reading import Subject, is_one_of, items, members, organization
from a202_reference.json_values import json_key
from a202_reference.money import parse_quantity, subtract
from a202_reference.registries import DueType, ObjectType, RejectionReason

_CONDITION_MEMBERS: Mapping[str, frozenset[str]] = {
    DueType.AT_TIME: frozenset({"type", "at", "business_days"}),
    DueType.ON_EVENT: frozenset({"type", "act_ref", "evidence_type"}),
    DueType.ON_DISCHARGE: frozenset({"type", "obligation_id"}),
    DueType.ALL_OF: frozenset({"type", "conditions"}),
}
_ALTERNATIVES: Mapping[str, tuple[str, str]] = {
    DueType.AT_TIME: ("at", "business_days"),
    DueType.ON_EVENT: ("act_ref", "evidence_type"),
}
_SUBJECT_MEMBERS = frozenset({"agreement_id", "terms_hash", "profile", "term_path"})
_TERM_PATH = re.compile(r"\$\.terms\.(core|profile_terms)(\.[A-Za-z0-9_]+)*", re.ASCII)
_FIXED_TERMS = frozenset({"subject", "due_condition", "quantity", "unit_code", "consideration"})
_SAME_IN_REMAINDER = ("agreement_id", "subject", "unit_code")
_REASONS = frozenset(member.value for member in RejectionReason)


def due_condition(subject: Subject) -> Iterator[Code]:
    """The condition is of a registered type, holds that type's members only, and is not nested."""
    yield from _condition(subject.payload.get("due_condition"), nested=False)


def _condition(condition: Any, *, nested: bool) -> Iterator[Code]:
    kind = members(condition).get("type")
    if not is_one_of(kind, _CONDITION_MEMBERS):
        yield Code.OBLIGATION_CONDITION_UNKNOWN
        return
    if not _CONDITION_MEMBERS[kind].issuperset(condition) or not _one_alternative(kind, condition):
        yield Code.OBLIGATION_CONDITION_UNKNOWN
    if kind == DueType.ALL_OF:
        parts = items(condition.get("conditions"))
        if nested or len(parts) < 2:
            yield Code.OBLIGATION_CONDITION_UNKNOWN
            return
        for part in parts:
            yield from _condition(part, nested=True)
    days = condition.get("business_days")
    if kind == DueType.AT_TIME and isinstance(days, dict) and not days.get("calendar"):
        yield Code.TERMS_INVALID
    awaited = condition.get("evidence_type")
    if kind == DueType.ON_EVENT and awaited is not None and not registered_evidence(awaited):
        yield Code.EVIDENCE_TYPE_UNKNOWN


def _one_alternative(kind: str, condition: Mapping[str, Any]) -> bool:
    alternatives = _ALTERNATIVES.get(kind)
    return alternatives is None or sum(name in condition for name in alternatives) == 1


def obligation_subject(subject: Subject) -> Iterator[Code]:
    """The subject points at a term of the agreement and restates nothing."""
    pointer = subject.payload.get("subject")
    if not isinstance(pointer, dict):
        yield Code.OBLIGATION_SUBJECT_UNREFERENCED
        return
    path = pointer.get("term_path")
    if (
        not _SUBJECT_MEMBERS.issuperset(pointer)
        or pointer.get("agreement_id") != subject.payload.get("agreement_id")
        or not isinstance(path, str)
        or _TERM_PATH.fullmatch(path) is None
    ):
        yield Code.OBLIGATION_SUBJECT_UNREFERENCED


def obligation_agreement(subject: Subject) -> Iterator[Code]:
    """Hash, profile and parties are those of the agreement held, and the term exists there."""
    pointer = members(subject.payload.get("subject"))
    agreement = subject.lookup.get(pointer.get("agreement_id"))
    if agreement is None:
        return
    agreed = members(agreement.get("payload"))
    parties = [organization(agreed.get("buyer")), organization(agreed.get("supplier"))]
    if (
        pointer.get("terms_hash") != agreed.get("terms_hash")
        or pointer.get("profile") != members(agreed.get("terms")).get("profile")
        or any(organization(subject.payload.get(role)) not in parties for role in ("obligor", "obligee"))
        or not _resolves(pointer.get("term_path"), agreed)
    ):
        yield Code.OBLIGATION_SUBJECT_UNREFERENCED


def _resolves(path: Any, agreed: Mapping[str, Any]) -> bool:
    if not isinstance(path, str):
        return False
    node: Any = agreed
    for name in path.split(".")[1:]:
        if not isinstance(node, dict) or name not in node:
            return False
        node = node[name]
    return True


def assertion_evidence(subject: Subject) -> Iterator[Code]:
    """Performance is asserted with evidence."""
    if not items(subject.payload.get("evidence_refs")):
        yield Code.OBLIGATION_ASSERTION_UNEVIDENCED


def assertion_unit(subject: Subject) -> Iterator[Code]:
    """It is asserted in the unit that is owed."""
    obligation = _obligation(subject)
    if obligation is not None and subject.payload.get("unit_code") != obligation.get("unit_code"):
        yield Code.OBLIGATION_TERMS_MUTATED


def response_terms(subject: Subject) -> Iterator[Code]:
    """A response never restates what is owed."""
    if not _FIXED_TERMS.isdisjoint(subject.payload):
        yield Code.OBLIGATION_TERMS_MUTATED


def response_reason(subject: Subject) -> Iterator[Code]:
    """A rejection has a registered reason."""
    reason = subject.payload.get("reason_code")
    if subject.payload.get("response_type") == "reject" and not is_one_of(reason, _REASONS):
        yield Code.OBLIGATION_REJECTION_REASON_UNKNOWN


def response_author(subject: Subject) -> Iterator[Code]:
    """The obligee answers, whatever the answer."""
    obligation = _obligation(subject)
    author = organization(subject.document.get("created_by"))
    if obligation is not None and author != organization(obligation.get("obligee")):
        yield Code.OBLIGATION_RESPONSE_UNAUTHORIZED


def response_quantity(subject: Subject) -> Iterator[Code]:
    """Less than owed is accepted only with a remainder named, which is exactly what is left."""
    obligation = _obligation(subject)
    if obligation is None or subject.payload.get("response_type") != "accept":
        return
    accepted = parse_quantity(subject.payload.get("accepted_quantity"))
    owed = parse_quantity(obligation.get("quantity"))
    if accepted is None or owed is None:
        yield Code.TERMS_INVALID
    elif accepted < owed and not _remainder_is(subject, obligation, subtract(owed, accepted)):
        yield Code.OBLIGATION_REMAINDER_MISSING


def _remainder_is(subject: Subject, obligation: Mapping[str, Any], left: Decimal) -> bool:
    """True where a remainder is named and, if it is held, owes what is left of the same subject."""
    named = subject.payload.get("remainder_obligation_id")
    held = subject.lookup.get(named)
    if held is None:
        return bool(named)
    remainder = members(held.get("payload"))
    return (
        parse_quantity(remainder.get("quantity")) == left
        and all(json_key(remainder.get(name)) == json_key(obligation.get(name)) for name in _SAME_IN_REMAINDER)
        and all(organization(remainder.get(role)) == organization(obligation.get(role))
                for role in ("obligor", "obligee")))


def response_assertion(subject: Subject) -> Iterator[Code]:
    """The response is over exactly the assertion it names, which is held or stated as a gap."""
    named = subject.payload.get("assertion_id")
    assertion = subject.lookup.get(named)
    if assertion is not None:
        if subject.payload.get("assertion_hash") != assertion.get("content_hash"):
            yield Code.OBLIGATION_RESPONSE_HASH_MISMATCH
    elif named and subject.lookup.holds_anything and not subject.lookup.states_gap(named):
        yield Code.EVIDENCE_DISCLOSURE_INCOMPLETE


def _obligation(subject: Subject) -> Mapping[str, Any] | None:
    held = subject.lookup.get(subject.payload.get("obligation_id"))
    return None if held is None else members(held.get("payload"))


CHECKS: dict[ObjectType, tuple[Check, ...]] = {
    ObjectType.OBLIGATION: (due_condition, obligation_subject, obligation_agreement),
    ObjectType.PERFORMANCE_EVENT: (assertion_evidence, assertion_unit),
    ObjectType.OBLIGATION_RESPONSE: (
        response_terms, response_reason, response_author, response_quantity, response_assertion),
}
