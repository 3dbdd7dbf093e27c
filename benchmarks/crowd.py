"""Many transactions on disk, and large bundles, made in bulk from the builders that the server uses."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path
from typing import Any

from a202_mcp.store import Batch, SqliteStore
from a202_mcp.workspace import Workspace
from a202_reference.canonical import value_hash
from a202_reference.documents.envelope import Agreement, Assertion, Event, Obligation
from a202_reference.documents.parties import Party
from a202_reference.lifecycle.acts import (
    ACCEPTANCE_GRANTED,
    OBLIGATION_ACTIVATED,
    PERFORMANCE_DECLARED,
    Setting,
    answer_act,
    assert_act,
    core_of,
    issue_act,
)
from a202_reference.lifecycle.drafts import Draft, Drafting
from a202_reference.lifecycle.events import Decided, Ledger
from a202_reference.lifecycle.obligations import (
    Recording,
    assertion_drafts,
    obligation_draft,
    record_act,
    response_draft,
)
from a202_reference.lifecycle.record import Record
from a202_reference.lifecycle.rules import CURRENT_VERSION, RULE_SETS
from a202_reference.times import format_instant
from benchmarks.walk import Lifecycle

KEPT = 4
"""Objects kept of each crowded transaction: what matters is how many transactions and rows are held."""


def crowd(place: Path, transactions: int) -> None:
    """Fill a state directory with copies of one formation under other identifiers."""
    workspace = Workspace.open(None)
    lifecycle = Lifecycle(workspace).prepare()
    lifecycle.form()
    objects = workspace.store.holdings(lifecycle.transaction_id).objects[:KEPT]
    text = json.dumps(objects)
    store = SqliteStore.open(place)
    store._connection.execute("PRAGMA synchronous=OFF")
    now = format_instant(datetime.now(UTC))
    for number in range(transactions):
        copied = text.replace(lifecycle.transaction_id, f"txn_crowd_{number}")
        for at, document in enumerate(objects):
            copied = copied.replace(document["id"], f"{document['id'][:4]}{number:020d}{at:04d}")
        store.commit(Batch(now=now, transaction_id=f"txn_crowd_{number}", objects=tuple(json.loads(copied))))
    store.close()


def large_bundle(size: int) -> dict[str, Any]:
    """The bundle of one record with `size` objects: ever more obligations, each asserted and accepted."""
    workspace = Workspace.open(None)
    lifecycle = Lifecycle(workspace).prepare()
    lifecycle.run()
    bundle = workspace.bundle(lifecycle.transaction_id)
    if bundle is None:
        raise AssertionError("the record that was just made is not held")
    more = _obligations(workspace, lifecycle, bundle)
    bundle["objects"] += islice(more, max(0, size - len(bundle["objects"])))
    bundle["head"]["object_count"] = len(bundle["objects"])
    return bundle


def _obligations(workspace: Workspace, lifecycle: Lifecycle, bundle: dict[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Signed objects of one obligation after the other, in record order; no event is registered any more."""
    objects = bundle["objects"]
    agreement = Agreement.of(next(found for found in objects if found["object_type"] == "agreement"))
    events = tuple(Event.of(found) for found in objects if found["object_type"] == "transaction_event")
    obligee, obligor = (Party.of(lifecycle.parties[role]) for role in ("buyer", "supplier"))
    script = lifecycle.script
    core = core_of(script.core["quantity"], script.core["unit_code"], script.core["total"])
    payload = {"term_path": "$.terms.core.quantity", "quantity": core["quantity"], "unit_code": core["unit_code"],
               "consideration": core["total"], "due_condition": {"type": "due_at_time", "at": script.data["due_at"]}}
    start = datetime.now(UTC)
    for number in range(1 << 30):
        now = format_instant(start + timedelta(seconds=number))
        drafting = Drafting(lifecycle.transaction_id, now)
        ledger = Ledger(Record(events, ()), RULE_SETS[CURRENT_VERSION], drafting, workspace.ids)
        book = _Book(workspace, bundle, ledger, now, script.data["geography"])
        draft = obligation_draft(agreement, agreement.commitment_ids[0], payload, obligor, obligee, ledger)
        act = issue_act(book.setting(obligor), core, agreement.envelope.id)
        yield from book.record(OBLIGATION_ACTIVATED, [draft], act, obligee, obligor)
        obligation = Obligation.of(draft.preview)
        asserted = assertion_drafts(obligation, core["quantity"], [script.evidence], obligor, ledger)
        act = assert_act(book.setting(obligee), core, draft.id)
        yield from book.record(PERFORMANCE_DECLARED, list(asserted), act, obligor, obligee)
        assertion = Assertion.of(asserted[-1].preview)
        answer = response_draft({
            "obligation_id": draft.id, "response_type": "accept", "assertion_id": assertion.envelope.id,
            "assertion_hash": asserted[-1].content_hash, "accepted_quantity": core["quantity"]}, obligee, ledger)
        act = answer_act(ACCEPTANCE_GRANTED, book.setting(obligor), core, assertion.envelope.id)
        yield from book.record(ACCEPTANCE_GRANTED, [answer], act, obligee, obligor)


class _Book:
    """Signs and notes the acts of one obligation."""

    def __init__(
        self, workspace: Workspace, bundle: dict[str, Any], ledger: Ledger, now: str, geography: str,
    ) -> None:
        self._workspace, self._bundle, self._ledger, self._now = workspace, bundle, ledger, now
        self._geography = geography

    def setting(self, other: Party) -> Setting:
        """Where the acts belong."""
        return Setting(self._ledger.drafting.transaction_id, other.organization_id, geography=self._geography)

    def record(
        self, event_type: str, drafts: list[Draft], act: dict[str, Any], actor: Party, other: Party,
    ) -> Iterator[Mapping[str, Any]]:
        """The signed objects of one act; its document and status answer go into the bundle."""
        action_hash = value_hash(act)
        decided = Decided(actor, action_hash, (actor.mandate_id,), self._now)
        recording: Recording = record_act(event_type, drafts, decided, other, self._ledger, {})
        self._bundle["acts"][action_hash] = act
        self._bundle["status_results"].append({
            "action_hash": action_hash, "mandate_id": actor.mandate_id, "status": "active",
            "retrieved_at": self._now})
        for draft in recording.drafts:
            yield draft.signed(self._signer)

    def _signer(self, key_id: str) -> Any:
        signer = self._workspace.keyring.signer(key_id)
        if signer is None:
            raise AssertionError(f"{key_id} is not held")
        return replace(signer)
