"""Step 1, second half: hashes by which one object binds another (verification 1, step 1; rules 1.1; D-32).

Rules this module applies:

- what is compared is the recomputed hash of the object held, never the one it declares (D2);
- a mismatch in an offer, acceptance or agreement relation is `A202-AGREEMENT-HASH-MISMATCH`, of a response and its
  assertion `A202-OBLIGATION-RESPONSE-HASH-MISMATCH`, of an obligation or commitment and its agreement
  `A202-OBLIGATION-SUBJECT-UNREFERENCED`, of a claim and its invitation `A202-INVITATION-HASH-MISMATCH` (one code,
  D-32);
- a counterpart that is not held leaves the check unmade.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Final, TypeAlias

from a202_reference.authority.paths import resolves_in_terms
from a202_reference.codes import Code
from a202_reference.evidence.comparing import absent, holds_or
from a202_reference.evidence.entry import Entry
from a202_reference.evidence.inquiry import Inquiry
from a202_reference.evidence.report import VERIFIED, Judgement, failed
from a202_reference.evidence.step1_disputes import (
    accepting_act_hash,
    inputs_hash,
    question_matches_dispute,
    subject_hash,
    supersedes_hash,
)
from a202_reference.gate.reading import members
from a202_reference.registries import ObjectType, ResponseType

Check: TypeAlias = Callable[[Entry, Inquiry], Judgement]

_MAX_VERSIONS: Final = 64


def terms_hash(agreement: Entry, inquiry: Inquiry) -> Judgement:
    """An agreement's terms hash is that of its own terms."""
    recomputed = inquiry.terms_hashes[agreement]
    return holds_or(
        recomputed is not None and agreement.payload.get("terms_hash") == recomputed,
        Code.AGREEMENT_HASH_MISMATCH, f"the terms hash to {recomputed}")


def accepted_offer_hash(agreement: Entry, inquiry: Inquiry) -> Judgement:
    """The agreement is over the exact offer."""
    named = agreement.payload.get("accepted_offer_id")
    offer = inquiry.find(named, ObjectType.OFFER)
    if offer is None:
        return absent("offer", named)
    return holds_or(
        offer.hash is not None and agreement.payload.get("accepted_offer_hash") == offer.hash,
        Code.AGREEMENT_HASH_MISMATCH, f"{offer.subject} hashes to {offer.hash}")


def agreement_terms_equal_offer(agreement: Entry, inquiry: Inquiry) -> Judgement:
    """The agreed terms are the offered ones."""
    named = agreement.payload.get("accepted_offer_id")
    offer = inquiry.find(named, ObjectType.OFFER)
    if offer is None:
        return absent("offer", named)
    offered = inquiry.terms_hashes[offer]
    return holds_or(
        offered is not None and agreement.payload.get("terms_hash") == offered,
        Code.AGREEMENT_HASH_MISMATCH, f"the terms of {offer.subject} hash to {offered}")


def agreement_acceptance_binding(agreement: Entry, inquiry: Inquiry) -> Judgement:
    """The acceptance it names is of the same offer bytes."""
    named = agreement.payload.get("acceptance_id")
    acceptance = inquiry.find(named, ObjectType.ACCEPTANCE)
    if acceptance is None:
        return absent("acceptance", named)
    accepted = (acceptance.payload.get("offer_id"), acceptance.payload.get("offer_hash"))
    agreed = (agreement.payload.get("accepted_offer_id"), agreement.payload.get("accepted_offer_hash"))
    return holds_or(
        accepted == agreed, Code.AGREEMENT_HASH_MISMATCH, f"{acceptance.subject} accepts another offer or other bytes")


def agreement_parties(agreement: Entry, inquiry: Inquiry) -> Judgement:
    """Buyer and supplier are the two parties of the accepted offer."""
    named = agreement.payload.get("accepted_offer_id")
    offer = inquiry.find(named, ObjectType.OFFER)
    if offer is None:
        return absent("offer", named)
    agreed = [agreement.party(role).organization_id for role in ("buyer", "supplier")]
    offered = [offer.party(role).organization_id for role in ("offeror", "offeree")]
    return holds_or(
        agreed in (offered, offered[::-1]), Code.AGREEMENT_HASH_MISMATCH,
        f"buyer and supplier are not the parties of {offer.subject}")


def offer_hash(acceptance: Entry, inquiry: Inquiry) -> Judgement:
    """The acceptance is of the exact offer, by its offeree, in its session."""
    named = acceptance.payload.get("offer_id")
    offer = inquiry.find(named, ObjectType.OFFER)
    if offer is None:
        return absent("offer", named)
    if offer.hash is None or acceptance.payload.get("offer_hash") != offer.hash:
        return failed(Code.AGREEMENT_HASH_MISMATCH, f"{offer.subject} hashes to {offer.hash}")
    same = (acceptance.party("accepting_party") == offer.party("offeree")
            and acceptance.payload.get("session_id") == offer.payload.get("session_id"))
    return holds_or(
        same, Code.AGREEMENT_HASH_MISMATCH, f"it is not by the offeree of {offer.subject}, or in another session")


