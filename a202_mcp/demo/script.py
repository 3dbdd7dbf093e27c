"""The walkthrough's documents, their dates shifted to today by whole days (surface 7, demo)."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from importlib.resources import files
from typing import Any

from a202_reference.times import format_instant, parse_instant


@dataclass(frozen=True, slots=True)
class Script:
    """The documents of one run. `mapping` says how the dates were moved."""

    data: Mapping[str, Any]
    mapping: str

    @classmethod
    def shifted_to(cls, now: datetime) -> Script:
        """The walkthrough as if it had been written today."""
        text = files("a202_mcp.demo").joinpath("walkthrough.json").read_text("utf-8")
        data = json.loads(text)
        written = datetime.strptime(data["written_on"], "%Y-%m-%d").replace(tzinfo=now.tzinfo)
        days = (now.date() - written.date()).days
        mapping = (
            f"Dates of the walkthrough are moved by {days} days, so that {data['written_on']} is today, "
            f"{now.date().isoformat()}.")
        return cls(_shift(data, timedelta(days=days)), mapping)

    def mandate(self, role: str, transaction_id: str, **more: Any) -> dict[str, Any]:
        """The arguments of one party's issue_mandate."""
        side, other = self.data[role], self.data["supplier" if role == "buyer" else "buyer"]
        party = side["party"]
        return {
            "issuer": side["issuer"],
            "subject": {"agent_id": party["agent_id"], "key_id": party["key_id"]},
            "represented_organization_id": party["organization_id"],
            "valid_from": self.data["valid_from"],
            "valid_until": self.data["valid_until"],
            "status_endpoint": side["status_endpoint"],
            "actions": side["actions"],
            "scope": {
                "transaction_ids": [transaction_id],
                "counterparty_organization_ids": [other["party"]["organization_id"]],
                "geographies": [self.data["geography"]],
            },
            "spending_limit": self.data["spending_limit"],
            **more,
        }

    def terms(self, amount: str | None = None) -> dict[str, Any]:
        """The agreed terms, or the same with another total."""
        terms: dict[str, Any] = json.loads(json.dumps(self.data["terms"]))
        if amount is not None:
            terms["core"]["total"]["amount"] = amount
        return terms

    @property
    def core(self) -> dict[str, Any]:
        """What an obligation act proposes."""
        core = self.data["terms"]["core"]
        return {"quantity": core["quantity"], "unit_code": core["unit_code"], "total": core["total"]}

    @property
    def evidence(self) -> dict[str, Any]:
        """One piece of evidence; its artifact's bytes are the text that the walkthrough names."""
        entry = dict(self.data["evidence"])
        artifact = entry.pop("artifact")
        return {**entry, "artifact_hash": hashlib.sha256(artifact.encode("utf-8")).hexdigest()}


def _shift(value: Any, by: timedelta) -> Any:
    if isinstance(value, dict):
        return {name: _shift(member, by) for name, member in value.items()}
    if isinstance(value, list):
        return [_shift(member, by) for member in value]
    moment = parse_instant(value)
    return value if moment is None else format_instant(moment + by)
