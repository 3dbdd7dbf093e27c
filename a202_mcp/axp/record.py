"""The one-sided A202 record of a task: terms, acts, decisions, evidence, offers, approvals (spec 8).

Rules this module applies:

- every act document of a task carries the same full proposed terms with their total, and nothing that changes between
  two identical quotes: its transaction, the counterparty's placeholder, the category, the terms;
- one evaluation (authority.evaluate) decides; an approval of the owner that is held for the act is presented with it;
- a decision of ours is a private object of its actor. Evidence is issued by us: the exchange is named in the claim
  only. What came in is hashed behind 32 random bytes; delivered content is hashed as it is;
- never an acceptance, agreement or event on the other side's behalf: the state stays draft, the record one-sided.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from typing import Any, Final

from a202_mcp.axp.mandates import CATEGORY, switch
from a202_mcp.axp.member import View
from a202_mcp.axp.settings import Guarantee
from a202_reference.authority.evaluate import Evaluation, evaluate
from a202_reference.authority.presented import Authorised
from a202_reference.authority.status import StatusResult
from a202_reference.canonical import sha256_hex
from a202_reference.codes import Decision
from a202_reference.documents.envelope import Approval
from a202_reference.documents.parties import Party, PartyRef
from a202_reference.identifiers import Prefix
from a202_reference.lifecycle.acts import Setting, formation_act
from a202_reference.lifecycle.drafts import Draft, Drafting
from a202_reference.registries import EvidenceType, ObjectType, Purpose
from a202_reference.times import format_instant

PROFILE: Final = "a202-profile/direct-trade/0.1"
OWNER_ROLE: Final = "owner"


@dataclass(frozen=True, slots=True)
class Matter:
    """What the acts of one task are about. `use` names the mandate: seller, buyer or free."""

    transaction_id: str
    use: str
    other: PartyRef
    terms: Mapping[str, Any]

    @classmethod
    def of(cls, document: Mapping[str, Any]) -> Matter:
        """The matter as a quote or a choice keeps it."""
        return cls(document["transaction_id"], document["use"], PartyRef.of(document["other"]), document["terms"])

    @property
    def document(self) -> dict[str, Any]:
        """As it is kept."""
        return {"transaction_id": self.transaction_id, "use": self.use, "other": self.other.document,
                "terms": self.terms}

    def act(self, action: str) -> dict[str, Any]:
        """The act document of one action."""
        setting = Setting(self.transaction_id, self.other.organization_id, CATEGORY)
        return formation_act(action, setting, self.terms)


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the mandate says of one act, now."""

    decision: Decision
    act: Authorised
    evaluation: Evaluation | None

    @property
    def allows(self) -> bool:
        """True for an allow."""
        return self.decision is Decision.ALLOW


def task_terms(
    task_id: str, description: str, line: str, price: Decimal, eta_minutes: int, guarantee: Guarantee | None,
) -> dict[str, Any]:
    """The terms of one task: one line, its price in US dollars."""
    amount = format(price, "f")
    profile_terms: dict[str, Any] = {
        "channel": "axp", "reference": task_id, "attested_by": "exchange",
        "lines": [{"offer_id": line, "quantity": "1", "amount": amount}], "eta_minutes": eta_minutes}
    if guarantee is not None:
        profile_terms["guarantee"] = guarantee.document
    return {
        "profile": PROFILE,
        "core": {"description": description[:4096], "quantity": "1", "unit_code": "C62",
                 "total": {"currency": "USD", "amount": amount}},
        "profile_terms": profile_terms,
    }


def judge(view: View, matter: Matter, action: str, now: datetime) -> Verdict:
    """Decide one act under the member's mandate, presenting the owner's approval of it where one is held."""
    act = matter.act(action)
    party = view.identity.party(matter.use)
    mandate = None if party is None else view.workspace.mandate(party.mandate_id)
    if party is None or mandate is None:
        nobody = party or Party(view.identity.organization_id, view.identity.agent_id, "", view.identity.agent_key_id)
        return Verdict(Decision.DENY, Authorised(nobody, act, "", (), format_instant(now), (), None), None)
    status = _status(view, party.mandate_id, now)
    statuses = {party.mandate_id: status}
    evaluation = evaluate(mandate, act, view.workspace.circumstances(now, now, statuses))
    used = None
    if evaluation.decision is Decision.REQUIRE_APPROVAL:
        for approval in _approvals(view, matter, evaluation.act.action_hash):
            again = evaluate(mandate, act, view.workspace.circumstances(now, now, statuses, approval))
            if again.decision is Decision.ALLOW:
                evaluation, used = again, approval.envelope.id
                break
    allowed = Authorised(
        party, act, evaluation.act.action_hash or "", evaluation.chain_ids, format_instant(now), (status,),
        used if evaluation.released else None)
    return Verdict(evaluation.decision, allowed, evaluation)


