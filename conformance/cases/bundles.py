"""Family evidence-and-verification: verification reports that a bundle carries."""

from __future__ import annotations

from typing import Any

from a202_reference.codes import Code
from conformance.cases.registry import faulty, valid
from conformance.documents.performance import bundle, event
from conformance.world import TRANSACTION, Document

INVALID = Code.EVIDENCE_REPORT_INVALID
WITHHELD = "private_fernhill_seller"


def _reported(**members: Any) -> Document:
    """A record of one event, and a report over it that leaves the seller's own decisions open."""
    report = {
        "scope": {"streams_in_scope": [TRANSACTION], "undisclosed_streams": [WITHHELD],
                  "time_range": {"from": "2026-03-01T00:00:00Z", "to": "2026-03-31T00:00:00Z"}},
        "checks": [
            {"check": "content_hash", "stream": TRANSACTION, "result": "verified"},
            {"check": "policy_decision_resolves", "stream": WITHHELD, "result": "not_checkable",
             "reason": "the seller's decisions were not disclosed"},
        ],
        "overall": "passing_in_scope",
        **members,
    }
    return bundle(event("agreement.direct", "draft", "agreement_pending"), rules_version_in_force="1.3",
                  verification_report=report)


def _checks(index: int, **members: Any) -> Document:
    checks = _reported()["context"]["verification_report"]["checks"]
    checks[index] = {**checks[index], **members}
    return _reported(checks=checks)


def _scope(**members: Any) -> Document:
    return _reported(scope={**_reported()["context"]["verification_report"]["scope"], **members})


@valid("bundle")
def valid_verification_report() -> Document:
    """A report that names what it could not check, and passes in its scope."""
    return _reported()


@valid("bundle")
def valid_verification_report_of_failure() -> Document:
    """A report of a failed check that does not pass."""
    document = _checks(0, result="failed")
    document["context"]["verification_report"]["overall"] = "failed"
    return document


@faulty("bundle", INVALID)
def evidence_report_without_scope() -> Document:
    """The report does not say what it covers."""
    return _reported(scope=None)


@faulty("bundle", INVALID)
def evidence_report_without_checks() -> Document:
    """The report lists no check."""
    return _reported(checks=[])


@faulty("bundle", INVALID)
def evidence_report_gap_taken_for_verified() -> Document:
    """What was not disclosed is reported as verified."""
    return _checks(1, result="verified")


@faulty("bundle", INVALID)
def evidence_report_gap_unmentioned() -> Document:
    """A withheld stream is named by no check."""
    return _scope(undisclosed_streams=[WITHHELD, "ses_brightwater_fernhill_01"])


@faulty("bundle", INVALID)
def evidence_report_result_as_boolean() -> Document:
    """A result is a truth value."""
    return _checks(0, result=True)


@faulty("bundle", INVALID)
def evidence_report_overall_as_boolean() -> Document:
    """The whole is summed up in a truth value."""
    return _reported(overall=True)


@faulty("bundle", INVALID)
def evidence_report_passes_over_failure() -> Document:
    """A check failed, and the report passes in scope."""
    return _checks(0, result="failed")


@faulty("bundle", INVALID)
def evidence_report_verifies_absent_stream() -> Document:
    """A stream in scope is verified that the bundle does not contain."""
    document = _scope(streams_in_scope=[TRANSACTION, "txn_other_deal_01"])
    document["context"]["verification_report"]["checks"].append(
        {"check": "content_hash", "stream": "txn_other_deal_01", "result": "verified"})
    return document


@faulty("bundle", INVALID)
def evidence_report_time_runs_backwards() -> Document:
    """The range of time ends before it starts."""
    return _scope(time_range={"from": "2026-03-31T00:00:00Z", "to": "2026-03-01T00:00:00Z"})


@faulty("bundle", INVALID)
def evidence_report_as_word() -> Document:
    """A single word stands where the report belongs."""
    return bundle(event("agreement.direct", "draft", "agreement_pending"), rules_version_in_force="1.3",
                  verification_report="verified")
