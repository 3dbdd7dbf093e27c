"""A mandate's status as its endpoint answered it (rules 3.6; D-13; surface 3, Clock).

Nothing here resolves an endpoint: the caller does, and presents the answer with the time it was retrieved.
An answer is usable while neither older than 60 s nor dated more than 60 s ahead of the instant judged.
Absent, unreadable, about another mandate, stale, past its own expiry, or of an unknown value: unresolved.
Resolved and anything but active: inactive. Unavailability is not permission.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from a202_reference.codes import Code
from a202_reference.registries import MandateStatus
from a202_reference.times import STATUS_WINDOW, parse_instant, within_window


@dataclass(frozen=True, slots=True)
class StatusResult:
    """One presented answer. Both values are as presented, readable or not."""

    mandate_id: str
    status: Any
    retrieved_at: Any
    expires_at: Any = None

    @classmethod
    def of(cls, mandate_id: str, raw: object) -> StatusResult | None:
        """The answer about `mandate_id`, or None where none was given or it names another mandate."""
        if not isinstance(raw, Mapping) or raw.get("mandate_id", mandate_id) != mandate_id:
            return None
        return cls(mandate_id, raw.get("status"), raw.get("retrieved_at"), raw.get("expires_at"))

    @property
    def document(self) -> dict[str, Any]:
        """{mandate_id, status, retrieved_at}, as decisions and bundles carry it; `expires_at` where it states one."""
        document = {"mandate_id": self.mandate_id, "status": self.status, "retrieved_at": self.retrieved_at}
        return document if self.expires_at is None else {**document, "expires_at": self.expires_at}


def by_mandate(results: Iterable[StatusResult]) -> dict[str, StatusResult]:
    """The answers under the mandate each is about.

    Of two about one mandate, one that does not say active counts: what is contradicted permits nothing.
    """
    found: dict[str, StatusResult] = {}
    for result in results:
        if result.mandate_id not in found or result.status != MandateStatus.ACTIVE.value:
            found[result.mandate_id] = result
    return found


def status_fault(result: StatusResult | None, judged_at: datetime) -> tuple[Code, str] | None:
    """Why this answer does not make the mandate usable at `judged_at`, or None where it does."""
    if result is None:
        return Code.MANDATE_STATUS_UNRESOLVED, (
            "no status was presented: resolve the mandate's status endpoint and pass "
            "`status` {status, retrieved_at}")
    if not isinstance(result.status, str) or result.status not in {member.value for member in MandateStatus}:
        return Code.MANDATE_STATUS_UNRESOLVED, "the presented status is not active, suspended, revoked or expired"
    retrieved = parse_instant(result.retrieved_at)
    if retrieved is None:
        return Code.MANDATE_STATUS_UNRESOLVED, "`retrieved_at` is not an instant like 2026-08-20T09:59:30Z"
    if not within_window(retrieved, judged_at):
        return Code.MANDATE_STATUS_UNRESOLVED, "the status is not of the last 60 s: resolve the endpoint again"
    if result.expires_at is not None and _outlived(result.expires_at, retrieved, judged_at):
        return Code.MANDATE_STATUS_UNRESOLVED, "the answer's own `expires_at` is past or more than 60 s away"
    if result.status != MandateStatus.ACTIVE.value:
        return Code.MANDATE_INACTIVE, f"the mandate is {result.status}"
    return None


def _outlived(expires_at: object, retrieved: datetime, judged_at: datetime) -> bool:
    expiry = parse_instant(expires_at)
    return expiry is None or expiry <= judged_at or expiry - retrieved > STATUS_WINDOW
