"""The mandate document (objects 6): what a principal lets an agent do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from a202_reference.times import parse_instant

AXES: tuple[tuple[str, str], ...] = (
    ("transaction_ids", "transaction_id"),
    ("categories", "category"),
    ("counterparty_organization_ids", "counterparty_organization_id"),
    ("geographies", "geography"),
)
"""The four scope axes: the scope's member, and the act's member it bounds (rules 3.5 step 9)."""


@dataclass(frozen=True, slots=True)
class Predicate:
    """A comparison of what an act says at a path with a value, any JSON value."""

    path: str
    operator: str
    value: Any


@dataclass(frozen=True, slots=True)
class Constraint:
    """One limit on an act. `on_failure` is deny or require_approval."""

    id: str
    type: str
    predicate: Predicate
    on_failure: str


@dataclass(frozen=True, slots=True)
class ApprovalRule:
    """When a person must approve: a predicate, the approver it names, the longest life of an approval."""

    id: str
    when: Predicate
    organization_id: str
    role: str
    expires_after_seconds: int


@dataclass(frozen=True, slots=True)
class Mandate:
    """A schema-valid mandate. `raw` is the document whose bytes the proof covers."""

    raw: Mapping[str, Any]
    id: str
    issuer_organization_id: str
    issuer_principal_id: str
    issuer_key_id: str
    subject_key_id: str
    subject_agent_id: str | None
    subject_principal_id: str | None
    represented_organization_id: str
    parent_mandate_id: str | None
    valid_from: datetime
    valid_until: datetime
    actions: frozenset[str]
    scope: Mapping[str, Any]
    constraints: tuple[Constraint, ...]
    approval_rules: tuple[ApprovalRule, ...]

    @classmethod
    def of(cls, raw: Mapping[str, Any]) -> Mandate:
        """The view of a schema-valid mandate. Raises KeyError or ValueError for any other document."""
        issuer, subject = raw["issuer"], raw["subject"]
        start, end = parse_instant(raw["valid_from"]), parse_instant(raw["valid_until"])
        if start is None or end is None:
            raise ValueError("a schema-valid mandate has a readable interval")
        return cls(
            raw=raw,
            id=raw["id"],
            issuer_organization_id=issuer["organization_id"],
            issuer_principal_id=issuer["principal_id"],
            issuer_key_id=issuer["key_id"],
            subject_key_id=subject["key_id"],
            subject_agent_id=subject.get("agent_id"),
            subject_principal_id=subject.get("principal_id"),
            represented_organization_id=raw["represented_organization_id"],
            parent_mandate_id=raw["parent_mandate_id"],
            valid_from=start,
            valid_until=end,
            actions=frozenset(raw["actions"]),
            scope=raw["scope"],
            constraints=tuple(_constraint(constraint) for constraint in raw["constraints"]),
            approval_rules=tuple(_rule(rule) for rule in raw["approval_rules"]),
        )

    def in_force(self, moment: datetime) -> bool:
        """Rules 3.5 step 5: from its start up to, not at, its end."""
        return self.valid_from <= moment < self.valid_until


def _predicate(raw: Mapping[str, Any]) -> Predicate:
    return Predicate(raw["path"], raw["operator"], raw["value"])


def _constraint(raw: Mapping[str, Any]) -> Constraint:
    return Constraint(raw["id"], raw["type"], _predicate(raw), raw["on_failure"])


def _rule(raw: Mapping[str, Any]) -> ApprovalRule:
    approver = raw["approver"]
    return ApprovalRule(
        raw["id"], _predicate(raw["when"]), approver["organization_id"], approver["role"],
        int(raw["expires_after_seconds"]))
