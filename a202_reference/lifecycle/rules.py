"""The published rule sets `a202-rules/pilot` 1.0 to 1.3 (rules 7; verification A.1, A.2).

Rules this module applies:

- a published version is immutable and holds exactly the triples (from, event, to) of rules 7; a triple that
  is not there does not exist, whatever a prose table says;
- a version resolves only with its registered hash (`rules_ref`);
- sessions and transactions have their own machines; a triple counts for the machine its states belong to;
- a record is replayed under the version in force when it was appended, never under today's (D-28).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from types import MappingProxyType
from typing import Any, Final

from a202_reference.registries import Effect, SubjectType

RULE_SET_ID: Final = "a202-rules/pilot"
CURRENT_VERSION: Final = "1.3"

TERMINAL_STATES = frozenset({"completed", "cancelled", "expired", "terminated"})
COMMITTED_STATES = frozenset({"committed", "in_performance", "acceptance_pending", "settlement_pending"})
_BEFORE_COMMITMENT = ("draft", "published", "qualifying", "negotiating", "agreement_pending")

TRANSACTION_STATES = frozenset(_BEFORE_COMMITMENT) | COMMITTED_STATES | TERMINAL_STATES | {"exception_open"}
SESSION_STATES = frozenset({
    "opened", "active", "paused_for_approval", "accepted", "rejected", "withdrawn", "expired", "closed"})
OBLIGATION_STATES = frozenset({
    "pending", "due", "asserted", "accepted", "rejected", "disputed", "discharged", "waived", "expired", "released"})

Triple = tuple[str, str, str]

_TRANSACTION_1_0: frozenset[Triple] = frozenset({
    ("draft", "request.published", "published"),
    ("published", "qualification.started", "qualifying"),
    ("qualifying", "negotiation.opened", "negotiating"),
    ("negotiating", "offer.selected", "agreement_pending"),
    ("agreement_pending", "approval.rejected", "negotiating"),
    ("agreement_pending", "acceptance.withdrawn", "negotiating"),
    ("agreement_pending", "agreement.committed", "committed"),
    ("committed", "obligation.activated", "in_performance"),
    ("in_performance", "performance.declared", "acceptance_pending"),
    ("acceptance_pending", "acceptance.rejected", "in_performance"),
    ("acceptance_pending", "acceptance.granted", "settlement_pending"),
    ("settlement_pending", "settlement.instructed", "settlement_pending"),
    ("settlement_pending", "transaction.completed", "completed"),
    *((state, "exception.opened", "exception_open") for state in COMMITTED_STATES),
    ("exception_open", "remediation.accepted", "in_performance"),
    ("exception_open", "exception.resolved", "settlement_pending"),
    ("exception_open", "transaction.terminated", "terminated"),
    *((state, "transaction.cancelled", "cancelled") for state in _BEFORE_COMMITMENT),
    *((state, "deadline.elapsed", "expired") for state in _BEFORE_COMMITMENT),
})
_SESSION_1_0: frozenset[Triple] = frozenset({
    ("opened", "offer.submitted", "active"),
    ("active", "offer.submitted", "active"),
    ("active", "clarification.sent", "active"),
    ("active", "approval.requested", "paused_for_approval"),
    ("paused_for_approval", "approval.granted", "active"),
    ("paused_for_approval", "approval.rejected", "active"),
    ("active", "offer.accepted", "accepted"),
    ("active", "offer.withdrawn", "withdrawn"),
    ("active", "deadline.elapsed", "expired"),
    ("accepted", "session.closed", "closed"),
})
_ADDED_1_1: frozenset[Triple] = frozenset({("exception_open", "transaction.completed", "completed")})
_ADDED_1_2: frozenset[Triple] = frozenset({
    *((state, "termination.agreed", "terminated") for state in COMMITTED_STATES | {"exception_open"}),
    ("committed", "agreement.amended", "committed"),
    ("in_performance", "agreement.amended", "in_performance"),
})
_ADDED_1_3: frozenset[Triple] = frozenset({("draft", "agreement.direct", "agreement_pending")})

_RULE_NAMES = (
    "dispute.window", "appeal.window", "appeal.route", "determiner.authority", "determination.effect",
    "obligation.acceptance-binds-assertion", "obligation.remainder-required", "state.transition-legality",
    "disclosure.session-isolation")
RULE_IDS = frozenset(f"{RULE_SET_ID}#{name}" for name in _RULE_NAMES)
"""The rules of every version; `rules_applied` may name nothing else."""

DISPUTE_WINDOW = timedelta(hours=168)
APPEAL_WINDOW = timedelta(hours=336)
GRANTS: Mapping[SubjectType, Effect] = MappingProxyType({
    SubjectType.ACT: Effect.BINDING,
    SubjectType.OBLIGATION_STATE: Effect.PRESUMPTIVE,
    SubjectType.DETERMINATION: Effect.BINDING,
})
"""The strongest effect a determination may have on each kind of subject; no entry: advisory only."""


@dataclass(frozen=True, slots=True)
class RuleSet:
    """One published version."""

    version: str
    rules_hash: str
    transaction: frozenset[Triple]
    session: frozenset[Triple] = _SESSION_1_0

    def target(self, kind: str, from_state: object, event_type: object) -> str | None:
        """Where `event_type` leads from `from_state` on a stream of this kind, or None where nowhere."""
        triples = self.session if kind == "session" else self.transaction
        return next((to for start, event, to in triples if (start, event) == (from_state, event_type)), None)

    def registers(self, event_type: str) -> bool:
        """True where this version knows the event at all, on a transaction."""
        return any(event == event_type for _, event, _ in self.transaction)

    @property
    def ref(self) -> dict[str, str]:
        """The rules_ref that resolves to this version."""
        return {"rule_set_id": RULE_SET_ID, "version": self.version, "rules_hash": self.rules_hash}


_1_1 = _TRANSACTION_1_0 | _ADDED_1_1
_1_2 = _1_1 | _ADDED_1_2
RULE_SETS: Mapping[str, RuleSet] = MappingProxyType({rules.version: rules for rules in (
    RuleSet("1.0", "11a2b3c4d5e6f708192a3b4c5d6e7f8091a2b3c4d5e6f708192a3b4c5d6e7f80", _TRANSACTION_1_0),
    RuleSet("1.1", "22b3c4d5e6f708192a3b4c5d6e7f8091a2b3c4d5e6f708192a3b4c5d6e7f8091", _1_1),
    RuleSet("1.2", "33c4d5e6f708192a3b4c5d6e7f8091a2b3c4d5e6f708192a3b4c5d6e7f8091a2", _1_2),
    RuleSet("1.3", "44d5e6f708192a3b4c5d6e7f8091a2b3c4d5e6f708192a3b4c5d6e7f8091a2b3", _1_2 | _ADDED_1_3),
)})


def resolve_rules(rules_ref: object) -> RuleSet | None:
    """The version a rules_ref names, or None unless id, version and hash are all the registered ones."""
    if not isinstance(rules_ref, Mapping) or rules_ref.get("rule_set_id") != RULE_SET_ID:
        return None
    rules = rule_set(rules_ref.get("version"))
    return rules if rules is not None and rules.rules_hash == rules_ref.get("rules_hash") else None


def rule_set(version: Any) -> RuleSet | None:
    """The registered version, or None."""
    return RULE_SETS.get(version) if isinstance(version, str) else None
