"""Step 5, whether the mandates behind an act were in force (rules 3.6; surface 3, Clock; design override 6).

Rules this module applies:

- every append lies inside the interval of every mandate of the chain;
- no standing revocation record by the mandate's organisation suspends or revokes a mandate of the chain, or its agent
  where such a record about the agent is held;
- a presented status answer covers an append where `retrieved_at` is within 60 s of `evaluated_at`, and `evaluated_at`
  within 60 s of the append. The answer is unsigned and the row says so. An answer other than active is
  `A202-MANDATE-INACTIVE`; no covering answer leaves the check unmade.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Mapping
from datetime import datetime
from functools import cached_property
from typing import Any, Final

from a202_reference.authority.status import StatusResult, status_fault
from a202_reference.codes import Code, Outcome
from a202_reference.evidence.entry import Entry
from a202_reference.evidence.inquiry import Inquiry
from a202_reference.evidence.keychain import Standing, revoked_at
from a202_reference.evidence.report import Judgement, failed, unknown
from a202_reference.gate.reading import members
from a202_reference.registries import MandateStatus
from a202_reference.times import parse_instant, within_window

_PRESENTED: Final = Judgement(Outcome.VERIFIED, None, "by a status answer as presented by the acting party")


class Force:
    """Intervals, revocations and status answers of one verification."""

    def __init__(self, inquiry: Inquiry) -> None:
        self._inquiry = inquiry

    def at_append(self, decision: Entry, appends: Iterable[datetime]) -> Judgement:
        """Whether the decision's mandates were in force whenever something that rests on it was appended."""
        mandate_id, evaluated = decision.author.mandate_id, parse_instant(decision.payload.get("evaluated_at"))
        chain, missing = self._inquiry.mandates.chain(mandate_id)
        if evaluated is None:
            return unknown("evaluated_at is no instant")
        moments = tuple(appends) or (evaluated,)
        ended = self._ended(chain, moments)
        if ended is not None:
            return ended
        if missing is not None:
            return unknown(f"the mandate {str(missing)[:140]} is not here")
        return self._covered(decision, chain, evaluated, moments)

    def of_author(self, event: Entry) -> Judgement:
        """The same for an event whose decision is not here: the interval can fail, the status cannot be told."""
        occurred = parse_instant(event.payload.get("occurred_at"))
        chain, _ = self._inquiry.mandates.chain(event.author.mandate_id)
        ended = None if occurred is None else self._ended(chain, (occurred,))
        return ended or unknown("no status statement covers the append")

    def _ended(self, chain: Iterable[Mapping[str, Any]], moments: Iterable[datetime]) -> Judgement | None:
        doubt: Judgement | None = None
        for moment in moments:
            for mandate in chain:
                start, end = parse_instant(mandate.get("valid_from")), parse_instant(mandate.get("valid_until"))
                if start is None or end is None or not start <= moment < end:
                    return failed(Code.MANDATE_INACTIVE, f"{mandate.get('id')} was not valid at {moment.isoformat()}")
                standing = self._standing(mandate, moment)
                if standing is Standing.ENDED:
                    return failed(Code.MANDATE_INACTIVE, f"{mandate.get('id')} or its agent was suspended or revoked")
                if standing is Standing.UNKNOWN:
                    doubt = unknown("a revocation record that cannot be checked speaks against it")
        return doubt

    def _standing(self, mandate: Mapping[str, Any], moment: datetime) -> Standing:
        organization = str(mandate.get("represented_organization_id"))
        agent = members(mandate.get("subject")).get("agent_id")
        standings = {revoked_at(self._inquiry.revocations, str(subject), organization, moment)
                     for subject in (mandate.get("id"), agent)}
        return next(standing for standing in (Standing.ENDED, Standing.UNKNOWN, Standing.ACTIVE)
                    if standing in standings)

    def _covered(
        self, decision: Entry, chain: Iterable[Mapping[str, Any]], evaluated: datetime, moments: Iterable[datetime],
    ) -> Judgement:
        if any(not within_window(evaluated, moment) for moment in moments):
            return unknown("it was decided more than 60 s before the append, so no status answer covers that")
        for mandate in chain:
            fault = status_fault(self._answer(decision, str(mandate.get("id")), evaluated), evaluated)
            if fault is not None and fault[0] is Code.MANDATE_INACTIVE:
                return failed(
                    Code.MANDATE_INACTIVE, f"{mandate.get('id')}: {fault[1]}, as presented by the acting party")
            if fault is not None:
                return unknown(f"no status answer about {mandate.get('id')} covers the append")
        return _PRESENTED

    def _answer(self, decision: Entry, mandate_id: str, evaluated: datetime) -> StatusResult | None:
        """The answer about a mandate, presented with this act, that was retrieved nearest to `evaluated_at`."""
        answers = self._answers.get((decision.text("action_hash") or "", mandate_id), [])
        at = bisect_left(answers, evaluated, key=lambda answer: answer[0])
        near = sorted(answers[max(0, at - 1):at + 1], key=lambda answer: abs(answer[0] - evaluated))
        return StatusResult(mandate_id, near[0][1], near[0][2]) if near else None

    @cached_property
    def _answers(self) -> Mapping[tuple[str, str], list[tuple[datetime, Any, str]]]:
        """Readable answers by act and mandate in order of time; of two at one instant, the one that is not active."""
        found: dict[tuple[str, str], dict[datetime, tuple[datetime, Any, str]]] = defaultdict(dict)
        for raw in self._inquiry.material.status_results:
            answer = members(raw)
            action_hash, mandate_id, told = (answer.get(name) for name in ("action_hash", "mandate_id", "retrieved_at"))
            retrieved = parse_instant(told)
            if not isinstance(action_hash, str) or not isinstance(mandate_id, str) or retrieved is None:
                continue
            status = answer.get("status")
            known = found[action_hash, mandate_id].get(retrieved)
            if known is None or known[1] == MandateStatus.ACTIVE:
                found[action_hash, mandate_id][retrieved] = (retrieved, status, str(told))
        return {key: sorted(answers.values(), key=lambda answer: answer[0]) for key, answers in found.items()}
