"""Step 6: determinations and disputes (verification 1, step 6; rules 9.1, 9.2; D-2, D-30, D-31, D-35).

Rules this module applies:

- the rules a determination names resolve, are those in force when the contested act happened, and contain every rule it
  applies; its outcome has exactly its five members; it relies on evidence that verifies
  (`A202-DETERMINATION-NOT-FOLLOWING`);
- its effect is at most what the rules grant, and it states a result only where it binds
  (`A202-DETERMINATION-EFFECT-OVERCLAIM`); without rules its effect is advisory and nothing is read from them;
- whether a finding follows is prose: no machine decides it, and a model's opinion never does;
- a dispute is raised within its window after the contested act (`A202-DISPUTE-OUT-OF-WINDOW`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, Final, TypeAlias

from a202_reference.codes import Code, Outcome
from a202_reference.evidence.entry import Entry
from a202_reference.evidence.inquiry import Inquiry
from a202_reference.evidence.report import VERIFIED, Judgement, failed, unknown
from a202_reference.evidence.step1_disputes import inputs_hash
from a202_reference.evidence.step2_parties import determiner_signs
from a202_reference.gate.reading import items, members
from a202_reference.lifecycle.rules import (
    APPEAL_WINDOW,
    DISPUTE_WINDOW,
    GRANTS,
    OBLIGATION_STATES,
    RULE_IDS,
    SESSION_STATES,
    TRANSACTION_STATES,
    resolve_rules,
)
from a202_reference.registries import Effect, ObjectType, SubjectType
from a202_reference.times import parse_instant

Check: TypeAlias = Callable[[Entry, Inquiry], Judgement]

_FOLLOWS: Final = Code.DETERMINATION_NOT_FOLLOWING
_OVERCLAIM: Final = Code.DETERMINATION_EFFECT_OVERCLAIM
_OUTCOME: Final = frozenset({"finding", "rules_applied", "evidence_relied_on", "inputs_hash", "state_result"})
_RANKS: Final[Mapping[str, int]] = {effect.value: rank for rank, effect in enumerate(Effect)}
_NO_RULES: Final = unknown("the rules it names do not resolve")
_MACHINES: Final[Mapping[str, frozenset[str]]] = {
    "obl_": OBLIGATION_STATES, "ses_": SESSION_STATES, "txn_": TRANSACTION_STATES}


def check(inquiry: Inquiry) -> None:
    """Run this step over every determination and dispute."""
    for determination in inquiry.index.of(ObjectType.DETERMINATION):
        for name, own in DETERMINATION_CHECKS:
            inquiry.add(6, name, determination.subject, own(determination, inquiry))
    for dispute in inquiry.index.of(ObjectType.DISPUTE):
        inquiry.add(6, "dispute_window", dispute.subject, dispute_window(dispute, inquiry))


def _question(determination: Entry) -> Mapping[str, Any]:
    return members(determination.payload.get("question"))


def _outcome(determination: Entry) -> Mapping[str, Any]:
    return members(determination.payload.get("outcome"))


def determination_rules(determination: Entry, inquiry: Inquiry) -> Judgement:
    """The rules it names are registered, with their hash."""
    if resolve_rules(_question(determination).get("rules_ref")) is not None:
        return VERIFIED
    inquiry.miss(members(_question(determination).get("rules_ref")).get("version"))
    return _NO_RULES


def rules_version_in_force(determination: Entry, inquiry: Inquiry) -> Judgement:
    """They are those under which the contested act happened."""
    subject = inquiry.index.get(_question(determination).get("subject_id"))
    version = None
    if subject is not None and subject.is_event:
        rules = inquiry.rules_for(subject)
        version = None if rules is None else rules.version
    version = version or inquiry.material.rules_version
    if version is None:
        return unknown("which rules were in force when the contested act happened is not stated")
    if members(_question(determination).get("rules_ref")).get("version") == version:
        return VERIFIED
    return failed(_FOLLOWS, f"rules {version} were in force when the contested act happened")


def rules_applied_resolve(determination: Entry, _: Inquiry) -> Judgement:
    """It applies at least one rule, each of that version."""
    if resolve_rules(_question(determination).get("rules_ref")) is None:
        return _NO_RULES
    applied = items(_outcome(determination).get("rules_applied"))
    if applied and all(isinstance(rule, str) and rule in RULE_IDS for rule in applied):
        return VERIFIED
    return failed(_FOLLOWS, "it applies no rule, or one that these rules do not have")


def inputs_hash_recomputes(determination: Entry, inquiry: Inquiry) -> Judgement:
    """Its input set hashes to what it carries."""
    judged = inputs_hash(determination, inquiry)
    return failed(_FOLLOWS, judged.detail) if judged.outcome is Outcome.FAILED else judged


def evidence_relied_on_verifies(determination: Entry, inquiry: Inquiry) -> Judgement:
    """Everything it relies on is here and verifies."""
    relied = items(_outcome(determination).get("evidence_relied_on"))
    if not relied:
        return failed(_FOLLOWS, "it relies on no evidence")
    for reference in relied:
        evidence = inquiry.find(members(reference).get("evidence_id"), ObjectType.EVIDENCE)
        if evidence is None:
            return unknown("evidence it relies on is not here")
        if evidence.hash is None or evidence.hash != evidence.raw.get("content_hash"):
            return failed(_FOLLOWS, f"{evidence.subject} does not verify")
        if not inquiry.stands(evidence):
            broken = any(signed.overall.outcome is Outcome.FAILED for signed in inquiry.signatures(evidence))
            return failed(_FOLLOWS, f"{evidence.subject} does not verify") if broken else unknown(
                f"the signatures on {evidence.subject} cannot be checked")
    return VERIFIED


def finding_follows(_: Entry, __: Inquiry) -> Judgement:
    """No machine reads a finding."""
    return unknown("whether a finding follows is prose, and no rule here decides prose")


def outcome_shape(determination: Entry, _: Inquiry) -> Judgement:
    """The outcome has its five members, all but the result filled, and no verdict beside them."""
    outcome = _outcome(determination)
    filled = all(outcome.get(name) for name in _OUTCOME - {"state_result"})
    if outcome.keys() == _OUTCOME and filled:
        return VERIFIED
    return failed(_FOLLOWS, "the outcome has not exactly its five members, filled")


def effect_within_grant(determination: Entry, _: Inquiry) -> Judgement:
    """The effect it claims is at most the one granted; an unknown effect ranks above all."""
    if resolve_rules(_question(determination).get("rules_ref")) is None:
        return unknown("the rules do not resolve, so the effect is read as advisory")
    kind = _question(determination).get("subject_type")
    granted = next((effect for subject, effect in GRANTS.items() if subject == kind), Effect.ADVISORY)
    if _RANKS.get(determination.text("effect") or "", len(_RANKS)) <= _RANKS[granted]:
        return VERIFIED
    return failed(_OVERCLAIM, f"the rules grant {granted.value}")


def state_result_effect(determination: Entry, _: Inquiry) -> Judgement:
    """Only a binding determination states a result."""
    if _outcome(determination).get("state_result") is None or determination.payload.get("effect") == Effect.BINDING:
        return VERIFIED
    return failed(_OVERCLAIM, "it states a result and does not bind")


def state_result_subject(determination: Entry, _: Inquiry) -> Judgement:
    """The result is about what was asked."""
    result = _outcome(determination).get("state_result")
    if result is None or members(result).get("subject_id") == _question(determination).get("subject_id"):
        return VERIFIED
    return failed(Code.DISPUTE_SUBJECT_UNREFERENCED, "the result is about another subject than the question")


def state_result_state(determination: Entry, _: Inquiry) -> Judgement:
    """The result is a state of the subject's own machine."""
    result = _outcome(determination).get("state_result")
    if result is None:
        return VERIFIED
    subject, state = members(result).get("subject_id"), members(result).get("state")
    machine = _MACHINES.get(subject[:4], frozenset()) if isinstance(subject, str) else frozenset()
    if not isinstance(state, str) or state not in machine:
        return failed(Code.STATE_TRANSITION_DENIED, "it is no state of the subject's machine")
    return unknown("whether the machine could have moved there is not recomputed")


