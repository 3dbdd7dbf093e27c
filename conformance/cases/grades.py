"""Family conformance-grade."""

from __future__ import annotations

from typing import Any

from a202_reference.codes import Code
from a202_reference.registries import RoleScope
from conformance.cases.registry import faulty, valid
from conformance.documents.formation import CALIBRATION
from conformance.documents.parties import grade
from conformance.world import Document, sealed_grade, without


def _scoped(*scopes: str, **members: Any) -> Document:
    return grade(scope={"role_scopes": list(scopes), "profiles": [CALIBRATION], "transports": []}, **members)


@valid("grade")
def valid_conformance_grade_bilateral_scope() -> Document:
    """A grade in the bilateral scope; three dimensions were not assessed and say so."""
    return grade()


@valid("grade")
def valid_conformance_grade_operated_scope() -> Document:
    """A grade in the operated scope, with held-out coverage."""
    assessed = {"band": 2, "established_from": ["invitation", "session-event"]}
    return _scoped(
        RoleScope.OPERATED, dimensions={"A": None, "B": assessed, "C": None, "D": None, "E": None},
        held_out_coverage={"dimensions": ["B"], "case_count": 12, "families": ["auction"]})


@faulty("grade", Code.GRADE_SCOPE_UNKNOWN)
def grade_scope_unregistered() -> Document:
    """The role scope is not registered."""
    return _scoped("a202-scope/brokered/0.1")


@faulty("grade", Code.GRADE_SCOPE_INVALID)
def grade_scope_missing() -> Document:
    """No role scope is named."""
    return sealed_grade(without(grade(), "scope.role_scopes"))


@faulty("grade", Code.GRADE_SCOPE_INVALID)
def grade_scope_doubled() -> Document:
    """Both role scopes are named."""
    return _scoped(RoleScope.BILATERAL, RoleScope.OPERATED)


@faulty("grade", Code.GRADE_SCOPE_OVERCLAIM)
def grade_bilateral_claims_sessions() -> Document:
    """A bilateral grade counts session events."""
    assessed = {"band": 1, "established_from": ["mandate", "session-event"]}
    return grade(dimensions={"A": assessed, "B": None, "C": None, "D": None, "E": None})


@faulty("grade", Code.GRADE_SCOPE_OVERCLAIM)
def grade_bilateral_claims_held_out_auctions() -> Document:
    """A bilateral grade claims held-out coverage of auctions."""
    return grade(held_out_coverage={"dimensions": ["A"], "case_count": 3, "families": ["auction"]})


@faulty("grade", None)
def grade_dimension_left_out() -> Document:
    """A dimension is missing; what was not assessed is null."""
    return sealed_grade(without(grade(), "dimensions.E"))


@faulty("grade", None)
def grade_with_composite_score() -> Document:
    """A single score sums up the dimensions."""
    return grade(score=82)
