"""The choice among offers, one per task for ever (axp 7.3; requirements A58 to A64).

Rules this module applies:

- an offer is chosen where its time is within the limit, the mandate allows `offer.accept` over it, and the day's
  choices (UTC) with it are within the budget: the cheapest (or fastest), ties by the other value, then by their order;
- none allowed but some held: the best of those waits for the owner, within the same budget. `person`: the best one
  always waits. An offer that the owner rejected is out;
- what waits holds whatever carrying it out needs: the offer, where to choose it, and the list it came in. Later lists
  change nothing of it;
- the choice, its decision, the seller's unsigned offer as evidence and the call that says so are one commit, made while
  nobody else chooses: so the budget holds, however many processes look at offers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from typing import Any, Final

from a202_mcp.axp.book import happened, insert, put
from a202_mcp.axp.buying import CHOICE, OFFERS, Offered, ask, question, questions
from a202_mcp.axp.inbox_items import close_items
from a202_mcp.axp.mandates import BUYER, BUYER_ACTIONS
from a202_mcp.axp.outbox_rows import effect
from a202_mcp.axp.record import Matter, judge, scribe_of, task_terms
from a202_mcp.axp.view import Plan, View
from a202_mcp.one_owner.book import Write
from a202_mcp.one_owner.ruling import Ruling
from a202_reference.codes import Decision
from a202_reference.identifiers import Prefix
from a202_reference.lifecycle.acts import OFFER_ACCEPT
from a202_reference.registries import EvidenceType
from a202_reference.times import format_instant

CHOOSE: Final = "choose"
MOST_OFFERS: Final = 200

CHOOSING, CHOSEN = "choosing", "chosen"
ACCEPTING, ACCEPTED_STATE = "accepting", "accepted"
DISPUTING, DISPUTED = "disputing", "disputed"


@dataclass(frozen=True, slots=True)
class Pick:
    """One offer with all that choosing it takes. request: the salted hash of the list that it came in."""

    offer: Offered
    matter: Matter
    choose_url: str
    request: str
    salt: str

    @property
    def document(self) -> dict[str, Any]:
        """As what waits for the owner keeps it."""
        return {**self.matter.document, "offer": self.offer.document, "choose_url": self.choose_url,
                "request": self.request, "salt": self.salt, "actions": list(BUYER_ACTIONS)}

    @classmethod
    def of(cls, kept: Mapping[str, Any]) -> Pick:
        """The kept one."""
        return cls(Offered.of(kept["offer"]), Matter.of(kept), kept["choose_url"], kept["request"], kept["salt"])


@dataclass(frozen=True, slots=True)
class _Candidate:
    pick: Pick
    verdict: Ruling

    def waits(self, by_person: bool) -> bool:
        """True where the owner may release it."""
        return self.verdict.decision is Decision.REQUIRE_APPROVAL or (by_person and self.verdict.allows)


def decide(view: View, task_id: str, settled: tuple[Write, ...]) -> Plan:
    """Choose, ask the owner, or do nothing. `settled` marks the step as done."""
    kept = view.store.item(OFFERS, task_id)
    if kept is None or kept["choose_url"] is None or view.store.item(CHOICE, task_id) is not None:
        return Plan(writes=settled)
    trade = view.store.item("trade", f"buyer:{task_id}")
    transaction_id = trade["transaction_id"] if trade else Prefix.TRANSACTION.minted(view.mint())
    now = view.now(transaction_id)
    new = () if trade else (insert("trade", f"buyer:{task_id}", {"transaction_id": transaction_id}),)
    candidates = _candidates(view, task_id, transaction_id, kept, now)
    by_person = view.settings.buyer.choose == "person"
    allowed = next((each for each in candidates if each.verdict.allows and not by_person), None)
    if allowed is not None:
        return _with(choice(view, task_id, allowed.pick, allowed.verdict), (*settled, *new))
    held = next((each for each in candidates if each.waits(by_person)), None)
    if held is not None:
        return _with(_asked(view, task_id, held), (*settled, *new))
    return Plan(writes=(*settled, *_none(task_id, kept, now)))


def choice(view: View, task_id: str, pick: Pick, verdict: Ruling) -> Plan:
    """The choice, its decision, the seller's unsigned offer as evidence, and the call that says so."""
    offer, matter, now = pick.offer, pick.matter, verdict.at
    scribe = scribe_of(view, matter, now)
    seen = scribe.evidence(
        EvidenceType.ATTESTATION,
        f"one_sided choice of the exchange's offer {ascii(offer.offer_id)[1:-1]}; stated by the exchange, unsigned by "
        f"the seller", pick.request, verified=True)
    at = format_instant(now)
    chosen = {**matter.document, **offer.document, "state": CHOOSING, "round": 0, "day": now.date().isoformat(),
              "chosen_at": at, "choose_url": pick.choose_url}
    body = {"url": pick.choose_url, "json": {"offer_id": offer.offer_id}}
    return Plan(
        transaction_id=matter.transaction_id, drafts=(scribe.decision(verdict), seen), acts=(verdict.act,),
        writes=(insert(CHOICE, task_id, chosen), insert("salt", seen.id, {"salt": pick.salt}),
                effect(CHOOSE, task_id, 0, body, view.stamp()), close_items(CHOICE, task_id, "settled"),
                happened(task_id, at, "chosen")))