def _status(view: View, mandate_id: str, now: datetime) -> StatusResult:
    """The local switch, or what the configured address answered."""
    if view.settings.limits.status_url is None:
        return StatusResult(mandate_id, switch(view.store, mandate_id), format_instant(now))
    answered, at = view.statuses.get(mandate_id, ("unresolved", now))
    return StatusResult(mandate_id, answered, format_instant(min(at, now)))


def _approvals(view: View, matter: Matter, action_hash: str | None) -> list[Approval]:
    return [
        Approval.of(document) for document in view.store.holdings(matter.transaction_id).objects
        if document["object_type"] == ObjectType.APPROVAL and document["payload"]["action_hash"] == action_hash
        and not view.store.consumed(document["id"])]


@dataclass(frozen=True, slots=True)
class Scribe:
    """Writes the objects of one call on one task."""

    view: View
    matter: Matter
    now: datetime

    @property
    def _drafting(self) -> Drafting:
        return Drafting(self.matter.transaction_id, format_instant(self.now))

    @property
    def _party(self) -> Party:
        party = self.view.identity.party(self.matter.use)
        if party is None:
            raise ValueError("nothing is recorded without a mandate")
        return party

    def decision(self, verdict: Verdict) -> Draft:
        """The policy decision, private to us."""
        party = verdict.act.party
        codes = [] if verdict.evaluation is None else [code.value for code in verdict.evaluation.reason_codes]
        return self._drafting.draft(
            ObjectType.POLICY_DECISION, Prefix.POLICY_DECISION.minted(self.view.mint()), party,
            {
                "action_hash": verdict.act.action_hash,
                "decision": verdict.decision.value,
                "reason_codes": codes,
                "evaluated_at": verdict.act.evaluated_at,
                "mandate_ids": list(verdict.act.mandate_ids),
                "stream": {"kind": "private", "id": self.matter.transaction_id},
                "stream_sequence": 0,
                "visibility": "private_to_actor",
            },
            (party, Purpose.POLICY_DECISION))

    def evidence(self, kind: EvidenceType, claim: str, artifact_hash: str) -> Draft:
        """Evidence of ours. The claim names the exchange where it is the source; it carries no foreign text."""
        us = self.view.identity.organization_id
        return self._drafting.draft(
            ObjectType.EVIDENCE, Prefix.EVIDENCE.minted(self.view.mint()), self._party,
            {
                "evidence_type": kind.value,
                "claim": claim[:2048],
                "artifact_hash": artifact_hash,
                "issuer": {"organization_id": us},
                "verification": {"status": "verified", "verified_at": format_instant(self.now),
                                 "verifier_organization_id": us},
            },
            (self._party, Purpose.OBJECT_ISSUANCE))

    def statement(self, claim: str, salt: bytes, body: bytes) -> Draft:
        """Evidence of a request or statement that the exchange signed to us."""
        return self.evidence(EvidenceType.ATTESTATION, claim, sha256_hex(salt + body))

    def offer(self, valid_until: datetime, session_id: str, supersedes: str | None, request: Draft) -> Draft:
        """The signed offer over the matter's terms."""
        party = self._party
        return self._drafting.draft(
            ObjectType.OFFER, Prefix.OFFER.minted(self.view.mint()), party,
            {
                "offeror": party.ref.document,
                "offeree": self.matter.other.document,
                "session_id": session_id,
                "supersedes_offer_id": supersedes,
                "valid_until": format_instant(valid_until),
                "terms": self.matter.terms,
                "evidence_refs": [{
                    "evidence_id": request.id, "content_hash": request.content_hash,
                    "evidence_type": EvidenceType.ATTESTATION.value, "signed_by": party.ref.document}],
            },
            (party, Purpose.OFFER_SUBMISSION))

    def approval(self, action_hash: str, expires_at: datetime, *, approved: bool = True) -> Draft:
        """The owner's approval of one act, to be signed with the owner's key."""
        identity = self.view.identity
        signing = replace(self._party, key_id=identity.owner_key_id)
        return self._drafting.draft(
            ObjectType.APPROVAL, Prefix.APPROVAL.minted(self.view.mint()), signing,
            {
                "action_hash": action_hash,
                "approver": {"organization_id": identity.organization_id, "principal_id": identity.principal_id,
                             "role": OWNER_ROLE},
                "decision": "approved" if approved else "rejected",
                "expires_at": format_instant(expires_at),
                "conditions": [],
            },
            (signing, Purpose.OBJECT_ISSUANCE))
