"""The obligation exchange: issue, assert with evidence, respond (rules 8; D-26, D-36; surface 2).

Rules this module applies:

- an obligation derives from an agreement by reference only: agreement id, terms hash, profile, term path; it
  is issued `pending` by the obligee; its assertion is the obligor's, every answer the obligee's;
- an act appends the aggregate event where that triple is registered from the present state; otherwise, and
  for every waiver, the signed object alone is the fact. An obligation so recorded is signed by both parties;
- each evidence entry becomes a signed evidence object of the obligor, referenced in full form;
- accepting less than is owed names a remainder: the same agreement, subject, unit and parties, its quantity
  exactly what is missing, its consideration null or at most the original's (`A202-OBLIGATION-REMAINDER-MISSING`);
  accepting nothing, or more than was asserted, or asserting more than is owed, or nothing: `A202-TERMS-INVALID`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from a202_reference.codes import Code, Refusal
from a202_reference.documents.envelope import Agreement, Assertion, Obligation
from a202_reference.documents.parties import Party
from a202_reference.identifiers import Prefix
from a202_reference.lifecycle.acts import (
    ACCEPTANCE_GRANTED,
    ACCEPTANCE_REJECTED,
    OBLIGATION_ACTIVATED,
)
from a202_reference.lifecycle.drafts import Draft
from a202_reference.lifecycle.events import Decided, Ledger, decision_draft, event_draft
from a202_reference.money import parse_amount, parse_quantity, subtract
from a202_reference.registries import ObjectType, Purpose, ResponseType

ANSWER_EVENTS: Mapping[str, str] = {
    ResponseType.ACCEPT: ACCEPTANCE_GRANTED,
    ResponseType.REJECT: ACCEPTANCE_REJECTED,
}


@dataclass(frozen=True, slots=True)
class Recording:
    """The drafts of one act in record order, and the state they reach."""

    drafts: tuple[Draft, ...]
    state: str


def obligation_draft(
    agreement: Agreement, commitment_id: str, payload: Mapping[str, Any], obligor: Party, obligee: Party,
    ledger: Ledger,
) -> Draft:
    """The obligation; `payload` gives term_path, due_condition, quantity, unit_code, consideration."""
    signatories = [(obligee, Purpose.OBJECT_ISSUANCE)]
    if not ledger.admits(OBLIGATION_ACTIVATED):
        signatories.append((obligor, Purpose.OBJECT_ISSUANCE))
    return ledger.drafting.draft(
        ObjectType.OBLIGATION, Prefix.OBLIGATION.minted(ledger.ids()), obligee,
        {
            "agreement_id": agreement.envelope.id,
            "commitment_id": commitment_id,
            "obligor": obligor.ref.document,
            "obligee": obligee.ref.document,
            "subject": {
                "agreement_id": agreement.envelope.id,
                "terms_hash": agreement.terms_hash,
                "profile": agreement.terms["profile"],
                "term_path": payload["term_path"],
            },
            "due_condition": payload["due_condition"],
            "quantity": payload["quantity"],
            "unit_code": payload["unit_code"],
            "consideration": payload["consideration"],
            "state": "pending",
        },
        *signatories)


def assertion_drafts(
    obligation: Obligation, quantity: str, evidence: Sequence[Mapping[str, Any]], obligor: Party, ledger: Ledger,
) -> tuple[Draft, ...]:
    """The evidence objects, then the assertion that references them in full form."""
    drafting, ids = ledger.drafting, ledger.ids
    objects = [
        drafting.draft(
            ObjectType.EVIDENCE, Prefix.EVIDENCE.minted(ids()), obligor, dict(entry),
            (obligor, Purpose.OBJECT_ISSUANCE))
        for entry in evidence]
    references = [
        {
            "evidence_id": draft.id,
            "content_hash": draft.content_hash,
            "evidence_type": draft.body["payload"].get("evidence_type"),
            "signed_by": obligor.ref.document,
        }
        for draft in objects]
    assertion = drafting.draft(
        ObjectType.PERFORMANCE_EVENT, Prefix.PERFORMANCE_EVENT.minted(ids()), obligor,
        {
            "obligation_id": obligation.envelope.id,
            "asserted_quantity": quantity,
            "unit_code": obligation.unit_code,
            "evidence_refs": references,
        },
        (obligor, Purpose.OBJECT_ISSUANCE))
    return (*objects, assertion)


def response_draft(payload: Mapping[str, Any], obligee: Party, ledger: Ledger) -> Draft:
    """The obligee's answer; members without a value are left out."""
    return ledger.drafting.draft(
        ObjectType.OBLIGATION_RESPONSE, Prefix.OBLIGATION_RESPONSE.minted(ledger.ids()), obligee,
        {name: member for name, member in payload.items() if member is not None},
        (obligee, Purpose.OBJECT_ISSUANCE))