def left_today(view: View, now: datetime) -> Decimal | None:
    """What the day's choices (UTC) leave of the budget; None where there is none. Read with the choice it is for."""
    budget = view.settings.buyer.daily_budget
    if budget is None:
        return None
    today = view.store.items_where(CHOICE, "day", (now.date().isoformat(),)).values()
    return budget - sum((Decimal(each["price"]) for each in today), Decimal(0))


def _candidates(
    view: View, task_id: str, transaction_id: str, kept: Mapping[str, Any], now: datetime,
) -> list[_Candidate]:
    """The offers that are within time and budget, in the order in which they would be chosen, with their verdicts."""
    left, most_minutes = left_today(view, now), view.settings.buyer.max_eta_minutes
    offers = [offer for each in kept["offers"] if (offer := Offered.of(each)).eta_minutes <= most_minutes
              and (left is None or offer.price <= left)]
    fastest = view.settings.buyer.choose == "fastest"
    offers.sort(key=lambda offer: (offer.eta_minutes, offer.price) if fastest else (offer.price, offer.eta_minutes))
    rejected = questions(view, task_id, "rejected")
    came_in = (kept["choose_url"], kept["request"], kept["salt"])
    picks = (Pick(offer, _matter(view, task_id, transaction_id, offer), *came_in) for offer in offers[:MOST_OFFERS])
    return [_Candidate(pick, judge(view, pick.matter, OFFER_ACCEPT, now)) for pick in picks
            if question(pick.document) not in rejected]


def _matter(view: View, task_id: str, transaction_id: str, offer: Offered) -> Matter:
    """What choosing an offer is about."""
    terms = task_terms(task_id, f"Request {task_id}", "task", offer.price, offer.eta_minutes, None)
    return Matter(transaction_id, BUYER, view.counterparty(offer.seller_id, task_id), terms)


def _asked(view: View, task_id: str, candidate: _Candidate) -> Plan:
    """The best offer that needs the owner, in the inbox while it waits; a hold is recorded."""
    pick, verdict = candidate.pick, candidate.verdict
    offer, matter, now = pick.offer, pick.matter, verdict.at
    writes = ask(
        view, task_id, format_instant(now),
        f"{offer.price} USD, {offer.eta_minutes} minutes, offer {offer.offer_id}: approve it to choose it",
        pick.document)
    if not writes or verdict.allows:
        return Plan(writes=writes)
    return Plan(
        transaction_id=matter.transaction_id, drafts=(scribe_of(view, matter, now).decision(verdict),),
        acts=(verdict.act,), writes=writes)


def _none(task_id: str, kept: Mapping[str, Any], now: datetime) -> tuple[Write, ...]:
    """None may be chosen: said once for each list."""
    if kept.get("none"):
        return ()
    return (put(OFFERS, task_id, {**kept, "none": True}),
            happened(task_id, format_instant(now), "none of the offers may be chosen"))


def _with(plan: Plan, writes: tuple[Write, ...]) -> Plan:
    return replace(plan, writes=writes + plan.writes)
