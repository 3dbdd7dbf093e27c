"""Checks one by one: verified, failed with the exact code, or not checkable (verification 1)."""

from __future__ import annotations

import copy
import unittest
from collections.abc import Callable
from datetime import timedelta
from typing import Any

from a202_reference.canonical import content_bytes, content_hash, value_hash
from a202_reference.codes import Code, Outcome
from a202_reference.evidence.bundle import read_bundle
from a202_reference.evidence.material import Material
from a202_reference.evidence.procedure import verify
from a202_reference.evidence.report import Report
from a202_reference.lifecycle import acts
from a202_reference.lifecycle.rules import RULE_SETS
from a202_reference.registries import ObjectType, Purpose
from a202_reference.signing import sign_entry, unsigned_entry
from a202_reference.times import format_instant
from tests.evidence.records import BUYER, MONEY, START, SUPPLIER, TXN, Story, report_on, retold, rule, signer
from tests.evidence.stories import told
from tests.evidence.test_broken_records import event, nth

V, F, N = Outcome.VERIFIED, Outcome.FAILED, Outcome.NOT_CHECKABLE
Edit = Callable[[dict[str, Any]], Any]
RULES = RULE_SETS["1.3"].ref


def results(report: Report, check: str, subject: str | None = None) -> set[tuple[Outcome, Code | None]]:
    return {(row.result, row.code) for row in report.rows
            if row.name == check and (subject is None or row.subject == subject)}


def edited(edit: Edit, story: str = "walkthrough") -> dict[str, Any]:
    """Changed without mending anything, as somebody without keys could."""
    bundle = copy.deepcopy(told(story))
    edit(bundle)
    return bundle


def without(*object_types: str) -> Edit:
    def edit(bundle: dict[str, Any]) -> None:
        bundle["objects"] = [each for each in bundle["objects"] if each["object_type"] not in object_types]
        bundle["head"] = None
    return edit


class StepOne(unittest.TestCase):
    def test_a_missing_counterpart_leaves_the_check_unmade_and_is_named(self) -> None:
        for check, gone in {
            "accepted_offer_hash": "offer", "agreement_terms_equal_offer": "offer", "agreement_parties": "offer",
            "offer_hash": "offer", "agreement_acceptance_binding": "acceptance", "assertion_hash": "performance_event",
            "obligation_terms_hash": "agreement", "evidence_ref_hash": "evidence",
        }.items():
            with self.subTest(check):
                bundle = edited(without(gone))
                report = report_on(bundle)
                self.assertEqual({(N, None)}, results(report, check))
                self.assertIn(nth(told("walkthrough"), gone)["id"], report.scope.unresolved_references)
                self.assertEqual(0, report.counts["failed"])

    def test_what_has_no_canonical_form_fails(self) -> None:
        for name, value in {"a fraction": 1.5, "an integer too large": 2**60, "a lone surrogate": "\ud800"}.items():
            with self.subTest(name):
                report = report_on(edited(lambda bundle, value=value: nth(bundle, "evidence")["payload"].update(
                    claim=value)))
                self.assertIn((F, Code.EVIDENCE_HASH_MISMATCH), results(report, "canonicalisable"))
                self.assertIn((N, None), results(report, "content_hash"))

    def test_a_missing_hash_fails(self) -> None:
        report = report_on(edited(lambda bundle: nth(bundle, "offer").pop("content_hash")))
        self.assertIn((F, Code.EVIDENCE_HASH_MISMATCH), results(report, "content_hash_present"))

    def test_changed_bytes_fail(self) -> None:
        report = report_on(edited(lambda bundle: nth(bundle, "evidence")["payload"].update(claim="another")))
        self.assertIn((F, Code.EVIDENCE_HASH_MISMATCH), results(report, "content_hash"))

    def test_annotations_are_outside_the_hash_and_have_no_place_without_an_operator(self) -> None:
        notes = {"policy_decision_id": "pol_x01", "session_id": None, "session_sequence": 1,
                 "received_at": "2026-08-20T10:00:00Z"}
        bundle = edited(lambda each: nth(each, "evidence").update(kernel_annotations=notes))
        report = report_on(bundle)
        self.assertEqual({(V, None)}, results(report, "annotations_outside_hash"))
        self.assertEqual({(V, None), (N, None)}, results(report, "annotations_absent"))
        document = nth(bundle, "evidence")
        document["content_hash"] = value_hash(
            {name: member for name, member in document.items() if name not in ("content_hash", "signatures")})
        self.assertEqual({(F, Code.ANNOTATION_FORGED)}, results(report_on(bundle), "annotations_outside_hash"))

    def test_an_annotated_action_envelope_is_forged(self) -> None:
        story = Story()
        payload = {"action_type": "offer.submit", "expected_sequence": 0, "session_id": None,
                   "idempotency_key": "12345678", "proposed_object": {}}
        plain = story.write(ObjectType.ACTION_ENVELOPE, "act", BUYER, payload,
                            (BUYER.key_id, Purpose.ACTION_SUBMISSION))
        self.assertEqual({(V, None)}, results(report_on(story.bundle), "annotations_absent"))
        plain["kernel_annotations"] = {}
        self.assertEqual({(F, Code.ANNOTATION_FORGED)}, results(report_on(story.bundle), "annotations_absent"))

    def test_an_envelope_is_the_act_behind_its_hash(self) -> None:
        story = Story()
        envelope = story.write(
            ObjectType.ACTION_ENVELOPE, "act", BUYER,
            {"action_type": "offer.submit", "expected_sequence": 0, "session_id": None,
             "idempotency_key": "12345678", "proposed_object": {}}, (BUYER.key_id, Purpose.ACTION_SUBMISSION))
        story.approve(BUYER, {}, action_hash=envelope["content_hash"])
        self.assertEqual({(V, None)}, results(report_on(story.bundle), "action_hash"))

    def test_an_act_that_is_not_here_or_not_itself(self) -> None:
        for name, edit, expected in (
            ("absent", lambda bundle: bundle.update(acts={}), (N, None)),
            ("changed", lambda bundle: [act.update(category="x") for act in bundle["acts"].values()],
             (F, Code.EVIDENCE_HASH_MISMATCH)),
            ("no canonical form", lambda bundle: [act.update(category=1.5) for act in bundle["acts"].values()],
             (F, Code.EVIDENCE_HASH_MISMATCH)),
        ):
            with self.subTest(name):
                self.assertEqual({expected}, results(report_on(edited(edit)), "action_hash"))

    def test_hashes_that_bind_something_are_verified_where_it_is_here(self) -> None:
        held = nth(told("walkthrough"), "offer")["content_hash"]
        for name, carried, expected in (("held", held, V), ("not held", "ab" * 32, N)):
            with self.subTest(name):
                bundle = retold(told("walkthrough"), lambda each, carried=carried: nth(each, "obligation")[
                    "payload"].update(due_condition={"type": "due_on_event", "act_ref": carried}))
                self.assertEqual({(expected, None)}, results(report_on(bundle), "bound_hashes"))

    def test_an_unregistered_evidence_type_is_not_checkable_and_named(self) -> None:
        report = report_on(retold(told("walkthrough"), lambda bundle: (
            nth(bundle, "evidence")["payload"].update(evidence_type="hearsay"),
            nth(bundle, "performance_event")["payload"]["evidence_refs"][0].update(evidence_type="hearsay"))))
        self.assertEqual({(N, None)}, results(report, "evidence_type_registered"))
        self.assertEqual({(N, None)}, results(report, "unregistered_type"))

    def test_a_bare_reference_is_verified_only_by_evidence_that_stands_in_this_set(self) -> None:
        def referenced(bundle: dict[str, Any]) -> None:
            nth(bundle, "offer")["payload"]["evidence_refs"] = [nth(bundle, "evidence")["id"]]

        bundle = retold(told("walkthrough"), referenced)
        self.assertEqual({(V, None)}, results(report_on(bundle), "evidence_ref_short"))
        broken = copy.deepcopy(bundle)
        nth(broken, "evidence")["payload"]["claim"] = "another"
        self.assertEqual({(N, None)}, results(report_on(broken), "evidence_ref_short"))
        bundle["objects"].remove(nth(bundle, "evidence"))
        report = report_on(bundle)
        self.assertEqual({(N, None)}, results(report, "evidence_ref_short"))
        self.assertIn((N, None), results(report, "evidence_resolves"))


