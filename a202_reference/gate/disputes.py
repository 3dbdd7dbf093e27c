"""Checks of disputes and determinations (verification 5.8, 5.9; rules 9.1, 9.2, D-31, D-35)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from a202_reference.codes import Code
from a202_reference.gate.common import Check
from a202_reference.gate.leaks import tells_too_much
from a202_reference.gate.reading import Subject, is_one_of, items, members
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
from a202_reference.registries import (
    APPEAL_GROUNDS,
    DISPUTE_GROUNDS,
    SUPERSESSION_REASONS,
    Effect,
    ObjectType,
    SubjectType,
)
from a202_reference.times import parse_instant

_OUTCOME_MEMBERS = frozenset({"finding", "rules_applied", "evidence_relied_on", "inputs_hash", "state_result"})
_QUESTION_MEMBERS = ("subject_type", "subject_hash", "subject_id")
_STATES_OF: Mapping[str, frozenset[str]] = {
    "txn_": TRANSACTION_STATES, "ses_": SESSION_STATES, "obl_": OBLIGATION_STATES}
"""The machine a state result may move, by the prefix of its subject (D-35)."""
_RANKS: Mapping[str, int] = {effect.value: rank for rank, effect in enumerate(Effect)}
_ABOVE_ALL = len(_RANKS)


def dispute_grounds(subject: Subject) -> Iterator[Code]:
    """At least one ground, each of the list for this kind of subject."""
    grounds = items(subject.payload.get("grounds"))
    if not grounds:
        yield Code.DISPUTE_GROUNDS_UNKNOWN
    elif _appeals(subject):
        if not _all_among(grounds, APPEAL_GROUNDS):
            yield Code.APPEAL_GROUNDS_UNKNOWN
    elif not _all_among(grounds, DISPUTE_GROUNDS):
        yield Code.DISPUTE_GROUNDS_UNKNOWN


def dispute_subject(subject: Subject) -> Iterator[Code]:
    """The subject is named by a hash that is held, or openly held elsewhere."""
    named = subject.payload.get("subject_hash")
    if not named or (subject.lookup.holds_anything and not subject.lookup.resolves(named)):
        yield Code.DISPUTE_SUBJECT_UNREFERENCED


def dispute_evidence(subject: Subject) -> Iterator[Code]:
    """A dispute comes with evidence."""
    if not items(subject.payload.get("evidence_refs")):
        yield Code.EVIDENCE_UNVERIFIED


def dispute_description(subject: Subject) -> Iterator[Code]:
    """Free text tells of nobody but the two parties, and of no amount."""
    text = subject.payload.get("description")
    parties = [members(subject.payload.get(role)) for role in ("raising_party", "respondent_party")]
    known = frozenset(
        name for party in parties for name in (party.get("organization_id"), party.get("agent_id"))
        if isinstance(name, str))
    if isinstance(text, str) and tells_too_much(text, known):
        yield Code.DISCLOSURE_POLICY_VIOLATION


def dispute_window(subject: Subject) -> Iterator[Code]:
    """The rules resolve, and where the act's time is stated the dispute came inside their window."""
    if resolve_rules(subject.payload.get("rules_ref")) is None:
        yield Code.DISPUTE_OUT_OF_WINDOW
        return
    if not subject.lookup.subject_act_at:
        return
    raised = parse_instant(subject.document.get("created_at"))
    acted = parse_instant(subject.lookup.subject_act_at)
    window = APPEAL_WINDOW if _appeals(subject) else DISPUTE_WINDOW
    if raised is None or acted is None or raised - acted > window:
        yield Code.DISPUTE_OUT_OF_WINDOW


def determination_outcome(subject: Subject) -> Iterator[Code]:
    """An outcome is a finding with its grounds; there is no verdict to tick."""
    outcome = subject.payload.get("outcome")
    if not isinstance(outcome, dict) or not _OUTCOME_MEMBERS.issuperset(outcome):
        yield Code.DETERMINATION_NOT_FOLLOWING


def determination_rules(subject: Subject) -> Iterator[Code]:
    """Rules that resolve and were in force, applied by name, over evidence and inputs."""
    outcome = members(subject.payload.get("outcome"))
    rules = resolve_rules(_question(subject).get("rules_ref"))
    in_force = subject.lookup.rules_version_in_force
    applied = items(outcome.get("rules_applied"))
    if (
        rules is None
        or not applied
        or not _all_among(applied, RULE_IDS)
        or not outcome.get("evidence_relied_on")
        or not outcome.get("inputs_hash")
        or (in_force and in_force != rules.version)
    ):
        yield Code.DETERMINATION_NOT_FOLLOWING


