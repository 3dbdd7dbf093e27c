"""Bundles: what they hold, how they are read, and what a part of one tells (surface 6; verification 3)."""

from __future__ import annotations

import copy
import json
import unittest
from typing import Any

from a202_reference.codes import Code, Outcome, Refusal
from a202_reference.evidence.bundle import read_bundle, read_key
from a202_reference.evidence.disclosure import disclose
from a202_reference.evidence.material import Material, Source
from a202_reference.evidence.reading import read_pieces
from a202_reference.wire import Unreadable, read_json
from tests.evidence.records import BUYER, TXN, Story, binding, report_on
from tests.evidence.stories import STORIES, told
from tests.evidence.test_broken_records import event, nth


def read(bundle: Any, **pinned: Any) -> Material:
    material = read_bundle(bundle, pinned)
    assert isinstance(material, Material), material
    return material


class WhatABundleHolds(unittest.TestCase):
    def test_its_parts(self) -> None:
        bundle = told("walkthrough")
        self.assertEqual(
            {"format", "exported_at", "exported_by", "transaction_id", "rules", "objects", "mandates", "keys", "acts",
             "status_results", "head"}, bundle.keys())
        self.assertEqual(("a202-bundle/0.1", TXN, "1.3"), (
            bundle["format"], bundle["transaction_id"], bundle["rules"]["version"]))
        self.assertEqual({
            "sequence": 5, "event_hash": event(bundle, "acceptance.granted")["content_hash"],
            "object_count": len(bundle["objects"])}, bundle["head"])

    def test_keys_say_whose_they_are_and_since_when_and_nothing_private(self) -> None:
        for key in told("walkthrough")["keys"]:
            self.assertEqual({"key_id", "owner", "algorithm", "public_key_jwk", "valid_from", "valid_until", "status"},
                             key.keys())
            self.assertNotIn("d", key["public_key_jwk"])

    def test_a_record_without_events_has_a_head_without_event(self) -> None:
        story = Story()
        story.approve(BUYER, {})
        self.assertEqual({"sequence": 0, "event_hash": None, "object_count": 1}, story.bundle["head"])
        self.assertEqual(0, report_on(story.bundle).counts["failed"])


class ReadingABundle(unittest.TestCase):
    def test_unknown_members_are_ignored(self) -> None:
        bundle = {**told("walkthrough"), "note": "x"}
        bundle["keys"] = [{**key, "note": "x"} for key in bundle["keys"]]
        self.assertEqual(list(report_on(told("walkthrough")).rows), list(report_on(bundle).rows))

    def test_parts_may_be_left_out(self) -> None:
        bundle = told("walkthrough")
        report = report_on({"format": bundle["format"], "objects": bundle["objects"]})
        self.assertEqual(0, report.counts["failed"])
        self.assertIsNone(report.rules_version)

    def test_parts_of_another_type_refuse(self) -> None:
        for part, value in (("objects", {}), ("mandates", {}), ("keys", "x"), ("acts", []), ("status_results", 5),
                            ("head", []), ("rules", "1.3"), ("stated_gaps", {}), ("format", "a202-bundle/0.2")):
            with self.subTest(part):
                refusal = read_bundle({**told("walkthrough"), part: value}, {})
                self.assertEqual((Code.POLICY_DENIED,), refusal.codes if isinstance(refusal, Refusal) else None)

    def test_a_key_that_cannot_be_read_is_no_key(self) -> None:
        key = told("walkthrough")["keys"][0]
        for name, change in {
            "no curve point": {"public_key_jwk": {**key["public_key_jwk"], "x": "A" * 43}},
            "a private member": {"public_key_jwk": {**key["public_key_jwk"], "d": "A" * 43}},
            "another algorithm": {"algorithm": "EdDSA"}, "no instant": {"valid_from": "yesterday"},
            "a broken end": {"valid_until": "never"}, "two owners": {
                "owner": {"organization_id": "org_x01", "agent_id": "agt_x01", "principal_id": "prn_x01"}},
            "no owner": {"owner": {"organization_id": "org_x01"}}, "another identifier": {"key_id": "k"},
        }.items():
            with self.subTest(name):
                self.assertIsNone(read_key({**key, **change}))

    def test_a_pinned_key_counts_and_a_difference_fails(self) -> None:
        key_id = BUYER.key_id
        report = report_on(told("walkthrough"), **{key_id: binding(key_id)})
        self.assertEqual((0, 0), (report.counts["failed"], report.counts["not_checkable"]))
        sources = {key["key_id"]: key["source"] for key in report.key_status}
        self.assertEqual("pinned by the reader", sources[key_id])
        self.assertEqual("declared by the bundle", sources["key_supplier_agent_01"])
        bundle = copy.deepcopy(told("walkthrough"))
        for key in bundle["keys"]:
            if key["key_id"] == key_id:
                key["owner"] = {"organization_id": "org_northstar", "agent_id": "agt_other_01"}
        failed = {row.name for row in report_on(bundle, **{key_id: binding(key_id)}).rows
                  if row.result is Outcome.FAILED and row.name.startswith("key_resolves")}
        self.assertEqual({"key_resolves[0]", "key_resolves[1]"}, failed)

    def test_a_key_held_here_is_named_as_that(self) -> None:
        material = read_bundle(told("walkthrough"), {BUYER.key_id: binding(BUYER.key_id)}, source=Source.HELD)
        assert isinstance(material, Material)
        self.assertIs(Source.HELD, material.keys[BUYER.key_id].source)

    def test_two_declared_keys_under_one_identifier_conflict(self) -> None:
        bundle = copy.deepcopy(told("walkthrough"))
        bundle["keys"].append({**bundle["keys"][0], "valid_from": "2020-01-01T00:00:00Z"})
        self.assertTrue(read(bundle).keys[bundle["keys"][0]["key_id"]].conflict)


