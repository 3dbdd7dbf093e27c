"""The mutation property: whatever one member is taken away or altered, the object is refused, or it is still
valid for a reason stated here (rules, global law 2: what is absent or unreadable refuses, it never permits)."""

import unittest
from collections.abc import Iterator
from typing import Any

from a202_reference import gate
from conformance.cases import CASES
from conformance.world import Document, changed, without

OPTIONAL = {
    "unit_name": "a label, never compared",
    "locator_hint": "a hint, never relied on",
    "description": "free text of a dispute",
    "kernel_annotations": "written after signing, outside the hash",
    "after_ref": "without it business days run from the activation",
    "data": "a list of references, none of which is required",
    "profile_terms": "an open member: the profile's schema decides, not the kernel's",
    "payload": "of an envelope-only type: open",
    "proposed_object": "an open member of a proposal",
    "categories": "a scope bounded by transactions already", "transaction_ids": "a scope bounded by categories already",
    "counterparty_organization_ids": "an axis a mandate may leave open",
    "geographies": "an axis a mandate may leave open",
    "remainder_obligation_id": "no remainder is due where nothing is short",
}
"""Members that may be absent (objects 11, trap 13), and why that harms nothing."""

FREE_TEXT = {
    "legal_name", "value", "role", "claim", "reason", "finding", "condition_ref", "conditions", "adapter",
    "external_spec_version", "external_reference", "error_code", "purpose_note", "summary", "qualification_standard",
    "unit_name", "description", "equipment", "regime", "time_zone", "calendar", "locator_hint", "idempotency_key",
    "level", "implementation", "signature", "asked", "from_state", "to_state"}
"""Strings without a form: a line feed more is another text, not a broken one."""

NULLABLE = {
    "kernel_annotations", "evidence_ref", "issuance_approval_id", "supersedes_offer_id", "previous_event_hash",
    "from_state", "consideration", "state_result", "supersedes", "completed_at", "external_reference", "error_code",
    "mapping_report_hash", "verified_at", "verifier_organization_id", "valid_until", "endpoint", "contact_ref",
    "session_id", "parent_mandate_id", "held_out_coverage", "locator_hint", "transaction_id", "A", "B", "C", "D", "E"}
"""Members that may be null (objects 11, traps 11 and 12)."""

OPEN = ("payload.proposed_object", "payload.asked")
"""Places below which this version defines nothing."""


def places(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Every member and item, by its dotted path."""
    steps = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, member in steps:
        place = f"{path}.{step}" if path else str(step)
        yield place, member
        yield from places(member, place)


def name_of(path: str) -> str:
    """The last member's name; for an item of an array, the array's."""
    return next(step for step in reversed(path.split(".")) if not step.isdigit())


class EveryMember(unittest.TestCase):
    """Single documents of every type and kind; hashes are recomputed in bundles, here only what is stated counts."""

    def setUp(self) -> None:
        self.whole = {case.name: (case.kind, case.build()) for case in CASES.values()
                      if case.positive and case.kind in ("kernel", "mandate", "grade")}

    def accepted(self, kind: str, document: Document) -> bool:
        return gate.judge(kind, document).accepted

    def survivors(self, alter: Any) -> Iterator[tuple[str, str]]:
        """Fixture and place of each alteration that is accepted."""
        for name, (kind, document) in self.whole.items():
            for path, member in places(document):
                if not path.startswith(OPEN):
                    altered = alter(document, path, member)
                    if altered is not None and self.accepted(kind, altered):
                        yield name, path

    def test_a_member_taken_away(self) -> None:
        def alter(document: Document, path: str, _: Any) -> Document:
            return without(document, path)
        for name, path in self.survivors(alter):
            with self.subTest(fixture=name, path=path):
                parent = path.rpartition(".")[0]
                self.assertTrue(
                    path.rpartition(".")[2].isdigit()  # an item of a list that may be shorter
                    or name_of(path) in OPTIONAL or name_of(parent or path) == "data", path)

    def test_a_member_of_another_type(self) -> None:
        def alter(document: Document, path: str, member: Any) -> Document | None:
            other: Any = [] if isinstance(member, dict) else 7 if not isinstance(member, int) else "seven"
            return changed(document, path, other)
        for name, path in self.survivors(alter):
            with self.subTest(fixture=name, path=path):
                self.assertIn(path, {"constraints.0.value", "constraints.1.value", "approval_rules.0.when.value"})

    def test_a_member_made_null(self) -> None:
        def alter(document: Document, path: str, member: Any) -> Document | None:
            return None if member is None else changed(document, path, None)
        for name, path in self.survivors(alter):
            with self.subTest(fixture=name, path=path):
                self.assertTrue(name_of(path) in NULLABLE or path.endswith(".value"), path)

    def test_a_text_with_a_line_feed_more(self) -> None:
        def alter(document: Document, path: str, member: Any) -> Document | None:
            return changed(document, path, member + "\n") if isinstance(member, str) else None
        for name, path in self.survivors(alter):
            with self.subTest(fixture=name, path=path):
                self.assertTrue(
                    name_of(path) in FREE_TEXT or path.endswith((".value", ".path"))
                    or (path == "payload.stream.id" and "decision" in name), path)  # a decision's stream has no form

    def test_a_member_nobody_defined(self) -> None:
        def alter(document: Document, path: str, member: Any) -> Document | None:
            return changed(document, f"{path}.surplus", 1) if isinstance(member, dict) else None
        for name, path in self.survivors(alter):
            with self.subTest(fixture=name, path=path):
                self.assertEqual((name, path), ("valid-envelope-only-clarification", "payload"))

    def test_a_surplus_member_of_the_document_itself(self) -> None:
        for name, (kind, document) in self.whole.items():
            with self.subTest(name):
                self.assertFalse(self.accepted(kind, {**document, "surplus": 1}))


class EveryByte(unittest.TestCase):
    """In a bundle nothing can be altered without its hash telling."""

    def test_any_member_of_any_object(self) -> None:
        for case in CASES.values():
            if case.positive and case.kind == "bundle":
                document = case.build()
                for index, held in enumerate(document["objects"]):
                    for path, member in places(held):
                        if isinstance(member, str) and not path.startswith("signatures"):
                            altered = changed(document, f"objects.{index}.{path}", member + "0")
                            with self.subTest(fixture=case.name, path=f"objects.{index}.{path}"):
                                self.assertFalse(gate.judge_bundle(altered).accepted)


if __name__ == "__main__":
    unittest.main()
