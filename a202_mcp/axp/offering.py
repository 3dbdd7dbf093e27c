"""Rows 8 to 10 of a quote: what the mandate says of a priced request (axp 7.1, 8; requirements A30, A40 to A42).

Rules this module applies:

- allowed: the request as evidence, the decision and the signed offer are recorded with the answer that is given, and
  the same live quote again gets the same offer;
- denied and held read alike to the exchange, and show no limit, floor, budget, mandate or code; the true reason stays
  in a private decision, and a hold waits for the owner once.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any, Final

from a202_mcp.axp.arguments import Call
from a202_mcp.axp.book import happened, insert, put
from a202_mcp.axp.book import replace as replace_item
from a202_mcp.axp.capacity import availability
from a202_mcp.axp.inbox_items import close_items, tell
from a202_mcp.axp.mandates import FREE, SELLER, SELLER_ACTIONS
from a202_mcp.axp.pricing import Priced
from a202_mcp.axp.reading import fingerprint
from a202_mcp.axp.record import Matter, judge, scribe_of, statement, task_terms
from a202_mcp.axp.settings import Skill
from a202_mcp.axp.view import Plan, View
from a202_mcp.one_owner.ruling import Ruling
from a202_mcp.one_owner.scribe import fresh_salt, reference
from a202_reference.codes import Decision
from a202_reference.identifiers import Prefix
from a202_reference.lifecycle.acts import OFFER_SUBMIT
from a202_reference.times import format_instant, parse_instant

OFFERED: Final = "offered"
"""The kind under which the latest offer for a task is remembered."""
TRADE: Final = "trade"
"""The kind under which a task's transaction is remembered, by role and task."""

NOT_ABLE: Final = "not able to take this task"


@dataclass(frozen=True, slots=True)
class Asked:
    """What is asked for, once it is listed and priced."""

    call: Call
    skill: Skill
    priced: Priced
    free: bool

    @property
    def price(self) -> Decimal:
        """The price of this request: 0 for free work."""
        return Decimal("0.00") if self.free else self.priced.price


def decide_offer(view: View, asked: Asked) -> Plan:
    """Rows 8 to 10 of a live quote."""
    matter, fresh = _matter(view, asked)
    verdict = judge(view, matter, OFFER_SUBMIT, view.now(matter.transaction_id))
    task_id = asked.call.task_id
    trade = () if not fresh else (insert(TRADE, f"seller:{task_id}", {"transaction_id": matter.transaction_id}),)
    planned = _offered(view, asked, matter, verdict) if verdict.allows \
        else _refused(view, asked, matter, verdict)
    return replace(planned, writes=trade + planned.writes) if planned.drafts else planned


def live_offer(view: View, task_id: str) -> dict[str, Any] | None:
    """Our latest offer for a task while it is valid, or None."""
    kept = view.store.item(OFFERED, task_id)
    until = None if kept is None else parse_instant(kept["valid_until"])
    return kept if until is not None and view.now() < until else None


def request_mark(view: View, call: Call) -> str:
    """What makes two requests one: everything that the offer depends on."""
    named = ("task_type", "params", "payment_method", "deadline_minutes", "acceptance_checks")
    other = view.counterparty(_buyer_id(call.arguments.get("buyer")), call.task_id)
    return fingerprint([*(call.arguments.get(name) for name in named), other.organization_id])


def answer_of(view: View, asked: Asked, valid_until: datetime) -> dict[str, Any]:
    """Row 10: what a priced request is answered, live or as a test."""
    guarantee = view.settings.seller.guarantee
    return {
        "price_usd": asked.price,
        "eta_minutes": asked.priced.eta_minutes,
        "valid_until": format_instant(valid_until),
        "availability": availability(view, asked.skill),
        **({} if guarantee is None else {"guarantee": guarantee.document}),
    }


def decline(code: str, reason: str) -> Plan:
    """A decline, and nothing that is recorded of it."""
    return Plan({"decline": True, "reason_code": code, "reason": reason})


