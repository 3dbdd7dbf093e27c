"""Signatures over canonical bytes (rules 1.3, 1.4, 1.5; D-5, D-7, D-8).

Rules this module applies, numbered as the table of rules 1.3:

- the protected object is the entry's own `algorithm`, `key_id`, `purpose`, `signed_at`; the signed bytes
  are the content bytes, one `.`, and the protected object's canonical bytes, so changing any of the four
  breaks the signature;
- checking one entry: (1) purpose, (2) placeholder, (3) key resolves, (4) encoding and cryptography,
  (5) key valid at `signed_at`, (6) verified. The first step that speaks decides, so a wrong purpose fails
  even under a placeholder value;
- a mandate's proof is the same construction over the mandate without `proof`, purpose `mandate_issuance`,
  with the value of `proof.created_at` standing as `signed_at`; its key is the issuer's (D-7).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from a202_reference.canonical import NotCanonicalError, canonical_bytes
from a202_reference.codes import Outcome
from a202_reference.keys import SIGNATURE_BYTES, KeyBinding, PrivateKey, decode_base64url, encode_base64url
from a202_reference.registries import PLACEHOLDER_SIGNATURES, Algorithm, Purpose
from a202_reference.times import parse_instant

KeyResolver: TypeAlias = Callable[[str], KeyBinding | None]
"""Gives the binding held under a key identifier, or None."""

PLACEHOLDER = "synthetic-placeholder-signature-value"


@dataclass(frozen=True, slots=True)
class SignatureFinding:
    """Result of checking one signature entry. `step` is the row of rules 1.3 that decided."""

    outcome: Outcome
    step: int
    detail: str


@dataclass(frozen=True, slots=True)
class Signer:
    """A key pair under its identifier, ready to sign."""

    key_id: str
    key: PrivateKey
    deterministic: bool = False

    def value(self, data: bytes) -> str:
        """The signature over `data` in its text form."""
        raw = self.key.sign_deterministically(data) if self.deterministic else self.key.sign(data)
        return encode_base64url(raw)


def protected_bytes(algorithm: object, key_id: object, purpose: object, signed_at: object) -> bytes:
    """The canonical bytes of the protected object. Raises NotCanonicalError for what is no JSON."""
    return canonical_bytes({"algorithm": algorithm, "key_id": key_id, "purpose": purpose, "signed_at": signed_at})


def signed_bytes(content: bytes, entry: Mapping[str, Any]) -> bytes:
    """Content bytes, `.`, protected bytes. Raises NotCanonicalError."""
    members = (entry.get(name) for name in ("algorithm", "key_id", "purpose", "signed_at"))
    return content + b"." + protected_bytes(*members)


def unsigned_entry(key_id: str, purpose: Purpose, signed_at: str) -> dict[str, str]:
    """An entry whose value is still to come; it says so by carrying the placeholder."""
    return {
        "key_id": key_id,
        "algorithm": Algorithm.ES256.value,
        "signature": PLACEHOLDER,
        "signed_at": signed_at,
        "purpose": purpose.value,
    }


def sign_entry(content: bytes, entry: Mapping[str, str], signer: Signer) -> dict[str, str]:
    """The entry with its value computed. Raises ValueError where the entry names another key."""
    if entry["key_id"] != signer.key_id:
        raise ValueError("the entry names another key than the signer's")
    return {**entry, "signature": signer.value(signed_bytes(content, entry))}


def check_entry(
    content: bytes | None,
    entry: object,
    purposes: frozenset[Purpose] | None,
    resolve: KeyResolver,
) -> SignatureFinding:
    """Check one signature entry over an object's content bytes.

    content: None where the object has no canonical form; then no signature over it can verify.
    purposes: accepted ones; None leaves the purpose unjudged.
    """
    if not isinstance(entry, Mapping):
        return SignatureFinding(Outcome.FAILED, 1, "the entry is no object")
    purpose = entry.get("purpose")
    if purposes is not None and not (isinstance(purpose, str) and purpose in purposes):
        return SignatureFinding(Outcome.FAILED, 1, "the purpose is not one of this object type")
    if is_placeholder(entry.get("signature")):
        return SignatureFinding(Outcome.NOT_CHECKABLE, 2, "a placeholder stands where a signature belongs")
    key_id = entry.get("key_id")
    binding = resolve(key_id) if isinstance(key_id, str) else None
    if binding is None:
        return SignatureFinding(Outcome.NOT_CHECKABLE, 3, f"the key {key_id} is not held")
    fault = _cryptographic_fault(content, entry, binding)
    if fault is not None:
        return SignatureFinding(Outcome.FAILED, 4, fault)
    signed_at = parse_instant(entry.get("signed_at"))
    if signed_at is None:
        return SignatureFinding(Outcome.FAILED, 5, "signed_at is no instant")
    if not binding.covers(signed_at):
        return SignatureFinding(Outcome.FAILED, 5, "the key was not valid when it signed")
    return SignatureFinding(Outcome.VERIFIED, 6, "")


def is_placeholder(value: object) -> bool:
    """True for one of the four literals that stand for an absent signature (D-5)."""
    return isinstance(value, str) and value in PLACEHOLDER_SIGNATURES


def _cryptographic_fault(content: bytes | None, entry: Mapping[str, Any], binding: KeyBinding) -> str | None:
    if entry.get("algorithm") != binding.public.algorithm:
        return "the algorithm is not the key's"
    value = decode_base64url(entry.get("signature"), SIGNATURE_BYTES)
    if value is None:
        return "the value is not 64 bytes in canonical base64url"
    if content is None:
        return "the object has no canonical bytes"
    try:
        data = signed_bytes(content, entry)
    except NotCanonicalError:
        return "the protected members have no canonical bytes"
    return None if binding.public.verifies(value, data) else "the signature does not verify over these bytes"


def mandate_content(mandate: Mapping[str, Any]) -> bytes:
    """The bytes a mandate's proof covers: the mandate without `proof`. Raises NotCanonicalError."""
    return canonical_bytes({name: member for name, member in mandate.items() if name != "proof"})


