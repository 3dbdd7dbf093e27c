"""Who the member is in the record: organisation, agent, owner, and their keys in the state folder (spec 8, 9).

Rules this module applies:

- the agent's key and the owner's are made once and kept in files of mode 0600, the owner's sealed with the
  passphrase in A202_OWNER_PASSPHRASE where there is one. They never enter the record's file;
- the server loads the agent's key only; the owner's is opened to issue a mandate and to approve;
- a counterparty is a placeholder: the first 32 digits of an HMAC under a random key of this state folder, so that one
  id is one placeholder here and nothing anywhere else. It asserts nobody's identity.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import secrets
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec

from a202_mcp.axp.secret import write_file
from a202_reference.documents.parties import Party, PartyRef
from a202_reference.identifiers import IdSource, Prefix
from a202_reference.keys import Owner, PrivateKey
from a202_reference.signing import Signer

PASSPHRASE: Final = "A202_OWNER_PASSPHRASE"  # noqa: S105 - the name of a variable
_FOLDER: Final = "keys"
_PLACEHOLDERS: Final = "placeholders"


class KeyFileError(Exception):
    """A key file cannot be used. Its text is for the owner and holds no key."""


@dataclass(frozen=True, slots=True)
class Identity:
    """The member's identifiers. mandates: mandate id by what it is for: seller, buyer, free."""

    organization_id: str
    agent_id: str
    principal_id: str
    agent_key_id: str
    owner_key_id: str
    mandates: Mapping[str, str]
    limits: str
    """Fingerprint of the limits that the mandates were issued from."""

    @classmethod
    def fresh(cls, organization_id: str | None, ids: IdSource) -> Identity:
        """A new member, without a mandate yet."""
        return cls(
            organization_id or Prefix.ORGANIZATION.minted(ids()), Prefix.AGENT.minted(ids()),
            Prefix.PRINCIPAL.minted(ids()), Prefix.KEY.minted(ids()), Prefix.KEY.minted(ids()), {}, "")

    @classmethod
    def of(cls, document: Mapping[str, Any]) -> Identity:
        """The stored identity."""
        return cls(**document)

    @property
    def document(self) -> dict[str, Any]:
        """As it is stored."""
        return asdict(self)

    @property
    def agent(self) -> Owner:
        """The owner of the agent's key."""
        return Owner(self.organization_id, agent_id=self.agent_id)

    @property
    def owner(self) -> Owner:
        """The owner of the owner's key."""
        return Owner(self.organization_id, principal_id=self.principal_id)

    def party(self, use: str) -> Party | None:
        """Us, acting under the mandate for this use; None where there is none."""
        mandate_id = self.mandates.get(use)
        return None if mandate_id is None else Party(
            self.organization_id, self.agent_id, mandate_id, self.agent_key_id)


def agent_signer(state_dir: Path, identity: Identity) -> Signer:
    """The agent's key pair, made where there is none. Raises KeyFileError, OSError."""
    return _signer(state_dir / _FOLDER / "agent.pem", identity.agent_key_id, None)


def owner_signer(state_dir: Path, identity: Identity) -> Signer:
    """The owner's key pair, made where there is none. Raises KeyFileError, OSError."""
    passphrase = os.environ.get(PASSPHRASE)
    return _signer(
        state_dir / _FOLDER / "owner.pem", identity.owner_key_id, passphrase.encode("utf-8") if passphrase else None)


def placeholder_key(state_dir: Path) -> bytes:
    """The random key of this folder's placeholders, made where there is none."""
    path = state_dir / _FOLDER / _PLACEHOLDERS
    if not path.exists():
        write_file(path, secrets.token_hex(32))
    return bytes.fromhex(path.read_text("ascii"))


def counterparty(key: bytes, party_id: str | None, task_id: str) -> PartyRef:
    """The placeholder of a buyer or seller of the exchange; without an id, of this one task."""
    named = ["axp", party_id] if party_id else ["axp-task", task_id]
    digest = hmac.new(key, json.dumps(named, separators=(",", ":")).encode("ascii"), hashlib.sha256).hexdigest()[:32]
    return PartyRef(f"org_ext_{digest}", f"agt_ext_{digest}")


def _signer(path: Path, key_id: str, passphrase: bytes | None) -> Signer:
    if path.exists():
        return Signer(key_id, PrivateKey(_load(path, passphrase)))
    key = ec.generate_private_key(ec.SECP256R1())
    sealed: serialization.KeySerializationEncryption = (
        serialization.BestAvailableEncryption(passphrase) if passphrase else serialization.NoEncryption())
    pem = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, sealed)
    write_file(path, pem.decode("ascii"))
    return Signer(key_id, PrivateKey(key))


def _load(path: Path, passphrase: bytes | None) -> ec.EllipticCurvePrivateKey:
    try:
        pem = path.read_bytes()
        sealed = b"ENCRYPTED" in pem
        key = serialization.load_pem_private_key(pem, passphrase if sealed else None)
    except (ValueError, TypeError):
        raise KeyFileError(
            f"the key {path.name} cannot be opened: set {PASSPHRASE} to its passphrase, or restore the file") from None
    if not isinstance(key, ec.EllipticCurvePrivateKey):
        raise KeyFileError(f"the key {path.name} is of another kind")
    return key