def determination_effect(subject: Subject) -> Iterator[Code]:
    """The claimed effect stays within the grant for this kind of subject; without a grant it is advisory."""
    if resolve_rules(_question(subject).get("rules_ref")) is None:
        return
    kind = _question(subject).get("subject_type")
    grant = next((effect for granted, effect in GRANTS.items() if granted == kind), Effect.ADVISORY)
    if _rank(subject.payload.get("effect")) > _rank(grant.value):
        yield Code.DETERMINATION_EFFECT_OVERCLAIM


def determination_state(subject: Subject) -> Iterator[Code]:
    """Only a binding determination moves a state: a registered one, of the subject in question."""
    result = members(subject.payload.get("outcome")).get("state_result")
    if not isinstance(result, dict):
        return
    if subject.payload.get("effect") != Effect.BINDING:
        yield Code.DETERMINATION_EFFECT_OVERCLAIM
    if result.get("subject_id") != _question(subject).get("subject_id"):
        yield Code.DISPUTE_SUBJECT_UNREFERENCED
    state, moved = result.get("state"), str(result.get("subject_id"))[:4]
    if not is_one_of(state, _STATES_OF.get(moved, frozenset())):
        yield Code.STATE_TRANSITION_DENIED


def determination_dispute(subject: Subject) -> Iterator[Code]:
    """The question is the one the dispute asked, and the dispute is held or stated as a gap."""
    named = subject.payload.get("dispute_id")
    dispute = subject.lookup.get(named)
    if dispute is not None:
        asked = members(dispute.get("payload"))
        if any(_question(subject).get(name) != asked.get(name) for name in _QUESTION_MEMBERS):
            yield Code.DISPUTE_SUBJECT_UNREFERENCED
    elif named and subject.lookup.holds_anything and not subject.lookup.states_gap(named):
        yield Code.EVIDENCE_DISCLOSURE_INCOMPLETE


def determination_supersession(subject: Subject) -> Iterator[Code]:
    """A supersession has a registered reason, and is the only one of its target, on the same question."""
    superseded = subject.payload.get("supersedes")
    if not isinstance(superseded, dict):
        return
    reason = superseded.get("reason")
    if not is_one_of(reason, SUPERSESSION_REASONS):
        yield Code.DETERMINATION_SUPERSESSION_UNREASONED
    target = subject.lookup.get(superseded.get("determination_id"))
    if target is None:
        return
    target_hash = target.get("content_hash")
    if superseded.get("determination_hash") != target_hash:
        yield Code.EVIDENCE_HASH_MISMATCH
    asked = members(members(target.get("payload")).get("question")).get("subject_hash")
    if _question(subject).get("subject_hash") not in (asked, target_hash):
        yield Code.DISPUTE_SUBJECT_UNREFERENCED
    if _superseded_by_another(subject, target):
        yield Code.DETERMINATION_SUPERSESSION_FORKED
    if _supersedes_itself(subject):
        yield Code.EVIDENCE_CHAIN_GAP


def _superseded_by_another(subject: Subject, target: Mapping[str, Any]) -> bool:
    own = (subject.document.get("id"), target.get("id"))
    for other in subject.lookup.of_type(ObjectType.DETERMINATION):
        named = members(members(other.get("payload")).get("supersedes")).get("determination_id")
        if other.get("id") not in own and named is not None and named == target.get("id"):
            return True
    return False


def _supersedes_itself(subject: Subject) -> bool:
    """True where following the supersessions leads back to this determination."""
    seen: set[str] = set()
    node: Mapping[str, Any] | None = subject.document
    while node is not None:
        named = members(members(node.get("payload")).get("supersedes")).get("determination_id")
        if not isinstance(named, str):
            return False
        if named == subject.document.get("id"):
            return True
        if named in seen:
            return False
        seen.add(named)
        node = subject.lookup.get(named)
    return False


def _question(subject: Subject) -> Mapping[str, Any]:
    return members(subject.payload.get("question"))


def _appeals(subject: Subject) -> bool:
    return bool(subject.payload.get("subject_type") == SubjectType.DETERMINATION)


def _all_among(values: Any, registered: frozenset[str]) -> bool:
    return all(is_one_of(value, registered) for value in values)


def _rank(effect: Any) -> int:
    return _RANKS.get(effect, _ABOVE_ALL) if isinstance(effect, str) else _ABOVE_ALL


CHECKS: dict[ObjectType, tuple[Check, ...]] = {
    ObjectType.DISPUTE: (
        dispute_grounds, dispute_subject, dispute_evidence, dispute_description, dispute_window),
    ObjectType.DETERMINATION: (
        determination_outcome, determination_rules, determination_effect, determination_state,
        determination_dispute, determination_supersession),
}
