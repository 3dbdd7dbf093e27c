"""Small envelopes for the tests of the lifecycle: only what the views read."""

from a202_reference.documents.envelope import Assertion, Event, Obligation, Response

BUYER = {"organization_id": "org_north", "agent_id": "agt_buyer"}
SUPPLIER = {"organization_id": "org_south", "agent_id": "agt_seller"}
SUBJECT = {
    "agreement_id": "agr_one", "terms_hash": "a" * 64, "profile": "a202-profile/calibration-service/0.1",
    "term_path": "$.terms.core"}
PRICE = {"currency": "EUR", "amount": "3200.00"}


def envelope(object_id, object_type, payload, content_hash="0" * 64):
    return {
        "id": object_id, "object_type": object_type, "version": 1, "created_at": "2026-08-20T10:00:00Z",
        "created_by": {**BUYER, "mandate_id": "mnd_one"}, "transaction_id": "txn_one", "previous_version_id": None,
        "content_hash": content_hash, "signatures": [], "payload": payload}


def event(number, previous, *, sequence=None, to_state=None, event_id=None, own=None):
    """The event whose content hash is `own` (default: h and its number), after the one whose hash is given."""
    payload = {
        "sequence": number if sequence is None else sequence, "event_type": "agreement.direct",
        "occurred_at": "2026-08-20T10:00:00Z", "previous_event_hash": previous, "action_hash": "b" * 64,
        "policy_decision_id": "pol_one", "from_state": "x", "to_state": to_state or f"state_{number}", "data": {}}
    return Event.of(envelope(event_id or f"evt_{number}", "transaction_event", payload, own or f"h{number}"))


def obligation(object_id="obl_one", **changes):
    payload = {
        "agreement_id": "agr_one", "obligor": SUPPLIER, "obligee": BUYER, "subject": SUBJECT,
        "due_condition": {"type": "due_at_time", "at": "2026-09-10T12:00:00Z"}, "quantity": "20", "unit_code": "H87",
        "consideration": PRICE, "state": "pending", **changes}
    return Obligation.of(envelope(object_id, "obligation", payload))


def assertion(object_id="prf_one", of="obl_one", quantity="20"):
    payload = {"obligation_id": of, "asserted_quantity": quantity, "unit_code": "H87", "evidence_refs": []}
    return Assertion.of(envelope(object_id, "performance_event", payload))


def response(kind, to="prf_one", of="obl_one", object_id="obr_one"):
    payload = {"obligation_id": of, "response_type": kind, **({} if kind == "waive" else {"assertion_id": to})}
    return Response.of(envelope(object_id, "obligation_response", payload))
