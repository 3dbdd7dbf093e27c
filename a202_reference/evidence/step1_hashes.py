"""Step 1, first half: an object's own bytes, its annotations, the hashes it declares (verification 1, step 1).

Rules this module applies:

- every object has one canonical form, declares a well-formed `content_hash`, and that is the recomputed one
  (`A202-EVIDENCE-HASH-MISMATCH`; a malformed hash anywhere `A202-HASH-FORMAT-INVALID`);
- annotations stay outside the hash, and there are none on an action envelope (`A202-ANNOTATION-FORGED`) or in a
  record formed without an operator (not checkable: nobody can say who wrote them);
- a hash that points at bytes which are not here cannot be contradicted: not checkable; a bare `artifact_hash` is a
  commitment, no check at all (design override 6).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, TypeAlias

from a202_reference.canonical import NotCanonicalError, canonical_bytes, sha256_hex
from a202_reference.codes import Code
from a202_reference.evidence.entry import Entry
from a202_reference.evidence.inquiry import Inquiry
from a202_reference.evidence.report import VERIFIED, Judgement, failed, unknown
from a202_reference.evidence.step1_evidence import evidence_rows
from a202_reference.evidence.step1_references import REFERENCE_CHECKS
from a202_reference.evidence.step1_shape import is_well_formed, shape_rows
from a202_reference.gate.common import malformed_hashes
from a202_reference.gate.judgement import EMPTY
from a202_reference.gate.reading import Subject, items, members
from a202_reference.identifiers import is_sha256_hex
from a202_reference.lifecycle.rules import resolve_rules
from a202_reference.registries import ObjectType

Check: TypeAlias = Callable[[Entry, Inquiry], Judgement | None]
"""A named check of one object; None where it does not apply."""

_COMMITMENTS: Final[Mapping[ObjectType, tuple[str, ...]]] = {
    ObjectType.COUNTERPARTY_INVITATION: ("claim_secret_hash", "channel_hash"),
}
_WITH_EVIDENCE: Final = frozenset({ObjectType.EVIDENCE, ObjectType.OBLIGATION})
_BINDING: Final = frozenset({
    ObjectType.TRANSACTION_EVENT, ObjectType.ADAPTER_RECEIPT, ObjectType.OBLIGATION, *_COMMITMENTS})
_BEARERS_OF_ACTIONS: Final = (ObjectType.TRANSACTION_EVENT, ObjectType.POLICY_DECISION, ObjectType.APPROVAL)


def check(inquiry: Inquiry) -> None:
    """Run this half and the other over every object."""
    for entry in inquiry.index.entries:
        for name, own in OWN_CHECKS:
            judgement = own(entry, inquiry)
            if judgement is not None:
                inquiry.add(1, name, entry.subject, judgement)
        for name, reference in REFERENCE_CHECKS.get(entry.type, ()) if entry.type else ():
            inquiry.add(1, name, entry.subject, reference(entry, inquiry))
        if entry in inquiry.references or entry.type in _WITH_EVIDENCE:
            _add(entry, evidence_rows(entry, inquiry), inquiry)
        if entry.type in _BINDING:
            _add(entry, _bound(entry, inquiry), inquiry)
        if "rules_ref" in entry.payload or "question" in entry.payload:
            _add(entry, _rules(entry, inquiry), inquiry)
        if entry.hash is not None and not is_well_formed(entry, inquiry):
            _add(entry, shape_rows(entry, inquiry), inquiry)


def _add(entry: Entry, rows: Iterator[tuple[str, Judgement]], inquiry: Inquiry) -> None:
    for name, judgement in rows:
        inquiry.add(1, name, entry.subject, judgement)


def canonicalisable(entry: Entry, _: Inquiry) -> Judgement:
    """The object has one canonical form."""
    return failed(Code.EVIDENCE_HASH_MISMATCH, entry.uncanonical) if entry.uncanonical else VERIFIED


def content_hash_present(entry: Entry, _: Inquiry) -> Judgement:
    """It declares a hash."""
    declared = entry.raw.get("content_hash")
    if isinstance(declared, str) and declared:
        return VERIFIED
    return failed(Code.EVIDENCE_HASH_MISMATCH, "the object declares no content hash")


def content_hash_format(entry: Entry, _: Inquiry) -> Judgement:
    """Every hash it declares is 64 lowercase hexadecimal digits."""
    declared = entry.raw.get("content_hash")
    if not entry.odd_hashes and (not isinstance(declared, str) or is_sha256_hex(declared)):
        return VERIFIED
    if any(malformed_hashes(Subject(entry.raw, entry.payload, EMPTY))):
        return failed(Code.HASH_FORMAT_INVALID, "a declared hash is not 64 lowercase hexadecimal digits")
    return VERIFIED


def content_hash(entry: Entry, _: Inquiry) -> Judgement:
    """The declared hash is the recomputed one."""
    declared = entry.raw.get("content_hash")
    if not isinstance(declared, str) or entry.hash is None:
        return unknown("there are not two hashes to compare")
    if declared == entry.hash:
        return VERIFIED
    return failed(Code.EVIDENCE_HASH_MISMATCH, f"the bytes hash to {entry.hash}")


def annotations_outside_hash(entry: Entry, _: Inquiry) -> Judgement | None:
    """Control-plane annotations were not hashed in."""
    if "kernel_annotations" not in entry.raw:
        return None
    declared = entry.raw.get("content_hash")
    if declared == entry.hash:
        return VERIFIED
    try:
        kept = canonical_bytes(
            {name: member for name, member in entry.raw.items() if name not in ("content_hash", "signatures")})
    except NotCanonicalError:
        return unknown("the annotations have no canonical form")
    if declared == sha256_hex(kept):
        return failed(Code.ANNOTATION_FORGED, "the declared hash covers the annotations")
    return unknown("the declared hash is neither with nor without the annotations")


def annotations_absent(entry: Entry, inquiry: Inquiry) -> Judgement | None:
    """No annotations where no control plane stands."""
    annotated = "kernel_annotations" in entry.raw
    if entry.type is ObjectType.ACTION_ENVELOPE:
        return failed(Code.ANNOTATION_FORGED, "an action envelope carries annotations") if annotated else VERIFIED
    if not isinstance(entry.transaction_id, str) or entry.transaction_id not in inquiry.direct_transactions:
        return None
    if annotated:
        return unknown("annotations in a record formed without an operator: nobody can say who wrote them")
    return VERIFIED


def action_hash(entry: Entry, inquiry: Inquiry) -> Judgement | None:
    """The act behind an event, a decision or an approval is here, and hashes to what they carry."""
    if entry.type not in _BEARERS_OF_ACTIONS:
        return None
    carried = entry.text("action_hash")
    envelope = inquiry.index.hashed(carried)
    if envelope is not None and envelope.type is ObjectType.ACTION_ENVELOPE:
        return VERIFIED
    return inquiry.acts.judge(carried)


OWN_CHECKS: Final[tuple[tuple[str, Check], ...]] = (
    ("canonicalisable", canonicalisable),
    ("content_hash_present", content_hash_present),
    ("content_hash_format", content_hash_format),
    ("content_hash", content_hash),
    ("annotations_outside_hash", annotations_outside_hash),
    ("annotations_absent", annotations_absent),
    ("action_hash", action_hash),
)


def _bound(entry: Entry, inquiry: Inquiry) -> Iterator[tuple[str, Judgement]]:
    """Hashes that bind something else: verified where it is here."""
    for carried in _bound_hashes(entry):
        found = is_sha256_hex(carried) and inquiry.index.hashed(carried) is not None
        yield "bound_hashes", VERIFIED if found else unknown(f"what hashes to {str(carried)[:64]} is not here")
    for member in _COMMITMENTS.get(entry.type, ()) if entry.type else ():
        holder = members(entry.payload.get("invited_channel")) if member == "channel_hash" else entry.payload
        if member in holder:
            yield member, unknown("a one-way commitment is not inverted")


def _bound_hashes(entry: Entry) -> Iterator[Any]:
    if entry.type is ObjectType.TRANSACTION_EVENT:
        data = members(entry.payload.get("data"))
        yield from (data[member] for member in ("termination_record_hash", "remediation_hash", "audit_bundle_hash")
                    if member in data)
    if entry.type is ObjectType.ADAPTER_RECEIPT and entry.payload.get("mapping_report_hash") is not None:
        yield entry.payload["mapping_report_hash"]
    if entry.type is ObjectType.OBLIGATION:
        condition = members(entry.payload.get("due_condition"))
        for leaf in (condition, *map(members, items(condition.get("conditions")))):
            if "act_ref" in leaf:
                yield leaf["act_ref"]
            if "after_ref" in members(leaf.get("business_days")):
                yield members(leaf["business_days"])["after_ref"]


def _rules(entry: Entry, inquiry: Inquiry) -> Iterator[tuple[str, Judgement]]:
    """A reference to rules resolves to a registered version with its registered hash."""
    for holder in (entry.payload, members(entry.payload.get("question"))):
        if "rules_ref" not in holder:
            continue
        reference = members(holder["rules_ref"])
        if resolve_rules(reference) is not None:
            yield "rules_hash", VERIFIED
        else:
            inquiry.miss(f"{reference.get('rule_set_id')} {reference.get('version')}")
            yield "rules_hash", unknown("no registered rule set has this identifier, version and hash")
