"""The key bindings of a state file, each with what is wrong with it (ADR 9, 10).

Rules this module applies: a binding counts where its row is what the seal of its commit lists, and one of two things
proves it.

- The key itself signed it (`seal`). So are all keys bound whose private half was at hand.
- A mandate proves it: the issuer's key of a mandate that was issued elsewhere. All of this must hold:
  1. the mandate was recorded in the same commit or before it, and is what was recorded;
  2. its proof states exactly this binding (identifier, owner, beginning) and verifies under this key (`issuer_keys`);
  3. no earlier commit used the identifier: a key that was known is never bound anew;
  4. the seal of the commit is signed by the key that the mandate is given to, which signed its own binding as that
     agent's: no chain of mandates proves anything. This fixes the public key, of which the proof says nothing, and
     keeps out whoever merely writes the file.

Nothing is raised over whatever stands in the file.
"""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from functools import lru_cache

from a202_mcp.batch import binding_in, document_in
from a202_mcp.commits import Commit, is_own, is_sealed
from a202_mcp.issuer_keys import agent_of, proof_fault, proving_mandate
from a202_mcp.seal import HeldKey, Seal, binding_verifies, seal_verifies
from a202_mcp.tables import KEYS, MANDATES
from a202_reference.keys import KeyBinding

_UNSIGNED = "its stored binding is not signed by the key itself"
_CHANGED = "its stored binding is not the one that was recorded"


@dataclass(frozen=True, slots=True)
class _Row:
    """One row of `keys` with the commit that wrote it. `written` is that commit's number, also where it is gone."""

    key_id: str
    body: object
    proof: object
    written: object
    commit: Commit

    @property
    def is_sealed(self) -> bool:
        """True where the seal of the commit lists it."""
        return is_sealed(KEYS, (self.key_id, self.body, self.proof), self.commit.body)


class Bindings:
    """The bindings of one state file."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def held(self, key_id: str) -> HeldKey | None:
        """One key's binding and what is wrong with it, or None where none is stored."""
        row = self._row(key_id)
        if row is None:
            return None
        binding = binding_in(key_id, row.body)
        if binding is None:
            return HeldKey(None, "its stored binding cannot be read")
        mandate_id = proving_mandate(row.proof)
        fault = _own_fault(row, binding) if mandate_id is None else self._issued_fault(row, binding, mandate_id)
        return HeldKey(binding, fault)

    def _row(self, key_id: str) -> _Row | None:
        row = self._connection.execute(
            "SELECT k.body, k.proof, k.commit_no, c.position, c.transaction_id, c.revision, c.at, c.body, c.key_id, "
            "c.signature FROM keys k LEFT JOIN commits c ON c.position = k.commit_no WHERE k.key_id = ?",
            (key_id,)).fetchone()
        if row is None:
            return None
        body, proof, written, position, transaction_id, revision, at, seal, sealer, signature = row
        return _Row(key_id, body, proof, written, Commit(
            position, transaction_id, revision, str(at), str(seal), sealer, signature))

    def _issued_fault(self, row: _Row, binding: KeyBinding, mandate_id: str) -> str | None:
        """Why a mandate does not prove the binding of its issuer's key here, or None; numbered as above."""
        found = self._connection.execute(
            "SELECT m.id, m.issuer_key_id, m.subject_key_id, m.body, m.commit_no <= ?, c.body FROM mandates m "
            "LEFT JOIN commits c ON c.position = m.commit_no WHERE m.id = ?", (row.written, mandate_id)).fetchone()
        if found is None or not found[4] or not is_sealed(MANDATES, found[:4], found[5]):  # 1
            return "the mandate that proves its stored binding is not here as it was recorded, then or before"
        fault = _proof_fault(str(found[3]), binding)  # 2
        if fault is not None:
            return f"its stored binding is not proven: {fault}"
        if self._connection.execute(  # 3
                "SELECT 1 FROM uses WHERE key_id = ? AND commit_no < ?", (row.key_id, row.written)).fetchone():
            return "it was used before its stored binding was recorded"
        if not row.is_sealed:
            return _CHANGED
        if not self._is_sealed_by_the_agent(row.commit, str(found[3])):  # 4
            return "its stored binding is not sealed by the agent that the mandate is given to"
        return None

    def _is_sealed_by_the_agent(self, commit: Commit, mandate: str) -> bool:
        agent = agent_of(document_in(mandate) or {})
        row = None if agent is None else self._row(agent[0])
        binding = None if row is None else binding_in(row.key_id, row.body)
        if agent is None or row is None or binding is None or _own_fault(row, binding) is not None:
            return False
        return (
            binding.owner == agent[1] and is_own(Seal.read(commit.body), commit)
            and commit.signature is not None and seal_verifies(commit.body, commit.at, commit.signature, binding))


def _own_fault(row: _Row, binding: KeyBinding) -> str | None:
    """Why a binding that its own key ought to have signed does not count, or None."""
    if not isinstance(row.proof, str) or not binding_verifies(binding, row.proof):
        return _UNSIGNED
    return None if row.is_sealed else _CHANGED


@lru_cache(maxsize=256)
def _proof_fault(mandate: str, binding: KeyBinding) -> str | None:
    """As `proof_fault`, over a mandate as its column holds it; what was verified once is remembered."""
    return proof_fault(document_in(mandate) or {}, binding)
