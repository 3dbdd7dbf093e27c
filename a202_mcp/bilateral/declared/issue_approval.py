"""How clients see issue_approval (surface 2): its arguments and its description."""

from __future__ import annotations

from a202_mcp.bilateral import shapes
from a202_mcp.bilateral.shapes import identifier, listed, text
from a202_mcp.bilateral.tool import Tool

SCHEMA = shapes.arguments(
    ["transaction_id", "action_hash", "requested_by", "approver"],
    transaction_id=shapes.TRANSACTION,
    action_hash=text("The action_hash that verify_mandate reported for the act."),
    requested_by=shapes.party("The party whose act is to be approved."),
    approver=shapes.record(
        "Who decides.", ["principal_id", "role", "key_id"],
        principal_id=identifier("prn", "The principal."),
        role=text("The role the approval rule names, for example procurement_director."),
        key_id=identifier("key", "The principal's own key, never the agent's.")),
    decision=text("What the person decided. Default approved.", enum=["approved", "rejected"]),
    expires_after_seconds={
        "type": "integer", "minimum": 1, "maximum": 315360000,
        "description": "How long the approval lasts. Default 3600, or less where the mandate's rules say so."},
    expires_at=text(f"When the approval ends; wins over expires_after_seconds. {shapes.INSTANT_NOTE}"),
    conditions=listed(
        "Conditions in words. An approval with conditions keeps the hold: no software can check them.",
        text("A condition.")),
    idempotency_key=shapes.IDEMPOTENCY)

DESCRIPTION = """\
Records a named principal's decision on one exact action hash, signed with the principal's own key. Call it after \
verify_mandate answered require_approval and after the person has really decided; then call verify_mandate again with \
the identical proposed_action and the returned approval_id, and pass that allow to the recording tool. An approval \
covers one act on one transaction, is used up by the act it released, and never lifts a deny.

Refuses: A202-APPROVAL-REQUIRED (the key belongs to an agent or to another principal), A202-HASH-FORMAT-INVALID \
(action_hash is not 64 lowercase hexadecimal digits), A202-POLICY-DENIED (shape, or a key this process does not hold), \
A202-SEQUENCE-CONFLICT (idempotency key)."""

TOOL = Tool("issue_approval", "Record a person's approval", DESCRIPTION, SCHEMA, False)
