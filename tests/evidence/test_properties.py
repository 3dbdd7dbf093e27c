"""What holds of every record and every change to it (design, "every claim has a property test").

The ordinary run takes 500 changes; A202_NIGHTLY=1 takes 20,000. Each is made from its own seed, which a failure names.
"""

from __future__ import annotations

import copy
import json
import os
import random
import sys
import unittest
from collections.abc import Mapping
from typing import Any

from a202_reference.codes import Refusal
from a202_reference.evidence.bundle import read_bundle
from a202_reference.evidence.material import Material
from a202_reference.evidence.procedure import verify
from a202_reference.evidence.report import Row
from tests.evidence.mutations import HOSTILE, leaves, mutated, put
from tests.evidence.records import START, report_on
from tests.evidence.stories import STORIES, told

CHANGES = 20_000 if os.environ.get("A202_NIGHTLY") == "1" else 500
WHOLE = ("walkthrough", "approved", "delegated", "partial", "rejected", "eventless")


def with_used_keys(bundle: Mapping[str, Any]) -> dict[str, Any]:
    """The bundle with no key but those that signed something: a key nobody uses is nobody's claim."""
    used = {entry["key_id"] for document in bundle["objects"] for entry in document["signatures"]}
    used |= {mandate["proof"]["key_id"] for mandate in bundle["mandates"]}
    return {**bundle, "keys": [key for key in bundle["keys"] if key["key_id"] in used]}


def rows_on(bundle: Mapping[str, Any]) -> set[Row]:
    """The rows, but for those about objects without identifier: the report names these by their place."""
    return {row for row in report_on(bundle).rows if "objects[" not in row.subject + row.detail}


class NoChangeGoesUnnoticed(unittest.TestCase):
    def test_a_change_is_failed_or_newly_not_checkable_and_verifies_nothing_more(self) -> None:
        bundles = {name: with_used_keys(told(name)) for name in WHOLE}
        before = {name: report_on(bundle).counts for name, bundle in bundles.items()}
        for counts in before.values():
            self.assertEqual((0, 0), (counts["failed"], counts["not_checkable"]))
        for seed in range(CHANGES):
            chance = random.Random(seed)  # noqa: S311 (a seed, no secret)
            name = chance.choice(WHOLE)
            what, changed = mutated(bundles[name], chance)
            with self.subTest(seed=seed, story=name, change=what):
                material = read_bundle(changed, {})
                if isinstance(material, Refusal):
                    continue
                counts = verify(material, now=START).counts
                self.assertGreater(counts["failed"] + counts["not_checkable"], 0)
                self.assertLessEqual(counts["verified"], before[name]["verified"])


