"""The owner's limits as a mandate, how long it stands, and when its switch can be turned."""

import unittest
from datetime import UTC, datetime, timedelta
from decimal import Decimal

from a202_mcp.one_owner.identity import Identity
from a202_mcp.one_owner.limits import Grant, TotalLimits, local_status, signed, stands
from a202_mcp.one_owner.switch import TURNS, fixed, switched
from a202_reference.keys import PrivateKey
from a202_reference.signing import Signer

NOW = datetime(2026, 11, 30, 10, 0, tzinfo=UTC)
WHO = Identity.minted("org_works", "a1b2c3d4e5f6a1b2c3d4e5f6")
CEILING = ("c_total_amount", "maximum", "100.00", "deny")
DOLLARS = ("c_total_currency", "equals", "USD", "deny")
LIMITS = (
    (TotalLimits(Decimal("100.00")), [CEILING]),
    (TotalLimits(Decimal("100.00"), "USD"), [CEILING, DOLLARS]),
    (TotalLimits(Decimal("100.00"), "USD", Decimal("50")),
     [CEILING, DOLLARS, ("c_ask_above", "maximum", "50", "require_approval")]),
    (TotalLimits(Decimal("100.00"), "USD", None, Decimal("5.00")),
     [CEILING, DOLLARS, ("c_total_minimum", "minimum", "5.00", "deny")]),
    (TotalLimits(Decimal("0")), [("c_total_amount", "maximum", "0", "deny")]),
    (TotalLimits(Decimal("100.005")), [("c_total_amount", "maximum", "100.005", "deny")]),
)


class Mandates(unittest.TestCase):
    def test_limits_are_constraints_of_exactly_what_the_owner_wrote(self):
        for limits, expected in LIMITS:
            with self.subTest(limits):
                self.assertEqual([(each["id"], each["operator"], each["value"], each["on_failure"])
                                  for each in limits.constraints], expected)

    def test_a_grant_is_a_mandate_from_the_owner_to_the_agent(self):
        grant = Grant(("offer.submit",), "sales.direct", LIMITS[3][0], 30)
        owner = Signer(WHO.owner_key_id, PrivateKey.generate())
        document = signed(grant.mandate(WHO, "mnd_works_1", NOW), owner)
        self.assertEqual(document["issuer"]["key_id"], WHO.owner_key_id)
        self.assertEqual(document["subject"], {"agent_id": WHO.agent_id, "key_id": WHO.agent_key_id})
        self.assertEqual((document["valid_from"], document["valid_until"]),
                         ("2026-11-30T10:00:00Z", "2026-12-30T10:00:00Z"))
        self.assertEqual(document["status_endpoint"], local_status("mnd_works_1"))
        elsewhere = Grant(("offer.submit",), "sales.direct", LIMITS[3][0], 30, "https://works.example/status")
        self.assertEqual(elsewhere.mandate(WHO, "mnd_works_1", NOW)["status_endpoint"], "https://works.example/status")

    def test_limits_that_say_nonsense_are_not_signed(self):
        grant = Grant((), "sales.direct", LIMITS[0][0], 30)
        with self.assertRaises(ValueError):
            signed(grant.mandate(WHO, "mnd_works_1", NOW), Signer(WHO.owner_key_id, PrivateKey.generate()))

    def test_a_mandate_stands_until_its_end_or_its_revocation(self):
        document = Grant(("offer.submit",), "sales.direct", LIMITS[3][0], 1).mandate(WHO, "mnd_works_1", NOW)
        last = NOW + timedelta(days=1) - timedelta(seconds=1)
        for held, status, now, expected in (
                (document, "active", NOW, True), (document, "suspended", NOW, True), (document, "revoked", NOW, False),
                (document, "active", last, True), (document, "active", last + timedelta(seconds=1), False),
                (None, "active", NOW, False)):
            with self.subTest(status=status, now=now):
                self.assertEqual(stands(held, status, now), expected)


class Switches(unittest.TestCase):
    def test_a_mandate_that_nobody_switched_is_active(self):
        self.assertEqual(switched(None), "active")
        self.assertEqual(switched({"status": "suspended"}), "suspended")

    def test_revoked_is_final_and_an_address_leaves_no_switch(self):
        for status, address, why in (
                ("active", None, None), ("suspended", None, None), ("revoked", None, "revoked, and that is final"),
                ("active", "address", "answered by mandate.status_url"), ("revoked", "address", "mandate.status_url")):
            with self.subTest(status=status, address=address):
                found = fixed("mnd_works_1", status, address)
                self.assertIn(why, found) if why else self.assertIsNone(found)

    def test_the_owner_s_words(self):
        self.assertEqual({word: status.value for word, status in TURNS.items()},
                         {"suspend": "suspended", "resume": "active", "revoke": "revoked"})
