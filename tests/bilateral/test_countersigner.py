"""The party that does not act signs beside the one that does only while its own mandate is valid (surface 2; D-18)."""

import unittest
from datetime import timedelta

from a202_reference.times import format_instant
from tests.bilateral.parties import Desk, RefusalCase, supplier_mandate
from tests.bilateral.test_record_obligation_respond import asserted


class Countersigner(RefusalCase):
    def test_a_mandate_that_has_ended_signs_nothing_more(self):
        desk, obligation, assertion = asserted()
        ended = desk.party(desk.done("issue_mandate", _short(desk))["mandate"])
        desk.clock.now += timedelta(seconds=120)
        for name, arguments in {
            "issue": {**desk.issuance(), "obligor": ended},
            "respond": {**desk.response("accept", assertion), "counterparty": ended},
            "waive": {**desk.response("waive", obligation), "counterparty": ended},
        }.items():
            with self.subTest(name):
                self.assert_refused(desk, "record_obligation", arguments, "A202-MANDATE-INACTIVE")

    def test_a_record_keeps_the_rules_version_of_its_first_event(self):
        desk, _, assertion = asserted()
        for version in ("1.0", "1.1", "1.2"):
            for name, arguments in {"issue": desk.issuance(), "respond": desk.response("accept", assertion)}.items():
                with self.subTest(name, version=version):
                    self.assert_refused(desk, "record_obligation", {**arguments, "rules_version": version},
                                        "A202-STATE-TRANSITION-DENIED")
        answer = desk.done("record_obligation", {**desk.response("accept", assertion), "rules_version": "1.3"})
        self.assertEqual(answer["state"], "settlement_pending")


class Profiles(RefusalCase):
    def test_an_unknown_profile_is_told_which_are_registered(self):
        desk = Desk().introduce()
        arguments = desk.formation()
        arguments["terms"] = {**arguments["terms"], "profile": "a202-profile/nowhere/0.1"}
        refusal = self.assert_refused(desk, "create_agreement", arguments, "A202-PROFILE-UNKNOWN")
        self.assertIn("a202-profile/calibration-service/0.1", refusal.detail)

    def test_terms_that_a_profile_refuses_are_told_the_member(self):
        desk = Desk().introduce()
        arguments = desk.formation()
        profile_terms = {**arguments["terms"]["profile_terms"]}
        del profile_terms["rework"]
        arguments["terms"] = {**arguments["terms"], "profile_terms": profile_terms}
        refusal = self.assert_refused(desk, "create_agreement", arguments, "A202-PROFILE-TERMS-INVALID")
        self.assertIn("rework", refusal.detail)


def _short(desk):
    return supplier_mandate(valid_until=format_instant(desk.clock.now + timedelta(seconds=60)))


if __name__ == "__main__":
    unittest.main()
