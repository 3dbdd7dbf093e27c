"""Rules 1.3, 1.4, 1.5; D-4, D-5, D-7: one signature entry, checked row by row; the mandate's proof."""

import unittest
from datetime import UTC, datetime

from cryptography.hazmat.primitives.asymmetric import ed25519
from hypothesis import given
from hypothesis import strategies as st

from a202_reference.canonical import content_bytes
from a202_reference.codes import Outcome
from a202_reference.keys import KeyBinding, Owner, PrivateKey, PublicKey, encode_base64url
from a202_reference.registries import TYPE_RULES, Algorithm, ObjectType, Purpose
from a202_reference.signing import (
    Signer,
    check_entry,
    check_proof,
    is_placeholder,
    sign_entry,
    sign_proof,
    signed_bytes,
    unsigned_entry,
    unsigned_proof,
)
from tests.reference.strategies import PROPERTY, documents

OBJECT = {"id": "off_abc", "payload": {"a": "1"}}
CONTENT = content_bytes(OBJECT)
AT = "2026-08-20T10:00:00Z"
SIGNER = Signer("key_abc", PrivateKey.from_scalar(7))
OWNER = Owner("org_abc", agent_id="agt_abc")
START, END = datetime(2026, 8, 1, tzinfo=UTC), datetime(2026, 9, 1, tzinfo=UTC)
BINDING = KeyBinding("key_abc", OWNER, SIGNER.key.public, START, END)
PURPOSES = frozenset({Purpose.OFFER_SUBMISSION, Purpose.OBJECT_ISSUANCE})
ENTRY = sign_entry(CONTENT, unsigned_entry("key_abc", Purpose.OFFER_SUBMISSION, AT), SIGNER)
PLACEHOLDERS = (
    "synthetic-placeholder-signature-value", "synthetic-placeholder", "synthetic-placeholder-operator-signature",
    "synthetic-placeholder-claimant-signature")


def held(key_id):
    return BINDING if key_id == "key_abc" else None


def signed_at(moment):
    return sign_entry(CONTENT, unsigned_entry("key_abc", Purpose.OFFER_SUBMISSION, moment), SIGNER)


