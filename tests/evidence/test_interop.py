"""The published bundles, where they are at hand (A202_INTEROP names their directory): no positive one has a failed
check, every negative one within the procedure's reach fails with its declared code."""

from __future__ import annotations

import json
import os
import unittest
from pathlib import Path
from typing import Any

from a202_reference.evidence.material import Material
from a202_reference.evidence.procedure import verify
from tests.evidence.records import START

INTEROP = os.environ.get("A202_INTEROP", "")

if INTEROP:

    class PublishedBundles(unittest.TestCase):
        def entries(self, kind: str) -> list[dict[str, Any]]:
            manifest = json.loads((Path(INTEROP) / "manifest.json").read_text())
            return [entry for entry in manifest[kind] if entry["kind"] == "bundle"]

        def codes(self, entry: dict[str, Any]) -> set[str]:
            document = json.loads((Path(INTEROP) / "fixtures" / entry["file"]).read_text())
            context = document.get("context", {})
            report = verify(Material(
                tuple(document["objects"]), rules_version=context.get("rules_version_in_force"),
                event_rules=context.get("event_rules_in_force", {}),
                stated_gaps=frozenset(context.get("stated_gaps", ())),
                subject_act_at=context.get("subject_act_at")), now=START)
            return {row.code.value for row in report.rows if row.code is not None}

        def test_no_positive_bundle_has_a_failed_check(self) -> None:
            for entry in self.entries("positive"):
                with self.subTest(entry["file"]):
                    self.assertEqual(set(), self.codes(entry))

        def test_every_negative_bundle_fails_with_its_code(self) -> None:
            for entry in self.entries("negative"):
                if entry["reason_code"] == "A202-EVIDENCE-REPORT-INVALID":
                    continue  # a carried report is judged by the gate; the procedure makes reports and reads none
                with self.subTest(entry["file"]):
                    self.assertIn(entry["reason_code"], self.codes(entry))


if __name__ == "__main__":
    unittest.main()
