"""The gate as a whole: two layers that each speak, an answer without truth value, and an answer for everything."""

import copy
import json
import unittest
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest import mock

from hypothesis import given
from hypothesis import strategies as st

from a202_reference import gate, schema_compiler, schemas
from a202_reference.codes import Code
from a202_reference.registries import ObjectType
from a202_reference.resources import data_root
from conformance.cases import CASES
from conformance.documents.disputes import determination, dispute
from conformance.documents.formation import acceptance, agreement, offer
from conformance.documents.performance import assertion, bundle, event, obligation, response
from conformance.manifest import KINDS
from conformance.world import changed, days, sealed, stand_in
from tests.reference.strategies import PROPERTY, documents


def record() -> dict[str, Any]:
    """A record in the making: identifier to document."""
    made = offer()
    accepted = acceptance(made)
    agreed = agreement(made, accepted)
    owed = obligation(agreed)
    asserted = assertion(owed)
    return {document["id"]: document for document in (made, accepted, agreed, owed, asserted)}


class Judgement(unittest.TestCase):
    def test_it_has_no_truth_value(self) -> None:
        for judgement in (gate.judge_object({}), gate.judge_object(offer())):
            with self.assertRaises(TypeError):
                bool(judgement)

    def test_it_is_accepted_where_neither_layer_objects(self) -> None:
        self.assertTrue(gate.Judgement((), ()).accepted)
        self.assertFalse(gate.Judgement(("payload: is missing",), ()).accepted)
        self.assertFalse(gate.Judgement((), (Code.OFFER_EXPIRED,)).accepted)

    def test_codes_come_once_and_in_order(self) -> None:
        broken = changed(changed(offer(), "payload.secret", "s"), "payload.terms.core.quantity", "-1")
        broken = changed(broken, "payload.terms.core.total.amount", "01")
        self.assertEqual(gate.judge_object(broken).codes, (Code.INVITATION_SECRET_DISCLOSED, Code.TERMS_INVALID))


class Lookups(unittest.TestCase):
    """Rules over other objects speak only of what is held."""

    def setUp(self) -> None:
        self.held = record()
        self.owed = self.held["obl_fernhill_calibration_01"]
        self.asserted = self.held["prf_fernhill_calibration_01"]

    def test_alone_nothing_is_missing(self) -> None:
        self.assertTrue(gate.judge_object(response(self.owed, self.asserted)).accepted)
        self.assertTrue(gate.judge_object(dispute(offer())).accepted)

    def test_over_a_record(self) -> None:
        lookup = gate.Lookup.over(self.held)
        good = response(self.owed, self.asserted)
        for code, document in (
            (None, good),
            (Code.OBLIGATION_RESPONSE_HASH_MISMATCH, changed(good, "payload.assertion_hash", stand_in("other"))),
            (Code.EVIDENCE_DISCLOSURE_INCOMPLETE, changed(good, "payload.assertion_id", "prf_never_seen_01")),
            (Code.OBLIGATION_RESPONSE_UNAUTHORIZED, changed(good, "created_by.organization_id", "org_quayside")),
            (Code.OBLIGATION_REMAINDER_MISSING, changed(good, "payload.accepted_quantity", "9.5")),
            (Code.DISPUTE_SUBJECT_UNREFERENCED, dispute(offer(), subject_hash=stand_in("other"))),
            (None, dispute(self.held["off_fernhill_01"])),
            (Code.EVIDENCE_DISCLOSURE_INCOMPLETE, determination(dispute(offer()))),
            (Code.AGREEMENT_HASH_MISMATCH, acceptance(offer(), offer_hash=stand_in("other"))),
        ):
            with self.subTest(code=code):
                self.assertEqual(gate.judge_object(document, lookup).codes, () if code is None else (code,))

    def test_a_stated_gap_and_a_resolvable_hash_are_not_missing(self) -> None:
        other = stand_in("other")
        stated = gate.Lookup(self.held, stated_gaps=frozenset({"dsp_brightwater_01"}),
                             resolvable_hashes=frozenset({other}))
        self.assertEqual(gate.judge_object(determination(dispute(offer())), stated).codes, ())
        self.assertEqual(gate.judge_object(dispute(offer(), subject_hash=other), stated).codes, ())

    def test_a_record_whose_documents_are_broken_raises_nothing(self) -> None:
        lookup = gate.Lookup.over({name: {"payload": 1, "content_hash": []} for name in self.held})
        for document in self.held.values():
            self.assertIsInstance(gate.judge_object(document, lookup), gate.Judgement)


