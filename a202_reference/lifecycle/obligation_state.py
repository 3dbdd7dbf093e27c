"""The obligation machine, derived from the signed objects that are its facts (rules 6.3; D-26, D-39; override 6).

Rules this module applies:

- an obligation's carried `state` is as of issue and is never trusted afterwards;
- pending (or due) -> asserted by an assertion, asserted -> accepted or rejected by the obligee's answer to that
  assertion, rejected -> asserted by a new one, accepted -> discharged at once, because a short acceptance
  without its remainder is refused; pending, due, asserted or rejected -> waived;
- one assertion is outstanding at a time, and an answered assertion is not answered again;
- discharged, waived, expired and released are the end.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from a202_reference.documents.envelope import Assertion, Obligation, Response
from a202_reference.registries import ResponseType


class ObligationState(StrEnum):
    """States of one obligation (rules 6.3)."""

    PENDING = "pending"
    DUE = "due"
    ASSERTED = "asserted"
    ACCEPTED = "accepted"
    REJECTED = "rejected"
    DISPUTED = "disputed"
    DISCHARGED = "discharged"
    WAIVED = "waived"
    EXPIRED = "expired"
    RELEASED = "released"


MAY_ASSERT = frozenset({ObligationState.PENDING, ObligationState.DUE, ObligationState.REJECTED})
MAY_WAIVE = MAY_ASSERT | {ObligationState.ASSERTED}


@dataclass(frozen=True, slots=True)
class ObligationFacts:
    """One obligation with the assertions and answers that name it."""

    obligation: Obligation
    assertions: tuple[Assertion, ...]
    responses: tuple[Response, ...]

    @property
    def answered(self) -> Mapping[str, Response]:
        """Answers by the assertion they answer."""
        return {response.assertion_id: response for response in self.responses if response.assertion_id is not None}

    @property
    def outstanding(self) -> tuple[Assertion, ...]:
        """Assertions that nobody has answered."""
        return tuple(assertion for assertion in self.assertions if assertion.envelope.id not in self.answered)

    @property
    def state(self) -> ObligationState:
        """Where the facts lead."""
        kinds = {response.response_type for response in self.responses}
        if ResponseType.WAIVE in kinds:
            return ObligationState.WAIVED
        if ResponseType.ACCEPT in kinds:
            return ObligationState.DISCHARGED
        if self.outstanding:
            return ObligationState.ASSERTED
        return ObligationState.REJECTED if self.assertions else ObligationState.PENDING


def facts_of(
    obligation: Obligation, assertions: Sequence[Assertion], responses: Sequence[Response],
) -> ObligationFacts:
    """Pick what belongs to this obligation."""
    own = obligation.envelope.id
    return ObligationFacts(
        obligation,
        tuple(assertion for assertion in assertions if assertion.obligation_id == own),
        tuple(response for response in responses if response.obligation_id == own))
