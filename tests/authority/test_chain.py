"""Rules 3.5 step 6: parents resolve up to a root, at most 8 hops, no loop; what is not obtainable is unproven."""

import unittest

from a202_reference.authority.chain import resolve_chain
from a202_reference.documents.mandate import Mandate
from tests.authority.mandates import chain, gate, mandate

WIDENING = "A202-MANDATE-DELEGATION-WIDENING"


def resolved(acting, *held):
    documents = {document["id"]: document for document in held}
    return resolve_chain(Mandate.of(acting), documents.get, gate)


class Resolution(unittest.TestCase):

    def test_a_root_stands_alone(self):
        found = resolved(mandate())
        self.assertEqual([member.id for member in found.nearest_first], ["mnd_root"])
        self.assertEqual(found.faults, ())

    def test_nearest_first_and_root_first(self):
        *above, acting = chain(3)
        found = resolved(acting, *above)
        self.assertEqual([member.id for member in found.nearest_first], ["mnd_level_2", "mnd_level_1", "mnd_level_0"])
        self.assertEqual([member.id for member in found.root_first], ["mnd_level_0", "mnd_level_1", "mnd_level_2"])
        self.assertEqual(found.acting.id, "mnd_level_2")
        self.assertEqual(found.faults, ())

    def test_8_hops_and_not_9(self):
        for hops, codes in ((8, []), (9, [WIDENING]), (30, [WIDENING])):
            *above, acting = [
                mandate(id=f"mnd_at_{at}", parent_mandate_id=f"mnd_at_{at - 1}" if at else None)
                for at in range(hops + 1)]
            with self.subTest(hops=hops):
                self.assertEqual([code.value for code, _ in resolved(acting, *above).faults], codes)

    def test_a_loop_is_refused(self):
        one = mandate(id="mnd_one", parent_mandate_id="mnd_two")
        two = mandate(id="mnd_two", parent_mandate_id="mnd_one")
        own = mandate(id="mnd_own", parent_mandate_id="mnd_own")
        for acting, held in ((one, (one, two)), (own, (own,)), (mandate(parent_mandate_id="mnd_one"), (one, two))):
            with self.subTest(acting=acting["id"]):
                self.assertEqual([code.value for code, _ in resolved(acting, *held).faults], [WIDENING])

    def test_a_parent_that_is_not_held(self):
        found = resolved(mandate(parent_mandate_id="mnd_missing"))
        self.assertEqual([code.value for code, _ in found.faults], [WIDENING])
        self.assertIn("mnd_missing", found.faults[0][1])

    def test_a_parent_that_is_no_mandate(self):
        for name, broken in (
            ("no members", {"id": "mnd_upper"}), ("an extra member", {**mandate(id="mnd_upper"), "note": "x"}),
            ("no actions", mandate(id="mnd_upper", actions=[])),
        ):
            with self.subTest(name):
                acting = mandate(parent_mandate_id="mnd_upper")
                found = resolve_chain(Mandate.of(acting), {"mnd_upper": broken}.get, gate)
                self.assertIn(WIDENING, [code.value for code, _ in found.faults])
                self.assertEqual([member.id for member in found.nearest_first], ["mnd_root"])

    def test_a_parents_own_faults_keep_their_codes(self):
        up = mandate(id="mnd_upper", valid_from="2026-09-01T00:00:00Z", valid_until="2026-08-01T00:00:00Z")
        found = resolved(mandate(parent_mandate_id="mnd_upper"), up)
        self.assertEqual([code.value for code, _ in found.faults], ["A202-MANDATE-INTERVAL-INVALID"])
