"""record_obligation: one act of the obligation exchange (surface 2, 3; rules 8).

The arguments of the three acts stand in one schema, since clients see one tool; which of them an act needs
stands in `ACTS`. Each act has its module: obligation_issue, obligation_assert, obligation_respond.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from a202_mcp.bilateral import obligation_assert, obligation_issue, obligation_respond
from a202_mcp.bilateral.tool import Answer
from a202_mcp.workspace import Workspace
from a202_reference.codes import Code, Refusal

_Act = Callable[[Workspace, Mapping[str, Any]], Answer]

ACTS: Mapping[str, tuple[tuple[str, ...], _Act]] = {
    "issue": (
        ("agreement_id", "obligor", "obligee", "term_path", "quantity", "unit_code", "due_condition"),
        obligation_issue.answer),
    "assert": (("obligation_id", "obligor", "obligee", "asserted_quantity", "evidence"), obligation_assert.answer),
    "accept": (("assertion_id", "responder", "counterparty"), obligation_respond.answer),
    "reject": (("assertion_id", "responder", "counterparty"), obligation_respond.answer),
    "waive": (("obligation_id", "responder", "counterparty"), obligation_respond.answer),
}
"""What each act needs besides `act` and `decision`, and who answers it. A respond is named by its kind."""


def answer(workspace: Workspace, arguments: Mapping[str, Any]) -> Answer:
    """Record one act, or say why not."""
    act = arguments["act"]
    if act == "respond":
        act = arguments.get("response_type")
        if act is None:
            return Refusal.of(Code.POLICY_DENIED, "response_type is missing: send accept, reject or waive")
    needed, run = ACTS[act]
    missing = [name for name in needed if name not in arguments]
    if missing:
        return Refusal.of(Code.POLICY_DENIED, f"{missing[0]} is missing: {act} needs {', '.join(needed)}")
    return run(workspace, arguments)
