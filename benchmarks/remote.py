"""The formation of an agreement through a real client, for timing."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from mcp.client.client import Client

from a202_mcp.demo.script import Script
from a202_reference.times import format_instant


class Remote:
    """Two parties on one transaction behind a client."""

    def __init__(self, client: Client, transaction_id: str) -> None:
        self.client, self.transaction_id = client, transaction_id
        self.script = Script.shifted_to(datetime.now(UTC))
        self.parties: dict[str, dict[str, Any]] = {}

    async def prepare(self) -> None:
        """Issue both mandates."""
        for role in ("buyer", "supplier"):
            issued = await self._call("issue_mandate", self.script.mandate(role, self.transaction_id))
            self.parties[role] = {**self.script.data[role]["party"], "mandate_id": issued["mandate_id"]}

    async def decide(self, role: str) -> dict[str, Any]:
        """One party's decision on its formation act."""
        other = self.parties["supplier" if role == "buyer" else "buyer"]
        return await self._call("verify_mandate", {
            "mandate_id": self.parties[role]["mandate_id"],
            "status": {"status": "active", "retrieved_at": format_instant(datetime.now(UTC))},
            "proposed_action": {
                "action_type": "offer.accept" if role == "buyer" else "offer.submit",
                "transaction_id": self.transaction_id, "geography": self.script.data["geography"],
                "counterparty_organization_id": other["organization_id"], "proposed_terms": self.script.terms()}})

    async def form(self, buyer: dict[str, Any], supplier: dict[str, Any]) -> None:
        """Form the agreement."""
        await self._call("create_agreement", {
            "transaction_id": self.transaction_id, **self.parties, "terms": self.script.terms(),
            "buyer_decision": buyer, "supplier_decision": supplier, "geography": self.script.data["geography"],
            "offer_valid_until": self.script.data["offer_valid_until"]})

    async def _call(self, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
        result = await self.client.call_tool(tool, arguments)
        if result.is_error or not isinstance(result.structured_content, dict):
            raise AssertionError(f"{tool} was refused")
        return result.structured_content
