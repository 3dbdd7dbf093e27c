"""Who a server of one owner is in the record: one organisation, its agent, its principal, and their keys.

Rules this module applies (treatyway 9, axp 8):

- the identifiers are minted once for a state folder, but for an organisation that the owner names;
- the agent's key belongs to the agent, the owner's to the principal; the server acts as the agent.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from a202_reference.documents.parties import Party
from a202_reference.identifiers import Prefix
from a202_reference.keys import Owner


@dataclass(frozen=True, slots=True)
class Identity:
    """The identifiers of one state folder."""

    organization_id: str
    agent_id: str
    agent_key_id: str
    principal_id: str
    owner_key_id: str

    @classmethod
    def minted(cls, organization_id: str | None, suffix: str) -> Self:
        """New identifiers. `suffix` is fresh randomness."""
        return cls(
            organization_id or Prefix.ORGANIZATION.minted(suffix), Prefix.AGENT.minted(suffix),
            Prefix.KEY.minted(f"agent_{suffix}"), Prefix.PRINCIPAL.minted(suffix), Prefix.KEY.minted(f"owner_{suffix}"))

    @property
    def agent(self) -> Owner:
        """Whose the agent's key is."""
        return Owner(self.organization_id, agent_id=self.agent_id)

    @property
    def owner(self) -> Owner:
        """Whose the owner's key is."""
        return Owner(self.organization_id, principal_id=self.principal_id)

    def holder(self, key_id: str) -> Owner:
        """Whose one of our two keys is."""
        return self.agent if key_id == self.agent_key_id else self.owner

    def under(self, mandate_id: str) -> Party:
        """Us, acting under a mandate."""
        return Party(self.organization_id, self.agent_id, mandate_id, self.agent_key_id)
