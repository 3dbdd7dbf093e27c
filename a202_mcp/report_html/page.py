"""The page itself, part by part."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from itertools import islice
from typing import Any, Final

from a202_mcp.report_html.style import STYLE
from a202_mcp.report_html.text import code, shown, table
from a202_mcp.report_html.timeline import timeline
from a202_mcp.report_text import STEPS
from a202_reference.evidence.material import Material
from a202_reference.evidence.report import Report, Row
from a202_reference.gate.reading import members
from a202_reference.times import format_instant

LISTED: Final = 500
"""How many rows of one kind are listed; the counts are always whole."""

_NO_VERDICT: Final = (
    "This report gives no overall verdict. A check is verified where it was made and holds, failed where it was made "
    "and does not hold, and not checkable where something it needs is not here. Read both lists; what they mean for "
    "your business is yours to say.")

_PART: Final = ("<p>The bundle says that it discloses a part of a record. What it holds back is not counted "
                "anywhere.</p>\n")


def pieces(report: Report, material: Material, now: datetime) -> Iterator[str]:
    """The page, ASCII only, in pieces to be written one after the other."""
    yield ('<!doctype html>\n<html lang="en"><head><meta charset="utf-8">\n'
           "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
           '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
           f"<title>Verification report {shown(material.transaction_id, 140)}</title>\n"
           f"<style>\n{STYLE}</style></head><body>\n")
    yield _head(report, material, now)
    yield _both(report)
    yield "<h2>What was agreed, and by whom</h2>\n"
    yield from _agreements(material)
    yield "<h2>Obligations</h2>\n" + _obligations(report, material)
    yield "<h2>The record in order</h2>\n" + timeline(material.objects, report)
    yield "<h2>What this report covers</h2>\n" + _scope(report)
    yield "<h2>Keys</h2>\n" + _keys(report)
    yield "<h2>Checks by step</h2>\n"
    yield from _steps(report)
    yield "</body></html>\n"


def _head(report: Report, material: Material, now: datetime) -> str:
    counts = report.counts
    cards = "".join(f"<div><b>{counts[name]}</b>{title}</div>" for name, title in (
        ("verified", "verified"), ("failed", "failed"), ("not_checkable", "not checkable")))
    return (f"<h1>Verification report</h1>\n<p class=\"soft\">{shown(material.transaction_id or 'A list of objects')}; "
            f"{len(report.scope.objects)} objects; checked at {format_instant(now)} under rules "
            f"{shown(report.rules_version or 'that are not stated')}</p>\n"
            f'<div class="counts">{cards}</div>\n<p>{_NO_VERDICT}</p>\n'
            f"{_PART if material.disclosed is not None else ''}")


def _both(report: Report) -> str:
    """Failed and not checkable, in the same form."""
    return ('<div class="both">'
            + _list("Failed", report.counts["failed"], (row for row in report.not_verified() if row.code is not None))
            + _list("Not checkable", report.counts["not_checkable"],
                    (row for row in report.not_verified() if row.code is None))
            + "</div>\n")


def _list(title: str, count: int, rows: Iterator[Row]) -> str:
    entries = "".join(
        f"<li>Step {row.step}, {code(row.name)} on {code(row.subject)}"
        f"{f', {code(row.code.value)}' if row.code is not None else ''}<br>{shown(row.detail)}</li>\n"
        for row in islice(rows, LISTED))
    more = f"<p>And {count - LISTED} more.</p>" if count > LISTED else ""
    body = f"<ol>\n{entries}</ol>{more}" if count else "<p>None.</p>"
    return f"<section><h2>{title}: {count}</h2>{body}</section>\n"


def _of_type(material: Material, object_type: str) -> list[Mapping[str, Any]]:
    return [document for document in material.objects
            if isinstance(document, dict) and document.get("object_type") == object_type]


def _agreements(material: Material) -> Iterator[str]:
    agreements = _of_type(material, "agreement")
    if not agreements:
        yield "<p>No agreement is here.</p>\n"
    mandates = {document["id"]: document for document in material.mandates
                if isinstance(document, dict) and isinstance(document.get("id"), str)}
    for agreement in agreements[:LISTED]:
        payload = members(agreement.get("payload"))
        terms = members(payload.get("terms"))
        core = members(terms.get("core"))
        total = members(core.get("total"))
        yield f"<h3>{code(agreement.get('id'))}</h3>\n<dl>"
        for role in ("buyer", "supplier"):
            party = members(payload.get(role))
            yield (f"<dt>{role}</dt><dd>{code(party.get('organization_id'))} through "
                   f"{code(party.get('agent_id'))}</dd>\n")
        yield (f"<dt>subject</dt><dd>{shown(core.get('description'), 4096)}</dd>\n"
               f"<dt>quantity</dt><dd>{shown(core.get('quantity'))} "
               f"{shown(core.get('unit_name') or core.get('unit_code'))}</dd>\n"
               f"<dt>total</dt><dd>{shown(total.get('amount'))} {shown(total.get('currency'))}</dd>\n"
               f"<dt>effective</dt><dd>{shown(payload.get('effective_at'))}</dd>\n"
               f"<dt>profile</dt><dd>{code(terms.get('profile'))}</dd></dl>\n"
               f"<details><summary>The terms as signed</summary><pre>{_raw(terms)}</pre></details>\n")
    for mandate in list(mandates.values())[:LISTED]:
        yield _mandate(mandate)


def _mandate(mandate: Mapping[str, Any]) -> str:
    issuer, subject = members(mandate.get("issuer")), members(mandate.get("subject"))
    whom = code(subject.get("agent_id") or subject.get("principal_id"))
    return (f"<details><summary>Mandate {code(mandate.get('id'))}: {code(issuer.get('principal_id'))} of "
            f"{code(issuer.get('organization_id'))} lets {whom} act "
            f"from {shown(mandate.get('valid_from'), 30)} until {shown(mandate.get('valid_until'), 30)}</summary>"
            f"<pre>{_raw({name: mandate.get(name) for name in ('actions', 'scope', 'constraints', 'approval_rules')})}"
            "</pre></details>\n")


def _raw(value: Any) -> str:
    try:
        return shown(json.dumps(value, indent=1, ensure_ascii=True), 20_000).replace("\\u000a", "\n")
    except (ValueError, RecursionError):
        return "not shown"


def _obligations(report: Report, material: Material) -> str:
    held = {str(document.get("id")): members(document.get("payload")) for document in _of_type(material, "obligation")}
    words = {"met": "due", "not_met": "not due yet", "not_computable": "cannot be computed"}
    asserted = {"early": "before it was due", "on_time": "when it was due", None: "&#8212;"}
    rows: list[tuple[str, ...]] = []
    for reading in report.obligations[:LISTED]:
        owed = held.get(reading.obligation_id, {})
        consideration = members(owed.get("consideration"))
        rows.append((
            code(reading.obligation_id), code(members(owed.get("obligor")).get("organization_id")),
            f"{shown(owed.get('quantity'))} {shown(owed.get('unit_code'))}",
            f"{shown(consideration.get('amount'))} {shown(consideration.get('currency'))}", shown(reading.state),
            words.get(reading.due, shown(reading.due)), asserted.get(reading.asserted, "&#8212;")))
    more = f"<p>And {len(report.obligations) - LISTED} more.</p>" if len(report.obligations) > LISTED else ""
    return table(("obligation", "owed by", "quantity", "for", "state", "now", "asserted"), rows) + more


def _scope(report: Report) -> str:
    scope = report.scope
    parts = ["<dl>"]
    for title, names in (
        ("streams disclosed", scope.streams_disclosed), ("streams named and not here", scope.undisclosed_streams),
        ("references to what is not here", scope.unresolved_references),
        ("evidence that nothing here names", scope.unreferenced_evidence),
        ("objects outside the bilateral scope", scope.operated_objects),
    ):
        parts.append(f"<dt>{title}</dt><dd>{_names(names)}</dd>\n")
    return "".join(parts) + "</dl>\n"


def _names(names: Sequence[str]) -> str:
    more = f" and {len(names) - LISTED} more" if len(names) > LISTED else ""
    return (", ".join(code(name) for name in names[:LISTED]) or "none") + more


def _keys(report: Report) -> str:
    rows: list[tuple[str, ...]] = []
    for key in report.key_status[:LISTED]:
        owner = ", ".join(code(value) for value in key["owner"].values())
        rows.append((
            code(key["key_id"]), owner, shown(key["source"]), shown(key["valid_from"]),
            shown(key["valid_until"] or "open"), shown(key["status_now"]), str(key["signatures"])))
    return table(("key", "owner", "who says so", "valid from", "until", "now", "signatures"), rows) + (
        "<p>A key that is declared by the bundle is the bundle's own claim. Compare it with what its owner published, "
        "or verify again with the keys that you know.</p>\n")


def _steps(report: Report) -> Iterator[str]:
    by_step: dict[int, list[tuple[str, Mapping[str, int]]]] = {}
    for (step, name), counts in report.findings.by_check().items():
        by_step.setdefault(step, []).append((name, counts))
    for step, checks in sorted(by_step.items()):
        total = {result: sum(counts[result] for _, counts in checks) for result in checks[0][1]}
        rows = [(code(name), *(str(counts[result]) for result in total)) for name, counts in checks]
        yield (f"<details open><summary>Step {step}, {STEPS[step]}: {total['verified']} verified, {total['failed']} "
               f"failed, {total['not_checkable']} not checkable</summary>\n")
        yield table(("check", "verified", "failed", "not checkable"), rows) + "</details>\n"
