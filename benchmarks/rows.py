"""The rows of the speed table: what is measured, against which bar (design, "Speed")."""

from __future__ import annotations

import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
import tracemalloc
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import repeat
from pathlib import Path

from a202_mcp.workspace import Workspace
from a202_reference.codes import Refusal
from a202_reference.evidence.bundle import read_bundle
from a202_reference.evidence.procedure import verify
from benchmarks.crowd import crowd, large_bundle
from benchmarks.measure import SignatureWork, compared, median, milliseconds, of_pairs, recording_primitives
from benchmarks.walk import Lifecycle
from benchmarks.wire import bare_server_start, call_times, first_call, server_start

DESIGN_PAIR = 0.088
"""Milliseconds of one signature and one verification where the absolute bars were set (design, Speed)."""


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table. `met` is None where the row is a figure without a bar."""

    work: str
    figure: str
    bar: str
    met: bool | None


def this_machine() -> Iterator[Row]:
    """What a signature costs here. The absolute bars were set where a pair of them costs 88 microseconds."""
    work = SignatureWork()
    sign, verify = (median(each, 50) * 1000 / work.PAIRS for each in (work.sign, work.verify))
    yield Row("one ES256 signature, one verification (design: 24 us, 64 us)", f"{sign:.0f} us, {verify:.0f} us",
              "", None)


def lifecycle_in_memory() -> Iterator[Row]:
    """The whole lifecycle in process, against its own bare cost."""
    workspace = Workspace.open(None)
    warmed = [Lifecycle(workspace).prepare() for _ in range(150)]
    for lifecycle in warmed[:9]:
        lifecycle.run()
    with recording_primitives() as made:
        warmed[9].run()
    found = compared((lifecycle.run for lifecycle in warmed[10:80]), repeat(made.replay))
    counts = f"{made.count('sign')} signatures, {made.count('verifies')} verifications"
    yield Row("lifecycle in process, in memory", f"{found.work:.1f} ms", "8 ms", found.work <= 8)
    yield _at_design_speed((lifecycle.run for lifecycle in warmed[80:]), 0, 8)
    yield Row(f"… against its bare cost ({counts}: {found.other:.2f} ms)", f"{found.ratio:.1f}x", "5x",
              found.ratio <= 5)


def lifecycle_on_disk() -> Iterator[Row]:
    """The same, durable: each of its four commits syncs the disk."""
    with tempfile.TemporaryDirectory() as folder:
        workspace = Workspace.open(Path(folder))
        lifecycles = [Lifecycle(workspace).prepare() for _ in range(75)]
        for lifecycle in lifecycles[:5]:
            lifecycle.run()
        sync = 4 * _sync_time(Path(folder))
        whole = statistics.median(milliseconds(lifecycle.run) for lifecycle in lifecycles[5:40])
        yield Row(f"lifecycle with a state directory (its syncs alone: {sync:.1f} ms)", f"{whole:.1f} ms",
                  f"{12 + sync:.1f} ms", whole <= 12 + sync)
        yield _at_design_speed((lifecycle.run for lifecycle in lifecycles[40:]), sync, 12)
        workspace.close()


def _at_design_speed(works: Iterable[Callable[[], object]], sync: float, bar: float) -> Row:
    """Some work told in the design's milliseconds: what it takes beside signatures, whose price there is known."""
    found = compared(works, repeat(SignatureWork()))
    scaled = (found.ratio - sync / found.other) * SignatureWork.PAIRS * DESIGN_PAIR
    return Row("… where a signature and a verification take the design's 88 us, by their price beside it",
               f"{scaled:.1f} ms", f"{bar} ms", scaled <= bar)


def growth(held: int) -> Iterator[Row]:
    """One more transaction, a server start and memory, when few and when many transactions are held."""
    few, many = 100, held
    with tempfile.TemporaryDirectory() as folder:
        small, large = Path(folder, "small"), Path(folder, "large")
        crowd(small, few)
        crowd(large, many)
        with _lifecycles(small) as at_few, _lifecycles(large) as at_many:
            found = compared((each.form for each in at_many[:-1]), (each.form for each in at_few))
            memory = _memory_of(at_many[-1].form)
        yield Row(f"one more transaction with {many:,} held, against {few}", f"{found.ratio:.2f}x", "1.2x",
                  found.ratio <= 1.2)
        yield Row("… memory it takes", f"{memory / 1024:.0f} KiB", "flat", memory < 4 << 20)
        start = of_pairs((first_call(large), first_call(Path(folder, "new"))) for _ in range(11))
        yield Row(f"server start and first call with {many:,} held, against empty", f"{start.ratio:.2f}x", "1.2x",
                  start.ratio <= 1.2)


