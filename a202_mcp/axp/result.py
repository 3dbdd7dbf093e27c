"""What the owner's program made, and whether it may be delivered (axp 7.2; requirements A52, A53, A84)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from a202_mcp.axp.checks import failed_check
from a202_mcp.axp.links import is_nothing_but_links
from a202_mcp.axp.reading import NoJson, read
from a202_mcp.axp.settings import WorkerPlan
from a202_mcp.axp.skills import PYTHON
from a202_reference.wire import has_lone_surrogate

CONTENT_LIMIT: Final = 262_144


@dataclass(frozen=True, slots=True)
class Content:
    """A result that may be delivered."""

    content: str
    filename: str
    mime_type: str
    note: str | None

    @classmethod
    def of(cls, document: Mapping[str, str]) -> Content:
        """The result in the body of a delivery."""
        return cls(document["content"], document["filename"], document["mime_type"], document.get("note"))

    @property
    def document(self) -> dict[str, str]:
        """The body of the delivery."""
        note = {} if self.note is None else {"note": self.note}
        return {"content": self.content, "filename": self.filename, "mime_type": self.mime_type, **note}


def read_result(plan: WorkerPlan, output: bytes, checks: Mapping[str, Any]) -> Content | str:
    """The result in a program's output, or why it is not delivered."""
    found = _content(plan, output)
    return found if isinstance(found, str) else _unfit(found, checks) or found


def _content(plan: WorkerPlan, output: bytes) -> Content | str:
    """The result in the output, or what is wrong with it."""
    try:
        text = output.decode("utf-8")
    except UnicodeDecodeError:
        return "the result is not UTF-8"
    if plan.output == "text" and plan.command[0] != PYTHON:
        return Content(text, plan.filename, plan.mime_type, None)
    value = read(text)
    if isinstance(value, NoJson) or not isinstance(value, dict) or not isinstance(value.get("content"), str):
        return "the result is no JSON object with a text `content`"
    named = {name: value.get(name) for name in ("filename", "mime_type", "note")}
    if any(each is not None and (not isinstance(each, str) or has_lone_surrogate(each)) for each in named.values()):
        return "the result's filename, mime_type or note is no text"
    return Content(
        value["content"], named["filename"] or plan.filename, named["mime_type"] or plan.mime_type, named["note"])


def _unfit(result: Content, checks: Mapping[str, Any]) -> str | None:
    """Why this content is not delivered, or None."""
    content = result.content
    if has_lone_surrogate(content):
        return "the result is not UTF-8"
    if not content.strip():
        return "the result is empty"
    if len(content.encode("utf-8")) > CONTENT_LIMIT:
        return f"the result is over {CONTENT_LIMIT} bytes"
    if is_nothing_but_links(content):
        return "the result is nothing but a link"
    failed = failed_check(checks, content)
    return None if failed is None else f"the result fails the acceptance check {failed}"
