"""Manifests: which fixtures there are and how each must be answered (verification 4).

Two spellings are read: `fixture` or `file` for the path below the fixtures' folder. A negative entry without
`reason_code` must be refused by the schema layer.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from a202_reference.wire import Numbers, Unreadable, read_json

KINDS = ("kernel", "mandate", "mandate_chain", "grade", "declaration", "bundle")


class BrokenManifestError(ValueError):
    """The manifest cannot be read as one."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One fixture: its path, how to judge it, whether it is accepted, and the code of the refusal or None."""

    file: str
    kind: str
    positive: bool
    reason_code: str | None
    note: str = ""


def read_manifest(path: Path) -> tuple[Entry, ...]:
    """The entries of a manifest, positive ones first. Raises BrokenManifestError or OSError."""
    document = read_json(path.read_bytes(), numbers=Numbers.ANY)
    if isinstance(document, Unreadable):
        raise BrokenManifestError(f"{path.name}: {document.reason}")
    if not isinstance(document, dict) or not all(isinstance(document.get(part), list) for part in _PARTS):
        raise BrokenManifestError(f"{path.name}: a manifest lists positive and negative entries")
    entries = tuple(_entry(raw, part == "positive") for part in _PARTS for raw in document[part])
    if len({entry.file for entry in entries}) != len(entries):
        raise BrokenManifestError(f"{path.name}: a fixture is listed twice")
    return entries


_PARTS = ("positive", "negative")


def _entry(raw: Any, positive: bool) -> Entry:
    members = dict(_texts(raw))
    file, kind = members.get("fixture") or members.get("file"), members.get("kind")
    if not file or not kind:
        raise BrokenManifestError("an entry names neither its fixture nor its kind")
    return Entry(file, kind, positive, members.get("reason_code"), members.get("note", ""))


def _texts(raw: Any) -> Iterator[tuple[str, str]]:
    if isinstance(raw, dict):
        yield from ((name, value) for name, value in raw.items() if isinstance(value, str))
