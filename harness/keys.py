"""Key pairs that several processes hold alike, so that a race between them is about the record and not the keys."""

from __future__ import annotations

import hashlib

from a202_mcp.keyring import Keyring
from a202_reference.keys import PrivateKey
from a202_reference.signing import Signer


class SharedKeyring(Keyring):
    """Holds every key there is: the pair under an identifier follows from the identifier and a seed."""

    def __init__(self, seed: str) -> None:
        super().__init__()
        self._seed = seed

    def mint(self, key_id: str) -> Signer:
        """The same pair for the same identifier, in whichever process."""
        digest = hashlib.sha256(f"{self._seed}\n{key_id}".encode()).digest()
        return Signer(key_id, PrivateKey.from_scalar(int.from_bytes(digest[:31], "big") + 1))

    def hold(self, signer: Signer) -> None:
        """Held already."""

    def signer(self, key_id: str) -> Signer:
        """As `mint`, made once."""
        if key_id not in self._held:
            self._held[key_id] = self.mint(key_id)
        return self._held[key_id]