class Bundles(unittest.TestCase):
    def test_what_is_no_object_is_skipped(self) -> None:
        self.assertTrue(gate.judge_bundle({"objects": [7, None, "x", [], offer()]}).accepted)

    def test_a_copy_is_no_fork(self) -> None:
        self.assertTrue(gate.judge_bundle(bundle(offer(), offer())).accepted)

    def test_empty_statements_count_as_none(self) -> None:
        made = offer()
        self.assertTrue(gate.judge_bundle(bundle(
            made, dispute(made), rules_version_in_force="", subject_act_at="", stated_gaps=None)).accepted)

    def test_one_identifier_under_two_kinds_is_one_broken_stream(self) -> None:
        first = event("request.published", "draft", "published")
        second = event("offer.submitted", "opened", "active", name="other", sequence=7,
                       stream={"kind": "session", "id": first["payload"]["stream"]["id"]})
        self.assertIn(Code.EVIDENCE_CHAIN_GAP, gate.judge_bundle(bundle(first, second)).codes)

    def test_a_number_that_is_no_integer_has_no_hash(self) -> None:
        made = changed(offer(), "payload.terms.profile_terms.rework.included_attempts", 1.0)
        self.assertEqual(gate.judge_object(made).codes, ())
        self.assertEqual(gate.judge_bundle(bundle(made)).codes, (Code.EVIDENCE_HASH_MISMATCH,))

    def test_places_name_the_object(self) -> None:
        errors = gate.judge_bundle(bundle(offer(), changed(offer(), "payload.valid_until", "x"))).schema_errors
        self.assertEqual([error.split(": ")[0] for error in errors], ["objects[1].payload.valid_until"])


@contextmanager
def altered_schemas(file: str, *edits: tuple[str, Any]) -> Iterator[None]:
    """The schema layer over a copy of the files in which the places (dotted paths) have other values."""
    folder = TemporaryDirectory()
    for path in (data_root() / "schemas" / "v0.1").iterdir():
        target = Path(folder.name) / "schemas" / "v0.1" / path.name
        target.parent.mkdir(parents=True, exist_ok=True)
        schema = json.loads(path.read_text("utf-8"))
        for place, value in edits if path.name == file else ():
            schema = changed(schema, "$defs." + place, value)
        target.write_text(json.dumps(schema), "utf-8")
    caches = (schema_compiler.kernel_registry, schema_compiler._reviewed_patterns, schema_compiler._matcher,
              schemas.object_schema, schemas.mandate_schema, schemas.grade_schema, schemas._base)

    def forget() -> None:
        for cached in caches:
            cached.cache_clear()

    forget()
    try:
        with mock.patch.object(schema_compiler, "data_root", return_value=Path(folder.name)):
            yield
    finally:
        forget()
        folder.cleanup()