class StepTwo(unittest.TestCase):
    def test_a_placeholder_is_not_checkable_but_its_purpose_is_judged(self) -> None:
        def placed(bundle: dict[str, Any], **more: str) -> None:
            nth(bundle, "offer")["signatures"][0].update(
                signature="synthetic-placeholder-signature-value", **more)

        offer = nth(told("walkthrough"), "offer")["id"]
        report = report_on(edited(placed))
        self.assertEqual({(N, None)}, results(report, "signature_value[0]", offer))
        self.assertEqual({(N, None)}, results(report, "signature[0]", offer))
        self.assertEqual(0, report.counts["failed"])
        report = report_on(edited(lambda bundle: placed(bundle, purpose="event_append")))
        self.assertEqual({(F, Code.EVIDENCE_SIGNATURE_INVALID)}, results(report, "signature[0]", offer))

    def test_a_key_nobody_holds_is_not_checkable_and_named(self) -> None:
        report = report_on(edited(lambda bundle: nth(bundle, "offer")["signatures"][0].update(
            key_id="key_nobody_holds_01")))
        self.assertIn((N, None), results(report, "key_resolves[0]"))
        self.assertIn("key_nobody_holds_01", report.scope.unresolved_references)
        self.assertEqual(0, report.counts["failed"])

    def test_every_way_a_value_is_wrong_fails(self) -> None:
        for name, change in {
            "another value": {"signature": "A" * 86}, "too short": {"signature": "A" * 16},
            "padded": {"signature": "A" * 86 + "=="}, "another algorithm": {"algorithm": "EdDSA"},
            "another instant": {"signed_at": "2026-08-20T10:00:01Z"}, "no text": {"signature": 5},
            "one member more": {"note": "x"},
        }.items():
            with self.subTest(name):
                bundle = edited(lambda each, change=change: nth(each, "offer")["signatures"][0].update(change))
                self.assertEqual({(F, Code.EVIDENCE_SIGNATURE_INVALID)}, results(
                    report_on(bundle), "signature_value[0]", nth(bundle, "offer")["id"]))

    def test_a_repeated_entry_adds_nothing(self) -> None:
        bundle = edited(lambda each: nth(each, "offer")["signatures"].append(nth(each, "offer")["signatures"][0]))
        self.assertEqual({(N, None)}, results(report_on(bundle), "signature[1]", nth(bundle, "offer")["id"]))

    def test_an_object_without_signature_fails_and_a_receipt_is_not_checkable(self) -> None:
        bundle = edited(lambda each: nth(each, "commitment").update(signatures=[]))
        self.assertIn((F, Code.EVIDENCE_SIGNATURE_INVALID), results(report_on(bundle), "signature_count"))
        bundle = edited(lambda each: nth(each, "commitment").update(signatures=[], object_type="adapter_receipt"))
        self.assertIn((N, None), results(report_on(bundle), "signature_count"))

    def test_a_missing_countersignature_is_not_checkable(self) -> None:
        bundle = edited(lambda each: event(each, "agreement.direct")["signatures"].pop())
        report = report_on(bundle)
        self.assertEqual({(V, None), (N, None)}, results(report, "countersignature"))
        self.assertEqual(0, report.counts["failed"])

    def test_a_stranger_does_not_countersign(self) -> None:
        def countersigned(bundle: dict[str, Any]) -> None:
            event(bundle, "agreement.direct")["signatures"][1]["key_id"] = "key_stranger_agent_01"

        bundle = retold(told("walkthrough"), countersigned)
        bundle["keys"].append({**bundle["keys"][0], "key_id": "key_stranger_agent_01", "owner": {
            "organization_id": "org_stranger", "agent_id": "agt_stranger_01"},
            "public_key_jwk": signer("key_stranger_agent_01").key.public.jwk})
        report = report_on(bundle)
        self.assertIn((V, None), results(report, "signature[1]"))
        self.assertIn((N, None), results(report, "countersignature"))

    def test_purposes_of_a_type_without_table_row(self) -> None:
        for purpose, expected in (("object_issuance", V), ("audit_seal", N)):
            with self.subTest(purpose):
                story = Story()
                story.write(ObjectType.AUDIT_BUNDLE, "aud", BUYER, {}, (BUYER.key_id, Purpose(purpose)))
                self.assertEqual({(expected, None)}, results(report_on(story.bundle), "signature_purpose[0]"))

    def test_an_invitation_acceptance_needs_its_pair(self) -> None:
        story = Story()
        claim = story.write(ObjectType.INVITATION_ACCEPTANCE, "ina", SUPPLIER, {
            "claimant": {"organization_id": SUPPLIER.organization_id, "agent_id": SUPPLIER.agent_id}},
            (SUPPLIER.key_id, Purpose.INVITATION_CLAIM))
        self.assertEqual({(F, Code.INVITATION_CLAIM_UNSIGNED)}, results(
            report_on(story.bundle), "invitation_acceptance_pair"))
        entry = unsigned_entry(BUYER.key_id, Purpose.OBJECT_ISSUANCE, claim["created_at"])
        claim["signatures"].append(sign_entry(content_bytes(claim), entry, signer(BUYER.key_id)))
        self.assertEqual({(V, None)}, results(report_on(story.bundle), "invitation_acceptance_pair"))

    def test_a_mandates_proof_is_checked_like_a_signature(self) -> None:
        for name, edit, expected in (
            ("verified", lambda _: None, (V, None)),
            ("changed mandate", lambda mandate: mandate.update(valid_until="2027-08-20T10:00:00Z"),
             (F, Code.EVIDENCE_SIGNATURE_INVALID)),
            ("another key", lambda mandate: mandate["proof"].update(key_id=BUYER.key_id),
             (F, Code.EVIDENCE_SIGNATURE_INVALID)),
            ("placeholder", lambda mandate: mandate["proof"].update(signature="synthetic-placeholder"), (N, None)),
        ):
            with self.subTest(name):
                bundle = edited(lambda each, edit=edit: edit(each["mandates"][0]))
                self.assertEqual({expected}, results(
                    report_on(bundle), "signature[proof]", bundle["mandates"][0]["id"]))