class OneEntry(unittest.TestCase):
    """The table of rules 1.3, in its order."""

    def check(self, entry, outcome, step, content=CONTENT):
        finding = check_entry(content, entry, PURPOSES, held)
        self.assertEqual((finding.outcome.value, finding.step), (outcome.value, step), finding.detail)

    def test_1_the_purpose_first_even_under_a_placeholder(self):
        for purpose in ("event_append", "mandate_issuance", "", None, ["offer_submission"], {}, 7):
            for more in ({}, {"signature": PLACEHOLDERS[0]}, {"key_id": "key_other"}):
                with self.subTest(purpose=purpose, more=more):
                    self.check({**ENTRY, "purpose": purpose, **more}, Outcome.FAILED, 1)

    def test_1_what_is_no_entry(self):
        for entry in (None, "signature", 7, [], [ENTRY], {}):
            with self.subTest(entry=entry):
                self.check(entry, Outcome.FAILED, 1)

    def test_2_placeholders(self):
        for text in PLACEHOLDERS:
            with self.subTest(text=text):
                self.check({**ENTRY, "signature": text}, Outcome.NOT_CHECKABLE, 2)
                self.check({**ENTRY, "signature": text, "key_id": "key_other"}, Outcome.NOT_CHECKABLE, 2)

    def test_2_only_the_four_literals(self):
        for text in ("synthetic-placeholder-other", "Synthetic-placeholder", "synthetic-placeholder ", "", None, ["x"]):
            with self.subTest(text=text):
                self.assertFalse(is_placeholder(text))
                self.check({**ENTRY, "signature": text}, Outcome.FAILED, 4)

    def test_3_a_key_that_does_not_resolve(self):
        for key_id in ("key_other", "", None, 7, ["key_abc"], {}):
            with self.subTest(key_id=key_id):
                self.check({**ENTRY, "key_id": key_id}, Outcome.NOT_CHECKABLE, 3)

    def test_4_every_protected_member_is_signed(self):
        for member, value in (
            ("purpose", "object_issuance"), ("signed_at", "2026-08-20T10:00:01Z"),
            ("signed_at", "2026-08-20T10:00:00.0Z"),
            ("algorithm", "EdDSA"), ("algorithm", "es256"), ("algorithm", None), ("algorithm", ["ES256"]),
            ("signed_at", None), ("signed_at", 1.5), ("signed_at", "\ud800"), ("signed_at", [[[]]]),
        ):
            with self.subTest(member=member, value=value):
                self.check({**ENTRY, member: value}, Outcome.FAILED, 4)

    def test_4_the_algorithm_is_the_keys_also_where_the_signature_covers_another(self):
        for algorithm in ("EdDSA", "none", "HS256"):
            with self.subTest(algorithm=algorithm):
                entry = {**unsigned_entry("key_abc", Purpose.OFFER_SUBMISSION, AT), "algorithm": algorithm}
                self.check(sign_entry(CONTENT, entry, SIGNER), Outcome.FAILED, 4)

    def test_4_under_another_key_of_the_same_name(self):
        other = KeyBinding("key_abc", OWNER, PrivateKey.from_scalar(8).public, START, END)
        finding = check_entry(CONTENT, ENTRY, PURPOSES, lambda _: other)
        self.assertEqual((finding.outcome.value, finding.step), ("failed", 4))

    def test_4_the_value_is_64_bytes_in_canonical_base64url(self):
        value = ENTRY["signature"]
        self.assertEqual(len(value), 86)
        flipped = value[:-1] + chr(ord(value[-1]) + 1)
        for name, text in {
            "one character less": value[:-1],
            "padded": value + "==",
            "unused bits set": flipped,
            "the other alphabet": "+" + value[1:],
            "a line end": value + "\n",
            "other bytes": encode_base64url(bytes(64)),
            "hexadecimal": "00" * 64,
            "a number": 7,
            "a list": [value],
            "nothing": None,
        }.items():
            with self.subTest(name):
                self.check({**ENTRY, "signature": text}, Outcome.FAILED, 4)

    def test_4_over_other_bytes_or_none(self):
        self.check(ENTRY, Outcome.FAILED, 4, content_bytes({**OBJECT, "id": "off_abd"}))
        self.check(ENTRY, Outcome.FAILED, 4, None)

    def test_4_speaks_before_5(self):
        self.check({**signed_at("2026-10-01T00:00:00Z"), "signature": ENTRY["signature"]}, Outcome.FAILED, 4)

    def test_5_the_key_at_signed_at(self):
        for moment, outcome, step in (
            ("2026-07-31T23:59:59Z", Outcome.FAILED, 5), ("2026-08-01T00:00:00Z", Outcome.VERIFIED, 6),
            ("2026-08-31T23:59:59Z", Outcome.VERIFIED, 6), ("2026-09-01T00:00:00Z", Outcome.FAILED, 5),
            ("2026-08-20T12:00:00+02:00", Outcome.FAILED, 5), ("", Outcome.FAILED, 5), ("yesterday", Outcome.FAILED, 5),
        ):
            with self.subTest(moment=moment):
                self.check(signed_at(moment), outcome, step)

    def test_6_verified(self):
        self.check(ENTRY, Outcome.VERIFIED, 6)

    def test_6_members_beside_the_protected_four_are_not_signed(self):
        self.check({**ENTRY, "note": "x"}, Outcome.VERIFIED, 6)

    def test_a_second_signature_changes_nothing_that_is_signed(self):
        self.assertEqual(content_bytes({**OBJECT, "signatures": [ENTRY, ENTRY], "content_hash": "x"}), CONTENT)

    def test_eddsa_is_verified(self):
        private = ed25519.Ed25519PrivateKey.from_private_bytes(b"\x07" * 32)
        public = PublicKey.from_jwk({
            "kty": "OKP", "crv": "Ed25519", "x": encode_base64url(private.public_key().public_bytes_raw())})
        binding = KeyBinding("key_ed1", OWNER, public, START)
        entry = {"key_id": "key_ed1", "algorithm": "EdDSA", "signed_at": AT, "purpose": "offer_submission"}
        signed = {**entry, "signature": encode_base64url(private.sign(signed_bytes(CONTENT, entry)))}
        self.assertEqual(check_entry(CONTENT, signed, PURPOSES, lambda _: binding).step, 6)
        for change in ({"algorithm": "ES256"}, {"signature": ENTRY["signature"]},
            {"signed_at": "2026-08-20T10:00:01Z"}):
            with self.subTest(change=change):
                finding = check_entry(CONTENT, {**signed, **change}, PURPOSES, lambda _: binding)
                self.assertEqual((finding.outcome.value, finding.step), ("failed", 4))

    @PROPERTY
    @given(documents, st.sampled_from(["purpose", "signature", "key_id", "algorithm", "signed_at"]))
    def test_total_over_any_member(self, value, member):
        finding = check_entry(CONTENT, {**ENTRY, member: value}, PURPOSES, held)
        self.assertTrue(finding.outcome is not Outcome.VERIFIED or value == ENTRY[member])

    @PROPERTY
    @given(documents)
    def test_total_over_any_entry(self, entry):
        self.assertIsNot(check_entry(CONTENT, entry, PURPOSES, held).outcome, Outcome.VERIFIED)


