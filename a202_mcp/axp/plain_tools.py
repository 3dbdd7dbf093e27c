"""contact_test, get_skills, announcement, mediation, review: answers that promise nothing (spec 5).

Rules this module applies:

- contact_test keeps no state; a foreign member id in the arguments is a tool error;
- get_skills lists exactly what quote prices;
- an announcement counts once by its id; its text is kept and shown, never followed;
- a mediation statement is facts of our record: what was agreed, what was delivered when, its hash, the checks. Nothing
  of what the owner or the mandate decided is in it, and no opinion on anybody's text. It is at most 4000 characters
  long, in whole sentences, the facts that matter most first; and made once for each mediation;
- a review is answered once per task and role; a repeat gets the same answer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from itertools import accumulate, takewhile
from typing import Any, Final

from a202_mcp.axp.arguments import Call
from a202_mcp.axp.book import happened, insert
from a202_mcp.axp.buying import CHOICE
from a202_mcp.axp.capacity import SOLD
from a202_mcp.axp.inbox_items import tell
from a202_mcp.axp.pricing import typical
from a202_mcp.axp.signing import sign
from a202_mcp.axp.view import Plan, View
from a202_reference.times import format_instant
from a202_reference.wire import has_lone_surrogate

STATEMENT_LIMIT: Final = 4000
RECEIVED: Final = Plan({"received": True})


def contact_test(view: View, call: Call) -> Plan:
    """The nonce, and our signature over it."""
    key, nonce = view.credentials.platform_key, str(call.arguments["nonce"])
    if call.arguments["member_id"] != view.credentials.member_id:
        return Plan(error="member_id: is not this member")
    if key is None or has_lone_surrogate(nonce):
        return Plan(error="nonce: must be text that UTF-8 can write")
    return Plan({"nonce": nonce, "signature": sign(key, b"contact_test." + nonce.encode("utf-8"))})


def get_skills(view: View, _: Call) -> Plan:
    """The skills of the configuration."""
    return Plan({"skills": skill_list(view)})


def skill_list(view: View) -> list[dict[str, Any]]:
    """The skills as the exchange lists them."""
    listed = []
    for skill in view.settings.skills.values():
        price, eta = typical(skill)
        listed.append({"task_type": skill.task_type, "description": skill.description, "min_price_usd": price,
                       "typical_eta_minutes": eta})
    return listed


def announcement(view: View, call: Call) -> Plan:
    """Received; kept once."""
    named = str(call.arguments["announcement_id"])
    if call.test or view.store.item("announcement", named) is not None:
        return RECEIVED
    at = format_instant(view.now())
    kept = {name: call.text(name) for name in ("title", "body", "severity", "reply_to")}
    urgent = call.text("severity") == "action_required"
    return Plan(RECEIVED.answer, writes=(
        insert("announcement", named, {**kept, "at": at}),
        tell(f"n{view.mint()[:10]}", "announcement", "", at, f"{kept['title']}: {kept['body']}",
             status="open" if urgent else "info")))


def mediation(view: View, call: Call) -> Plan:
    """A statement of what our record holds."""
    named = str(call.arguments["mediation_id"])
    kept = None if call.test else view.store.item("mediation", named)
    if kept is not None:
        return Plan(kept["answer"])
    role, dispute = call.text("your_role"), call.arguments["kind"] == "dispute"
    task = view.store.item(SOLD if role == "seller" else CHOICE, call.task_id)
    answer = {
        "statement": whole_sentences(_facts(str(role), task), STATEMENT_LIMIT),
        "proposed_refund_pct": _refund(call, task) if dispute and role == "seller" else None,
    }
    if call.test:
        return Plan(answer)
    at = format_instant(view.now())
    return Plan(answer, writes=(
        insert("mediation", named, {"task_id": call.task_id, "answer": answer, "at": at}),
        happened(call.task_id, at, "stated our side to the mediator"),
        tell(f"m{view.mint()[:10]}", "dispute", call.task_id, at, f"mediation ({call.arguments['kind']}): "
             f"we stated the facts of our record; reason given: {call.text('reason') or 'none'}")))


def review(view: View, call: Call) -> Plan:
    """The configured review, or none."""
    setting = view.settings.review
    answer: dict[str, Any] = {"skip": True} if setting.rating is None else {
        "rating": setting.rating, **({"comment": setting.comment} if setting.comment else {})}
    key = f"{call.text('your_role')}:{call.task_id}"
    kept = view.store.item("review", key)
    if call.test or kept is not None:
        return Plan(answer if kept is None else kept["answer"])
    at = format_instant(view.now())
    return Plan(answer, writes=(insert("review", key, {"answer": answer, "at": at}),
                                happened(call.task_id, at, "answered a request for a review")))


def whole_sentences(sentences: Iterable[str], limit: int) -> str:
    """The first of these sentences that fit, each whole."""
    lengths = accumulate(sentences, lambda text, more: f"{text} {more}")
    return max(takewhile(lambda text: len(text) <= limit, lengths), key=len, default="")


def _facts(role: str, task: Mapping[str, Any] | None) -> list[str]:
    """What our record holds of a task that another side may know, by weight."""
    if task is None:
        return ["We hold no record of this task."]
    total, terms = task["terms"]["core"]["total"], task["terms"]["profile_terms"]
    agreed = f"We are the {role}. Agreed: {total['amount']} {total['currency']}, {terms['eta_minutes']} minutes."
    return [agreed, *(_SIDES[role](task))]


def _sold(task: Mapping[str, Any]) -> list[str]:
    deliveries = [f"Delivered at {each['at']}, round {each['round']}; SHA-256 of the content: {each['sha256']}."
                  for each in task.get("deliveries", ())]
    facts = [*deliveries[::-1], *([] if deliveries else ["No delivery has reached the exchange."])]
    if deliveries and task.get("checks_run"):
        facts.append(f"Acceptance checks that we ran before delivery, all passed: {', '.join(task['checks_run'])}.")
    return [*facts, f"Kind of task: {task['task_type']}.", *_dated("Taken", task.get("taken_at"))]


def _bought(task: Mapping[str, Any]) -> list[str]:
    looks = [f"Content fetched at {each['at']}, round {each['round']}: its SHA-256 is {each['sha256']}, "
             f"{'the stated one' if each['equal'] else 'which is not the stated one'}."
             for each in task.get("looks", ())]
    told = [f"The exchange stated a delivery at {each['at']}, round {each['round']}, with "
            + (f"SHA-256 {each['sha256']}." if each["sha256"] else "no usable hash.")
            for each in task.get("deliveries", ())]
    return [*looks[::-1], *told[::-1], *_dated("Chosen", task.get("chosen_at"))]


def _dated(what: str, at: str | None) -> list[str]:
    return [] if at is None else [f"{what} at {at}."]


def _refund(call: Call, task: Mapping[str, Any] | None) -> int | None:
    """100 where the exchange's checks failed and we guaranteed a refund; else no proposal."""
    result = call.mapping("task").get("check_result")
    failed = isinstance(result, Mapping) and result.get("passed") is False
    guarantee = (task or {}).get("guarantee")
    return 100 if failed and guarantee and guarantee["refund_if_fails_checks"] else None


_SIDES: Final[Mapping[str, Callable[[Mapping[str, Any]], list[str]]]] = {"seller": _sold, "buyer": _bought}