class StepThree(unittest.TestCase):
    def test_an_undisclosed_predecessor_is_a_boundary(self) -> None:
        bundle = retold(told("walkthrough"), lambda each: nth(each, "evidence").update(
            version=2, previous_version_id="evd_before_01"))
        report = report_on(bundle)
        self.assertEqual({(N, None)}, results(report, "version_chain"))
        self.assertEqual({(N, None)}, results(report, "version_chain_start"))

    def test_a_predecessor_of_another_type_is_a_gap(self) -> None:
        bundle = retold(told("walkthrough"), lambda each: nth(each, "evidence").update(
            version=2, previous_version_id=nth(each, "offer")["id"]))
        self.assertEqual({(F, Code.EVIDENCE_CHAIN_GAP)}, results(report_on(bundle), "version_chain"))

    def test_a_copy_byte_for_byte_is_one_object(self) -> None:
        bundle = edited(lambda each: each["objects"].extend(copy.deepcopy(each["objects"])))
        self.assertEqual(list(report_on(told("walkthrough")).rows), list(report_on(bundle).rows))

    def test_an_identifier_with_two_objects_resolves_to_neither(self) -> None:
        bundle = retold(told("walkthrough"), lambda each: each["objects"].append(
            {**copy.deepcopy(nth(each, "offer")), "created_at": "2026-08-20T11:00:00Z"}))
        report = report_on(bundle)
        self.assertEqual({(F, Code.EVIDENCE_CHAIN_GAP)}, results(report, "duplicate_identifier"))
        self.assertEqual({(N, None)}, results(report, "offer_hash"))


