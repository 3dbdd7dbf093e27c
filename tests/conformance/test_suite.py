"""Our own fixtures: generated bit for bit, one fault each, every code, every family, every signature true."""

import json
import unittest
from typing import Any

from a202_reference import gate
from a202_reference.canonical import content_bytes, content_hash
from a202_reference.codes import Code
from a202_reference.keys import KeyBinding, Owner
from a202_reference.registries import FAMILIES, TYPE_RULES, ObjectType, RoleScope
from a202_reference.signing import check_entry, check_proof
from a202_reference.times import parse_instant
from conformance.cases import CASES
from conformance.cases.registry import faulty, valid
from conformance.families import families_of
from conformance.generate import ROOT, files, fixture_document, stale
from conformance.vectors import VECTORS, vector_faults
from conformance.world import ACTORS, at

LIVE_ONLY = {
    Code.SEQUENCE_CONFLICT, Code.STREAM_MISMATCH, Code.OFFER_STALE, Code.APPROVAL_REQUIRED,
    Code.APPROVAL_HASH_MISMATCH, Code.MANDATE_INACTIVE, Code.MANDATE_STATUS_UNRESOLVED, Code.POLICY_DENIED,
    Code.INVITATION_UNCLAIMABLE, Code.SETTLEMENT_IDEMPOTENCY_CONFLICT, Code.SETTLEMENT_RECEIPT_UNMATCHED,
    Code.AUCTION_CLOSED, Code.BID_NO_IMPROVEMENT, Code.LOT_ALREADY_AWARDED, Code.SCORING_RULE_FROZEN,
    Code.ROUND_NOT_OPEN}
"""Codes of a running party, which no document on its own deserves (rules 11, "Where": A)."""


class Generated(unittest.TestCase):
    def test_the_committed_files_are_the_generated_ones(self) -> None:
        self.assertEqual(stale(), [])

    def test_generating_twice_gives_the_same_bytes(self) -> None:
        self.assertEqual(files(), files())

    def test_a_case_says_something_and_has_a_name_of_its_own(self) -> None:
        def no_words() -> dict[str, Any]:
            return {}
        with self.assertRaises(ValueError):
            valid("kernel")(no_words)
        with self.assertRaises(ValueError):
            faulty("kernel", None)(CASES["valid-offer"].build)


class OneFaultEach(unittest.TestCase):
    def test_each_case_is_answered_exactly(self) -> None:
        for case in CASES.values():
            with self.subTest(case.name):
                judgement = gate.judge(case.kind, fixture_document(case))
                self.assertEqual(judgement.codes, () if case.code is None else (case.code,))
                if case.positive or case.code is None:
                    self.assertEqual(judgement.schema_errors == (), case.positive)

    def test_every_code_a_document_can_deserve_has_a_case(self) -> None:
        self.assertEqual(set(Code) - {case.code for case in CASES.values()}, LIVE_ONLY)

    def test_every_object_type_with_a_payload_has_a_valid_case(self) -> None:
        held = {each["object_type"] for case in CASES.values() if case.positive
                for each in (case.build().get("objects") or [case.build()]) if "object_type" in each}
        defined = {member.value for member in ObjectType} - {
            "external_identity_assertion", "capability", "intent", "qualification_requirement", "commercial_request",
            "clarification", "delegation", "exception", "evidence_manifest", "audit_bundle"}
        self.assertLessEqual(defined, held)


class Families(unittest.TestCase):
    def test_every_fixture_is_of_exactly_one_family(self) -> None:
        for case in CASES.values():
            with self.subTest(case.name):
                self.assertEqual(len(families_of(case.file)), 1)

    def test_every_family_has_a_fixture(self) -> None:
        found = {family for case in CASES.values() for family in families_of(case.file)}
        self.assertEqual(found, {(scope, family) for scope in RoleScope for family in FAMILIES[scope]})

    def test_a_name_no_pattern_knows_has_none(self) -> None:
        self.assertEqual(families_of("valid-teapot.json"), ())


def resolve(key_id: str) -> KeyBinding | None:
    actor, start = ACTORS.get(key_id), parse_instant(at(0))
    if actor is None or start is None:
        return None
    return KeyBinding(key_id, Owner(actor.organization_id, agent_id=actor.agent_id), actor.signer.key.public, start)


class TrulySigned(unittest.TestCase):
    """The valid fixtures are not only well-formed."""

    def test_hashes_and_signatures_of_every_valid_object(self) -> None:
        for case in CASES.values():
            document = case.build()
            for each in document.get("objects", [document]) if case.positive else ():
                if "object_type" in each:
                    with self.subTest(case=case.name, object=each["id"]):
                        self.assertEqual(content_hash(each), each["content_hash"])
                        purposes = TYPE_RULES[ObjectType(each["object_type"])].purposes
                        outcomes = [check_entry(content_bytes(each), entry, purposes, resolve).outcome
                                    for entry in each["signatures"]]
                        self.assertEqual(set(outcomes), {"verified"})

    def test_proofs_of_valid_mandates(self) -> None:
        for name in ("valid-commercial-mandate", "valid-commercial-mandate-to-principal"):
            with self.subTest(name):
                self.assertEqual(check_proof(CASES[name].build(), resolve).outcome, "verified")


class Vectors(unittest.TestCase):
    def committed(self) -> dict[str, Any]:
        return {name: json.loads((ROOT / "vectors" / f"{name}.json").read_text("utf-8")) for name in VECTORS}

    def test_they_come_out_as_they_state(self) -> None:
        self.assertEqual(list(vector_faults(self.committed())), [])

    def test_each_sort_of_wrong_vector_is_noticed(self) -> None:
        for file, edit in (
            ("canonical", lambda v: v["canonical"][0].update(canonical="{}")),
            ("canonical", lambda v: v["refused"][0].update(text="1")),
            ("hashes", lambda v: v["content_hash"][0].update(sha256="0" * 64)),
            ("signatures", lambda v: v["objects"][0]["object"]["signatures"][0].update(purpose="object_issuance")),
            ("signatures", lambda v: v["mandate"]["mandate"].update(valid_until=at(1))),
        ):
            vectors = self.committed()
            edit(vectors[file])
            with self.subTest(file):
                self.assertEqual(len(list(vector_faults(vectors))), 1)


if __name__ == "__main__":
    unittest.main()
