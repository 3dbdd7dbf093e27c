"""Holding a state directory against what clients were told, as a reader who was not there would."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from a202_mcp.bilateral.tools import TOOLS
from a202_mcp.store import FILE_NAME, DamagedError, SqliteStore
from a202_mcp.workspace import Workspace
from a202_reference.codes import Refusal
from a202_reference.lifecycle.rules import CURRENT_VERSION

_VERIFY = next(tool for tool in TOOLS if tool.name == "verify_evidence")


class Examiner:
    """Opens the state as a new process would, holding no private key. Close it before anything forks."""

    def __init__(self, place: Path) -> None:
        self._workspace = Workspace(SqliteStore.open(place))
        self._file = place / FILE_NAME

    def __enter__(self) -> Examiner:
        return self

    def __exit__(self, *_: object) -> None:
        self._workspace.close()

    def missing(self, identifiers: Iterable[str]) -> list[str]:
        """Which of these objects and mandates are not there."""
        store = self._workspace.store
        return [each for each in identifiers
                if (store.mandate(each) if each.startswith("mnd_") else store.held_object(each)) is None]

    def counts(self) -> tuple[int, int]:
        """How many commits there are, and how many first results under an idempotency key."""
        with sqlite3.connect(self._file) as connection:
            commits = connection.execute("SELECT count(*) FROM commits").fetchone()
            first = connection.execute("SELECT count(*) FROM idempotency").fetchone()
        connection.close()
        return int(commits[0]), int(first[0])

    def verify(self, transaction_id: str) -> tuple[int, list[str]]:
        """Checks that verified over a record, and everything that did not; nothing where no object is held."""
        try:
            holdings = self._workspace.store.holdings(transaction_id)
        except DamagedError as damaged:
            return 0, [f"{transaction_id}: {fault.detail}" for fault in damaged.faults]
        if not holdings.objects:
            return 0, []
        report: Any = _VERIFY.answer(self._workspace, {
            "transaction_id": transaction_id, "rules_version": CURRENT_VERSION, "checks": "not_verified"})
        if isinstance(report, Refusal):
            return 0, [f"{transaction_id}: {report.detail}"]
        faults = [f"{transaction_id}: {row['name']} of {row['subject']}: {row['result']}, {row['detail']}"
                  for row in report["checks"]]
        if not holdings.record.linked:
            faults.append(f"{transaction_id}: the chain is broken")
        return report["results"]["verified"], faults
