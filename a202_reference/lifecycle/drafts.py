"""Objects on their way into the record: built, then judged, then signed (rules 1.3 "Order of acts").

A draft has all of an object but the values of its signatures. Its preview carries the entries that will be
signed, each holding the placeholder, so the gate judges exactly the bytes that are hashed and signed, before
any key is used.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from a202_reference.canonical import content_bytes, sha256_hex
from a202_reference.documents.parties import Party
from a202_reference.registries import COMMERCIAL_SPEC, ObjectType, Purpose
from a202_reference.schemas import object_errors
from a202_reference.signing import Signer, sign_entry, unsigned_entry


@dataclass(frozen=True)
class Draft:
    """One object that is not signed yet. `signatories` are key id and purpose, in the order of signing."""

    body: Mapping[str, Any]
    signatories: tuple[tuple[str, Purpose], ...]

    @property
    def id(self) -> str:
        """The object's identifier."""
        return str(self.body["id"])

    @cached_property
    def content(self) -> bytes:
        """The bytes that are hashed and signed. Raises NotCanonicalError."""
        return content_bytes(self.body)

    @cached_property
    def content_hash(self) -> str:
        """The object's content hash."""
        return sha256_hex(self.content)

    @cached_property
    def preview(self) -> dict[str, Any]:
        """The whole object, its signature values still to come."""
        entries = [unsigned_entry(key_id, purpose, self.body["created_at"]) for key_id, purpose in self.signatories]
        return {**self.body, "content_hash": self.content_hash, "signatures": entries}

    @cached_property
    def shape_errors(self) -> tuple[str, ...]:
        """What the schema has against it. A draft does not change, so its shape is judged once; its rules, beside
        the objects it comes among, each time."""
        return object_errors(self.preview)

    def signed(self, signer: Callable[[str], Signer]) -> dict[str, Any]:
        """The object with every entry signed; `signer` gives the key pair under an identifier."""
        entries = [sign_entry(self.content, entry, signer(entry["key_id"])) for entry in self.preview["signatures"]]
        return {**self.preview, "signatures": entries}


@dataclass(frozen=True, slots=True)
class Drafting:
    """What all objects of one call share: their transaction and their instant, as documents write it."""

    transaction_id: str
    created_at: str

    def draft(
        self, object_type: ObjectType, object_id: str, author: Party, payload: Mapping[str, Any],
        *signatories: tuple[Party, Purpose],
    ) -> Draft:
        """A first version by `author`."""
        body = {
            "spec_version": COMMERCIAL_SPEC,
            "id": object_id,
            "object_type": object_type.value,
            "version": 1,
            "created_at": self.created_at,
            "created_by": author.actor,
            "transaction_id": self.transaction_id,
            "previous_version_id": None,
            "payload": payload,
        }
        return Draft(body, tuple((party.key_id, purpose) for party, purpose in signatories))