def assertion_hash(response: Entry, inquiry: Inquiry) -> Judgement:
    """The answer is over the exact assertion, about the same obligation."""
    if response.payload.get("response_type") == ResponseType.WAIVE:
        return VERIFIED
    named = response.payload.get("assertion_id")
    assertion = inquiry.find(named, ObjectType.PERFORMANCE_EVENT)
    if assertion is None:
        return absent("assertion", named)
    holds = (assertion.hash is not None and response.payload.get("assertion_hash") == assertion.hash
             and response.payload.get("obligation_id") == assertion.payload.get("obligation_id"))
    return holds_or(
        holds, Code.OBLIGATION_RESPONSE_HASH_MISMATCH,
        f"{assertion.subject} hashes to {assertion.hash}, about {assertion.payload.get('obligation_id')}")


def invitation_hash(acceptance: Entry, inquiry: Inquiry) -> Judgement:
    """The claim is of the exact invitation."""
    named = acceptance.payload.get("invitation_id")
    invitation = inquiry.find(named, ObjectType.COUNTERPARTY_INVITATION)
    if invitation is None:
        return absent("invitation", named)
    return holds_or(
        invitation.hash is not None and acceptance.payload.get("invitation_hash") == invitation.hash,
        Code.INVITATION_HASH_MISMATCH, f"{invitation.subject} hashes to {invitation.hash}")


def obligation_terms_hash(entry: Entry, inquiry: Inquiry) -> Judgement:
    """An obligation or commitment derives from the agreement: its terms hash, profile, a term of it, its parties."""
    subject = members(entry.payload.get("subject"))
    named = entry.payload.get("agreement_id")
    if subject.get("agreement_id") != named:
        return failed(Code.OBLIGATION_SUBJECT_UNREFERENCED, "the subject names another agreement")
    agreement = inquiry.find(named, ObjectType.AGREEMENT)
    if agreement is None:
        return absent("agreement", named)
    version = next((version for version in _versions(agreement, inquiry)
                    if inquiry.terms_hashes[version] is not None
                    and inquiry.terms_hashes[version] == subject.get("terms_hash")), None)
    if version is None:
        return failed(Code.OBLIGATION_SUBJECT_UNREFERENCED, f"no held version of {agreement.subject} has these terms")
    terms = members(version.payload.get("terms"))
    if subject.get("profile") != terms.get("profile") or not resolves_in_terms(subject.get("term_path"), terms):
        return failed(Code.OBLIGATION_SUBJECT_UNREFERENCED, "the profile or the term path is not the agreement's")
    agreed = {version.party(role).organization_id for role in ("buyer", "supplier")}
    if entry.type is ObjectType.COMMITMENT:
        parties = {entry.party("committed_party").organization_id}
    else:
        parties = {entry.party(role).organization_id for role in ("obligor", "obligee")}
    fits = parties <= agreed and (entry.type is ObjectType.COMMITMENT or len(parties) == 2)
    return holds_or(
        fits, Code.OBLIGATION_SUBJECT_UNREFERENCED, f"its parties are not those of {agreement.subject}")


def _versions(agreement: Entry, inquiry: Inquiry) -> Iterator[Entry]:
    """The agreement named, then the versions before it as far as they are held."""
    at: Entry | None = agreement
    for _ in range(_MAX_VERSIONS):
        if at is None:
            return
        yield at
        at = inquiry.index.get(at.raw.get("previous_version_id"), ObjectType.AGREEMENT)


REFERENCE_CHECKS: Final[Mapping[ObjectType, tuple[tuple[str, Check], ...]]] = {
    ObjectType.AGREEMENT: (
        ("terms_hash", terms_hash),
        ("accepted_offer_hash", accepted_offer_hash),
        ("agreement_terms_equal_offer", agreement_terms_equal_offer),
        ("agreement_acceptance_binding", agreement_acceptance_binding),
        ("agreement_parties", agreement_parties),
    ),
    ObjectType.ACCEPTANCE: (("offer_hash", offer_hash),),
    ObjectType.OBLIGATION_RESPONSE: (("assertion_hash", assertion_hash),),
    ObjectType.INVITATION_ACCEPTANCE: (("invitation_hash", invitation_hash),),
    ObjectType.OBLIGATION: (("obligation_terms_hash", obligation_terms_hash),),
    ObjectType.COMMITMENT: (("obligation_terms_hash", obligation_terms_hash),),
    ObjectType.DISPUTE: (("subject_hash", subject_hash),),
    ObjectType.DETERMINATION: (
        ("question_matches_dispute", question_matches_dispute),
        ("inputs_hash", inputs_hash),
        ("supersedes_hash", supersedes_hash),
    ),
    ObjectType.SETTLEMENT_INSTRUCTION: (("accepting_act_hash", accepting_act_hash),),
}