class TwoLayers(unittest.TestCase):
    """Every closed registry is checked by the schema and by code, and neither relies on the other."""

    WIDENED = (
        ("evidence-reference-of-unregistered-type", "scalars.schema.json", ("evidenceTypeId", True)),
        ("evidence-reference-hash-in-capitals", "scalars.schema.json", ("sha256Hex", True)),
        ("offer-hash-as-multibase", "scalars.schema.json", ("sha256Hex", True)),
        ("offer-total-negative", "scalars.schema.json", ("amount", True)),
        ("offer-total-as-number", "scalars.schema.json", ("amount", True)),
        ("offer-quantity-too-fine", "scalars.schema.json", ("quantityString", True)),
        ("obligation-consideration-negative", "scalars.schema.json", ("amount", True)),
        ("agent-endpoint-over-http", "scalars.schema.json", ("httpsUrl", True)),
        ("mandate-status-over-http", "scalars.schema.json", ("httpsUrl", True)),
        ("obligation-subject-path-with-index", "scalars.schema.json", ("termPath", True)),
        ("invitation-to-address-in-clear", "scalars.schema.json", ("channelDomain", True)),
        ("evidence-reference-without-hash", "structures.schema.json", ("evidenceRef.required", [])),
        ("obligation-subject-restates-quantity", "structures.schema.json", ("subjectRef", True)),
        ("obligation-assertion-on-word-alone", "structures.schema.json", ("evidenceRefs.minItems", 0)),
        ("dispute-without-evidence", "structures.schema.json", ("evidenceRefs.minItems", 0)),
        ("offer-tells-reserve-price", "formation.schema.json", ("offerPayload.additionalProperties", True)),
        ("auction-offer-for-award-unit", "formation.schema.json", ("offerPayload.additionalProperties", True)),
        ("policy-deny-shown-to-counterparty", "formation.schema.json", ("policyDecisionPayload.then", True)),
        ("agreement-signed-by-buyer-alone", "envelope.schema.json", ("agreement.allOf.1.properties.signatures", True)),
        ("action-envelope-with-kernel-annotations", "envelope.schema.json",
         ("action_envelope.allOf.1.properties.kernel_annotations", True)),
        ("invitation-with-secret-beside-hash", "invitation.schema.json",
         ("counterpartyInvitationPayload.additionalProperties", True)),
        ("invitation-accepted-in-custody-unapproved", "invitation.schema.json",
         ("invitationAcceptancePayload.then", True)),
        ("auction-event-on-auction-stream", "event.schema.json", ("eventStream.properties.kind", True)),
        ("auction-close-with-unregistered-reason", "event.schema.json", ("sessionCloseData", True)),
        ("session-event-with-note", "event.schema.json", ("sessionEventData", True)),
        ("session-event-with-foreign-prefix", "event.schema.json", ("sessionEventData", True)),
        ("transaction-event-restates-total", "event.schema.json", ("transactionEventData", True)),
        ("obligation-due-when-told", "obligation.schema.json", ("dueCondition", True)),
        ("obligation-due-at-two-times", "obligation.schema.json", ("dueCondition", True)),
        ("obligation-due-on-nested-conjunction", "obligation.schema.json", ("dueCondition", True)),
        ("obligation-due-in-days-of-no-calendar", "obligation.schema.json", ("businessDaysDue", True)),
        ("obligation-response-rewrites-quantity", "obligation.schema.json",
         ("obligationResponsePayload.additionalProperties", True)),
        ("obligation-rejected-for-taste", "obligation.schema.json",
         ("obligationResponsePayload.properties.reason_code", True)),
        ("obligation-without-subject", "obligation.schema.json", ("obligationPayload.required", [])),
        ("dispute-on-unregistered-ground", "dispute.schema.json", ("disputePayload.properties.grounds", True)),
        ("dispute-on-no-ground", "dispute.schema.json", ("disputePayload.properties.grounds", True)),
        ("appeal-against-the-rule-itself", "dispute.schema.json", ("disputePayload.then", True)),
        ("dispute-of-identifier-alone", "dispute.schema.json", ("disputePayload.required", [])),
        ("determination-by-verdict", "dispute.schema.json", ("outcome", True)),
        ("determination-supersedes-for-convenience", "dispute.schema.json", ("supersession", True)),
        ("settlement-without-trigger", "settlement.schema.json", ("settlementInstructionPayload.required", [])),
        ("organization-assures-itself", "party.schema.json", ("organizationPayload.additionalProperties", True)),
        ("principal-with-telephone", "party.schema.json", ("principalPayload.additionalProperties", True)),
        ("key-record-with-private-half", "party.schema.json", ("publicKeyJwk", True)),
        ("mandate-constraint-type-unregistered", "commercial-mandate.schema.json", ("constraintType", True)),
        ("mandate-constraint-operator-unregistered", "commercial-mandate.schema.json", ("constraintOperator", True)),
        ("mandate-to-agent-and-principal", "commercial-mandate.schema.json", ("subject", True)),
        ("mandate-to-nobody", "commercial-mandate.schema.json", ("subject", True)),
        ("mandate-delegates-to-no-depth", "commercial-mandate.schema.json", ("delegation", True)),
        ("mandate-depth-without-delegation", "commercial-mandate.schema.json", ("delegation", True)),
        ("mandate-bounded-by-country-only", "commercial-mandate.schema.json", ("scope", True)),
    )

    def test_the_schema_refuses_without_the_code(self) -> None:
        for name, *_ in self.WIDENED:
            with self.subTest(name):
                self.assertTrue(gate.judge(CASES[name].kind, CASES[name].build()).schema_errors)

    def test_the_code_refuses_where_the_schema_is_widened(self) -> None:
        for name, file, edit in self.WIDENED:
            with self.subTest(name), altered_schemas(file, edit):
                judgement = gate.judge(CASES[name].kind, CASES[name].build())
                self.assertEqual((judgement.schema_errors, judgement.codes), ((), (CASES[name].code,)))

    def test_every_fault_that_both_layers_see_is_listed(self) -> None:
        both = {case.name for case in CASES.values()
                if case.code and gate.judge(case.kind, case.build()).schema_errors}
        listed = {name for name, *_ in self.WIDENED}
        self.assertEqual(both - listed - NOT_WIDENED, set())


