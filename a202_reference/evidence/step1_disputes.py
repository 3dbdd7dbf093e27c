"""Step 1: what a dispute, a determination or a settlement binds by hash (verification 1, step 1; rules 9; D-2, D-32).

Rules this module applies:

- a dispute is about the object it names, in the bytes it names, and of the kind it names; a determination answers the
  dispute's own question (`A202-DISPUTE-SUBJECT-UNREFERENCED`);
- an input set does not travel with a determination: where it is supplied, its hash recomputes; what is superseded is
  the exact determination named (`A202-EVIDENCE-HASH-MISMATCH`);
- a settlement is triggered by an act of the same transaction that accepts (`A202-SETTLEMENT-TRIGGER-ABSENT`).
"""

from __future__ import annotations

from typing import Any

from a202_reference.canonical import NotCanonicalError, value_hash
from a202_reference.codes import Code
from a202_reference.evidence.comparing import absent, holds_or
from a202_reference.evidence.entry import Entry
from a202_reference.evidence.inquiry import Inquiry
from a202_reference.evidence.report import VERIFIED, Judgement, failed, unknown
from a202_reference.gate.reading import members
from a202_reference.registries import ObjectType, ResponseType, SubjectType


def subject_hash(dispute: Entry, inquiry: Inquiry) -> Judgement:
    """What is disputed is the object named, in the bytes named, and of the kind named."""
    kind, named, carried = (dispute.payload.get(name) for name in ("subject_type", "subject_id", "subject_hash"))
    by_hash, by_id = inquiry.index.hashed(carried), inquiry.index.get(named)
    if by_hash is None and by_id is None:
        inquiry.miss(named)
        return absent("disputed object", named)
    if kind == SubjectType.OBLIGATION_STATE and by_hash is not None:
        holds = named == by_hash.id or named in _obligations_about(by_hash)
        return holds_or(
            holds, Code.DISPUTE_SUBJECT_UNREFERENCED, f"{by_hash.subject} does not put {named} into a state")
    if by_id is None:
        holder = by_hash.subject if by_hash is not None else "another object"
        return failed(Code.DISPUTE_SUBJECT_UNREFERENCED, f"{holder} has this hash, not {str(named)[:140]}")
    if by_id.hash is None or by_id.hash != carried:
        return failed(Code.DISPUTE_SUBJECT_UNREFERENCED, f"{by_id.subject} hashes to {by_id.hash}")
    return holds_or(
        _is_of_kind(by_id, kind), Code.DISPUTE_SUBJECT_UNREFERENCED, f"{by_id.subject} is no {str(kind)[:20]}")


def question_matches_dispute(determination: Entry, inquiry: Inquiry) -> Judgement:
    """A determination answers the dispute's own question."""
    named = determination.payload.get("dispute_id")
    dispute = inquiry.find(named, ObjectType.DISPUTE)
    if dispute is None:
        return absent("dispute", named)
    question = members(determination.payload.get("question"))
    same = all(question.get(name) == dispute.payload.get(name)
               for name in ("subject_type", "subject_hash", "subject_id"))
    return holds_or(same, Code.DISPUTE_SUBJECT_UNREFERENCED, f"the question is not that of {dispute.subject}")


def inputs_hash(determination: Entry, inquiry: Inquiry) -> Judgement:
    """The input set that was supplied hashes to what the outcome carries."""
    supplied = inquiry.material.determination_inputs.get(determination.id or "")
    if supplied is None:
        return unknown("the input set was not supplied")
    try:
        recomputed = value_hash(supplied)
    except NotCanonicalError as refused:
        return unknown(f"the supplied input set: {refused}")
    carried = members(determination.payload.get("outcome")).get("inputs_hash")
    return holds_or(carried == recomputed, Code.EVIDENCE_HASH_MISMATCH, f"the input set hashes to {recomputed}")


def supersedes_hash(determination: Entry, inquiry: Inquiry) -> Judgement:
    """What is superseded is the exact determination named."""
    supersedes = determination.payload.get("supersedes")
    if supersedes is None:
        return VERIFIED
    named = members(supersedes).get("determination_id")
    target = inquiry.find(named, ObjectType.DETERMINATION)
    if target is None:
        return absent("determination", named)
    return holds_or(
        target.hash is not None and members(supersedes).get("determination_hash") == target.hash,
        Code.EVIDENCE_HASH_MISMATCH, f"{target.subject} hashes to {target.hash}")


def accepting_act_hash(instruction: Entry, inquiry: Inquiry) -> Judgement:
    """What triggers a settlement is an act of this transaction that accepts."""
    carried = members(instruction.payload.get("trigger")).get("accepting_act_hash")
    act = inquiry.index.hashed(carried)
    if act is None:
        return unknown("the act that triggers it is not here")
    if act.transaction_id != instruction.transaction_id:
        return failed(Code.SETTLEMENT_TRIGGER_ABSENT, f"{act.subject} is of another transaction")
    if act.type is not ObjectType.OBLIGATION_RESPONSE:
        return unknown(f"whether {act.subject} meets the condition is not machine-readable")
    accepts = (act.payload.get("response_type") == ResponseType.ACCEPT
               and act.payload.get("obligation_id") == instruction.payload.get("obligation_id"))
    return holds_or(accepts, Code.SETTLEMENT_TRIGGER_ABSENT, f"{act.subject} does not accept this obligation")


def _obligations_about(entry: Entry) -> tuple[Any, ...]:
    """The obligations an object puts into a state."""
    return (entry.payload.get("obligation_id"), members(entry.payload.get("data")).get("obligation_id"),
            members(members(entry.payload.get("outcome")).get("state_result")).get("subject_id"))


def _is_of_kind(entry: Entry, kind: Any) -> bool:
    if kind == SubjectType.DETERMINATION:
        return entry.type is ObjectType.DETERMINATION
    if kind == SubjectType.REFUSAL:
        return entry.type is ObjectType.POLICY_DECISION and entry.payload.get("decision") != "allow"
    return bool(entry.entries)
