"""Rules that a holder of the right keys can break while every hash and signature still fits (rules 1.2, 5.1, 5.6, 6.5,
8, 12.6, 12.8; D-8, D-19, D-23, D-26, D-38, D-39): each break shows, and its twin without the fault verifies whole."""

from __future__ import annotations

import copy
import tempfile
import unittest
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from a202_reference.codes import Code, Outcome
from a202_reference.evidence.bundle import read_bundle
from a202_reference.evidence.disclosure import disclose
from a202_reference.evidence.gating import ROWS_OF_THEIR_OWN
from a202_reference.evidence.material import Material
from a202_reference.evidence.procedure import verify
from a202_reference.evidence.report import Report
from a202_reference.gate import common
from a202_reference.gate.judging import CHECKS
from a202_reference.profiles import ProfileRegistry
from a202_reference.registries import ObjectType
from a202_reference.resources import data_root
from tests.evidence.records import BUYER, KEYS, START, SUPPLIER, TERMS, Story, report_on, retold
from tests.evidence.stories import told
from tests.evidence.test_broken_records import Case, Edit, event, mandate, nth, payload

ILLEGAL, LEAK, DENIED = (
    Code.EVIDENCE_TRANSITION_ILLEGAL, Code.DISCLOSURE_POLICY_VIOLATION, Code.DISCLOSURE_DENIED)
SPARE = "key_buyer_spare_01"
HIDDEN = {"hidden_side_terms": "a rebate of ten percent"}


def resigned(document: dict[str, Any], key_id: str, other: str) -> None:
    """Let another key make the signature that this key made."""
    entry = next(entry for entry in document["signatures"] if entry["key_id"] == key_id)
    entry["key_id"] = other


def by_spare(object_type: str, at: int = 0) -> Edit:
    return lambda bundle: resigned(nth(bundle, object_type, at), BUYER.key_id, SPARE)


def countersigned(event_type: str, key_id: str, other: str) -> Edit:
    return lambda bundle: resigned(event(bundle, event_type), key_id, other)


def data(event_type: str = "agreement.direct", /, **members: Any) -> Edit:
    return lambda bundle: event(bundle, event_type)["payload"]["data"].update(copy.deepcopy(members))


def reference(**members: Any) -> Edit:
    return lambda bundle: nth(bundle, "performance_event")["payload"]["evidence_refs"][0].update(members)


def envelope(object_type: str, /, **members: Any) -> Edit:
    return lambda bundle: nth(bundle, object_type).update(members)


def signed_by_one(role_key: str) -> Edit:
    def edit(bundle: dict[str, Any]) -> None:
        obligation = nth(bundle, "obligation", 1)
        obligation["signatures"] = [entry for entry in obligation["signatures"] if entry["key_id"] != role_key]
    return edit


