"""Checks of every envelope object (verification 5.1, 5.2; rules 1.1, 2, 11.1, 12.6, 12.8)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeAlias

from a202_reference.codes import Code
from a202_reference.gate.leaks import AWARD_UNIT_MEMBERS, SECRET_MEMBERS, holds_secret
from a202_reference.gate.reading import Subject, is_one_of, items, members, objects_in
from a202_reference.identifiers import is_sha256_hex
from a202_reference.money import is_money, is_unit_code, parse_quantity
from a202_reference.registries import EvidenceType, ObjectType

Check: TypeAlias = Callable[[Subject], Iterator[Code]]
"""A named rule: the codes it raises for one object."""

EVIDENCE_LISTS = ("evidence_refs", "assurance_evidence_refs", "identity_evidence_refs", "authority_evidence_refs")
EVIDENCE_TYPES = frozenset(member.value for member in EvidenceType)
_FORBIDDEN = SECRET_MEMBERS | AWARD_UNIT_MEMBERS
_QUANTITIES = ("quantity", "asserted_quantity", "accepted_quantity")
_HOLDERS_OF_HASHES = ("subject", "trigger", "outcome", "supersedes", "rules_ref", "invited_channel", "data")


def forbidden_members(subject: Subject) -> Iterator[Code]:
    """A claim secret, or the name of an award unit, anywhere in the payload."""
    if all(map(_FORBIDDEN.isdisjoint, objects_in(subject.payload))):
        return
    found = {name for node in objects_in(subject.payload) for name in _FORBIDDEN.intersection(node)}
    if not SECRET_MEMBERS.isdisjoint(found):
        yield Code.INVITATION_SECRET_DISCLOSED
    if not AWARD_UNIT_MEMBERS.isdisjoint(found):
        yield Code.LOT_UNKNOWN


def assurance_without_evidence(subject: Subject) -> Iterator[Code]:
    """A level above self-asserted, on whatever object, needs evidence beside it."""
    level = subject.payload.get("assurance")
    stated = level is not None or subject.type == ObjectType.INVITATION_ACCEPTANCE
    if stated and level != "self_asserted" and not any(
            items(subject.payload.get(name)) for name in ("assurance_evidence_refs", "identity_evidence_refs")):
        yield Code.ASSURANCE_UNSUPPORTED


def malformed_hashes(subject: Subject) -> Iterator[Code]:
    """Every declared hash is 64 lowercase hexadecimal digits."""
    payload = subject.defined_payload
    holders = [payload, *(members(payload.get(name)) for name in _HOLDERS_OF_HASHES),
               members(members(payload.get("question")).get("rules_ref"))]
    hashes = [subject.document.get("content_hash"), *(
        value for holder in holders for name, value in holder.items() if str(name).endswith("_hash"))]
    if any(isinstance(value, str) and not is_sha256_hex(value) for value in hashes):
        yield Code.HASH_FORMAT_INVALID


def malformed_amounts(subject: Subject) -> Iterator[Code]:
    """Money and quantities are exact decimal strings, never negative and never numbers; a unit is a unit code."""
    payload = subject.defined_payload
    core = members(members(payload.get("terms")).get("core"))
    money = (core.get("total"), payload.get("amount"), payload.get("consideration"))
    units = (core.get("unit_code"), payload.get("unit_code"))
    quantities = (core.get("quantity"), *(payload.get(name) for name in _QUANTITIES))
    if any(isinstance(value, dict) and not is_money(value) for value in money) or any(
            value is not None and parse_quantity(value) is None for value in quantities) or any(
            value is not None and not is_unit_code(value) for value in units):
        yield Code.TERMS_INVALID


def evidence_references(subject: Subject) -> Iterator[Code]:
    """Each full reference carries a well-formed hash and a registered type, and no credential in its hint."""
    outcome = members(subject.payload.get("outcome"))
    for references in (*(subject.payload.get(name) for name in EVIDENCE_LISTS), outcome.get("evidence_relied_on")):
        for reference in items(references):
            if not isinstance(reference, str):
                yield from evidence_reference(reference)


def evidence_reference(reference: Any) -> Iterator[Code]:
    """The same for one reference that is no bare identifier; also for those of a mandate."""
    if not isinstance(reference, Mapping):
        yield Code.EVIDENCE_HASH_MISMATCH
        return
    declared = reference.get("content_hash")
    if declared is None:
        yield Code.EVIDENCE_HASH_MISMATCH
    elif not is_sha256_hex(declared):
        yield Code.HASH_FORMAT_INVALID
    if not registered_evidence(reference.get("evidence_type")):
        yield Code.EVIDENCE_TYPE_UNKNOWN
    hint = reference.get("locator_hint")
    if isinstance(hint, str) and holds_secret(hint):
        yield Code.DISCLOSURE_DENIED


def registered_evidence(evidence_type: Any) -> bool:
    """True for one of the eight types."""
    return is_one_of(evidence_type, EVIDENCE_TYPES)


CHECKS: tuple[Check, ...] = (
    forbidden_members, assurance_without_evidence, malformed_hashes, malformed_amounts, evidence_references)
