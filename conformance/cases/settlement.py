"""Families settlement and termination."""

from __future__ import annotations

from typing import Any

from a202_reference.codes import Code
from conformance.cases.registry import faulty, valid
from conformance.documents.formation import formed
from conformance.documents.performance import assertion, bundle, event, instruction, obligation, receipt, response
from conformance.world import BUYER, Document, sealed, stand_in, without


def _accepted() -> tuple[Document, ...]:
    agreed = formed()
    owed = obligation(agreed)
    asserted = assertion(owed)
    return agreed, owed, asserted, response(owed, asserted)


def _instruction(**payload: Any) -> Document:
    return instruction(_accepted()[-1], **payload)


def _termination(rules: str) -> Document:
    agreed = formed()
    owed = obligation(agreed)
    let_go = obligation(agreed, "fernhill_calibration_02", version=2, previous=owed["id"], minutes=9000,
                        state="released")
    ended = event("termination.agreed", "committed", "terminated", sequence=5,
                  data={"termination_record_hash": stand_in("termination record")})
    return bundle(agreed, owed, ended, let_go, rules_version_in_force=rules)


@valid("bundle")
def valid_settlement_instruction() -> Document:
    """A payment triggered by the hash of the accepting response beside it."""
    accepted = _accepted()
    return bundle(*accepted, instruction(accepted[-1]))


@valid("bundle")
def valid_settlement_of_act_elsewhere() -> Document:
    """The accepting act is not here; its hash is stated as resolvable."""
    paid = _instruction()
    return bundle(paid, resolvable_hashes=[paid["payload"]["trigger"]["accepting_act_hash"]])


@valid("kernel")
def valid_adapter_receipt() -> Document:
    """A receipt of the payment adapter."""
    return receipt(_instruction())


@valid("bundle")
def valid_consensual_termination() -> Document:
    """Both parties end the transaction under version 1.2, and the open obligation is released."""
    return _termination("1.2")


@faulty("kernel", Code.SETTLEMENT_RAIL_UNKNOWN)
def settlement_over_unregistered_rail() -> Document:
    """The rail is well-formed and not registered."""
    return _instruction(rail="rail_pigeon_post")


@faulty("kernel", Code.SETTLEMENT_TRIGGER_ABSENT)
def settlement_without_trigger() -> Document:
    """Nothing triggers the payment."""
    return sealed(without(_instruction(), "payload.trigger"))


@faulty("bundle", Code.SETTLEMENT_TRIGGER_ABSENT)
def settlement_of_act_held_nowhere() -> Document:
    """The triggering act is neither here nor stated as resolvable."""
    return bundle(formed(), _instruction())


@faulty("kernel", Code.SETTLEMENT_CUSTODY_REFUSED)
def settlement_to_the_layer_itself() -> Document:
    """The money would go to the commercial layer."""
    return _instruction(payee_organization_id="org_a202_operator")


@faulty("kernel", Code.SETTLEMENT_CUSTODY_REFUSED)
def settlement_to_the_payer() -> Document:
    """Payer and payee are one."""
    return _instruction(payee_organization_id=BUYER.organization_id)


@faulty("kernel", Code.TERMS_INVALID)
def settlement_of_amount_with_exponent() -> Document:
    """The amount is written with an exponent."""
    return _instruction(amount={"currency": "EUR", "amount": "1.25e3"})


@faulty("bundle", Code.EVIDENCE_TRANSITION_ILLEGAL)
def termination_before_its_rules() -> Document:
    """Version 1.0 does not know termination by agreement."""
    return _termination("1.0")
