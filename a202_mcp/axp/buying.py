"""receive_offers: what is offered to us, and whether we may choose among it (axp 7.3; requirements A58, A59, A63, A67).

Rules this module applies:

- the answer is `received` at once; choosing is a step of the outbox, so that it survives a restart;
- only a well-formed offer counts: its price a decimal with cents, its time within bounds;
- tasks are listed by the owner unless any may be bought; a choose_url of another origin is never called: both wait for
  the owner. `also_sell` does nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final

from a202_mcp.axp.arguments import Call, is_id
from a202_mcp.axp.book import happened, put
from a202_mcp.axp.inbox_items import close_items, tell
from a202_mcp.axp.outbox_rows import enqueue
from a202_mcp.axp.pricing import CENT, HIGHEST, LONGEST
from a202_mcp.axp.reading import as_integer
from a202_mcp.axp.view import Plan, View
from a202_mcp.one_owner.scribe import fresh_salt, salted_hash
from a202_reference.times import format_instant

OFFERS: Final = "offers"
"""The kind under which the latest offers for a task are remembered."""
CHOICE: Final = "choice"
"""The kind under which the one choice for a task is remembered."""
LISTED: Final = "listed"
DECIDE: Final = "decide"


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
    random, round_ = fresh_salt(), 1 if before is None else before["round"] + 1
    kept = {"offers": [offer.document for offer in offers], "choose_url": choose_url, "round": round_,
            "request": salted_hash(random, call.raw), "salt": random.hex()}
    writes = [put(OFFERS, call.task_id, kept), happened(call.task_id, at, f"received {len(offers)} offers")]
    if choose_url is None:
        writes.append(tell(f"o{view.mint()[:10]}", "choice", call.task_id, at,
                           "offers whose choose_url is not the exchange's: nothing was sent there"))
    elif not may_buy(view, call.task_id):
        writes.append(tell(f"o{view.mint()[:10]}", "choice", call.task_id, at,
                           "offers for a task that is not listed: `member task add` lists it"))
    else:
        writes.append(enqueue(DECIDE, call.task_id, round_, {}, view.stamp()))
    return Plan(received, writes=tuple(writes))


def may_buy(view: View, task_id: str) -> bool:
    """True where the configuration lets us choose for this task."""
    return view.settings.buyer.only_tasks == "any" or view.store.item(LISTED, task_id) is not None


def list_task(view: View, task_id: str) -> Plan:
    """The owner lists a task; offers that came before are decided now."""
    kept = view.store.item(OFFERS, task_id)
    writes = [put(LISTED, task_id, {}), close_items("choice", task_id, "listed")]
    if kept is not None and kept["choose_url"] is not None:
        writes.append(enqueue(DECIDE, task_id, kept["round"], {}, view.stamp()))
    return Plan(writes=tuple(writes))


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
