"""Who the member is in the record: organisation, agent, owner and their keys; and who the others are (spec 8).

Rules this module applies:

- a counterparty is a placeholder: the first 32 digits of an HMAC under a random key of this state folder, so that one
  id is one placeholder here and nothing anywhere else. It asserts nobody's identity.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from a202_reference.documents.parties import Party, PartyRef
from a202_reference.identifiers import IdSource, Prefix
from a202_reference.keys import Owner


@dataclass(frozen=True, slots=True)
class Identity:
    """The member's identifiers. mandates: mandate id by what it is for: seller, buyer, free."""

    organization_id: str
    agent_id: str
    principal_id: str
    agent_key_id: str
    owner_key_id: str
    mandates: Mapping[str, str]
    limits: str
    """Fingerprint of the limits that the mandates were issued from."""

    @classmethod
    def fresh(cls, organization_id: str | None, ids: IdSource) -> Identity:
        """A new member, without a mandate yet."""
        return cls(
            organization_id or Prefix.ORGANIZATION.minted(ids()), Prefix.AGENT.minted(ids()),
            Prefix.PRINCIPAL.minted(ids()), Prefix.KEY.minted(ids()), Prefix.KEY.minted(ids()), {}, "")

    @classmethod
    def of(cls, document: Mapping[str, Any]) -> Identity:
        """The stored identity."""
        return cls(**document)

    @property
    def document(self) -> dict[str, Any]:
        """As it is stored."""
        return asdict(self)

    @property
    def agent(self) -> Owner:
        """The owner of the agent's key."""
        return Owner(self.organization_id, agent_id=self.agent_id)

    @property
    def owner(self) -> Owner:
        """The owner of the owner's key."""
        return Owner(self.organization_id, principal_id=self.principal_id)

    def party(self, use: str) -> Party | None:
        """Us, acting under the mandate for this use; None where there is none."""
        mandate_id = self.mandates.get(use)
        return None if mandate_id is None else Party(
            self.organization_id, self.agent_id, mandate_id, self.agent_key_id)


def counterparty(key: bytes, party_id: str | None, task_id: str) -> PartyRef:
    """The placeholder of a buyer or seller of the exchange; without an id, of this one task."""
    named = ["axp", party_id] if party_id else ["axp-task", task_id]
    digest = hmac.new(key, json.dumps(named, separators=(",", ":")).encode("ascii"), hashlib.sha256).hexdigest()[:32]
    return PartyRef(f"org_ext_{digest}", f"agt_ext_{digest}")
