"""Reading the state back: a transaction's record, its bundle, the list of transactions (surface 2, 5, 6).

Rules this module applies:

- a record says whether anything is held under its id (`known`): an unknown transaction and one that has not
  moved both read `draft`, and are told apart;
- a bundle is made of what was recorded, or not at all: the state is held against its seals first (ADR 9);
- a bundle holds all that a stranger needs: every object of the transaction, the mandates that the objects cite,
  their ancestors, the mandates that bind an approving key, each key that signed any of these, the act documents
  and the presented status answers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from itertools import islice
from typing import Any

from a202_mcp.seal import Fault
from a202_mcp.store import DamagedError, Store
from a202_reference.documents.envelope import Event
from a202_reference.evidence.bundle import build_bundle
from a202_reference.gate.reading import items, members
from a202_reference.keys import KeyBinding
from a202_reference.lifecycle.rules import CURRENT_VERSION, RULE_SETS
from a202_reference.registries import ObjectType


def record(
    store: Store, transaction_id: str, after_sequence: int = 0, limit: int | None = None,
) -> dict[str, Any]:
    """The record of surface 2, get_transaction_record; `after_sequence` and `limit` choose among its events."""
    holdings = store.holdings(transaction_id)
    found = holdings.record
    events = [event for event in found.events if event.sequence > after_sequence][:limit]
    return {
        "transaction_id": transaction_id,
        "known": bool(holdings.objects),
        "state": found.state,
        "events": [_event(event) for event in events],
        "chain": "linked" if found.linked else "broken",
        "chain_refusal": found.refusal.value if found.refusal else None,
        "unlinked_events": [event.envelope.id for event in found.unlinked],
        "objects": [document["id"] for document in holdings.objects],
    }


def transactions(store: Store, limit: int) -> dict[str, Any]:
    """How many transactions are held, and the newest with their states."""
    count, newest = store.transactions(limit)
    return {
        "count": count,
        "transactions": [
            {"transaction_id": transaction_id, "state": store.holdings(transaction_id).record.state}
            for transaction_id in newest],
    }


def bundle(store: Store, transaction_id: str, now: datetime) -> dict[str, Any] | None:
    """The exported bundle of surface 6, or None where nothing is held under that id. Raises DamagedError."""
    holdings = store.holdings(transaction_id)
    if not holdings.objects:
        return None
    mandates = cited_mandates(store, holdings.objects)
    faults = state_faults(store, transaction_id, holdings.objects)
    if faults:
        raise DamagedError(faults)
    return build_bundle(
        transaction_id=transaction_id,
        objects=holdings.objects,
        mandates=tuple(mandates.values()),
        keys=signing_keys(store, holdings.objects, mandates.values()),
        acts=store.acts(transaction_id),
        status_results=store.status_results(transaction_id),
        exported_at=now,
        exported_by=None,
        rules=RULE_SETS[CURRENT_VERSION])


def cited_mandates(store: Store, objects: Iterable[Mapping[str, Any]]) -> dict[str, Mapping[str, Any]]:
    """Every held mandate that these objects rest on, its ancestors and approvers' binding mandates included.

    Total: the objects may be anybody's.
    """
    found: dict[str, Mapping[str, Any]] = {}
    for document in objects:
        for mandate_id in _mandate_ids(document):
            _with_ancestors(store, mandate_id, found)
        if members(document).get("object_type") == ObjectType.APPROVAL:
            for key_id in _key_ids(document):
                found.update({mandate["id"]: mandate for mandate in islice(store.mandates_naming(key_id), 1)})
    return found


def signing_keys(
    store: Store, objects: Iterable[Mapping[str, Any]], mandates: Iterable[Mapping[str, Any]],
) -> tuple[KeyBinding, ...]:
    """The held bindings of every key that an object's signature or a mandate names. Total, as above."""
    bindings = (store.key(key_id) for key_id in named_keys(objects, mandates))
    return tuple(binding for binding in bindings if binding is not None)


def named_keys(objects: Iterable[Mapping[str, Any]], mandates: Iterable[Mapping[str, Any]]) -> tuple[str, ...]:
    """Every key that an object's signature or a mandate names, each once. Total, as above."""
    key_ids: dict[str, None] = {}
    for document in objects:
        key_ids.update(dict.fromkeys(_key_ids(document)))
    for mandate in mandates:
        named = (members(members(mandate).get(role)).get("key_id") for role in ("issuer", "subject"))
        key_ids.update(dict.fromkeys(key_id for key_id in named if isinstance(key_id, str)))
    return tuple(key_ids)


def state_faults(store: Store, transaction_id: str, objects: Iterable[Mapping[str, Any]]) -> tuple[Fault, ...]:
    """Every part of the state that this record rests on and that is not what was recorded. Total, as above.

    What an approval names is not looked for: it is recorded whoever asked for it (surface 2).
    """
    recorded = tuple(objects)
    mandates = cited_mandates(store, recorded)
    named = {mandate_id for document in recorded if members(document).get("object_type") != ObjectType.APPROVAL
             for mandate_id in _mandate_ids(document)}
    named |= {mandate["parent_mandate_id"] for mandate in mandates.values()} - {None}
    return store.faults(transaction_id, sorted(named | mandates.keys()), named_keys(recorded, mandates.values()))


def _mandate_ids(document: object) -> Iterator[str]:
    payload, author = (members(members(document).get(name)) for name in ("payload", "created_by"))
    for mandate_id in (author.get("mandate_id"), *items(payload.get("mandate_ids"))):
        if isinstance(mandate_id, str):
            yield mandate_id


def _key_ids(document: object) -> list[str]:
    named = (members(entry).get("key_id") for entry in items(members(document).get("signatures")))
    return [key_id for key_id in named if isinstance(key_id, str)]


def _with_ancestors(store: Store, mandate_id: object, found: dict[str, Mapping[str, Any]]) -> None:
    while isinstance(mandate_id, str) and mandate_id not in found:
        mandate = store.mandate(mandate_id)
        if mandate is None:
            return
        found[mandate_id] = mandate
        mandate_id = mandate["parent_mandate_id"]


def _event(event: Event) -> dict[str, Any]:
    return {
        "event_id": event.envelope.id,
        "sequence": event.sequence,
        "event_type": event.event_type,
        "from_state": event.from_state,
        "to_state": event.to_state,
        "occurred_at": event.occurred_at,
        "previous_event_hash": event.previous_event_hash,
        "content_hash": event.envelope.content_hash,
        "signed_by": event.signed_by,
        "policy_decision_id": event.policy_decision_id,
        "action_hash": event.action_hash,
        "data": dict(event.data),
    }


