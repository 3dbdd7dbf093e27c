"""Checks of the decision and formation objects (verification 5.1, 5.3, 5.10; rules 3.5, 4, 5.1, 5.3, 11.1)."""

from __future__ import annotations

from collections.abc import Iterator

from a202_reference.canonical import NotCanonicalError, value_hash
from a202_reference.codes import Code
from a202_reference.gate.common import Check
from a202_reference.gate.leaks import AWARD_UNIT_MEMBERS, SECRET_MEMBERS, TELLING_REASONS
from a202_reference.gate.reading import Subject, is_one_of, items, members
from a202_reference.profiles import profile_errors
from a202_reference.registries import ObjectType
from a202_reference.times import parse_instant

_OFFER_MEMBERS = frozenset({
    "offeror", "offeree", "session_id", "supersedes_offer_id", "valid_until", "terms", "evidence_refs"})
_OWN_CODES = SECRET_MEMBERS | AWARD_UNIT_MEMBERS | {"assurance"}
_PRIVATE_VIEWS = frozenset({"private_to_actor", "operator_only"})


def annotations_on_action(subject: Subject) -> Iterator[Code]:
    """An agent writes its action envelope; annotations on it were not the control plane's."""
    if "kernel_annotations" in subject.document:
        yield Code.ANNOTATION_FORGED


def later_than_creation(subject: Subject, member: str) -> bool:
    """True where the payload's instant is readable and strictly after `created_at`."""
    created, moment = parse_instant(subject.document.get("created_at")), parse_instant(subject.payload.get(member))
    return created is not None and moment is not None and created < moment


def offer_validity(subject: Subject) -> Iterator[Code]:
    """An offer is valid for some time."""
    if not later_than_creation(subject, "valid_until"):
        yield Code.OFFER_EXPIRED


def offer_profile(subject: Subject) -> Iterator[Code]:
    """The profile is registered and its schema accepts the profile terms."""
    terms = members(subject.payload.get("terms"))
    errors = profile_errors(terms.get("profile"), terms.get("profile_terms", {}), subject.lookup.profiles)
    if errors is None:
        yield Code.PROFILE_UNKNOWN
    elif errors:
        yield Code.PROFILE_TERMS_INVALID


def offer_private_members(subject: Subject) -> Iterator[Code]:
    """A member an offer does not have is taken for private data, unless its name has a code of its own."""
    if any(name not in _OFFER_MEMBERS and name not in _OWN_CODES for name in subject.payload):
        yield Code.DISCLOSURE_DENIED


def decision_privacy(subject: Subject) -> Iterator[Code]:
    """A denial is seen by the actor alone, on a private stream."""
    payload = subject.payload
    if payload.get("decision") != "deny":
        return
    stream = members(payload.get("stream"))
    if not is_one_of(payload.get("visibility"), _PRIVATE_VIEWS) or stream.get("kind") != "private":
        yield Code.DISCLOSURE_DENIED


def decision_reasons(subject: Subject) -> Iterator[Code]:
    """No reason tells a bidder about the other bids."""
    if any(is_one_of(reason, TELLING_REASONS)
           for reason in items(subject.payload.get("reason_codes"))):
        yield Code.DISCLOSURE_POLICY_VIOLATION


def acceptance_offer_hash(subject: Subject) -> Iterator[Code]:
    """An acceptance is over exactly the offer it names."""
    offer = subject.lookup.get(subject.payload.get("offer_id"))
    if offer is not None and subject.payload.get("offer_hash") != offer.get("content_hash"):
        yield Code.AGREEMENT_HASH_MISMATCH


def agreement_signatures(subject: Subject) -> Iterator[Code]:
    """Two parties sign."""
    if len(items(subject.document.get("signatures"))) < 2:
        yield Code.EVIDENCE_SIGNATURE_INVALID


def agreement_hashes(subject: Subject) -> Iterator[Code]:
    """`terms_hash` is that of the terms carried, `accepted_offer_hash` that of the offer held."""
    payload = subject.payload
    terms = payload.get("terms")
    if isinstance(terms, dict):
        try:
            agrees = value_hash(terms) == payload.get("terms_hash")
        except NotCanonicalError:
            agrees = False
        if not agrees:
            yield Code.AGREEMENT_HASH_MISMATCH
    offer = subject.lookup.get(payload.get("accepted_offer_id"))
    if offer is not None and payload.get("accepted_offer_hash") != offer.get("content_hash"):
        yield Code.AGREEMENT_HASH_MISMATCH


def agreement_amendment(subject: Subject) -> Iterator[Code]:
    """A later version comes from an offer and an acceptance of its own."""
    previous = subject.lookup.get(subject.document.get("previous_version_id"))
    if previous is None or previous.get("object_type") != ObjectType.AGREEMENT:
        return
    before = members(previous.get("payload"))
    if any(subject.payload.get(name) == before.get(name) for name in ("acceptance_id", "accepted_offer_id")):
        yield Code.AGREEMENT_AMENDMENT_UNACCEPTED


CHECKS: dict[ObjectType, tuple[Check, ...]] = {
    ObjectType.ACTION_ENVELOPE: (annotations_on_action,),
    ObjectType.OFFER: (offer_validity, offer_profile, offer_private_members),
    ObjectType.POLICY_DECISION: (decision_privacy, decision_reasons),
    ObjectType.ACCEPTANCE: (acceptance_offer_hash,),
    ObjectType.AGREEMENT: (agreement_signatures, agreement_hashes, agreement_amendment),
}
