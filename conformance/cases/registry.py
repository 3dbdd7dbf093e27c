"""How a case is written: a function that builds the document, named after the case, its docstring the note.

`@valid(kind)` marks a document that must be accepted. `@faulty(kind, code)` marks one with a single fault that
must be refused with that code; with None, by the schema layer alone. The fixture's file name comes from the
function's name, so a case is found from its name and cannot be registered twice.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from a202_reference.codes import Code
from conformance.world import Document

Build = Callable[[], Document]


@dataclass(frozen=True, slots=True)
class Case:
    """One fixture to be. code: of the refusal, or None. positive: whether it must be accepted."""

    name: str
    kind: str
    note: str
    positive: bool
    code: Code | None
    build: Build

    @property
    def file(self) -> str:
        """Its path below the fixtures' folder."""
        return f"{self.name}.json" if self.positive else f"negative/{self.name}.json"


CASES: dict[str, Case] = {}
"""Every case, by name, in the order of its definition."""


def valid(kind: str) -> Callable[[Build], Build]:
    """Register a document that must be accepted."""
    return lambda build: _register(build, kind, positive=True, code=None)


def faulty(kind: str, code: Code | None) -> Callable[[Build], Build]:
    """Register a document that must be refused with `code`, or by the schema alone."""
    return lambda build: _register(build, kind, positive=False, code=code)


def _register(build: Build, kind: str, *, positive: bool, code: Code | None) -> Build:
    name = build.__name__.replace("_", "-")
    if name in CASES:
        raise ValueError(f"the case {name} is defined twice")
    note = " ".join((build.__doc__ or "").split())
    if not note:
        raise ValueError(f"the case {name} says nothing about itself")
    CASES[name] = Case(name, kind, note, positive, code, build)
    return build
