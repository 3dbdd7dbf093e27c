"""Step 2: who signed, against whose act it is (verification 1, step 2; rules 1.4, 5.6; D-6, D-10, D-23).

Rules this module applies:

- an offer is the offeror's, an acceptance the accepting party's, an assertion the obligor's, an answer the obligee's,
  evidence that of whoever its references name, an approval its approver's; anything else its author's. The object
  says it is by that party, and one of its signatures is under a key of that party;
- the key's owner decides, not the signature's value: that is a row of its own;
- an owner that is not known leaves the check unmade.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

from a202_reference.codes import Code, Outcome
from a202_reference.evidence.entry import Actor, Entry
from a202_reference.evidence.inquiry import Inquiry
from a202_reference.evidence.keychain import KnownKey
from a202_reference.evidence.report import VERIFIED, Judgement, failed, unknown
from a202_reference.gate.reading import members
from a202_reference.registries import ObjectType, Purpose

Check: TypeAlias = Callable[[Entry, Inquiry], Judgement]

_INVALID: Final = Code.EVIDENCE_SIGNATURE_INVALID
_PARTIES: Final[Mapping[ObjectType, str]] = {
    ObjectType.OFFER: "offeror",
    ObjectType.ACCEPTANCE: "accepting_party",
    ObjectType.COMMITMENT: "committed_party",
    ObjectType.DISPUTE: "raising_party",
}
"""The member that names whose act an object is."""
_OF_OBLIGATION: Final[Mapping[ObjectType, str]] = {
    ObjectType.PERFORMANCE_EVENT: "obligor",
    ObjectType.OBLIGATION_RESPONSE: "obligee",
}
_PAIRS: Final = frozenset({ObjectType.AGREEMENT, ObjectType.INVITATION_ACCEPTANCE})


def signer_is_actor(entry: Entry, inquiry: Inquiry) -> Judgement | None:
    """The object is by the party whose act it is, and that party's key signed it."""
    if entry.type in _PAIRS or not entry.entries:
        return None
    if entry.type is ObjectType.APPROVAL:
        return _approver_signs(entry, inquiry)
    party = _party(entry, inquiry)
    if party is None:
        return unknown("whose act it is depends on an object that is not here")
    if party.organization_id is None or party.organization_id != entry.author.organization_id:
        return failed(_INVALID, f"it is the act of {str(party.organization_id)[:140]} and says it is by another")
    keys = [signed.key for signed in inquiry.signatures(entry)]
    if any(key is not None and belongs_to(key, party) for key in keys):
        return VERIFIED
    if None in keys:
        return unknown("whose key signed it is not known")
    return failed(_INVALID, f"no signature is under a key of {party.organization_id}")


def belongs_to(key: KnownKey, party: Actor) -> bool:
    """True where the key is of this organisation, and of this agent where both are known."""
    if key.organization_id != party.organization_id or key.principal_id is not None:
        return False
    return key.agent_id is None or party.agent_id is None or key.agent_id == party.agent_id


def agreement_both_parties(agreement: Entry, inquiry: Inquiry) -> Judgement:
    """Two keys signed: one of the buyer, one of the supplier."""
    named = [members(signature).get("key_id") for signature in agreement.entries]
    if len({name for name in named if isinstance(name, str)}) < 2:
        return failed(_INVALID, "one key signed for both parties")
    keys = [signed.key for signed in inquiry.signatures(agreement)]
    missing = [role for role in ("buyer", "supplier")
               if not any(key is not None and belongs_to(key, agreement.party(role)) for key in keys)]
    if not missing:
        return VERIFIED
    if None in keys:
        return unknown(f"whose key signed is not known: no known key of the {missing[0]}")
    return failed(_INVALID, f"no signature is under a key of the {' or the '.join(missing)}")


def invitation_acceptance_pair(acceptance: Entry, inquiry: Inquiry) -> Judgement:
    """The claimant claimed and the operator issued."""
    purposes = {members(signature).get("purpose"): signed.key
                for signature, signed in zip(acceptance.entries, inquiry.signatures(acceptance), strict=True)
                if isinstance(members(signature).get("purpose"), str)}
    if not {Purpose.INVITATION_CLAIM, Purpose.OBJECT_ISSUANCE} <= purposes.keys():
        return failed(Code.INVITATION_CLAIM_UNSIGNED, "the claim or the operator's signature is missing")
    key = purposes[Purpose.INVITATION_CLAIM]
    if key is None:
        return unknown("whose key signed the claim is not known")
    if key.organization_id == acceptance.party("claimant").organization_id:
        return VERIFIED
    return failed(Code.INVITATION_CLAIM_UNSIGNED, "the claim is under a key of another organisation")


def countersignature(event: Entry, inquiry: Inquiry) -> Judgement:
    """The other party's agent signed the event as well; its principal is no agent (D-23)."""
    for signed in inquiry.signatures(event):
        key = signed.key
        if key is None or signed.overall.outcome is not Outcome.VERIFIED:
            continue
        if key.organization_id == event.author.organization_id or key.principal_id is not None:
            continue
        agents = inquiry.agents.get((event.transaction_id, key.organization_id), frozenset())
        if event.transaction_id not in inquiry.parties or agents & {key.agent_id, None} or (
                agents and key.agent_id is None):
            return VERIFIED
    return unknown("no verified signature of the other party's agent is on it")


def determiner_signs(determination: Entry, inquiry: Inquiry) -> Judgement:
    """Reported in step 6: the determiner's own key signed."""
    keys = [signed.key for signed in inquiry.signatures(determination)]
    determiner = determination.party("determiner")
    if any(key is not None and belongs_to(key, determiner) for key in keys):
        return VERIFIED
    if None in keys or not keys:
        return unknown("whose key signed it is not known")
    return failed(_INVALID, f"no signature is under a key of {str(determiner.organization_id)[:140]}")


def _party(entry: Entry, inquiry: Inquiry) -> Actor | None:
    if entry.type is None:
        return entry.author
    if entry.type in _PARTIES:
        return entry.party(_PARTIES[entry.type])
    if entry.type in _OF_OBLIGATION:
        obligation = inquiry.find(entry.payload.get("obligation_id"), ObjectType.OBLIGATION)
        return None if obligation is None else obligation.party(_OF_OBLIGATION[entry.type])
    if entry.type is ObjectType.EVIDENCE:
        return inquiry.evidence_signers.get(entry.subject, entry.author)
    return entry.author


def _approver_signs(approval: Entry, inquiry: Inquiry) -> Judgement:
    approver = members(approval.payload.get("approver"))
    named = (approver.get("organization_id"), approver.get("principal_id"))
    keys = [signed.key for signed in inquiry.signatures(approval)]
    if any(key is not None and (key.organization_id, key.principal_id) == named for key in keys):
        return VERIFIED
    if None in keys:
        return unknown("whose key signed it is not known")
    return failed(_INVALID, "no signature is under a key of the approver")


PARTY_CHECKS: Final[Mapping[ObjectType, tuple[tuple[str, Check], ...]]] = {
    ObjectType.AGREEMENT: (("agreement_both_parties", agreement_both_parties),),
    ObjectType.INVITATION_ACCEPTANCE: (("invitation_acceptance_pair", invitation_acceptance_pair),),
    ObjectType.TRANSACTION_EVENT: (("countersignature", countersignature),),
}
