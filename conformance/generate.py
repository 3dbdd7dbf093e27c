"""Write our fixtures, manifest and vectors: `python -m conformance.generate`, or `--check` to compare only.

The same code gives the same bytes, because keys, clock and signatures are fixed. A test compares the
committed files with what this module gives.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from a202_reference.registries import COMMERCIAL_SPEC
from conformance.cases import CASES, Case
from conformance.vectors import VECTORS

ROOT = Path(__file__).resolve().parent
_WRAPPED = frozenset({"bundle", "mandate_chain", "declaration"})
"""Kinds whose file says what it is, beside its content."""


def fixture_document(case: Case) -> dict[str, Any]:
    """The content of a case's file."""
    document = case.build()
    return {"fixture_kind": case.kind, "note": case.note, **document} if case.kind in _WRAPPED else document


def manifest() -> dict[str, Any]:
    """The manifest of our own set."""
    def entry(case: Case) -> dict[str, Any]:
        common = {"fixture": case.file, "kind": case.kind, "note": case.note}
        return common if case.positive else {**common, "expect": "invalid", "reason_code": case.code}
    return {
        "spec_version": COMMERCIAL_SPEC,
        "description": "Our own fixtures, one fault each in the negative ones. Generated: see generate.py.",
        "positive": [entry(case) for case in CASES.values() if case.positive],
        "negative": [entry(case) for case in CASES.values() if not case.positive],
    }


def files() -> Mapping[str, bytes]:
    """Every generated file: path below this package to content."""
    fixtures = {f"fixtures/{case.file}": _text(fixture_document(case)) for case in CASES.values()}
    vectors = {f"vectors/{name}.json": _text(build()) for name, build in VECTORS.items()}
    return {"manifest.json": _text(manifest()), **fixtures, **vectors}


def stale(root: Path = ROOT) -> list[str]:
    """The paths whose committed file is missing, different, or no longer generated."""
    wanted = files()
    found = {path.relative_to(root).as_posix(): path.read_bytes()
             for folder in ("fixtures", "vectors") for path in (root / folder).rglob("*.json")}
    if (root / "manifest.json").is_file():
        found["manifest.json"] = (root / "manifest.json").read_bytes()
    return sorted(path for path in wanted.keys() | found.keys() if wanted.get(path) != found.get(path))


def main(arguments: Sequence[str] | None = None) -> int:
    """Write what is stale, or with --check say what is."""
    parser = argparse.ArgumentParser(prog="python -m conformance.generate", description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 where a file is stale")
    options = parser.parse_args(arguments)
    wanted, changed = files(), stale()
    for name in changed:
        sys.stdout.write(f"{name}\n")
        if options.check:
            continue
        path = ROOT / name
        if name not in wanted:
            path.unlink()
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(wanted[name])
    return 1 if options.check and changed else 0


def _text(document: Any) -> bytes:
    return (json.dumps(document, ensure_ascii=False, indent=2) + "\n").encode("utf-8")


if __name__ == "__main__":
    sys.exit(main())
