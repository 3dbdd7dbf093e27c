"""Every price and every order is first judged against the owner's mandate, by the one evaluation (spec 9.1 to 9.3)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from a202_mcp.one_owner.identity import Identity
from a202_mcp.one_owner.ruling import Ruling, rule, settled
from a202_mcp.treatyway.book import ShopStore
from a202_mcp.treatyway.mandate import CATEGORY
from a202_mcp.treatyway.status import StatusSource
from a202_mcp.workspace import Workspace
from a202_reference.documents.envelope import Approval
from a202_reference.documents.parties import Party
from a202_reference.lifecycle.acts import Setting, formation_act
from a202_reference.lifecycle.holdings import Holdings

CURRENT: Final = "mandate"
"""The kind of the one entry that says which mandate counts."""


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
        return self.who.under(self.mandate_id)

    def mandate(self) -> Mapping[str, Any]:
        """The current mandate's document."""
        found = self.workspace.mandate(self.mandate_id)
        if found is None:
            raise LookupError("the current mandate is not held")
        return found

    def rule(
        self, action: str, holdings: Holdings, counterparty: str, terms: Mapping[str, Any], now: datetime,
        approval: Approval | None = None,
    ) -> Ruling:
        """Decide one act of a transaction, at `now` or right after what was decided over it before.

        With the status as it is then; an unresolved one denies.
        """
        party, mandate = self.party, self.mandate()
        act = formation_act(action, Setting(holdings.transaction_id, counterparty, CATEGORY), terms)
        return settled(holdings, now, lambda at: rule(
            self.workspace, party, mandate, act, at, self.status.result(party.mandate_id, at), approval))

    def owner_may_approve(self) -> bool:
        """True where the mandate was issued with the owner's key of this shop."""
        return bool(self.mandate()["issuer"]["key_id"] == self.who.owner_key_id)
