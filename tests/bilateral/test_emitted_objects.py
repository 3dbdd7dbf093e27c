"""Seed, "One gate, not two": what the tools emit passes the gate that judges a stranger's object."""

import unittest

from a202_reference.gate import Lookup, judge, judge_bundle, judge_mandate, judge_object
from tests.bilateral.stories import STORIES


class OneGate(unittest.TestCase):

    def test_every_object_alone_and_over_its_whole_record(self):
        for name, story in STORIES.items():
            objects = story().objects()
            lookup = Lookup.over({each["id"]: each for each in objects})
            for document in objects:
                with self.subTest(story=name, kind=document["object_type"]):
                    for judgement in (judge_object(document), judge_object(document, lookup),
                        judge("kernel", document)):
                        self.assertEqual((judgement.schema_errors, judgement.codes), ((), ()))

    def test_every_record_as_a_bundle(self):
        for name, story in STORIES.items():
            with self.subTest(story=name):
                document = {"context": {"rules_version_in_force": "1.3"}, "objects": list(story().objects())}
                for judgement in (judge_bundle(document), judge("bundle", document)):
                    self.assertEqual((judgement.schema_errors, judgement.codes), ((), ()))

    def test_under_earlier_rules_a_bundle_is_illegal(self):
        objects = list(STORIES["walkthrough"]().objects())
        for version in ("1.0", "1.1", "1.2"):
            with self.subTest(version=version):
                judgement = judge_bundle({"context": {"rules_version_in_force": version}, "objects": objects})
                self.assertEqual(judgement.codes, ("A202-EVIDENCE-TRANSITION-ILLEGAL",))

    def test_every_mandate(self):
        for name, story in STORIES.items():
            desk = story()
            for mandate_id, *_ in desk.dump()["mandates"]:
                with self.subTest(story=name):
                    self.assertTrue(judge_mandate(desk.workspace.mandate(mandate_id)).accepted)

    def test_every_object_is_signed_at_least_once(self):
        for name, story in STORIES.items():
            for document in story().objects():
                with self.subTest(story=name, kind=document["object_type"]):
                    self.assertTrue(document["signatures"])
                    self.assertFalse(any("placeholder" in entry["signature"] for entry in document["signatures"]))
