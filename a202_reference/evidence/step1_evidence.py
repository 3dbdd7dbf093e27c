"""Step 1, evidence references (verification 1, step 1; rules 12.6; D-34).

Rules this module applies:

- a reference in full form carries identifier, hash, type and signer; a bare identifier is allowed in a few members
  only. A missing hash is `A202-EVIDENCE-HASH-MISMATCH`, a malformed one `A202-HASH-FORMAT-INVALID`, a missing type
  `A202-EVIDENCE-TYPE-UNKNOWN`; a credential in its hint `A202-DISCLOSURE-DENIED`;
- hash and type in a full reference are those of the evidence held (`A202-EVIDENCE-HASH-MISMATCH`); evidence that is
  not held is not checkable;
- a bare identifier says nothing by itself: it is verified only by evidence in this same set that passes steps 1
  and 2. That row is written after step 2;
- an unregistered type in somebody's record is not checkable and named in step 7 (D-34).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from a202_reference.codes import Code
from a202_reference.evidence.entry import Entry
from a202_reference.evidence.inquiry import Inquiry
from a202_reference.evidence.references import referenced_id
from a202_reference.evidence.report import VERIFIED, Judgement, failed, unknown
from a202_reference.gate.common import registered_evidence
from a202_reference.gate.leaks import holds_secret
from a202_reference.gate.reading import items, members
from a202_reference.identifiers import is_sha256_hex
from a202_reference.registries import ObjectType

SHORT_ALLOWED: Final[frozenset[tuple[ObjectType | None, str]]] = frozenset({
    (ObjectType.OFFER, "evidence_refs"),
    (ObjectType.INVITATION_ACCEPTANCE, "assurance_evidence_refs"),
    (ObjectType.ORGANIZATION, "identity_evidence_refs"),
    (ObjectType.PRINCIPAL, "authority_evidence_refs"),
})


def evidence_rows(entry: Entry, inquiry: Inquiry) -> Iterator[tuple[str, Judgement]]:
    """The rows of step 1 about an object's references, and about an evidence object itself."""
    for member, reference in inquiry.references.get(entry, ()):
        yield "evidence_ref_form", _form(entry, member, reference)
        if isinstance(reference, dict):
            yield "evidence_ref_hash", _hash(reference, inquiry)
            if reference.get("evidence_type") is not None:
                yield "evidence_type_registered", _type(reference["evidence_type"], inquiry)
    if entry.type is ObjectType.EVIDENCE:
        yield "evidence_type_registered", _type(entry.payload.get("evidence_type"), inquiry)
    if entry.type is ObjectType.OBLIGATION:
        condition = members(entry.payload.get("due_condition"))
        for leaf in (condition, *map(members, items(condition.get("conditions")))):
            if "evidence_type" in leaf:
                yield "evidence_type_registered", _type(leaf["evidence_type"], inquiry)


def check_short_forms(inquiry: Inquiry) -> None:
    """The rows about bare identifiers, once step 2 has been run."""
    for entry, held in inquiry.references.items():
        for _, reference in held:
            if isinstance(reference, str):
                inquiry.add(1, "evidence_ref_short", entry.subject, _short(reference, inquiry))


def _form(entry: Entry, member: str, reference: Any) -> Judgement:
    if isinstance(reference, str):
        if (entry.type, member) in SHORT_ALLOWED or member == "evidence_ref":
            return VERIFIED
        return failed(Code.EVIDENCE_HASH_MISMATCH, f"`{member}` names {reference[:140]} without its hash")
    if not isinstance(reference, dict):
        return failed(Code.EVIDENCE_HASH_MISMATCH, "a reference is neither an identifier nor an object")
    if reference.get("content_hash") is None:
        return failed(Code.EVIDENCE_HASH_MISMATCH, "a reference carries no hash")
    if not is_sha256_hex(reference["content_hash"]):
        return failed(Code.HASH_FORMAT_INVALID, "a reference's hash is not 64 lowercase hexadecimal digits")
    if reference.get("evidence_type") is None:
        return failed(Code.EVIDENCE_TYPE_UNKNOWN, "a reference names no evidence type")
    if referenced_id(reference) is None or not isinstance(reference.get("signed_by"), dict):
        return failed(Code.EVIDENCE_HASH_MISMATCH, "a reference names no evidence or no signer")
    hint = reference.get("locator_hint")
    if isinstance(hint, str) and holds_secret(hint):
        return failed(Code.DISCLOSURE_DENIED, "a reference's hint carries a credential")
    return VERIFIED


def _hash(reference: Mapping[str, Any], inquiry: Inquiry) -> Judgement:
    named = referenced_id(reference)
    evidence = inquiry.find(named, ObjectType.EVIDENCE)
    if evidence is None or evidence.hash is None:
        return unknown(f"the evidence {str(named)[:140]} is not here")
    if reference.get("content_hash") != evidence.hash:
        return failed(Code.EVIDENCE_HASH_MISMATCH, f"{evidence.subject} hashes to {evidence.hash}")
    if reference.get("evidence_type") != evidence.payload.get("evidence_type"):
        return failed(Code.EVIDENCE_HASH_MISMATCH, f"{evidence.subject} is of another evidence type than is said")
    return VERIFIED


def _short(reference: str, inquiry: Inquiry) -> Judgement:
    evidence = inquiry.find(reference, ObjectType.EVIDENCE)
    if evidence is None:
        return unknown(f"the evidence {reference[:140]} is not here")
    return VERIFIED if inquiry.stands(evidence) else unknown(f"{evidence.subject} does not itself verify")


def _type(evidence_type: Any, inquiry: Inquiry) -> Judgement:
    if registered_evidence(evidence_type):
        return VERIFIED
    named = evidence_type if isinstance(evidence_type, str) else "another JSON type"
    inquiry.unregistered.add(f"evidence type {named[:64]}")
    return unknown(f"the evidence type {named[:64]} is not registered")
