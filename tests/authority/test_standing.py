"""D-6, D-15; rules 3.4: whose key speaks for a principal, and when an evidence object stands."""

import unittest

from hypothesis import given

from a202_reference.authority.standing import evidence_standing, principal_of
from a202_reference.canonical import content_bytes, content_hash
from a202_reference.registries import Purpose
from a202_reference.signing import sign_entry, unsigned_entry
from tests.authority.mandates import BINDINGS, DIRECTOR, SIGNERS, gate, mandate
from tests.reference.strategies import PROPERTY, documents


def well_formed(document):
    return not gate(document)[0]


class PrincipalKeys(unittest.TestCase):

    def owner(self, key_id, *mandates):
        return principal_of(key_id, mandates, BINDINGS.get, well_formed)

    def test_the_issuer_of_a_verified_mandate(self):
        self.assertEqual(self.owner("key_director", mandate()), DIRECTOR)

    def test_the_principal_subject_of_a_verified_mandate(self):
        deputy = mandate(subject={"principal_id": "prn_deputy", "key_id": "key_deputy"})
        self.assertEqual(self.owner("key_deputy", deputy), BINDINGS["key_deputy"].owner)

    def test_nobody(self):
        forged = {**mandate(), "id": "mnd_forged"}
        other_name = mandate(issuer={
            "organization_id": "org_north", "principal_id": "prn_deputy", "key_id": "key_director"})
        for name, key_id, mandates in (
            ("no mandate", "key_director", ()),
            ("an agent's key", "key_agent", (mandate(),)),
            ("a key that no mandate names", "key_deputy", (mandate(),)),
            ("a forged mandate", "key_director", (forged,)),
            ("a mandate that names another principal for the key", "key_director", (other_name,)),
            ("an ill-formed mandate", "key_director", ({**mandate(), "note": "x"}, {"id": "mnd_x"})),
        ):
            with self.subTest(name):
                self.assertIsNone(self.owner(key_id, *mandates))

    def test_one_verified_mandate_among_others_is_enough(self):
        self.assertEqual(self.owner("key_director", {**mandate(), "id": "mnd_forged"}, mandate()), DIRECTOR)


def evidence(key_id="key_agent", purpose=Purpose.OBJECT_ISSUANCE, **changes):
    document = {
        "id": "evd_one", "object_type": "evidence",
        "payload": {"evidence_type": "attestation", "verification": {"status": "verified"}}, **changes}
    entry = unsigned_entry(key_id, purpose, "2026-08-20T09:00:00Z")
    signed = sign_entry(content_bytes(document), entry, SIGNERS[key_id])
    return {**document, "content_hash": content_hash(document), "signatures": [signed]}


class EvidenceStands(unittest.TestCase):

    def test_hash_signature_and_status_verify(self):
        standing = evidence_standing(evidence(), BINDINGS.get)
        self.assertEqual(standing.content_hash, evidence()["content_hash"])
        self.assertEqual((standing.evidence_type, standing.verified), ("attestation", True))

    def test_does_not_stand(self):
        good = evidence()
        for name, document in {
            "another hash": {**good, "content_hash": "a" * 64},
            "no hash": {**good, "content_hash": None},
            "an altered payload": {**good, "payload": {**good["payload"], "claim": "more"}},
            "no signature": {**good, "signatures": []},
            "signatures that are no list": {**good, "signatures": {}},
            "one signature of two false": {**good, "signatures": [*good["signatures"], {"purpose": "object_issuance"}]},
            "a placeholder": {**good, "signatures": [
                {**good["signatures"][0], "signature": "synthetic-placeholder-signature-value"}]},
            "an unheld key": evidence("key_unbound"),
            "another purpose": evidence(purpose=Purpose.EVENT_APPEND),
            "unverified by its own word": evidence(
                payload={"evidence_type": "attestation", "verification": {"status": "unverified"}}),
            "failed by its own word": evidence(
                payload={"evidence_type": "attestation", "verification": {"status": "failed"}}),
            "no word": evidence(payload={"evidence_type": "attestation"}),
        }.items():
            with self.subTest(name):
                self.assertFalse(evidence_standing(document, BINDINGS.get).verified)

    def test_the_hash_is_recomputed_not_believed(self):
        altered = {**evidence(), "payload": {"evidence_type": "attestation"}}
        self.assertEqual(evidence_standing(altered, BINDINGS.get).content_hash, content_hash(altered))

    def test_what_is_no_evidence(self):
        for document in ({**evidence(), "object_type": "offer"}, {**evidence(), "payload": 7},
            {**evidence(), "x": 1.5}, {}):
            with self.subTest(document=document):
                self.assertIsNone(evidence_standing(document, BINDINGS.get))

    @PROPERTY
    @given(documents)
    def test_total(self, value):
        for member in ("payload", "signatures", "content_hash"):
            standing = evidence_standing({**evidence(), member: value}, BINDINGS.get)
            self.assertTrue(standing is None or not standing.verified or value == evidence()[member])
