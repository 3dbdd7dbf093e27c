"""What is remembered beside a record: with its act or not at all, and only where the state is as it was read."""

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
        self.store = Store.open(Path(folder.name))
        self.addCleanup(self.store.close)
        self.assertTrue(self.store.remember([FIRST]))

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
