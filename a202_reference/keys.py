"""Key pairs and their owners (rules 1.3, 1.6; D-4).

Rules this module applies:

- a key is ES256 (P-256, JWK `EC`) or EdDSA (Ed25519, JWK `OKP`); this software issues ES256 and verifies
  both; a signature is 64 raw bytes in base64url without padding, bits unused by the encoding being zero;
- a public JWK has exactly its public members, each canonically encoded; a private member is not readable
  as a public key;
- a key identifier belongs to one owner, an agent or a principal, of one organisation, from one instant on.

Private keys live in `PrivateKey` values in memory. They have no text form, and nothing here writes one.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Any, TypeAlias

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature, encode_dss_signature

from a202_reference.registries import Algorithm

SIGNATURE_BYTES = 64
_BASE64URL = re.compile(r"[A-Za-z0-9_-]*", re.ASCII)
_ES256 = ec.ECDSA(hashes.SHA256())

_Verifier: TypeAlias = ec.EllipticCurvePublicKey | ed25519.Ed25519PublicKey


def decode_base64url(text: object, length: int) -> bytes | None:
    """The bytes of unpadded, canonical base64url text of exactly `length` bytes, else None."""
    if not isinstance(text, str) or not _BASE64URL.fullmatch(text):
        return None
    try:
        data = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    except (binascii.Error, ValueError):
        return None
    return data if len(data) == length and encode_base64url(data) == text else None


def encode_base64url(data: bytes) -> str:
    """Unpadded base64url."""
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode("ascii")


@dataclass(frozen=True, slots=True)
class PublicKey:
    """A readable public key. Build it with `from_jwk` or `from_pem`."""

    algorithm: Algorithm
    x: str
    y: str | None

    @classmethod
    def from_jwk(cls, jwk: object) -> PublicKey | None:
        """The key in a public JWK, or None where it is no public key of a registered suite."""
        if not isinstance(jwk, Mapping):
            return None
        if jwk.keys() == {"kty", "crv", "x", "y"} and jwk["kty"] == "EC" and jwk["crv"] == "P-256":
            key = cls(Algorithm.ES256, jwk["x"], jwk["y"])
        elif jwk.keys() == {"kty", "crv", "x"} and jwk["kty"] == "OKP" and jwk["crv"] == "Ed25519":
            key = cls(Algorithm.EDDSA, jwk["x"], None)
        else:
            return None
        parts = [key.x] if key.y is None else [key.x, key.y]
        if any(decode_base64url(part, 32) is None for part in parts):
            return None
        return key if _loaded(key) is not None else None

    @classmethod
    def from_pem(cls, pem: bytes) -> PublicKey | None:
        """The key in a PEM `PUBLIC KEY`, or None where it is not of a registered suite."""
        try:
            loaded = serialization.load_pem_public_key(pem)
        except (ValueError, TypeError, UnsupportedAlgorithm):
            return None
        if isinstance(loaded, ec.EllipticCurvePublicKey) and isinstance(loaded.curve, ec.SECP256R1):
            return _of_point(loaded)
        if isinstance(loaded, ed25519.Ed25519PublicKey):
            return cls(Algorithm.EDDSA, encode_base64url(loaded.public_bytes_raw()), None)
        return None

    @property
    def jwk(self) -> dict[str, str]:
        """The public JWK."""
        if self.y is None:
            return {"kty": "OKP", "crv": "Ed25519", "x": self.x}
        return {"kty": "EC", "crv": "P-256", "x": self.x, "y": self.y}

    def verifies(self, signature: bytes, data: bytes) -> bool:
        """True where `signature` (64 raw bytes) is this key's over `data`."""
        loaded = _loaded(self)
        if loaded is None or len(signature) != SIGNATURE_BYTES:
            return False
        try:
            if isinstance(loaded, ed25519.Ed25519PublicKey):
                loaded.verify(signature, data)
            else:
                r, s = int.from_bytes(signature[:32], "big"), int.from_bytes(signature[32:], "big")
                loaded.verify(encode_dss_signature(r, s), data, _ES256)
        except InvalidSignature:
            return False
        return True


