"""Step 5, the actor's key: whoever signs as an agent signs with the key that its mandate names (D-8).

Rules this module applies:

- an author's signature is under the `subject.key_id` of the mandate it acts under; that of another party (on an
  agreement, an event, an obligation) under the key of a mandate under which it acts elsewhere in the transaction;
- another key of the same agent is a finding on the actor (`A202-EVIDENCE-TRANSITION-ILLEGAL`), whatever the
  signature's own result; a key that is not known, or one that only key records tell of, leaves it open;
- a signature under somebody else's key is step 2's finding and none here.
"""

from __future__ import annotations

from typing import Final

from a202_reference.codes import Code
from a202_reference.evidence.entry import Entry
from a202_reference.evidence.inquiry import Inquiry
from a202_reference.evidence.keychain import KnownKey
from a202_reference.evidence.report import VERIFIED, Judgement, failed, unknown
from a202_reference.gate.reading import members

_OPEN: Final = unknown("whether it is signed with the key that the mandate names cannot be told")


def signed_as_mandated(entry: Entry, own: object, inquiry: Inquiry) -> Judgement:
    """Each party that signed did so with a key that its mandate names; `own` is the one of the author's mandate."""
    used = [members(signature).get("key_id") for signature in entry.entries]
    if own not in used:
        judgement = _author(entry, inquiry)
        if judgement is not VERIFIED:
            return judgement
    others: dict[tuple[str | None, str | None, str | None], list[str]] = {}
    for key in _agents(entry, inquiry):
        if key.organization_id != entry.author.organization_id:
            others.setdefault((entry.transaction_id, key.organization_id, key.agent_id), []).append(key.key_id)
    for party, key_ids in others.items():
        named = inquiry.mandated.get(party)
        if named is not None and named.isdisjoint(key_ids):
            return _another(key_ids[0], party[1])
    return VERIFIED


def _author(entry: Entry, inquiry: Inquiry) -> Judgement:
    """The author's mandate names none of the keys that signed."""
    own = [key for key in _agents(entry, inquiry) if key.organization_id == entry.author.organization_id
           and key.agent_id in (None, entry.author.agent_id)]
    if any(key.agent_id is not None for key in own):
        return _another(own[0].key_id, entry.author.organization_id)
    unresolved = any(signed.key is None for signed in inquiry.signatures(entry))
    return _OPEN if own or unresolved else VERIFIED


def _agents(entry: Entry, inquiry: Inquiry) -> list[KnownKey]:
    """The known keys that signed and are no principal's."""
    return [signed.key for signed in inquiry.signatures(entry)
            if signed.key is not None and signed.key.principal_id is None]


def _another(key_id: str, organization: str | None) -> Judgement:
    return failed(
        Code.EVIDENCE_TRANSITION_ILLEGAL, f"{key_id} of {organization} is not the key that its mandate names")
