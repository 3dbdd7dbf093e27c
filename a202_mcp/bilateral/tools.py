"""The seven tools, in the order a client uses them (surface 2)."""

from __future__ import annotations

from a202_mcp.bilateral.declared import (
    create_agreement,
    get_transaction_record,
    issue_approval,
    issue_mandate,
    record_obligation,
    verify_evidence,
    verify_mandate,
)
from a202_mcp.bilateral.tool import Tool

TOOLS: tuple[Tool, ...] = (
    issue_mandate.TOOL,
    verify_mandate.TOOL,
    issue_approval.TOOL,
    create_agreement.TOOL,
    record_obligation.TOOL,
    verify_evidence.TOOL,
    get_transaction_record.TOOL,
)
