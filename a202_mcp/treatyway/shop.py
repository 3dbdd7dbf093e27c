"""One shop, opened: its settings, its record, its key, and how it writes (design, "All or nothing").

Whatever a call writes, objects of the record and entries of the shop, is one commit, on disk before the answer. It is
decided and written while nobody else writes (`one_owner.book`), so that no check is of another state than its write.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from a202_mcp.one_owner.batches import batch_for
from a202_mcp.one_owner.book import Write, batch_with
from a202_mcp.one_owner.identity import Identity
from a202_mcp.one_owner.placeholders import counterparty, placeholder
from a202_mcp.one_owner.ruling import Ruling
from a202_mcp.one_owner.scribe import Scribe
from a202_mcp.treatyway.book import ShopStore
from a202_mcp.treatyway.keylist import KeyList
from a202_mcp.treatyway.ruling import Authority
from a202_mcp.treatyway.settings import Offer, Settings
from a202_mcp.treatyway.status import StatusSource
from a202_mcp.workspace import Workspace
from a202_reference.documents.parties import PartyRef
from a202_reference.identifiers import Prefix
from a202_reference.lifecycle.drafts import Draft, Drafting
from a202_reference.lifecycle.holdings import Holdings
from a202_reference.times import format_instant

_ID_BYTES: Final = 18


class MovedError(Exception):
    """What was to be changed is not as it was read, since it was not read in the decision. Nothing was written."""


@dataclass
class Shop:
    """Everything that a tool or a command needs."""

    settings: Settings
    workspace: Workspace
    store: ShopStore
    who: Identity
    status: StatusSource
    authority: Authority
    placeholder_key: bytes
    keys: KeyList
    randomness: Callable[[int], bytes] = field(default=secrets.token_bytes)

    def now(self, transaction_id: str | None = None) -> datetime:
        """The instant of one call."""
        return self.workspace.now(transaction_id, [self.who.agent_key_id])

    def new_id(self, letter: str) -> str:
        """q_, o_ or m_ and 144 random bits."""
        return f"{letter}_{self.randomness(_ID_BYTES).hex()}"

    def minted(self, prefix: Prefix) -> str:
        """A new identifier of the record."""
        return prefix.minted(self.workspace.ids())

    def placeholder(self, identity: str | None) -> str:
        """The digits of a counterparty; random where nobody said who calls."""
        return self.randomness(16).hex() if identity is None else placeholder(self.placeholder_key, identity)

    def counterparty(self, digits: str) -> PartyRef:
        """The counterparty that these digits stand for."""
        return counterparty(digits)

    def scribe(self, transaction_id: str, now: datetime) -> Scribe:
        """Who drafts the objects of one call, as this shop acts now."""
        return Scribe(Drafting(transaction_id, format_instant(now)), self.authority.party, self.workspace.ids)

    def offer(self, offer_id: str) -> Offer | None:
        """An offer of the file."""
        return self.settings.offers.get(offer_id)

    def stock(self, offer_id: str) -> int | None:
        """The count of a good; None: there is none, and no limit."""
        entry = self.store.entry("stock", offer_id)
        if entry is not None:
            return int(entry.body["count"])
        offer = self.offer(offer_id)
        return None if offer is None else offer.stock

    def commit(
        self, holdings: Holdings, now: datetime, drafts: Sequence[Draft], rulings: Sequence[Ruling],
        writes: Sequence[Write], signed: Sequence[Mapping[str, Any]] = (),
    ) -> None:
        """Judge and sign the drafts, and write them with everything else. Raises MovedError.

        signed: objects that are signed already, in front of the drafts.
        """
        batch = batch_for(self.workspace, holdings, now, drafts, [ruling.act for ruling in rulings], signed)
        if not self.store.commit(batch_with(batch, writes)):
            raise MovedError

    def remember(self, writes: Sequence[Write]) -> None:
        """Write entries of the shop alone. Raises MovedError."""
        if not self.store.remember(writes):
            raise MovedError
