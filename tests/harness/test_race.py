"""Issue of several processes: nothing lost, no fork, one winner where one may win, one public key for an identifier."""

import tempfile
import unittest
from pathlib import Path

from harness.race import Figures, _unexpected, appends_of, race

SETUP = 5
"""Four mandates and the agreement on which the approvals are redeemed."""


class Race(unittest.TestCase):

    def test_three_processes_contend_and_none_loses_more_than_its_race(self):
        with tempfile.TemporaryDirectory() as folder:
            figures = race(3, 2, Path(folder) / "state")
        self.assertEqual(figures.faults, [])
        self.assertEqual(figures.appends, SETUP + 2 * appends_of(3))
        self.assertEqual(figures.refused, {
            "A202-APPROVAL-REQUIRED": 4, "A202-POLICY-DENIED": 4, "A202-STATE-TRANSITION-DENIED": 4})

    def test_the_harness_notices_a_loss_for_another_reason(self):
        told = [("redemption 1", "A202-POLICY-DENIED", {"detail": "x"}),
                ("keys 1", "A202-POLICY-DENIED", {"detail": "some other reason"}),
                ("keys 1", "A202-POLICY-DENIED", {"detail": "does not hold the private key of key_race_issuer_1"}),
                ("redemption 1", "recorded", {})]
        self.assertEqual(len(_unexpected(told)), 2)

    def test_figures_say_what_was_wrong(self):
        figures = Figures(2, faults=["commits are missing"])
        self.assertIn("commits are missing", figures.lines())


if __name__ == "__main__":
    unittest.main()
