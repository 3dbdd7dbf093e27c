"""Rules 7: the published rule sets, triple for triple, with their hashes; design override 10."""

import unittest
from datetime import timedelta

from hypothesis import given

from a202_reference.lifecycle.rules import (
    APPEAL_WINDOW,
    CURRENT_VERSION,
    DISPUTE_WINDOW,
    GRANTS,
    OBLIGATION_STATES,
    RULE_IDS,
    RULE_SET_ID,
    RULE_SETS,
    SESSION_STATES,
    TERMINAL_STATES,
    TRANSACTION_STATES,
    resolve_rules,
    rule_set,
)
from tests.reference.strategies import PROPERTY, documents

HASHES = {
    "1.0": "11a2b3c4d5e6f708192a3b4c5d6e7f8091a2b3c4d5e6f708192a3b4c5d6e7f80",
    "1.1": "22b3c4d5e6f708192a3b4c5d6e7f8091a2b3c4d5e6f708192a3b4c5d6e7f8091",
    "1.2": "33c4d5e6f708192a3b4c5d6e7f8091a2b3c4d5e6f708192a3b4c5d6e7f8091a2",
    "1.3": "44d5e6f708192a3b4c5d6e7f8091a2b3c4d5e6f708192a3b4c5d6e7f8091a2b3",
}
COUNTS = {"1.0": 40, "1.1": 41, "1.2": 48, "1.3": 49}
TRANSACTION = """
    draft request.published published
    published qualification.started qualifying
    qualifying negotiation.opened negotiating
    negotiating offer.selected agreement_pending
    agreement_pending approval.rejected negotiating
    agreement_pending acceptance.withdrawn negotiating
    agreement_pending agreement.committed committed
    committed obligation.activated in_performance
    in_performance performance.declared acceptance_pending
    acceptance_pending acceptance.rejected in_performance
    acceptance_pending acceptance.granted settlement_pending
    settlement_pending settlement.instructed settlement_pending
    settlement_pending transaction.completed completed
    committed exception.opened exception_open
    in_performance exception.opened exception_open
    acceptance_pending exception.opened exception_open
    settlement_pending exception.opened exception_open
    exception_open remediation.accepted in_performance
    exception_open exception.resolved settlement_pending
    exception_open transaction.terminated terminated
    draft transaction.cancelled cancelled
    published transaction.cancelled cancelled
    qualifying transaction.cancelled cancelled
    negotiating transaction.cancelled cancelled
    agreement_pending transaction.cancelled cancelled
    draft deadline.elapsed expired
    published deadline.elapsed expired
    qualifying deadline.elapsed expired
    negotiating deadline.elapsed expired
    agreement_pending deadline.elapsed expired
"""
SESSION = """
    opened offer.submitted active
    active offer.submitted active
    active clarification.sent active
    active approval.requested paused_for_approval
    paused_for_approval approval.granted active
    paused_for_approval approval.rejected active
    active offer.accepted accepted
    active offer.withdrawn withdrawn
    active deadline.elapsed expired
    accepted session.closed closed
"""
ADDED = {
    "1.0": "",
    "1.1": "exception_open transaction.completed completed",
    "1.2": """
        committed termination.agreed terminated
        in_performance termination.agreed terminated
        acceptance_pending termination.agreed terminated
        settlement_pending termination.agreed terminated
        exception_open termination.agreed terminated
        committed agreement.amended committed
        in_performance agreement.amended in_performance
    """,
    "1.3": "draft agreement.direct agreement_pending",
}


def triples(text):
    return {tuple(line.split()) for line in text.strip().splitlines() if line.strip()}


