"""The one-sided A202 record of a task: its terms, its acts, and what the mandate says of them (axp 8).

Rules this module applies:

- every act document of a task carries the same full proposed terms with their total, and nothing that changes between
  two identical quotes: its transaction, the counterparty's placeholder, the category, the terms;
- an approval of the owner that is held for a held act, and not used up, is presented with it;
- a statement of the exchange is evidence of ours, verified by its signature: it proves the exchange, not the buyer;
- never an acceptance, agreement or event on the other side's behalf: the state stays draft, the record one-sided.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any, Final

from a202_mcp.axp.mandates import CATEGORY, switch
from a202_mcp.axp.settings import Guarantee
from a202_mcp.axp.view import View
from a202_mcp.one_owner.ruling import Ruling, rule, settled, without_mandate
from a202_mcp.one_owner.scribe import Scribe, salted_hash
from a202_reference.authority.status import StatusResult
from a202_reference.codes import Decision
from a202_reference.documents.envelope import Approval
from a202_reference.documents.parties import PartyRef
from a202_reference.lifecycle.acts import Setting, formation_act
from a202_reference.lifecycle.drafts import Draft, Drafting
from a202_reference.lifecycle.holdings import Holdings
from a202_reference.registries import EvidenceType, ObjectType
from a202_reference.times import format_instant

PROFILE: Final = "a202-profile/direct-trade/0.1"


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


def judge(view: View, matter: Matter, action: str, now: datetime, given: Sequence[Approval] = ()) -> Ruling:
    """Decide one act under the mandate that counts now, presenting the owner's approval of it where there is one.

    At `now`, or right after what was decided over it before. given: approvals that are written with what they release.
    """
    act = matter.act(action)
    party = view.identity.party(matter.use)
    mandate = None if party is None else view.workspace.mandate(party.mandate_id)
    if party is None or mandate is None:
        return without_mandate(party or view.identity.under(""), act, now)
    holdings = view.store.holdings(matter.transaction_id)

    def decide(at: datetime) -> Ruling:
        status = _status(view, party.mandate_id, at)
        ruling = rule(view.workspace, party, mandate, act, at, status)
        if ruling.decision is not Decision.REQUIRE_APPROVAL:
            return ruling
        approved = (rule(view.workspace, party, mandate, act, at, status, approval)
                    for approval in (*_approvals(view, holdings, ruling.act.action_hash), *given))
        return next((each for each in approved if each.allows), ruling)

    return settled(holdings, now, decide)


def scribe_of(view: View, matter: Matter, now: datetime) -> Scribe:
    """Who drafts the objects of one call on one task. Raises ValueError where there is no mandate for it."""
    party = view.identity.party(matter.use)
    if party is None:
        raise ValueError("nothing is recorded without a mandate")
    return Scribe(Drafting(matter.transaction_id, format_instant(now)), party, view.mint)


def statement(scribe: Scribe, claim: str, salt: bytes, body: bytes) -> Draft:
    """Evidence of a request or statement that the exchange signed to us, which its signature proved."""
    return scribe.evidence(EvidenceType.ATTESTATION, claim, salted_hash(salt, body), verified=True)


def _status(view: View, mandate_id: str, now: datetime) -> StatusResult:
    """The local switch, or what the address answered that was given with the mandate."""
    if view.identity.status_url is None:
        return StatusResult(mandate_id, switch(view.store, mandate_id), format_instant(now))
    answered, at = view.statuses.get(mandate_id, ("unresolved", now))
    return StatusResult(mandate_id, answered, format_instant(min(at, now)))


def _approvals(view: View, holdings: Holdings, action_hash: str) -> list[Approval]:
    return [
        Approval.of(document) for document in holdings.objects
        if document["object_type"] == ObjectType.APPROVAL and document["payload"]["action_hash"] == action_hash
        and not view.store.consumed(document["id"])]
