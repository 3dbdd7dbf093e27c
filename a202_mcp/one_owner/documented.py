"""A mandate that was issued elsewhere, with its issuer's public key, as an owner gives both (treatyway 3, 9; axp 2, 8).

Rules this module applies:

- the key file is a JSON Web Key of a public key, P-256 or Ed25519. Members that only describe it may stand beside; a
  private one refuses: nobody here may have it;
- a `kid` that is an identifier of the record, bare or as the fragment of a verification method's address, is the one
  that the proof names; a kid of another form says nothing here;
- the document passes the gate, states its issuer's key (`issuer_keys`), and its proof verifies under the key in the
  file. These need no state: a file that fails one is a mistake of the configuration;
- in the state an identifier keeps its meaning: another document under a held id, another key or owner under a bound
  key id, and a proof from before the key was known here refuse.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from a202_mcp.issuer_keys import issuer_binding, proof_fault
from a202_mcp.recording import mandate_gate
from a202_mcp.store import Batch, Store
from a202_reference.identifiers import Prefix
from a202_reference.keys import KeyBinding, PublicKey
from a202_reference.registries import Algorithm
from a202_reference.signing import Signer
from a202_reference.times import format_instant, parse_instant

DOCUMENT: Final = "document"
ISSUER_JWK: Final = "issuer_jwk"
_PUBLIC: Final = ("kty", "crv", "x", "y")
_PRIVATE: Final = ("d", "p", "q", "dp", "dq", "qi", "oth", "k")
_ALGORITHMS: Final[Mapping[Algorithm, tuple[object, ...]]] = {
    Algorithm.ES256: (None, "ES256"), Algorithm.EDDSA: (None, "EdDSA", "Ed25519")}


@dataclass(frozen=True, slots=True)
class Documented:
    """A mandate that somebody issued elsewhere, and the binding that its proof states of the key that was given."""

    document: Mapping[str, Any]
    issuer: KeyBinding


@dataclass(frozen=True, slots=True)
class Misfit:
    """What is wrong, and with which of the two settings: `document` or `issuer_jwk`."""

    setting: str
    text: str


def read_documented(document: Mapping[str, Any], jwk: Mapping[str, Any]) -> Documented | Misfit:
    """The document under its issuer's key, or why the two files are none."""
    public = _public(jwk)
    if isinstance(public, str):
        return Misfit(ISSUER_JWK, public)
    errors, codes = mandate_gate(document)
    if errors or codes:
        return Misfit(DOCUMENT, "; ".join([*errors[:3], *(code.meaning for code in codes)]))
    binding = issuer_binding(document, public)
    if binding is None:
        return Misfit(DOCUMENT, _no_statement(document))
    fault = _kid_fault(jwk.get("kid"), binding.key_id)
    if fault is None and (unproven := proof_fault(document, binding)) is not None:
        fault = f"does not fit mandate.document: {unproven}"
    return Documented(document, binding) if fault is None else Misfit(ISSUER_JWK, fault)


def state_fault(store: Store, given: Documented) -> Misfit | None:
    """Why what is recorded already has no place for this document or its issuer's key, or None."""
    mandate, key_id = store.mandate(given.document["id"]), given.issuer.key_id
    if mandate is not None and mandate != given.document:
        return Misfit(DOCUMENT, f"another one is recorded as {mandate['id']}: a new document needs an id of its own")
    held = store.held_key(key_id)
    if held is None:
        return None
    if held.binding is None or held.fault is not None:
        return Misfit(ISSUER_JWK, f"{key_id} cannot be relied on: {held.fault}")
    if (held.binding.public, held.binding.owner) != (given.issuer.public, given.issuer.owner):
        return Misfit(ISSUER_JWK, f"another key, or somebody else's, is recorded as {key_id}: a new key needs an "
                                  f"identifier of its own")
    proved = parse_instant(given.document["proof"]["created_at"])
    if proved is None or not held.binding.covers(proved):
        return Misfit(DOCUMENT, f"its proof is dated before {format_instant(held.binding.valid_from)}, from when on "
                                f"{key_id} is known here: have it issued anew")
    return None


def unrecorded(store: Store, given: Documented) -> tuple[KeyBinding, ...]:
    """The issuer's key where it is not bound yet."""
    return (given.issuer,) if store.held_key(given.issuer.key_id) is None else ()


def recording_batch(
    store: Store, given: Documented, agent: Signer, now: datetime, own: tuple[KeyBinding, ...] = (),
) -> Batch:
    """What records the document and its issuer's key, where they are not recorded yet; sealed by the agent.

    own: bindings of this house's own keys that belong to the same commit.
    """
    issuer = unrecorded(store, given)
    held = store.mandate(given.document["id"]) is not None
    return Batch(
        now=format_instant(now), mandates=() if held else (given.document,), keys=(*own, *issuer),
        signing_keys=frozenset({agent.key_id}), signers=(agent,),
        proven_by={binding.key_id: given.document["id"] for binding in issuer})


def _no_statement(document: Mapping[str, Any]) -> str:
    """Why a mandate that the gate passed binds no key of its issuer's."""
    issuer, represented = document["issuer"], document["represented_organization_id"]
    if document["parent_mandate_id"] is not None:
        return "is delegated; only a root mandate of this organisation is taken"
    if issuer["organization_id"] != represented:
        return (f"is issued by a principal of {issuer['organization_id']}, and represents {represented}: only its own "
                f"principal issues an organisation's mandate")
    return "is issued under the very key that it is given to"


def _public(jwk: Mapping[str, Any]) -> PublicKey | str:
    """The public key in a JSON Web Key, or what is wrong with it."""
    if any(name in jwk for name in _PRIVATE):
        return "holds a private key: only the public half belongs here"
    public = PublicKey.from_jwk({name: jwk[name] for name in _PUBLIC if name in jwk})
    if public is None:
        return "is no public key of the form {kty, crv, x, y} (P-256) or {kty, crv, x} (Ed25519)"
    if jwk.get("alg") not in _ALGORITHMS[public.algorithm]:
        return f"its alg is not that of its key, {public.algorithm}"
    operations = jwk.get("key_ops")
    verifies = operations is None or (isinstance(operations, list) and "verify" in operations)
    if jwk.get("use", "sig") != "sig" or not verifies:
        return "is a key for another use than signatures"
    return public


def _kid_fault(kid: object, key_id: str) -> str | None:
    """Why a key file's own name for its key is not the proof's, or None."""
    if kid is None:
        return None
    named = kid.rpartition("#")[2] if isinstance(kid, str) else None
    if named is not None and (named == key_id or not Prefix.KEY.names(named)):
        return None
    return f"its kid is not {key_id}, under which mandate.document is signed"
