"""A mandate from elsewhere and its issuer's key file (treatyway 3, axp 2): what fits, and what is said of the rest."""

import unittest
from dataclasses import replace

from a202_mcp.batch import Batch
from a202_mcp.one_owner.documented import Documented, Misfit, read_documented, recording_batch, state_fault, unrecorded
from a202_mcp.store import SqliteStore
from a202_reference.keys import KeyBinding, Owner
from a202_reference.times import parse_instant
from tests.harness.foreign import AGENT, AGENT_BINDING, BRANCH, HEAD_OFFICE, batch, bound, given
from tests.shell.issuers import Issuer

DOCUMENT = given(HEAD_OFFICE, "mnd_first")
JWK = HEAD_OFFICE.public.jwk
VERIFICATION_METHOD = "did:web:north.example#"
NOW = parse_instant("2026-08-20T10:00:00Z")


class Files(unittest.TestCase):

    def test_a_public_key_as_others_write_it(self):
        for name, issuer, more in (
            ("bare", HEAD_OFFICE, {}), ("bare, Ed25519", BRANCH, {}),
            ("with its algorithm", HEAD_OFFICE, {"alg": "ES256", "use": "sig", "key_ops": ["verify"]}),
            ("with its algorithm, Ed25519", BRANCH, {"alg": "EdDSA"}),
            ("with its algorithm's newer name", BRANCH, {"alg": "Ed25519"}),
            ("under the record's identifier", HEAD_OFFICE, {"kid": "key_head_office"}),
            ("under a verification method", HEAD_OFFICE, {"kid": VERIFICATION_METHOD + "key_head_office"}),
            ("under a name of its own", HEAD_OFFICE, {"kid": "2026-08"}),
            ("under a thumbprint", HEAD_OFFICE, {"kid": "NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs"}),
            ("under another house's method", HEAD_OFFICE, {"kid": VERIFICATION_METHOD + "keys-1"}),
            ("with members that nobody knows", HEAD_OFFICE, {"iat": 1, "ext": True, "x5t": "x"}),
        ):
            with self.subTest(name):
                document = given(issuer, "mnd_first")
                found = read_documented(document, {**issuer.public.jwk, **more})
                self.assertEqual(found, Documented(document, bound(issuer, document)))

    def test_what_is_wrong_is_said_of_the_setting_that_is_wrong(self):
        changed = {**DOCUMENT, "valid_until": "2036-01-01T00:00:00Z"}
        own = {**DOCUMENT, "subject": {**DOCUMENT["subject"], "key_id": HEAD_OFFICE.key_id}}
        for name, document, jwk, setting, said in (
            ("no key", DOCUMENT, {}, "issuer_jwk", "is no public key of the form"),
            ("a point off the curve", DOCUMENT, {**JWK, "x": "A" * 43}, "issuer_jwk", "is no public key"),
            ("another curve", DOCUMENT, {**JWK, "crv": "P-384"}, "issuer_jwk", "is no public key"),
            ("a private key", DOCUMENT, {**JWK, "d": "A" * 43}, "issuer_jwk", "holds a private key"),
            ("a shared secret", DOCUMENT, {"kty": "oct", "k": "A"}, "issuer_jwk", "holds a private key"),
            ("another algorithm", DOCUMENT, {**JWK, "alg": "ES384"}, "issuer_jwk", "its alg is not that of its key"),
            ("an algorithm that is none", DOCUMENT, {**JWK, "alg": ["ES256"]}, "issuer_jwk", "its alg"),
            ("for encryption", DOCUMENT, {**JWK, "use": "enc"}, "issuer_jwk", "for another use"),
            ("for signing only", DOCUMENT, {**JWK, "key_ops": ["sign"]}, "issuer_jwk", "for another use"),
            ("another kid", DOCUMENT, {**JWK, "kid": "key_other"}, "issuer_jwk", "its kid is not key_head_office"),
            ("another verification method", DOCUMENT, {**JWK, "kid": VERIFICATION_METHOD + "key_other"}, "issuer_jwk",
             "its kid is not key_head_office"),
            ("a kid that is no text", DOCUMENT, {**JWK, "kid": 7}, "issuer_jwk", "its kid is not key_head_office"),
            ("another issuer's key", DOCUMENT, Issuer(scalar=12).public.jwk, "issuer_jwk", "does not verify under it"),
            ("a key of the other suite", DOCUMENT, BRANCH.public.jwk, "issuer_jwk", "the algorithm is not the key's"),
            ("a changed document", changed, JWK, "issuer_jwk", "does not fit mandate.document"),
            ("no mandate", {"id": 1}, JWK, "document", "lacks actions"),
            ("no limit", {**DOCUMENT, "constraints": []}, JWK, "document", "the mandate has no constraint"),
            ("a delegated mandate", {**DOCUMENT, "parent_mandate_id": "mnd_parent"}, JWK, "document", "is delegated"),
            ("for another organisation", {**DOCUMENT, "represented_organization_id": "org_other"}, JWK, "document",
             "is issued by a principal of org_north, and represents org_other"),
            ("to the issuer's own key", own, JWK, "document", "under the very key that it is given to"),
        ):
            with self.subTest(name):
                found = read_documented(document, jwk)
                self.assertIsInstance(found, Misfit)
                self.assertEqual(found.setting, setting)
                self.assertIn(said, found.text)