class StepFour(unittest.TestCase):
    def test_a_record_without_its_beginning_is_a_boundary_and_fails_nothing(self) -> None:
        bundle = edited(lambda each: (each["objects"].remove(event(each, "agreement.direct")), each.update(head=None)))
        report = report_on(bundle)
        self.assertEqual(0, report.counts["failed"])
        for check in ("stream_start", "stream_boundary", "stream_genesis_state"):
            self.assertEqual({(N, None)}, results(report, check))

    def test_a_record_without_its_end_shows_only_against_its_head(self) -> None:
        def cut(bundle: dict[str, Any]) -> None:
            bundle["objects"].remove(event(bundle, "acceptance.granted"))

        self.assertEqual({(F, Code.EVIDENCE_CHAIN_GAP)}, results(report_on(edited(cut)), "head_event"))
        self.assertEqual({(F, Code.EVIDENCE_CHAIN_GAP)}, results(report_on(edited(cut)), "head_object_count"))
        report = report_on(edited(lambda bundle: (cut(bundle), bundle.update(head=None))))
        self.assertEqual(0, report.counts["failed"])

    def test_heads_of_other_forms_fail(self) -> None:
        for head in ({"sequence": "5", "event_hash": None}, {}, {
                "sequence": True, "event_hash": 5, "object_count": "x"}):
            with self.subTest(head):
                report = report_on(edited(lambda bundle, head=head: bundle.update(head=head)))
                self.assertEqual({(F, Code.EVIDENCE_CHAIN_GAP)}, results(report, "head_event"))

    def test_first_event_without_predecessor_in_the_middle_is_not_checkable(self) -> None:
        bundle = retold(told("walkthrough"), lambda each: (
            [each["objects"].remove(event(each, name)) for name in (
                "agreement.direct", "agreement.committed", "obligation.activated", "performance.declared")],
            event(each, "acceptance.granted")["payload"].update(previous_event_hash=None)))
        self.assertEqual({(N, None)}, results(report_on(bundle), "stream_start"))


class StepFive(unittest.TestCase):
    def test_without_rules_every_transition_is_not_checkable(self) -> None:
        report = report_on(edited(lambda bundle: bundle.update(rules=None)))
        for check in ("rules_version_resolves", "transition_legality", "recomputed_to_state"):
            self.assertEqual({(N, None)}, results(report, check))
        self.assertEqual(0, report.counts["failed"])

    def test_rules_with_another_hash_do_not_resolve(self) -> None:
        report = report_on(edited(lambda bundle: bundle["rules"].update(rules_hash="ab" * 32)))
        self.assertEqual({(N, None)}, results(report, "rules_version_resolves"))

    def test_what_decisions_need_and_is_not_here_leaves_them_unmade(self) -> None:
        for name, edit, checks in (
            ("acts", lambda bundle: bundle.update(acts={}),
             ("act_matches_object", "mandate_covers", "policy_decision_permits")),
            ("mandates", lambda bundle: bundle.update(mandates=[]),
             ("mandate_resolves", "mandate_covers", "mandate_active_at_append", "policy_decision_permits")),
            ("status answers", lambda bundle: bundle.update(status_results=[]), ("mandate_active_at_append",)),
            ("stale answers", lambda bundle: [each.update(retrieved_at="2026-08-20T09:00:00Z") for each in bundle[
                "status_results"]], ("mandate_active_at_append",)),
            ("keys", lambda bundle: bundle.update(keys=[]), ("mandate_resolves", "mandate_covers")),
            ("decisions", without("policy_decision"), (
                "policy_decision_resolves", "policy_decision_bound", "policy_decision_permits", "mandate_covers",
                "mandate_active_at_append")),
        ):
            with self.subTest(name):
                report = report_on(edited(edit))
                self.assertEqual(0, report.counts["failed"])
                for check in checks:
                    self.assertEqual({(N, None)}, results(report, check), check)

    def test_a_parent_mandate_that_is_not_here_leaves_the_child_unresolved(self) -> None:
        bundle = edited(lambda each: each["mandates"].remove(
            next(mandate for mandate in each["mandates"] if mandate["parent_mandate_id"] is None
                 and mandate["id"] == "mnd_northstar_root_01")), "delegated")
        report = report_on(bundle)
        self.assertIn((N, None), results(report, "mandate_resolves"))
        self.assertIn("mnd_northstar_root_01", report.scope.unresolved_references)
        self.assertEqual(0, report.counts["failed"])

    def test_a_decision_more_than_a_minute_old_is_not_covered(self) -> None:
        bundle = retold(told("walkthrough"), lambda each: nth(each, "policy_decision", 1)["payload"].update(
            evaluated_at="2026-08-20T09:58:59Z"))
        self.assertIn((N, None), results(report_on(bundle), "mandate_active_at_append"))

    def test_a_missing_approval_is_not_checkable_in_a_part_of_a_record(self) -> None:
        bundle = edited(lambda each: (each["objects"].remove(nth(each, "approval")), each.update(head=None)),
                        "approved")
        report = report_on(bundle)
        self.assertIn((N, None), results(report, "policy_decision_permits"))
        self.assertEqual(0, report.counts["failed"])

    def test_an_approval_under_an_unknown_key_is_not_checkable(self) -> None:
        bundle = edited(lambda each: nth(each, "approval")["signatures"][0].update(key_id="key_nobody_01"), "approved")
        self.assertIn((N, None), results(report_on(bundle), "policy_decision_permits"))

    def test_of_several_approvals_each_releases_one_act(self) -> None:
        """Two acts over one document, two approvals of it, and copies of them that say something else beside it."""
        story = Story(buyer_over={"approval_rules": [rule()]})
        act = story.act_of("offer.accept")
        story.approve(BUYER, act)
        story.form()
        agreement = story.of("agreement")[0]
        issued = acts.issue_act(acts.Setting(TXN, SUPPLIER.organization_id), acts.core_of("20", "H87", MONEY),
                                agreement["id"])
        for _ in range(2):
            story.later(minutes=1).approve(BUYER, issued)
        first = story.later(minutes=1).issue()
        self.assertEqual({(V, None)}, results(report_on(story.bundle), "policy_decision_permits"))
        story.issue()
        self.assertEqual({(V, None)}, results(report_on(story.bundle), "policy_decision_permits"))
        story.issue()
        self.assertEqual({(V, None), (F, Code.EVIDENCE_TRANSITION_ILLEGAL)}, results(
            report_on(story.bundle), "policy_decision_permits"))
        bundle = story.bundle
        for approval in [each for each in bundle["objects"] if each["object_type"] == "approval"]:
            bundle["objects"].append({**approval, "created_by": SUPPLIER.actor})
        self.assertEqual({(F, Code.EVIDENCE_CHAIN_GAP)}, results(report_on(bundle), "duplicate_identifier"))
        self.assertEqual("pending", first["payload"]["state"])

    def test_an_approval_without_canonical_form_releases_nothing(self) -> None:
        bundle = edited(lambda each: nth(each, "approval")["payload"].update(conditions=["\ud800"]), "approved")
        self.assertIn((F, Code.EVIDENCE_TRANSITION_ILLEGAL), results(report_on(bundle), "policy_decision_permits"))

    def test_an_approval_over_an_act_that_was_never_recorded_is_not_checkable(self) -> None:
        story = Story().form()
        approval = story.approve(BUYER, {"action_type": "offer.accept", "transaction_id": TXN})
        report = report_on(story.bundle)
        self.assertEqual({(N, None)}, results(report, "action_hash", approval["id"]))
        self.assertEqual(0, report.counts["failed"])

    def test_a_refusal_that_nothing_rests_on_permits_nothing_and_fails_nothing(self) -> None:
        def refused(bundle: dict[str, Any]) -> None:
            decision = copy.deepcopy(nth(bundle, "policy_decision"))
            decision.update(id="pol_refused_01")
            decision["payload"].update(decision="deny", action_hash="ab" * 32, visibility="private_to_actor", stream={
                "kind": "private", "id": "private_delta"})
            bundle["objects"].append(decision)

        report = report_on(retold(told("walkthrough"), refused))
        self.assertEqual({(V, None)}, results(report, "decision_privacy"))
        self.assertEqual({(N, None)}, results(report, "policy_decision_permits", "pol_refused_01"))
        self.assertEqual(0, report.counts["failed"])

    def test_events_of_the_operated_scope_have_guards_that_are_not_recomputed(self) -> None:
        bundle = retold(told("walkthrough"), lambda each: event(each, "acceptance.granted")["payload"].update(
            event_type="request.published"))
        self.assertEqual({(N, None)}, results(report_on(bundle), "guard_request.published"))

    def test_an_event_that_no_rules_know_is_not_named_after_itself(self) -> None:
        bundle = retold(told("walkthrough"), lambda each: event(each, "acceptance.granted")["payload"].update(
            event_type="<b>"))
        self.assertEqual({(N, None)}, results(report_on(bundle), "guard_unregistered"))