class PublishedVersions(unittest.TestCase):

    def test_exactly_four(self):
        self.assertEqual(list(RULE_SETS), ["1.0", "1.1", "1.2", "1.3"])
        self.assertEqual((RULE_SET_ID, CURRENT_VERSION), ("a202-rules/pilot", "1.3"))

    def test_exact_triples(self):
        expected = triples(TRANSACTION)
        for version, added in ADDED.items():
            expected |= triples(added)
            with self.subTest(version=version):
                self.assertEqual(RULE_SETS[version].transaction, expected)
                self.assertEqual(RULE_SETS[version].session, triples(SESSION))

    def test_counts(self):
        for version, count in COUNTS.items():
            with self.subTest(version=version):
                rules = RULE_SETS[version]
                self.assertEqual(len(rules.transaction) + len(rules.session), count)

    def test_hashes(self):
        for version, expected in HASHES.items():
            with self.subTest(version=version):
                rules = RULE_SETS[version]
                self.assertEqual((rules.version, rules.rules_hash), (version, expected))
                self.assertEqual(
                    rules.ref, {"rule_set_id": "a202-rules/pilot", "version": version, "rules_hash": expected})

    def test_one_target_for_each_state_and_event(self):
        for rules in RULE_SETS.values():
            for machine in (rules.transaction, rules.session):
                self.assertEqual(len({(start, event) for start, event, _ in machine}), len(machine))

    def test_registered_in_no_version(self):
        for rules in RULE_SETS.values():
            for state in TRANSACTION_STATES:
                for event in (
                    "invitation.issued", "approval.requested", "obligation.waived", "obligation.due",
                    "obligation.discharged", "obligation.released", "dispute.raised", "determination.recorded",
                    "determination.deleted", "obligation.deleted",
                ):
                    with self.subTest(version=rules.version, state=state, event=event):
                        self.assertIsNone(rules.target("transaction", state, event))
            self.assertFalse(any(to == "rejected" for _, _, to in rules.session))
            for state in SESSION_STATES - {"accepted"}:
                self.assertIsNone(rules.target("session", state, "session.closed"))

    def test_states(self):
        self.assertEqual(TRANSACTION_STATES, {
            "draft", "published", "qualifying", "negotiating", "agreement_pending", "committed", "in_performance",
            "acceptance_pending", "settlement_pending", "completed", "exception_open", "cancelled", "expired",
            "terminated"})
        self.assertEqual(TERMINAL_STATES, {"completed", "cancelled", "expired", "terminated"})
        self.assertEqual(SESSION_STATES, {
            "opened", "active", "paused_for_approval", "accepted", "rejected", "withdrawn", "expired", "closed"})
        self.assertEqual(OBLIGATION_STATES, {
            "pending", "due", "asserted", "accepted", "rejected", "disputed", "discharged", "waived", "expired",
            "released"})

    def test_nothing_leaves_a_terminal_state(self):
        for rules in RULE_SETS.values():
            self.assertFalse(any(start in TERMINAL_STATES for start, _, _ in rules.transaction))

    def test_windows_grants_and_rule_ids_are_the_same_in_all(self):
        self.assertEqual((DISPUTE_WINDOW, APPEAL_WINDOW), (timedelta(hours=168), timedelta(hours=336)))
        self.assertEqual(dict(GRANTS), {
            "act": "binding", "obligation_state": "presumptive", "determination": "binding"})
        self.assertEqual(RULE_IDS, {f"a202-rules/pilot#{name}" for name in (
            "dispute.window", "appeal.window", "appeal.route", "determiner.authority", "determination.effect",
            "obligation.acceptance-binds-assertion", "obligation.remainder-required", "state.transition-legality",
            "disclosure.session-isolation")})


class Targets(unittest.TestCase):

    def test_direct_formation_from_1_3_only_and_from_draft_only(self):
        for version, rules in RULE_SETS.items():
            with self.subTest(version=version):
                expected = "agreement_pending" if version == "1.3" else None
                self.assertEqual(rules.target("transaction", "draft", "agreement.direct"), expected)
                self.assertIs(rules.registers("agreement.direct"), version == "1.3")
                self.assertIsNone(rules.target("transaction", "published", "agreement.direct"))
                self.assertIsNone(rules.target("transaction", "draft", "agreement.committed"))

    def test_each_machine_has_its_own_states(self):
        rules = RULE_SETS["1.3"]
        self.assertEqual(rules.target("session", "active", "deadline.elapsed"), "expired")
        self.assertIsNone(rules.target("transaction", "active", "deadline.elapsed"))
        self.assertIsNone(rules.target("session", "draft", "deadline.elapsed"))

    @PROPERTY
    @given(documents, documents)
    def test_total(self, state, event):
        self.assertIsNone(RULE_SETS["1.3"].target("transaction", state, [event]))
        self.assertIsNone(RULE_SETS["1.3"].target("transaction", [state], event))


class References(unittest.TestCase):

    def test_resolve_with_id_version_and_hash(self):
        for version, rules in RULE_SETS.items():
            with self.subTest(version=version):
                self.assertIs(resolve_rules(rules.ref), rules)
                self.assertIs(rule_set(version), rules)

    def test_anything_else_does_not_resolve(self):
        good = RULE_SETS["1.3"].ref
        for ref in (
            {**good, "rules_hash": HASHES["1.2"]}, {**good, "rules_hash": HASHES["1.3"].upper()},
            {**good, "version": "1.4"}, {**good, "version": "1.30"}, {**good, "version": 1.3},
            {**good, "version": ["1.3"]}, {**good, "rule_set_id": "a202-rules/other"},
            {name: good[name] for name in ("rule_set_id", "version")}, {}, None, "1.3", [good],
        ):
            with self.subTest(ref=ref):
                self.assertIsNone(resolve_rules(ref))
        for version in ("1.4", "", None, 1.3, ["1.3"], "1.3\n", " 1.3"):
            with self.subTest(version=version):
                self.assertIsNone(rule_set(version))
