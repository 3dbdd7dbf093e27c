"""do_task: taking a task that was quoted and chosen (spec 7.2; requirements A44 to A57).

Rules this module applies:

- accepted only where we hold a live offer of ours with this task type, these params, this price, no shorter time, the
  exchange's own deliver_url, a place, and the mandate allows `agreement.sign` now; else false, and nothing is kept;
- a repeat of an accepted task starts nothing: the identical one is accepted again, a differing one is not;
- a test runs nothing: accepted for a listed skill.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Any, Final

from a202_mcp.axp.arguments import Call
from a202_mcp.axp.book import happened, insert
from a202_mcp.axp.capacity import ACCEPTED, SOLD, places_left
from a202_mcp.axp.checks import cannot_be_met
from a202_mcp.axp.mandates import AGREEMENT_SIGN
from a202_mcp.axp.offering import live_offer
from a202_mcp.axp.reading import as_integer, fingerprint, holds_no_number
from a202_mcp.axp.record import Matter, judge, scribe_of, statement
from a202_mcp.axp.view import Plan, View
from a202_mcp.one_owner.scribe import fresh_salt
from a202_reference.times import format_instant

_NOT_ACCEPTED: Final = Plan({"accepted": False})
_TAKEN: Final = Plan({"accepted": True})
_IDENTICAL: Final = ("task_type", "params", "price_usd", "eta_minutes", "deliver_url", "acceptance_checks")


def plan(view: View, call: Call) -> Plan:
    """Whether the task is taken, and what is recorded of it."""
    skill = view.settings.skills.get(call.arguments["task_type"])
    if call.test:
        return Plan({"accepted": skill is not None})
    same = fingerprint([call.arguments.get(name) for name in _IDENTICAL])
    taken = view.store.item(SOLD, call.task_id)
    if taken is not None:
        return _TAKEN if taken["same"] == same else _NOT_ACCEPTED
    deliver_url = view.settings.exchange.origin.given(call.arguments["deliver_url"])
    offer = live_offer(view, call.task_id)
    if skill is None or offer is None or deliver_url is None or not _agrees(offer, call):
        return _NOT_ACCEPTED
    if places_left(view, skill) < 1:
        return _NOT_ACCEPTED
    matter = Matter.of(offer)
    verdict = judge(view, matter, AGREEMENT_SIGN, view.now(matter.transaction_id))
    if not verdict.allows:
        return _NOT_ACCEPTED
    random, scribe = fresh_salt(), scribe_of(view, matter, verdict.at)
    order = statement(
        scribe, f"one_sided order of an exchange task on offer {offer['offer_id']} {offer['offer_hash']}; the "
        f"exchange's signature proves the exchange, not the buyer", random, call.raw)
    task = _task(call, offer, deliver_url, same, random) | {"taken_at": format_instant(verdict.at)}
    return Plan(
        {"accepted": True}, transaction_id=matter.transaction_id, drafts=(scribe.decision(verdict), order),
        acts=(verdict.act,), writes=(
            insert(SOLD, call.task_id, task), happened(call.task_id, format_instant(verdict.at), "taken")))


def _agrees(offer: dict[str, Any], call: Call) -> bool:
    """True where the task is the one that was offered."""
    eta = as_integer(call.arguments["eta_minutes"])
    return (
        offer["task_type"] == call.arguments["task_type"]
        and offer["params"] == fingerprint(call.mapping("params"))
        and Decimal(offer["price"]) == call.arguments["price_usd"]
        and eta is not None and offer["eta_minutes"] <= eta
        and not cannot_be_met(call.mapping("acceptance_checks"))
        and not holds_no_number(call.mapping("acceptance_checks")))


def _task(call: Call, offer: dict[str, Any], deliver_url: str, same: str, random: bytes) -> dict[str, Any]:
    """What is remembered of a taken task. round counts deliveries asked for, attempts the runs of this round."""
    return {
        "state": ACCEPTED, "same": same, "round": 0, "attempts": 0,
        **{name: offer[name] for name in ("transaction_id", "use", "other", "terms", "paid", "guarantee", "offer_id")},
        "task_type": call.arguments["task_type"], "description": call.text("description"),
        "params": call.mapping("params"), "acceptance_checks": call.mapping("acceptance_checks"),
        "eta_minutes": call.arguments["eta_minutes"], "deliver_url": deliver_url, "salt": random.hex(),
    }