class Obligations(unittest.TestCase):
    def reading(self, story: str, at: int = 0) -> tuple[str, str, str | None]:
        reading = report_on(told(story)).obligations[at]
        return reading.state, reading.due, reading.asserted

    def test_where_each_stands_and_whether_it_was_due(self) -> None:
        for story, at, expected in (
            ("walkthrough", 0, ("discharged", "not_met", "early")),
            ("approved", 0, ("pending", "not_met", None)),
            ("partial", 0, ("discharged", "not_met", "early")),
            ("partial", 1, ("pending", "not_met", None)),
            ("rejected", 0, ("discharged", "not_met", "early")),
            ("hurried", 0, ("discharged", "not_met", "early")),
            ("waived", 0, ("waived", "not_met", None)),
            ("waiting", 1, ("pending", "met", None)),
        ):
            with self.subTest(story=story, at=at):
                self.assertEqual(expected, self.reading(story, at))

    def test_on_time(self) -> None:
        story = Story().form()
        story.claim(story.issue(due={"type": "due_at_time", "at": format_instant(START)}))
        self.assertEqual("on_time", report_on(story.bundle).obligations[0].asserted)

    def test_due_by_evidence_by_an_act_and_by_a_calendar(self) -> None:
        offer = nth(told("walkthrough"), "offer")["content_hash"]
        for due, expected in (
            ({"type": "due_on_event", "evidence_type": "third_party_certificate"}, "met"),
            ({"type": "due_on_event", "evidence_type": "attestation"}, "not_met"),
            ({"type": "due_on_event", "act_ref": offer}, "met"),
            ({"type": "due_at_time", "business_days": {"days": 3, "calendar": "NL"}}, "not_computable"),
        ):
            with self.subTest(due):
                bundle = retold(told("walkthrough"), lambda each, due=due: nth(each, "obligation")["payload"].update(
                    due_condition=due))
                self.assertEqual(expected, report_on(bundle).obligations[0].due)


