"""Family offer, and annotated-offer and auction of the operated scope."""

from __future__ import annotations

from typing import Any

from a202_reference.codes import Code
from a202_reference.registries import Purpose
from conformance.cases.registry import faulty, valid
from conformance.documents.formation import offer, terms
from conformance.documents.performance import evidence_ref
from conformance.world import BUYER, SELLER, Document, at, changed, days, sealed, stand_in

FREIGHT = {
    "profile": "a202-profile/freight-spot/0.1",
    "core": {"description": "One lorry load of gauges, Delft to Turin", "quantity": "1", "unit_code": "E48",
             "total": {"currency": "EUR", "amount": "1180.00"}},
    "profile_terms": {
        "lane": {"origin_country": "NL", "destination_country": "IT"},
        "collection_window": {"earliest": at(days(9)), "latest": at(days(10)), "time_zone": "Europe/Amsterdam"},
        "equipment": "tautliner",
        "liability": {"regime": "CMR", "cap": {"currency": "EUR", "amount": "8000.00"}},
    },
}
ANNOTATIONS = {"policy_decision_id": "pol_copperline_01", "session_id": "ses_brightwater_fernhill_01",
               "session_sequence": 3, "received_at": at(61)}


def _terms(path: str, value: Any) -> Document:
    return offer(terms=changed(terms(), path, value))


@valid("kernel")
def valid_offer() -> Document:
    """A first offer under the calibration profile, with a session identifier minted by the seller."""
    return offer()


@valid("kernel")
def valid_offer_alternate_profile() -> Document:
    """An offer under the freight profile; the kernel needs no change for it."""
    return offer("fernhill_freight_01", terms=FREIGHT)


@valid("kernel")
def valid_offer_counter() -> Document:
    """A counteroffer: the roles change, the session stays, and the offer before it is named."""
    first = offer()
    document = offer("fernhill_02", minutes=90, supersedes_offer_id=first["id"], offeror=BUYER.party,
                     offeree=SELLER.party)
    return sealed({**document, "created_by": BUYER.author,
                   "signatures": [{**document["signatures"][0], "key_id": BUYER.key_id}]})


@valid("kernel")
def valid_offer_of_nothing_charged() -> Document:
    """A total of nought with a label for the unit, and a full evidence reference beside a short one."""
    free = terms(total={"currency": "EUR", "amount": "0"}, unit_name="piece")
    return offer(terms=free, evidence_refs=["evd_fernhill_accreditation_01", evidence_ref(locator_hint=None)])


@valid("kernel")
def valid_annotated_offer() -> Document:
    """A control plane annotated the offer after it was signed; hash and signature do not cover that."""
    return {**offer(), "kernel_annotations": ANNOTATIONS}


@faulty("kernel", Code.OFFER_EXPIRED)
def offer_valid_until_created() -> Document:
    """The offer ends at the instant it was made."""
    return offer(valid_until=at(60))


@faulty("kernel", Code.PROFILE_UNKNOWN)
def offer_profile_version_unregistered() -> Document:
    """The profile exists, but not in this version; the nearest one does not stand in."""
    return _terms("profile", "a202-profile/calibration-service/0.2")


@faulty("kernel", Code.PROFILE_TERMS_INVALID)
def offer_prepayment_above_whole() -> Document:
    """More than the whole price is to be paid in advance."""
    return _terms("profile_terms.payment.prepayment_percent", "100.5")


@faulty("kernel", Code.PROFILE_TERMS_INVALID)
def offer_days_without_calendar() -> Document:
    """Business days are promised without saying whose."""
    return _terms("profile_terms.completion", {"business_days_after_collection": 12})


@faulty("kernel", Code.TERMS_INVALID)
def offer_total_negative() -> Document:
    """The total is below nought."""
    return _terms("core.total.amount", "-1250.00")


@faulty("kernel", Code.TERMS_INVALID)
def offer_total_as_number() -> Document:
    """The total is a JSON number, which has no exact value here."""
    return {**_terms("core.total.amount", 1250.5), "content_hash": stand_in("no canonical form")}


@faulty("kernel", Code.TERMS_INVALID)
def offer_total_with_leading_zero() -> Document:
    """The amount is written with a leading nought."""
    return _terms("core.total.amount", "01250.00")


@faulty("kernel", Code.TERMS_INVALID)
def offer_quantity_too_fine() -> Document:
    """The quantity has ten digits after the point; nine are the most."""
    return _terms("core.quantity", "10.0000000001")


@faulty("kernel", Code.DISCLOSURE_DENIED)
def offer_tells_reserve_price() -> Document:
    """The seller's reserve price stands in the offer."""
    return offer(reserve_price="1100.00")


@faulty("kernel", Code.HASH_FORMAT_INVALID)
def offer_hash_in_capitals() -> Document:
    """The content hash is written in capitals."""
    document = offer()
    return {**document, "content_hash": document["content_hash"].upper()}


@faulty("kernel", Code.HASH_FORMAT_INVALID)
def offer_hash_as_multibase() -> Document:
    """The content hash is a multibase value."""
    return {**offer(), "content_hash": "zQmYtUc4iTCbbfVSDNKvtQqrfyezPPnFvE33wFmutw9PBBk"}


@faulty("kernel", None)
def offer_identifier_ends_in_line_feed() -> Document:
    """A line feed follows the identifier; a pattern's end is the end of the string."""
    return sealed(changed(offer(), "id", "off_fernhill_01\n"))


@faulty("kernel", None)
def offer_signed_on_day_that_is_none() -> Document:
    """It was signed on the thirtieth of February."""
    return sealed(changed(offer(), "signatures.0.signed_at", "2026-02-30T10:00:00Z"))


@faulty("kernel", None)
def offer_signed_with_offset() -> Document:
    """The time of signing has an offset; shared documents write UTC with a capital Z."""
    return sealed(changed(offer(), "signatures.0.signed_at", "2026-03-02T11:00:00+01:00"))


@faulty("kernel", None)
def offer_first_version_names_predecessor() -> Document:
    """Version one has nothing before it."""
    return sealed(changed(offer(), "previous_version_id", "off_fernhill_00"))


@faulty("kernel", None)
def offer_without_signature() -> Document:
    """Nobody signed."""
    return sealed(changed(offer(), "signatures", []))


@faulty("kernel", Code.LOT_UNKNOWN)
def auction_offer_for_award_unit() -> Document:
    """The offer names an award unit; there are none."""
    return offer(award_unit_id="unit-7")


@faulty("bundle", Code.EVIDENCE_SIGNATURE_INVALID)
def evidence_bundle_offer_signed_as_seal() -> Document:
    """The offer's signature is for an audit seal, which submits nothing."""
    document = offer()
    entry = {**document["signatures"][0], "purpose": Purpose.AUDIT_SEAL.value}
    return {"context": {}, "objects": [sealed({**document, "signatures": [entry]})]}
