"""Surface 2, verify_evidence; design override 6: a report of checks, never a verdict, over a record of any origin."""

import json
import unittest
from copy import deepcopy

from hypothesis import given, settings
from hypothesis import strategies as st

from a202_mcp import readout
from a202_mcp.bilateral.tools import TOOLS
from a202_reference.canonical import content_hash
from a202_reference.codes import Code
from a202_reference.keys import PrivateKey
from tests.bilateral.parties import TRANSACTION, Desk, RefusalCase, changed
from tests.bilateral.stories import STORIES, walkthrough
from tests.reference.strategies import documents

MEMBERS = {
    "role_scope", "operated_objects", "obligations", "key_status", "rules_version", "objects_in_scope",
    "streams_disclosed",
    "undisclosed_streams", "unresolved_references", "unreferenced_evidence", "results", "checks"}
INCOMPLETE, DENIED = "A202-EVIDENCE-DISCLOSURE-INCOMPLETE", "A202-POLICY-DENIED"
MISMATCH, SIGNATURE = "A202-EVIDENCE-HASH-MISMATCH", "A202-EVIDENCE-SIGNATURE-INVALID"
GAP, ILLEGAL = "A202-EVIDENCE-CHAIN-GAP", "A202-EVIDENCE-TRANSITION-ILLEGAL"
REGISTERED = {code.value for code in Code}
DESK = walkthrough()
OBJECTS = list(DESK.objects())
BUNDLE = json.loads(json.dumps(readout.bundle(DESK.workspace.store, TRANSACTION, DESK.clock.now)))


def verify(arguments, desk=DESK):
    return desk.done("verify_evidence", arguments)


def stranger():
    """A process that holds nothing, at the same instant."""
    return Desk(clock=DESK.clock)


def failures(report):
    """(step, code) of everything that failed."""
    return {(check["step"], check["code"]) for check in report["checks"] if check["result"] == "failed"}


def having(kind, path, value, objects=OBJECTS):
    """The objects, the first of one type changed at a path."""
    at = next(index for index, each in enumerate(objects) if each["object_type"] == kind)
    return [*objects[:at], changed(objects[at], path, value), *objects[at + 1:]]


