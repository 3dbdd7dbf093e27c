"""A draft grade from a run (rules 10; objects 7): unsigned, in the bilateral scope, and no more than it can say.

Rules this module applies:

- a dimension is assessed by the families below. All entries passed: band 1, the most that a run over known
  fixtures can show; one failed: band 0; none was run: null, which is not 0;
- no dimension is inferred from another or from another scope, and there is no composite;
- what only an issuer can give stays null: the status, the determination behind the grade, the signature.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from a202_reference.profiles import installed_profiles
from a202_reference.registries import COMMERCIAL_SPEC, RoleScope
from a202_reference.times import format_instant
from conformance.runner import Result, Run

DIMENSIONS: Mapping[str, tuple[str, ...]] = {
    "A": ("mandate", "delegation-chain", "approval", "party-family", "key-record"),
    "B": ("policy-decision", "envelope-annotation", "offer"),
    "C": ("offer", "agreement", "obligation", "settlement", "termination"),
    "D": ("evidence-and-verification", "dispute-and-determination"),
    "E": (),
}
"""Families by dimension. E asks for inputs nobody foresaw; known fixtures are none, so it stays unassessed."""


def draft_grade(run: Run, organization_id: str, implementation: str, issued: datetime) -> dict[str, Any]:
    """The draft, in the bilateral scope, valid for a year from `issued`."""
    return {
        "spec_version": COMMERCIAL_SPEC,
        "subject": {"organization_id": organization_id, "implementation": implementation},
        "level": "self_run_draft",
        "dimensions": {name: _dimension(run, families) for name, families in DIMENSIONS.items()},
        "scope": {
            "role_scopes": [RoleScope.BILATERAL.value],
            "profiles": list(installed_profiles().ids),
            "transports": [],
        },
        "held_out_coverage": None,
        "issued_at": format_instant(issued),
        "expires_at": format_instant(_a_year_after(issued)),
        "status": None,
        "determination_ref": None,
        "signature": None,
    }


def _dimension(run: Run, families: tuple[str, ...]) -> dict[str, Any] | None:
    by_family = {family: _results(run, family) for family in families}
    covered = [family for family, results in by_family.items() if results]
    if not covered:
        return None
    passed = all(result.passed for family in covered for result in by_family[family])
    return {"band": int(passed), "established_from": covered}


def _results(run: Run, family: str) -> list[Result]:
    return [result for result in run.results if (RoleScope.BILATERAL.value, family) in result.families]


def _a_year_after(moment: datetime) -> datetime:
    try:
        return moment.replace(year=moment.year + 1)
    except ValueError:  # the 29th of February
        return moment.replace(year=moment.year + 1, day=28)