FAILED = {
    # The key that the mandate names.
    "author signs with another key of its agent": Case(
        "walkthrough", by_spare("acceptance"), "mandate_resolves", ILLEGAL),
    "decision under another key of its agent": Case(
        "walkthrough", by_spare("policy_decision", 1), "mandate_resolves", ILLEGAL),
    "party signs the agreement with another key of its agent": Case(
        "walkthrough", by_spare("agreement"), "mandate_resolves", ILLEGAL),
    "party countersigns with another key of its agent": Case(
        "walkthrough", countersigned("performance.declared", BUYER.key_id, SPARE), "mandate_resolves", ILLEGAL),
    # Both parties.
    "obligation without event, signed by the obligee alone": Case(
        "eventless", signed_by_one(SUPPLIER.key_id), "guard_obligation.activated", ILLEGAL),
    # The gate.
    "event data beyond its list": Case("walkthrough", data(**HIDDEN), "well_formed", LEAK),
    "event data that names a rival's price": Case("walkthrough", data(best_price="1.00"), "well_formed", LEAK),
    "private member in an offer": Case("walkthrough", payload("offer", **HIDDEN), "well_formed", DENIED),
    "secret deep in an evidence object": Case(
        "walkthrough", payload("evidence", issuer={"organization_id": "org_delta", "secret": "x"}), "well_formed",
        Code.INVITATION_SECRET_DISCLOSED),
    "award unit in an acceptance": Case(
        "walkthrough", payload("acceptance", lot_id="lot_x01"), "well_formed", Code.LOT_UNKNOWN),
    "decision that tells of other bids": Case(
        "walkthrough", payload("policy_decision", reason_codes=["A202-BID-NO-IMPROVEMENT"]), "well_formed", LEAK),
    "offer that was over when it was made": Case(
        "walkthrough", payload("offer", valid_until="2026-08-20T09:00:00Z"), "well_formed", Code.OFFER_EXPIRED),
    "terms that their profile refuses": Case(
        "walkthrough", lambda bundle: nth(bundle, "offer")["payload"]["terms"]["profile_terms"].pop("rework"),
        "well_formed", Code.PROFILE_TERMS_INVALID),
    "obligation whose subject restates terms": Case(
        "walkthrough", lambda bundle: nth(bundle, "obligation")["payload"]["subject"].update(price="1.00"),
        "well_formed", Code.OBLIGATION_SUBJECT_UNREFERENCED),
    "answer that restates what is owed": Case(
        "walkthrough", payload("obligation_response", quantity="20"), "well_formed", Code.OBLIGATION_TERMS_MUTATED),
    "quantity of no form": Case(
        "walkthrough", payload("performance_event", asserted_quantity="4e3"), "well_formed", Code.TERMS_INVALID),
    # One session, one evidence, one beginning.
    "event of another session than its offer": Case(
        "walkthrough", data(session_id="ses_somewhere_else_01"), "guard_agreement.direct", ILLEGAL),
    "reference to evidence of another type": Case(
        "walkthrough", reference(evidence_type="attestation"), "evidence_ref_hash", Code.EVIDENCE_HASH_MISMATCH),
    "credential in a reference's hint": Case(
        "walkthrough", reference(locator_hint="password=1"), "evidence_ref_form", DENIED),
    "issued as rejected, in a whole record": Case(
        "walkthrough", payload("obligation", state="rejected"), "obligation_replay", ILLEGAL),
}

NOT_CHECKABLE: dict[str, tuple[str, Edit, str]] = {
    "countersigned by the other party's principal": (
        "walkthrough", countersigned("agreement.direct", SUPPLIER.key_id, "key_supplier_principal_01"),
        "countersignature"),
    "hidden terms in an acceptance": ("walkthrough", payload("acceptance", **HIDDEN), "well_formed"),
    "hidden terms in a commitment": ("walkthrough", payload("commitment", **HIDDEN), "well_formed"),
    "hidden terms in a decision": ("walkthrough", payload("policy_decision", **HIDDEN), "well_formed"),
    "hidden terms in an event": (
        "walkthrough", lambda bundle: event(bundle, "agreement.direct")["payload"].update(HIDDEN), "well_formed"),
    "hidden terms in evidence": ("walkthrough", payload("evidence", **HIDDEN), "well_formed"),
    "hidden terms in the envelope": ("walkthrough", envelope("evidence", **HIDDEN), "well_formed"),
    "another version of the specification": (
        "walkthrough", envelope("evidence", spec_version="a202-commercial/9.9"), "well_formed"),
    "an object of no registered type": ("walkthrough", envelope("evidence", object_type="side_letter"), "well_formed"),
    "offer that supersedes an unknown one": (
        "walkthrough", payload("offer", supersedes_offer_id="off_nowhere_01"), "unresolved_reference"),
    "obligation that waits for an unknown one": (
        "walkthrough", payload("obligation", due_condition={
            "type": "due_on_discharge", "obligation_id": "obl_nowhere_01"}), "unresolved_reference"),
    "profile that is not registered here": (
        "walkthrough", lambda bundle: [nth(bundle, kind)["payload"]["terms"].update(
            profile="a202-profile/unheard-of/0.1") for kind in ("offer", "agreement")], "guard_agreement.direct"),
}
"""Breaks without a code of their own, or that objects which are not here could explain: story, edit, check."""

TWINS: dict[str, tuple[str, Edit]] = {
    "a hint that holds no credential": (
        "walkthrough", reference(locator_hint="certificate 12, shelf 4, no passwords")),
    "the same session": ("walkthrough", data(session_id="ses_evidence_tests_01")),
    "an event that names no session": (
        "walkthrough", lambda bundle: event(bundle, "agreement.direct")["payload"]["data"].pop("session_id", None)),
    "a mandate that names the other key": (
        "walkthrough", lambda bundle: (
            mandate(bundle)["subject"].update(key_id=SPARE),
            [entry.update(key_id=SPARE) for document in bundle["objects"] for entry in document["signatures"]
             if entry["key_id"] == BUYER.key_id])),
    "the right type": ("walkthrough", reference(evidence_type="third_party_certificate")),
    "a registered reason beside an allow": ("walkthrough", payload("policy_decision", reason_codes=[])),
}
"""Edits next to the faults that break nothing. Every story is a twin of all of them: it verifies whole."""


