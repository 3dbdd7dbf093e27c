"""One commit against its seal: which rows are changed, gone, added or out of order, and who may seal it (ADR 9).

Nothing here reads the state, and nothing is raised over what was read from it. A fault names its part; a name that is
none of ours is not repeated, since whoever wrote the file may have written anything there.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from a202_mcp.batch import document_in
from a202_mcp.seal import Fault, Rows, Seal, digest
from a202_mcp.tables import Table
from a202_reference.codes import Code

CHANGED: Final = Code.EVIDENCE_HASH_MISMATCH
GAP: Final = Code.EVIDENCE_CHAIN_GAP
UNSIGNED: Final = Code.EVIDENCE_SIGNATURE_INVALID

_NAME: Final = re.compile(r"[A-Za-z0-9_-]{1,140}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Commit:
    """One row of `commits`."""

    position: int
    transaction_id: str | None
    revision: int
    at: str
    body: str
    key_id: str | None
    signature: str | None

    @property
    def name(self) -> str:
        """What a report calls it."""
        return f"commit {self.position}"

    def fault(self, code: Code, detail: str) -> Fault:
        """A fault of this commit's seal."""
        return Fault(code, self.name, f"the seal of {self.name} {detail}")


def named(name: object) -> str:
    """A name as a report may show it."""
    return str(name) if _NAME.fullmatch(str(name)) else "(a name of another form)"


def is_sealed(table: Table, row: Sequence[object], body: object) -> bool:
    """True where the seal in `body` lists this row."""
    seal = Seal.read(body)
    return seal is not None and [str(row[table.named]), digest(row)] in seal.rows.get(table.name, ())


def is_own(seal: Seal | None, commit: Commit) -> bool:
    """True where the seal says of the commit what its own columns say."""
    return seal is not None and (seal.position, seal.transaction_id, seal.revision, seal.at) == (
        commit.position, commit.transaction_id, commit.revision, commit.at)


def numbered(commits: list[Commit], after: int) -> Iterator[Fault]:
    """Revisions follow each other without a gap."""
    for expected, commit in enumerate(commits, start=after + 1):
        if commit.revision != expected:
            yield Fault(GAP, str(commit.transaction_id), f"commit {expected} to {commit.transaction_id} is gone")
            return


def differences(table: Table, position: int, sealed: Rows, found: Rows) -> Iterator[Fault]:
    """What tells a commit's rows from those its seal lists."""
    if sealed == found:
        return

    def fault(code: Code, name: str, fate: str) -> Fault:
        return Fault(code, named(name), f"{table.word} {named(name)} {fate} (commit {position})")

    unsealed, unfound = [row for row in found if row not in sealed], [row for row in sealed if row not in found]
    changed = {name for name, _ in unsealed} & {name for name, _ in unfound}
    yield from (fault(CHANGED, name, "is not what was recorded") for name in sorted(changed))
    yield from (fault(GAP, name, "is gone") for name, _ in unfound if name not in changed)
    yield from (fault(GAP, name, "was not recorded") for name, _ in unsealed if name not in changed)
    if not unsealed and not unfound:
        moved = next((name for (name, _), other in zip(sealed, found, strict=False) if name != other[0]), table.name)
        yield fault(GAP, moved, "does not stand where it was recorded")


def entitled_keys(bodies: Iterable[object]) -> Iterator[str]:
    """The keys that signed these documents, and those that a mandate among them is given to. Total."""
    for body in bodies:
        document = document_in(body) or {}
        signatures = document.get("signatures")
        for entry in (*(signatures if isinstance(signatures, list) else ()), document.get("proof"),
                      document.get("subject")):
            if isinstance(entry, dict) and isinstance(entry.get("key_id"), str):
                yield entry["key_id"]
