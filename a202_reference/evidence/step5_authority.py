"""Step 5, authority: who was allowed to do what was done (verification 1, step 5; rules 3, 4; design override 6).

Rules this module applies, for every policy decision in the set and for every act without one:

- `mandate_resolves`: the mandate an object was authored under, and all above it, are held and valid, and name its
  author; for a decision also every mandate it lists. Whoever signs, signs with the key its mandate names (D-8);
- `act_matches_object`: the act the decision was over is the act of the recorded object;
- `mandate_covers`: the one evaluation, over the carried act, at the instant of the append, does not deny;
- `mandate_active_at_append`: the mandates were in force then. A status answer covers an append where it was retrieved
  within 60 s of `evaluated_at` and that is within 60 s of the append; it is unsigned, so such a row says that it
  rests on what the acting party presented. No revocation record may speak against it (`A202-MANDATE-INACTIVE`);
- `policy_decision_permits`: it allows, was made by the author of what cites it, not later than that, and what asked
  for a person was approved by one, once. An approval over other bytes is `A202-APPROVAL-HASH-MISMATCH`; in a record
  that claims to be whole a missing approval is a failure, in any other it is not checkable;
- an event cites a decision over the same action hash; an offer, and an obligation, assertion or answer without event,
  has an allow over its act, or the check could not be made;
- a decision that denies stays private (`A202-DISCLOSURE-DENIED`).
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any, Final

from a202_reference.authority.evaluate import Evaluation
from a202_reference.codes import Code, Decision
from a202_reference.evidence.approvals import Releases
from a202_reference.evidence.decisions import Decisions
from a202_reference.evidence.entry import Entry
from a202_reference.evidence.inquiry import Inquiry
from a202_reference.evidence.mandated import signed_as_mandated
from a202_reference.evidence.rebuilding import ACTED
from a202_reference.evidence.report import VERIFIED, Judgement, failed, unknown
from a202_reference.evidence.step5_force import Force
from a202_reference.gate.reading import items, members
from a202_reference.registries import ObjectType
from a202_reference.times import parse_instant

_ILLEGAL: Final = Code.EVIDENCE_TRANSITION_ILLEGAL
_NO_ACT: Final = unknown("the act document behind this decision is not here")
_REFUSAL: Final = unknown("it allows nothing, and nothing here rests on it")
_PRIVATE: Final = frozenset({"private_to_actor", "operator_only"})


def check(inquiry: Inquiry, decisions: Decisions) -> None:
    """Run these checks over every object, every decision and every event."""
    for entry in inquiry.index.entries:
        inquiry.add(5, "mandate_resolves", entry.subject, mandate_resolves(entry, inquiry))
    authority = _Authority(inquiry, decisions)
    for decision in sorted(inquiry.index.of(ObjectType.POLICY_DECISION), key=authority.order):
        authority.judge(decision)
    for event in inquiry.index.of(ObjectType.TRANSACTION_EVENT):
        authority.judge_event(event)
    for kind in ACTED:
        for entry in inquiry.index.of(kind):
            authority.judge_act(entry)


def mandate_resolves(entry: Entry, inquiry: Inquiry) -> Judgement:
    """The author's mandate, and for a decision each one it lists, resolves and names the author."""
    listed = items(entry.payload.get("mandate_ids")) if entry.type is ObjectType.POLICY_DECISION else ()
    for mandate_id in (entry.author.mandate_id, *listed):
        resolved = inquiry.mandates.resolves(mandate_id)
        if resolved is not VERIFIED:
            missing = inquiry.mandates.chain(mandate_id)[1]
            inquiry.miss(missing)
            return resolved
    mandate = inquiry.mandates.by_id[str(entry.author.mandate_id)]
    subject = members(mandate.get("subject"))
    named = (mandate.get("represented_organization_id"), subject.get("agent_id"))
    if entry.type is ObjectType.APPROVAL:
        return VERIFIED
    if named != (entry.author.organization_id, entry.author.agent_id):
        return failed(_ILLEGAL, f"{entry.author.mandate_id} names another agent or organisation than the author")
    return signed_as_mandated(entry, subject.get("key_id"), inquiry)


