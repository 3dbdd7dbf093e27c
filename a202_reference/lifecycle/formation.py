"""Direct formation of an agreement (rules 5.1; surface 2, create_agreement; design override 8).

Rules this module applies:

- the offeror's signed offer; the offeree's acceptance over that exact offer's hash, in the session that the
  offeror minted; `agreement.direct` from draft to agreement_pending; the agreement over the offer's terms,
  signed by both over the same bytes; the supplier's commitment; `agreement.committed` to committed;
- both events are the offeree's acts and cite its one policy decision; both parties sign each event;
- the agreement commits one commitment, of the supplier, with term path `$.terms.core`.

Everything is built in memory. Whether it may be recorded is judged before, whether it is well formed by the gate.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from a202_reference.canonical import value_hash
from a202_reference.documents.parties import Party
from a202_reference.identifiers import Prefix
from a202_reference.lifecycle.acts import OFFER_ACCEPT, OFFER_SUBMIT
from a202_reference.lifecycle.drafts import Draft
from a202_reference.lifecycle.events import Decided, Ledger, decision_draft, event_draft
from a202_reference.registries import ObjectType, Purpose

DIRECT = "agreement.direct"
COMMITTED = "agreement.committed"


@dataclass(frozen=True, slots=True)
class FormationRequest:
    """What two parties form. `offer_evidence_refs` may be short or full references."""

    buyer: Party
    supplier: Party
    supplier_offers: bool
    terms: Mapping[str, Any]
    offer_valid_until: str
    session_id: str
    offer_evidence_refs: tuple[Any, ...]

    @property
    def offeror(self) -> Party:
        """Who submits the offer."""
        return self.supplier if self.supplier_offers else self.buyer

    @property
    def offeree(self) -> Party:
        """Who accepts it."""
        return self.buyer if self.supplier_offers else self.supplier

    def action_of(self, party: Party) -> str:
        """The act each party must have been allowed."""
        return OFFER_SUBMIT if party == self.offeror else OFFER_ACCEPT


@dataclass(frozen=True, slots=True)
class Formation:
    """The drafts of one formation, in record order."""

    drafts: tuple[Draft, ...]
    offer_id: str
    acceptance_id: str
    agreement_id: str
    commitment_id: str
    terms_hash: str
    state: str


def offer_draft(request: FormationRequest, ledger: Ledger) -> Draft:
    """Step 1: the offer."""
    return ledger.drafting.draft(
        ObjectType.OFFER, Prefix.OFFER.minted(ledger.ids()), request.offeror,
        {
            "offeror": request.offeror.ref.document,
            "offeree": request.offeree.ref.document,
            "session_id": request.session_id,
            "supersedes_offer_id": None,
            "valid_until": request.offer_valid_until,
            "terms": request.terms,
            "evidence_refs": list(request.offer_evidence_refs),
        },
        (request.offeror, Purpose.OFFER_SUBMISSION))


def form(
    request: FormationRequest, offer: Draft, offeror: Decided, offeree: Decided, ledger: Ledger,
) -> Formation:
    """Steps 4, 5, 7, 8 and 9 over an offer draft. The rule set must admit `agreement.direct` from here."""
    acceptance = ledger.drafting.draft(
        ObjectType.ACCEPTANCE, Prefix.ACCEPTANCE.minted(ledger.ids()), request.offeree,
        {
            "offer_id": offer.id,
            "offer_hash": offer.content_hash,
            "session_id": request.session_id,
            "accepting_party": request.offeree.ref.document,
        },
        (request.offeree, Purpose.OFFER_ACCEPTANCE))
    offeror_decision = decision_draft(offeror, ledger)
    offeree_decision = decision_draft(offeree, ledger)
    direct = event_draft(
        DIRECT, offeree_decision, request.offeree, request.offeror, ledger,
        {"offer_id": offer.id, "acceptance_id": acceptance.id, "session_id": request.session_id})
    agreement, commitment = _agreement_drafts(request, offer, acceptance, ledger)
    committed = event_draft(
        COMMITTED, offeree_decision, request.offeree, request.offeror, ledger,
        {"agreement_id": agreement.id}, after=direct)
    return Formation(
        (offer, offeror_decision, acceptance, offeree_decision, direct, agreement, commitment, committed),
        offer.id, acceptance.id, agreement.id, commitment.id, agreement.body["payload"]["terms_hash"],
        committed.body["payload"]["to_state"])


def _agreement_drafts(
    request: FormationRequest, offer: Draft, acceptance: Draft, ledger: Ledger,
) -> tuple[Draft, Draft]:
    drafting, ids = ledger.drafting, ledger.ids
    commitment_id, agreement_id = Prefix.COMMITMENT.minted(ids()), Prefix.AGREEMENT.minted(ids())
    terms_hash = value_hash(request.terms)
    agreement = drafting.draft(
        ObjectType.AGREEMENT, agreement_id, request.offeree,
        {
            "accepted_offer_id": offer.id,
            "accepted_offer_hash": offer.content_hash,
            "acceptance_id": acceptance.id,
            "buyer": request.buyer.ref.document,
            "supplier": request.supplier.ref.document,
            "terms": request.terms,
            "terms_hash": terms_hash,
            "effective_at": drafting.created_at,
            "commitment_ids": [commitment_id],
        },
        (request.offeree, Purpose.AGREEMENT_COMMITMENT), (request.offeror, Purpose.AGREEMENT_COMMITMENT))
    commitment = drafting.draft(
        ObjectType.COMMITMENT, commitment_id, request.supplier,
        {
            "agreement_id": agreement_id,
            "committed_party": request.supplier.ref.document,
            "subject": {
                "agreement_id": agreement_id,
                "terms_hash": terms_hash,
                "profile": request.terms["profile"],
                "term_path": "$.terms.core",
            },
        },
        (request.supplier, Purpose.OBJECT_ISSUANCE))
    return agreement, commitment
