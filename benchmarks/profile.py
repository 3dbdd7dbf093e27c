"""`python -m benchmarks.profile lifecycle|verification`: where the time goes, by part, as docs/performance.md has it.

A timer interrupts the work about a thousand times a second, and each stop counts for the innermost part of the stack
that the table below knows. Nothing is instrumented, so the shares are those of the work as it runs.
"""

from __future__ import annotations

import argparse
import signal
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from types import FrameType
from typing import Final

from a202_mcp.workspace import Workspace
from a202_reference.codes import Refusal
from a202_reference.evidence.bundle import read_bundle
from a202_reference.evidence.procedure import verify
from benchmarks.walk import Lifecycle

PARTS: Final[Mapping[str, str]] = {
    "a202_reference/keys.py": "signatures: made and verified",
    "a202_reference/canonical.py": "canonical bytes and hashes",
    "a202_reference/signing.py": "signature entries around them",
    "a202_reference/schema": "schema layer",
    "a202_reference/gate/": "gate rules",
    "a202_reference/authority/": "decisions: mandates, constraints, scope",
    "a202_reference/documents/": "typed views",
    "a202_reference/lifecycle/": "drafts, events, record",
    "a202_reference/evidence/index.py": "index of the objects",
    "a202_reference/evidence/entry.py": "index of the objects",
    "a202_reference/evidence/step1": "step 1: hashes and shapes",
    "a202_reference/evidence/step2": "step 2: signatures and owners",
    "a202_reference/evidence/step5": "step 5: authority and transitions",
    "a202_reference/evidence/decisions.py": "step 5: authority and transitions",
    "a202_reference/evidence/rebuilding.py": "step 5: authority and transitions",
    "a202_reference/evidence/mandates.py": "step 5: authority and transitions",
    "a202_reference/evidence/": "the other steps and the report",
    "a202_mcp/store.py": "store: rows and seals",
    "a202_mcp/batch.py": "store: rows and seals",
    "a202_mcp/seal.py": "store: rows and seals",
    "a202_mcp/bilateral/arguments.py": "reading arguments",
    "a202_mcp/": "tools and workspace",
}
"""Parts of the code by the beginning of their path; the first that fits counts."""

_EVERY_SECONDS: Final = 0.001
_RUNS: Final = 400


def part_of(frame: FrameType | None) -> str:
    """The innermost known part that was running."""
    while frame is not None:
        path = frame.f_code.co_filename.replace("\\", "/")
        for beginning, part in PARTS.items():
            if f"/{beginning}" in path:
                return part
        frame = frame.f_back
    return "everything else"


@contextmanager
def sampled() -> Iterator[Counter[str]]:
    """Count what runs inside, by part."""
    seen: Counter[str] = Counter()

    def note(_: int, frame: FrameType | None) -> None:
        seen[part_of(frame)] += 1

    before = signal.signal(signal.SIGPROF, note)
    signal.setitimer(signal.ITIMER_PROF, _EVERY_SECONDS, _EVERY_SECONDS)
    try:
        yield seen
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0, 0)
        signal.signal(signal.SIGPROF, before)


def lifecycle() -> Counter[str]:
    """Whole lifecycles in memory."""
    workspace = Workspace.open(None)
    prepared = [Lifecycle(workspace).prepare() for _ in range(_RUNS)]
    with sampled() as seen:
        for each in prepared:
            each.run()
    return seen


def verification() -> Counter[str]:
    """Verifications of one walkthrough record, on one processor."""
    workspace = Workspace.open(None)
    bundle = workspace.bundle(Lifecycle(workspace).prepare().run())
    material = read_bundle(bundle, {})
    if isinstance(material, Refusal):
        raise TypeError("our own bundle is not readable")
    now = datetime.now(UTC)
    with sampled() as seen:
        for _ in range(_RUNS):
            verify(material, now=now)
    return seen


WORKS: Final[Mapping[str, Callable[[], Counter[str]]]] = {"lifecycle": lifecycle, "verification": verification}


def main() -> None:
    """Print the shares of one kind of work."""
    parser = argparse.ArgumentParser("python -m benchmarks.profile", description=__doc__)
    parser.add_argument("work", choices=WORKS)
    seen = WORKS[parser.parse_args().work]()
    print("| Part | Share |\n|---|---|")
    for part, count in seen.most_common():
        print(f"| {part} | {count / seen.total():.0%} |")


if __name__ == "__main__":
    main()