def _rule(member: str) -> Check:
    def named(determination: Entry, _: Inquiry) -> Judgement:
        if resolve_rules(_question(determination).get("rules_ref")) is None:
            return _NO_RULES
        if determination.text(member) in RULE_IDS:
            return VERIFIED
        return failed(_FOLLOWS, f"`{member}` names no rule of that version")
    return named


def effective_order(determination: Entry, _: Inquiry) -> Judgement:
    """It takes effect no earlier than it was made."""
    made, effective = (parse_instant(determination.payload.get(name)) for name in ("determined_at", "effective_from"))
    if made is not None and effective is not None and made <= effective:
        return VERIFIED
    return failed(_FOLLOWS, "it takes effect before it was made")


def dispute_window(dispute: Entry, inquiry: Inquiry) -> Judgement:
    """It was raised after the contested act, and inside the window."""
    if resolve_rules(dispute.payload.get("rules_ref")) is None:
        return unknown("the rules that set the window do not resolve")
    contested = _contested_at(dispute, inquiry)
    if contested is None or dispute.created_at is None:
        return unknown("when the contested act happened is not known")
    window = APPEAL_WINDOW if dispute.payload.get("subject_type") == SubjectType.DETERMINATION else DISPUTE_WINDOW
    if contested <= dispute.created_at <= contested + window:
        return VERIFIED
    return failed(Code.DISPUTE_OUT_OF_WINDOW, f"it was not raised within {window} of the contested act")


def _contested_at(dispute: Entry, inquiry: Inquiry) -> datetime | None:
    """The contested act's own instant where it is held, else the stated one (D17)."""
    subject = inquiry.index.hashed(dispute.payload.get("subject_hash"))
    if subject is None:
        return parse_instant(inquiry.material.subject_act_at)
    for member in ("occurred_at", "determined_at"):
        moment = parse_instant(subject.payload.get(member))
        if moment is not None:
            return moment
    return inquiry.recorded_at.get(subject.id or "", subject.created_at)


DETERMINATION_CHECKS: Final[tuple[tuple[str, Check], ...]] = (
    ("determination_rules", determination_rules),
    ("rules_version_in_force", rules_version_in_force),
    ("rules_applied_resolve", rules_applied_resolve),
    ("inputs_hash_recomputes", inputs_hash_recomputes),
    ("evidence_relied_on_verifies", evidence_relied_on_verifies),
    ("finding_follows", finding_follows),
    ("outcome_shape", outcome_shape),
    ("effect_within_grant", effect_within_grant),
    ("state_result_effect", state_result_effect),
    ("state_result_subject", state_result_subject),
    ("state_result_state", state_result_state),
    ("authority_basis", _rule("authority_basis_ref")),
    ("appeal_route", _rule("appeal_route_ref")),
    ("determiner_signs", determiner_signs),
    ("effective_order", effective_order),
)
