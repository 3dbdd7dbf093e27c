"""The private keys of one owner's server, in files that only their owner can read (treatyway 4, 10; axp 8, 10).

Rules this module applies:

- the agent's key, the owner's key and the key of placeholders lie in `keys` in the state folder, mode 0600; the
  owner's is sealed where a passphrase is given;
- the server loads the agent's key only; the owner's is opened to issue a mandate and to approve;
- a file is written whole or not at all, and never written twice. A key that is lost is not made anew: the record
  knows which one it was, and another signs nothing that the record can verify;
- a key of placeholders in its former form goes on counting: with another one every known counterparty would be a new
  one.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec

from a202_mcp.one_owner.private_files import write_new
from a202_reference.keys import KeyBinding, Owner, PrivateKey
from a202_reference.signing import Signer

FOLDER: Final = "keys"
AGENT: Final = "agent.pem"
OWNER: Final = "owner.pem"
PLACEHOLDERS: Final = "placeholders"
_FORMER_PLACEHOLDERS: Final = "placeholders.bin"
"""Where sellers kept it first, its bytes as they are."""
_PLACEHOLDER_BYTES: Final = 32
PASSPHRASE: Final = "A202_OWNER_PASSPHRASE"  # noqa: S105 - the name of a variable


class KeyFileError(Exception):
    """A key file that cannot be used. Its text is for the owner, names the file and holds no key."""


def passphrase() -> bytes | None:
    """The owner's passphrase, from the environment."""
    given = os.environ.get(PASSPHRASE)
    return os.fsencode(given) if given else None


def make_missing(state_dir: Path) -> None:
    """The key files of a state folder that no identity stands in yet. Raises OSError."""
    for name, sealed_with in ((AGENT, None), (OWNER, passphrase())):
        with suppress(FileExistsError):  # of an attempt that was cut off, or of another process
            make(state_dir, name, sealed_with)


def make(state_dir: Path, name: str, sealed_with: bytes | None = None) -> PrivateKey:
    """A new key pair in a new file. Raises OSError where the file is there already or cannot be written."""
    key = ec.generate_private_key(ec.SECP256R1())
    sealing: serialization.KeySerializationEncryption = (
        serialization.BestAvailableEncryption(sealed_with) if sealed_with else serialization.NoEncryption())
    write_new(state_dir / FOLDER / name, key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, sealing))
    return PrivateKey(key)


def load(state_dir: Path, name: str, sealed_with: bytes | None = None) -> PrivateKey:
    """The key pair in a file. Raises KeyFileError."""
    path = state_dir / FOLDER / name
    try:
        data = path.read_bytes()
    except OSError as unread:
        raise KeyFileError(f"{FOLDER}/{name} cannot be read: {unread.strerror}; put a copy of it back") from None
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


def signer_of(key: PrivateKey, name: str, key_id: str, owner: Owner, binding: KeyBinding | None) -> Signer:
    """The key pair of a file under the identifier it is bound to. Raises KeyFileError for another one."""
    if binding is None or binding.public != key.public or binding.owner != owner:
        raise KeyFileError(f"{FOLDER}/{name} is not the key that this state folder knows as {key_id}")
    return Signer(key_id, key)


def placeholder_key(state_dir: Path) -> bytes:
    """The random key that placeholders of counterparties are computed with; made on first use. Raises KeyFileError."""
    path = state_dir / FOLDER / PLACEHOLDERS
    former = path.with_name(_FORMER_PLACEHOLDERS)
    if not path.exists():
        if former.exists():
            return _whole(former, bytes)
        with suppress(FileExistsError):  # another process was faster; its key counts
            write_new(path, secrets.token_hex(_PLACEHOLDER_BYTES).encode("ascii"))
    return _whole(path, _from_hex)


def _from_hex(data: bytes) -> bytes:
    return bytes.fromhex(data.decode("ascii"))


def _whole(path: Path, reader: Callable[[bytes], bytes]) -> bytes:
    """The key of placeholders in a file; a shorter one would be guessed. Raises KeyFileError."""
    try:
        key = reader(path.read_bytes())
    except (OSError, ValueError):
        raise KeyFileError(f"{FOLDER}/{path.name} cannot be read: put a copy of it back") from None
    if len(key) != _PLACEHOLDER_BYTES:
        raise KeyFileError(f"{FOLDER}/{path.name} is no key of placeholders: put a copy of it back")
    return key