def record_act(
    event_type: str | None, objects: Sequence[Draft], decided: Decided, other: Party, ledger: Ledger,
    data: Mapping[str, Any],
) -> Recording:
    """Decision, objects and, where the triple is registered from here, the event (D-26)."""
    decision = decision_draft(decided, ledger)
    drafts = (decision, *objects)
    if event_type is None or not ledger.admits(event_type):
        return Recording(drafts, ledger.record.state)
    event = event_draft(event_type, decision, decided.party, other, ledger, data)
    return Recording((*drafts, event), event.body["payload"]["to_state"])


def asserted_fault(obligation: Obligation, asserted: str) -> Refusal | None:
    """D-36: an assertion is of something, and of no more than is owed."""
    quantity, owed = parse_quantity(asserted), parse_quantity(obligation.quantity)
    if quantity is None or owed is None or quantity == 0 or quantity > owed:
        return Refusal.of(
            Code.TERMS_INVALID,
            f"asserted_quantity must be more than 0 and at most the {obligation.quantity} that is owed")
    return None


def acceptance_fault(
    obligation: Obligation, assertion: Assertion, accepted: str, remainder: Obligation | None,
) -> Refusal | None:
    """Rules 8.4 on quantities; `remainder` is the obligation named for the rest, where one is held."""
    quantity, asserted = parse_quantity(accepted), parse_quantity(assertion.asserted_quantity)
    owed = parse_quantity(obligation.quantity)
    if quantity is None or asserted is None or owed is None or quantity == 0 or quantity > asserted:
        return Refusal.of(
            Code.TERMS_INVALID,
            f"accepted_quantity must be more than 0 and at most the asserted {assertion.asserted_quantity}")
    if quantity >= owed:
        return None
    missing = subtract(owed, quantity)
    if remainder is None or not _is_remainder(obligation, remainder) \
            or parse_quantity(remainder.quantity) != missing:
        return Refusal.of(
            Code.OBLIGATION_REMAINDER_MISSING,
            f"{accepted} of {obligation.quantity} leaves {missing:f} {obligation.unit_code}: issue an obligation over "
            f"exactly that, with the same agreement, term path, unit and parties, and name it in "
            f"remainder_obligation_id")
    return None


def _is_remainder(original: Obligation, remainder: Obligation) -> bool:
    same = (
        original.agreement_id == remainder.agreement_id
        and original.subject == remainder.subject
        and original.unit_code == remainder.unit_code
        and original.obligor == remainder.obligor
        and original.obligee == remainder.obligee
        and original.envelope.id != remainder.envelope.id)
    return same and _consideration_fits(original.consideration, remainder.consideration)


def _consideration_fits(original: Mapping[str, Any] | None, split: Mapping[str, Any] | None) -> bool:
    if split is None:
        return True
    if original is None or split["currency"] != original["currency"]:
        return False
    part, whole = parse_amount(split["amount"]), parse_amount(original["amount"])
    return part is not None and whole is not None and part <= whole