class _Authority:
    """The decisions of one verification, judged in the order of what they append."""

    def __init__(self, inquiry: Inquiry, decisions: Decisions) -> None:
        self._inquiry = inquiry
        self._decisions = decisions
        self._force = Force(inquiry)
        self._releases = Releases(inquiry)

    def order(self, decision: Entry) -> tuple[str, str]:
        """By the first append, so that an approval is used up by the first act it released."""
        moments = self._appends(decision)
        return (min(moments).isoformat() if moments else "", decision.hash or decision.subject)

    def judge(self, decision: Entry) -> None:
        """All rows about one decision."""
        appends = self._appends(decision)
        evaluation = self._evaluation(decision, appends)
        rests = bool(self._decisions.cited_by(decision) or self._decisions.matched(decision))
        refusal = decision.payload.get("decision") != Decision.ALLOW and not rests
        rows = {
            "act_matches_object": self._matches(decision),
            "mandate_covers": _REFUSAL if refusal else self._covers(decision, evaluation),
            "mandate_active_at_append": _REFUSAL if refusal else self._force.at_append(decision, appends),
            "policy_decision_permits": _REFUSAL if refusal else self._permits(decision, evaluation, appends),
        }
        for name, judgement in rows.items():
            self._inquiry.add(5, name, decision.subject, judgement)
        if decision.payload.get("decision") == Decision.DENY:
            self._inquiry.add(5, "decision_privacy", decision.subject, _privacy(decision))

    def judge_event(self, event: Entry) -> None:
        """An event's decision: held, over the same act, by the same party, and not later."""
        named = event.payload.get("policy_decision_id")
        decision = self._inquiry.find(named, ObjectType.POLICY_DECISION)
        if decision is None:
            absent = unknown(f"the decision {str(named)[:140]} is not here")
            for name in ("policy_decision_resolves", "policy_decision_bound", "policy_decision_permits",
                         "mandate_covers"):
                self._inquiry.add(5, name, event.subject, absent)
            self._inquiry.add(5, "mandate_active_at_append", event.subject, self._force.of_author(event))
            return
        self._inquiry.add(5, "policy_decision_resolves", event.subject, VERIFIED)
        bound = decision.payload.get("action_hash") == event.payload.get("action_hash") is not None
        self._inquiry.add(5, "policy_decision_bound", event.subject, VERIFIED if bound else failed(
            _ILLEGAL, f"{decision.subject} is over another act"))

    def judge_act(self, entry: Entry) -> None:
        """An act that no event records rests on an allow of its own."""
        if entry.type is not ObjectType.OFFER and self._decisions.recorded(entry):
            return
        allows = [decision for decision in self._decisions.of(entry)
                  if decision.payload.get("decision") == Decision.ALLOW]
        self._inquiry.add(5, "policy_decision_resolves", entry.subject, VERIFIED if allows else unknown(
            "no allow by its author over this act is here"))

    def _appends(self, decision: Entry) -> list[datetime]:
        """When what rests on a decision was appended."""
        events = [parse_instant(event.payload.get("occurred_at")) for event in self._decisions.cited_by(decision)]
        objects = [entry.created_at for entry in self._decisions.matched(decision)]
        return [moment for moment in (*events, *objects) if moment is not None]

    def _evaluation(self, decision: Entry, appends: Iterable[datetime]) -> Evaluation | None:
        """The one evaluation at the first append, or None where something it needs is not here."""
        inquiry, act = self._inquiry, self._inquiry.acts.get(decision.text("action_hash"))
        mandate_id, evaluated = decision.author.mandate_id, parse_instant(decision.payload.get("evaluated_at"))
        if act is None or evaluated is None or inquiry.mandates.resolves(mandate_id) is not VERIFIED:
            return None
        return inquiry.mandates.evaluation(
            inquiry.mandates.by_id[str(mandate_id)], act, max((*appends, evaluated)))

    def _matches(self, decision: Entry) -> Judgement:
        if self._inquiry.acts.get(decision.text("action_hash")) is None:
            return _NO_ACT
        matched = self._decisions.matched(decision)
        targets = [self._decisions.target(event) for event in self._decisions.cited_by(decision)]
        for named, target in targets:
            if target is None and named is not None:
                return unknown(f"the object {named[:140]} that it is about is not here")
            if target is not None and target not in matched:
                return self._unlike(target)
        if matched:
            return VERIFIED
        rivals = self._decisions.rivals(decision)
        return self._unlike(rivals[0]) if rivals else unknown("the object that it is about is not here")

    def _unlike(self, target: Entry) -> Judgement:
        if self._decisions.rebuilt(target) is None:
            return unknown(f"the act of {target.subject} cannot be rebuilt from what is here")
        return failed(_ILLEGAL, f"the act decided upon is not the act of {target.subject}, or not by the same party")

    def _covers(self, decision: Entry, evaluation: Evaluation | None) -> Judgement:
        if evaluation is None:
            if self._inquiry.acts.get(decision.text("action_hash")) is None:
                return _NO_ACT
            return unknown("the mandate does not resolve, so what it covers cannot be told")
        act = self._inquiry.acts.get(decision.text("action_hash")) or {}
        listed = items(decision.payload.get("mandate_ids"))
        if not listed or listed[0] != decision.author.mandate_id:
            return failed(_ILLEGAL, "it evaluated another mandate than its author's")
        if act.get("transaction_id") != decision.transaction_id:
            return failed(_ILLEGAL, "the act is of another transaction")
        if evaluation.act.findings:
            return failed(_ILLEGAL, evaluation.act.findings[0].detail)
        return VERIFIED

    def _permits(self, decision: Entry, evaluation: Evaluation | None, appends: list[datetime]) -> Judgement:
        if decision.payload.get("decision") not in (Decision.ALLOW, Decision.REQUIRE_APPROVAL):
            return failed(_ILLEGAL, "a refusal moves nothing")
        evaluated = parse_instant(decision.payload.get("evaluated_at"))
        if evaluated is None:
            return failed(_ILLEGAL, "evaluated_at is no instant")
        foreign = [event for event in self._decisions.cited_by(decision) if event.author != decision.author]
        if foreign:
            return failed(_ILLEGAL, f"{foreign[0].subject} rests on another party's decision")
        if any(moment < evaluated for moment in appends):
            return failed(_ILLEGAL, "it was made after what rests on it")
        if evaluation is None:
            return unknown("whether a person had to approve cannot be told without act and mandate")
        return self._releases.judge(decision, evaluation, min(appends, default=evaluated))


def _privacy(decision: Entry) -> Judgement:
    stream: Any = members(decision.payload.get("stream")).get("kind")
    if stream == "private" and decision.text("visibility") in _PRIVATE:
        return VERIFIED
    return failed(Code.DISCLOSURE_DENIED, "a refusal is private to its actor")
