"""What the mandate says of one act, now, by the one evaluation (treatyway 9.1 to 9.3; axp 8).

Rules this module applies:

- the status that is presented is the one of this instant, or none; without one the evaluation denies;
- a decision names the chain of mandates it was made from, and at least the acting party's own;
- the reasons are for the owner alone: they name the limits that were not kept.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from a202_mcp.workspace import Workspace
from a202_reference.authority.evaluate import Evaluation, evaluate
from a202_reference.authority.presented import Authorised
from a202_reference.authority.status import StatusResult
from a202_reference.codes import Decision
from a202_reference.documents.envelope import Approval
from a202_reference.documents.parties import Party
from a202_reference.times import format_instant


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
