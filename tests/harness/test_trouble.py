"""Surface 4 and 7: a state that cannot be used is told in words, without a path and without a policy code."""

import asyncio
import contextlib
import io
import sqlite3
import tempfile
import unittest
from functools import partial
from pathlib import Path
from unittest import mock

from mcp.shared.exceptions import MCPError

from a202_mcp import state_file
from a202_mcp.bilateral.server import Desk as CallDesk
from a202_mcp.store import FILE_NAME, SqliteStore
from a202_mcp.tables import FORMAT
from a202_mcp.workspace import Workspace
from tests.bilateral.parties import Desk, buyer_mandate, supplier_mandate

PREFIX = "The state directory cannot be used"
OLD_SCHEMA = (
    "CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
    "CREATE TABLE objects (position INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, transaction_id TEXT, body TEXT)",
    "INSERT INTO meta VALUES ('format', '1')")


def new_mandate(**more):
    """Arguments of issue_mandate under keys that nobody has seen."""
    return buyer_mandate(
        issuer={"organization_id": "org_northstar", "principal_id": "prn_new_01", "key_id": "key_new_principal_01"},
        subject={"agent_id": "agt_new_01", "key_id": "key_new_agent_01"}, **more)


class Trouble(unittest.TestCase):

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.place = Path(folder.name) / "state"
        self.file = self.place / FILE_NAME

    def server(self):
        """The thread that runs calls, over this directory."""
        desk = CallDesk(partial(Workspace.open, self.place))
        self.addCleanup(desk.close, 5)
        return desk

    def told(self, desk, work=lambda workspace: workspace.record("txn_nothing_01")):
        """What a client reads where the state cannot be used."""
        with contextlib.redirect_stderr(io.StringIO()) as said, self.assertRaises(MCPError) as raised:
            asyncio.run(desk.run("a call", work))
        text = raised.exception.error.message
        self.assertTrue(text.startswith(PREFIX), text)
        for absent in (str(self.place), FILE_NAME, "A202-P", "A202-E", "Traceback"):
            self.assertNotIn(absent, text)
        self.assertIn("the state directory cannot be used", said.getvalue())
        self.assertNotIn("defect", said.getvalue())
        return text

    def write(self, *statements):
        self.place.mkdir(exist_ok=True)
        connection = sqlite3.connect(self.file)
        for statement in statements:
            connection.execute(statement)
        connection.commit()
        connection.close()

    def kept(self):
        desk = Desk(store=SqliteStore.open(self.place)).introduce()
        desk.form()
        desk.workspace.close()

    def test_a_state_of_the_old_format_is_refused_and_not_touched(self):
        self.write(*OLD_SCHEMA)
        before = self.file.read_bytes()
        text = self.told(self.server())
        self.assertIn(f"format 1, and this version reads format {FORMAT}", text)
        self.assertEqual(self.file.read_bytes(), before)

    def test_a_file_of_another_program_is_refused_and_not_touched(self):
        self.write("CREATE TABLE songs (name TEXT)")
        before = self.file.read_bytes()
        self.assertIn("written by another program", self.told(self.server()))
        self.assertEqual(self.file.read_bytes(), before)

    def test_a_file_that_is_no_database(self):
        self.place.mkdir()
        self.file.write_bytes(b"no database at all, and longer than a header of one hundred bytes " * 9)
        self.assertIn("is no state of this server", self.told(self.server()))

    def test_a_file_damaged_in_its_midst(self):
        self.kept()
        data = bytearray(self.file.read_bytes())
        data[4096:] = b"\xff" * (len(data) - 4096)
        self.file.write_bytes(data)
        self.assertIn("its file is damaged", self.told(self.server()))

    def test_a_file_that_another_program_holds_locked(self):
        self.kept()
        holder = sqlite3.connect(self.file, isolation_level=None)
        self.addCleanup(holder.close)
        holder.execute("BEGIN IMMEDIATE")
        with mock.patch.object(state_file, "WAIT_SECONDS", 0):
            server = self.server()
            asyncio.run(server.run("a call", lambda workspace: workspace.record("txn_nothing_01")))
            text = self.told(server, lambda workspace: Desk(workspace=workspace).call("issue_mandate", new_mandate()))
            self.assertIn("another program has it locked", text)
            holder.execute("ROLLBACK")
            self.assertIsNone(asyncio.run(server.run("a call", lambda workspace: workspace.record("txn_nothing_01"))))

    def test_a_disk_that_is_full_or_read_only_keeps_nothing_and_serves_again_when_it_is_not(self):
        large = {"actions": [f"offer.a{number}" for number in range(2000)]}  # more than a page holds
        for pragma, back, words in (
            ("max_page_count = 1", "max_page_count = 1000000", "the disk is full"),
            ("query_only = 1", "query_only = 0", "this user cannot write it"),
        ):
            with self.subTest(words):
                desk = Desk(store=SqliteStore.open(self.place))
                self.addCleanup(desk.workspace.close)
                connection = desk.workspace.store._connection
                connection.execute(f"PRAGMA {pragma}")
                before = desk.dump()
                server = CallDesk(lambda workspace=desk.workspace: workspace)
                self.assertIn(words, self.told(server, lambda _, d=desk: d.call("issue_mandate", new_mandate(**large))))
                self.assertEqual(desk.dump(), before)
                connection.execute(f"PRAGMA {back}")
                self.assertEqual(desk.done("issue_mandate", new_mandate(**large))["outcome"], "issued")
                self.unlink()

    def test_a_file_that_is_removed_or_replaced_takes_no_more_commits(self):
        for name, change in (
            ("removed", self.unlink), ("replaced", lambda: (self.unlink(), SqliteStore.open(self.place).close())),
        ):
            with self.subTest(name):
                desk = Desk(store=SqliteStore.open(self.place))
                self.addCleanup(desk.workspace.close)
                change()
                server = CallDesk(lambda workspace=desk.workspace: workspace)
                text = self.told(server, lambda _, d=desk: d.call("issue_mandate", supplier_mandate()))
                self.assertIn("was removed or replaced while this server ran", text)

    def unlink(self):
        for file in self.place.iterdir():
            file.unlink()

    def test_a_changed_record_is_told_with_the_part_that_was_changed(self):
        self.kept()
        self.write("DELETE FROM objects WHERE id LIKE 'agr%'")
        text = self.told(self.server(), lambda workspace: workspace.record("txn_calibration_demo_01"))
        self.assertRegex(text, "the object agr_[0-9a-f]+ is gone")
        self.assertIn("verify_evidence names every part", text)

    def test_a_defect_of_ours_is_none_of_the_state(self):
        for error in (sqlite3.ProgrammingError("x"), sqlite3.IntegrityError("x"), KeyError("x"), OSError("x")):
            with self.subTest(error):
                self.assertFalse(state_file.is_trouble(error))


if __name__ == "__main__":
    unittest.main()