class StepSix(unittest.TestCase):
    """A dispute over the answer, and a determination of it."""

    def told(self, dispute: dict[str, Any] | None = None, determination: dict[str, Any] | None = None,
             later: timedelta = timedelta(hours=1)) -> Report:
        story = Story().form()
        obligation = story.issue()
        assertion = story.claim(obligation)
        response = story.answer(assertion, "reject")
        evidence = story.of("evidence")[0]
        reference = {"evidence_id": evidence["id"], "content_hash": evidence["content_hash"],
                     "evidence_type": "third_party_certificate", "signed_by": SUPPLIER.ref.document}
        story.now += later
        raised = story.write(ObjectType.DISPUTE, "dsp", SUPPLIER, {
            "raising_party": SUPPLIER.ref.document, "respondent_party": BUYER.ref.document, "subject_type": "act",
            "subject_id": response["id"], "subject_hash": response["content_hash"],
            "grounds": ["obligation_wrongly_rejected"], "evidence_refs": [reference], "rules_ref": RULES,
            **(dispute or {})})
        self.inputs = [response["content_hash"], evidence["content_hash"]]
        answer = determination or {}
        found = story.write(ObjectType.DETERMINATION, "det", BUYER, {
            "dispute_id": raised["id"],
            "question": {"subject_type": "act", "subject_id": response["id"],
                         "subject_hash": response["content_hash"], "rules_ref": RULES, **answer.pop("question", {})},
            "outcome": {"finding": "The answer was over the exact assertion.",
                        "rules_applied": ["a202-rules/pilot#obligation.acceptance-binds-assertion"],
                        "evidence_relied_on": [reference], "inputs_hash": value_hash(self.inputs),
                        "state_result": None, **answer.pop("outcome", {})},
            "determiner": BUYER.ref.document, "authority_basis_ref": "a202-rules/pilot#determiner.authority",
            "effect": "binding", "supersedes": None, "appeal_route_ref": "a202-rules/pilot#appeal.route",
            "determined_at": format_instant(story.now), "effective_from": format_instant(story.now), **answer})
        self.determination = found["id"]
        bundle = story.bundle
        material = read_bundle(bundle, {})
        assert isinstance(material, Material)
        return verify(Material(
            material.objects, material.mandates, material.keys, material.acts, material.status_results,
            material.head, material.rules_version, transaction_id=TXN,
            determination_inputs={found["id"]: self.inputs}), now=START)

    def test_what_holds_verifies_and_prose_is_not_read(self) -> None:
        report = self.told()
        self.assertEqual(0, report.counts["failed"])
        unmade = {row.name for row in report.not_verified()}
        self.assertEqual({"finding_follows"}, unmade)

    def test_each_fault_fails_with_its_code(self) -> None:
        follows, overclaim = Code.DETERMINATION_NOT_FOLLOWING, Code.DETERMINATION_EFFECT_OVERCLAIM
        unreferenced = Code.DISPUTE_SUBJECT_UNREFERENCED
        other_rules = RULE_SETS["1.2"].ref
        for check, determination, code in (
            ("rules_version_in_force", {"question": {"rules_ref": other_rules}}, follows),
            ("rules_applied_resolve", {"outcome": {"rules_applied": ["a202-rules/pilot#mood"]}}, follows),
            ("rules_applied_resolve", {"outcome": {"rules_applied": []}}, follows),
            ("inputs_hash", {"outcome": {"inputs_hash": "ab" * 32}}, Code.EVIDENCE_HASH_MISMATCH),
            ("inputs_hash_recomputes", {"outcome": {"inputs_hash": "ab" * 32}}, follows),
            ("evidence_relied_on_verifies", {"outcome": {"evidence_relied_on": []}}, follows),
            ("outcome_shape", {"outcome": {"verdict": "guilty"}}, follows),
            ("outcome_shape", {"outcome": {"finding": ""}}, follows),
            ("effect_within_grant", {"question": {"subject_type": "obligation_state"}}, overclaim),
            ("effect_within_grant", {"effect": "final"}, overclaim),
            ("effect_within_grant", {"question": {"subject_type": "refusal"}, "effect": "presumptive"}, overclaim),
            ("state_result_effect", {"effect": "advisory", "outcome": {"state_result": {
                "subject_id": "obl_x01", "state": "accepted"}}}, overclaim),
            ("state_result_subject", {"outcome": {"state_result": {"subject_id": "obl_x01", "state": "accepted"}}},
             unreferenced),
            ("state_result_state", {"outcome": {"state_result": {"subject_id": "obl_x01", "state": "closed"}}},
             Code.STATE_TRANSITION_DENIED),
            ("authority_basis", {"authority_basis_ref": "a202-rules/pilot#mood"}, follows),
            ("appeal_route", {"appeal_route_ref": "a202-rules/pilot#mood"}, follows),
            ("determiner_signs", {"determiner": SUPPLIER.ref.document}, Code.EVIDENCE_SIGNATURE_INVALID),
            ("effective_order", {"effective_from": "2026-08-20T10:00:00Z"}, follows),
            ("question_matches_dispute", {"question": {"subject_id": "obr_other_01"}}, unreferenced),
            ("supersession_chain", {"supersedes": {"determination_id": "det_before_01", "determination_hash": "ab" * 32,
                                                   "reason": "mood"}}, Code.DETERMINATION_SUPERSESSION_UNREASONED),
        ):
            with self.subTest(check=check, fault=determination):
                report = self.told(determination=copy.deepcopy(determination))
                self.assertEqual({(F, code)}, results(report, check, self.determination))

    def test_what_cannot_be_known(self) -> None:
        for check, determination in (
            ("determination_rules", {"question": {"rules_ref": {**RULES, "rules_hash": "ab" * 32}}}),
            ("rules_applied_resolve", {"question": {"rules_ref": {}}}),
            ("effect_within_grant", {"question": {"rules_ref": {}}}),
            ("authority_basis", {"question": {"rules_ref": {}}}),
            ("question_matches_dispute", {"dispute_id": "dsp_elsewhere_01"}),
            ("state_result_state", {"outcome": {"state_result": {"subject_id": "obl_x01", "state": "accepted"}}}),
            ("supersedes_hash", {"supersedes": {"determination_id": "det_before_01", "determination_hash": "ab" * 32,
                                                "reason": "corrected_input"}}),
        ):
            with self.subTest(check=check):
                report = self.told(determination=copy.deepcopy(determination))
                self.assertEqual({(N, None)}, results(report, check, self.determination))

    def test_the_window_of_a_dispute(self) -> None:
        for later, expected in (
            (timedelta(hours=168), (V, None)),
            (timedelta(hours=168, seconds=1), (F, Code.DISPUTE_OUT_OF_WINDOW)),
        ):
            with self.subTest(later):
                self.assertEqual({expected}, results(self.told(later=later), "dispute_window"))

    def test_a_disputed_subject_is_the_object_in_its_bytes(self) -> None:
        for name, dispute, expected in (
            ("nothing held", {"subject_id": "obr_other_01", "subject_hash": "ab" * 32}, (N, None)),
            ("other bytes", {"subject_hash": "ab" * 32}, (F, Code.DISPUTE_SUBJECT_UNREFERENCED)),
            ("another object's hash", {"subject_id": "obr_other_01"}, (F, Code.DISPUTE_SUBJECT_UNREFERENCED)),
            ("no determination", {"subject_type": "determination"}, (F, Code.DISPUTE_SUBJECT_UNREFERENCED)),
            ("no refusal", {"subject_type": "refusal"}, (F, Code.DISPUTE_SUBJECT_UNREFERENCED)),
        ):
            with self.subTest(name):
                self.assertEqual({expected}, results(self.told(dispute), "subject_hash"))


