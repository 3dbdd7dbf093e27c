"""Every price and every order is first judged against the owner's mandate, by the one evaluation (spec 9.1 to 9.3)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from a202_mcp.treatyway.book import ShopStore
from a202_mcp.treatyway.mandate import CATEGORY, Identity
from a202_mcp.treatyway.status import StatusSource
from a202_mcp.workspace import Workspace
from a202_reference.authority.evaluate import Evaluation, evaluate
from a202_reference.authority.status import StatusResult
from a202_reference.canonical import value_hash
from a202_reference.codes import Decision
from a202_reference.documents.envelope import Approval
from a202_reference.documents.parties import Party
from a202_reference.lifecycle.acts import Setting, formation_act

CURRENT = "mandate"
"""The kind of the one entry that says which mandate counts."""


@dataclass(frozen=True, slots=True)
class Ruling:
    """The verdict on one act. `reasons` is for the owner only: it names limits."""

    party: Party
    act: Mapping[str, Any]
    action_hash: str
    decision: Decision
    codes: tuple[str, ...]
    mandate_ids: tuple[str, ...]
    status: StatusResult | None
    consumes: str | None
    reasons: str

    @property
    def allowed(self) -> bool:
        """True for an allow."""
        return self.decision is Decision.ALLOW


@dataclass(frozen=True, slots=True)
class Authority:
    """The mandate that counts now, and who acts under it."""

    workspace: Workspace
    store: ShopStore
    who: Identity
    status: StatusSource

    @property
    def mandate_id(self) -> str:
        """The mandate that the last `init` made the current one."""
        entry = self.store.entry(CURRENT, "")
        if entry is None:
            raise LookupError("no mandate was ever issued here")
        return str(entry.body["mandate_id"])

    @property
    def party(self) -> Party:
        """This shop as it acts now."""
        return Party(self.who.organization_id, self.who.agent_id, self.mandate_id, self.who.agent_key_id)

    def mandate(self) -> Mapping[str, Any]:
        """The current mandate's document."""
        found = self.workspace.mandate(self.mandate_id)
        if found is None:
            raise LookupError("the current mandate is not held")
        return found

    def rule(
        self, action: str, transaction_id: str, counterparty: str, terms: Mapping[str, Any], now: datetime,
        approval: Approval | None = None,
    ) -> Ruling:
        """Decide one act at `now`, with the status as it is now. Unresolved status denies."""
        party = self.party
        act = formation_act(action, Setting(transaction_id, counterparty, CATEGORY), terms)
        status = self.status.result(party.mandate_id, now)
        given = self.workspace.circumstances(
            now, now, {} if status is None else {party.mandate_id: status}, approval)
        evaluation = evaluate(self.mandate(), act, given)
        return Ruling(
            party, act, value_hash(act), evaluation.decision, tuple(code.value for code in evaluation.reason_codes),
            evaluation.chain_ids or (party.mandate_id,), status,
            approval.envelope.id if evaluation.released and approval is not None else None,
            "; ".join([reason.detail for reason in evaluation.reasons] + _limits(evaluation)))

    def owner_may_approve(self) -> bool:
        """True where the mandate was issued with the owner's key of this shop."""
        return bool(self.mandate()["issuer"]["key_id"] == self.who.owner_key_id)

    def approver(self) -> dict[str, str]:
        """The principal who issued the mandate."""
        issuer = self.mandate()["issuer"]
        return {"organization_id": issuer["organization_id"], "principal_id": issuer["principal_id"]}


def _limits(evaluation: Evaluation) -> list[str]:
    """The limits that were not kept, as the owner wrote them."""
    unkept = (found.constraint for found in evaluation.act.constraints if found.code is not None)
    return [f"{each.id} is {each.predicate.operator} {each.predicate.value}" for each in unkept]
