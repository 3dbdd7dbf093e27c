"""The report of a verification (verification 2; surface 2, verify_evidence).

Rules this module applies:

- each check has one of three results, and a code exactly where it failed; the three are counted apart and never
  folded into one: there is no verdict, no score and no truth value;
- scope and gaps stand in the same report as the results: which streams and objects it covers, what is named and
  not held, whose keys were used and who says so.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final, Literal, NamedTuple

from a202_reference.codes import Code, Outcome
from a202_reference.registries import RoleScope

STEPS: Final = 7


class Judgement(NamedTuple):
    """The result of one check. `code` is there exactly where it failed."""

    outcome: Outcome
    code: Code | None = None
    detail: str = ""


VERIFIED = Judgement(Outcome.VERIFIED)


def failed(code: Code, detail: str) -> Judgement:
    """The check was made, and the record does not hold."""
    return Judgement(Outcome.FAILED, code, detail)


def unknown(detail: str) -> Judgement:
    """The check could not be made; `detail` says what is missing."""
    return Judgement(Outcome.NOT_CHECKABLE, None, detail)


class Row(NamedTuple):
    """One check on one subject."""

    step: int
    name: str
    subject: str
    result: Outcome
    code: Code | None
    detail: str

    @property
    def document(self) -> dict[str, Any]:
        """The member of `checks`."""
        return _check(*self)


_WORDS: Final = {outcome: outcome.value for outcome in Outcome}


def _check(step: int, name: str, subject: str, result: Outcome, code: Code | None, detail: str) -> dict[str, Any]:
    return {"step": step, "name": name, "subject": subject, "result": _WORDS[result],
            "code": None if code is None else code.value, "detail": detail}


class Findings:
    """The checks of a verification, step by step, in the order in which they were made.

    Large records have millions of rows, nearly all of them alike: what is kept for one is three references, and
    a Row is made where somebody reads it.
    """

    __slots__ = ("_steps",)

    def __init__(self) -> None:
        self._steps: tuple[list[Any], ...] = tuple([] for _ in range(STEPS + 1))

    def add(self, step: int, name: str, subject: str, judgement: Judgement) -> None:
        """Note one check."""
        self._steps[step].extend((name, subject, judgement))

    def __iter__(self) -> Iterator[Row]:
        """Every row, step by step."""
        for step, flat in enumerate(self._steps):
            for name, subject, judgement in zip(flat[::3], flat[1::3], flat[2::3], strict=True):
                yield Row(step, name, subject, *judgement)

    def documents(self) -> list[dict[str, Any]]:
        """Every row as a member of `checks`."""
        return [_check(step, name, subject, *judgement) for step, flat in enumerate(self._steps)
                for name, subject, judgement in zip(flat[::3], flat[1::3], flat[2::3], strict=True)]

    def not_verified(self) -> Iterator[Row]:
        """The rows that failed or could not be made."""
        for step, flat in enumerate(self._steps):
            for at in range(2, len(flat), 3):
                if flat[at].outcome is not Outcome.VERIFIED:
                    yield Row(step, flat[at - 2], flat[at - 1], *flat[at])

    def counts(self) -> dict[str, int]:
        """How many came out how."""
        counted = Counter(judgement.outcome for flat in self._steps for judgement in flat[2::3])
        return {outcome.value: counted[outcome] for outcome in Outcome}

    def by_check(self) -> dict[tuple[int, str], dict[str, int]]:
        """The same for each check; the number in brackets that tells signatures apart is left out."""
        counted: dict[tuple[int, str], Counter[Outcome]] = {}
        for step, flat in enumerate(self._steps):
            for name, judgement in zip(flat[::3], flat[2::3], strict=True):
                counted.setdefault((step, name.partition("[")[0]), Counter())[judgement.outcome] += 1
        return {check: {outcome.value: found[outcome] for outcome in Outcome} for check, found in counted.items()}


@dataclass(frozen=True, slots=True)
class ObligationReading:
    """Where one obligation stands. `due`: met, not_met, not_computable; `asserted`: early, on_time, None."""

    obligation_id: str
    state: str
    due: str
    asserted: str | None


@dataclass(frozen=True, slots=True)
class Scope:
    """What the report is about, and what it names without holding it. All are identifiers, sorted."""

    objects: tuple[str, ...]
    operated_objects: tuple[str, ...]
    streams_disclosed: tuple[str, ...]
    undisclosed_streams: tuple[str, ...]
    unresolved_references: tuple[str, ...]
    unreferenced_evidence: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Report:
    """The result of the seven steps. It has no truth value."""

    findings: Findings
    scope: Scope
    obligations: tuple[ObligationReading, ...]
    key_status: tuple[dict[str, Any], ...]
    rules_version: str | None

    def __bool__(self) -> bool:
        raise TypeError("a report has three counts and no verdict; ask for the rows you mean")

    @property
    def rows(self) -> Iterator[Row]:
        """Every check."""
        return iter(self.findings)

    @property
    def counts(self) -> dict[str, int]:
        """How many checks came out how."""
        return self.findings.counts()

    def not_verified(self) -> Iterator[Row]:
        """The rows that failed or could not be checked."""
        return self.findings.not_verified()

    def document(self, checks: Literal["all", "not_verified"] = "all") -> dict[str, Any]:
        """The result of verify_evidence. The counts are always whole."""
        listed = self.findings.documents() if checks == "all" else [row.document for row in self.not_verified()]
        return {**self.frame(), "checks": listed}

    def frame(self) -> dict[str, Any]:
        """All of the document but its checks, for a writer that lists them one by one."""
        return {
            "role_scope": RoleScope.BILATERAL.value,
            "operated_objects": list(self.scope.operated_objects),
            "obligations": [_obligation(reading) for reading in self.obligations],
            "key_status": [dict(status) for status in self.key_status],
            "rules_version": self.rules_version,
            "objects_in_scope": list(self.scope.objects),
            "streams_disclosed": list(self.scope.streams_disclosed),
            "undisclosed_streams": list(self.scope.undisclosed_streams),
            "unresolved_references": list(self.scope.unresolved_references),
            "unreferenced_evidence": list(self.scope.unreferenced_evidence),
            "results": self.counts,
        }


def _obligation(reading: ObligationReading) -> dict[str, Any]:
    return {"obligation_id": reading.obligation_id, "state": reading.state, "due": reading.due,
            "asserted": reading.asserted}
