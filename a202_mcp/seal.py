"""What keeps the state honest: signed key bindings, and a signed seal over the rows of every commit (ADR 9).

Rules this module applies:

- a binding carries a signature by its own key over the canonical bytes of {key_id, owner, public_key_jwk,
  valid_from}: nobody without the private half can give the key to another owner, or move its beginning (a key whose
  private half is elsewhere is bound by what its holder signed there: `bindings`);
- a seal lists the digest of every row that one commit wrote, names the hash of the seal before it, and is signed by
  a key of that commit's signers. Seals so form one chain over the whole state, in the order of the commits;
- both signatures have purposes of their own, which no object's signature may have: none can stand for another.

Nothing here reads the state or raises over what was read from it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final, TypeAlias

from a202_reference.canonical import NotCanonicalError, canonical_bytes, sha256_hex
from a202_reference.codes import Code
from a202_reference.keys import SIGNATURE_BYTES, KeyBinding, PublicKey, decode_base64url
from a202_reference.registries import Algorithm
from a202_reference.signing import Signer, signed_bytes
from a202_reference.times import format_instant

BINDING: Final = "state_key_binding"
COMMIT: Final = "state_commit"

_ENCODE: Final = json.JSONEncoder(sort_keys=True, separators=(",", ":")).encode

Rows: TypeAlias = list[list[str]]
"""The rows of one table that a commit wrote: [name, digest], in the order in which they stand."""


@dataclass(frozen=True, slots=True)
class Fault:
    """A part of the state that is not what was recorded: its name, the code of the fault, and a sentence."""

    code: Code
    subject: str
    detail: str


@dataclass(frozen=True, slots=True)
class HeldKey:
    """A stored key binding. `fault` says why it counts as absent; then `binding` is what it claims, where readable."""

    binding: KeyBinding | None
    fault: str | None = None


@dataclass(frozen=True, slots=True)
class Seal:
    """What one commit says of itself. `revision` counts the commits of its transaction; 0 without one."""

    position: int
    previous: str | None
    transaction_id: str | None
    revision: int
    at: str
    rows: Mapping[str, Rows]

    @property
    def body(self) -> str:
        """Its text."""
        return _ENCODE({
            "position": self.position, "previous": self.previous, "transaction_id": self.transaction_id,
            "revision": self.revision, "at": self.at, "rows": self.rows})

    @classmethod
    def read(cls, body: object) -> Seal | None:
        """The seal in a text, or None where it is none. The last ones read are remembered."""
        return _read(str(body))


def digest(columns: Iterable[object]) -> str:
    """The digest of a row: SHA-256 over its columns, each behind its length, so that no two rows read alike."""
    text = "".join([f"{len(column)}:{column}" for column in map(str, columns)])
    return sha256_hex(text.encode("utf-8", "surrogatepass"))


def sign_seal(body: str, at: str, signer: Signer) -> str:
    """The signature over a seal."""
    return signer.value(_protected(sha256_hex(body.encode()).encode(), signer.key_id, COMMIT, at))


def seal_verifies(body: str, at: str, signature: str, binding: KeyBinding) -> bool:
    """True where this key signed this seal."""
    return _verifies(binding.public, signature, sha256_hex(body.encode()), binding.key_id, at)


def sign_binding(binding: KeyBinding, signer: Signer) -> str:
    """The binding's signature by its own key."""
    since = format_instant(binding.valid_from)
    return signer.value(_protected(_binding_bytes(binding), binding.key_id, BINDING, since))


@lru_cache(maxsize=4096)
def binding_verifies(binding: KeyBinding, signature: str) -> bool:
    """True where the binding is signed by its own key."""
    value = decode_base64url(signature, SIGNATURE_BYTES)
    since = format_instant(binding.valid_from)
    try:
        data = _protected(_binding_bytes(binding), binding.key_id, BINDING, since)
    except NotCanonicalError:
        return False
    return value is not None and binding.public.verifies(value, data)


def _binding_bytes(binding: KeyBinding) -> bytes:
    return canonical_bytes({
        "key_id": binding.key_id, "owner": binding.owner.document, "public_key_jwk": binding.public.jwk,
        "valid_from": format_instant(binding.valid_from)})


@lru_cache(maxsize=8192)
def _verifies(public: PublicKey, signature: str, body_hash: str, key_id: str, at: str) -> bool:
    """The verdict over one seal; what was verified once is remembered."""
    value = decode_base64url(signature, SIGNATURE_BYTES)
    try:
        data = _protected(body_hash.encode(), key_id, COMMIT, at)
    except NotCanonicalError:
        return False
    return value is not None and public.verifies(value, data)


def _protected(content: bytes, key_id: str, purpose: str, signed_at: str) -> bytes:
    return signed_bytes(content, {
        "algorithm": Algorithm.ES256.value, "key_id": key_id, "purpose": purpose, "signed_at": signed_at})


@lru_cache(maxsize=128)
def _read(body: str) -> Seal | None:
    try:
        raw = json.loads(body)
    except (ValueError, RecursionError):
        return None
    return Seal(**raw) if _is_seal(raw) else None


def _is_seal(raw: Any) -> bool:
    """True for the members of a seal, each of its type."""
    if not isinstance(raw, dict) or raw.keys() != {"position", "previous", "transaction_id", "revision", "at", "rows"}:
        return False
    texts = (raw["at"], raw["previous"] or "", raw["transaction_id"] or "")
    return (
        all(isinstance(text, str) for text in texts)
        and type(raw["position"]) is int and type(raw["revision"]) is int
        and isinstance(raw["rows"], dict)
        and all(isinstance(rows, list) and all(map(_is_row, rows)) for rows in raw["rows"].values()))


def _is_row(row: Any) -> bool:
    return isinstance(row, list) and len(row) == 2 and all(isinstance(member, str) for member in row)
