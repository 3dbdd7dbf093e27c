"""Quotes, orders and messages as the shop remembers them, and the word that get_status gives (spec 9.7).

A state is what happened; the word follows from it, from the clock, and from what the owner set. Changing one makes
the next version of its entry.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from datetime import datetime
from enum import StrEnum
from typing import Any, Final, TypeVar

from a202_mcp.one_owner.book import Write
from a202_mcp.treatyway.book import Entry, put
from a202_reference.times import parse_instant

PERSON_DECIDES: Final = "a decision by a person"


class State(StrEnum):
    """What happened to a quote or an order."""

    WAITING = "waiting"
    HELD = "held"
    DENIED = "denied"
    QUOTED = "quoted"
    ACCEPTED = "accepted"
    REJECTED = "rejected"


OPEN: Final = (State.WAITING, State.HELD, State.DENIED)
"""What waits for a person."""


@dataclass(frozen=True, slots=True)
class Quote:
    """One request for a price: one transaction of the record.

    owner: whose it is; None: whoever holds its id. request: the buyer's inputs, as read. terms: what a price was
    worked out for. undecided_at: when the mandate last held or denied it. approvals: ids by action.
    """

    id: str
    transaction_id: str
    session_id: str
    owner: str | None
    label: str
    attested_by: str
    counterparty: str
    created_at: str
    request: Mapping[str, Any]
    state: State
    valid_seconds: int
    version: int = 0
    missing: list[str] = field(default_factory=list)
    terms: Mapping[str, Any] | None = None
    evidence: list[Mapping[str, Any]] = field(default_factory=list)
    undecided_at: str | None = None
    approvals: Mapping[str, str] = field(default_factory=dict)
    offer_id: str | None = None
    offer_hash: str | None = None
    expires_at: str | None = None
    order_id: str | None = None
    answered_by: Mapping[str, str] | None = None
    word: str | None = None
    summary: str | None = None

    @property
    def price(self) -> dict[str, str] | None:
        """What was worked out, or given by a person."""
        return None if self.terms is None else dict(self.terms["core"]["total"])

    def expired(self, now: datetime) -> bool:
        """True for a price whose time is over."""
        expires = parse_instant(self.expires_at)
        return expires is not None and now >= expires

    def status(self, now: datetime) -> str:
        """The seller's word, an order aside."""
        if self.word is not None:
            return self.word
        if self.state in OPEN:
            return "needs_human"
        if self.state is State.QUOTED:
            return "expired" if self.expired(now) else "quoted"
        return self.state.value


@dataclass(frozen=True, slots=True)
class Order:
    """One order on one quote. It exists for the buyer once it is accepted."""

    id: str
    quote_id: str
    transaction_id: str
    owner: str | None
    label: str
    created_at: str
    state: State
    note: str | None = None
    version: int = 0
    undecided_at: str | None = None
    artifact_hash: str = ""
    answered_by: Mapping[str, str] | None = None
    word: str | None = None
    summary: str | None = None

    @property
    def status(self) -> str:
        """The seller's word."""
        return self.word or ("needs_human" if self.state in OPEN else self.state.value)


@dataclass(frozen=True, slots=True)
class Message:
    """Free text from a buyer, and the answer to it."""

    id: str
    owner: str | None
    label: str
    created_at: str
    text: str
    version: int = 0
    quote_id: str | None = None
    order_id: str | None = None
    reply: str | None = None
    answered_by: Mapping[str, str] | None = None
    summary: str | None = None
    closed: bool = False

    @property
    def status(self) -> str:
        """Whether somebody answered."""
        return "answered" if self.reply is not None else "closed" if self.closed else "open"


_Deal = TypeVar("_Deal", Quote, Order, Message)
_KINDS: Final[Mapping[type, str]] = {Quote: "quote", Order: "order", Message: "message"}


def kind_of(deal: type[Quote] | type[Order] | type[Message]) -> str:
    """The kind of its entries."""
    return _KINDS[deal]


def read(deal: type[_Deal], entry: Entry | None) -> _Deal | None:
    """The thing in an entry."""
    if entry is None:
        return None
    known = {each.name for each in fields(deal)}
    body = {name: value for name, value in entry.body.items() if name in known}
    if "state" in body:
        body["state"] = State(body["state"])
    return deal(**{**body, "version": entry.version})


def written(deal: Quote | Order | Message) -> Write:
    """Its next version."""
    body = {name: value for name, value in asdict(deal).items() if name != "version"}
    return put(_KINDS[type(deal)], deal.id, deal.version + 1, body)
