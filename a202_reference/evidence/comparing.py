"""Two endings that checks of references share."""

from __future__ import annotations

from typing import Any

from a202_reference.codes import Code
from a202_reference.evidence.report import VERIFIED, Judgement, failed, unknown


def absent(what: str, identifier: Any) -> Judgement:
    """The counterpart is not held, so the check could not be made."""
    return unknown(f"the {what} {str(identifier)[:140]} is not here")


def holds_or(holds: bool, code: Code, detail: str) -> Judgement:
    """Verified where the two agree, else failed."""
    return VERIFIED if holds else failed(code, detail)
