"""How clients see get_transaction_record (surface 2): its arguments and its description."""

from __future__ import annotations

from a202_mcp.bilateral import shapes
from a202_mcp.bilateral.tool import Tool

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

TOOL = Tool("get_transaction_record", "Read a transaction's record", DESCRIPTION, SCHEMA, True)
