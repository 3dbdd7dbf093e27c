"""`python -m benchmarks [--held N] [--largest N] [--only WORD]`: print the speed table, each row with its bar."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator

from benchmarks import rows


def main() -> None:
    """Measure and print, row by row."""
    parser = argparse.ArgumentParser("python -m benchmarks", description=__doc__)
    parser.add_argument("--held", type=int, default=100_000, help="transactions held in the growth rows")
    parser.add_argument("--largest", type=int, default=100_000, help="objects in the largest bundle")
    parser.add_argument("--only", default="", help="measure only the groups whose name holds this word")
    options = parser.parse_args()
    sizes = tuple(size for size in (10, 100, 1_000, 10_000, 100_000) if size <= options.largest)
    groups: dict[str, Callable[[], Iterator[rows.Row]]] = {
        "machine": rows.this_machine,
        "lifecycle in memory": rows.lifecycle_in_memory,
        "lifecycle on disk": rows.lifecycle_on_disk,
        "growth": lambda: rows.growth(options.held),
        "verification": rows.verification,
        "bundles": lambda: rows.large_bundles(sizes),
        "stdio": rows.stdio,
    }
    print("| Work | Figure | Bar | Met |\n|---|---|---|---|")
    for name, group in groups.items():
        if options.only in name:
            for row in group():
                met = {True: "yes", False: "NO", None: ""}[row.met]
                print(f"| {row.work} | {row.figure} | {row.bar} | {met} |", flush=True)


if __name__ == "__main__":
    main()
