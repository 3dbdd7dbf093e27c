"""A mandate is judged once for the document that is held, and never on another document's behalf."""

import unittest
from types import SimpleNamespace

from a202_mcp.recording import mandate_gate
from a202_mcp.shelf import KEPT, MandateShelf
from a202_reference.codes import Code

MANDATE = {
    "spec_version": "a202-mandate/0.1",
    "id": "mnd_shelf_01",
    "valid_from": "2026-02-02T00:00:00Z",
    "valid_until": "2026-01-01T00:00:00Z",
}


class Counting:
    """A store that counts how often a mandate is read from it."""

    def __init__(self):
        self.reads = 0

    def mandate(self, mandate_id):
        self.reads += 1
        return None if mandate_id.endswith("unknown") else {**MANDATE, "id": mandate_id}


class Shelf(unittest.TestCase):
    def setUp(self):
        self.store = Counting()
        self.shelf = MandateShelf(self.store)

    def test_a_held_mandate_is_read_once_and_judged_as_the_gate_judges_it(self):
        held = self.shelf.get("mnd_shelf_01")
        self.assertIs(self.shelf.get("mnd_shelf_01"), held)
        self.assertEqual(self.store.reads, 1)
        self.assertEqual(self.shelf.gate(held), mandate_gate(held))
        self.assertIn(Code.MANDATE_INTERVAL_INVALID, self.shelf.gate(held)[1])

    def test_another_document_under_the_same_identifier_is_judged_by_its_own_bytes(self):
        held = self.shelf.get("mnd_shelf_01")
        altered = {**held, "valid_until": "2026-03-03T00:00:00Z"}
        self.assertEqual(self.shelf.gate(altered), mandate_gate(altered))
        self.assertNotIn(Code.MANDATE_INTERVAL_INVALID, self.shelf.gate(altered)[1])

    def test_a_hostile_identifier_is_judged_and_never_raises(self):
        for identifier in (None, 5, [], {}, "mnd_nobody"):
            with self.subTest(identifier=identifier):
                document = {**MANDATE, "id": identifier}
                self.assertEqual(self.shelf.gate(document), mandate_gate(document))

    def test_what_is_not_held_is_asked_for_again(self):
        self.assertIsNone(self.shelf.get("mnd_unknown"))
        self.assertIsNone(self.shelf.get("mnd_unknown"))
        self.assertEqual(self.store.reads, 2)

    def test_the_shelf_keeps_the_mandates_used_last(self):
        shelf = MandateShelf(SimpleNamespace(mandate=lambda mandate_id: {"id": mandate_id}))
        first = shelf.get("mnd_0")
        second = shelf.get("mnd_1")
        for number in range(2, KEPT + 1):
            shelf.get("mnd_0")
            shelf.get(f"mnd_{number}")
        self.assertIs(shelf.get("mnd_0"), first)
        self.assertIsNot(shelf.get("mnd_1"), second)


if __name__ == "__main__":
    unittest.main()