class SignedBytes(unittest.TestCase):

    def test_content_then_a_point_then_the_protected_members(self):
        self.assertEqual(
            signed_bytes(b"{}", ENTRY),
            b'{}.{"algorithm":"ES256","key_id":"key_abc","purpose":"offer_submission","signed_at":"2026-08-20T10:00:00Z"}')

    def test_an_entry_is_signed_by_its_own_key_only(self):
        with self.assertRaises(ValueError):
            sign_entry(CONTENT, unsigned_entry("key_other", Purpose.OFFER_SUBMISSION, AT), SIGNER)

    def test_es256_is_issued(self):
        self.assertEqual(ENTRY["algorithm"], Algorithm.ES256)
        self.assertEqual(set(ENTRY), {"key_id", "algorithm", "signature", "signed_at", "purpose"})


TABLE = {
    "action_envelope": ({"action_submission"}, 1),
    "offer": ({"offer_submission", "object_issuance"}, 1),
    "acceptance": ({"offer_acceptance", "object_issuance"}, 1),
    "agreement": ({"agreement_commitment", "object_issuance"}, 2),
    "transaction_event": ({"event_append"}, 1),
    "policy_decision": ({"policy_decision"}, 1),
    "counterparty_invitation": ({"invitation_issuance", "object_issuance"}, 1),
    "invitation_acceptance": ({"invitation_claim", "object_issuance"}, 2),
    "adapter_receipt": ({"adapter_receipt", "object_issuance"}, 0),
    **{name: ({"object_issuance"}, 1) for name in (
        "obligation", "performance_event", "obligation_response", "dispute", "determination",
        "settlement_instruction")},
    **{name: ({"object_issuance"}, 0) for name in (
        "approval", "commitment", "evidence", "revocation_record", "key_record")},
}


class Purposes(unittest.TestCase):
    """Rules 1.4: accepted purposes and the minimum number of signatures."""

    def test_table(self):
        for object_type, rule in TYPE_RULES.items():
            with self.subTest(object_type=object_type):
                purposes, minimum = TABLE.get(object_type.value, (None, 0))
                self.assertEqual(rule.purposes, None if purposes is None else frozenset(purposes))
                self.assertEqual(rule.minimum_signatures, minimum)

    def test_every_type_has_a_rule(self):
        self.assertEqual(set(TYPE_RULES), set(ObjectType))
        self.assertEqual(len(ObjectType), 33)

    def test_a_null_transaction_for_nine_types_only(self):
        self.assertEqual(
            {object_type.value for object_type, rule in TYPE_RULES.items() if rule.null_transaction},
            {"organization", "agent", "principal", "external_identity_assertion", "key_record", "delegation",
             "revocation_record", "capability", "intent"})


