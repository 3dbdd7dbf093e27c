"""What is remembered beside a record: with its act or not at all, and only where the state is as it was read."""

import contextlib
import sqlite3
import tempfile
import unittest
from pathlib import Path

from a202_mcp.one_owner.book import BookStore, Write, batch_with, storable
from a202_mcp.store import Batch
from a202_reference.keys import KeyBinding, Owner, PrivateKey
from a202_reference.signing import Signer
from a202_reference.times import parse_instant

NOW = "2026-11-30T10:00:00Z"
FIRST = Write("INSERT INTO things VALUES (?, ?)", ("a", 1))
TAKEN = Write("INSERT INTO things VALUES (?, ?)", ("a", 2))
SECOND = Write("INSERT INTO things VALUES (?, ?)", ("b", 1))
MOVED = Write("UPDATE things SET count = 3 WHERE name = ? AND count = ?", ("a", 7), exactly_one=True)
MOVES = Write("UPDATE things SET count = 3 WHERE name = ? AND count = ?", ("a", 1), exactly_one=True)
LOOSE = Write("UPDATE things SET count = 3 WHERE name = ?", ("nobody",))


class Store(BookStore):
    TABLES = "CREATE TABLE IF NOT EXISTS things (name TEXT PRIMARY KEY, count INTEGER NOT NULL);"

    def things(self):
        return dict(self._connection.execute("SELECT name, count FROM things"))


class Books(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.store = self.opened()
        self.assertTrue(self.store.remember([FIRST]))

    def opened(self):
        store = Store.open(self.folder)
        self.addCleanup(store.close)
        return store

    def test_statements_are_written_whole_or_not_at_all(self):
        for writes, expected in (((SECOND, TAKEN), None), ((SECOND, MOVED), None), ((MOVES, SECOND), {"a": 3, "b": 1}),
                                 ((LOOSE,), {"a": 3, "b": 1}), ((), {"a": 3, "b": 1})):
            with self.subTest([write.statement for write in writes]):
                self.assertEqual(self.store.remember(writes), expected is not None)
                self.assertEqual(self.store.things(), expected or {"a": 1})

    def test_an_act_and_what_is_remembered_of_it_are_one_commit(self):
        signer = Signer("key_of_somebody", PrivateKey.generate())
        binding = KeyBinding(
            signer.key_id, Owner("org_works", principal_id="prn_works"), signer.key.public, parse_instant(NOW))
        batch = Batch(now=NOW, keys=(binding,), signing_keys=frozenset({signer.key_id}), signers=(signer,))
        for writes, written in (((SECOND, TAKEN), False), ((SECOND,), True)):
            self.assertEqual(self.store.commit(batch_with(batch, writes)), written)
            self.assertEqual(self.store.key(signer.key_id) is not None, written)
            self.assertEqual("b" in self.store.things(), written)

    def test_any_text_can_be_kept(self):
        for text in ("plain", "\ud800", "é\udfff"):
            with self.subTest(ascii(text)):
                kept = storable(text)
                self.assertTrue(self.store.remember([Write("INSERT INTO things VALUES (?, ?)", (kept, 1))]))
                self.assertIn(kept, self.store.things())
        self.assertEqual(storable("\ud800"), r"\ud800")

    def test_while_one_decides_nobody_else_writes(self):
        rival = self.opened()
        rival._connection.execute("PRAGMA busy_timeout = 0")
        with self.store.deciding():
            self.assertEqual(self.store.things(), {"a": 1})
            with self.assertRaises(sqlite3.OperationalError):
                rival.remember([SECOND])
            self.assertTrue(self.store.remember([MOVES]))
            self.assertEqual(rival.things(), {"a": 1})
        self.assertEqual(rival.things(), {"a": 3})
        self.assertTrue(rival.remember([SECOND]))
        self.assertEqual(self.store.things(), {"a": 3, "b": 1})

    def test_an_error_takes_back_its_own_part_of_a_decision_and_no_more(self):
        for inner, outer, expected in (
                (False, False, {"a": 3, "b": 1}), (True, False, {"a": 3}), (False, True, {"a": 1}),
                (True, True, {"a": 1})):
            with self.subTest(inner=inner, outer=outer):
                with contextlib.suppress(LookupError):
                    self.decided(inner, outer)
                self.assertEqual(self.opened().things(), expected)
                with self.store.deciding():
                    self.store.remember([Write("DELETE FROM things", ()), FIRST])

    def decided(self, inner, outer):
        """Two parts, one inside of the other, and which of them fails."""
        with self.store.deciding():
            self.store.remember([MOVES])
            with contextlib.suppress(LookupError), self.store.deciding():
                self.store.remember([SECOND])
                if inner:
                    raise LookupError
            if outer:
                raise LookupError

    def test_a_record_that_was_taken_back_is_no_damage(self):
        signer = Signer("key_of_somebody", PrivateKey.generate())
        binding = KeyBinding(
            signer.key_id, Owner("org_works", principal_id="prn_works"), signer.key.public, parse_instant(NOW))
        first = Batch(now=NOW, transaction_id="txn_works_1", keys=(binding,), signing_keys=frozenset({signer.key_id}),
                      signers=(signer,))
        second = Batch(now=NOW, transaction_id="txn_works_1", expected_revision=1, signers=(signer,),
                       objects=({"id": "off_works_1", "transaction_id": "txn_works_1"},))
        self.assertTrue(self.store.commit(first))
        with contextlib.suppress(LookupError), self.store.deciding():
            self.assertTrue(self.store.commit(second))
            self.assertEqual(len(self.store.holdings("txn_works_1").objects), 1)
            raise LookupError
        held = self.store.holdings("txn_works_1")
        self.assertEqual((held.revision, held.objects), (1, ()))
        self.assertTrue(self.store.commit(second))

    def test_a_lost_place_inside_of_a_decision_leaves_the_rest_of_it(self):
        with self.store.deciding():
            self.assertTrue(self.store.remember([SECOND]))
            self.assertFalse(self.store.remember([Write("INSERT INTO things VALUES ('c', 1)", ()), TAKEN]))
        self.assertEqual(self.store.things(), {"a": 1, "b": 1})
