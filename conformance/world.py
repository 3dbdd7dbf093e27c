"""The made-up world our fixtures play in: two parties, a laboratory, an exchange, fixed keys and a fixed clock.

Every document built here is complete and truly signed: its hash is the one of its bytes and its signatures
verify under the keys of this module, which anyone can derive. Two runs give the same bytes.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, TypeAlias

from a202_reference.canonical import NotCanonicalError, canonical_bytes, content_bytes, sha256_hex
from a202_reference.identifiers import Prefix
from a202_reference.keys import PrivateKey
from a202_reference.registries import (
    COMMERCIAL_SPEC,
    TYPE_RULES,
    Algorithm,
    ObjectType,
    Purpose,
)
from a202_reference.signing import PLACEHOLDER, Signer, mandate_content, signed_bytes
from a202_reference.times import format_instant

Document: TypeAlias = dict[str, Any]

_ABSENT: Any = object()

ADDRESSES: Mapping[str, str] = json.loads((Path(__file__).parent / "addresses.json").read_text("utf-8"))
"""The addresses of this world, by what they are for. They lie in a domain that is nobody's."""

_START = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)


def at(minutes: int) -> str:
    """The instant so many minutes after the world begins, on 2 March 2026 at nine."""
    return format_instant(_START + timedelta(minutes=minutes))


def days(number: int) -> int:
    """So many days, in minutes."""
    return number * 24 * 60


@dataclass(frozen=True, slots=True)
class Actor:
    """An agent of an organisation, with its mandate and key."""

    name: str
    agent: str
    scalar: int

    @property
    def organization_id(self) -> str:
        """The organisation it acts for."""
        return f"org_{self.name}"

    @property
    def agent_id(self) -> str:
        """The agent."""
        return f"agt_{self.name}_{self.agent}"

    @property
    def key_id(self) -> str:
        """The agent's key."""
        return f"key_{self.name}_{self.agent}"

    @property
    def signer(self) -> Signer:
        """Its key pair; signatures come out the same every time."""
        return Signer(self.key_id, PrivateKey.from_scalar(self.scalar), deterministic=True)

    @property
    def party(self) -> Document:
        """A party reference to it."""
        return {"organization_id": self.organization_id, "agent_id": self.agent_id}

    @property
    def author(self) -> Document:
        """An actor reference to it."""
        return {**self.party, "mandate_id": f"mnd_{self.name}_{self.agent}"}


BUYER = Actor("brightwater", "buyer", 1001)
BUYER_HEAD = Actor("brightwater", "head", 1002)
SELLER = Actor("fernhill", "seller", 2001)
LABORATORY = Actor("tallis", "bench", 3001)
EXCHANGE = Actor("copperline", "desk", 4001)
NEWCOMER = Actor("quayside", "trader", 5001)
ACTORS: Mapping[str, Actor] = {
    actor.key_id: actor for actor in (BUYER, BUYER_HEAD, SELLER, LABORATORY, EXCHANGE, NEWCOMER)}

TRANSACTION = "txn_tank_gauges_01"
SESSION = "ses_brightwater_fernhill_01"


def stand_in(words: str) -> str:
    """A hash of something these fixtures do not carry: that of the words naming it."""
    return sha256_hex(words.encode("utf-8"))


def envelope(
    object_type: ObjectType,
    name: str,
    payload: Document,
    *,
    by: Actor,
    minutes: int,
    signed: Sequence[tuple[Actor, Purpose]] | None = None,
    **members: Any,
) -> Document:
    """A sealed object. `signed` names signers and purposes; without it the author signs for its usual purpose."""
    prefix = TYPE_RULES[object_type].prefix
    document: Document = {
        "spec_version": COMMERCIAL_SPEC,
        "id": (prefix or Prefix.EVIDENCE).minted(name),
        "object_type": object_type.value,
        "version": 1,
        "created_at": at(minutes),
        "created_by": by.author,
        "transaction_id": TRANSACTION,
        "previous_version_id": None,
        "payload": payload,
        **members,
    }
    signers = signed if signed is not None else [(by, _usual_purpose(object_type))]
    document["signatures"] = [
        {"key_id": actor.key_id, "algorithm": Algorithm.ES256.value, "signature": PLACEHOLDER,
         "signed_at": document["created_at"], "purpose": purpose.value}
        for actor, purpose in signers]
    return sealed(document)


def _usual_purpose(object_type: ObjectType) -> Purpose:
    purposes = TYPE_RULES[object_type].purposes or frozenset({Purpose.OBJECT_ISSUANCE})
    own = sorted(purposes - {Purpose.OBJECT_ISSUANCE})
    return own[0] if own else Purpose.OBJECT_ISSUANCE


def sealed(document: Document) -> Document:
    """The object with its hash, and every signature by a key of this world, computed anew."""
    try:
        content = content_bytes(document)
    except NotCanonicalError:
        return document
    signatures = [_signed(content, entry) for entry in document.get("signatures", [])]
    return {**document, "content_hash": sha256_hex(content), "signatures": signatures}


def sealed_mandate(document: Document) -> Document:
    """The mandate with its proof computed anew."""
    proof = document["proof"]
    entry = {name: proof[name] for name in ("key_id", "algorithm", "purpose")} | {"signed_at": proof["created_at"]}
    value = ACTORS[proof["key_id"]].signer.value(signed_bytes(mandate_content(document), entry))
    return {**document, "proof": {**proof, "signature": value}}


def sealed_grade(document: Document) -> Document:
    """The grade with its signature computed anew (rules 1.5, D-7)."""
    content = canonical_bytes({name: member for name, member in document.items() if name != "signature"})
    return {**document, "signature": _signed(content, document["signature"])}


def _signed(content: bytes, entry: Document) -> Document:
    actor = ACTORS.get(entry["key_id"])
    return entry if actor is None else {**entry, "signature": actor.signer.value(signed_bytes(content, entry))}


def changed(document: Document, path: str, value: Any) -> Document:
    """A copy with one member set: `payload.terms.core.quantity`, `signatures.0.purpose`."""
    return _edited(document, path, value)


def without(document: Document, path: str) -> Document:
    """A copy with one member gone."""
    return _edited(document, path, _ABSENT)


def _edited(document: Document, path: str, value: Any) -> Document:
    edited = copy.deepcopy(document)
    *way, last = path.split(".")
    node: Any = edited
    for step in way:
        node = node[int(step)] if isinstance(node, list) else node[step]
    key: Any = int(last) if isinstance(node, list) else last
    if value is _ABSENT:
        del node[key]
    else:
        node[key] = value
    return edited
