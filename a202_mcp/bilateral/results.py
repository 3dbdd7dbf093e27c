"""How an answer looks on the wire (surface 4).

Rules this module applies:

- `structuredContent` carries everything, and one text block the same JSON on one line;
- a refusal is `{"outcome": "refused", "reason_codes", "detail"}` with `isError`; the first line of its text says
  in words what failed, since some clients show a model nothing else. Where it names the act to verify, both
  `proposed_action` and the detail carry it;
- a record's text names, in its first line, the address of the bundle a stranger can verify.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from mcp_types import CallToolResult, TextContent

from a202_mcp.bilateral.addresses import bundle_address
from a202_mcp.bilateral.tool import Answer
from a202_reference.codes import Refusal

_SENTENCE_ENDS = re.compile(r"\.\s|\n")
_MAX_LINE = 500


def tool_result(name: str, answer: Answer) -> CallToolResult:
    """The answer of the tool `name` as the protocol's result."""
    if isinstance(answer, Refusal):
        return _result(_refused(answer), _refusal_line(answer), is_error=True)
    return _result(answer, _lead(name, answer), is_error=False)


def _result(data: Mapping[str, Any], lead: str, *, is_error: bool) -> CallToolResult:
    text = TextContent(text=f"{lead}\n{_compact(data)}" if lead else _compact(data))
    return CallToolResult(content=[text], structured_content=dict(data), is_error=is_error)


def _refused(refusal: Refusal) -> dict[str, Any]:
    data: dict[str, Any] = {
        "outcome": "refused",
        "reason_codes": [code.value for code in refusal.codes],
        "detail": refusal.detail,
    }
    if refusal.proposed_action is not None:
        data["proposed_action"] = refusal.proposed_action
        act = _compact(refusal.proposed_action)
        if act not in refusal.detail:
            data["detail"] = f"{refusal.detail} Verify this proposed_action: {act}"
    return data


def _refusal_line(refusal: Refusal) -> str:
    end = _SENTENCE_ENDS.search(refusal.detail)
    sentence = refusal.detail[: end.start() + 1].strip() if end else refusal.detail
    return f"Refused ({', '.join(refusal.codes)}): {sentence[:_MAX_LINE]}"


def _lead(name: str, data: Mapping[str, Any]) -> str:
    if name != "get_transaction_record" or not data.get("known"):
        return ""
    return f"The bundle a stranger can verify: {bundle_address(data['transaction_id'])}"


def _compact(data: Mapping[str, Any]) -> str:
    return json.dumps(data, ensure_ascii=False, separators=(",", ":"))
