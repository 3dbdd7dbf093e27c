"""Hostile documents against the gate: `python -m harness.gate --seconds 600 [--first SEED]`.

Each seed makes one document: a fixture of ours, damaged in a few places by values that documents from outside may
hold (other types everywhere, depth, length, huge numbers, duplicate-looking names, surrogates, patterns that explode
under backtracking), judged as every kind there is. The gate must answer: no exception, registered codes only, within
a second. A failure names its seed, which makes the same document again; seeds that once failed, and those that took
longest, are kept in `tests/gate/seeds.json` and judged again by the ordinary tests.
"""

from __future__ import annotations

import argparse
import copy
import json
import random
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from a202_reference.gate import judge
from a202_reference.wire import MAX_BYTES

FIXTURES = Path(__file__).resolve().parent.parent / "conformance" / "fixtures"
KINDS = ("kernel", "mandate", "mandate_chain", "grade", "declaration", "bundle")
SECONDS_ALLOWED = 1.0
_LARGE = 20_000
"""Most places a document has: one value held in many places could grow beyond anything that can arrive."""


@dataclass(frozen=True, slots=True)
class Finding:
    """What one seed showed: the slowest judgement in seconds, and the fault, if any."""

    seed: int
    slowest: float
    fault: str | None


def fixtures() -> list[Any]:
    """Every fixture document, valid and negative."""
    return [json.loads(file.read_text("utf-8")) for file in sorted(FIXTURES.rglob("*.json"))]


def hostile_document(seed: int, sources: list[Any]) -> Any:
    """The document of one seed."""
    chance = random.Random(seed)  # noqa: S311 (a repeatable choice, nothing secret)
    document = copy.deepcopy(chance.choice(sources))
    for _ in range(chance.randint(1, 4)):
        damaged = _damaged(document, chance, sources)
        if isinstance(damaged, dict | list) and len(places(damaged)) > _LARGE:
            return copy.deepcopy(chance.choice(sources))
        document = damaged
    return document


def judged(seed: int, sources: list[Any]) -> Finding:
    """Judge one seed's document as every kind."""
    document = hostile_document(seed, sources)
    slowest, fault = 0.0, None
    for kind in KINDS:
        began = time.perf_counter()
        try:
            answer = judge(kind, document)
            [code.meaning for code in answer.codes]
        except Exception as raised:
            fault = f"{kind}: {type(raised).__name__}"
        slowest = max(slowest, time.perf_counter() - began)
    if slowest > SECONDS_ALLOWED and len(json.dumps(document)) <= MAX_BYTES:  # larger ones never reach the gate
        fault = f"took {slowest:.1f} s"
    return Finding(seed, slowest, fault)


def places(document: Any) -> list[tuple[Any, Any]]:
    """Every (container, key) in a document, without recursion: a document may be deeper than our stack."""
    found: list[tuple[Any, Any]] = []
    waiting = [document]
    while waiting and len(found) <= _LARGE:
        node = waiting.pop()
        keys: list[Any] = list(node) if isinstance(node, dict) else list(range(len(node)))
        found += [(node, key) for key in keys]
        waiting += [node[key] for key in keys if isinstance(node[key], dict | list)]
    return found


def _damaged(document: Any, chance: random.Random, sources: list[Any]) -> Any:
    open_places = places(document) if isinstance(document, dict | list) else []
    if not open_places:
        return _odd(chance, sources)
    holder, key = chance.choice(open_places)
    action = chance.random()
    if action < 0.15:
        del holder[key]
    elif action < 0.25 and isinstance(holder, dict):
        holder[chance.choice(["", "secret", "rank", "\ud800", "d", "id", "x" * 300])] = _odd(chance, sources)
    elif action < 0.35 and isinstance(holder, list):
        holder.extend([holder[key]] * chance.randint(1, 50))
    else:
        holder[key] = _odd(chance, sources)
    return document


def _odd(chance: random.Random, sources: list[Any]) -> Any:
    """A value that nobody expects where it stands."""
    kind = chance.randrange(12)
    if kind == 0:
        return chance.choice([None, True, False, 0, -1, 1.0, 2.5, 1e308, float("inf"), float("nan"), 2**53, -(10**400)])
    if kind == 1:
        return _nested(chance.choice([70, 900]), chance)
    if kind == 2:
        return chance.choice(["", "\u0000", "\ud83d", "a\n", "\u202e", "é" * 5000, "0" * 100_000, "(a+)+" * 40 + "$"])
    if kind == 3:
        return [chance.choice([None, 1, "x", {}, []]) for _ in range(chance.randint(0, 300))]
    if kind == 4:
        return {f"m{number}": number for number in range(chance.randint(0, 300))}
    if kind in (5, 6):
        source = chance.choice(sources)
        holder, key = chance.choice(places(source))
        return copy.deepcopy(holder[key])
    if kind == 7:
        return chance.choice(["2026-02-30T00:00:00Z", "2026-01-01T00:00:60Z", "9999-12-31T23:59:59.9999999999Z", "now"])
    if kind == 8:
        return chance.choice(["1e9", "-1", "٣", "1" * 5000 + ".5", "NaN", "Infinity", " 1", "0x10"])
    if kind == 9:
        return chance.choice(["org_x", "obl_" + "a" * 200, "txn_../../etc", "A" * 64, "f" * 64, "zdpu" * 12])
    if kind == 10:
        return {"type": "all_of", "conditions": [{"type": "all_of", "conditions": []}] * chance.randint(0, 60)}
    return copy.deepcopy(chance.choice(sources))


def _nested(levels: int, chance: random.Random) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = [value] if chance.random() < 0.5 else {"n": value}
    return value


def main() -> int:
    """Run seeds until the time is over; 1 where one failed."""
    parser = argparse.ArgumentParser("python -m harness.gate")
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--first", type=int, default=0)
    options = parser.parse_args()
    sources, end = fixtures(), time.monotonic() + options.seconds
    seed, slowest, faults = options.first, list[Finding](), list[Finding]()
    while time.monotonic() < end:
        finding = judged(seed, sources)
        slowest = sorted([*slowest, finding], key=lambda found: -found.slowest)[:10]
        if finding.fault is not None:
            faults.append(finding)
            print(f"seed {seed}: {finding.fault}", flush=True)
        seed += 1
    print(f"{seed - options.first} documents, each as {len(KINDS)} kinds; slowest "
          + ", ".join(f"{found.seed} ({found.slowest * 1000:.0f} ms)" for found in slowest))
    print(f"{seed - options.first - len(faults)} passed, {len(faults)} failed")
    return 1 if faults else 0


if __name__ == "__main__":
    raise SystemExit(main())
