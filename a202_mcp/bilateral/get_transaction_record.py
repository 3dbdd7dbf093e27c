"""get_transaction_record: the hash-chained record, and the state it reaches (surface 2)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from a202_mcp import readout
from a202_mcp.bilateral import shapes
from a202_mcp.bilateral.tool import Answer, Tool
from a202_mcp.workspace import Workspace

SCHEMA = shapes.arguments(
    ["transaction_id"],
    transaction_id=shapes.TRANSACTION,
    after_sequence={
        "type": "integer", "minimum": 0, "description": "Only events after this sequence number. Default 0."},
    limit={"type": "integer", "minimum": 1, "description": "At most this many events. Default all."})

DESCRIPTION = """\
Returns the hash-chained record of a transaction: its events, whether the chain is linked, the state it reaches, and \
the ids of all objects held. A transaction this server has never seen reads state draft with known false. The whole \
bundle, which a stranger can verify with nothing else, is the resource a202://transactions/{transaction_id}/bundle. \
Records nothing. Refuses A202-POLICY-DENIED for a malformed transaction_id."""


def answer(workspace: Workspace, arguments: Mapping[str, Any]) -> Answer:
    """Read the record."""
    return readout.record(
        workspace.store, arguments["transaction_id"], arguments.get("after_sequence", 0), arguments.get("limit"))


TOOL = Tool("get_transaction_record", "Read a transaction's record", DESCRIPTION, SCHEMA, True, answer)
