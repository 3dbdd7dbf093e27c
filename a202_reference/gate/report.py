"""Validity of a carried verification report (verification 2, D39 to D41): scope and gaps are stated, and no
result is a boolean or a summary that hides what could not be checked. Every fault: report invalid."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from a202_reference.codes import Code, Outcome
from a202_reference.gate.reading import is_one_of, items, members
from a202_reference.json_values import json_key
from a202_reference.times import parse_instant

_RESULTS = frozenset(member.value for member in Outcome)


def report_faults(report: Any, contained: frozenset[str]) -> Iterator[Code]:
    """The refusal of a report that does not say what it covers and leaves open, over a bundle of these streams."""
    if not _is_valid(report, contained):
        yield Code.EVIDENCE_REPORT_INVALID


def _is_valid(report: Any, contained: frozenset[str]) -> bool:
    if not isinstance(report, dict):
        return False
    scope, checks = members(report.get("scope")), items(report.get("checks"))
    if not scope.get("streams_in_scope") or not checks:
        return False
    withheld = scope.get("undisclosed_streams", [])
    if not isinstance(withheld, list) or not _in_order(scope.get("time_range")):
        return False
    undisclosed = {json_key(stream) for stream in withheld}
    absent = {json_key(stream) for stream in items(scope.get("streams_in_scope"))} - contained
    named = {json_key(members(check).get("stream")) for check in checks}
    return undisclosed <= named and not _boasts(report) and all(
        _is_honest(check, undisclosed, absent) for check in checks)


def _is_honest(check: Any, undisclosed: set[Any], absent: set[Any]) -> bool:
    result = members(check).get("result")
    if not is_one_of(result, _RESULTS):
        return False
    stream = members(check).get("stream")
    if result == Outcome.VERIFIED and json_key(stream) in absent:
        return False
    return json_key(stream) not in undisclosed or result == Outcome.NOT_CHECKABLE


def _in_order(time_range: Any) -> bool:
    """True for a range that is not stated, or ends no earlier than it starts."""
    if time_range is None:
        return True
    start, end = (parse_instant(members(time_range).get(name)) for name in ("from", "to"))
    return start is not None and end is not None and start <= end


def _boasts(report: Mapping[str, Any]) -> bool:
    """A word of passing over a failed check, or an overall that is no word."""
    overall = report.get("overall")
    failed = any(members(check).get("result") == Outcome.FAILED for check in items(report.get("checks")))
    return isinstance(overall, bool) or (failed and isinstance(overall, str) and overall.startswith("passing"))
