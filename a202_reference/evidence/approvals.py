"""Which approval released which act (rules 3.8; surface 2; design override 1; verification `policy_decision_permits`).

Rules this module applies:

- where the evaluation says that a person had to approve, one approval in the set must release every hold; it is
  judged by the rules that judge it when an act is recorded (authority.evaluate), and must have been in force at the
  first append that rests on the decision;
- an approval is used up by the first act it released. Decisions come in the order of what they append, so of several
  approvals over one act the one that expires first is used first;
- none in the set: a record that claims to be whole lacks it; any other may hold it back.
"""

from __future__ import annotations

import heapq
from collections import defaultdict
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from a202_reference.authority.evaluate import Evaluation
from a202_reference.codes import Code, Decision, Outcome
from a202_reference.documents.envelope import Approval
from a202_reference.evidence.entry import Entry
from a202_reference.evidence.inquiry import Inquiry
from a202_reference.evidence.report import VERIFIED, Judgement, failed, unknown
from a202_reference.registries import ObjectType
from a202_reference.times import parse_instant

_ILLEGAL: Final = Code.EVIDENCE_TRANSITION_ILLEGAL


@dataclass
class _Pool:
    """The approvals over one act under one mandate.

    waiting: those that release it, latest first. live: those begun by now, by their end. fault: why another does not.
    """

    waiting: list[tuple[datetime, datetime, str, Entry]] = field(default_factory=list)
    live: list[tuple[datetime, str, int, Entry]] = field(default_factory=list)
    fault: Judgement | None = None


class Releases:
    """The approvals of one verification, and which of them are used up."""

    def __init__(self, inquiry: Inquiry) -> None:
        self._inquiry = inquiry
        self._used: set[Entry] = set()
        self._pools: dict[tuple[str, str], _Pool] = {}
        self._over: dict[str, list[Entry]] = defaultdict(list)
        self._stray: dict[str | None, Entry] = {}
        for approval in sorted(inquiry.index.of(ObjectType.APPROVAL), key=lambda each: each.subject):
            action_hash = approval.text("action_hash") or ""
            self._over[action_hash].append(approval)
            if inquiry.acts.get(action_hash) is None:
                self._stray.setdefault(approval.transaction_id, approval)

    def judge(self, decision: Entry, evaluation: Evaluation, moment: datetime) -> Judgement:
        """Whether everything that asked for a person was approved by one, in force at this instant."""
        if not evaluation.act.holds:
            if decision.payload.get("decision") == Decision.ALLOW:
                return VERIFIED
            return failed(_ILLEGAL, "it holds an act that no rule of the mandate holds")
        key = (decision.text("action_hash") or "", decision.author.mandate_id or "")
        if key not in self._pools:
            self._pools[key] = self._pool(*key)
        return self._released(self._pools[key], moment) or self._missing(decision)

    def _released(self, pool: _Pool, moment: datetime) -> Judgement | None:
        """Use up an approval that is in force; else why there is none, or None where none was ever given."""
        while pool.waiting and pool.waiting[-1][0] <= moment:
            _, end, subject, approval = pool.waiting.pop()
            heapq.heappush(pool.live, (end, subject, len(pool.waiting), approval))
        while pool.live:
            end, subject, _, approval = heapq.heappop(pool.live)
            if approval in self._used:
                pool.fault = failed(_ILLEGAL, f"{subject} was used up by an earlier act")
            elif end <= moment:
                pool.fault = failed(_ILLEGAL, f"{subject} had expired")
            else:
                self._used.add(approval)
                pool.fault = failed(_ILLEGAL, f"{subject} was used up by an earlier act")
                return VERIFIED
        if pool.waiting:
            return failed(_ILLEGAL, f"{pool.waiting[-1][2]} was given only afterwards")
        return pool.fault

    def _pool(self, action_hash: str, mandate_id: str) -> _Pool:
        pool = _Pool()
        for entry in self._over.get(action_hash, ()):
            verdict = self._verdict(entry, action_hash, mandate_id)
            start, end = entry.created_at, parse_instant(entry.payload.get("expires_at"))
            if verdict is VERIFIED and start is not None and end is not None:
                pool.waiting.append((start, end, entry.subject, entry))
            elif pool.fault is None or pool.fault.outcome is Outcome.FAILED:
                pool.fault = verdict
        pool.waiting.sort(key=lambda each: each[:3], reverse=True)
        return pool

    def _verdict(self, entry: Entry, action_hash: str, mandate_id: str) -> Judgement:
        """Whether an approval releases the act while it is in force: judged at the instant it was given."""
        if entry.hash is None or not self._inquiry.is_shaped(entry):
            return failed(_ILLEGAL, f"{entry.subject} is no well-formed approval")
        if any(signed.overall.outcome is Outcome.NOT_CHECKABLE for signed in self._inquiry.signatures(entry)):
            return unknown(f"the signature on {entry.subject} cannot be checked")
        approval = Approval.of(entry.raw)
        mandate = self._inquiry.mandates.by_id[mandate_id]
        evaluation = self._inquiry.mandates.evaluation(
            mandate, self._inquiry.acts.get(action_hash), approval.envelope.created_at, approval)
        if evaluation.approval == Outcome.VERIFIED.value:
            return VERIFIED
        why = evaluation.reasons[-1].detail if evaluation.reasons else "it releases nothing here"
        return failed(_ILLEGAL, f"{entry.subject}: {why}")

    def _missing(self, decision: Entry) -> Judgement:
        if not self._inquiry.material.is_whole:
            return unknown("a person had to approve this act, and no approval of it is here")
        stray = self._stray.get(decision.transaction_id)
        if stray is not None:
            return failed(Code.APPROVAL_HASH_MISMATCH, f"{stray.subject} was given for another act")
        return failed(_ILLEGAL, "a person had to approve this act, and nobody did")