class OrderAndCopiesDoNotMatter(unittest.TestCase):
    def test_any_order_has_the_same_rows(self) -> None:
        for name in STORIES:
            with self.subTest(name):
                shuffled = copy.deepcopy(told(name))
                random.Random(name).shuffle(shuffled["objects"])  # noqa: S311 (a seed, no secret)
                shuffled["mandates"].reverse()
                shuffled["keys"].reverse()
                shuffled["status_results"].reverse()
                self.assertEqual(rows_on(told(name)), rows_on(shuffled))

    def test_any_order_of_a_broken_record_has_the_same_rows(self) -> None:
        for seed in range(CHANGES // 10):
            chance = random.Random(seed)  # noqa: S311 (a seed, no secret)
            what, changed = mutated(told("partial"), chance)
            with self.subTest(seed=seed, change=what):
                shuffled = copy.deepcopy(changed)
                chance.shuffle(shuffled["objects"])
                self.assertEqual(rows_on(changed), rows_on(shuffled))

    def test_a_repeated_object_changes_no_row(self) -> None:
        for name in STORIES:
            for at, document in enumerate(told(name)["objects"]):
                with self.subTest(name, at=at):
                    repeated = copy.deepcopy(told(name))
                    repeated["objects"].insert(0, copy.deepcopy(document))
                    self.assertEqual(rows_on(told(name)), rows_on(repeated))


class NothingRaises(unittest.TestCase):
    """Hostile material gets a report or a refusal, and every report can be written as JSON."""

    def test_hostile_values_anywhere(self) -> None:
        bundle = told("approved")
        places = [("objects",), *leaves(bundle)]
        for seed in range(CHANGES):
            chance = random.Random(seed)  # noqa: S311 (a seed, no secret)
            hostile = copy.deepcopy(bundle)
            for _ in range(chance.choice((1, 1, 2, 5, 20))):
                try:
                    put(hostile, chance.choice(places), copy.deepcopy(chance.choice(HOSTILE)))
                except (KeyError, IndexError, TypeError):
                    continue  # an earlier change took the place away
            with self.subTest(seed=seed):
                material = read_bundle(hostile, {})
                if isinstance(material, Material):
                    json.dumps(verify(material, now=START).document())

    def test_hostile_objects_of_every_type(self) -> None:
        kinds = sorted({document["object_type"] for name in STORIES for document in told(name)["objects"]})
        kinds += ["dispute", "determination", "invitation_acceptance", "counterparty_invitation", "adapter_receipt",
                  "settlement_instruction", "key_record", "revocation_record", "action_envelope", "organization"]
        for kind in kinds:
            for seed in range(max(5, CHANGES // 100)):
                chance = random.Random(f"{kind}{seed}")  # noqa: S311 (a seed, no secret)
                document = copy.deepcopy(chance.choice(told("approved")["objects"]))
                document["object_type"] = kind
                for path in chance.sample(list(leaves(document)), 4):
                    try:
                        put(document, path, copy.deepcopy(chance.choice(HOSTILE)))
                    except (KeyError, IndexError, TypeError):
                        continue
                with self.subTest(kind=kind, seed=seed):
                    json.dumps(verify(Material((document, *told("walkthrough")["objects"])), now=START).document())

    def test_whatever_is_no_bundle_is_refused(self) -> None:
        for value in (*HOSTILE, {"format": "a202-bundle/0.1"}, {"format": "a202-bundle/0.1", "objects": {}}, {
                "format": ["a202-bundle/0.1"], "objects": []}):
            with self.subTest(value=repr(value)[:60]):
                self.assertIsInstance(read_bundle(value, {}), Refusal)


def work(objects: list[Any]) -> int:
    """How many calls a verification of these objects makes."""
    count = 0

    def counting(_: Any, what: str, __: Any) -> None:
        nonlocal count
        count += what in ("call", "c_call")

    material = Material(
        tuple(objects), tuple(told("approved")["mandates"]), acts=told("approved")["acts"],
        status_results=tuple(told("approved")["status_results"]), rules_version="1.3")
    sys.setprofile(counting)
    try:
        verify(material, now=START)
    finally:
        sys.setprofile(None)
    return count


def apart(size: int) -> list[Any]:
    """As many records side by side."""
    return [json.loads(json.dumps(document).replace("0000", f"{at:04d}"))
            for at in range(size) for document in told("walkthrough")["objects"]]


def crowded(size: int) -> list[Any]:
    """As many copies of one record under new identifiers, all of which name the objects of the first."""
    return [{**document, "id": f"{document['id'][:4]}{at:04d}x", "created_at": f"2026-08-20T1{at % 10}:00:00Z"}
            for at in range(size) for document in told("approved")["objects"]] + told("approved")["objects"]


def chained(size: int) -> list[Any]:
    """Versions of versions, obligations that wait for obligations, and supersessions of supersessions."""
    obligation = next(each for each in told("walkthrough")["objects"] if each["object_type"] == "obligation")
    objects = []
    for at in range(size * 10):
        waiting = {**obligation["payload"], "supersedes": {"determination_id": f"obl_chain{at - 1:05d}"},
                   "due_condition": {"type": "due_on_discharge", "obligation_id": f"obl_chain{at - 1:05d}"}}
        objects.append({**obligation, "id": f"obl_chain{at:05d}", "version": at + 1, "payload": waiting,
                        "object_type": "obligation" if at % 2 else "determination",
                        "previous_version_id": f"obl_chain{at - 1:05d}"})
    return objects


class TimeIsLinear(unittest.TestCase):
    """Counted, not timed: four times the objects are about four times the work, whatever they name."""

    def test_no_step_looks_at_all_pairs(self) -> None:
        for build in (apart, crowded, chained):
            with self.subTest(build.__name__):
                self.assertLess(work(build(80)), work(build(20)) * 4 * 1.25)


if __name__ == "__main__":
    unittest.main()
