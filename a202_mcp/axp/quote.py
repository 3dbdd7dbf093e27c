"""quote: a price, questions, or a decline (spec 7.1; requirements A30 to A43).

The rows of the page, in order; the first that applies answers, and a live call records only what it answers:

1 the kind of task is listed; 2 paid work, or free work is taken; 3 there is a place; 4 every needed param is there;
5 params can be priced; 6 the deadline can be met; 7 the checks can be met; 8 the mandate denies; 9 the mandate holds;
10 the price. A test skips rows 3, 4, 8 and 9. The same live quote again gets the same offer while it is valid.

Rows 1 to 7 stand here, in this order; what the mandate says, rows 8 to 10, in `offering`.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any, Final

from a202_mcp.axp.arguments import Call
from a202_mcp.axp.capacity import places_left
from a202_mcp.axp.checks import cannot_be_met
from a202_mcp.axp.offering import Asked, answer_of, decide_offer, decline, live_offer, request_mark
from a202_mcp.axp.pricing import Priced, missing_params, price_task
from a202_mcp.axp.reading import as_integer, holds_no_number
from a202_mcp.axp.view import Plan, View

FULL: Final = "no capacity right now: all places for this kind of task are taken"


def plan(view: View, call: Call) -> Plan:
    """What to answer, and what to record of it."""
    skill = view.settings.skills.get(call.arguments["task_type"])
    if skill is None:
        return decline("cannot_do", "this kind of task is not offered")
    free = call.text("payment_method") == "free"
    if free and not view.settings.seller.free_work:
        return decline("other", "paid work only")
    if not call.test:
        standing = live_offer(view, call.task_id)
        if standing is not None and standing["request"] == request_mark(view, call):
            return Plan(standing["answer"])
        if places_left(view, skill) < 1:
            return decline("no_capacity", FULL)
    params = call.mapping("params")
    missing = [] if call.test else missing_params(skill, params)
    if missing:
        return Plan({"clarify": True, "questions": _questions(missing)})
    priced = price_task(skill, params, test=call.test)
    refusal = _unpriceable(params, priced, free) or _late(call, priced) or _checks(call)
    if refusal is not None or not isinstance(priced, Priced):
        return refusal or decline("cannot_do", "this task cannot be priced")
    asked = Asked(call, skill, priced, free)
    if call.test:
        valid_until = view.now() + timedelta(minutes=view.settings.seller.valid_minutes)
        return Plan(answer_of(view, asked, valid_until))
    return decide_offer(view, asked)


def _unpriceable(params: Mapping[str, Any], priced: object, free: bool) -> Plan | None:
    """Row 5."""
    if holds_no_number(params):
        return decline("cannot_do", "a param holds a number that cannot be read")
    if not isinstance(priced, Priced):
        named = getattr(priced, "param", None)
        return decline("cannot_do", f"the param {named} is out of range" if named else "the task is too large")
    if not free and priced.price <= 0:
        return decline("cannot_do", "this task cannot be priced")
    return None


def _late(call: Call, priced: object) -> Plan | None:
    """Row 6."""
    deadline = as_integer(call.arguments.get("deadline_minutes"))
    if isinstance(priced, Priced) and deadline is not None and priced.eta_minutes > deadline:
        return decline("deadline", f"needs about {priced.eta_minutes} minutes")
    return None


def _checks(call: Call) -> Plan | None:
    """Row 7."""
    if cannot_be_met(call.mapping("acceptance_checks")):
        return decline("cannot_do", "the acceptance checks cannot be met")
    return None


def _questions(missing: list[str]) -> list[str]:
    """At most five questions that name the missing params."""
    shown = [f"What is the value of \"{name}\"?" for name in missing[:4]]
    rest = missing[4:]
    return [*shown, f"What are the values of: {', '.join(rest)}?"[:500]] if len(rest) > 1 else \
        [f"What is the value of \"{name}\"?" for name in missing]