def unsigned_proof(key_id: str, created_at: str) -> dict[str, str]:
    """A mandate proof whose value is still to come."""
    return {
        "key_id": key_id,
        "algorithm": Algorithm.ES256.value,
        "created_at": created_at,
        "purpose": Purpose.MANDATE_ISSUANCE.value,
        "signature": PLACEHOLDER,
    }


def sign_proof(mandate: Mapping[str, Any], signer: Signer) -> dict[str, Any]:
    """The mandate with its proof's value computed."""
    proof = mandate["proof"]
    value = signer.value(signed_bytes(mandate_content(mandate), _as_entry(proof)))
    return {**mandate, "proof": {**proof, "signature": value}}


def check_proof(mandate: Mapping[str, Any], resolve: KeyResolver) -> SignatureFinding:
    """Check a mandate's proof; its key must be the issuer's (D-7)."""
    proof, issuer = mandate.get("proof"), mandate.get("issuer")
    if not isinstance(proof, Mapping) or not isinstance(issuer, Mapping):
        return SignatureFinding(Outcome.FAILED, 1, "the mandate has no proof or no issuer")
    if proof.get("key_id") != issuer.get("key_id"):
        return SignatureFinding(Outcome.FAILED, 1, "the proof is under another key than the issuer's")
    try:
        content = mandate_content(mandate)
    except NotCanonicalError:
        return SignatureFinding(Outcome.FAILED, 4, "the mandate has no canonical bytes")
    return check_entry(content, _as_entry(proof), frozenset({Purpose.MANDATE_ISSUANCE}), resolve)


def _as_entry(proof: Mapping[str, Any]) -> dict[str, Any]:
    """A proof in the form of a signature entry: `created_at` stands as `signed_at` (rules 1.5)."""
    return {**{name: proof.get(name) for name in ("key_id", "algorithm", "signature", "purpose")},
            "signed_at": proof.get("created_at")}
