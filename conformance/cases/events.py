"""Families session-event, auction and stream-disclosure of the operated scope."""

from __future__ import annotations

from typing import Any

from a202_reference.codes import Code
from conformance.cases.registry import faulty, valid
from conformance.documents.performance import bundle, event
from conformance.world import SESSION, TRANSACTION, Document

VIOLATION = Code.DISCLOSURE_POLICY_VIOLATION
SESSION_STREAM = {"kind": "session", "id": SESSION}


def _session(event_type: str, before: str, after: str, **payload: Any) -> Document:
    return event(event_type, before, after, name="session_01", **{"stream": SESSION_STREAM, **payload})


def _award(**data: Any) -> Document:
    return event("offer.selected", "negotiating", "agreement_pending", sequence=4,
                 data={"offer_id": "off_fernhill_01", **data})


@valid("kernel")
def valid_session_offer_event() -> Document:
    """An offer on a session stream, by reference only."""
    return _session("offer.submitted", "opened", "active",
                    data={"offer_id": "off_fernhill_01", "supersedes_offer_id": None})


@valid("kernel")
def valid_session_close_event() -> Document:
    """A session closes with a neutral reason and nothing else."""
    return _session("session.closed", "accepted", "closed", data={"close_reason": "not_selected"})


@valid("kernel")
def valid_transaction_event_references() -> Document:
    """An award by references only."""
    return _award(session_id=SESSION, acceptance_id="acc_brightwater_01")


@valid("bundle")
def valid_session_stream_alone() -> Document:
    """A session's stream from its start, two events long, under the default rules."""
    first = _session("offer.submitted", "opened", "active", data={"offer_id": "off_fernhill_01"})
    second = event("offer.accepted", "active", "accepted", sequence=2, after=first, name="session_02",
                   stream=SESSION_STREAM, data={"acceptance_id": "acc_brightwater_01"})
    return bundle(second, first)


@faulty("kernel", VIOLATION)
def session_event_with_note() -> Document:
    """A note in free words on a session event."""
    return _session("clarification.sent", "active", "active", data={"note": "They ask for more time."})


@faulty("kernel", VIOLATION)
def session_event_with_foreign_prefix() -> Document:
    """An identifier of another kind where a clarification belongs."""
    return _session("clarification.sent", "active", "active", data={"clarification_id": "off_quayside_44"})


@faulty("kernel", VIOLATION)
def auction_close_with_unregistered_reason() -> Document:
    """A session closes for a reason that tells too much."""
    return _session("session.closed", "accepted", "closed", data={"close_reason": "underbid_by_quayside"})


@faulty("kernel", VIOLATION)
def auction_close_counts_bidders() -> Document:
    """The closing event says how many took part."""
    return _session("session.closed", "accepted", "closed", data={"close_reason": "not_selected", "bidder_count": 3})


@faulty("kernel", Code.AUCTION_FORMAT_UNSUPPORTED)
def auction_event_on_auction_stream() -> Document:
    """A kind of stream that is not defined."""
    return event("offer.selected", "negotiating", "agreement_pending", stream={"kind": "auction", "id": TRANSACTION})


@faulty("kernel", VIOLATION)
def transaction_event_names_best_price() -> Document:
    """The award says what the best price was, in a member deep inside."""
    return _award(offer_id="off_fernhill_01", remediation_hash={"standing": {"Best_Price": "1250.00"}})


@faulty("kernel", VIOLATION)
def transaction_event_restates_total() -> Document:
    """The award repeats the price instead of pointing at it."""
    return _award(total="1250.00")


@faulty("bundle", Code.EVIDENCE_CHAIN_GAP)
def stream_begins_in_another() -> Document:
    """A session's first event follows an event of the transaction."""
    published = event("request.published", "draft", "published", data={"request_id": "req_brightwater_01"})
    first = _session("offer.submitted", "opened", "active", previous_event_hash=published["content_hash"],
                     data={"offer_id": "off_fernhill_01"})
    return bundle(published, first)
