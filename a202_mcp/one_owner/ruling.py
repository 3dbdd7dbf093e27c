"""What the mandate says of one act, now, by the one evaluation (treatyway 9.1 to 9.3; axp 8).

Rules this module applies:

- the status that is presented is the one of this instant, or none; without one the evaluation denies;
- a decision names the chain of mandates it was made from, and at least the acting party's own;
- decisions over one act that are not the same stand at instants of their own: a reader tells them, and the status
  answers that they rest on, apart by their time, which is written in whole seconds;
- the reasons are for the owner alone: they name the limits that were not kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from a202_mcp.workspace import Workspace
from a202_reference.authority.evaluate import Evaluation, evaluate
from a202_reference.authority.presented import Authorised
from a202_reference.authority.status import StatusResult
from a202_reference.codes import Decision
from a202_reference.documents.envelope import Approval
from a202_reference.documents.parties import Party
from a202_reference.lifecycle.holdings import Holdings
from a202_reference.registries import ObjectType
from a202_reference.times import format_instant, parse_instant

_NEXT: Final = timedelta(seconds=1)


@dataclass(frozen=True, slots=True)
class Ruling:
    """The verdict on one act. act: the act as it is recorded, whatever the verdict. reasons: for the owner only."""

    decision: Decision
    act: Authorised
    codes: tuple[str, ...] = ()
    reasons: str = ""

    @property
    def allows(self) -> bool:
        """True for an allow."""
        return self.decision is Decision.ALLOW

    @property
    def at(self) -> datetime:
        """When it was decided."""
        return _instant(self.act.evaluated_at)


def settled(holdings: Holdings, now: datetime, decide: Callable[[datetime], Ruling]) -> Ruling:
    """The verdict of `decide` at `now`; or where the record holds another one that is not older, right after that."""
    found = decide(now)
    others = (_instant(said["evaluated_at"]) for said in _decisions(holdings) if _is_other(said, found))
    later = max((at + _NEXT for at in others), default=now)
    return found if later <= now else decide(later)


def overtaking(holdings: Holdings, now: datetime) -> datetime:
    """Now, or right after the newest decision of the record where that is not older."""
    return max([now, *(_instant(said["evaluated_at"]) + _NEXT for said in _decisions(holdings))])


def rule(
    workspace: Workspace, party: Party, mandate: Mapping[str, Any], act: Mapping[str, Any], now: datetime,
    status: StatusResult | None, approval: Approval | None = None,
) -> Ruling:
    """Decide one act of a party under its mandate, with the keys of the record."""
    statuses = {} if status is None else {party.mandate_id: status}
    given = workspace.circumstances(now, now, statuses, approval)
    evaluation = evaluate(mandate, act, given)
    used = approval.envelope.id if evaluation.released and approval is not None else None
    allowed = Authorised(
        party, act, evaluation.act.action_hash or "", evaluation.chain_ids or (party.mandate_id,),
        format_instant(now), tuple(statuses.values()), used)
    return Ruling(
        evaluation.decision, allowed, tuple(code.value for code in evaluation.reason_codes),
        "; ".join([reason.detail for reason in evaluation.reasons] + _unkept(evaluation)))


def without_mandate(party: Party, act: Mapping[str, Any], now: datetime) -> Ruling:
    """The verdict where there is no mandate for such an act: a deny that nothing can be recorded of."""
    return Ruling(
        Decision.DENY, Authorised(party, act, "", (), format_instant(now), (), None), (), "there is no mandate for it")


def _unkept(evaluation: Evaluation) -> list[str]:
    """The limits that were not kept, as the owner wrote them."""
    unkept = (found.constraint for found in evaluation.act.constraints if found.code is not None)
    return [f"{each.id} is {each.predicate.operator} {each.predicate.value}" for each in unkept]


def _decisions(holdings: Holdings) -> Iterator[Mapping[str, Any]]:
    """What the record's policy decisions say."""
    return (document["payload"] for document in holdings.objects
            if document["object_type"] == ObjectType.POLICY_DECISION)


def _is_other(said: Mapping[str, Any], found: Ruling) -> bool:
    """True for another verdict over the same act."""
    return bool(said["action_hash"] == found.act.action_hash) and (
        said["decision"], said["reason_codes"]) != (found.decision.value, list(found.codes))


def _instant(text: str) -> datetime:
    found = parse_instant(text)
    if found is None:
        raise ValueError("a decision of ours has no instant")
    return found
