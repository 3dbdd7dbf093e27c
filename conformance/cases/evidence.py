"""Family evidence-and-verification: evidence references and the record as a whole."""

from __future__ import annotations

from typing import Any

from a202_reference.canonical import value_hash
from a202_reference.codes import Code
from a202_reference.registries import Purpose
from conformance.cases.registry import faulty, valid
from conformance.documents.formation import acceptance, agreement, formed, offer
from conformance.documents.performance import assertion, bundle, event, evidence, evidence_ref, obligation
from conformance.world import ADDRESSES, BUYER, Document, changed, days, stand_in

GAP = Code.EVIDENCE_CHAIN_GAP
ILLEGAL = Code.EVIDENCE_TRANSITION_ILLEGAL


def _referring(**members: Any) -> Document:
    return assertion(obligation(formed()), evidence_refs=[evidence_ref(**members)])


def _events(*moves: tuple[str, str, str], **payload: Any) -> list[Document]:
    made: list[Document] = []
    for number, move in enumerate(moves, start=1):
        made.append(event(*move, sequence=number, after=made[-1] if made else None, **payload))
    return made


OPENING = (("request.published", "draft", "published"), ("qualification.started", "published", "qualifying"),
           ("negotiation.opened", "qualifying", "negotiating"))


@valid("kernel")
def valid_evidence_object() -> Document:
    """A laboratory's certificate, verified by the buyer."""
    return evidence()


@valid("kernel")
def valid_evidence_reference() -> Document:
    """A full reference with a hint where to look."""
    return _referring(locator_hint=ADDRESSES["certificate"])


@valid("bundle")
def valid_evidence_bundle_from_boundary() -> Document:
    """A record disclosed from its fourth event on: what came before is a stated boundary, not a gap."""
    selected = event("offer.selected", "negotiating", "agreement_pending", sequence=4,
                     previous_event_hash=stand_in("third event"), data={"offer_id": "off_fernhill_01"})
    return bundle(selected, event("agreement.committed", "agreement_pending", "committed", sequence=5,
                                  after=selected))


@valid("bundle")
def valid_evidence_rules_per_event() -> Document:
    """One event is replayed under version 1.1, which lets an exception complete; the others under 1.0."""
    opened = event("exception.opened", "committed", "exception_open", sequence=8,
                   previous_event_hash=stand_in("seventh event"))
    done = event("transaction.completed", "exception_open", "completed", sequence=9, after=opened)
    return bundle(opened, done, event_rules_in_force={done["id"]: "1.1"})


@faulty("kernel", Code.HASH_FORMAT_INVALID)
def evidence_reference_hash_in_capitals() -> Document:
    """The reference's hash is written in capitals."""
    return _referring(content_hash=stand_in("certificate of the ten gauges").upper())


@faulty("kernel", Code.EVIDENCE_TYPE_UNKNOWN)
def evidence_reference_of_unregistered_type() -> Document:
    """The evidence is of a type that is not registered."""
    return _referring(evidence_type="hearsay")


@faulty("kernel", Code.DISCLOSURE_DENIED)
def evidence_reference_hint_with_bearer() -> Document:
    """The hint carries a bearer credential."""
    return _referring(locator_hint=ADDRESSES["certificate with credential"])


@faulty("bundle", Code.EVIDENCE_HASH_MISMATCH)
def evidence_bundle_object_altered() -> Document:
    """One letter of the offer was changed after it was sealed."""
    return bundle(changed(offer(), "payload.terms.core.unit_code", "H86"))


@faulty("bundle", Code.EVIDENCE_HASH_MISMATCH)
def evidence_bundle_hash_over_annotations() -> Document:
    """The declared hash covers the annotations, which are no part of what is hashed."""
    annotations = {"policy_decision_id": "pol_copperline_01", "session_id": None, "session_sequence": 3,
                   "received_at": "2026-03-02T10:01:00Z"}
    document = {**offer(), "kernel_annotations": annotations}
    hashed = {name: member for name, member in document.items() if name not in ("content_hash", "signatures")}
    return bundle({**document, "content_hash": value_hash(hashed)})


@faulty("bundle", Code.EVIDENCE_SIGNATURE_INVALID)
def evidence_bundle_agreement_signed_once() -> Document:
    """An agreement of one party, among others' objects."""
    made = offer()
    return bundle(made, agreement(made, acceptance(made), signed=[(BUYER, Purpose.AGREEMENT_COMMITMENT)]))


def _versions(second: int, *, named: str = "agr_brightwater_01") -> Document:
    made = offer()
    first = agreement(made, acceptance(made))
    again = offer("fernhill_02", minutes=days(2))
    later = agreement(again, acceptance(again, "brightwater_02", minutes=days(2) + 5), "brightwater_02",
                      version=second, previous=named, minutes=days(2) + 9)
    return bundle(first, later)


@faulty("bundle", GAP)
def evidence_bundle_version_left_out() -> Document:
    """Version three names version one."""
    return _versions(3)


@faulty("bundle", GAP)
def evidence_bundle_versions_fork() -> Document:
    """Two second versions of one agreement."""
    forked = _versions(2)
    again = offer("fernhill_03", minutes=days(3))
    other = agreement(again, acceptance(again, "brightwater_03", minutes=days(3) + 5), "brightwater_03",
                      version=2, previous="agr_brightwater_01", minutes=days(3) + 9)
    return {**forked, "objects": [*forked["objects"], other]}


@faulty("bundle", GAP)
def evidence_bundle_identifier_used_twice() -> Document:
    """Two offers of different bytes under one identifier."""
    return bundle(offer(), offer(minutes=61))


@faulty("bundle", GAP)
def evidence_bundle_event_left_out() -> Document:
    """The second of three events is missing."""
    first, _, third = _events(*OPENING)
    return bundle(first, third)


@faulty("bundle", GAP)
def evidence_bundle_event_follows_wrong_one() -> Document:
    """The third event names the first as the one before it."""
    first, second, _ = _events(*OPENING)
    third = event(*OPENING[2], sequence=3, after=first)
    return bundle(first, second, third)


@faulty("bundle", ILLEGAL)
def evidence_bundle_state_jumps() -> Document:
    """From draft straight to committed."""
    return bundle(event("agreement.committed", "draft", "committed"))


@faulty("bundle", ILLEGAL)
def evidence_bundle_state_broken_off() -> Document:
    """Two legal moves, of which the second does not start where the first ended."""
    return bundle(*_events(OPENING[0], ("negotiation.opened", "qualifying", "negotiating")))


@faulty("bundle", ILLEGAL)
def evidence_bundle_session_move_on_transaction() -> Document:
    """A move of sessions on a transaction's stream."""
    return bundle(event("offer.submitted", "opened", "active", data={"offer_id": "off_fernhill_01"}))


@faulty("bundle", ILLEGAL)
def evidence_bundle_judged_by_todays_rules() -> Document:
    """A move that is legal from version 1.1 on, for an event under 1.0."""
    opened = event("exception.opened", "committed", "exception_open", sequence=8,
                   previous_event_hash=stand_in("seventh event"))
    done = event("transaction.completed", "exception_open", "completed", sequence=9, after=opened)
    return bundle(opened, done, rules_version_in_force="1.3", event_rules_in_force={done["id"]: "1.0"})


@faulty("bundle", ILLEGAL)
def evidence_bundle_under_rules_never_published() -> Document:
    """A version that was never published is in force."""
    return bundle(event(*OPENING[0]), rules_version_in_force="2.0")


