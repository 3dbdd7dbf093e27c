"""Act documents: what is evaluated and hashed before an act, and rebuilt when it is recorded (surface 1).

Rules this module applies:

- an act document holds `action_type` and `transaction_id`, then, only where they have a value, the
  counterparty, the proposed terms, the references, and what the mandate's scope needs (`category`,
  `geography`); never a null, so one act has one hash;
- who acts, the action's name, and what `proposed_terms` holds stand in the table of surface 1; `total` is left
  out where an obligation has no consideration;
- the recording tools and the verifier rebuild an act with these same functions, one from its arguments, the
  other from the recorded objects.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

OFFER_SUBMIT = "offer.submit"
OFFER_ACCEPT = "offer.accept"
OBLIGATION_ACTIVATED = "obligation.activated"
PERFORMANCE_DECLARED = "performance.declared"
ACCEPTANCE_GRANTED = "acceptance.granted"
ACCEPTANCE_REJECTED = "acceptance.rejected"
OBLIGATION_WAIVED = "obligation.waived"


@dataclass(frozen=True, slots=True)
class Setting:
    """What an act says besides its substance: where it belongs and on which scope axes it lies."""

    transaction_id: str
    counterparty_organization_id: str
    category: str | None = None
    geography: str | None = None


def without_nulls(proposed_action: Mapping[str, Any]) -> dict[str, Any]:
    """A caller's act without the top-level members that it sent as null (surface 1)."""
    return {name: member for name, member in proposed_action.items() if member is not None}


def formation_act(action_type: str, setting: Setting, terms: Mapping[str, Any]) -> dict[str, Any]:
    """The offeror's or the offeree's act in direct formation."""
    return _act(action_type, setting, dict(terms))


def issue_act(setting: Setting, core: Mapping[str, Any], agreement_id: str) -> dict[str, Any]:
    """The obligee issues an obligation."""
    return _act(OBLIGATION_ACTIVATED, setting, {"core": core}, agreement_id=agreement_id)


def assert_act(setting: Setting, core: Mapping[str, Any], obligation_id: str) -> dict[str, Any]:
    """The obligor declares that it performed."""
    return _act(PERFORMANCE_DECLARED, setting, {"core": core}, obligation_id=obligation_id)


def answer_act(action_type: str, setting: Setting, core: Mapping[str, Any], assertion_id: str) -> dict[str, Any]:
    """The obligee accepts or rejects an assertion."""
    return _act(action_type, setting, {"core": core}, assertion_id=assertion_id)


def waive_act(setting: Setting, core: Mapping[str, Any], obligation_id: str) -> dict[str, Any]:
    """The obligee waives what is owed."""
    return _act(OBLIGATION_WAIVED, setting, {"core": core}, obligation_id=obligation_id)


def core_of(quantity: Any, unit_code: Any, consideration: Mapping[str, Any] | None) -> dict[str, Any]:
    """`proposed_terms.core` of an obligation act."""
    core: dict[str, Any] = {"quantity": quantity, "unit_code": unit_code}
    if consideration is not None:
        core["total"] = dict(consideration)
    return core


def _act(action_type: str, setting: Setting, proposed_terms: dict[str, Any], **references: str) -> dict[str, Any]:
    return without_nulls({
        "action_type": action_type,
        "transaction_id": setting.transaction_id,
        "counterparty_organization_id": setting.counterparty_organization_id,
        "category": setting.category,
        "geography": setting.geography,
        "proposed_terms": proposed_terms,
        **references,
    })
