"""What the three obligation acts share: finding their record, opening the ledger, and committing (surface 3)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from a202_mcp.bilateral.authorisation import PartyAct, authorise_acts
from a202_mcp.recording import Once, Pending, batch_of, with_once
from a202_mcp.workspace import Workspace
from a202_reference.authority.presented import Authorised, mandate_fault
from a202_reference.codes import Code, Refusal
from a202_reference.documents.mandate import Mandate
from a202_reference.documents.parties import Party, PartyRef
from a202_reference.lifecycle.acts import Setting
from a202_reference.lifecycle.drafts import Draft, Drafting
from a202_reference.lifecycle.events import Ledger
from a202_reference.lifecycle.holdings import Holdings
from a202_reference.lifecycle.record import Record
from a202_reference.lifecycle.rules import CURRENT_VERSION, RuleSet, rule_set
from a202_reference.money import is_money, parse_quantity
from a202_reference.times import format_instant


@dataclass(frozen=True, slots=True)
class Opened:
    """The record one act extends, as it was read, and the instant of the call."""

    holdings: Holdings
    ledger: Ledger
    now: datetime


def transaction_of(workspace: Workspace, object_id: str, object_type: str) -> str | None:
    """The transaction that holds this object, or None where none does."""
    document = workspace.store.held_object(object_id)
    return document["transaction_id"] if document is not None and document["object_type"] == object_type else None


def unknown(member: str, object_id: str) -> Refusal:
    """The refusal of a reference that leads nowhere."""
    return Refusal.of(Code.OBLIGATION_SUBJECT_UNREFERENCED, f"{member} {object_id} is not held here")


def open_record(
    workspace: Workspace, transaction_id: str, parties: Sequence[Party], arguments: Mapping[str, Any],
) -> Opened | Refusal:
    """Read the record and take the call's instant."""
    version = arguments.get("rules_version", CURRENT_VERSION)
    rules = rule_set(version)
    if rules is None:
        return Refusal.of(
            Code.STATE_TRANSITION_DENIED,
            f"rules_version {version} is not registered: leave it out, or send \"{CURRENT_VERSION}\"")
    now = workspace.now(transaction_id, [party.key_id for party in parties])
    holdings = workspace.store.holdings(transaction_id)
    if not _made_under(rules, holdings.record):
        return Refusal.of(
            Code.STATE_TRANSITION_DENIED,
            f"the record was not made under rules_version {version}: leave it out; a record keeps its version")
    ledger = Ledger(holdings.record, rules, Drafting(transaction_id, format_instant(now)), workspace.ids)
    return Opened(holdings, ledger, now)


def _made_under(rules: RuleSet, record: Record) -> bool:
    """D-28: a record's version is fixed at its first event, so every move it holds is one of that version."""
    return all(rules.target("transaction", event.from_state, event.event_type) == event.to_state
               for event in record.events)


def party_fault(code: Code, member: str, party: Party, named: PartyRef) -> Refusal | None:
    """Why a party given is not the one that the record names, or None where it is."""
    if party.ref == named:
        return None
    return Refusal.of(
        code, f"{member} must be {named.agent_id} of {named.organization_id}, not {party.agent_id} of "
              f"{party.organization_id}")


def countersigner_fault(workspace: Workspace, member: str, party: Party, now: datetime) -> Refusal | None:
    """Why the party that does not act cannot sign beside the one that does.

    Its key is the one that its mandate names, and the mandate is valid now; no act of its own is judged (D-18).
    """
    mandate = workspace.mandate(party.mandate_id)
    fault = mandate_fault(party, mandate)
    if fault is not None or mandate is None:
        return Refusal.of(Code.POLICY_DENIED, f"{member}: {fault}")
    if Mandate.of(mandate).in_force(now):
        return None
    interval = f"from {mandate['valid_from']} until {mandate['valid_until']}"
    return Refusal.of(Code.MANDATE_INACTIVE, f"{member}: {party.mandate_id} is valid {interval}")


def quantity_fault(member: str, value: object) -> Refusal | None:
    """Why a quantity is not of its form, or None."""
    if parse_quantity(value) is not None:
        return None
    return Refusal.of(Code.TERMS_INVALID, f"{member} must be a base-10 quantity as text, such as \"20\" or \"2.5\"")


def money_fault(member: str, value: object) -> Refusal | None:
    """Why an optional consideration is not of its form, or None."""
    if value is None or is_money(value):
        return None
    return Refusal.of(
        Code.TERMS_INVALID,
        f"{member} must hold currency (three capitals) and amount (base-10 text, such as \"3200.00\")")


def setting_of(opened: Opened, other: Party, arguments: Mapping[str, Any]) -> Setting:
    """Where an act belongs."""
    return Setting(
        opened.holdings.transaction_id, other.organization_id, arguments.get("category"), arguments.get("geography"))


def authorise(workspace: Workspace, opened: Opened, act: PartyAct) -> Authorised | Refusal:
    """The act authorised now, or why not."""
    allowed = authorise_acts(workspace, [act], opened.now)
    return allowed if isinstance(allowed, Refusal) else allowed[0]


def commit_of(
    workspace: Workspace, opened: Opened, drafts: Sequence[Draft], allowed: Authorised, once: Once,
    result: Mapping[str, Any],
) -> Pending | Refusal:
    """Keys, gate, signatures, batch: the end of every recording act."""
    refusal = workspace.unheld(key_id for draft in drafts for key_id, _ in draft.signatories)
    if refusal is not None:
        return refusal
    objects = workspace.signed(drafts, opened.holdings)
    if isinstance(objects, Refusal):
        return objects
    batch = batch_of(opened.holdings, opened.now, objects, [allowed])
    return Pending(with_once(batch, once, result), result)
