"""Who the member is in the record, and under which mandates it acts; and who the others are (axp 8)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Self

from a202_mcp.one_owner import identity, placeholders
from a202_reference.documents.parties import Party, PartyRef


@dataclass(frozen=True, slots=True)
class Identity(identity.Identity):
    """The member's identifiers. mandates: mandate id by what it is for: seller, buyer, free."""

    mandates: Mapping[str, str] = field(default_factory=dict)
    limits: str = ""
    """Fingerprint of the limits that the mandates were issued from; empty before there is one."""
    status_url: str | None = None
    """Who answers the mandates' status; None: the switch here."""

    @classmethod
    def of(cls, document: Mapping[str, Any]) -> Self:
        """The stored identity."""
        return cls(**document)

    @classmethod
    def kept(cls, document: Mapping[str, Any] | None) -> Self | None:
        """The stored identity, or None where none is stored."""
        return None if document is None else cls.of(document)

    @property
    def document(self) -> dict[str, Any]:
        """As it is stored."""
        return asdict(self)

    def party(self, use: str) -> Party | None:
        """Us, acting under the mandate for this use; None where there is none."""
        mandate_id = self.mandates.get(use)
        return None if mandate_id is None else self.under(mandate_id)


def counterparty(key: bytes, party_id: str | None, task_id: str) -> PartyRef:
    """The placeholder of a buyer or seller of the exchange; without an id, of this one task."""
    named = ["axp", party_id] if party_id else ["axp-task", task_id]
    return placeholders.counterparty(placeholders.placeholder(key, json.dumps(named, separators=(",", ":"))))