def outcomes(report: Report, check: str) -> set[Outcome]:
    return {row.result for row in report.rows if row.name == check}


class ResignedRecordsShowWhatTheyBreak(unittest.TestCase):
    def test_each_fault_fails_its_check_with_its_code(self) -> None:
        for name, case in FAILED.items():
            with self.subTest(name):
                report = report_on(retold(told(case.story), case.edit))
                failures = {(row.name, row.code) for row in report.rows if row.result is Outcome.FAILED}
                self.assertIn((case.check, case.code), failures)

    def test_each_fault_without_code_is_not_checkable_and_never_verified(self) -> None:
        for name, (story, edit, check) in NOT_CHECKABLE.items():
            with self.subTest(name):
                report = report_on(retold(told(story), edit))
                self.assertIn(Outcome.NOT_CHECKABLE, outcomes(report, check))
                self.assertNotIn(Outcome.FAILED, outcomes(report, check))

    def test_each_story_and_each_twin_verifies_whole(self) -> None:
        for name in sorted({case.story for case in FAILED.values()}):
            with self.subTest(name):
                self.assertEqual([], list(report_on(told(name)).not_verified()))
        for name, (story, edit) in TWINS.items():
            with self.subTest(name):
                self.assertEqual([], list(report_on(retold(told(story), edit)).not_verified()))

    def test_another_key_leaves_the_signature_what_it_is(self) -> None:
        report = report_on(retold(told("walkthrough"), by_spare("acceptance")))
        self.assertEqual({"mandate_resolves"}, {row.name for row in report.not_verified()})

    def test_a_key_that_is_not_known_leaves_it_open(self) -> None:
        bundle = retold(told("walkthrough"), by_spare("acceptance"))
        bundle["keys"] = [key for key in bundle["keys"] if key["key_id"] != SPARE]
        report = report_on(bundle)
        self.assertIn(Outcome.NOT_CHECKABLE, outcomes(report, "mandate_resolves"))
        self.assertEqual(0, report.counts["failed"])

    def test_a_key_that_only_a_record_tells_of_leaves_it_open(self) -> None:
        story = Story().form()
        story.write(ObjectType.KEY_RECORD, "key", BUYER, {
            "controller_organization_id": BUYER.organization_id, "algorithm": "ES256",
            "public_key_jwk": KEYS[SPARE][1].public.jwk, "status": "active", "purposes": ["offer_acceptance"],
            "valid_from": "2026-08-19T10:00:00Z", "valid_until": None}, id=SPARE)
        bundle = retold(story.bundle, by_spare("acceptance"))
        bundle["keys"] = [key for key in bundle["keys"] if key["key_id"] != SPARE]
        report = report_on(bundle)
        self.assertEqual({Outcome.VERIFIED}, {row.result for row in report.rows if (row.name, row.subject) == (
            "signature[0]", nth(bundle, "acceptance")["id"])})
        self.assertIn(Outcome.NOT_CHECKABLE, outcomes(report, "mandate_resolves"))
        self.assertNotIn(Outcome.FAILED, outcomes(report, "mandate_resolves"))

    def test_what_is_missing_is_named(self) -> None:
        for named, edit in {
            "off_nowhere_01": payload("offer", supersedes_offer_id="off_nowhere_01"),
            "obl_nowhere_01": payload("obligation", due_condition={
                "type": "all_of", "conditions": [
                    {"type": "due_on_discharge", "obligation_id": "obl_nowhere_01"},
                    {"type": "due_at_time", "at": "2026-09-10T12:00:00Z"}]}),
        }.items():
            with self.subTest(named):
                report = report_on(retold(told("walkthrough"), edit))
                self.assertIn(named, report.scope.unresolved_references)
                self.assertEqual(0, report.counts["failed"])