class ReadingInPieces(unittest.TestCase):
    """The reader of large files reads what the strict reader reads."""

    TEXTS = (
        "", " ", "{", "}", "[", "]", "[1", "[1,", "[1,]", "{\"a\"", "{\"a\":", "{\"a\":1,}", "[1 2]", "nul", "null",
        "5", "-0", "1.5", "1e3", "NaN", "[Infinity]", "\"x", "\"\\ud800\"", "\"\\ud83d\\ude00\"",
        "{\"a\": 1, \"a\": 2}",
        "{\"a\": 1, \"\\u0061\": 2}", "{\"a\": {\"b\": 1, \"b\": 2}}", "[{\"b\": 1, \"b\": 2}]", "{5: 1}", "{null: 1}",
        "[9007199254740993]", "[" * 80 + "]" * 80, "[" * 5000 + "]" * 5000, "{\"a\":" * 5000 + "1" + "}" * 5000,
        " [ 1 , {\"a\" : [ ] } , \"\u00e9\u20ac\" ] ", "{\"objects\": [], \"acts\": {}, \"x\": {\"y\": [1]}}", "[] []",
        "{} x", "[true,false,null]", "\ufeff[]", "[12345678901234567890123]", "{\"\":{\"\":[]}}", "[\"\\n\\t\\\"\"]")

    def test_the_same_value_or_a_refusal_as_well(self) -> None:
        for text in self.TEXTS:
            for size in (1, 3, 1 << 20):
                data = text.encode("utf-8", "surrogatepass")
                pieces = [data[at:at + size] for at in range(0, len(data), size)]
                with self.subTest(text=text[:40], size=size):
                    whole, piecewise = read_json(data), read_pieces(pieces)
                    if isinstance(whole, Unreadable):
                        self.assertIsInstance(piecewise, Unreadable)
                    else:
                        self.assertEqual(json.dumps(whole), json.dumps(piecewise))

    def test_every_story_in_pieces_of_any_size(self) -> None:
        for name in STORIES:
            data = json.dumps(told(name), ensure_ascii=False).encode()
            for size in (7, 1000, 1 << 20):
                with self.subTest(name, size=size):
                    self.assertEqual(told(name), read_pieces(data[at:at + size] for at in range(0, len(data), size)))

    def test_bytes_that_are_no_text_are_refused(self) -> None:
        for data in (b"\xff", b'["\xc3"]', b'["\xed\xa0\x80"]', b"[1]\xc3"):
            with self.subTest(data):
                self.assertIsInstance(read_pieces([data]), Unreadable)

    def test_one_value_without_end_is_refused_and_not_kept(self) -> None:
        def endless() -> Any:
            yield b'["'
            while True:
                yield b"x" * (1 << 20)

        self.assertIsInstance(read_pieces(endless()), Unreadable)


