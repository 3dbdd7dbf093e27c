"""What one recording call writes, and the rows it becomes (design, "All or nothing"; ADR 9)."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from a202_mcp.issuer_keys import proof_by
from a202_mcp.seal import sign_binding
from a202_mcp.tables import ACTS, CONSUMED, IDEMPOTENCY, KEYS, MANDATES, OBJECTS, STATUSES, USES, Table
from a202_reference.keys import KeyBinding, Owner, PublicKey
from a202_reference.signing import Signer
from a202_reference.times import format_instant, parse_instant

Rows: TypeAlias = list[tuple[str, ...]]

_ENCODE: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


@dataclass(frozen=True, slots=True)
class Idempotency:
    """A first result under its key. `scope` joins tool, transaction, organisation and key."""

    scope: str
    content_hash: str
    result: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Batch:
    """Everything one recording call writes.

    transaction_id and expected_revision: the transaction that was read, or None for a mandate alone.
    signers: key pairs at hand. A binding is signed by its own; one of them seals the batch.
    proven_by: for bindings whose key pair is somebody else's, the recorded mandate that proves each (ADR 10).
    """

    now: str
    transaction_id: str | None = None
    expected_revision: int = 0
    objects: tuple[Mapping[str, Any], ...] = ()
    mandates: tuple[Mapping[str, Any], ...] = ()
    keys: tuple[KeyBinding, ...] = ()
    signing_keys: frozenset[str] = frozenset()
    acts: Mapping[str, Mapping[str, Any]] | None = None
    status_results: tuple[Mapping[str, Any], ...] = ()
    consumed: Mapping[str, str] | None = None
    idempotency: Idempotency | None = None
    signers: tuple[Signer, ...] = ()
    proven_by: Mapping[str, str] | None = None

    @property
    def revision(self) -> int:
        """Which commit to its transaction it is; 0 where it belongs to none."""
        return 0 if self.transaction_id is None else self.expected_revision + 1

    @property
    def sealer(self) -> Signer | None:
        """Who seals it: a key that signed in it, else one it binds; None where neither is at hand."""
        bound = {binding.key_id for binding in self.keys}
        for entitled in (self.signing_keys, bound):
            for signer in self.signers:
                if signer.key_id in entitled:
                    return signer
        return None

    def rows(self, held_acts: Collection[str]) -> Iterator[tuple[Table, Rows]]:
        """The rows of every table, as their seal lists them. An act that is held already is kept once."""
        transaction_id, first = str(self.transaction_id), self.idempotency
        acts = {action_hash: act for action_hash, act in (self.acts or {}).items() if action_hash not in held_acts}
        used = self.signing_keys | {binding.key_id for binding in self.keys}
        yield KEYS, sorted((binding.key_id, text_of(binding_document(binding)), self._proof(binding))
                           for binding in self.keys)
        yield USES, [(key_id, self.now) for key_id in sorted(used)]
        yield MANDATES, sorted((mandate["id"], mandate["issuer"]["key_id"], mandate["subject"]["key_id"],
                                text_of(mandate)) for mandate in self.mandates)
        yield OBJECTS, [(document["id"], document["transaction_id"], text_of(document)) for document in self.objects]
        yield ACTS, [(transaction_id, action_hash, text_of(acts[action_hash])) for action_hash in sorted(acts)]
        yield STATUSES, [(transaction_id, text_of(result)) for result in self.status_results]
        yield CONSUMED, sorted((self.consumed or {}).items())
        yield IDEMPOTENCY, [] if first is None else [(first.scope, first.content_hash, text_of(first.result))]

    def _proof(self, binding: KeyBinding) -> str:
        mandate_id = (self.proven_by or {}).get(binding.key_id)
        if mandate_id is not None:
            return proof_by(mandate_id)
        signer = next((signer for signer in self.signers if signer.key_id == binding.key_id), None)
        return "" if signer is None else sign_binding(binding, signer)


def text_of(document: Mapping[str, Any]) -> str:
    """A document as a column holds it."""
    return _ENCODE(document)


def document_in(body: object) -> Mapping[str, Any] | None:
    """The JSON object in a column, or None where there is none."""
    try:
        document = json.loads(str(body))
    except (ValueError, RecursionError):
        return None
    return document if isinstance(document, dict) else None


def binding_document(binding: KeyBinding) -> dict[str, Any]:
    """A key's binding as a column holds it; the key's identifier stands beside it."""
    return {
        "owner": binding.owner.document,
        "public_key_jwk": binding.public.jwk,
        "valid_from": format_instant(binding.valid_from),
    }


def binding_in(key_id: str, body: object) -> KeyBinding | None:
    """The binding in a column, or None where there is none."""
    document = document_in(body) or {}
    public, valid_from = PublicKey.from_jwk(document.get("public_key_jwk")), parse_instant(document.get("valid_from"))
    owner = document.get("owner")
    if public is None or valid_from is None or not isinstance(owner, dict):
        return None
    organization, agent, principal = (owner.get(name) for name in ("organization_id", "agent_id", "principal_id"))
    if not isinstance(organization, str) or isinstance(agent, str) is isinstance(principal, str):
        return None
    return KeyBinding(
        key_id, Owner(organization, agent if isinstance(agent, str) else None,
                      principal if isinstance(principal, str) else None), public, valid_from)
