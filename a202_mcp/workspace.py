"""One party's state and what can be done with it: the only place where clock, randomness, keys and disk meet.

Rules this module applies (surface 3, "Clock"; design, "All or nothing"):

- one `now` per call, UTC, cut to whole seconds, never earlier than the newest instant already stored for the
  transaction or the keys of the call;
- a recording call builds everything in memory, has the gate judge it together, signs, and commits one batch
  against the revision it read. A refusal, a lost race or a crash leaves no trace; a lost race is tried once
  more, and refused `A202-SEQUENCE-CONFLICT` where it is lost again;
- the first use of an idempotency key decides: the same content gets the first result, marked `replayed`;
  other content is refused and told nothing about the first.
"""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from a202_mcp import readout
from a202_mcp.keyring import Keyring
from a202_mcp.recording import Call, Once, Pending, gate_drafts, mandate_gate
from a202_mcp.shelf import MandateShelf, Shelf
from a202_mcp.store import Batch, SqliteStore, Store
from a202_reference.authority.constraints import EvidenceStanding
from a202_reference.authority.evaluate import Circumstances
from a202_reference.authority.standing import evidence_standing, principal_of
from a202_reference.authority.status import StatusResult
from a202_reference.canonical import NotCanonicalError, value_hash
from a202_reference.codes import Code, Refusal
from a202_reference.documents.envelope import Approval
from a202_reference.identifiers import IdSource
from a202_reference.keys import KeyBinding, Owner
from a202_reference.lifecycle.drafts import Draft
from a202_reference.lifecycle.holdings import Holdings
from a202_reference.profiles import ProfileRegistry
from a202_reference.signing import Signer
from a202_reference.times import parse_instant, whole_second


