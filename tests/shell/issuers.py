"""Issuers of other houses, who sign with keys that no server here holds; and arithmetic that an attacker has."""

import hashlib

from cryptography.hazmat.primitives.asymmetric import ec, ed25519

from a202_reference.canonical import canonical_bytes
from a202_reference.keys import PrivateKey, PublicKey, decode_base64url, encode_base64url
from a202_reference.registries import Algorithm, Purpose
from a202_reference.signing import Signer, mandate_content, signed_bytes

CREATED = "2026-08-20T08:30:00Z"


class Issuer:
    """A principal with a P-256 key, or with an Ed25519 key, which this software verifies and never makes."""

    def __init__(self, key_id="key_head_office", principal_id="prn_head_office", *, scalar=11, ed25519_seed=None):
        self.key_id, self.principal_id = key_id, principal_id
        if ed25519_seed is None:
            self._key = PrivateKey.from_scalar(scalar)
            self.signer = Signer(key_id, self._key)
            self.public = self._key.public
        else:
            self._key = ed25519.Ed25519PrivateKey.from_private_bytes(bytes([ed25519_seed]) * 32)
            raw = self._key.public_key().public_bytes_raw()
            self.public = PublicKey(Algorithm.EDDSA, encode_base64url(raw), None)

    def issued(self, document, created_at=CREATED):
        """The mandate as this principal issues it: issuer and proof are written, the rest is as given."""
        issuer = {"organization_id": document["represented_organization_id"], "principal_id": self.principal_id,
                  "key_id": self.key_id}
        return self.proved({**document, "issuer": {**issuer, **document.get("issuer", {})}}, created_at)

    def proved(self, document, created_at=CREATED):
        """The mandate with a proof under this key."""
        proof = {"key_id": self.key_id, "algorithm": self.public.algorithm.value, "created_at": created_at,
                 "purpose": Purpose.MANDATE_ISSUANCE.value}
        content = mandate_content(document)
        value = self._key.sign(signed_bytes(content, {**proof, "signed_at": created_at}))
        return {**document, "proof": {**proof, "signature": encode_base64url(value)}}


def twin_key(mandate, public):
    """Another P-256 key under which a mandate's proof verifies: both points with the signature's r give one."""
    proof = mandate["proof"]
    entry = {**{name: proof[name] for name in ("algorithm", "key_id", "purpose")}, "signed_at": proof["created_at"]}
    data = mandate_content(mandate) + b"." + canonical_bytes(entry)
    value = decode_base64url(proof["signature"], 64)
    r, s = int.from_bytes(value[:32], "big"), int.from_bytes(value[32:], "big")
    digest = int.from_bytes(hashlib.sha256(data).digest(), "big")
    own = tuple(int.from_bytes(decode_base64url(part, 32), "big") for part in (public.x, public.y))
    inverse = pow(s, -1, _N)
    point = _sum(_times(digest * inverse % _N, _G), _times(r * inverse % _N, own))
    mirrored = (point[0], _P - point[1])
    x, y = _times(pow(r, -1, _N), _sum(_times(s, mirrored), _times(_N - digest % _N, _G)))
    return PublicKey(Algorithm.ES256, *(encode_base64url(part.to_bytes(32, "big")) for part in (x, y)))


_P = 2**256 - 2**224 + 2**192 + 2**96 - 1
_N = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
_NUMBERS = ec.derive_private_key(1, ec.SECP256R1()).public_key().public_numbers()
_G = (_NUMBERS.x, _NUMBERS.y)


def _sum(one, other):
    """The sum of two points of the curve; None is its zero."""
    if one is None or other is None:
        return one or other
    if one[0] == other[0]:
        if one != other:
            return None
        slope = (3 * one[0] * one[0] - 3) * pow(2 * one[1], -1, _P) % _P
    else:
        slope = (other[1] - one[1]) * pow(other[0] - one[0], -1, _P) % _P
    x = (slope * slope - one[0] - other[0]) % _P
    return x, (slope * (one[0] - x) - one[1]) % _P


def _times(scalar, point):
    found = None
    while scalar:
        if scalar & 1:
            found = _sum(found, point)
        point, scalar = _sum(point, point), scalar >> 1
    return found
