"""`python -m conformance`: judge our own fixtures, another's set, or documents on standard input."""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from a202_reference.times import parse_instant, whole_second
from conformance.generate import ROOT
from conformance.grade import draft_grade
from conformance.judge import judge_lines
from conformance.manifest import BrokenManifestError, read_manifest
from conformance.runner import Result, Run, run
from conformance.vectors import VECTORS, vector_faults


def main(arguments: Sequence[str] | None = None) -> int:
    """Exit 0 where everything behaves as declared, 1 where something does not, 2 where nothing could be run."""
    options = _options(arguments)
    if options.stdin:
        judge_lines(sys.stdin.buffer, sys.stdout)
        return 0
    if (options.fixtures is None) != (options.manifest is None):
        sys.stderr.write("--fixtures and --manifest go together\n")
        return 2
    own = options.manifest is None
    try:
        entries = read_manifest(options.manifest or ROOT / "manifest.json")
    except (BrokenManifestError, OSError) as broken:
        sys.stderr.write(f"the manifest cannot be used: {broken}\n")
        return 2
    done = run(entries, options.fixtures or ROOT / "fixtures")
    faults = list(vector_faults(_committed_vectors())) if own else []
    if options.grade:
        moment = parse_instant(options.at) if options.at else whole_second(datetime.now(UTC))
        if moment is None:
            sys.stderr.write("--at takes an instant such as 2026-03-02T09:00:00Z\n")
            return 2
        _write_json(draft_grade(done, options.organization, options.implementation, moment))
    elif options.format == "json":
        _write_json(_report(done, faults))
    else:
        _write_text(done, faults)
    return 1 if done.failed or faults else 0


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m conformance", description=__doc__)
    parser.add_argument("--format", choices=("text", "json"), default="text")
    parser.add_argument("--fixtures", type=Path, metavar="DIR", help="the folder of another's fixtures")
    parser.add_argument("--manifest", type=Path, metavar="FILE", help="the manifest of another's fixtures")
    parser.add_argument("--stdin", action="store_true",
                        help='judge lines {"id", "kind", "doc"}; answer lines {"id", "schema_valid", "codes"}')
    parser.add_argument("--grade", action="store_true", help="write an unsigned draft grade of the run")
    parser.add_argument("--organization", default="org_unnamed", help="the organisation the draft grade is about")
    parser.add_argument("--implementation", default="a202-mcp", help="the implementation it is about")
    parser.add_argument("--at", metavar="INSTANT", help="when the draft grade is made (default: now)")
    return parser.parse_args(arguments)


def _committed_vectors() -> dict[str, Any]:
    return {name: json.loads((ROOT / "vectors" / f"{name}.json").read_text("utf-8")) for name in VECTORS}


def _report(done: Run, faults: list[str]) -> dict[str, Any]:
    return {
        "passed": len(done.results) - len(done.failed),
        "failed": len(done.failed),
        "vector_faults": faults,
        "results": [_as_json(result) for result in done.results],
    }


def _as_json(result: Result) -> dict[str, Any]:
    return {
        "fixture": result.entry.file,
        "kind": result.entry.kind,
        "expected": "valid" if result.entry.positive else result.entry.reason_code or "schema refusal",
        "passed": result.passed,
        "why": result.why,
        "schema_valid": not result.schema_errors,
        "codes": list(result.codes),
        "families": [f"{scope}: {family}" for scope, family in result.families],
    }


def _write_text(done: Run, faults: list[str]) -> None:
    lines = []
    for result in done.failed:
        lines.append(f"FAILED {result.entry.file} ({result.entry.kind}): {result.why}")
        lines += [f"       {found}" for found in (*result.codes, *result.schema_errors[:3])]
    lines += [f"FAILED vector {fault}" for fault in faults]
    total: Counter[tuple[str, str]] = Counter()
    passed: Counter[tuple[str, str]] = Counter()
    for result in done.results:
        for family in result.families or (("no scope", "no family"),):
            total[family] += 1
            passed[family] += result.passed
    lines += [f"{scope:26} {family:28} {passed[scope, family]:4} of {total[scope, family]}"
              for scope, family in sorted(total)]
    lines.append(f"{len(done.results) - len(done.failed)} passed, {len(done.failed) + len(faults)} failed")
    sys.stdout.write("\n".join(lines) + "\n")


def _write_json(document: Any) -> None:
    sys.stdout.write(json.dumps(document, ensure_ascii=False, indent=2) + "\n")


if __name__ == "__main__":
    sys.exit(main())
