"""The shop's private keys, in files that only their owner can read (spec 4, 10).

Rules this module applies:

- the agent's key, the owner's key and the key of placeholders lie in `keys` in the state folder, mode 0600; the
  owner's is sealed where a passphrase is given;
- the server loads the agent's key only; the owner's is opened to issue a mandate and to answer;
- a file is written whole or not at all, and never written twice.
"""

from __future__ import annotations

import os
import secrets
from contextlib import suppress
from pathlib import Path
from typing import Final

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec

from a202_reference.keys import PrivateKey

FOLDER: Final = "keys"
AGENT: Final = "agent.pem"
OWNER: Final = "owner.pem"
PLACEHOLDERS: Final = "placeholders.bin"
PASSPHRASE: Final = "A202_OWNER_PASSPHRASE"  # noqa: S105 - the name of a variable


class KeyFileError(Exception):
    """A key file that cannot be used. Its text is for the owner and names the file."""


def passphrase() -> bytes | None:
    """The owner's passphrase, from the environment."""
    given = os.environ.get(PASSPHRASE)
    return given.encode("utf-8") if given else None


def make(state_dir: Path, name: str, sealed_with: bytes | None = None) -> PrivateKey:
    """A new key pair in a new file. Raises OSError where the file is there already or cannot be written."""
    key = ec.generate_private_key(ec.SECP256R1())
    sealing: serialization.KeySerializationEncryption = (
        serialization.BestAvailableEncryption(sealed_with) if sealed_with else serialization.NoEncryption())
    _write(state_dir / FOLDER / name, key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, sealing))
    return PrivateKey(key)


def load(state_dir: Path, name: str, sealed_with: bytes | None = None) -> PrivateKey:
    """The key pair in a file. Raises KeyFileError."""
    path = state_dir / FOLDER / name
    try:
        data = path.read_bytes()
    except OSError as unread:
        raise KeyFileError(f"{FOLDER}/{name} cannot be read: {unread.strerror}; run `a202-mcp seller init`") from None
    sealed = b"ENCRYPTED" in data
    if sealed and not sealed_with:
        raise KeyFileError(f"{FOLDER}/{name} is sealed: set {PASSPHRASE}")
    try:
        key = serialization.load_pem_private_key(data, sealed_with if sealed else None)
    except (ValueError, TypeError):
        raise KeyFileError(f"{FOLDER}/{name} cannot be opened: a wrong {PASSPHRASE}, or no key file") from None
    if not isinstance(key, ec.EllipticCurvePrivateKey) or not isinstance(key.curve, ec.SECP256R1):
        raise KeyFileError(f"{FOLDER}/{name} is no P-256 key")
    return PrivateKey(key)


def exists(state_dir: Path, name: str) -> bool:
    """True where the file is there."""
    return (state_dir / FOLDER / name).exists()


def placeholder_key(state_dir: Path) -> bytes:
    """The random key that placeholders of counterparties are computed with; made on first use."""
    path = state_dir / FOLDER / PLACEHOLDERS
    if not path.exists():
        with suppress(FileExistsError):  # another process was faster; its key counts
            _write(path, secrets.token_bytes(32))
    return path.read_bytes()


def _write(path: Path, data: bytes) -> None:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    fresh = path.with_name(f"{path.name}.{secrets.token_hex(8)}")
    descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        os.link(fresh, path)  # fails where the file is there, which a rename would not
    finally:
        fresh.unlink()