def verification() -> Iterator[Row]:
    """verify_evidence over one walkthrough record, all checks."""
    workspace = Workspace.open(None)
    bundle = workspace.bundle(Lifecycle(workspace).prepare().run())
    now = datetime.now(UTC)

    def work() -> dict[str, int]:
        material = read_bundle(bundle, {})
        if isinstance(material, Refusal):
            raise TypeError("our own bundle is not readable")
        return verify(material, now=now).counts

    counts = work()
    with recording_primitives() as made:
        work()
    found = compared(repeat(work, 100), repeat(made.replay))
    yield Row(f"verification of one record ({sum(counts.values())} checks)", f"{found.work:.1f} ms", "", None)
    yield Row(f"… against its bare cost ({made.count('verifies')} verifications: {found.other:.2f} ms)",
              f"{found.ratio:.2f}x", "1.6x", found.ratio <= 1.6)


def large_bundles(sizes: tuple[int, ...]) -> Iterator[Row]:
    """Verification of ever larger bundles by the command line, time per object."""
    per_object = []
    with tempfile.TemporaryDirectory() as folder:
        for size in sizes:
            file = Path(folder, f"{size}.json")
            file.write_text(json.dumps(large_bundle(size)), "utf-8")
            status, seconds, peak = _verify_command(file)
            per_object.append(seconds / size)
            yield Row(f"a202-mcp verify over {size:,} objects (exit {status})", f"{seconds:.1f} s, {peak} MB",
                      "1,000 MB", peak < 1000 and status == 0)
    ratio = per_object[-1] / per_object[-2]
    yield Row(f"… time per object, {sizes[-1]:,} against {sizes[-2]:,}", f"{ratio:.2f}x", "linear", ratio <= 1.3)


def stdio() -> Iterator[Row]:
    """Spawn to tools/list against the SDK's bare server, and the time of one call."""
    found = of_pairs((server_start(), bare_server_start()) for _ in range(11))
    extra = found.difference / 1000
    yield Row(f"spawn to tools/list ({found.work / 1000:.2f} s; the SDK's bare server {found.other / 1000:.2f} s)",
              f"{extra:+.3f} s", "+0.1 s", extra <= 0.1)
    read, record = call_times()
    yield Row("one verify_mandate over stdio", f"{read:.1f} ms", "", None)
    yield Row("one create_agreement over stdio, in memory", f"{record:.1f} ms", "", None)


@contextmanager
def _lifecycles(place: Path) -> Iterator[list[Lifecycle]]:
    """Transactions that may be formed on this state, after a few that warmed it."""
    workspace = Workspace.open(place)
    lifecycles = [Lifecycle(workspace).prepare() for _ in range(46)]
    for lifecycle in lifecycles[:5]:
        lifecycle.form()
    yield lifecycles[5:]
    workspace.close()


def _memory_of(work: Callable[[], object]) -> int:
    """The most bytes that one run holds at once."""
    tracemalloc.start()
    work()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


def _sync_time(folder: Path) -> float:
    """Milliseconds to write and sync four pages, as a commit does at least."""
    with Path(folder, "sync").open("wb", buffering=0) as file:
        def work() -> None:
            file.write(b"x" * 16384)
            os.fsync(file.fileno())
        return median(work, 15)


def _verify_command(file: Path) -> tuple[int, float, int]:
    """Exit status, seconds, and the peak memory in MB of any child so far, of the command line over one file."""
    began = time.perf_counter()
    with Path(file.parent, "report.json").open("wb") as out:
        ended = subprocess.run(  # noqa: S603 (our own interpreter over our own file)
            [sys.executable, "-m", "a202_mcp", "verify", str(file), "--format", "json"],
            stdout=out, stderr=subprocess.DEVNULL, check=False)
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024
    return ended.returncode, time.perf_counter() - began, peak
