"""Design, "All or nothing" and "store": a batch is written whole or not at all, survives, and never holds a key."""

import json
import sqlite3
import stat
import tempfile
import unittest
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from a202_mcp.store import _HELD, FILE_NAME, Batch, DamagedError, Idempotency, SqliteStore
from a202_reference.keys import KeyBinding, Owner, PrivateKey
from a202_reference.signing import Signer
from tests.bilateral.parties import Desk, dump

NOW = "2026-08-20T10:00:00Z"
LATER = "2026-08-20T11:00:00Z"


def binding(key_id="key_one", scalar=7, **owner):
    return KeyBinding(
        key_id, Owner("org_one", **(owner or {"agent_id": "agt_one"})), PrivateKey.from_scalar(scalar).public,
        datetime(2026, 8, 20, 10, tzinfo=UTC))


def signer(key_id, scalar):
    return Signer(key_id, PrivateKey.from_scalar(scalar))


def mandate(mandate_id="mnd_one", **more):
    return {"id": mandate_id, "issuer": {"key_id": "key_issuer"}, "subject": {"key_id": "key_subject"}, **more}


def document(object_id="off_one", transaction_id="txn_one", **more):
    return {"id": object_id, "transaction_id": transaction_id, **more}


FIRST = Batch(
    now=NOW, transaction_id="txn_one", objects=(document(note="\u20ac\U0001f600"),), mandates=(mandate(),),
    keys=(binding(),), signers=(signer("key_one", 7),), acts={"a" * 64: {"action_type": "offer.accept"}},
    status_results=({"mandate_id": "mnd_one", "status": "active"},), consumed={"apr_one": "a" * 64},
    idempotency=Idempotency("scope_one", "c" * 64, {"outcome": "recorded"}))
SECOND = Batch(
    now=LATER, transaction_id="txn_one", expected_revision=1, objects=(document("off_two"),),
    mandates=(mandate("mnd_two"),), keys=(binding("key_two", 8),), signers=(signer("key_two", 8),),
    acts={"b" * 64: {"action_type": "offer.submit"}},
    status_results=({"mandate_id": "mnd_two", "status": "active"},), consumed={"apr_two": "b" * 64},
    idempotency=Idempotency("scope_two", "d" * 64, {"outcome": "recorded"}))


class InMemory(unittest.TestCase):

    def setUp(self):
        self.store = SqliteStore.open(None)
        self.addCleanup(self.store.close)


