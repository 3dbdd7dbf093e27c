"""What a tool may read of the member, and what it makes of a call (axp 5).

Rules this module applies:

- a tool reads through a `View` and answers with a `Plan`; while it does, the store refuses every write, so that a call
  that is a test can leave nothing behind;
- who we are and which mandates count is what the state says at this call, not what it said at the start;
- one `now` per call.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from a202_mcp.axp.book import MemberStore
from a202_mcp.axp.identity import Identity, counterparty
from a202_mcp.axp.secret import Credentials
from a202_mcp.axp.settings import Settings
from a202_mcp.one_owner.book import Write
from a202_mcp.workspace import Workspace
from a202_reference.authority.presented import Authorised
from a202_reference.documents.parties import PartyRef
from a202_reference.lifecycle.drafts import Draft


@dataclass(frozen=True, slots=True)
class Plan:
    """What one call would write and answer. error: the answer is a tool error with this text.

    signed: objects that are signed already, in front of the drafts.
    """

    answer: Mapping[str, Any] = field(default_factory=dict)
    error: str | None = None
    transaction_id: str | None = None
    drafts: tuple[Draft, ...] = ()
    acts: tuple[Authorised, ...] = ()
    writes: tuple[Write, ...] = ()
    signed: tuple[Mapping[str, Any], ...] = ()


@dataclass(frozen=True, slots=True)
class View:
    """What a tool may read."""

    settings: Settings
    store: MemberStore
    workspace: Workspace
    identity: Identity
    credentials: Credentials
    placeholders: bytes = field(repr=False)
    statuses: Mapping[str, tuple[str, datetime]]
    """Answers of a configured status address, by mandate id; empty where the local switch counts."""

    def now(self, transaction_id: str | None = None) -> datetime:
        """The instant of this call, never before what is stored."""
        return self.workspace.now(transaction_id, [self.identity.agent_key_id])

    def stamp(self) -> float:
        """Seconds since the epoch, for the outbox."""
        return self.workspace.clock().timestamp()

    def counterparty(self, party_id: str | None, task_id: str) -> PartyRef:
        """The placeholder for somebody of the exchange."""
        return counterparty(self.placeholders, party_id, task_id)

    def mint(self) -> str:
        """A fresh opaque suffix."""
        return self.workspace.ids()