class Supersession(unittest.TestCase):
    """Determinations that supersede, and appeals against them; only what these checks read is there."""

    def bundle(self, *determinations: dict[str, Any], appeal: dict[str, Any] | None = None) -> dict[str, Any]:
        story = Story()
        first = story.write(ObjectType.DETERMINATION, "det", BUYER, {"question": {"subject_hash": "ab" * 32}})
        for at, payload in enumerate(determinations):
            supersedes = {"determination_id": first["id"], "determination_hash": first["content_hash"],
                          "reason": "corrected_input", **payload.pop("supersedes", {})}
            story.write(ObjectType.DETERMINATION, "det", BUYER, {
                "question": {"subject_hash": "ab" * 32}, "supersedes": supersedes, "dispute_id": f"dsp_other_0{at}",
                **payload})
        if appeal is not None:
            story.later(seconds=appeal.pop("later", 10))
            story.write(ObjectType.DISPUTE, "dsp", SUPPLIER, {
                "raising_party": SUPPLIER.ref.document, "subject_type": "determination", "subject_id": first["id"],
                "subject_hash": first["content_hash"], "rules_ref": RULES, **appeal})
        self.first = first
        return story.bundle

    def test_once_for_a_reason_on_the_same_question(self) -> None:
        forked, unreferenced = Code.DETERMINATION_SUPERSESSION_FORKED, Code.DISPUTE_SUBJECT_UNREFERENCED
        for name, determinations, check, expected in (
            ("once", [{}], "supersession_chain", {(V, None)}),
            ("once", [{}], "supersession_fork", {(V, None)}),
            ("once", [{}], "supersedes_hash", {(V, None)}),
            ("twice", [{}, {}], "supersession_fork", {(F, forked)}),
            ("other bytes", [{"supersedes": {"determination_hash": "cd" * 32}}], "supersedes_hash",
             {(V, None), (F, Code.EVIDENCE_HASH_MISMATCH)}),
            ("another question", [{"question": {"subject_hash": "cd" * 32}}], "supersession_chain",
             {(F, unreferenced)}),
            ("no question", [{"question": None}], "supersession_chain", {(F, unreferenced)}),
            ("no reason", [{"supersedes": {"reason": "mood"}}], "supersession_chain",
             {(F, Code.DETERMINATION_SUPERSESSION_UNREASONED)}),
            ("not here", [{"supersedes": {"determination_id": "det_other_01"}}], "supersession_chain", {(N, None)}),
        ):
            with self.subTest(name, check=check):
                self.assertEqual(expected, results(report_on(self.bundle(*copy.deepcopy(determinations))), check))

    def test_a_loop_is_a_gap(self) -> None:
        bundle = self.bundle({})
        bundle["objects"][0]["payload"]["supersedes"] = {
            "determination_id": bundle["objects"][1]["id"], "reason": "corrected_input"}
        self.assertEqual({(F, Code.EVIDENCE_CHAIN_GAP)}, results(report_on(bundle), "supersession_chain"))

    def test_an_appeal_is_against_what_stands(self) -> None:
        forked = Code.DETERMINATION_SUPERSESSION_FORKED
        for name, determinations, appeal, expected in (
            ("it stands", [], {}, (V, None)),
            ("superseded before", [{}], {}, (F, forked)),
            ("not here", [], {"subject_id": "det_other_01"}, (N, None)),
        ):
            with self.subTest(name):
                report = report_on(self.bundle(*copy.deepcopy(determinations), appeal=copy.deepcopy(appeal)))
                self.assertEqual({expected}, results(report, "appeal_target_current"))

    def test_the_appeals_own_answer_does_not_count_against_it(self) -> None:
        bundle = self.bundle({}, appeal={})
        bundle["objects"][1]["payload"]["dispute_id"] = bundle["objects"][2]["id"]
        self.assertEqual({(V, None)}, results(report_on(bundle), "appeal_target_current"))