def _matter(view: View, asked: Asked) -> tuple[Matter, bool]:
    """What the act is about; True where the task has no transaction yet."""
    task_id = asked.call.task_id
    trade = view.store.item(TRADE, f"seller:{task_id}")
    transaction_id = Prefix.TRANSACTION.minted(view.mint()) if trade is None else str(trade["transaction_id"])
    terms = task_terms(
        task_id, asked.skill.description, asked.skill.task_type, asked.price, asked.priced.eta_minutes,
        view.settings.seller.guarantee)
    other = view.counterparty(_buyer_id(asked.call.arguments.get("buyer")), task_id)
    return Matter(transaction_id, FREE if asked.free else SELLER, other, terms), trade is None


def _offered(view: View, asked: Asked, matter: Matter, verdict: Ruling) -> Plan:
    """Row 10: the request as evidence, the allow, the signed offer."""
    call, now = asked.call, verdict.at
    scribe = scribe_of(view, matter, now)
    before = view.store.item(OFFERED, call.task_id)
    valid_until = now + timedelta(minutes=view.settings.seller.valid_minutes)
    random = fresh_salt()
    request = statement(
        scribe, f"quote request for task {_named(call.task_id)}, signed by the exchange, not by the buyer", random,
        call.raw)
    offer = scribe.offer(
        matter.other, before["session_id"] if before else Prefix.SESSION.minted(view.mint()),
        format_instant(valid_until), matter.terms, [reference(request)], before["offer_id"] if before else None)
    answer = answer_of(view, asked, valid_until)
    kept = {
        **matter.document,
        "request": request_mark(view, call), "answer": answer, "valid_until": format_instant(valid_until),
        "task_type": asked.skill.task_type, "params": fingerprint(call.mapping("params")),
        "price": format(asked.price, "f"), "eta_minutes": asked.priced.eta_minutes, "paid": not asked.free,
        "session_id": offer.body["payload"]["session_id"], "offer_id": offer.id, "offer_hash": offer.content_hash,
        "salt": random.hex(),
        "guarantee": None if view.settings.seller.guarantee is None else view.settings.seller.guarantee.document,
    }
    return Plan(
        answer, transaction_id=matter.transaction_id, drafts=(request, scribe.decision(verdict), offer),
        acts=(verdict.act,), writes=(
            replace_item(OFFERED, call.task_id, before, kept),
            close_items("quote", call.task_id, "used"),
            happened(call.task_id, format_instant(now), "offered")))


def _refused(view: View, asked: Asked, matter: Matter, verdict: Ruling) -> Plan:
    """Rows 8 and 9: the true reason stays in a private decision; a hold waits for the owner."""
    call, now = asked.call, verdict.at
    declined = decline("other", NOT_ABLE)
    if view.identity.party(matter.use) is None:
        return declined
    action_hash, mark = verdict.act.action_hash, {"decision": verdict.decision.value}
    asks = verdict.decision is Decision.REQUIRE_APPROVAL and not _is_asked(view, call.task_id, action_hash)
    if view.store.item("refused", action_hash) == mark and not asks:
        return declined
    scribe = scribe_of(view, matter, now)
    writes = [put("refused", action_hash, mark),
              happened(call.task_id, format_instant(now), "declined by the mandate")]
    if asks:
        writes.append(tell(
            f"q{view.mint()[:10]}", "quote", call.task_id, format_instant(now),
            f"{asked.skill.task_type} for {asked.price} USD, {asked.priced.eta_minutes} minutes: approve it, and it is "
            f"offered when the exchange asks again",
            {**matter.document, "actions": list(SELLER_ACTIONS), "action_hash": action_hash}))
    return replace(
        declined, transaction_id=matter.transaction_id, drafts=(scribe.decision(verdict),), acts=(verdict.act,),
        writes=tuple(writes))


def _is_asked(view: View, task_id: str, action_hash: str) -> bool:
    """True where this very act waits for the owner, or was rejected. An approval that is used up or past asks anew."""
    return any(item.status in ("open", "rejected") and item.body.get("action_hash") == action_hash
               for item in view.store.inbox_about("quote", task_id))


def _buyer_id(buyer: object) -> str | None:
    """The id a buyer goes by, or None for an anonymous one."""
    named = buyer.get("id") if isinstance(buyer, Mapping) else None
    return named if isinstance(named, str) and named and named != "anonymous" else None


def _named(task_id: str) -> str:
    """A task's id inside a claim of ours: printable ASCII."""
    return ascii(task_id)[1:-1]
