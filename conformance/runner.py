"""Running a set of fixtures against the gate (verification 4, "Deciding an entry").

Every entry gets a result: a file that cannot be read, a path that leaves the folder and a kind that does not
exist fail their entry and stop nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from a202_reference import gate
from a202_reference.wire import Numbers, Unreadable, read_json
from conformance.families import families_of
from conformance.manifest import KINDS, Entry


@dataclass(frozen=True, slots=True)
class Result:
    """How one entry came out. why: empty where it behaves as declared."""

    entry: Entry
    why: str
    schema_errors: tuple[str, ...] = ()
    codes: tuple[str, ...] = ()

    @property
    def passed(self) -> bool:
        """True where the entry behaves as declared."""
        return not self.why

    @property
    def families(self) -> tuple[tuple[str, str], ...]:
        """Role scope and family of the entry."""
        return tuple((scope.value, family) for scope, family in families_of(self.entry.file))


@dataclass(frozen=True, slots=True)
class Run:
    """The results of one run, in the manifest's order."""

    results: tuple[Result, ...]

    @property
    def failed(self) -> tuple[Result, ...]:
        """The entries that did not behave as declared."""
        return tuple(result for result in self.results if not result.passed)


def run(entries: Iterable[Entry], fixtures: Path) -> Run:
    """Judge every entry's file below the folder."""
    return Run(tuple(judge_entry(entry, fixtures) for entry in entries))


def judge_entry(entry: Entry, fixtures: Path) -> Result:
    """Judge one entry's file."""
    if entry.kind not in KINDS:
        return Result(entry, "the kind does not exist")
    path = fixtures / entry.file
    if not path.resolve().is_relative_to(fixtures.resolve()):
        return Result(entry, "the path leaves the fixtures' folder")
    try:
        document = read_json(path.read_bytes(), numbers=Numbers.ANY)
    except OSError:
        return Result(entry, "the file cannot be read")
    if isinstance(document, Unreadable):
        return Result(entry, f"the file cannot be read: {document.reason}")
    judgement = gate.judge(entry.kind, document)
    why = _fault(entry, judgement)
    return Result(entry, why, judgement.schema_errors, tuple(code.value for code in judgement.codes))


def _fault(entry: Entry, judgement: gate.Judgement) -> str:
    if entry.positive:
        return "" if judgement.accepted else "a valid document is refused"
    if entry.reason_code is not None and judgement.codes:
        return "" if entry.reason_code in judgement.codes else "it is refused with other codes"
    return "" if judgement.schema_errors else (
        "nothing refuses it" if not judgement.codes else "the schema layer does not refuse it")
