"""The record as a picture: what each party wrote, in the order of the events, and whose signatures are on it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from a202_mcp.report_html.text import shown
from a202_reference.evidence.report import Report
from a202_reference.gate.reading import items, members

MARKS: Final = {"verified": "&#10003; verified", "failed": "&#10007; failed", "not_checkable": "? not checkable"}
"""How a signature's result is written; a word stands beside every sign."""

MOST: Final = 120
_LINE: Final = 15
_WIDTH: Final = 900
_LEFT, _SPINE, _RIGHT = 30, 360, 870


@dataclass(frozen=True, slots=True)
class Mark:
    """One thing on the picture: an event on the spine, or an object in its author's lane."""

    title: str
    below: tuple[str, ...]
    organization: str | None
    is_event: bool

    @property
    def height(self) -> int:
        """How much room it takes."""
        return 28 + _LINE * len(self.below)


def timeline(objects: Sequence[Any], report: Report) -> str:
    """The picture of at most 120 objects in the order given, or a sentence where there is nothing to draw."""
    documents = [document for document in objects if isinstance(document, dict)]
    if not documents:
        return "<p>There is nothing to draw.</p>\n"
    results = _results(report, {str(document.get("id")) for document in documents[:MOST]})
    lanes = _lanes(documents)
    drawn = [_mark(document, results) for document in documents[:MOST]]
    height = 50 + sum(mark.height for mark in drawn)
    parts = [f'<svg viewBox="0 0 {_WIDTH} {height}" role="img" aria-label="The record in order">',
             f'<line class="spine" x1="{_SPINE}" y1="34" x2="{_SPINE}" y2="{height - 10}"/>']
    for at, organization in enumerate(lanes[:2]):
        side, anchor = ((_LEFT, "start"), (_RIGHT, "end"))[at]
        parts.append(f'<text x="{side}" y="18" text-anchor="{anchor}" class="{("one", "two")[at]}">'
                     f"{shown(organization, 60)}</text>")
    y = 56
    for mark in drawn:
        parts.append(_drawn(mark, y, lanes))
        y += mark.height
    parts.append("</svg>")
    more = f"<p>And {len(documents) - MOST} more objects.</p>" if len(documents) > MOST else ""
    return "\n".join(parts) + f"\n{more}\n"


def _lanes(documents: Sequence[Mapping[str, Any]]) -> list[str]:
    """The organisations that wrote the record, in the order in which they first appear."""
    found: dict[str, None] = {}
    for document in documents:
        organization = members(document.get("created_by")).get("organization_id")
        if isinstance(organization, str):
            found.setdefault(organization)
    return list(found)


def _results(report: Report, subjects: set[str]) -> dict[str, dict[int, str]]:
    """The overall result of each signature, by object and place."""
    found: dict[str, dict[int, str]] = {}
    for row in report.rows:
        if row.step == 2 and row.name.startswith("signature[") and row.subject in subjects:
            place = row.name[len("signature["):-1]
            if place.isdigit():
                found.setdefault(row.subject, {})[int(place)] = row.result.value
    return found


def _mark(document: Mapping[str, Any], results: Mapping[str, Mapping[int, str]]) -> Mark:
    payload, kind = members(document.get("payload")), str(document.get("object_type"))
    signed = results.get(str(document.get("id")), {})
    lines = [shown(document.get("created_at"), 24)]
    lines += [f"{shown(members(entry).get('key_id'), 40)} {MARKS.get(signed.get(at, ''), 'not judged')}"
              for at, entry in enumerate(items(document.get("signatures"))[:4])] or ["no signature"]
    is_event = kind == "transaction_event"
    title = kind.replace("_", " ")
    if is_event:
        title = f"{payload.get('sequence')}. {payload.get('event_type')}"
        lines[0] += f" &#183; {shown(payload.get('from_state'), 30)} to {shown(payload.get('to_state'), 30)}"
    elif kind == "obligation_response":
        title = f"{payload.get('response_type')} ({title})"
    organization = members(document.get("created_by")).get("organization_id")
    return Mark(shown(title, 70), tuple(lines), organization if isinstance(organization, str) else None, is_event)


def _drawn(mark: Mark, y: int, lanes: Sequence[str]) -> str:
    if mark.is_event:
        dot = f'<circle class="dot" cx="{_SPINE}" cy="{y - 4}" r="6"/>'
        return f"<g>{dot}{_texts(mark, _SPINE + 16, y, 'start', '')}</g>"
    at = lanes.index(mark.organization) if mark.organization in lanes[:2] else 0
    side, anchor, name = ((_LEFT, "start", "one"), (_RIGHT, "end", "two"))[at]
    lane = f'<line class="lane" x1="{side}" y1="{y - 15}" x2="{_SPINE}" y2="{y - 15}"/>'
    return f"<g>{lane}{_texts(mark, side, y, anchor, name)}</g>"


def _texts(mark: Mark, x: int, y: int, anchor: str, name: str) -> str:
    title = f'<text x="{x}" y="{y}" text-anchor="{anchor}" class="{name}">{mark.title}</text>'
    return title + "".join(
        f'<text class="soft" x="{x}" y="{y + _LINE * at}" text-anchor="{anchor}">{line}</text>'
        for at, line in enumerate(mark.below, start=1))
