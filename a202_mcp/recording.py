"""What a recording call builds before anything is written (design, "All or nothing"; surface 3).

Rules this module applies:

- every draft of a call is judged by the gate as it will stand in the record, over the record it extends;
  the first one that is refused answers;
- a batch carries the objects, the act documents, the presented status answers and the approvals used up,
  against the revision that was read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from a202_mcp.store import Batch, Idempotency
from a202_reference.authority.presented import Authorised
from a202_reference.canonical import NotCanonicalError
from a202_reference.codes import Code, Refusal, distinct
from a202_reference.gate import Lookup, judge_mandate, judge_object
from a202_reference.lifecycle.drafts import Draft
from a202_reference.lifecycle.holdings import Holdings
from a202_reference.profiles import ProfileRegistry, installed_profiles
from a202_reference.signing import Signer
from a202_reference.times import format_instant

_DECISIONS = frozenset({"decision", "buyer_decision", "supplier_decision"})


@dataclass(frozen=True, slots=True)
class Pending:
    """A recording call that nothing refused: what to write, which new key pairs to keep, what to answer."""

    batch: Batch
    result: Mapping[str, Any]
    signers: tuple[Signer, ...] = ()


@dataclass(frozen=True, slots=True)
class Call:
    """A recording call as it is known to idempotency: tool, transaction (None for a mandate), who acts, with what."""

    tool: str
    transaction_id: str | None
    organization_id: str
    arguments: Mapping[str, Any]

    @property
    def content(self) -> dict[str, Any]:
        """What two calls under one idempotency key must have in common (D-17).

        Of a decision that is its act: a client that lost an answer has to verify again before it repeats the call.
        """
        return {
            name: value.get("action_hash") if name in _DECISIONS and isinstance(value, Mapping) else value
            for name, value in self.arguments.items() if name != "idempotency_key"}


@dataclass(frozen=True, slots=True)
class Once:
    """A call's claim to an idempotency key. `scope` is None where the caller named none."""

    scope: str | None
    content_hash: str = ""

    def written(self, result: Mapping[str, Any]) -> Idempotency | None:
        """The entry that remembers the first result."""
        return None if self.scope is None else Idempotency(self.scope, self.content_hash, result)


def mandate_gate(document: Mapping[str, Any]) -> tuple[tuple[str, ...], tuple[Code, ...]]:
    """The gate over one mandate, in the form the evaluation takes it."""
    judgement = judge_mandate(document)
    return judgement.schema_errors, judgement.codes


def gate_drafts(drafts: Sequence[Draft], holdings: Holdings, profiles: ProfileRegistry | None) -> Refusal | None:
    """Judge every draft as it will stand in the record; the first one that is refused answers."""
    try:
        previews = {draft.id: draft.preview for draft in drafts}
        shapes = {draft.id: draft.shape_errors for draft in drafts}
    except NotCanonicalError as refused:
        return Refusal.of(Code.TERMS_INVALID, f"{refused}: write amounts and quantities as strings, such as \"20\"")
    lookup = Lookup.over({**holdings.by_id, **previews}, profiles)
    for object_id, preview in previews.items():
        judgement = judge_object(preview, lookup, shapes[object_id])
        if judgement.codes or judgement.schema_errors:
            codes = distinct(judgement.codes) or (Code.POLICY_DENIED,)
            said = [*judgement.schema_errors[:3], *_about_profile(codes, preview, profiles or installed_profiles())]
            said = said or [code.meaning for code in codes]
            return Refusal(codes, f"the {preview['object_type']}: {'; '.join(said)}")
    return None


def _about_profile(codes: Sequence[Code], preview: Mapping[str, Any], profiles: ProfileRegistry) -> list[str]:
    """Which profiles there are, or what this one says of the terms, for a caller that has to write them."""
    terms = preview["payload"].get("terms")
    if not isinstance(terms, Mapping):
        return []
    if Code.PROFILE_UNKNOWN in codes:
        return [f"terms.profile is not registered here; registered are {', '.join(profiles.ids)}"]
    if Code.PROFILE_TERMS_INVALID in codes:
        faults = profiles.errors(terms.get("profile"), terms.get("profile_terms", {})) or ()
        return [f"terms.profile_terms: {fault}" for fault in faults[:4]]
    return []


def batch_of(
    holdings: Holdings, now: datetime, objects: Sequence[Mapping[str, Any]], authorised: Sequence[Authorised],
) -> Batch:
    """The batch of a recording call over one transaction."""
    return Batch(
        now=format_instant(now),
        transaction_id=holdings.transaction_id,
        expected_revision=holdings.revision,
        objects=tuple(objects),
        signing_keys=frozenset(entry["key_id"] for document in objects for entry in document["signatures"]),
        acts={allowed.action_hash: allowed.act for allowed in authorised},
        status_results=tuple(
            {"action_hash": allowed.action_hash, **result.document}
            for allowed in authorised for result in allowed.statuses),
        consumed={allowed.consumes: allowed.action_hash for allowed in authorised if allowed.consumes is not None})


def with_once(batch: Batch, once: Once, result: Mapping[str, Any]) -> Batch:
    """The batch, remembering its result under the call's idempotency key."""
    return replace(batch, idempotency=once.written(result))
