"""get_transaction_record: the hash-chained record, and the state it reaches (surface 2)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from a202_mcp import readout
from a202_mcp.bilateral.tool import Answer
from a202_mcp.workspace import Workspace


def answer(workspace: Workspace, arguments: Mapping[str, Any]) -> Answer:
    """Read the record."""
    return readout.record(
        workspace.store, arguments["transaction_id"], arguments.get("after_sequence", 0), arguments.get("limit"))
