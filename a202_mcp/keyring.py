"""Private keys, in this process's memory and nowhere else (seed, "Keys and state"; surface 6).

Rules this module applies:

- a key pair is made once, when its identifier is first bound, and lives as long as the process;
- a key identifier that is bound but whose private half is not here, after a restart or because another process
  holds it, signs nothing and is never minted again;
- nothing returns, logs or stores a private key.
"""

from __future__ import annotations

from a202_reference.keys import PrivateKey
from a202_reference.signing import Signer


class Keyring:
    """The private halves this process holds, by key identifier."""

    def __init__(self) -> None:
        self._held: dict[str, Signer] = {}

    def mint(self, key_id: str) -> Signer:
        """A new key pair. It is held only once `hold` is called, after its binding was stored."""
        return Signer(key_id, PrivateKey.generate())

    def hold(self, signer: Signer) -> None:
        """Keep a key pair. Raises ValueError where the identifier is held already."""
        if signer.key_id in self._held:
            raise ValueError("a key identifier is bound once")
        self._held[signer.key_id] = signer

    def signer(self, key_id: str) -> Signer | None:
        """The key pair under this identifier, or None."""
        return self._held.get(key_id)

    def __repr__(self) -> str:
        return f"Keyring({len(self._held)} keys)"
