"""The report: three counts, no verdict, a code exactly where a check failed (verification 2; surface 2)."""

from __future__ import annotations

import copy
import unittest

from a202_reference.codes import Outcome
from a202_reference.evidence.report import Report
from tests.evidence.records import report_on
from tests.evidence.stories import STORIES, told

MEMBERS = {
    "role_scope", "operated_objects", "obligations", "key_status", "rules_version", "objects_in_scope",
    "streams_disclosed", "undisclosed_streams", "unresolved_references", "unreferenced_evidence", "results", "checks"}


def tampered() -> Report:
    bundle = copy.deepcopy(told("walkthrough"))
    bundle["objects"][0]["payload"]["valid_until"] = "2099-01-01T00:00:00Z"
    bundle["keys"] = [key for key in bundle["keys"] if key["key_id"] != "key_supplier_agent_01"]
    return report_on(bundle)


class TheReport(unittest.TestCase):
    def test_it_has_no_truth_value(self) -> None:
        with self.assertRaises(TypeError):
            bool(report_on(told("walkthrough")))

    def test_it_has_exactly_the_members_of_the_tool(self) -> None:
        for name in STORIES:
            with self.subTest(name):
                document = report_on(told(name)).document()
                self.assertEqual(MEMBERS, document.keys())
                self.assertEqual("a202-scope/bilateral/0.1", document["role_scope"])

    def test_a_code_stands_exactly_where_a_check_failed(self) -> None:
        for row in tampered().rows:
            self.assertEqual(row.result is Outcome.FAILED, row.code is not None)

    def test_whatever_is_not_verified_says_why(self) -> None:
        self.assertEqual([], [row for row in tampered().not_verified() if not row.detail])

    def test_no_boolean_and_no_score_stand_in_for_a_result(self) -> None:
        document = tampered().document()
        results = {check["result"] for check in document["checks"]}
        self.assertEqual({"verified", "failed", "not_checkable"}, results)
        self.assertEqual({"verified", "failed", "not_checkable"}, document["results"].keys())

    def test_counts_are_whole_whatever_is_listed(self) -> None:
        report = tampered()
        every, some = report.document(), report.document("not_verified")
        self.assertEqual(every["results"], some["results"])
        self.assertEqual(every["results"]["failed"] + every["results"]["not_checkable"], len(some["checks"]))
        self.assertEqual([check for check in every["checks"] if check["result"] != "verified"], some["checks"])
        self.assertEqual(sum(every["results"].values()), len(every["checks"]))

    def test_steps_come_in_order(self) -> None:
        steps = [row.step for row in tampered().rows]
        self.assertEqual(sorted(steps), steps)

    def test_counts_by_check_add_up(self) -> None:
        report = tampered()
        total = {name: sum(counts[name] for counts in report.findings.by_check().values()) for name in report.counts}
        self.assertEqual(report.counts, total)

    def test_every_key_names_its_source_and_its_standing_now(self) -> None:
        for key in report_on(told("walkthrough")).document()["key_status"]:
            self.assertEqual(
                {"key_id", "owner", "source", "conflict", "valid_from", "valid_until", "status_now", "status_at",
                 "signatures"}, key.keys())
            self.assertEqual(("declared by the bundle", "active"), (key["source"], key["status_now"]))


if __name__ == "__main__":
    unittest.main()