class State(unittest.TestCase):

    def setUp(self):
        self.store = SqliteStore.open(None)
        self.addCleanup(self.store.close)
        self.first = Documented(DOCUMENT, bound(HEAD_OFFICE, DOCUMENT))

    def take(self, wanted, own=()):
        self.assertIsNone(state_fault(self.store, wanted))
        self.assertTrue(self.store.commit(recording_batch(self.store, wanted, AGENT, NOW, own)))
        self.assertEqual(unrecorded(self.store, wanted), ())

    def test_a_document_and_those_that_supersede_it(self):
        self.take(self.first, (AGENT_BINDING,))
        self.take(self.first)
        later = given(HEAD_OFFICE, "mnd_second", "2026-08-21T00:00:00Z")
        self.take(Documented(later, bound(HEAD_OFFICE, later)))
        other = given(BRANCH, "mnd_third", "2020-01-01T00:00:00Z")
        self.take(Documented(other, bound(BRANCH, other)))
        self.take(self.first)
        self.assertEqual(self.store.key(HEAD_OFFICE.key_id), self.first.issuer)
        self.assertEqual(self.store.key(BRANCH.key_id), bound(BRANCH, other))

    def test_identifiers_keep_their_meaning(self):
        self.take(self.first, (AGENT_BINDING,))
        rotated, namesake = Issuer(scalar=12), Issuer(principal_id="prn_namesake")
        for name, issuer, changes, setting, said in (
            ("another document", HEAD_OFFICE, {"mandate_id": "mnd_first", "valid_until": "2036-01-01T00:00:00Z"},
             "document", "another one is recorded as mnd_first"),
            ("another key", rotated, {}, "issuer_jwk", "a new key needs an identifier of its own"),
            ("another principal", namesake, {}, "issuer_jwk", "a new key needs an identifier of its own"),
            ("the agent's key", Issuer(AGENT.key_id), {"to": replace(AGENT_BINDING, key_id="key_other_agent")},
             "issuer_jwk", "a new key needs an identifier of its own"),
            ("an earlier proof", HEAD_OFFICE, {"created_at": "2026-08-20T08:29:59Z"}, "document",
             "its proof is dated before 2026-08-20T08:30:00Z"),
        ):
            with self.subTest(name):
                document = given(issuer, **{"mandate_id": "mnd_second", **changes})
                found = state_fault(self.store, Documented(document, bound(issuer, document)))
                self.assertEqual(found.setting, setting)
                self.assertIn(said, found.text)

    def test_a_key_that_signed_its_own_binding_needs_no_other(self):
        owner = KeyBinding(HEAD_OFFICE.key_id, Owner("org_north", principal_id="prn_head_office"), HEAD_OFFICE.public,
                           self.first.issuer.valid_from)
        self.store.commit(batch(keys=(AGENT_BINDING, owner), signers=(AGENT, HEAD_OFFICE.signer)))
        before = self.store.held_key(HEAD_OFFICE.key_id)
        self.assertIsNone(before.fault)
        self.take(self.first)
        self.assertEqual(self.store.held_key(HEAD_OFFICE.key_id), before)

    def test_a_binding_that_cannot_be_relied_on_is_not_passed_over(self):
        self.store.commit(Batch(now="2026-08-20T10:00:00Z", keys=(self.first.issuer,)))
        found = state_fault(self.store, self.first)
        self.assertEqual(found.setting, "issuer_jwk")
        self.assertIn("cannot be relied on", found.text)


if __name__ == "__main__":
    unittest.main()