NOT_WIDENED = {
    "mandate-without-constraints",  # the root's own minItems
    "obligation-due-at-time-of-another-obligation", "obligation-due-on-no-event",
    "obligation-due-on-conjunction-of-one", "obligation-due-on-unregistered-evidence",  # as the other conditions
    "offer-hash-in-capitals", "offer-total-with-leading-zero",  # as their neighbours
    "settlement-of-amount-with-exponent", "auction-close-counts-bidders",
    "transaction-event-names-best-price", "dispute-on-ground-of-appeals",
    "invitation-to-another-transaction", "invitation-accepted-without-claimant",
    "evidence-bundle-agreement-signed-once",
}
"""Faults that both layers see and another entry of the table stands for."""


class Hostile(unittest.TestCase):
    """Every value of every kind gets a refusal, never an exception."""

    @PROPERTY
    @given(st.sampled_from([*KINDS, "riddle", "", 7, None]), documents | st.floats() | st.binary(max_size=3))
    def test_any_value_of_any_kind(self, kind: Any, value: Any) -> None:
        judgement = gate.judge(kind, value)
        self.assertEqual(judgement.accepted, kind == "bundle" and isinstance(value, dict) and not judgement.codes)

    @PROPERTY
    @given(st.sampled_from([(case.kind, case.build()) for case in CASES.values()]), st.data())
    def test_wrong_types_everywhere(self, case: Any, data: st.DataObject) -> None:
        kind, value = case
        value = copy.deepcopy(value)
        for _ in range(3):
            path = data.draw(st.sampled_from(list(every_path(value))))
            node = value
            for step in path[:-1]:
                node = node[step]
            node[path[-1]] = data.draw(documents | st.floats() | st.just(10**400) | st.just("\ud800"))
        self.assertIsInstance(gate.judge(kind, value), gate.Judgement)

    @PROPERTY
    @given(st.sampled_from([member.value for member in ObjectType]), documents)
    def test_any_payload_of_any_type(self, object_type: str, payload: Any) -> None:
        for value in ({"object_type": object_type, "payload": payload}, {"object_type": object_type, **sealed(
                {"payload": payload, "id": payload, "version": payload, "signatures": []})}):
            self.assertFalse(gate.judge_object(value).accepted)
            self.assertFalse(gate.judge_bundle({"objects": [value, value], "context": {
                "event_rules_in_force": payload, "verification_report": payload}}).accepted)

    def test_depth_without_bottom(self) -> None:
        deep: Any = {}
        for _ in range(100_000):
            deep = {"objects": [deep]}
        for kind in KINDS:
            with self.subTest(kind):
                self.assertFalse(gate.judge(kind, deep).accepted)
                self.assertFalse(gate.judge(kind, {"payload": deep, "child": deep, "context": deep,
                                                   "counterparty_declaration": deep}).accepted)

    def test_texts_that_patterns_might_choke_on(self) -> None:
        for text in ("a-" * 60_000, "1" * 100_000, "org_" + "a" * 100_000, "secret" * 20_000, "A" * 100_000 + " 1",
                     "0." + "9" * 100_000):
            for path in ("id", "payload.terms.core.total.amount", "payload.terms.core.description"):
                gate.judge_object(changed(offer(), path, text))
            gate.judge_object(changed(dispute(offer()), "payload.description", text))
            gate.judge_object(changed(CASES["valid-counterparty-invitation"].build(),
                                      "payload.invited_channel.channel_domain", text))


def every_path(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if path:
        yield path
    for step, member in value.items() if isinstance(value, dict) else enumerate(
            value if isinstance(value, list) else ()):
        yield from every_path(member, (*path, step))


class Times(unittest.TestCase):
    """Edges of the windows that rules read."""

    def test_dispute_window(self) -> None:
        made = offer()
        for minutes, accepted in ((60 + days(7), True), (61 + days(7), False), (0, True)):
            with self.subTest(minutes):
                raised = dispute(made, minutes=minutes)
                judged = gate.judge_bundle(bundle(made, raised, subject_act_at=made["created_at"]))
                self.assertEqual(judged.accepted, accepted)


if __name__ == "__main__":
    unittest.main()
