"""The choice among offers, one per task for ever (axp 7.3; requirements A58 to A64).

Rules this module applies:

- an offer is chosen where its time is within the limit, the mandate allows `offer.accept` over it, and the day's
  choices (UTC) with it are within the budget: the cheapest (or fastest), ties by the other value, then by their order;
- none allowed but some held: the best of those waits for the owner. `person`: the best one always waits;
- the choice, its decision, the seller's unsigned offer as evidence and the call that says so are one commit, made while
  nobody else chooses: so the budget holds, however many processes look at offers.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any, Final

from a202_mcp.axp.book import happened, insert, put
from a202_mcp.axp.buying import CHOICE, OFFERS, Offered
from a202_mcp.axp.inbox_items import close_items, tell
from a202_mcp.axp.mandates import BUYER, BUYER_ACTIONS
from a202_mcp.axp.outbox_rows import enqueue
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

CHOOSING, CHOSEN, ACCEPTED_STATE, DISPUTED = "choosing", "chosen", "accepted", "disputed"


@dataclass(frozen=True, slots=True)
class _Candidate:
    offer: Offered
    matter: Matter
    verdict: Ruling


def decide(view: View, task_id: str, settled: Write) -> Plan:
    """Choose, ask the owner, or do nothing. `settled` marks the step as done."""
    kept = view.store.item(OFFERS, task_id)
    if kept is None or kept["choose_url"] is None or view.store.item(CHOICE, task_id) is not None:
        return Plan(writes=(settled,))
    trade = view.store.item("trade", f"buyer:{task_id}")
    transaction_id = trade["transaction_id"] if trade else Prefix.TRANSACTION.minted(view.mint())
    now = view.now(transaction_id)
    new = () if trade else (insert("trade", f"buyer:{task_id}", {"transaction_id": transaction_id}),)
    candidates = _candidates(view, task_id, transaction_id, kept["offers"], now)
    by_person = view.settings.buyer.choose == "person"
    for candidate in candidates:
        if candidate.verdict.allows and not by_person and within_budget(
                view, candidate.offer.price, candidate.verdict.at):
            plan = choice(view, task_id, candidate.offer, candidate.matter, candidate.verdict)
            return _with(plan, (settled, *new))
    for candidate in candidates:
        held = candidate.verdict.decision is Decision.REQUIRE_APPROVAL
        if held or (by_person and candidate.verdict.allows):
            return _with(_asked(view, task_id, candidate), (settled, *new))
    return Plan(writes=(settled, happened(task_id, format_instant(now), "none of the offers may be chosen")))


def choice(view: View, task_id: str, offer: Offered, matter: Matter, verdict: Ruling) -> Plan:
    """The choice, its decision, the seller's unsigned offer as evidence, and the call that says so."""
    kept, now = view.store.item(OFFERS, task_id) or {}, verdict.at
    scribe = scribe_of(view, matter, now)
    seen = scribe.evidence(
        EvidenceType.ATTESTATION,
        f"one_sided choice of the exchange's offer {ascii(offer.offer_id)[1:-1]}; stated by the exchange, unsigned by "
        f"the seller", kept["request"], verified=True)
    chosen = {**matter.document, **offer.document, "state": CHOOSING, "round": 0,
              "day": now.date().isoformat(), "choose_url": kept["choose_url"]}
    body = {"url": kept["choose_url"], "json": {"offer_id": offer.offer_id}}
    return Plan(
        transaction_id=matter.transaction_id, drafts=(scribe.decision(verdict), seen), acts=(verdict.act,),
        writes=(insert(CHOICE, task_id, chosen), enqueue(CHOOSE, task_id, 0, body, view.stamp()),
                close_items("choice", task_id, "settled"), happened(task_id, format_instant(now), "chosen")))


def within_budget(view: View, price: Decimal, now: datetime) -> bool:
    """True where the day's choices (UTC) and this one are within the budget."""
    budget = view.settings.buyer.daily_budget
    if budget is None:
        return True
    today = view.store.items_where(CHOICE, "day", (now.date().isoformat(),)).values()
    return sum((Decimal(each["price"]) for each in today), price) <= budget


def _matter(view: View, task_id: str, transaction_id: str, offer: Offered) -> Matter:
    """What choosing an offer is about."""
    terms = task_terms(task_id, f"Request {task_id}", "task", offer.price, offer.eta_minutes, None)
    return Matter(transaction_id, BUYER, view.counterparty(offer.seller_id, task_id), terms)


def _candidates(
    view: View, task_id: str, transaction_id: str, kept: list[dict[str, Any]], now: datetime,
) -> list[_Candidate]:
    """The offers in the order in which they would be chosen, each with its verdict."""
    offers = [offer for each in kept if (offer := Offered.of(each)).eta_minutes
              <= view.settings.buyer.max_eta_minutes]
    fastest = view.settings.buyer.choose == "fastest"
    offers.sort(key=lambda offer: (offer.eta_minutes, offer.price) if fastest else (offer.price, offer.eta_minutes))
    found = []
    for offer in offers[:MOST_OFFERS]:
        matter = _matter(view, task_id, transaction_id, offer)
        found.append(_Candidate(offer, matter, judge(view, matter, OFFER_ACCEPT, now)))
    return found


def _asked(view: View, task_id: str, candidate: _Candidate) -> Plan:
    """The best offer that needs the owner, in the inbox once."""
    offer, matter = candidate.offer, candidate.matter
    action_hash = candidate.verdict.act.action_hash
    if view.store.item("refused", action_hash) is not None:
        return Plan()
    now = candidate.verdict.at
    at = format_instant(now)
    body = {**matter.document, "offer": offer.document, "actions": list(BUYER_ACTIONS)}
    held = candidate.verdict.decision is Decision.REQUIRE_APPROVAL
    return Plan(
        transaction_id=matter.transaction_id if held else None,
        drafts=(scribe_of(view, matter, now).decision(candidate.verdict),) if held else (),
        acts=(candidate.verdict.act,) if held else (),
        writes=(
            put("refused", action_hash, {"decision": candidate.verdict.decision.value, "item": ""}),
            close_items("choice", task_id, "superseded"),
            tell(f"c{view.mint()[:10]}", "choice", task_id, at,
                 f"{offer.price} USD, {offer.eta_minutes} minutes, offer {offer.offer_id}: approve it to choose it",
                 body),
            happened(task_id, at, "a choice waits for the owner")))


def _with(plan: Plan, writes: tuple[Write, ...]) -> Plan:
    return Plan(plan.answer, plan.error, plan.transaction_id, plan.drafts, plan.acts, writes + plan.writes)
