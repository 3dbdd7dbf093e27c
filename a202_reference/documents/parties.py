"""Parties as documents name them (objects 3): organisation and agent, with mandate and key where acting."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class PartyRef:
    """An organisation and the agent that stands for it."""

    organization_id: str
    agent_id: str

    @classmethod
    def of(cls, raw: Mapping[str, Any]) -> PartyRef:
        """The view of a schema-valid partyRef or actorRef."""
        return cls(raw["organization_id"], raw["agent_id"])

    @property
    def document(self) -> dict[str, str]:
        """The closed partyRef document."""
        return {"organization_id": self.organization_id, "agent_id": self.agent_id}


@dataclass(frozen=True, slots=True)
class Party:
    """A party that acts through this software: who, under which mandate, signing with which key."""

    organization_id: str
    agent_id: str
    mandate_id: str
    key_id: str

    @classmethod
    def of(cls, raw: Mapping[str, Any]) -> Party:
        """The view of a party argument (surface 1)."""
        return cls(raw["organization_id"], raw["agent_id"], raw["mandate_id"], raw["key_id"])

    @property
    def ref(self) -> PartyRef:
        """The party without mandate and key."""
        return PartyRef(self.organization_id, self.agent_id)

    @property
    def actor(self) -> dict[str, str]:
        """The `created_by` of what this party authors."""
        return {**self.ref.document, "mandate_id": self.mandate_id}