class Settlement(unittest.TestCase):
    def instructed(self, kind: str = "accept", **trigger: str) -> Report:
        story = Story().form()
        obligation = story.issue()
        response = story.answer(story.claim(obligation), kind)
        story.write(ObjectType.SETTLEMENT_INSTRUCTION, "stl", BUYER, {
            "obligation_id": obligation["id"], "agreement_id": obligation["payload"]["agreement_id"],
            "trigger": {"condition_ref": "on acceptance", "accepting_act_hash": response["content_hash"], **trigger}})
        return report_on(story.bundle)

    def test_it_is_triggered_by_an_act_that_accepts(self) -> None:
        for name, report, expected in (
            ("accepted", self.instructed(), (V, None)),
            ("rejected", self.instructed("reject"), (F, Code.SETTLEMENT_TRIGGER_ABSENT)),
            ("not here", self.instructed(accepting_act_hash="ab" * 32), (N, None)),
        ):
            with self.subTest(name):
                self.assertEqual({expected}, results(report, "accepting_act_hash"))


class Invitations(unittest.TestCase):
    def test_a_claim_is_of_the_exact_invitation(self) -> None:
        story = Story()
        invitation = story.write(ObjectType.COUNTERPARTY_INVITATION, "inv", BUYER, {
            "claim_secret_hash": "ab" * 32, "invited_channel": {"channel_hash": "cd" * 32}})
        for carried, expected in ((invitation["content_hash"], V), ("ab" * 32, F)):
            with self.subTest(expected):
                story.write(ObjectType.INVITATION_ACCEPTANCE, "ina", SUPPLIER, {
                    "invitation_id": invitation["id"], "invitation_hash": carried}, (
                        SUPPLIER.key_id, Purpose.INVITATION_CLAIM))
                code = Code.INVITATION_HASH_MISMATCH if expected is F else None
                self.assertIn((expected, code), results(report_on(story.bundle), "invitation_hash"))
        report = report_on(story.bundle)
        self.assertEqual({(N, None)}, results(report, "claim_secret_hash") | results(report, "channel_hash"))
        self.assertEqual(report.scope.objects, report.scope.operated_objects)


class StepSeven(unittest.TestCase):
    def test_every_row_is_not_checkable(self) -> None:
        for gone in ("offer", "evidence", "policy_decision", "transaction_event", "obligation", "commitment"):
            with self.subTest(gone):
                report = report_on(edited(without(gone)))
                self.assertEqual({N}, {row.result for row in report.rows if row.step == 7})

    def test_the_bilateral_session_is_listed_without_a_row(self) -> None:
        report = report_on(told("walkthrough"))
        self.assertEqual(("ses_evidence_tests_01",), report.scope.undisclosed_streams)
        self.assertEqual([], [row for row in report.rows if row.step == 7])

    def test_an_undisclosed_transaction_stream_is_named(self) -> None:
        report = report_on(edited(without("transaction_event")))
        self.assertEqual((), report.scope.streams_disclosed)
        self.assertIn(TXN, report.scope.undisclosed_streams)
        self.assertEqual({(N, None)}, results(report, "undisclosed_stream", TXN))

    def test_a_gap_that_is_stated_is_told_as_that(self) -> None:
        offer = nth(told("walkthrough"), "offer")["id"]
        report = report_on(edited(lambda bundle: (without("offer")(bundle), bundle.update(stated_gaps=[offer]))))
        self.assertEqual(["it is openly left out"], [
            row.detail for row in report.rows if row.name == "unresolved_reference" and row.subject == offer])

    def test_evidence_nobody_references_is_named(self) -> None:
        report = report_on(edited(without("performance_event")))
        self.assertEqual((nth(told("walkthrough"), "evidence")["id"],), report.scope.unreferenced_evidence)
        self.assertEqual(0, report.counts["failed"])

    def test_what_belongs_to_the_operated_scope_is_named(self) -> None:
        bundle = retold(told("walkthrough"), lambda each: event(each, "acceptance.granted")["payload"].update(
            event_type="offer.selected"))
        self.assertEqual((event(bundle, "offer.selected")["id"],), report_on(bundle).scope.operated_objects)


class AnObjectThatIsNone(unittest.TestCase):
    def test_it_has_a_place_and_fails(self) -> None:
        for position, raw in enumerate((None, 5, "text", [], True)):
            with self.subTest(raw):
                report = verify(Material((*([{}] * position), raw)), now=START)
                self.assertEqual({(F, Code.EVIDENCE_HASH_MISMATCH)}, results(
                    report, "canonicalisable", f"objects[{position}]"))

    def test_nothing_at_all_has_nothing_to_say(self) -> None:
        report = verify(Material(()), now=START)
        self.assertEqual(0, report.counts["failed"])

    def test_hashes_are_those_of_the_core(self) -> None:
        offer = nth(told("walkthrough"), "offer")
        self.assertEqual(offer["content_hash"], content_hash(offer))


if __name__ == "__main__":
    unittest.main()