class AllOrNothing(InMemory):

    def test_a_batch_is_read_back_whole(self):
        self.assertTrue(self.store.commit(FIRST))
        self.assertTrue(self.store.commit(SECOND))
        store = self.store
        self.assertEqual(store.holdings("txn_one").objects, (*FIRST.objects, *SECOND.objects))
        self.assertEqual(store.holdings("txn_one").revision, 2)
        self.assertEqual(store.held_object("off_two"), SECOND.objects[0])
        self.assertEqual(store.mandate("mnd_two"), SECOND.mandates[0])
        self.assertEqual((store.key("key_one"), store.key("key_two")), (FIRST.keys[0], SECOND.keys[0]))
        self.assertEqual(store.acts("txn_one"), {**FIRST.acts, **SECOND.acts})
        self.assertEqual(store.status_results("txn_one"), FIRST.status_results + SECOND.status_results)
        self.assertTrue(store.consumed("apr_one") and store.consumed("apr_two"))
        self.assertEqual(store.first_result("scope_two"), SECOND.idempotency)

    def test_nothing_of_an_unknown_name(self):
        self.store.commit(FIRST)
        self.assertEqual(self.store.holdings("txn_two").objects, ())
        self.assertEqual(self.store.holdings("txn_two").revision, 0)
        for answer in (
            self.store.held_object("off_two"), self.store.mandate("mnd_two"), self.store.key("key_two"),
            self.store.first_result("scope_two"), self.store.newest("txn_two", ["key_two"]),
        ):
            self.assertIsNone(answer)
        self.assertEqual((self.store.acts("txn_two"), self.store.status_results("txn_two")), ({}, ()))
        self.assertFalse(self.store.consumed("apr_two"))

    def test_whatever_cannot_be_written_twice_keeps_the_whole_batch_out(self):
        self.store.commit(FIRST)
        before = dump(self.store)
        for name, change in {
            "the transaction, as if it were new": {"expected_revision": 0},
            "a revision that has passed": {"expected_revision": 7},
            "another transaction that is not there yet": {"transaction_id": "txn_two"},
            "an object's identifier": {"objects": (document("off_two"), document("off_one", note="other"))},
            "an object's identifier on another transaction": {"objects": (document("off_one", "txn_two"),)},
            "the same object": {"objects": FIRST.objects},
            "one object twice in a batch": {"objects": (document("off_two"), document("off_two"))},
            "a mandate's identifier": {"mandates": (mandate("mnd_two"), mandate(note="other"))},
            "the same mandate": {"mandates": FIRST.mandates},
            "a key under a held identifier": {"keys": (binding("key_two", 8), binding("key_one", 9))},
            "the same key": {"keys": FIRST.keys},
            "a held key for another owner": {"keys": (binding(principal_id="prn_one"),)},
            "an approval that is used up": {"consumed": {"apr_two": "b" * 64, "apr_one": "b" * 64}},
            "an idempotency key": {"idempotency": replace(FIRST.idempotency, content_hash="d" * 64)},
            "the same idempotency key": {"idempotency": FIRST.idempotency},
        }.items():
            with self.subTest(name):
                self.assertFalse(self.store.commit(replace(SECOND, **change)))
                self.assertEqual(dump(self.store), before)
        self.assertTrue(self.store.commit(SECOND))

    def test_a_defect_while_writing_leaves_nothing(self):
        self.store.commit(FIRST)
        before = dump(self.store)
        for name, change in {
            "an object that is no JSON": {"objects": (document("off_two", note=object()),)},
            "an object without identifier": {"objects": ({"transaction_id": "txn_one"},)},
            "a result that is no JSON": {"idempotency": Idempotency("scope_two", "d" * 64, {"x": object()})},
        }.items():
            with self.subTest(name):
                with self.assertRaises((TypeError, KeyError)):
                    self.store.commit(replace(SECOND, **change))
                self.assertEqual(dump(self.store), before)
        self.assertTrue(self.store.commit(SECOND))

    def test_an_act_judged_twice_is_kept_once(self):
        self.store.commit(FIRST)
        self.assertTrue(self.store.commit(replace(SECOND, acts=FIRST.acts)))
        self.assertEqual(self.store.acts("txn_one"), FIRST.acts)

    def test_a_mandate_alone_touches_no_transaction(self):
        self.assertTrue(self.store.commit(Batch(now=NOW, mandates=(mandate(),), keys=(binding(),))))
        self.assertEqual(self.store.transactions(10), (0, []))