class PrivateKey:
    """An ES256 key pair held in memory. It signs; it cannot be read, printed, copied or pickled."""

    __slots__ = ("_key", "public")

    def __init__(self, key: ec.EllipticCurvePrivateKey) -> None:
        self._key = key
        self.public = _of_point(key.public_key())

    @classmethod
    def generate(cls) -> PrivateKey:
        """A new key pair from the operating system's randomness."""
        return cls(ec.generate_private_key(ec.SECP256R1()))

    @classmethod
    def from_scalar(cls, scalar: int) -> PrivateKey:
        """A fixed key pair, for vectors and tests that must come out the same every time."""
        return cls(ec.derive_private_key(scalar, ec.SECP256R1()))

    def sign(self, data: bytes) -> bytes:
        """The signature over `data`: r and s, 32 bytes each, big endian."""
        r, s = decode_dss_signature(self._key.sign(data, _ES256))
        return r.to_bytes(32, "big") + s.to_bytes(32, "big")

    def sign_deterministically(self, data: bytes) -> bytes:
        """As `sign`, with the nonce of RFC 6979, so that vectors can be regenerated bit for bit."""
        suite = ec.ECDSA(hashes.SHA256(), deterministic_signing=True)
        r, s = decode_dss_signature(self._key.sign(data, suite))
        return r.to_bytes(32, "big") + s.to_bytes(32, "big")

    def __repr__(self) -> str:
        return f"PrivateKey(public={self.public.x[:8]}...)"

    def __reduce__(self) -> Any:
        raise TypeError("a private key never leaves this process's memory")


@dataclass(frozen=True, slots=True)
class Owner:
    """Who a key belongs to: exactly one of agent and principal, within one organisation."""

    organization_id: str
    agent_id: str | None = None
    principal_id: str | None = None

    def __post_init__(self) -> None:
        if (self.agent_id is None) == (self.principal_id is None):
            raise ValueError("a key belongs to exactly one agent or one principal")

    @property
    def document(self) -> dict[str, str]:
        """{agent_id or principal_id, organization_id}, as bundles write it (surface 6)."""
        who = {"agent_id": self.agent_id} if self.agent_id else {"principal_id": str(self.principal_id)}
        return {**who, "organization_id": self.organization_id}


@dataclass(frozen=True, slots=True)
class KeyBinding:
    """A public key under its identifier, tied to its owner from `valid_from` on (`valid_until` None: open)."""

    key_id: str
    owner: Owner
    public: PublicKey
    valid_from: datetime
    valid_until: datetime | None = None
    status: str = "active"

    def covers(self, moment: datetime) -> bool:
        """Rules 1.6: the interval is half open."""
        return self.valid_from <= moment and (self.valid_until is None or moment < self.valid_until)


def _of_point(key: ec.EllipticCurvePublicKey) -> PublicKey:
    numbers = key.public_numbers()
    x, y = (encode_base64url(part.to_bytes(32, "big")) for part in (numbers.x, numbers.y))
    return PublicKey(Algorithm.ES256, x, y)


@lru_cache(maxsize=4096)
def _loaded(key: PublicKey) -> _Verifier | None:
    """The library's key object, or None for a point that is not on the curve."""
    x = decode_base64url(key.x, 32)
    y = decode_base64url(key.y, 32) if key.y is not None else b""
    if x is None or y is None:
        return None
    try:
        if key.algorithm is Algorithm.EDDSA:
            return ed25519.Ed25519PublicKey.from_public_bytes(x)
        numbers = ec.EllipticCurvePublicNumbers(
            int.from_bytes(x, "big"), int.from_bytes(y, "big"), ec.SECP256R1())
        return numbers.public_key()
    except ValueError:
        return None
