"""The act of a recorded object, rebuilt from the objects themselves (surface 1, act table; design override 5).

Rules this module applies:

- offer, acceptance, obligation, assertion and response are acts; each is rebuilt with the builders that the recording
  tools use (lifecycle.acts), from its own members and from the objects it rests on;
- only `category` and `geography` are in an act and in no object: they are taken from the carried act document;
- what rests on an object that is not here cannot be rebuilt.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple, TypeAlias

from a202_reference.canonical import NotCanonicalError, value_hash
from a202_reference.evidence.entry import Entry
from a202_reference.evidence.inquiry import Inquiry
from a202_reference.lifecycle.acts import (
    ACCEPTANCE_GRANTED,
    ACCEPTANCE_REJECTED,
    OFFER_ACCEPT,
    OFFER_SUBMIT,
    Setting,
    answer_act,
    assert_act,
    core_of,
    formation_act,
    issue_act,
    waive_act,
)
from a202_reference.registries import ObjectType, ResponseType

FROM_THE_ACT: Final = ("category", "geography")
"""The members of an act that no recorded object states."""

ACTED: Final = (ObjectType.OFFER, ObjectType.ACCEPTANCE, ObjectType.OBLIGATION, ObjectType.PERFORMANCE_EVENT,
                ObjectType.OBLIGATION_RESPONSE)
"""The objects that are acts: each needs an allow by its author."""


class Rebuilt(NamedTuple):
    """An act rebuilt from an object, without the members of FROM_THE_ACT, and its hash."""

    act: Mapping[str, Any]
    hash: str

    @property
    def about(self) -> tuple[Any, ...]:
        """Action, transaction and reference."""
        return about(self.act)


_Rebuilder: TypeAlias = Callable[[Entry, Inquiry], Mapping[str, Any] | None]


def about(act: Mapping[str, Any]) -> tuple[Any, ...]:
    """What an act is about, apart from its terms; parts that are no text are None."""
    parts = (act.get(name) for name in ("action_type", "transaction_id", "agreement_id", "obligation_id",
                                        "assertion_id"))
    return tuple(part if isinstance(part, str) else None for part in parts)


def core_hash(act: Mapping[str, Any]) -> str | None:
    """The hash of an act without the members of FROM_THE_ACT, or None where it has no canonical form."""
    try:
        return value_hash({name: member for name, member in act.items() if name not in FROM_THE_ACT})
    except NotCanonicalError:
        return None


def rebuild(entry: Entry, inquiry: Inquiry) -> Rebuilt | None:
    """The act of one of the ACTED objects, or None where it cannot be rebuilt."""
    if entry.hash is None or entry.type is None:
        return None
    act = _REBUILDERS[entry.type](entry, inquiry)
    core = None if act is None else core_hash(act)
    return None if act is None or core is None else Rebuilt(act, core)


def _setting(entry: Entry, counterparty: str | None) -> Setting | None:
    if counterparty is None or entry.transaction_id is None:
        return None
    return Setting(entry.transaction_id, counterparty)


def _offer(entry: Entry, _: Inquiry) -> Mapping[str, Any] | None:
    setting, terms = _setting(entry, entry.party("offeree").organization_id), entry.payload.get("terms")
    return None if setting is None or not isinstance(terms, dict) else formation_act(OFFER_SUBMIT, setting, terms)


def _acceptance(entry: Entry, inquiry: Inquiry) -> Mapping[str, Any] | None:
    offer = inquiry.index.get(entry.payload.get("offer_id"), ObjectType.OFFER)
    if offer is None:
        return None
    setting, terms = _setting(entry, offer.party("offeror").organization_id), offer.payload.get("terms")
    return None if setting is None or not isinstance(terms, dict) else formation_act(OFFER_ACCEPT, setting, terms)


def _core(obligation: Entry, quantity: Any) -> dict[str, Any]:
    consideration = obligation.payload.get("consideration")
    return core_of(
        quantity, obligation.payload.get("unit_code"), consideration if isinstance(consideration, dict) else None)


def _obligation(entry: Entry, _: Inquiry) -> Mapping[str, Any] | None:
    setting, agreement_id = _setting(entry, entry.party("obligor").organization_id), entry.text("agreement_id")
    if setting is None or agreement_id is None:
        return None
    return issue_act(setting, _core(entry, entry.payload.get("quantity")), agreement_id)


def _assertion(entry: Entry, inquiry: Inquiry) -> Mapping[str, Any] | None:
    obligation = inquiry.index.get(entry.payload.get("obligation_id"), ObjectType.OBLIGATION)
    if obligation is None or obligation.id is None:
        return None
    setting = _setting(entry, obligation.party("obligee").organization_id)
    if setting is None:
        return None
    return assert_act(setting, _core(obligation, entry.payload.get("asserted_quantity")), obligation.id)


def _response(entry: Entry, inquiry: Inquiry) -> Mapping[str, Any] | None:
    obligation = inquiry.index.get(entry.payload.get("obligation_id"), ObjectType.OBLIGATION)
    if obligation is None or obligation.id is None:
        return None
    setting = _setting(entry, obligation.party("obligor").organization_id)
    kind, assertion_id = entry.payload.get("response_type"), entry.text("assertion_id")
    if setting is None:
        return None
    if kind == ResponseType.WAIVE:
        return waive_act(setting, _core(obligation, obligation.payload.get("quantity")), obligation.id)
    if assertion_id is None:
        return None
    if kind == ResponseType.ACCEPT:
        core = _core(obligation, entry.payload.get("accepted_quantity"))
        return answer_act(ACCEPTANCE_GRANTED, setting, core, assertion_id)
    assertion = inquiry.index.get(assertion_id, ObjectType.PERFORMANCE_EVENT)
    if kind != ResponseType.REJECT or assertion is None:
        return None
    core = _core(obligation, assertion.payload.get("asserted_quantity"))
    return answer_act(ACCEPTANCE_REJECTED, setting, core, assertion_id)


_REBUILDERS: Final[Mapping[ObjectType, _Rebuilder]] = {
    ObjectType.OFFER: _offer,
    ObjectType.ACCEPTANCE: _acceptance,
    ObjectType.OBLIGATION: _obligation,
    ObjectType.PERFORMANCE_EVENT: _assertion,
    ObjectType.OBLIGATION_RESPONSE: _response,
}