class Reading(InMemory):

    def test_newest_instants(self):
        self.store.commit(FIRST)
        self.store.commit(replace(SECOND, transaction_id="txn_two", expected_revision=0, objects=(),
                                  signing_keys=frozenset({"key_one"})))
        for transaction_id, keys, newest in (
            ("txn_one", (), NOW), ("txn_two", (), LATER), (None, ["key_one"], LATER), (None, ["key_two"], LATER),
            ("txn_one", ["key_one"], LATER), ("txn_one", ["key_unknown"], NOW), (None, (), None), ("txn_no", (), None),
        ):
            with self.subTest(transaction_id=transaction_id, keys=keys):
                self.assertEqual(self.store.newest(transaction_id, keys), newest)

    def test_a_keys_newest_instant_never_moves_back(self):
        self.store.commit(replace(FIRST, now=LATER))
        self.store.commit(Batch(now=NOW, signing_keys=frozenset({"key_one"})))
        self.assertEqual(self.store.newest(None, ["key_one"]), LATER)

    def test_mandates_by_either_key_each_once(self):
        same = {"id": "mnd_same", "issuer": {"key_id": "key_x"}, "subject": {"key_id": "key_x"}}
        self.store.commit(Batch(now=NOW, mandates=(mandate(), same)))
        for key_id, found in (("key_issuer", ["mnd_one"]), ("key_subject", ["mnd_one"]), ("key_x", ["mnd_same"]),
            ("key_y", [])):
            with self.subTest(key_id=key_id):
                self.assertEqual([each["id"] for each in self.store.mandates_naming(key_id)], found)

    def test_the_newest_transactions_and_their_count(self):
        for number in range(5):
            self.store.commit(Batch(now=NOW, transaction_id=f"txn_{number}"))
        self.store.commit(Batch(now=LATER, transaction_id="txn_0", expected_revision=1))
        self.assertEqual(self.store.transactions(3), (5, ["txn_4", "txn_3", "txn_2"]))

    def test_identifiers_are_data_never_statements(self):
        name = "off_'; DROP TABLE objects; --"
        self.store.commit(Batch(now=NOW, transaction_id="txn_one", objects=(document(name),)))
        self.assertEqual(self.store.held_object(name)["id"], name)
        self.assertEqual(len(self.store.holdings("txn_one").objects), 1)


