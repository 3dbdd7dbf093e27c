"""Design, "All or nothing"; surface 4: what was acknowledged is on disk, whoever kills the server and whenever."""

import sqlite3
import tempfile
import unittest
from pathlib import Path

from a202_mcp.store import FILE_NAME
from harness.crash import crash
from harness.examine import Examiner
from tests.bilateral.parties import TRANSACTION
from tests.harness.state import Kept


class Crash(unittest.TestCase):

    def test_nothing_acknowledged_is_lost_and_nothing_is_half_there(self):
        with tempfile.TemporaryDirectory() as folder:
            figures = crash(8, 5, Path(folder) / "state")
        self.assertEqual(figures.lost + figures.faults, [])
        self.assertGreaterEqual(figures.kills, 8)
        self.assertGreater(figures.acknowledged, 0)

    def test_the_harness_notices_what_is_gone(self):
        with tempfile.TemporaryDirectory() as folder:
            place = Path(folder)
            kept = Kept(place)
            identifier = kept.agreement["agreement_id"]
            with Examiner(place / "kept") as examiner:
                self.assertEqual(examiner.missing([identifier, "off_unknown_01"]), ["off_unknown_01"])
                checks, faults = examiner.verify(TRANSACTION)
                self.assertGreater(checks, 100)
                self.assertEqual(faults, [])
            connection = sqlite3.connect(place / "kept" / FILE_NAME)
            connection.execute("DELETE FROM objects WHERE id = ?", (identifier,))
            connection.commit()
            connection.close()
            with Examiner(place / "kept") as examiner:
                self.assertEqual(examiner.missing([identifier]), [identifier])
                self.assertIn(identifier, str(examiner.verify(TRANSACTION)[1]))


if __name__ == "__main__":
    unittest.main()