class Report(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        cls.report = verify({"transaction_id": TRANSACTION, "rules_version": "1.3"})

    def test_members_and_no_verdict(self):
        self.assertEqual(set(self.report), MEMBERS)
        self.assertEqual(set(self.report["results"]), {"verified", "failed", "not_checkable"})
        self.assertFalse(any(isinstance(value, bool) for value in self.report.values()))
        self.assertEqual(self.report["role_scope"], "a202-scope/bilateral/0.1")

    def test_the_walkthrough_leaves_no_gap(self):
        results = self.report["results"]
        self.assertEqual((results["failed"], results["not_checkable"]), (0, 0))
        self.assertGreaterEqual(results["verified"], 55)
        self.assertEqual(self.report["streams_disclosed"], [f"transaction:{TRANSACTION}"])
        self.assertEqual(self.report["undisclosed_streams"], [DESK.agreement["session_id"]])
        for name in ("unresolved_references", "unreferenced_evidence", "operated_objects"):
            self.assertEqual(self.report[name], [])
        self.assertEqual(self.report["rules_version"], "1.3")
        self.assertEqual(sorted(self.report["objects_in_scope"]), sorted(each["id"] for each in OBJECTS))

    def test_every_check_has_its_members_and_the_counts_add_up(self):
        counts = dict.fromkeys(("verified", "failed", "not_checkable"), 0)
        for check in self.report["checks"]:
            self.assertEqual(set(check), {"step", "name", "subject", "result", "code", "detail"})
            self.assertIn(check["step"], range(1, 8))
            counts[check["result"]] += 1
        self.assertEqual(counts, self.report["results"])

    def test_the_obligation(self):
        [obligation] = self.report["obligations"]
        self.assertEqual(
            {name: obligation[name] for name in ("state", "due", "asserted")},
            {"state": "discharged", "due": "not_met", "asserted": "early"})

    def test_the_keys_and_their_source(self):
        self.assertLessEqual(
            {"key_northstar_agent_01", "key_delta_agent_01"}, {each["key_id"] for each in self.report["key_status"]})
        self.assertTrue(all("held" in each["source"] for each in self.report["key_status"]))

    def test_only_what_did_not_verify_when_asked_so(self):
        objects = having("agreement", "payload.terms.core.description", "Other")
        whole = verify({"objects": objects, "rules_version": "1.3"})
        short = verify({"objects": objects, "rules_version": "1.3", "checks": "not_verified"})
        self.assertEqual(short["results"], whole["results"])
        self.assertEqual(short["checks"], [check for check in whole["checks"] if check["result"] != "verified"])
        self.assertTrue(short["checks"])

    def test_it_records_nothing(self):
        before = DESK.dump()
        verify({"transaction_id": TRANSACTION, "rules_version": "1.3"})
        verify({"bundle": BUNDLE})
        self.assertEqual(DESK.dump(), before)

    def test_every_story_verifies_whole_here_and_at_a_strangers(self):
        for name, story in STORIES.items():
            with self.subTest(story=name):
                desk = story()
                here = verify({"transaction_id": TRANSACTION, "rules_version": "1.3"}, desk)
                bundle = json.loads(json.dumps(readout.bundle(desk.workspace.store, TRANSACTION, desk.clock.now)))
                there = verify({"bundle": bundle}, Desk(clock=desk.clock))
                for report in (here, there):
                    short = [check for check in report["checks"] if check["result"] != "verified"]
                    self.assertEqual(short, [])
                self.assertTrue(all("bundle" in each["source"] for each in there["key_status"]))


class Material(unittest.TestCase):

    def test_by_value_by_id_and_in_any_order(self):
        whole = verify({"transaction_id": TRANSACTION, "rules_version": "1.3"})["results"]
        ids = [each["id"] for each in OBJECTS]
        for name, arguments in {
            "by value": {"objects": OBJECTS}, "reversed": {"objects": OBJECTS[::-1]}, "by id": {"object_ids": ids},
            "half and half": {"objects": OBJECTS[::2], "object_ids": ids[1::2]},
            "twice": {"objects": OBJECTS, "object_ids": ids, "transaction_id": TRANSACTION},
        }.items():
            with self.subTest(name):
                found = verify({**arguments, "rules_version": "1.3"})["results"]
                self.assertEqual((found["failed"], found["not_checkable"]), (0, 0))
                if name != "twice":
                    self.assertEqual(found, whole)

    def test_part_of_a_record_verifies_alone_and_names_what_it_lacks(self):
        agreement = [each for each in OBJECTS if each["object_type"] == "agreement"]
        report = verify({"objects": agreement, "rules_version": "1.3"})
        self.assertEqual(report["results"]["failed"], 0)
        self.assertGreater(report["results"]["not_checkable"], 0)
        self.assertIn(DESK.agreement["offer_id"], report["unresolved_references"])
        self.assertIn(DESK.agreement["acceptance_id"], report["unresolved_references"])

    def test_evidence_that_nobody_references_is_named(self):
        evidence = [each for each in OBJECTS if each["object_type"] == "evidence"]
        report = verify({"objects": evidence})
        self.assertEqual(report["unreferenced_evidence"], [evidence[0]["id"]])
        self.assertEqual(report["results"]["failed"], 0)

    def test_by_value_at_a_strangers_nothing_fails_and_keys_are_not_checkable(self):
        report = verify({"objects": OBJECTS, "rules_version": "1.3"}, stranger())
        self.assertEqual(report["results"]["failed"], 0)
        unresolved = {check["name"] for check in report["checks"] if check["result"] == "not_checkable"}
        self.assertIn("signature[0]", unresolved)
        self.assertTrue({"content_hash", "event_chain"}.isdisjoint(unresolved))

    def test_without_a_rules_version_only_the_transitions_are_open(self):
        report = verify({"transaction_id": TRANSACTION})
        self.assertEqual(report["results"]["failed"], 0)
        self.assertEqual({check["step"] for check in report["checks"] if check["result"] != "verified"}, {5})
        self.assertIn("transition_legality", {
            check["name"] for check in report["checks"] if check["result"] == "not_checkable"})
        self.assertIsNone(report["rules_version"])

    def test_a_given_version_wins_over_the_bundles(self):
        self.assertEqual(verify({"bundle": BUNDLE}, stranger())["rules_version"], "1.3")
        report = verify({"bundle": BUNDLE, "rules_version": "1.2"}, stranger())
        self.assertEqual(report["rules_version"], "1.2")
        self.assertIn((5, ILLEGAL), failures(report))

    def test_under_1_2_the_first_transition_fails_and_no_other(self):
        report = verify({"transaction_id": TRANSACTION, "rules_version": "1.2"})
        failed = [check for check in report["checks"] if check["result"] == "failed"]
        first = DESK.record()["events"][0]["event_id"]
        self.assertEqual(
            [(check["subject"], check["step"], check["code"]) for check in failed], [(first, 5, ILLEGAL)])


class Tampered(unittest.TestCase):

    def test_one_changed_byte_of_the_terms(self):
        report = verify({"objects": having("agreement", "payload.terms.core.description", "Calibration?"),
                         "rules_version": "1.3"})
        self.assertIn((1, MISMATCH), failures(report))
        self.assertIn((2, SIGNATURE), failures(report))
        agreement = DESK.agreement["agreement_id"]
        signatures = [check for check in report["checks"] if check["subject"] == agreement
                      and check["name"].startswith("signature[") and check["result"] == "failed"]
        self.assertEqual(len(signatures), 2)

    def test_each_damage_has_its_step_and_code(self):
        agreement = next(each for each in OBJECTS if each["object_type"] == "agreement")
        events = [each for each in OBJECTS if each["object_type"] == "transaction_event"]
        swapped = deepcopy(OBJECTS)
        places = [index for index, each in enumerate(OBJECTS) if each["object_type"] == "transaction_event"][:2]
        for one, other in (places, places[::-1]):
            swapped[one]["signatures"] = OBJECTS[other]["signatures"]
        for name, objects, expected in (
            ("another content hash", having("offer", "content_hash", "a" * 64), (1, MISMATCH)),
            ("a hash in capitals", having("offer", "content_hash", "A" * 64), (1, "A202-HASH-FORMAT-INVALID")),
            ("no content hash", having("offer", "content_hash", ...), (1, MISMATCH)),
            ("another terms hash", having("agreement", "payload.terms_hash", "a" * 64),
                (1, "A202-AGREEMENT-HASH-MISMATCH")),
            ("another accepted offer", having("agreement", "payload.accepted_offer_hash", "a" * 64),
             (1, "A202-AGREEMENT-HASH-MISMATCH")),
            ("another assertion", having("obligation_response", "payload.assertion_hash", "a" * 64),
             (1, "A202-OBLIGATION-RESPONSE-HASH-MISMATCH")),
            ("another purpose", having("offer", "signatures.0.purpose", "event_append"), (2, SIGNATURE)),
            ("another instant of signing", having("offer", "signatures.0.signed_at", "2026-08-20T10:00:01Z"),
                (2, SIGNATURE)),
            ("one signature of two", having("agreement", "signatures", agreement["signatures"][:1]), (2, SIGNATURE)),
            ("the same signature twice", having("agreement", "signatures", agreement["signatures"][:1] * 2),
                (2, SIGNATURE)),
            ("signatures of two events exchanged", swapped, (2, SIGNATURE)),
            ("a dropped event in the middle", [each for each in OBJECTS if each is not events[2]], (4, GAP)),
            ("an event that claims another state", having("transaction_event", "payload.to_state", "committed"),
                (5, ILLEGAL)),
            ("an event of deletion", having("transaction_event", "payload.event_type", "obligation.deleted"),
                (5, ILLEGAL)),
        ):
            with self.subTest(name):
                self.assertIn(expected, failures(verify({"objects": objects, "rules_version": "1.3"})))

    def test_a_rehashed_object_fails_its_signatures(self):
        objects = having("offer", "payload.terms.core.description", "Other")
        offer = next(each for each in objects if each["object_type"] == "offer")
        offer["content_hash"] = content_hash(offer)
        report = verify({"objects": objects, "rules_version": "1.3"})
        self.assertIn((2, SIGNATURE), failures(report))
        self.assertIn((1, "A202-AGREEMENT-HASH-MISMATCH"), failures(report))

    def test_a_placeholder_is_not_checkable_never_failed(self):
        objects = having("offer", "signatures.0.signature", "synthetic-placeholder-signature-value")
        report = verify({"objects": objects, "rules_version": "1.3"})
        offer = DESK.agreement["offer_id"]
        found = {check["name"]: check["result"] for check in report["checks"] if check["subject"] == offer}
        self.assertEqual(found["signature[0]"], "not_checkable")

    def test_dropped_ends(self):
        events = [each for each in OBJECTS if each["object_type"] == "transaction_event"]
        last = verify({"objects": [each for each in OBJECTS if each is not events[-1]], "rules_version": "1.3"})
        self.assertNotIn((4, GAP), failures(last))
        first = verify({"objects": [each for each in OBJECTS if each is not events[0]], "rules_version": "1.3"})
        self.assertNotIn((4, GAP), failures(first))
        self.assertGreater(first["results"]["not_checkable"], 0)


class Bundles(unittest.TestCase):

    def test_a_key_held_here_is_pinned(self):
        forged = deepcopy(BUNDLE)
        for entry in forged["keys"]:
            if entry["key_id"] == "key_delta_agent_01":
                entry["public_key_jwk"] = PrivateKey.from_scalar(7).public.jwk
        self.assertIn((2, SIGNATURE), failures(verify({"bundle": forged})))
        self.assertIn((2, SIGNATURE), failures(verify({"bundle": forged}, stranger())))

    def test_keys_and_acts_come_from_the_bundle_alone(self):
        bare = {**BUNDLE, "keys": [], "mandates": [], "acts": {}, "status_results": []}
        here, there = verify({"bundle": bare}), verify({"bundle": bare}, stranger())
        self.assertEqual(there["results"]["failed"], 0)
        self.assertGreater(there["results"]["not_checkable"], 0)
        self.assertEqual(here["results"]["failed"], 0)
        self.assertGreater(here["results"]["not_checkable"], 0)

    def test_a_head_that_differs(self):
        for path, value in (("head.sequence", 4), ("head.event_hash", "a" * 64), ("head.object_count", 17)):
            with self.subTest(path=path):
                report = verify({"bundle": changed(BUNDLE, path, value)}, stranger())
                self.assertIn(GAP, {code for _, code in failures(report)})

    def test_an_act_that_is_not_what_was_recorded(self):
        altered = deepcopy(BUNDLE)
        action_hash = next(iter(altered["acts"]))
        altered["acts"][action_hash]["counterparty_organization_id"] = "org_epsilon"
        self.assertTrue(failures(verify({"bundle": altered}, stranger())))

    def test_objects_given_beside_a_bundle_are_verified_with_it(self):
        offer = changed(OBJECTS[0], "id", "off_beside_one")
        report = verify({"bundle": BUNDLE, "objects": [offer]}, stranger())
        self.assertIn("off_beside_one", report["objects_in_scope"])
        self.assertIn((1, MISMATCH), failures(report))

    def test_unknown_members_are_ignored(self):
        report = verify({"bundle": {**BUNDLE, "note": "from us"}}, stranger())
        self.assertEqual((report["results"]["failed"], report["results"]["not_checkable"]), (0, 0))

    def test_an_altered_mandate_or_status(self):
        for path, value, result in (
            ("mandates.0.valid_until", "2027-09-20T00:00:00Z", "failed"),
            ("status_results.0.status", "revoked", "failed"),
            ("status_results.0.retrieved_at", "2026-08-20T09:00:00Z", "not_checkable"),
        ):
            with self.subTest(path=path):
                report = verify({"bundle": changed(BUNDLE, path, value)}, stranger())
                self.assertGreater(report["results"][result], 0)


class Refused(RefusalCase):

    def test_nothing_to_verify(self):
        desk = Desk()
        for name, arguments in {
            "nothing": {}, "no objects": {"objects": []}, "no ids": {"object_ids": []},
            "an unknown transaction": {"transaction_id": "txn_unknown_one"},
            "an unknown id": {"object_ids": ["off_unknown_one"]},
            "an unknown id beside an object": {"object_ids": ["off_unknown_one"], "objects": OBJECTS[:1]},
            "an unknown id in a bundle's company": {"object_ids": ["off_unknown_one"], "bundle": BUNDLE},
        }.items():
            with self.subTest(name):
                refusal = self.assert_refused(desk, "verify_evidence", arguments, INCOMPLETE)
                if "unknown" in name:
                    self.assertIn("unknown_one", refusal.detail)

    def test_an_entry_that_is_no_object(self):
        for entry in (None, 7, "offer", ["offer"], True):
            with self.subTest(entry=entry):
                self.assert_refused(Desk(), "verify_evidence", {"objects": [*OBJECTS[:1], entry]}, DENIED)

    def test_a_bundle_that_is_none(self):
        for bundle in ("bundle", ["bundle"], {}, {"format": "zip"}):
            with self.subTest(bundle=bundle):
                self.assert_refused(Desk(), "verify_evidence", {"bundle": bundle}, DENIED)

    def test_unregistered_rules(self):
        for version in ("1.4", "", "latest", "1.3.0"):
            with self.subTest(version=version):
                self.assert_refused(
                    DESK, "verify_evidence", {"transaction_id": TRANSACTION, "rules_version": version},
                    "A202-STATE-TRANSITION-DENIED")

    def test_shapes(self):
        for change in ({"checks": "some"}, {"colour": "red"}, {"objects": OBJECTS[0]}, {"object_ids": "off_one"}):
            with self.subTest(change=list(change)):
                self.assert_refused(DESK, "verify_evidence", {"transaction_id": TRANSACTION, **change}, DENIED)


FUZZ = settings(max_examples=40, deadline=None, database=None)


def places(document, path=()):
    """Every place in a document."""
    members = document.items() if isinstance(document, dict) else enumerate(document) if isinstance(document,
        list) else ()
    for name, member in members:
        yield (*path, name)
        yield from places(member, (*path, name))


def replaced(document, path, value):
    copy = deepcopy(document)
    node = copy
    for name in path[:-1]:
        node = node[name]
    node[path[-1]] = value
    return copy


class Hostile(unittest.TestCase):
    """Whatever is in a document, the answer is a report, and its codes are registered."""

    def check(self, arguments):
        answer = next(tool for tool in TOOLS if tool.name == "verify_evidence").answer(DESK.workspace, arguments)
        if isinstance(answer, dict):
            json.dumps(answer)
            self.assertLessEqual({check["code"] for check in answer["checks"]} - {None}, REGISTERED)
        return answer

    def test_values_that_are_no_name_where_names_belong(self):
        for path in (
            "id", "object_type", "created_by", "created_by.mandate_id", "transaction_id", "previous_version_id",
            "signatures",
            "signatures.0", "signatures.0.key_id", "signatures.0.purpose", "signatures.0.algorithm", "content_hash",
            "payload", "version", "created_at",
        ):
            for value in ([], {}, ["x"], {"a": 1}, None, 7, True, "\n"):
                with self.subTest(path=path, value=value):
                    for kind in ("policy_decision", "approval", "transaction_event"):
                        base = {**OBJECTS[1], "object_type": kind}
                        self.assertIsInstance(
                            self.check({"objects": [changed(base, path, value)], "rules_version": "1.3"}), dict)

    def test_entries_of_a_bundle_that_are_no_objects(self):
        for part in ("objects", "mandates", "keys", "status_results"):
            for value in (None, 7, True, "text", [], [[]], {}, {"issuer": []}):
                for at in (0, len(BUNDLE[part]) - 1):
                    with self.subTest(part=part, value=value, at=at):
                        self.assertIsInstance(self.check({"bundle": replaced(BUNDLE, (part, at), value)}), dict)

    def test_mandates_that_are_no_names(self):
        for value in ([["mnd_one"]], [{}], {}, "mnd_one", [None, 7], None):
            with self.subTest(value=value):
                self.check({"objects": [changed(OBJECTS[1], "payload.mandate_ids", value)]})

    @FUZZ
    @given(st.sampled_from(sorted(places(OBJECTS), key=repr)), documents)
    def test_any_member_of_a_record(self, path, value):
        objects = replaced(OBJECTS, path, value)
        self.check({"objects": [each for each in objects if isinstance(each, dict)], "rules_version": "1.3"})

    @FUZZ
    @given(st.sampled_from(sorted(places(BUNDLE), key=repr)), documents)
    def test_any_member_of_a_bundle(self, path, value):
        self.check({"bundle": replaced(BUNDLE, path, value)})

    @FUZZ
    @given(st.lists(st.dictionaries(st.sampled_from(sorted(OBJECTS[0])), documents), min_size=1, max_size=3))
    def test_any_objects(self, objects):
        self.check({"objects": objects})
