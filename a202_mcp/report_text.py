"""The report on a terminal (surface 7). Texts from the record are shown as data: never as markup or control codes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from typing import Final

from rich.box import SIMPLE
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from a202_reference.evidence.report import Report, Row

SHOWN: Final = 200
"""How many rows of either kind are listed; the counts are always whole."""

STEPS: Final = {
    1: "canonical bytes and hashes", 2: "signatures", 3: "versions", 4: "the chain of events",
    5: "transitions, authority, obligations", 6: "determinations", 7: "gaps"}
"""What each step is about."""


def print_report(report: Report, *, is_part: bool = False, console: Console | None = None) -> None:
    """Print a report: the counts, then failed and not checkable alike, then what it covers."""
    out = console or Console(highlight=False)
    counts = report.counts
    _say(out, "Verification report", "bold")
    _say(out, f"verified {counts['verified']}, failed {counts['failed']}, not checkable {counts['not_checkable']}")
    _say(out, f"rules {report.rules_version or 'not stated'}; there is no overall verdict: read both lists below")
    if is_part:
        _say(out, "the bundle says that it discloses a part of a record; what it holds back is not counted anywhere")
    out.print(_summary(report))
    _list(out, "Failed", counts["failed"], (row for row in report.not_verified() if row.code is not None))
    _list(out, "Not checkable", counts["not_checkable"], (row for row in report.not_verified() if row.code is None))
    _scope(out, report)


def plain(text: str) -> str:
    """A text from the record without anything that a terminal or a page would act upon."""
    return "".join(character if character.isprintable() else f"\\u{ord(character):04x}" for character in text)


@contextmanager
def progress(what: str, total: int) -> Iterator[Callable[[int], None]]:
    """A progress bar on standard error."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=total)
        yield lambda done: bar.advance(task, done)


def _summary(report: Report) -> Table:
    table = Table("step", "checks", box=SIMPLE, pad_edge=False)
    for name in ("verified", "failed", "not checkable"):
        table.add_column(name, justify="right")
    totals: dict[int, list[int]] = {}
    for (step, _), found in report.findings.by_check().items():
        total = totals.setdefault(step, [0, 0, 0])
        for at, count in enumerate(found.values()):
            total[at] += count
    for step in sorted(totals):
        table.add_row(str(step), STEPS[step], *(str(count) for count in totals[step]))
    return table


def _list(out: Console, title: str, count: int, rows: Iterable[Row]) -> None:
    """One list; both kinds are printed by this function, so neither is more prominent."""
    _say(out, f"\n{title}: {count}", "bold")
    for row in islice(rows, SHOWN):
        code = f"  {row.code.value}" if row.code is not None else ""
        _say(out, f"  step {row.step}  {row.name}  {row.subject}{code}")
        _say(out, f"          {row.detail}")
    if count > SHOWN:
        _say(out, f"  and {count - SHOWN} more; --format json lists every one")


def _scope(out: Console, report: Report) -> None:
    _say(out, "\nWhat this report covers", "bold")
    for title, names in (
        ("streams disclosed", report.scope.streams_disclosed),
        ("streams named and not here", report.scope.undisclosed_streams),
        ("references to what is not here", report.scope.unresolved_references),
        ("evidence that nothing here names", report.scope.unreferenced_evidence),
        ("objects outside the bilateral scope", report.scope.operated_objects),
    ):
        more = f", and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
        _say(out, f"  {title}: {', '.join(names[:SHOWN]) or 'none'}{more}")
    for reading in report.obligations[:SHOWN]:
        _say(out, f"  obligation {reading.obligation_id}: {reading.state}; due: {reading.due}; "
                  f"asserted: {reading.asserted or 'no'}")
    for key in report.key_status[:SHOWN]:
        who = key["owner"].get("agent_id") or key["owner"].get("principal_id") or "nobody named"
        _say(out, f"  key {key['key_id']}: {who} of {key['owner']['organization_id']}; {key['source']}; "
                  f"{key['status_now']} now")


def _say(out: Console, text: str, style: str = "") -> None:
    """One line, however long: cutting an identifier or a code would make it useless."""
    lead = len(text) - len(text.lstrip("\n"))
    out.print(Text("\n" * lead + plain(text[lead:]), style=style), soft_wrap=True)
