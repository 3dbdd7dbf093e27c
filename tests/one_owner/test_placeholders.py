"""Counterparties without identity: one caller is one placeholder under one key, and nothing elsewhere."""

import unittest

from a202_mcp.one_owner.placeholders import counterparty, placeholder

KEY = bytes(32)


class Placeholders(unittest.TestCase):
    def test_the_digits_are_the_first_32_of_the_hmac(self):
        self.assertEqual(placeholder(KEY, '["axp","b1"]'), "730f2b130c1f8d518d79dc399193fb50")

    def test_other_keys_and_other_callers_are_others(self):
        said = ('["own","a"]', '["own","b"]', '["pass","a"]', '["own","\ud800"]', '["own","é"]')
        digits = {placeholder(key, text) for key in (KEY, b"\x01" * 32) for text in said}
        self.assertEqual(len(digits), 10)
        self.assertTrue(all(len(each) == 32 for each in digits))

    def test_a_placeholder_names_an_organisation_and_an_agent_outside(self):
        party = counterparty("0" * 32)
        self.assertEqual((party.organization_id, party.agent_id), (f"org_ext_{'0' * 32}", f"agt_ext_{'0' * 32}"))
