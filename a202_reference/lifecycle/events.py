"""Policy decisions and events as they enter the record (rules 4, 5.6, 6.5; design override 6).

Rules this module applies:

- one policy_decision object per presented decision: the act's hash, allow, the mandates evaluated (acting
  first, then ancestors, nearest first), signed by the acting party's agent; it carries the transaction's stream
  and is visible to both parties, since both hold the record;
- an event extends the chain's head, moves the state along a registered triple, cites the acting party's
  decision, and is signed by its appender and countersigned by the other party.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from a202_reference.documents.parties import Party
from a202_reference.identifiers import IdSource, Prefix
from a202_reference.lifecycle.drafts import Draft, Drafting
from a202_reference.lifecycle.record import Record
from a202_reference.lifecycle.rules import RuleSet
from a202_reference.registries import ObjectType, Purpose


@dataclass(frozen=True, slots=True)
class Decided:
    """A party's allow, judged again at record time. `evaluated_at` as documents write instants."""

    party: Party
    action_hash: str
    mandate_ids: tuple[str, ...]
    evaluated_at: str


@dataclass(frozen=True, slots=True)
class Ledger:
    """What one call extends: the record as it was read, under which rules, and how new objects are begun."""

    record: Record
    rules: RuleSet
    drafting: Drafting
    ids: IdSource

    def admits(self, event_type: str) -> bool:
        """True where the event is registered from the record's present state."""
        return self.rules.target("transaction", self.record.state, event_type) is not None


def decision_draft(decided: Decided, ledger: Ledger) -> Draft:
    """The policy decision of one allow."""
    return ledger.drafting.draft(
        ObjectType.POLICY_DECISION, Prefix.POLICY_DECISION.minted(ledger.ids()), decided.party,
        {
            "action_hash": decided.action_hash,
            "decision": "allow",
            "reason_codes": [],
            "evaluated_at": decided.evaluated_at,
            "mandate_ids": list(decided.mandate_ids),
            "stream": {"kind": "transaction", "id": ledger.drafting.transaction_id},
            "stream_sequence": ledger.record.sequence,
            "visibility": "transaction_parties",
        },
        (decided.party, Purpose.POLICY_DECISION))


def event_draft(
    event_type: str, decision: Draft, actor: Party, other: Party, ledger: Ledger, data: Mapping[str, Any],
    after: Draft | None = None,
) -> Draft:
    """The event that extends the record, or that extends `after`, an event of the same call.

    Raises ValueError where the triple is not registered: the caller asks the rule set first.
    """
    record, drafting = ledger.record, ledger.drafting
    from_state = record.state if after is None else after.body["payload"]["to_state"]
    to_state = ledger.rules.target("transaction", from_state, event_type)
    if to_state is None:
        raise ValueError(f"{event_type} leads nowhere from {from_state} under {ledger.rules.version}")
    return drafting.draft(
        ObjectType.TRANSACTION_EVENT, Prefix.EVENT.minted(ledger.ids()), actor,
        {
            "stream": {"kind": "transaction", "id": drafting.transaction_id},
            "sequence": record.sequence + 1 if after is None else after.body["payload"]["sequence"] + 1,
            "event_type": event_type,
            "occurred_at": drafting.created_at,
            "previous_event_hash": record.head_hash if after is None else after.content_hash,
            "action_hash": decision.body["payload"]["action_hash"],
            "policy_decision_id": decision.id,
            "from_state": from_state,
            "to_state": to_state,
            "data": data,
        },
        (actor, Purpose.EVENT_APPEND), (other, Purpose.EVENT_APPEND))
