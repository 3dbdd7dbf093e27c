"""ADR 10: the key of a mandate's issuer, bound by its proof; every change to that is found, by name and code."""

import contextlib
import io
import json
import tempfile
import unittest
from dataclasses import replace
from datetime import timedelta

from a202_mcp import readout
from a202_mcp.batch import text_of
from a202_mcp.issuer_keys import issuer_binding, proof_by
from a202_mcp.seal import sign_binding
from a202_mcp.store import DamagedError, SqliteStore
from a202_reference.keys import Owner, PrivateKey
from a202_reference.signing import PLACEHOLDER, Signer
from tests.bilateral.parties import NOW
from tests.harness.foreign import (
    AGENT,
    AGENT_BINDING,
    BRANCH,
    BRANCHS,
    FIRST,
    HEAD_OFFICE,
    SECOND,
    STRANGER,
    THIEF,
    THIEF_BINDING,
    Foreign,
    appended,
    batch,
    bound,
    evidence,
    given,
    resealed,
    sql,
    write_key,
    write_mandate,
)
from tests.shell.issuers import CREATED, Issuer, twin_key

MISMATCH, SIGNATURE = "A202-EVIDENCE-HASH-MISMATCH", "A202-EVIDENCE-SIGNATURE-INVALID"
GAP = "A202-EVIDENCE-CHAIN-GAP"
KEY, BRANCH_KEY = HEAD_OFFICE.key_id, BRANCH.key_id
BINDING, PROOF = bound(HEAD_OFFICE, FIRST), proof_by("mnd_first")
IMPOSTOR = Issuer(HEAD_OFFICE.key_id, scalar=78)
"""Signs under the head office's identifier, with a key of its own."""
NOT_STATED, NOT_SIGNED = "states another one", "does not verify under it"
NOT_THERE, NOT_SEALED = "not here as it was recorded, then or before", "not sealed by the agent"
USED, CHANGED, NOT_OWN = "used before", "not the one that was recorded", "not signed by the key itself"
BROKEN_SEAL = {("commit 1", SIGNATURE), ("commit 2", GAP)}
"""What else shows where a seal was rewritten: its signature, and the seal after it."""


