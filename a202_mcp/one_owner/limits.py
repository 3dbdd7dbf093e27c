"""The owner's limits in plain words, as the mandate that they mean (treatyway 9.2; axp 8).

Rules this module applies:

- limits are constraints on the total: its ceiling and its currency deny, `ask_above` asks a person, the floor denies.
  Each says exactly what the owner wrote;
- a mandate is gated before it is signed with the owner's key. Without a configured address it names one that nobody
  calls, since its switch is local;
- a mandate stands until its end or until it is revoked; then `init` issues the next one.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any, Final

from a202_mcp.one_owner.identity import Identity
from a202_mcp.recording import mandate_gate
from a202_reference.registries import MANDATE_SPEC, MandateStatus
from a202_reference.signing import Signer, sign_proof, unsigned_proof
from a202_reference.times import format_instant, parse_instant

_TOTAL: Final = "$.proposed_terms.core.total"
_DEFAULTS: Final = json.loads((Path(__file__).parent / "defaults.json").read_text("utf-8"))


@dataclass(frozen=True, slots=True)
class TotalLimits:
    """What a total may be. currency None: only `most` is said of it."""

    most: Decimal
    currency: str | None = None
    ask_above: Decimal | None = None
    least: Decimal | None = None

    @property
    def constraints(self) -> list[dict[str, str]]:
        """The mandate's constraints, in this order."""
        found = [_amount("c_total_amount", "maximum", self.most, "deny")]
        if self.currency is not None:
            found.append(_constraint(
                "c_total_currency", "commercial.string", "currency", "equals", self.currency, "deny"))
        if self.ask_above is not None:
            found.append(_amount("c_ask_above", "maximum", self.ask_above, "require_approval"))
        if self.least is not None:
            found.append(_amount("c_total_minimum", "minimum", self.least, "deny"))
        return found


@dataclass(frozen=True, slots=True)
class Grant:
    """What an owner lets the agent do: which actions, in which category, within which limits, how long."""

    actions: Sequence[str]
    category: str
    limits: TotalLimits
    valid_days: int
    status_url: str | None = None

    def mandate(self, who: Identity, mandate_id: str, now: datetime) -> dict[str, Any]:
        """The mandate of this grant, its proof still to come."""
        return {
            "spec_version": MANDATE_SPEC,
            "id": mandate_id,
            "issuer": {"organization_id": who.organization_id, "principal_id": who.principal_id,
                       "key_id": who.owner_key_id},
            "subject": {"agent_id": who.agent_id, "key_id": who.agent_key_id},
            "represented_organization_id": who.organization_id,
            "parent_mandate_id": None,
            "valid_from": format_instant(now),
            "valid_until": format_instant(now + timedelta(days=self.valid_days)),
            "status_endpoint": self.status_url or local_status(mandate_id),
            "actions": list(self.actions),
            "scope": {"categories": [self.category]},
            "constraints": self.limits.constraints,
            "approval_rules": [],
            "delegation": {"allowed": False, "maximum_depth": 0},
            "evidence_refs": [],
            "proof": unsigned_proof(who.owner_key_id, format_instant(now)),
        }


def signed(document: Mapping[str, Any], owner: Signer) -> dict[str, Any]:
    """The mandate with the owner's proof. Raises ValueError where the gate refuses it: the limits say nonsense."""
    errors, codes = mandate_gate(document)
    if errors or codes:
        raise ValueError("; ".join([*errors[:3], *(code.meaning for code in codes)]))
    return sign_proof(document, owner)


def stands(document: Mapping[str, Any] | None, status: str, now: datetime) -> bool:
    """True for a mandate that may still be used one day: neither ended nor, by its local switch, revoked."""
    ends = None if document is None else parse_instant(document["valid_until"])
    return ends is not None and now < ends and status != MandateStatus.REVOKED


def local_status(mandate_id: str) -> str:
    """The status address of a mandate whose switch is local. Nobody calls it: its host cannot exist."""
    return str(_DEFAULTS["local_status"]).format(mandate_id=mandate_id)


def _amount(name: str, operator: str, value: Decimal, failing: str) -> dict[str, str]:
    return _constraint(name, "commercial.decimal", "amount", operator, format(value, "f"), failing)


def _constraint(name: str, kind: str, member: str, operator: str, value: str, failing: str) -> dict[str, str]:
    return {"id": name, "type": kind, "path": f"{_TOTAL}.{member}", "operator": operator, "value": value,
            "on_failure": failing}
