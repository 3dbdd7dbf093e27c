"""receive_offers: what is offered to us, and whether we may choose among it (axp 7.3; requirements A58, A59, A63, A67).

Rules this module applies:

- the answer is `received` at once; choosing is a step of the outbox, so that it survives a restart;
- only a well-formed offer counts: its price a decimal with cents, its time within bounds;
- tasks are listed by the owner unless any may be bought; a choose_url of another origin is never called: both wait for
  the owner. `also_sell` does nothing;
- the same list again leaves nothing: the latest one is looked at again, since the mandate, the budget or the day may be
  another;
- of one task one choice waits for the owner at a time, and what was rejected is not asked for again. A list from which
  nothing may be chosen closes no choice that waits.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final

from a202_mcp.axp.arguments import Call, is_id
from a202_mcp.axp.book import happened, put
from a202_mcp.axp.inbox_items import InboxItem, item_moves, tell
from a202_mcp.axp.outbox_rows import step
from a202_mcp.axp.pricing import CENT, HIGHEST, LONGEST
from a202_mcp.axp.reading import as_integer, fingerprint
from a202_mcp.axp.view import Plan, View
from a202_mcp.one_owner.book import Write
from a202_mcp.one_owner.scribe import fresh_salt, salted_hash
from a202_reference.times import format_instant

OFFERS: Final = "offers"
"""The kind under which the latest offers for a task are remembered."""
CHOICE: Final = "choice"
"""The kind under which the one choice for a task is remembered, and that of what waits because of it."""
LISTED: Final = "listed"
DECIDE: Final = "decide"

FOREIGN: Final = "offers whose choose_url is not the exchange's: nothing was sent there"
UNLISTED: Final = "offers for a task that is not listed: `member task add` lists it"
_ASKED: Final = ("offer", "choose_url", "list")
"""The members of an inbox item that make it the same question."""


@dataclass(frozen=True, slots=True)
class Offered:
    """One well-formed offer for a task of ours."""

    offer_id: str
    seller_id: str | None
    price: Decimal
    eta_minutes: int

    @property
    def document(self) -> dict[str, Any]:
        """As it is kept: the price as text."""
        return {"offer_id": self.offer_id, "seller_id": self.seller_id, "price": format(self.price, "f"),
                "eta_minutes": self.eta_minutes}

    @classmethod
    def of(cls, kept: Mapping[str, Any]) -> Offered:
        """The kept offer."""
        return cls(kept["offer_id"], kept["seller_id"], Decimal(kept["price"]), kept["eta_minutes"])


def receive_offers(view: View, call: Call) -> Plan:
    """Received. What follows is decided afterwards."""
    received = {"received": True}
    offers = [offer for entry in call.arguments["offers"] if (offer := _read(entry)) is not None]
    if call.test or not offers or view.store.item(CHOICE, call.task_id) is not None:
        return Plan(received)
    at, before = format_instant(view.now()), view.store.item(OFFERS, call.task_id)
    choose_url = view.settings.exchange.origin.given(call.arguments["choose_url"])
    mark = fingerprint([[offer.document for offer in offers], call.arguments["choose_url"]])
    writes: list[Write] = []
    if before is None or before.get("list") != mark:
        random = fresh_salt()
        kept = {"offers": [offer.document for offer in offers], "choose_url": choose_url, "list": mark,
                "request": salted_hash(random, call.raw), "salt": random.hex()}
        writes += [put(OFFERS, call.task_id, kept), happened(call.task_id, at, f"received {len(offers)} offers")]
    if choose_url is None or not may_buy(view, call.task_id):
        writes += ask(view, call.task_id, at, FOREIGN if choose_url is None else UNLISTED, {"list": mark})
    else:
        writes.append(step(DECIDE, call.task_id, 0, {}, view.stamp()))
    return Plan(received, writes=tuple(writes))


def may_buy(view: View, task_id: str) -> bool:
    """True where the configuration lets us choose for this task."""
    return view.settings.buyer.only_tasks == "any" or view.store.item(LISTED, task_id) is not None


def list_task(view: View, task_id: str) -> Plan:
    """The owner lists a task; offers that came before are decided now, and what waits for another reason goes on."""
    kept = view.store.item(OFFERS, task_id)
    writes = [put(LISTED, task_id, {}),
              *(item_moves(item, "listed") for item in waiting(view, task_id) if item.detail == UNLISTED)]
    if kept is not None and kept["choose_url"] is not None:
        writes.append(step(DECIDE, task_id, 0, {}, view.stamp()))
    return Plan(writes=tuple(writes))


def ask(view: View, task_id: str, at: str, detail: str, body: Mapping[str, Any]) -> tuple[Write, ...]:
    """A question for the owner in place of what waits; nothing where it is this one, or was rejected."""
    if question(body) in questions(view, task_id, "open", "rejected"):
        return ()
    over = [item for item in waiting(view, task_id) if "offer" in body or "offer" not in item.body]
    return (*(item_moves(item, "superseded") for item in over),
            tell(f"c{view.mint()[:10]}", CHOICE, task_id, at, detail, body),
            happened(task_id, at, "a choice waits for the owner"))


def waiting(view: View, task_id: str) -> list[InboxItem]:
    """What waits for the owner because of offers for a task."""
    return [item for item in view.store.inbox_about(CHOICE, task_id) if item.status == "open"]


def questions(view: View, task_id: str, *statuses: str) -> set[str]:
    """What the owner was asked about a task, as far as it has one of these statuses."""
    return {question(item.body) for item in view.store.inbox_about(CHOICE, task_id) if item.status in statuses}


def question(body: Mapping[str, Any]) -> str:
    """What makes two questions one."""
    return fingerprint([body.get(name) for name in _ASKED])


def _read(entry: object) -> Offered | None:
    """A well-formed offer, or None."""
    if not isinstance(entry, Mapping) or not is_id(entry.get("offer_id")):
        return None
    price, eta = entry.get("price_usd"), as_integer(entry.get("eta_minutes"))
    if not isinstance(price, Decimal) or not 0 <= price <= HIGHEST or price != price.quantize(CENT):
        return None
    if eta is None or not 1 <= eta <= LONGEST:
        return None
    seller = entry.get("seller")
    seller_id = seller.get("id") if isinstance(seller, Mapping) else None
    return Offered(str(entry["offer_id"]), seller_id if is_id(seller_id) else None, price.quantize(CENT), eta)
