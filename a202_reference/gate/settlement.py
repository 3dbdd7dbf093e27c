"""Checks of settlement instructions (verification 5.10; rules 9.4, 12.5)."""

from __future__ import annotations

from collections.abc import Iterator

from a202_reference.codes import Code
from a202_reference.gate.common import Check
from a202_reference.gate.reading import Subject, is_one_of, members
from a202_reference.registries import COMMERCIAL_LAYER_ORGANIZATIONS, RAILS, ObjectType


def settlement_rail(subject: Subject) -> Iterator[Code]:
    """The rail is a registered one."""
    rail = subject.payload.get("rail")
    if not is_one_of(rail, RAILS):
        yield Code.SETTLEMENT_RAIL_UNKNOWN


def settlement_trigger(subject: Subject) -> Iterator[Code]:
    """A recorded act triggers the settlement."""
    act = members(subject.payload.get("trigger")).get("accepting_act_hash")
    if not act or (subject.lookup.holds_anything and not subject.lookup.resolves(act)):
        yield Code.SETTLEMENT_TRIGGER_ABSENT


def settlement_custody(subject: Subject) -> Iterator[Code]:
    """Money goes from one party to another, never to the commercial layer."""
    payee = subject.payload.get("payee_organization_id")
    if isinstance(payee, str) and (
            payee in COMMERCIAL_LAYER_ORGANIZATIONS or payee == subject.payload.get("payer_organization_id")):
        yield Code.SETTLEMENT_CUSTODY_REFUSED


CHECKS: dict[ObjectType, tuple[Check, ...]] = {
    ObjectType.SETTLEMENT_INSTRUCTION: (settlement_rail, settlement_trigger, settlement_custody),
}
