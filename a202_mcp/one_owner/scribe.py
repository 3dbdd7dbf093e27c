"""The objects that one side alone makes of a transaction, drafted (treatyway 9.3, 9.5; axp 8).

Rules this module applies:

- evidence is issued by us, whoever said it: a source is named in the claim, which carries no foreign free text; what
  came in is hashed behind 32 random bytes, so that nobody can guess it;
- decisions of every kind are private to the actor, on the private stream of the transaction;
- the offer names the counterparty's placeholder; an approval is the owner's, of one exact act;
- nothing is ever signed, or said, on the other side's behalf.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from a202_mcp.one_owner.identity import Identity
from a202_mcp.one_owner.ruling import Ruling
from a202_reference.canonical import sha256_hex
from a202_reference.documents.parties import Party, PartyRef
from a202_reference.identifiers import IdSource, Prefix
from a202_reference.lifecycle.drafts import Draft, Drafting
from a202_reference.registries import EvidenceType, ObjectType, Purpose

SALT_BYTES: Final = 32
OWNER_ROLE: Final = "owner"
_LONGEST_CLAIM: Final = 2048
_UNVERIFIED: Final = {"status": "unverified", "verified_at": None, "verifier_organization_id": None}


@dataclass(frozen=True, slots=True)
class Scribe:
    """Drafts the objects of one call on one transaction, as one party."""

    drafting: Drafting
    party: Party
    ids: IdSource

    def decision(self, ruling: Ruling) -> Draft:
        """The policy decision, private to us."""
        return self.drafting.draft(
            ObjectType.POLICY_DECISION, Prefix.POLICY_DECISION.minted(self.ids()), ruling.act.party,
            {
                "action_hash": ruling.act.action_hash,
                "decision": ruling.decision.value,
                "reason_codes": list(ruling.codes),
                "evaluated_at": ruling.act.evaluated_at,
                "mandate_ids": list(ruling.act.mandate_ids),
                "stream": {"kind": "private", "id": self.drafting.transaction_id},
                "stream_sequence": 0,
                "visibility": "private_to_actor",
            },
            (ruling.act.party, Purpose.POLICY_DECISION))

    def evidence(self, kind: EvidenceType, claim: str, artifact_hash: str, *, verified: bool) -> Draft:
        """Evidence of ours. verified: we checked, now, that the artifact is what the claim says."""
        us = self.party.organization_id
        checked = {
            "status": "verified", "verified_at": self.drafting.created_at, "verifier_organization_id": us}
        return self.drafting.draft(
            ObjectType.EVIDENCE, Prefix.EVIDENCE.minted(self.ids()), self.party,
            {
                "evidence_type": kind.value,
                "claim": claim[:_LONGEST_CLAIM],
                "artifact_hash": artifact_hash,
                "issuer": {"organization_id": us},
                "verification": checked if verified else dict(_UNVERIFIED),
            },
            (self.party, Purpose.OBJECT_ISSUANCE))

    def offer(
        self, offeree: PartyRef, session_id: str, valid_until: str, terms: Mapping[str, Any],
        evidence: Sequence[Mapping[str, Any]], supersedes: str | None = None,
    ) -> Draft:
        """The signed price."""
        return self.drafting.draft(
            ObjectType.OFFER, Prefix.OFFER.minted(self.ids()), self.party,
            {
                "offeror": self.party.ref.document,
                "offeree": offeree.document,
                "session_id": session_id,
                "supersedes_offer_id": supersedes,
                "valid_until": valid_until,
                "terms": terms,
                "evidence_refs": list(evidence),
            },
            (self.party, Purpose.OFFER_SUBMISSION))

    def approval(self, who: Identity, action_hash: str, expires_at: str) -> Draft:
        """The approval of one exact act by the principal who issued the mandate, signed with the owner's key."""
        signing = replace(self.party, key_id=who.owner_key_id)
        return self.drafting.draft(
            ObjectType.APPROVAL, Prefix.APPROVAL.minted(self.ids()), signing,
            {
                "action_hash": action_hash,
                "approver": {"organization_id": who.organization_id, "principal_id": who.principal_id,
                             "role": OWNER_ROLE},
                "decision": "approved",
                "expires_at": expires_at,
                "conditions": [],
            },
            (signing, Purpose.OBJECT_ISSUANCE))


def reference(evidence: Draft) -> dict[str, Any]:
    """An evidence object in full form, as an offer refers to it."""
    by = evidence.body["created_by"]
    return {
        "evidence_id": evidence.id,
        "content_hash": evidence.content_hash,
        "evidence_type": evidence.body["payload"]["evidence_type"],
        "signed_by": {"organization_id": by["organization_id"], "agent_id": by["agent_id"]},
    }


def fresh_salt() -> bytes:
    """Random bytes that keep a hashed request from being guessed."""
    return secrets.token_bytes(SALT_BYTES)


def salted_hash(salt: bytes, body: bytes) -> str:
    """What the evidence of a request commits to."""
    return sha256_hex(salt + body)