@dataclass
class Workspace:
    """State, private keys, clock and randomness of one server process."""

    store: Store
    keyring: Keyring = field(default_factory=Keyring)
    clock: Callable[[], datetime] = field(default=lambda: datetime.now(UTC))
    ids: IdSource = field(default=lambda: secrets.token_hex(12))
    profiles: ProfileRegistry | None = None
    """The profiles of this configuration; None for the installed ones alone."""

    def __post_init__(self) -> None:
        self._mandates = MandateShelf(self.store)
        self._keys: Shelf[KeyBinding] = Shelf(self.store.key)

    @classmethod
    def open(cls, state_dir: Path | None, profiles: ProfileRegistry | None = None) -> Workspace:
        """Open the state in a directory, or in memory. Raises OSError or sqlite3.Error where it cannot be used."""
        return cls(SqliteStore.open(state_dir), profiles=profiles)

    def close(self) -> None:
        """Release the state."""
        self.store.close()

    def now(self, transaction_id: str | None = None, key_ids: Iterable[str] = ()) -> datetime:
        """The instant of one call, lifted to the newest one stored for this transaction or these keys."""
        clock = whole_second(self.clock())
        stored = parse_instant(self.store.newest(transaction_id, key_ids))
        return clock if stored is None else max(clock, stored)

    def recording(self, call: Call, attempt: Callable[[Once], Pending | Refusal]) -> dict[str, Any] | Refusal:
        """Run a recording call and commit what it built; once more where another process was faster."""
        for _ in range(2):
            once = self._once(call)
            if not isinstance(once, Once):
                return once
            pending = attempt(once)
            if isinstance(pending, Refusal):
                return pending
            if self.store.commit(self._with_signers(pending)):
                for signer in pending.signers:
                    self.keyring.hold(signer)
                return dict(pending.result)
        return Refusal.of(
            Code.SEQUENCE_CONFLICT, "the record moved while this act was being recorded, twice: read it and try again")

    def _with_signers(self, pending: Pending) -> Batch:
        """The batch with the key pairs that sign its new bindings and seal it."""
        held = (self.keyring.signer(key_id) for key_id in sorted(pending.batch.signing_keys))
        return replace(pending.batch, signers=(*pending.signers, *(signer for signer in held if signer is not None)))

    def _once(self, call: Call) -> Once | Refusal | dict[str, Any]:
        """The call's claim to its idempotency key; or the first result; or a conflict."""
        key = call.arguments.get("idempotency_key")
        if key is None:
            return Once(None)
        try:
            content = value_hash(call.content)
        except NotCanonicalError as refused:
            return Refusal.of(Code.POLICY_DENIED, f"the arguments have no canonical form: {refused}")
        scope = value_hash([call.tool, call.transaction_id, call.organization_id, key])
        first = self.store.first_result(scope)
        if first is None:
            return Once(scope, content)
        if not hmac.compare_digest(first.content_hash, content):
            return Refusal.of(
                Code.SEQUENCE_CONFLICT,
                "this idempotency_key was used with other content: use a new key for a new act")
        return {**first.result, "replayed": True}

    def circumstances(
        self, now: datetime, status_at: datetime, statuses: Mapping[str, StatusResult],
        approval: Approval | None = None,
    ) -> Circumstances:
        """What a decision may be made from, out of this state."""
        consumed = approval is not None and self.store.consumed(approval.envelope.id)
        return Circumstances(
            now=now, status_at=status_at, statuses=statuses, keys=self._keys.get, principals=self._principal,
            mandates=self._mandates.get, evidence=self._evidence, gate=self._mandates.gate, approval=approval,
            approval_consumed=consumed)

    def transactions(self, limit: int) -> dict[str, Any]:
        """The newest transactions and how many there are (surface 5)."""
        return readout.transactions(self.store, limit)

    def record(self, transaction_id: str) -> dict[str, Any] | None:
        """A transaction's record, or None where nothing is held under that id."""
        document = readout.record(self.store, transaction_id)
        return document if document["known"] else None

    def bundle(self, transaction_id: str) -> dict[str, Any] | None:
        """The exported bundle (surface 6), or None where nothing is held under that id."""
        return readout.bundle(self.store, transaction_id, self.now())

    def mandate(self, mandate_id: str) -> Mapping[str, Any] | None:
        """One mandate, or None."""
        return self._mandates.get(mandate_id)

    def approval(self, approval_id: str) -> Approval | None:
        """A held approval, or None."""
        document = self.store.held_object(approval_id)
        return Approval.of(document) if document is not None and document["object_type"] == "approval" else None

    def unheld(self, key_ids: Iterable[str]) -> Refusal | None:
        """Group 6 of a recording call: why one of these keys cannot sign here, or None."""
        named = tuple(dict.fromkeys(key_ids))
        missing = [key_id for key_id in named if self.keyring.signer(key_id) is None]
        if not missing:
            return self.unauthentic(named)
        return Refusal.of(
            Code.POLICY_DENIED,
            f"this process does not hold the private key of {', '.join(missing)}: private keys live in memory only, of "
            f"the process that made them, which has ended or runs beside this one; act through that one, or issue a "
            f"new mandate under new key identifiers")

    def unauthentic(self, key_ids: Iterable[str]) -> Refusal | None:
        """Why a stored key is none that anybody may rely on, or None: its binding was changed (ADR 9)."""
        for key_id in key_ids:
            own, bound = self.keyring.signer(key_id), self._keys.get(key_id)
            fault = None
            if bound is None:
                held = self.store.held_key(key_id)
                fault = None if held is None else held.fault
            elif own is not None and own.key.public != bound.public:
                fault = "the stored binding is of another key pair than the one this process holds"
            if fault is not None:
                return Refusal.of(
                    Code.EVIDENCE_SIGNATURE_INVALID,
                    f"{key_id} cannot be relied on: {fault}. Use another key identifier, and find out who changed the "
                    f"state directory")
        return None

    def judged(self, drafts: Sequence[Draft], holdings: Holdings) -> Refusal | None:
        """The gate's refusal of these drafts over the record they extend, or None."""
        return gate_drafts(drafts, holdings, self.profiles)

    def signed(self, drafts: Sequence[Draft], holdings: Holdings) -> tuple[Mapping[str, Any], ...] | Refusal:
        """Judge the drafts together over the record they extend, then sign them."""
        refusal = self.judged(drafts, holdings)
        if refusal is not None:
            return refusal
        return tuple(draft.signed(self._signer) for draft in drafts)

    def _signer(self, key_id: str) -> Signer:
        signer = self.keyring.signer(key_id)
        if signer is None:
            raise KeyError("a draft names a key that nobody asked about first")
        return signer

    def _principal(self, key_id: str) -> Owner | None:
        return principal_of(
            key_id, self.store.mandates_naming(key_id), self._keys.get,
            lambda mandate: not mandate_gate(mandate)[0])

    def _evidence(self, evidence_id: str) -> EvidenceStanding | None:
        document = self.store.held_object(evidence_id)
        return None if document is None else evidence_standing(document, self._keys.get)