class APartOfABundle(unittest.TestCase):
    def part(self, story: str = "approved", **chosen: Any) -> dict[str, Any]:
        part = disclose(told(story), **chosen)
        assert isinstance(part, dict), part
        return part

    def test_it_verifies_on_its_own_and_says_that_it_is_a_part(self) -> None:
        for story in STORIES:
            objects = told(story)["objects"]
            for document in objects:
                with self.subTest(story, disclosed=document["id"]):
                    part = self.part(story, object_ids={document["id"]})
                    self.assertEqual({"by": "object_ids"}, part["disclosed"])
                    self.assertEqual(0, report_on(part).counts["failed"])

    def test_by_sequence_it_holds_what_was_recorded_for_those_events(self) -> None:
        part = self.part("walkthrough", sequences=(3, 4))
        self.assertEqual({"by": "sequences", "from": 3, "to": 4}, part["disclosed"])
        self.assertEqual(
            ["policy_decision", "obligation", "transaction_event", "policy_decision", "evidence", "performance_event",
             "transaction_event"], [document["object_type"] for document in part["objects"]])
        report = report_on(part)
        self.assertEqual(0, report.counts["failed"])
        self.assertGreater(report.counts["verified"], 100)

    def test_the_head_is_told_only_with_the_last_event_and_never_the_count(self) -> None:
        self.assertIsNone(self.part("walkthrough", sequences=(1, 2))["head"])
        last = self.part("walkthrough", sequences=(5, 5))
        self.assertEqual({"sequence", "event_hash"}, last["head"].keys())
        self.assertEqual(0, report_on(last).counts["failed"])

    def test_nothing_about_the_rest_is_in_it(self) -> None:
        whole = told("approved")
        offer = nth(whole, "offer")
        part = json.dumps(self.part(object_ids={offer["id"]}))
        for document in whole["objects"]:
            if document["id"] != offer["id"]:
                self.assertNotIn(document["id"], part)
                self.assertNotIn(document["content_hash"], part)
        for action_hash in whole["acts"]:
            self.assertNotIn(action_hash, part)
        self.assertNotIn("object_count", part)
        self.assertNotIn(BUYER.mandate_id, part)
        self.assertNotIn("key_buyer", part)

    def test_decisions_bring_their_acts_and_status_answers(self) -> None:
        decision = nth(told("delegated"), "policy_decision", 1)
        part = self.part("delegated", object_ids={decision["id"]})
        self.assertEqual([decision["payload"]["action_hash"]], list(part["acts"]))
        self.assertEqual(2, len(part["status_results"]))
        self.assertEqual({BUYER.mandate_id, "mnd_northstar_root_01"}, {each["id"] for each in part["mandates"]})

    def test_an_approval_brings_the_mandate_that_binds_its_key(self) -> None:
        part = self.part(object_ids={nth(told("approved"), "approval")["id"]})
        self.assertEqual([BUYER.mandate_id], [each["id"] for each in part["mandates"]])

    def test_what_the_bundle_does_not_hold_refuses(self) -> None:
        for chosen in ({"object_ids": {"off_none_01"}}, {"object_ids": set()}, {"sequences": (4, 9)},
                       {"sequences": (0, 2)}, {"sequences": (3, 2)}, {}, {"object_ids": {"x"}, "sequences": (1, 1)}):
            with self.subTest(chosen):
                refusal = disclose(told("walkthrough"), **chosen)
                self.assertEqual((Code.EVIDENCE_DISCLOSURE_INCOMPLETE,),
                                 refusal.codes if isinstance(refusal, Refusal) else None)


if __name__ == "__main__":
    unittest.main()
