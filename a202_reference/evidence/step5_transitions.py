"""Step 5: the replay of guarded transitions (verification 1, step 5; rules 6, 7; D-28).

Rules this module applies:

- session events first, then transaction events, each stream in sequence order, under the version in force when the
  event was appended; without a stated, registered version whatever is read from it is not checkable;
- (from, event, to) is registered in that version, for that kind of stream (`A202-EVIDENCE-TRANSITION-ILLEGAL`); the
  state recomputes; each event starts where the one before it ended; nothing follows an end;
- an event that deletes is no operation (`A202-STATE-TRANSITION-DENIED`);
- guards, authority and obligations stand in modules of their own.
"""

from __future__ import annotations

from typing import Any, Final

from a202_reference.codes import Code
from a202_reference.evidence import step5_authority, step5_obligations
from a202_reference.evidence.decisions import Decisions
from a202_reference.evidence.entry import Entry
from a202_reference.evidence.inquiry import Inquiry
from a202_reference.evidence.relations import sequence_of
from a202_reference.evidence.report import VERIFIED, Judgement, failed, unknown
from a202_reference.evidence.step5_guards import guard
from a202_reference.gate.reading import members
from a202_reference.identifiers import Prefix
from a202_reference.lifecycle.rules import RULE_SETS, TERMINAL_STATES, RuleSet
from a202_reference.registries import UNDEFINED_EVENTS, ObjectType

_ILLEGAL: Final = Code.EVIDENCE_TRANSITION_ILLEGAL
_NO_RULES: Final = unknown("the rules version in force when this was appended is not stated, or not registered")
_ENDS: Final = {"transaction": TERMINAL_STATES, "session": frozenset({"closed"})}
_EVENTS: Final = frozenset(
    event for rules in RULE_SETS.values() for triples in (rules.transaction, rules.session) for _, event, _ in triples)
_FAMILIES: Final = {
    **{f"{prefix.name.lower()}_id": ObjectType(prefix.name.lower()) for prefix in (
        Prefix.OFFER, Prefix.ACCEPTANCE, Prefix.AGREEMENT, Prefix.COMMITMENT, Prefix.OBLIGATION,
        Prefix.PERFORMANCE_EVENT, Prefix.OBLIGATION_RESPONSE, Prefix.EXCEPTION, Prefix.DISPUTE,
        Prefix.DETERMINATION, Prefix.APPROVAL, Prefix.SETTLEMENT_INSTRUCTION, Prefix.ADAPTER_RECEIPT,
        Prefix.INVITATION_ACCEPTANCE, Prefix.CLARIFICATION)},
    "invitation_id": ObjectType.COUNTERPARTY_INVITATION,
    "request_id": ObjectType.COMMERCIAL_REQUEST,
    "supersedes_offer_id": ObjectType.OFFER,
}
"""What the members of an event's data name. A session id names no object (design override 6)."""


def check(inquiry: Inquiry) -> None:
    """Run this step: every stream, then authority over decisions and acts, then obligations."""
    decisions = Decisions(inquiry)
    for key in sorted(inquiry.ordered_streams, key=lambda key: (key.kind != "session", str(key.kind), str(key.id))):
        before: Entry | None = None
        for event in inquiry.ordered_streams[key]:
            _event(inquiry, key.kind or "", before, event)
            before = event
    step5_authority.check(inquiry, decisions)
    step5_obligations.check(inquiry, decisions)


def _event(inquiry: Inquiry, kind: str, before: Entry | None, event: Entry) -> None:
    rules = inquiry.rules_for(event)
    inquiry.add(5, "rules_version_resolves", event.subject, VERIFIED if rules else _NO_RULES)
    target = None if rules is None else rules.target(
        kind, event.payload.get("from_state"), event.payload.get("event_type"))
    inquiry.add(5, "transition_legality", event.subject, transition_legality(event, rules, target))
    inquiry.add(5, "recomputed_to_state", event.subject, recomputed_to_state(event, rules, target))
    if before is not None:
        inquiry.add(5, "from_state_continuity", event.subject, from_state_continuity(before, event))
        inquiry.add(5, "terminal_state", event.subject, terminal_state(kind, before))
    if event.text("event_type") in UNDEFINED_EVENTS:
        inquiry.add(5, "undefined_event", event.subject, failed(
            Code.STATE_TRANSITION_DENIED, "deleting is no operation of any machine"))
    named = event.text("event_type") or ""
    inquiry.add(5, f"guard_{named if named in _EVENTS else 'unregistered'}", event.subject, guard(event, inquiry))
    _references(inquiry, event)


def transition_legality(event: Entry, rules: RuleSet | None, target: str | None) -> Judgement:
    """The triple is registered; `target` is where the rules lead from there by this event."""
    if rules is None:
        return _NO_RULES
    if target is not None and target == event.payload.get("to_state"):
        return VERIFIED
    move = tuple(event.payload.get(name) for name in ("from_state", "event_type", "to_state"))
    return failed(_ILLEGAL, f"{_shown(move)} is not registered in rules {rules.version}")


def recomputed_to_state(event: Entry, rules: RuleSet | None, target: str | None) -> Judgement:
    """The state reached is the one the rules lead to."""
    if rules is None:
        return _NO_RULES
    if target is None:
        return unknown(f"rules {rules.version} lead nowhere from there by this event")
    if target == event.payload.get("to_state"):
        return VERIFIED
    return failed(_ILLEGAL, f"rules {rules.version} lead to {target}")


def from_state_continuity(before: Entry, event: Entry) -> Judgement:
    """The event starts where the one right before it ended."""
    earlier, own = sequence_of(before), sequence_of(event)
    if earlier is None or own != earlier + 1:
        return unknown("the event right before it is not here")
    if event.payload.get("from_state") == before.payload.get("to_state") is not None:
        return VERIFIED
    return failed(_ILLEGAL, f"{before.subject} ended in another state")


def terminal_state(kind: str, before: Entry) -> Judgement:
    """Nothing follows an end."""
    reached = before.text("to_state")
    if reached in _ENDS.get(kind, frozenset()):
        return failed(_ILLEGAL, f"{before.subject} had ended the {kind} in {reached}")
    return VERIFIED


def _references(inquiry: Inquiry, event: Entry) -> None:
    """Each identifier in an event's data names a held object of its family."""
    for member, named in members(event.payload.get("data")).items():
        family = _FAMILIES.get(member)
        if family is None or named is None:
            continue
        if inquiry.find(named, family) is not None:
            inquiry.add(5, "event_references_resolve", event.subject, VERIFIED)
        else:
            inquiry.add(5, "event_references_resolve", event.subject, unknown(
                f"`{member}` names {str(named)[:140]}, which is not here as {family.value}"))


def _shown(move: tuple[Any, ...]) -> str:
    return " | ".join(str(part)[:64] for part in move)