class WhatIsNotWholeIsNotFailed(unittest.TestCase):
    """The same beside the event, or the steps, that may be held elsewhere."""

    def judged(self, edit: Edit, story: str) -> Report:
        material = read_bundle(retold(told(story), edit), {})
        assert isinstance(material, Material)
        return verify(replace(material, head=None, exported=False), now=START)

    def test_an_obligation_that_one_party_signed(self) -> None:
        report = self.judged(signed_by_one(SUPPLIER.key_id), "eventless")
        self.assertIn(Outcome.NOT_CHECKABLE, outcomes(report, "guard_obligation.activated"))
        self.assertEqual(0, report.counts["failed"])

    def test_an_obligation_issued_in_another_state(self) -> None:
        report = self.judged(payload("obligation", state="due"), "walkthrough")
        self.assertEqual({Outcome.NOT_CHECKABLE}, outcomes(report, "obligation_replay"))
        self.assertEqual(0, report.counts["failed"])


class TheEndOfABundle(unittest.TestCase):
    def test_a_bundle_that_does_not_say_where_it_ends_shows_it(self) -> None:
        edits: dict[str, Edit] = {
            "no head": lambda bundle: bundle.pop("head"),
            "null": lambda bundle: bundle.update(head=None),
            "no count": lambda bundle: bundle["head"].pop("object_count"),
        }
        for name, edit in edits.items():
            with self.subTest(name):
                bundle = copy.deepcopy(told("walkthrough"))
                edit(bundle)
                report = report_on(bundle)
                self.assertEqual(["head_stated"], [row.name for row in report.not_verified()])
                self.assertEqual(Outcome.NOT_CHECKABLE, next(report.not_verified()).result)

    def test_one_that_does_has_no_such_row(self) -> None:
        self.assertEqual(set(), outcomes(report_on(told("walkthrough")), "head_stated"))

    def test_a_part_and_a_plain_list_have_no_such_row(self) -> None:
        bundle = told("walkthrough")
        part = disclose(bundle, sequences=(1, 2))
        assert isinstance(part, dict)
        self.assertEqual(set(), outcomes(report_on(part), "head_stated"))
        plain = verify(Material(tuple(bundle["objects"])), now=START)
        self.assertEqual(set(), outcomes(plain, "head_stated"))


class ProfilesOfTheConfiguration(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        house_profile(Path(folder.name))
        self.profiles = ProfileRegistry.load([Path(folder.name)])
        self.bundle = Story().form(house_terms()).bundle

    def test_a_record_under_one_of_them_verifies_whole(self) -> None:
        self.assertEqual([], list(report_on(self.bundle, self.profiles).not_verified()))

    def test_without_it_the_offer_is_not_checkable_and_the_profile_is_named(self) -> None:
        report = report_on(self.bundle)
        self.assertEqual(0, report.counts["failed"])
        self.assertEqual({"well_formed", "guard_agreement.direct", "unregistered_type"},
                         {row.name for row in report.not_verified()})

    def test_terms_that_it_refuses_fail(self) -> None:
        def without_rework(bundle: dict[str, Any]) -> None:
            nth(bundle, "offer")["payload"]["terms"]["profile_terms"].pop("rework")

        report = report_on(retold(self.bundle, without_rework), self.profiles)
        self.assertIn(("well_formed", Code.PROFILE_TERMS_INVALID), {(row.name, row.code) for row in report.rows})


class TheGateIsAskedOnce(unittest.TestCase):
    def test_each_rule_is_asked_here_or_has_a_row(self) -> None:
        rules: set[Callable[..., Any]] = {*common.CHECKS, *(check for checks in CHECKS.values() for check in checks)}
        self.assertLessEqual(set(ROWS_OF_THEIR_OWN), rules)

    def test_one_fault_has_one_row_about_its_object(self) -> None:
        for name, edit in {
            "hash of another form": payload("evidence", artifact_hash="AB" * 32),
            "credential": reference(locator_hint="password=1"),
        }.items():
            with self.subTest(name):
                report = report_on(retold(told("walkthrough"), edit))
                codes = [(row.subject, row.code) for row in report.rows
                         if row.code in (DENIED, Code.HASH_FORMAT_INVALID)]
                self.assertEqual(1, len(codes), codes)


def house_profile(folder: Path) -> None:
    """A profile of somebody's own, beside the installed ones."""
    text = (data_root() / "profiles" / "calibration-service-0.1.schema.json").read_text(encoding="utf-8")
    (folder / "house-service-0.1.schema.json").write_text(
        text.replace("calibration-service", "house-service"), encoding="utf-8")


def house_terms() -> dict[str, Any]:
    return {**TERMS, "profile": "a202-profile/house-service/0.1"}


if __name__ == "__main__":
    unittest.main()
