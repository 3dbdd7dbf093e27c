"""Surface 2, get_transaction_record: the chain as it stands, and whether anything is known."""

import unittest

from a202_mcp.store import Batch
from a202_reference.canonical import content_hash
from tests.bilateral.parties import TRANSACTION, Desk, RefusalCase
from tests.bilateral.stories import walkthrough

EVENT = {
    "event_id", "sequence", "event_type", "from_state", "to_state", "occurred_at", "previous_event_hash",
    "content_hash",
    "signed_by", "policy_decision_id", "action_hash", "data"}


class Read(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        cls.desk = walkthrough()
        cls.record = cls.desk.record()

    def read(self, **more):
        return self.desk.done("get_transaction_record", {"transaction_id": TRANSACTION, **more})

    def test_members(self):
        self.assertEqual(set(self.record), {
            "transaction_id", "known", "state", "events", "chain", "chain_refusal", "unlinked_events", "objects"})
        for event in self.record["events"]:
            self.assertEqual(set(event), EVENT)
        self.assertEqual(
            (self.record["known"], self.record["chain"], self.record["chain_refusal"], self.record["unlinked_events"]),
            (True, "linked", None, []))

    def test_hashes_link(self):
        previous = None
        for event in self.record["events"]:
            document = self.desk.workspace.store.held_object(event["event_id"])
            self.assertEqual(event["content_hash"], content_hash(document))
            self.assertEqual(event["previous_event_hash"], previous)
            previous = event["content_hash"]

    def test_every_object_is_listed(self):
        self.assertEqual(self.record["objects"], [each["id"] for each in self.desk.objects()])

    def test_a_choice_of_events_changes_nothing_else(self):
        whole = {name: value for name, value in self.record.items() if name != "events"}
        for more, sequences in (
            ({"after_sequence": 0}, [1, 2, 3, 4, 5]), ({"after_sequence": 3}, [4, 5]), ({"after_sequence": 5}, []),
            ({"limit": 2}, [1, 2]), ({"after_sequence": 2, "limit": 2}, [3, 4]), ({"limit": 100}, [1, 2, 3, 4, 5]),
        ):
            with self.subTest(more=more):
                found = self.read(**more)
                self.assertEqual([event["sequence"] for event in found["events"]], sequences)
                self.assertEqual({name: value for name, value in found.items() if name != "events"}, whole)

    def test_reading_records_nothing(self):
        before = self.desk.dump()
        self.read()
        self.assertEqual(self.desk.dump(), before)


    def test_the_resources_of_an_unknown_transaction(self):
        workspace = self.desk.workspace
        self.assertEqual(workspace.record(TRANSACTION), self.record)
        self.assertEqual(workspace.bundle(TRANSACTION)["head"], {
            "sequence": 5, "event_hash": self.record["events"][-1]["content_hash"],
            "object_count": len(self.record["objects"])})
        for unknown in ("txn_unknown_one", "", "agr_one"):
            with self.subTest(unknown=unknown):
                self.assertIsNone(workspace.record(unknown))
                self.assertIsNone(workspace.bundle(unknown))
        self.assertEqual(
            workspace.transactions(100),
            {"count": 1, "transactions": [{"transaction_id": TRANSACTION, "state": "settlement_pending"}]})


class Known(RefusalCase):

    def test_an_unknown_transaction_and_one_that_has_not_moved(self):
        desk = Desk().introduce()
        unknown = desk.record()
        self.assertEqual(
            (unknown["known"], unknown["state"], unknown["events"], unknown["objects"], unknown["chain"]),
            (False, "draft", [], [], "linked"))
        desk.done("issue_approval", desk.approval("a" * 64))
        self.assertEqual((desk.record()["known"], desk.record()["state"]), (True, "draft"))

    def test_asking_makes_nothing_known(self):
        desk = Desk()
        for _ in range(2):
            self.assertFalse(desk.record()["known"])
        self.assertEqual([rows for name, rows in desk.dump().items() if name != "meta" and rows], [])

    def test_transactions_do_not_mix(self):
        scope = {"scope": {"transaction_ids": [TRANSACTION, "txn_second_one"]}}
        desk = Desk().introduce(buyer=scope, supplier=scope)
        desk.form()
        first = desk.record()
        desk.transaction_id = "txn_second_one"
        self.assertFalse(desk.record()["known"])
        desk.form()
        self.assertEqual({each["transaction_id"] for each in desk.objects()}, {"txn_second_one"})
        desk.transaction_id = TRANSACTION
        self.assertEqual(desk.record(), first)

    def test_shapes(self):
        desk = Desk()
        for name, arguments in {
            "no id": {},
            "null": {"transaction_id": None},
            "an id of another kind": {"transaction_id": "agr_one"},
            "a path": {"transaction_id": "txn_../../etc"},
            "a line end": {"transaction_id": "txn_abc\n"},
            "a negative sequence": {"transaction_id": TRANSACTION, "after_sequence": -1},
            "a limit of nothing": {"transaction_id": TRANSACTION, "limit": 0},
            "an unknown member": {"transaction_id": TRANSACTION, "colour": "red"},
        }.items():
            with self.subTest(name):
                self.assert_refused(desk, "get_transaction_record", arguments, "A202-POLICY-DENIED")


class Broken(unittest.TestCase):

    def test_a_gap_in_what_is_held(self):
        whole = walkthrough()
        kept = [each for each in whole.objects() if each["id"] != whole.record()["events"][2]["event_id"]]
        desk = Desk()
        desk.workspace.store.commit(Batch(
            now="2026-09-08T14:05:00Z", transaction_id=TRANSACTION, objects=tuple(kept)))
        record = desk.record()
        self.assertEqual((record["chain"], record["chain_refusal"]), ("broken", "A202-EVIDENCE-CHAIN-GAP"))
        self.assertEqual((record["state"], len(record["events"]), len(record["unlinked_events"])), ("committed", 2, 2))