class OverAForeignState(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.state = Foreign(folder.name)

    def changed(self, *changes):
        store = self.state.changed(*changes)
        self.addCleanup(store.close)
        return store

    def faults(self, store, transaction_id="txn_number_2"):
        return {(fault.subject, fault.code.value)
                for fault in readout.state_faults(store, transaction_id, store.recorded(transaction_id))}

    def check(self, changes, said, faults, key_id=KEY, transaction_id="txn_number_2"):
        """The key counts as absent for that reason, the audit has exactly these faults, and no bundle is made."""
        with contextlib.redirect_stderr(io.StringIO()):
            store = self.changed(*changes)
            self.assertIn(said, str(store.held_key(key_id).fault))
            self.assertIsNone(store.key(key_id))
            self.assertEqual(self.faults(store, transaction_id), faults)
            with self.assertRaises(DamagedError):
                readout.bundle(store, transaction_id, NOW)


class Untouched(OverAForeignState):

    def test_each_record_is_whole_and_carries_its_issuers_key_from_the_proof_on(self):
        store = self.changed()
        for number, issuer, first in ((2, HEAD_OFFICE, FIRST), (4, HEAD_OFFICE, FIRST), (5, BRANCH, BRANCHS)):
            with self.subTest(number):
                self.assertEqual(self.faults(store, f"txn_number_{number}"), set())
                self.assertEqual(store.key(issuer.key_id), bound(issuer, first))
                bundle = readout.bundle(store, f"txn_number_{number}", NOW)
                keys = {key["key_id"]: key for key in bundle["keys"]}
                self.assertEqual(set(keys), {AGENT.key_id, issuer.key_id})
                self.assertEqual(
                    {name: keys[issuer.key_id][name] for name in ("owner", "valid_from", "valid_until", "algorithm")},
                    {"owner": {"organization_id": "org_north", "principal_id": issuer.principal_id},
                     "valid_from": CREATED, "valid_until": None, "algorithm": issuer.public.algorithm.value})

    def test_a_reader_of_before_takes_it_for_no_key(self):
        """The first way alone: what stands beside the binding is no signature."""
        [proof] = self.changed()._connection.execute("SELECT proof FROM keys WHERE key_id = ?", (KEY,)).fetchone()
        self.assertNotRegex(proof, "^[A-Za-z0-9_-]*$")

    def test_a_second_document_leaves_the_first_binding(self):
        self.assertEqual(self.changed().key(KEY).valid_from, bound(HEAD_OFFICE, FIRST).valid_from)


class TheBinding(OverAForeignState):
    """Changes to the binding or to what is named as its proof, as somebody without any of the keys can make them."""

    CASES = (
        ("another principal", replace(BINDING, owner=Owner("org_north", principal_id="prn_other")), PROOF, NOT_STATED),
        ("another organisation", replace(BINDING, owner=Owner("org_south", principal_id="prn_head_office")), PROOF,
         NOT_STATED),
        ("an agent", replace(BINDING, owner=Owner("org_north", agent_id="agt_buyer")), PROOF, NOT_STATED),
        ("an earlier beginning", replace(BINDING, valid_from=BINDING.valid_from - timedelta(seconds=1)), PROOF,
         NOT_STATED),
        ("a later beginning", replace(BINDING, valid_from=BINDING.valid_from + timedelta(seconds=1)), PROOF,
         NOT_STATED),
        ("a stranger's key", replace(BINDING, public=STRANGER.public), PROOF, NOT_SIGNED),
        ("a key of the other suite", replace(BINDING, public=BRANCH.public), PROOF, NOT_SIGNED),
        ("another mandate of that issuer, and its instant", bound(HEAD_OFFICE, SECOND), proof_by("mnd_second"),
         NOT_THERE),
        ("another issuer's mandate", BINDING, proof_by("mnd_branch"), NOT_THERE),
        ("a mandate that is not there", BINDING, proof_by("mnd_nowhere"), NOT_THERE),
        ("no mandate", BINDING, proof_by(""), NOT_THERE),
        ("nothing", BINDING, "", NOT_OWN),
        ("the mandate without saying so", BINDING, "mnd_first", NOT_OWN),
        ("the proof's own value", BINDING, FIRST["proof"]["signature"], NOT_OWN),
    )

    def test_in_its_row_alone(self):
        for name, binding, proof, said in self.CASES:
            with self.subTest(name):
                self.check([write_key(binding, proof)], said, {(KEY, SIGNATURE), (KEY, MISMATCH)})

    def test_with_the_seal_made_to_fit(self):
        for name, binding, proof, said in self.CASES:
            with self.subTest(name):
                self.check([write_key(binding, proof), resealed(1)], said, {(KEY, SIGNATURE), *BROKEN_SEAL})

    def test_another_key_under_which_the_proof_verifies_too(self):
        """A proof does not say which key made it: the agent's seal does."""
        twin = replace(BINDING, public=twin_key(FIRST, HEAD_OFFICE.public))
        self.assertEqual(issuer_binding(FIRST, twin.public), twin)
        self.assertNotEqual(twin.public, HEAD_OFFICE.public)
        row = write_key(twin, PROOF)
        self.check([row], CHANGED, {(KEY, SIGNATURE), (KEY, MISMATCH)})
        self.check([row, resealed(1)], NOT_SEALED, {(KEY, SIGNATURE), *BROKEN_SEAL})
        bind = write_key(THIEF_BINDING, sign_binding(THIEF_BINDING, THIEF))
        self.check([row, bind, resealed(1, THIEF)], NOT_SEALED, {(KEY, SIGNATURE), *BROKEN_SEAL})

    def test_an_interval_moved_to_a_later_mandate_of_the_same_commit(self):
        """Whatever genuine proofs there are: which one begins the interval is sealed."""
        moved = [write_mandate(SECOND, 1), write_key(bound(HEAD_OFFICE, SECOND), proof_by("mnd_second"))]
        self.check([*moved, resealed(1)], NOT_SEALED, {(KEY, SIGNATURE), *BROKEN_SEAL})

    def test_a_row_that_cannot_be_read_or_is_gone(self):
        for statement, said, faults in (
            ("UPDATE keys SET body = '[]' WHERE key_id = ?", "cannot be read", {(KEY, SIGNATURE), (KEY, MISMATCH)}),
            ("UPDATE keys SET proof = x'00ff' WHERE key_id = ?", NOT_OWN, {(KEY, SIGNATURE), (KEY, MISMATCH)}),
            ("UPDATE keys SET commit_no = 99 WHERE key_id = ?", "", {(KEY, SIGNATURE), (KEY, GAP)}),
        ):
            with self.subTest(statement):
                self.check([sql(statement, KEY)], said, faults)
        store = self.changed(sql("DELETE FROM keys WHERE key_id = ?", KEY))
        self.assertIsNone(store.held_key(KEY))
        self.assertEqual(self.faults(store), {(KEY, GAP)})

    def test_it_stands_under_no_other_identifier(self):
        copied = sql("UPDATE keys SET (body, proof) = (SELECT body, proof FROM keys WHERE key_id = ?) WHERE key_id = ?",
                     KEY, AGENT.key_id)
        self.check([copied], NOT_STATED, {
            (AGENT.key_id, SIGNATURE), (AGENT.key_id, MISMATCH), (KEY, SIGNATURE), ("commit 1", SIGNATURE),
            ("commit 2", SIGNATURE)}, key_id=AGENT.key_id)


class TheMandate(OverAForeignState):
    """Changes to the mandate that proves a binding."""

    def test_its_bytes(self):
        said = text_of({**FIRST, "valid_until": "2036-09-01T00:00:00Z"})
        change = sql("UPDATE mandates SET body = ? WHERE id = 'mnd_first'", said)
        self.check([change], NOT_THERE, {("mnd_first", MISMATCH)})
        self.check([change], NOT_THERE, {(KEY, SIGNATURE), ("mnd_first", MISMATCH)}, transaction_id="txn_number_4")
        self.check([change, resealed(1)], NOT_SIGNED, {(KEY, SIGNATURE), *BROKEN_SEAL})

    def test_its_place(self):
        gone = "DELETE FROM mandates WHERE id = 'mnd_first'"
        self.check([gone], NOT_THERE, {("mnd_first", GAP)})
        self.check([gone], NOT_THERE, {(KEY, SIGNATURE), ("mnd_first", GAP)}, transaction_id="txn_number_4")
        self.check(["UPDATE mandates SET commit_no = 3 WHERE id = 'mnd_first'", resealed(3)], NOT_THERE,
                   {(KEY, SIGNATURE), ("mnd_first", GAP), ("commit 3", SIGNATURE), ("commit 4", GAP)})

    def test_forms_that_prove_nothing(self):
        """Each is signed by its issuer's own key and sealed by the agent's: nothing but the rule is against it."""
        whole = given(STRANGER, "mnd_evil", to=THIEF_BINDING)
        self.assertIsNone(self.changed(appended(whole, STRANGER)).held_key(STRANGER.key_id).fault)
        issuer, thief = whole["issuer"], {"key_id": THIEF.key_id, "agent_id": "agt_thief"}
        for name, change, said in (
            ("delegated", {"parent_mandate_id": "mnd_first"}, NOT_STATED),
            ("for another organisation", {"represented_organization_id": "org_south"}, NOT_STATED),
            ("by another principal", {"issuer": {**issuer, "principal_id": "prn_other"}}, NOT_STATED),
            ("under another identifier", {"issuer": {**issuer, "key_id": "key_other"}}, NOT_STATED),
            ("to its issuer's own key", {"subject": {**thief, "key_id": STRANGER.key_id}}, NOT_STATED),
            ("to a principal", {"subject": {"key_id": THIEF.key_id, "principal_id": "prn_thief"}}, NOT_SEALED),
            ("to an agent that has another key", {"subject": {**thief, "agent_id": "agt_buyer"}}, NOT_SEALED),
            ("to a key that is nobody's", {"subject": {**thief, "key_id": "key_nobody"}}, NOT_SEALED),
            ("to nobody", {"subject": {"key_id": 7}}, NOT_SEALED),
        ):
            with self.subTest(name):
                store = self.changed(appended(STRANGER.proved({**whole, **change}), STRANGER))
                self.assertIn(said, store.held_key(STRANGER.key_id).fault)

    def test_an_issuer_that_is_no_principal(self):
        for name, issuer in (("no identifier", Issuer("key_stranger_office", "me", scalar=77)),
                             ("no principal's", Issuer("key_stranger_office", "agt_stranger", scalar=77)),
                             ("no key's", Issuer("own_stranger_office", "prn_stranger", scalar=77))):
            with self.subTest(name):
                store = self.changed(appended(given(issuer, "mnd_evil", to=THIEF_BINDING), issuer))
                self.assertIn(NOT_STATED, store.held_key(issuer.key_id).fault)

    def test_proofs_that_are_none(self):
        whole = given(STRANGER, "mnd_evil", to=THIEF_BINDING)
        for name, change in (
            ("for another purpose", {"purpose": "object_issuance"}), ("of another suite", {"algorithm": "EdDSA"}),
            ("under another key", {"key_id": "key_other"}), ("of another value", {"signature": "A" * 86}),
            ("a placeholder", {"signature": PLACEHOLDER}), ("nothing", {"signature": None}),
        ):
            with self.subTest(name):
                document = {**whole, "proof": {**whole["proof"], **change}}
                store = self.changed(appended(document, STRANGER))
                self.assertIn(NOT_SIGNED, store.held_key(STRANGER.key_id).fault)


class ASecondCommit(OverAForeignState):
    """What a stranger can append with keys of their own: principals of their own, and nothing of anybody else's."""

    def test_a_known_identifier_is_never_bound_anew(self):
        """Not the issuer's, and not one that signed its own binding; the former row gone or replaced."""
        for key_id in (KEY, AGENT.key_id):
            with self.subTest(key_id):
                impostor = Issuer(key_id, scalar=78)
                document = given(impostor, "mnd_evil", to=THIEF_BINDING)
                store = self.changed(appended(document, impostor))
                self.assertIn(USED, store.held_key(key_id).fault)
                self.assertLessEqual({(key_id, SIGNATURE), (key_id, GAP)}, self.faults(store))

    def test_nor_the_true_issuers_key_by_another_mandate_of_its_own(self):
        """An agent that the issuer trusts as well, with a genuine and older mandate, moves no interval here."""
        older = given(HEAD_OFFICE, "mnd_older", "2020-01-01T00:00:00Z", to=THIEF_BINDING)
        self.check([appended(older, HEAD_OFFICE)], USED, {(KEY, SIGNATURE), (KEY, GAP)})

    def test_no_mandate_for_our_agent(self):
        document = given(STRANGER, "mnd_evil")
        self.assertIn(NOT_SEALED, self.changed(appended(document, STRANGER)).held_key(STRANGER.key_id).fault)

    def test_the_agent_itself_has_to_be_bound_by_its_own_signature(self):
        """A chain of mandates proves nothing: the sealing key's own signature ends it."""
        middle = Signer("key_middle", PrivateKey.from_scalar(55))
        office = Issuer("key_middle", "prn_middle", scalar=55)
        document = given(office, "mnd_middle", to=THIEF_BINDING)
        last = STRANGER.proved({**given(STRANGER, "mnd_evil"),
                                "subject": {"key_id": "key_middle", "agent_id": "agt_middle"}})
        agents = replace(AGENT_BINDING, key_id="key_middle", owner=Owner("org_north", agent_id="agt_middle"),
                         public=middle.key.public)
        store = self.changed(appended(document, office), appended(last, STRANGER, middle, agents),
                             write_key(bound(office, document), proof_by("mnd_middle"), 6), resealed(6, THIEF),
                             resealed(7, middle))
        self.assertIsNone(store.held_key("key_middle").fault)
        self.assertIn(NOT_SEALED, store.held_key(STRANGER.key_id).fault)

    def test_what_is_left_to_them_names_nobody_else(self):
        store = self.changed(appended(given(STRANGER, "mnd_evil", to=THIEF_BINDING), STRANGER))
        self.assertEqual(store.key(STRANGER.key_id).owner.principal_id, "prn_stranger")
        for number in (2, 4, 5):
            self.assertEqual(self.faults(store, f"txn_number_{number}"), set())


class TheSeal(OverAForeignState):
    """Who sealed the commit that binds it."""

    def test_another_signature(self):
        for name, change in (
            ("nobody's", "UPDATE commits SET signature = NULL, key_id = NULL WHERE position = 1"),
            ("no signature at all", "UPDATE commits SET signature = NULL WHERE position = 1"),
            ("another commit's", "UPDATE commits SET signature = (SELECT signature FROM commits WHERE position = 2) "
                                 "WHERE position = 1"),
        ):
            with self.subTest(name):
                self.check([change], NOT_SEALED, {(KEY, SIGNATURE), ("commit 1", SIGNATURE)})

    def test_the_issuers_own_is_not_enough(self):
        """Whoever holds the issuer's key does not hold the agent's."""
        office = Signer(KEY, PrivateKey.from_scalar(11))
        self.assertEqual(office.key.public, HEAD_OFFICE.public)
        self.check([resealed(1, office)], NOT_SEALED, {(KEY, SIGNATURE), ("commit 1", SIGNATURE)})

    def test_the_agents_binding_broken_breaks_it_too(self):
        change = sql("UPDATE keys SET body = replace(body, 'agt_buyer', 'agt_other') WHERE key_id = ?", AGENT.key_id)
        self.check([change], NOT_SEALED, {
            (KEY, SIGNATURE), (AGENT.key_id, SIGNATURE), (AGENT.key_id, MISMATCH), ("commit 1", SIGNATURE),
            ("commit 2", SIGNATURE)})

    def test_the_agents_binding_without_its_own_signature_breaks_it_too(self):
        """Whether its bytes stand or are a stranger's, who sealed the commit again under the agent's identifier."""
        self.check([sql("UPDATE keys SET proof = '' WHERE key_id = ?", AGENT.key_id)], NOT_SEALED, {
            (KEY, SIGNATURE), (AGENT.key_id, SIGNATURE), (AGENT.key_id, MISMATCH), ("commit 1", SIGNATURE),
            ("commit 2", SIGNATURE)})
        impostor = Signer(AGENT.key_id, THIEF.key)
        row = write_key(replace(AGENT_BINDING, public=THIEF.key.public), sign_binding(AGENT_BINDING, AGENT))
        self.check([row, resealed(1, impostor)], NOT_SEALED, {
            (KEY, SIGNATURE), (AGENT.key_id, SIGNATURE), ("commit 1", SIGNATURE), ("commit 2", SIGNATURE),
            ("commit 2", GAP)})

    def test_a_commit_elsewhere_in_the_chain(self):
        """A true seal over the very row counts where it was made."""
        self.check([
            "INSERT INTO commits SELECT 6, transaction_id, revision, at, body, key_id, signature FROM commits "
            "WHERE position = 1", sql("DELETE FROM uses WHERE key_id = ?", KEY),
            sql("UPDATE keys SET commit_no = 6 WHERE key_id = ?", KEY),
        ], NOT_SEALED, {(KEY, SIGNATURE), (KEY, GAP), (AGENT.key_id, GAP), ("mnd_first", GAP), ("commit 6", MISMATCH),
                        ("commit 6", GAP)})

    def test_a_commit_at_another_instant(self):
        change = "UPDATE commits SET at = '2026-08-20T10:00:01Z' WHERE position = 1"
        self.check([change], NOT_SEALED, {(KEY, SIGNATURE), ("commit 1", SIGNATURE), ("commit 1", MISMATCH)})

    def test_its_use_taken_away_is_noticed(self):
        store = self.changed(sql("DELETE FROM uses WHERE key_id = ?", KEY))
        self.assertEqual(self.faults(store), {(KEY, GAP)})


class Writing(unittest.TestCase):
    """Nothing is written that nobody could rely on."""

    def setUp(self):
        self.store = SqliteStore.open(None)
        self.addCleanup(self.store.close)

    def test_a_proof_that_does_not_hold_is_a_defect_and_leaves_nothing(self):
        first = {"mandates": (FIRST,), "keys": (AGENT_BINDING, BINDING), "proven_by": {KEY: FIRST["id"]}}
        for name, change in (
            ("no such mandate", {"mandates": ()}),
            ("another key", {"keys": (AGENT_BINDING, replace(BINDING, public=STRANGER.public))}),
            ("another beginning", {"keys": (AGENT_BINDING, replace(BINDING, valid_from=AGENT_BINDING.valid_from))}),
            ("another mandate", {"mandates": (FIRST, BRANCHS), "proven_by": {KEY: BRANCHS["id"]}}),
            ("a key that is not in the batch", {"keys": (AGENT_BINDING,)}),
            ("an agent that is not bound", {"keys": (BINDING,)}),
            ("nobody to seal it", {"signers": ()}),
        ):
            with self.subTest(name):
                with self.assertRaises(ValueError):
                    self.store.commit(batch(**{**first, **change}))
                self.assertEqual(self.store._connection.execute("SELECT count(*) FROM commits").fetchone(), (0,))
        self.assertTrue(self.store.commit(batch(**first)))

    def test_a_bound_identifier_is_not_bound_again(self):
        self.assertTrue(self.store.commit(batch(
            mandates=(FIRST,), keys=(AGENT_BINDING, BINDING), proven_by={KEY: FIRST["id"]})))
        for name, issuer in (("its own key", HEAD_OFFICE), ("another one", IMPOSTOR)):
            with self.subTest(name):
                document = given(issuer, "mnd_third", "2026-08-20T09:30:00Z")
                self.assertFalse(self.store.commit(batch(
                    mandates=(document,), keys=(bound(issuer, document),), proven_by={KEY: "mnd_third"})))
        self.assertEqual(self.store.key(KEY), BINDING)

    def test_a_key_bound_after_its_mandate_makes_earlier_records_whole(self):
        """A state that took a document before issuers' keys were recorded."""
        self.store.commit(batch(mandates=(FIRST,), keys=(AGENT_BINDING,)))
        self.store.commit(batch(transaction_id="txn_number_2", objects=(evidence(2, "mnd_first"),)))
        self.assertIsNone(self.store.held_key(KEY))
        self.assertEqual(readout.bundle(self.store, "txn_number_2", NOW)["keys"][0]["key_id"], AGENT.key_id)
        self.assertTrue(self.store.commit(batch(keys=(BINDING,), proven_by={KEY: FIRST["id"]})))
        bundle = json.loads(json.dumps(readout.bundle(self.store, "txn_number_2", NOW)))
        self.assertEqual({key["key_id"] for key in bundle["keys"]}, {AGENT.key_id, KEY})

    def test_a_fraction_of_the_proofs_second_is_cut(self):
        document = given(HEAD_OFFICE, "mnd_first", "2026-08-20T08:30:00.999Z")
        binding = bound(HEAD_OFFICE, document)
        self.assertEqual(binding.valid_from, BINDING.valid_from)
        self.assertTrue(self.store.commit(batch(
            mandates=(document,), keys=(AGENT_BINDING, binding), proven_by={KEY: document["id"]})))
        self.assertEqual(self.store.key(KEY), binding)


if __name__ == "__main__":
    unittest.main()
