"""Rules 11: 77 registered codes, complete; rules 6.7, 4: three outcomes, three decisions, never a boolean."""

import unittest

from a202_reference.codes import Code, Decision, Outcome, Refusal, distinct

REGISTER = """
    STATE-TRANSITION-DENIED SEQUENCE-CONFLICT STREAM-MISMATCH OFFER-STALE OFFER-EXPIRED APPROVAL-REQUIRED
    APPROVAL-HASH-MISMATCH AGREEMENT-HASH-MISMATCH AGREEMENT-AMENDMENT-UNACCEPTED MANDATE-INACTIVE
    MANDATE-INTERVAL-INVALID MANDATE-UNBOUNDED MANDATE-SCOPE-TOO-BROAD MANDATE-SUBJECT-AMBIGUOUS
    MANDATE-DELEGATION-INCOHERENT MANDATE-DELEGATION-WIDENING MANDATE-CONSTRAINT-UNKNOWN MANDATE-STATUS-INSECURE
    ENDPOINT-INSECURE MANDATE-STATUS-UNRESOLVED ANNOTATION-FORGED DISCLOSURE-POLICY-VIOLATION TERMS-INVALID
    HASH-FORMAT-INVALID POLICY-DENIED DISCLOSURE-DENIED EVIDENCE-UNVERIFIED PROFILE-UNKNOWN PROFILE-TERMS-INVALID
    INVITATION-UNCLAIMABLE INVITATION-EXPIRED INVITATION-SCOPE-EXCEEDED INVITATION-HASH-MISMATCH
    INVITATION-CLAIM-UNSIGNED INVITATION-SECRET-DISCLOSED ASSURANCE-UNSUPPORTED CUSTODY-APPROVAL-REQUIRED
    OBLIGATION-CONDITION-UNKNOWN OBLIGATION-CONDITION-CYCLIC OBLIGATION-SUBJECT-UNREFERENCED
    OBLIGATION-ASSERTION-UNEVIDENCED OBLIGATION-RESPONSE-UNAUTHORIZED OBLIGATION-RESPONSE-HASH-MISMATCH
    OBLIGATION-REMAINDER-MISSING OBLIGATION-TERMS-MUTATED OBLIGATION-REJECTION-REASON-UNKNOWN
    DISPUTE-OUT-OF-WINDOW DISPUTE-GROUNDS-UNKNOWN DISPUTE-SUBJECT-UNREFERENCED DETERMINATION-EFFECT-OVERCLAIM
    DETERMINATION-SUPERSESSION-UNREASONED DETERMINATION-SUPERSESSION-FORKED DETERMINATION-NOT-FOLLOWING
    APPEAL-GROUNDS-UNKNOWN EVIDENCE-HASH-MISMATCH EVIDENCE-SIGNATURE-INVALID EVIDENCE-CHAIN-GAP
    EVIDENCE-TRANSITION-ILLEGAL EVIDENCE-TYPE-UNKNOWN EVIDENCE-REPORT-INVALID EVIDENCE-DISCLOSURE-INCOMPLETE
    SETTLEMENT-RAIL-UNKNOWN SETTLEMENT-TRIGGER-ABSENT SETTLEMENT-IDEMPOTENCY-CONFLICT SETTLEMENT-RECEIPT-UNMATCHED
    SETTLEMENT-CUSTODY-REFUSED EXTENSION-UNSUPPORTED AUCTION-CLOSED AUCTION-FORMAT-UNSUPPORTED BID-NO-IMPROVEMENT
    LOT-UNKNOWN LOT-ALREADY-AWARDED SCORING-RULE-FROZEN ROUND-NOT-OPEN GRADE-SCOPE-UNKNOWN GRADE-SCOPE-INVALID
    GRADE-SCOPE-OVERCLAIM
"""


class Register(unittest.TestCase):

    def test_exactly_the_77_of_the_register_in_its_order(self):
        expected = [f"A202-{name}" for name in REGISTER.split()]
        self.assertEqual(len(expected), 77)
        self.assertEqual([code.value for code in Code], expected)

    def test_a_code_is_named_after_itself(self):
        for code in Code:
            with self.subTest(code=code):
                self.assertEqual("A202-" + code.name.replace("_", "-"), code.value)
                self.assertEqual(str(code), code.value)

    def test_each_has_a_meaning_of_its_own_and_a_section(self):
        meanings = {code.meaning for code in Code}
        self.assertEqual(len(meanings), len(Code))
        for code in Code:
            with self.subTest(code=code):
                self.assertGreater(len(code.meaning), 10)
                self.assertNotIn("A202-", code.meaning)
                self.assertRegex(code.section, r"\A[0-9]+(\.[0-9]+)?\Z")

    def test_stray_names_are_no_codes(self):
        for name in ("A202-MANDATE-PREPAYMENT-LIMIT", "A202-FIXTURE-KIND-UNKNOWN", "A202-0001", "A202-NNNN"):
            with self.subTest(name=name), self.assertRaises(ValueError):
                Code(name)


class ThreeValues(unittest.TestCase):

    def test_values(self):
        self.assertEqual([outcome.value for outcome in Outcome], ["verified", "failed", "not_checkable"])
        self.assertEqual([decision.value for decision in Decision], ["allow", "deny", "require_approval"])

    def test_none_is_a_boolean(self):
        for value in (*Outcome, *Decision):
            with self.subTest(value=value), self.assertRaises(TypeError):
                bool(value)


class Refusals(unittest.TestCase):

    def test_a_refusal_has_a_code(self):
        with self.assertRaises(ValueError):
            Refusal((), "why")
        self.assertEqual(Refusal.of(Code.POLICY_DENIED, "why").codes, (Code.POLICY_DENIED,))

    def test_codes_are_distinct_in_order_of_first_appearance(self):
        one, two = Code.TERMS_INVALID, Code.POLICY_DENIED
        self.assertEqual(distinct([one, two, one, two]), (one, two))
        self.assertEqual(distinct([]), ())