class ReadOnce(unittest.TestCase):
    """What a process has read of a transaction it does not read again, and what others add it sees."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.one, self.other = (SqliteStore.open(Path(folder.name)) for _ in range(2))
        self.addCleanup(self.one.close)
        self.addCleanup(self.other.close)
        self.one.commit(FIRST)

    def test_what_another_process_adds_is_seen(self):
        first = self.one.holdings("txn_one")
        self.assertTrue(self.other.commit(SECOND))
        held = self.one.holdings("txn_one")
        self.assertEqual([each["id"] for each in held.objects], ["off_one", "off_two"])
        self.assertEqual((first.revision, held.revision), (1, 2))
        self.assertEqual(held, self.other.holdings("txn_one"))

    def test_the_same_revision_is_the_same_value(self):
        self.assertIs(self.one.holdings("txn_one"), self.one.holdings("txn_one"))

    def test_a_row_changed_afterwards_changes_nothing_that_was_read(self):
        before = self.one.holdings("txn_one")
        self.other._connection.execute("UPDATE objects SET body = '{}' WHERE id = 'off_one'")
        self.assertEqual(self.one.holdings("txn_one"), before)
        with self.assertRaises(DamagedError):
            SqliteStore(self.other._file).holdings("txn_one")

    def test_a_transaction_that_was_taken_back_is_damaged(self):
        self.one.holdings("txn_one")
        for statement in ("DELETE FROM objects", "DELETE FROM commits"):
            self.other._connection.execute(statement)
        with self.assertRaises(DamagedError):
            self.one.holdings("txn_one")

    def test_no_more_transactions_are_kept_than_it_says(self):
        for number in range(_HELD + 5):
            name = f"txn_{number}"
            self.one.commit(Batch(now=NOW, transaction_id=name, objects=(document(f"off_{number}", name),)))
            self.one.holdings(name)
        self.assertEqual(len(self.one._read), _HELD)


class OnDisk(unittest.TestCase):

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.state_dir = Path(folder.name) / "deep" / "state"

    def open(self):
        store = SqliteStore.open(self.state_dir)
        self.addCleanup(store.close)
        return store

    def test_reopened_as_it_was(self):
        store = self.open()
        store.commit(FIRST)
        store.commit(SECOND)
        before = dump(store)
        store.close()
        self.assertEqual(dump(self.open()), before)

    def test_what_was_acknowledged_is_there_without_closing(self):
        self.open().commit(FIRST)
        self.assertEqual(self.open().holdings("txn_one").objects, FIRST.objects)

    def test_of_two_writers_from_one_revision_one_wins(self):
        one, other = self.open(), self.open()
        one.commit(FIRST)
        self.assertEqual(other.holdings("txn_one").revision, 1)
        self.assertTrue(other.commit(SECOND))
        before = dump(one)
        rival = Batch(now=LATER, transaction_id="txn_one", expected_revision=1, objects=(document("off_three"),))
        self.assertFalse(one.commit(rival))
        self.assertEqual(dump(other), before)
        self.assertTrue(one.commit(replace(rival, expected_revision=2)))

    def test_of_two_first_commits_one_wins(self):
        one, other = self.open(), self.open()
        self.assertTrue(one.commit(Batch(now=NOW, transaction_id="txn_one", objects=(document(),))))
        self.assertFalse(other.commit(Batch(now=NOW, transaction_id="txn_one", objects=(document("off_two"),))))
        self.assertEqual(other.holdings("txn_one").objects, (document(),))

    def test_only_its_owner_may_read(self):
        store = self.open()
        store.commit(FIRST)
        self.assertEqual(stat.S_IMODE(self.state_dir.stat().st_mode), 0o700)
        files = list(self.state_dir.iterdir())
        self.assertIn(FILE_NAME, [file.name for file in files])
        for file in files:
            with self.subTest(file=file.name):
                self.assertEqual(stat.S_IMODE(file.stat().st_mode), 0o600)

    def test_a_state_of_another_format_is_not_read(self):
        self.open().close()
        connection = sqlite3.connect(self.state_dir / FILE_NAME)
        connection.execute("UPDATE meta SET value = '99'")
        connection.commit()
        connection.close()
        with self.assertRaises(sqlite3.DatabaseError):
            SqliteStore.open(self.state_dir)

    def test_a_file_that_is_no_state(self):
        self.state_dir.mkdir(parents=True)
        (self.state_dir / FILE_NAME).write_bytes(b"hello " * 1000)
        with self.assertRaises(sqlite3.Error):
            SqliteStore.open(self.state_dir)

    def test_a_path_that_is_no_directory(self):
        self.state_dir.parent.mkdir(parents=True)
        self.state_dir.write_text("a file")
        with self.assertRaises(OSError):
            SqliteStore.open(self.state_dir)

    def test_every_commit_is_synced(self):
        store = self.open()
        self.assertEqual(store._connection.execute("PRAGMA journal_mode").fetchone(), ("wal",))
        self.assertEqual(store._connection.execute("PRAGMA synchronous").fetchone(), (2,))

    def test_a_public_key_comes_back_with_its_owner(self):
        for scalar, key in ((7, binding()), (8, binding("key_two", 8, principal_id="prn_one"))):
            self.open().commit(Batch(now=NOW, keys=(key,), signers=(signer(key.key_id, scalar),)))
            self.assertEqual(self.open().key(key.key_id), key)

    def test_a_binding_that_its_own_key_did_not_sign_is_no_key(self):
        for scalar in (None, 9):
            with self.subTest(scalar=scalar):
                signers = () if scalar is None else (signer("key_one", scalar),)
                store = SqliteStore.open(None)
                store.commit(Batch(now=NOW, keys=(binding(),), signers=signers))
                self.assertIsNone(store.key("key_one"))

    def test_no_private_key_is_in_the_file(self):
        desk = Desk(store=self.open()).introduce()
        desk.form()
        desk.workspace.close()
        data = b"".join(file.read_bytes() for file in self.state_dir.iterdir())
        self.assertIn(b"key_northstar_agent_01", data)
        for text in (b'"d":', b"PRIVATE KEY", b"private"):
            with self.subTest(text=text):
                self.assertNotIn(text, data)
        bodies = [json.loads(body) for (body,) in SqliteStore.open(self.state_dir)._connection.execute(
            "SELECT body FROM keys")]
        self.assertEqual(len(bodies), 4)
        for body in bodies:
            self.assertEqual(body.keys(), {"owner", "public_key_jwk", "valid_from"})
            self.assertEqual(body["public_key_jwk"].keys(), {"kty", "crv", "x", "y"})
