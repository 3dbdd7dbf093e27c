"""Quotes, orders and messages as the shop remembers them, and the word that get_status gives (spec 9.7).

Rules this module applies:

- a state is what happened; the word follows from it and from the clock;
- a word and a summary that the owner set stand over the word at which they were set, and no other: what happens
  afterwards, a price, an approval, a refusal, the end of an offer, is not hidden by what was said before it;
- changing one makes the next version of its entry.
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

WAITS: Final = "needs_human"
_EXPIRED: Final = "expired"
ENDING: Final = frozenset({"rejected", "cancelled", "completed", "no_show", _EXPIRED})
"""The words after which nothing is expected of anybody: no order is taken, and nothing waits."""
ENDED_BY_OWNER: Final = ENDING - {_EXPIRED}
"""Those that no time brings about."""


@dataclass(frozen=True, slots=True)
class Remark:
    """What the owner set with `seller status`. over: the word that a deal had by itself then."""

    over: str
    word: str | None = None
    summary: str | None = None


@dataclass(frozen=True, slots=True)
class Quote:
    """One request for a price: one transaction of the record.

    owner: whose it is; None: whoever holds its id. request: the buyer's inputs, as read. terms: what a price was
    worked out for. approvals: ids by action. summary: what was said with the last decision.
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
    approvals: Mapping[str, str] = field(default_factory=dict)
    offer_id: str | None = None
    offer_hash: str | None = None
    expires_at: str | None = None
    order_id: str | None = None
    answered_by: Mapping[str, str] | None = None
    summary: str | None = None
    remark: Remark | None = None

    @property
    def price(self) -> dict[str, str] | None:
        """What was worked out, or given by a person."""
        return None if self.terms is None else dict(self.terms["core"]["total"])

    def expired(self, now: datetime) -> bool:
        """True for a price whose time is over."""
        expires = parse_instant(self.expires_at)
        return expires is not None and now >= expires

    def happened(self, now: datetime) -> str:
        """The word that follows from what happened, an order aside."""
        if self.state in OPEN:
            return WAITS
        return _EXPIRED if self.state is State.QUOTED and self.expired(now) else self.state.value

    def status(self, now: datetime) -> str:
        """The seller's word, an order aside."""
        return said_over(self, self.happened(now))[0]


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
    artifact_hash: str = ""
    answered_by: Mapping[str, str] | None = None
    summary: str | None = None
    remark: Remark | None = None

    def happened(self, _: datetime) -> str:
        """The word that follows from what happened."""
        return WAITS if self.state in OPEN else self.state.value

    def status(self, now: datetime) -> str:
        """The seller's word."""
        return said_over(self, self.happened(now))[0]


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


def said_over(deal: Quote | Order, happened: str) -> tuple[str, str | None]:
    """Word and summary of a deal that has the word `happened` by itself: the owner's, where they were set over that."""
    remark = deal.remark
    if remark is None or remark.over != happened:
        return happened, deal.summary
    return remark.word or happened, remark.summary or deal.summary


_Deal = TypeVar("_Deal", Quote, Order, Message)
_KINDS: Final[Mapping[type, str]] = {Quote: "quote", Order: "order", Message: "message"}


def read(deal: type[_Deal], entry: Entry | None) -> _Deal | None:
    """The thing in an entry."""
    if entry is None:
        return None
    known = {each.name for each in fields(deal)}
    body = {name: value for name, value in entry.body.items() if name in known}
    if "state" in body:
        body["state"] = State(body["state"])
    if "remark" in known:
        body["remark"] = _remark(entry.body)
    return deal(**{**body, "version": entry.version})


def _remark(body: Mapping[str, Any]) -> Remark | None:
    """The remark in an entry; one from before there were remarks has a word alone."""
    if body.get("remark") is not None:
        return Remark(**body["remark"])
    if body.get("word") is None:
        return None
    return Remark(WAITS if body["state"] in OPEN else body["state"], body["word"])


def written(deal: Quote | Order | Message) -> Write:
    """Its next version."""
    body = {name: value for name, value in asdict(deal).items() if name != "version"}
    return put(_KINDS[type(deal)], deal.id, deal.version + 1, body)
