"""Authorising the acts of a recording call (surface 3).

One act is authorised by its party's presented decision, recomputed here and now from the mandate this server
holds. Several acts of one call are judged all, and refuse together.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from a202_mcp.workspace import Workspace
from a202_reference.authority.evaluate import Evaluation, evaluate
from a202_reference.authority.presented import Authorised, Presented, authorise, read_presented
from a202_reference.canonical import NotCanonicalError, value_hash
from a202_reference.codes import Code, Refusal, distinct
from a202_reference.documents.parties import Party
from a202_reference.lifecycle.events import Decided


@dataclass(frozen=True, slots=True)
class PartyAct:
    """What one party is about to do, and the decision it presents."""

    party: Party
    act: Mapping[str, Any]
    decision: object


def authorise_acts(workspace: Workspace, acts: Sequence[PartyAct], now: datetime) -> list[Authorised] | Refusal:
    """Every act authorised, in order; or all reasons why not."""
    answers = [_authorise(workspace, act, now) for act in acts]
    refusals = [answer for answer in answers if isinstance(answer, Refusal)]
    if not refusals:
        return [answer for answer in answers if isinstance(answer, Authorised)]
    to_verify = [refusal.proposed_action for refusal in refusals if refusal.proposed_action is not None]
    details = [refusal.detail if refusal.proposed_action is None
               else f"{refusal.detail}: {json.dumps(refusal.proposed_action, ensure_ascii=False)}"
               for refusal in refusals]
    return Refusal(
        distinct(code for refusal in refusals for code in refusal.codes), ". ".join(details),
        to_verify[0] if to_verify else None)


def decided(authorised: Authorised) -> Decided:
    """The allow as the record keeps it."""
    return Decided(authorised.party, authorised.action_hash, authorised.mandate_ids, authorised.evaluated_at)


def _authorise(workspace: Workspace, asked: PartyAct, now: datetime) -> Authorised | Refusal:
    try:
        action_hash = value_hash(asked.act)
    except NotCanonicalError as refused:
        return Refusal.of(Code.TERMS_INVALID, f"{refused}: write amounts and quantities as text")
    mandate = workspace.mandate(asked.party.mandate_id)
    presented = read_presented(asked.decision, asked.act, action_hash, asked.party, mandate, now)
    if isinstance(presented, Refusal) or mandate is None:
        return presented if isinstance(presented, Refusal) else _not_held(asked.party)
    unreliable = workspace.unauthentic([mandate["issuer"]["key_id"], asked.party.key_id])
    if unreliable is not None:
        return unreliable

    def recompute(claims: Presented) -> Evaluation:
        approval = workspace.approval(claims.approval_id) if claims.approval_id is not None else None
        return evaluate(mandate, asked.act, workspace.circumstances(now, claims.checked_at, claims.statuses, approval))

    return authorise(presented, asked.act, asked.party, now, recompute)


def _not_held(party: Party) -> Refusal:
    return Refusal.of(Code.POLICY_DENIED, f"no mandate {party.mandate_id} is held")
