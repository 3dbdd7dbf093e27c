"""Vectors: one value or document each, with the bytes, hash or signature it must have (rules 1.1, 1.3, 1.5).

They are for other implementations too: each states everything that is needed to recompute it, and the layer
that must catch a wrong answer. Keys are derived from small public numbers and sign nothing of worth.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from a202_reference.canonical import canonical_bytes, content_bytes, content_hash, value_hash
from a202_reference.keys import KeyBinding, Owner, PublicKey
from a202_reference.registries import TYPE_RULES, ObjectType
from a202_reference.signing import check_entry, check_proof, mandate_content, signed_bytes
from a202_reference.times import parse_instant
from a202_reference.wire import Unreadable, read_json
from conformance.documents.formation import acceptance, action, agreement, offer
from conformance.documents.mandates import mandate
from conformance.world import ACTORS, Document, at

_VALUES: Mapping[str, Any] = {
    "members ordered by UTF-16 unit": {
        "\u20ac": 1, "\r": 2, "\ufb33": 3, "1": 4, "\U0001f600": 5, "\x80": 6, "\xf6": 7},
    "members ordered inside arrays": [{"b": 1, "a": [{"d": None, "c": True}]}],
    "escapes": "\b\t\n\f\r\"\\/\x00\x1f\x7f\u2028",
    "no escape beyond the needed": "Gel\xe4nde \u2603 \U0001f4a7",
    "integers": [0, -1, 9007199254740991, -9007199254740991],
    "empty": {"object": {}, "array": [], "text": ""},
}
_REFUSED: Mapping[str, str] = {
    "a fraction": '{"amount":1250.5}',
    "a whole number written as fraction": '{"version":1.0}',
    "an exponent": '{"quantity":1e3}',
    "an integer beyond 2^53 - 1": '{"sequence":9007199254740992}',
    "a member twice": '{"id":"a","id":"b"}',
    "a member twice, once escaped": '{"id":"a","\\u0069d":"b"}',
    "a lone surrogate": '{"name":"\\ud83d"}',
    "not a number": '{"amount":NaN}',
}


def canonical_vectors() -> dict[str, Any]:
    """Values with their canonical text, and texts that have no canonical form."""
    return {
        "canonical": [
            {"name": name, "value": value, "canonical": canonical_bytes(value).decode("utf-8"),
             "sha256": value_hash(value)} for name, value in _VALUES.items()],
        "refused": [{"name": name, "text": text} for name, text in _REFUSED.items()],
    }


def _objects() -> dict[str, Document]:
    made = offer()
    accepted = acceptance(made)
    return {"offer": made, "acceptance": accepted, "agreement": agreement(made, accepted), "action": action()}


def hash_vectors() -> dict[str, Any]:
    """Objects with the hashes that other objects name them by."""
    objects = _objects()
    agreed = objects["agreement"]["payload"]["terms"]
    annotated = {**objects["offer"], "kernel_annotations": {
        "policy_decision_id": "pol_copperline_01", "session_id": None, "session_sequence": 1, "received_at": at(61)}}
    return {
        "content_hash": [{"name": name, "object": document, "sha256": content_hash(document)}
                         for name, document in (*objects.items(), ("annotated offer", annotated))],
        "action_hash": {"object": objects["action"], "sha256": content_hash(objects["action"])},
        "terms_hash": {"terms": agreed, "sha256": value_hash(agreed)},
    }


def signature_vectors() -> dict[str, Any]:
    """Signed objects and a mandate, with keys and the exact bytes signed."""
    objects = _objects()
    whole = mandate()
    proof = whole["proof"]
    entry = {**{name: proof[name] for name in ("key_id", "algorithm", "purpose")}, "signed_at": proof["created_at"]}
    return {
        "keys": {actor.key_id: actor.signer.key.public.jwk for actor in ACTORS.values()},
        "objects": [
            {"name": name, "object": document,
             "signed_bytes": [signed_bytes(content_bytes(document), each).decode("utf-8")
                              for each in document["signatures"]]} for name, document in objects.items()],
        "mandate": {"mandate": whole,
                    "signed_bytes": signed_bytes(mandate_content(whole), entry).decode("utf-8")},
    }


VECTORS = {"canonical": canonical_vectors, "hashes": hash_vectors, "signatures": signature_vectors}
"""File name to builder."""


def vector_faults(vectors: Mapping[str, Any]) -> Iterator[str]:
    """What of the committed vectors (file name to content) does not come out as they state."""
    for vector in vectors["canonical"]["canonical"]:
        if canonical_bytes(vector["value"]).decode("utf-8") != vector["canonical"]:
            yield f"canonical: {vector['name']}"
    for vector in vectors["canonical"]["refused"]:
        if not isinstance(read_json(vector["text"]), Unreadable):
            yield f"canonical: {vector['name']} is read"
    for vector in vectors["hashes"]["content_hash"]:
        if content_hash(vector["object"]) != vector["sha256"]:
            yield f"hashes: {vector['name']}"
    keys = {name: PublicKey.from_jwk(jwk) for name, jwk in vectors["signatures"]["keys"].items()}
    resolve = _Keys({name: key for name, key in keys.items() if key is not None})
    for vector in vectors["signatures"]["objects"]:
        document = vector["object"]
        purposes = TYPE_RULES[ObjectType(document["object_type"])].purposes
        for signature in document["signatures"]:
            if check_entry(content_bytes(document), signature, purposes, resolve).outcome != "verified":
                yield f"signatures: {vector['name']}"
    if check_proof(vectors["signatures"]["mandate"]["mandate"], resolve).outcome != "verified":
        yield "signatures: mandate"


class _Keys:
    """Resolves the vectors' keys, valid since before the world began."""

    def __init__(self, keys: Mapping[str, PublicKey]) -> None:
        self._keys = keys

    def __call__(self, key_id: str) -> KeyBinding | None:
        start, key = parse_instant("2026-01-01T00:00:00Z"), self._keys.get(key_id)
        if key is None or start is None:
            return None
        return KeyBinding(key_id, Owner("org_vectors", agent_id="agt_vectors"), key, start)

