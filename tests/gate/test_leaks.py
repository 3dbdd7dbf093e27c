"""The leak filters are literal, and other scripts hide nothing (rules 12.8, D-43)."""

import unittest

from a202_reference.gate.leaks import holds_secret, names_rival, tells_too_much

KNOWN = frozenset({"org_brightwater", "agt_brightwater_buyer", "org_fernhill", "agt_fernhill_seller"})


class Hints(unittest.TestCase):
    def test_credentials(self) -> None:
        for hint in ("Bearer abc", "AUTHORIZATION: x", "a?api_key=1", "a?api-key=1", "a?apikey=1", "access_token",
                     "access-token", "accesstoken", "my secret place", "password", "\u017fecret", "\xe9secret",
                     "secret\xe9", "(password)"):
            with self.subTest(hint):
                self.assertTrue(holds_secret(hint))

    def test_other_words(self) -> None:
        for hint in ("my_access_token", "secrets", "secretary", "forbearers", "passwords1", "api key", "", "token"):
            with self.subTest(hint):
                self.assertFalse(holds_secret(hint))


class MemberNames(unittest.TestCase):
    def test_parts_of_names_in_any_case(self) -> None:
        for name in ("bid_count", "Total_Bid_Count_", "RANKING", "frank", "Competing", "rivals", "be\u017ft_price",
                     "other_bidder"):
            with self.subTest(name):
                self.assertTrue(names_rival(name))
        for name in ("bid", "count", "best", "price", "offer_id", "ran_k"):
            with self.subTest(name):
                self.assertFalse(names_rival(name))


class Descriptions(unittest.TestCase):
    def test_what_tells_too_much(self) -> None:
        for text in (
            "org_quayside was there", "see off_quayside_01", "acc_x12", "(agt_quayside_trader)", "\xe9org_quayside\xe9",
            "EUR 100", "EUR100.50", "EUR\xa0100", "100,50 EUR", "100.50EUR", "a rival firm", "ranked third",
            "org_fernhill-", "frankly",
        ):
            with self.subTest(text):
                self.assertTrue(tells_too_much(text, KNOWN - {"org_fernhill"} if "fernhill" in text else KNOWN))

    def test_what_does_not(self) -> None:
        for text in (
            "org_fernhill did not sign", "agt_brightwater_buyer.", "org_fernhill-", "org_ab", "xorg_quayside",
            "100 EUR", "eur 100", "EURO 100", "100.5 EUR", "", "off the record",
        ):
            with self.subTest(text):
                self.assertFalse(tells_too_much(text, KNOWN))


if __name__ == "__main__":
    unittest.main()