MANDATE = sign_proof(
    {"id": "mnd_abc", "issuer": {"key_id": "key_abc"}, "proof": unsigned_proof("key_abc", AT)}, SIGNER)


class Proof(unittest.TestCase):
    """Rules 1.5."""

    def check(self, mandate, outcome, step):
        finding = check_proof(mandate, held)
        self.assertEqual((finding.outcome.value, finding.step), (outcome.value, step), finding.detail)

    def with_proof(self, **changes):
        return {**MANDATE, "proof": {**MANDATE["proof"], **changes}}

    def test_verified(self):
        self.assertEqual(
            set(MANDATE["proof"]), {"key_id", "algorithm", "created_at", "purpose", "signature"})
        self.check(MANDATE, Outcome.VERIFIED, 6)

    def test_the_proof_signs_the_mandate_without_itself(self):
        entry = {"algorithm": "ES256", "key_id": "key_abc", "purpose": "mandate_issuance", "signed_at": AT}
        data = signed_bytes(b'{"id":"mnd_abc","issuer":{"key_id":"key_abc"}}', entry)
        from a202_reference.keys import decode_base64url  # noqa: PLC0415 (this case alone looks at the bytes)

        self.assertTrue(SIGNER.key.public.verifies(decode_base64url(MANDATE["proof"]["signature"], 64), data))

    def test_any_other_byte_of_the_mandate_breaks_it(self):
        self.check({**MANDATE, "id": "mnd_abd"}, Outcome.FAILED, 4)
        self.check({**MANDATE, "extra": None}, Outcome.FAILED, 4)

    def test_the_instant_is_signed(self):
        self.check(self.with_proof(created_at="2026-08-20T10:00:01Z"), Outcome.FAILED, 4)

    def test_the_key_is_the_issuers(self):
        self.check({**MANDATE, "issuer": {"key_id": "key_other"}}, Outcome.FAILED, 1)
        self.check(self.with_proof(key_id="key_other"), Outcome.FAILED, 1)

    def test_the_purpose_is_mandate_issuance(self):
        for purpose in ("object_issuance", "grade_issuance", None, []):
            with self.subTest(purpose=purpose):
                self.check(self.with_proof(purpose=purpose), Outcome.FAILED, 1)

    def test_a_placeholder_is_not_checkable(self):
        for text in PLACEHOLDERS:
            with self.subTest(text=text):
                self.check(self.with_proof(signature=text), Outcome.NOT_CHECKABLE, 2)

    def test_a_key_that_is_not_held(self):
        mandate = {**MANDATE, "issuer": {"key_id": "key_other"}, "proof": {**MANDATE["proof"], "key_id": "key_other"}}
        self.check(mandate, Outcome.NOT_CHECKABLE, 3)

    def test_no_canonical_form(self):
        self.check({**MANDATE, "extra": 1.5}, Outcome.FAILED, 4)

    def test_no_proof_or_no_issuer(self):
        for change in ({"proof": None}, {"proof": []}, {"issuer": "org_abc"}, {"proof": ...}, {"issuer": ...}):
            with self.subTest(change=change):
                merged = {**MANDATE, **change}
                mandate = {name: value for name, value in merged.items() if value is not ...}
                self.check(mandate, Outcome.FAILED, 1)

    @PROPERTY
    @given(documents, st.sampled_from(["key_id", "algorithm", "created_at", "purpose", "signature"]))
    def test_total_over_any_member(self, value, member):
        finding = check_proof(self.with_proof(**{member: value}), held)
        self.assertTrue(finding.outcome is not Outcome.VERIFIED or value == MANDATE["proof"][member])
