"""The objects of a quote's transaction, drafted (spec 9.3, 9.5).

Rules this module applies:

- the request is evidenced by an attestation over 32 random bytes and the raw request; a pass by a signed_document
  over the token's bytes, and never a token of the shop's own. The buyer's free text enters no object;
- decisions of every kind are private to the actor, on the private stream of the transaction;
- the offer names the counterparty's placeholder; nothing is ever signed, or said, on the buyer's behalf.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from a202_mcp.treatyway.callers import PassFacts
from a202_reference.canonical import sha256_hex
from a202_reference.documents.parties import Party, PartyRef
from a202_reference.identifiers import Prefix
from a202_reference.lifecycle.drafts import Draft, Drafting
from a202_reference.registries import EvidenceType, ObjectType, Purpose

SALT_BYTES: Final = 32
OWNER_ROLE: Final = "owner"
_LONGEST_CLAIM: Final = 2048


def artifact_hash(salt: bytes, body: bytes) -> str:
    """What the attestation of a request commits to."""
    return sha256_hex(salt + body)


def attestation(drafting: Drafting, party: Party, suffix: str, claim: str, artifact: str) -> Draft:
    """Evidence of a request that nobody but us saw."""
    verification = {"status": "unverified", "verified_at": None, "verifier_organization_id": None}
    return _evidence(drafting, party, suffix, EvidenceType.ATTESTATION, claim, artifact, verification)


def pass_evidence(drafting: Drafting, party: Party, suffix: str, facts: PassFacts) -> Draft:
    """Evidence of a pass that we verified."""
    claim = (f"identity pass of {facts.issuer[:500]} for subject {facts.subject}, jti {facts.token_id or 'none'}, "
             f"level {facts.level}")
    verification = {
        "status": "verified", "verified_at": drafting.created_at, "verifier_organization_id": party.organization_id}
    return _evidence(
        drafting, party, suffix, EvidenceType.SIGNED_DOCUMENT, claim, facts.token_sha256, verification)


def reference(evidence: Draft) -> dict[str, Any]:
    """An evidence object in full form."""
    by = evidence.body["created_by"]
    return {
        "evidence_id": evidence.id,
        "content_hash": evidence.content_hash,
        "evidence_type": evidence.body["payload"]["evidence_type"],
        "signed_by": {"organization_id": by["organization_id"], "agent_id": by["agent_id"]},
    }


def decision(
    drafting: Drafting, party: Party, suffix: str, action_hash: str, word: str, codes: Sequence[str],
    mandate_ids: Sequence[str],
) -> Draft:
    """One decision of ours, private to us."""
    return drafting.draft(
        ObjectType.POLICY_DECISION, Prefix.POLICY_DECISION.minted(suffix), party,
        {
            "action_hash": action_hash,
            "decision": word,
            "reason_codes": list(codes),
            "evaluated_at": drafting.created_at,
            "mandate_ids": list(mandate_ids),
            "stream": {"kind": "private", "id": drafting.transaction_id},
            "stream_sequence": 0,
            "visibility": "private_to_actor",
        },
        (party, Purpose.POLICY_DECISION))


def offer(  # noqa: PLR0913, PLR0917 - an offer has these parts
    drafting: Drafting, party: Party, suffix: str, offeree: PartyRef, session_id: str, valid_until: str,
    terms: Mapping[str, Any], evidence: Sequence[Mapping[str, Any]],
) -> Draft:
    """The signed price."""
    return drafting.draft(
        ObjectType.OFFER, Prefix.OFFER.minted(suffix), party,
        {
            "offeror": party.ref.document,
            "offeree": offeree.document,
            "session_id": session_id,
            "supersedes_offer_id": None,
            "valid_until": valid_until,
            "terms": terms,
            "evidence_refs": list(evidence),
        },
        (party, Purpose.OFFER_SUBMISSION))


def approval(
    drafting: Drafting, party: Party, suffix: str, action_hash: str, approver: Mapping[str, str], key_id: str,
    expires_at: str,
) -> Draft:
    """The owner's approval of one exact act, signed with the owner's key."""
    signing = replace(party, key_id=key_id)
    return drafting.draft(
        ObjectType.APPROVAL, Prefix.APPROVAL.minted(suffix), signing,
        {
            "action_hash": action_hash,
            "approver": {**approver, "role": OWNER_ROLE},
            "decision": "approved",
            "expires_at": expires_at,
            "conditions": [],
        },
        (signing, Purpose.OBJECT_ISSUANCE))


def _evidence(
    drafting: Drafting, party: Party, suffix: str, kind: EvidenceType, claim: str, artifact: str,
    verification: Mapping[str, Any],
) -> Draft:
    return drafting.draft(
        ObjectType.EVIDENCE, Prefix.EVIDENCE.minted(suffix), party,
        {
            "evidence_type": kind.value,
            "claim": claim[:_LONGEST_CLAIM],
            "artifact_hash": artifact,
            "issuer": {"organization_id": party.organization_id},
            "verification": dict(verification),
        },
        (party, Purpose.OBJECT_ISSUANCE))
