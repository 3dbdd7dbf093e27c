"""Surface 2 and 3, create_agreement; rules 5.1: one call forms an agreement whole, or writes nothing of it."""

import unittest
from datetime import timedelta

from a202_reference.canonical import content_bytes, content_hash, value_hash
from a202_reference.codes import Outcome
from a202_reference.registries import TYPE_RULES, ObjectType
from a202_reference.signing import check_entry
from a202_reference.times import format_instant
from tests.bilateral.parties import (
    APPROVAL_RULE,
    NOW,
    PRICE,
    TERMS,
    TRANSACTION,
    Desk,
    RefusalCase,
    buyer_mandate,
    changed,
)

DENIED, REQUIRED = "A202-POLICY-DENIED", "A202-APPROVAL-REQUIRED"
MISMATCH, UNRESOLVED = "A202-APPROVAL-HASH-MISMATCH", "A202-MANDATE-STATUS-UNRESOLVED"
STATE, TERMS_INVALID = "A202-STATE-TRANSITION-DENIED", "A202-TERMS-INVALID"
FREIGHT = {
    "profile": "a202-profile/freight-spot/0.1",
    "core": {"description": "One full truck load", "quantity": "1", "unit_code": "NAR",
             "total": {"currency": "EUR", "amount": "1450.00"}},
    "profile_terms": {
        "lane": {"origin_country": "NL", "destination_country": "DE"},
        "collection_window": {
            "earliest": "2026-12-01T06:00:00Z", "latest": "2026-12-01T12:00:00Z", "time_zone": "Europe/Amsterdam"},
        "equipment": "curtain sider 13.6 m",
        "liability": {"regime": "CMR", "cap": {"currency": "EUR", "amount": "20000.00"}},
    },
}


class Written(unittest.TestCase):
    """What one call writes."""

    @classmethod
    def setUpClass(cls):
        cls.desk = Desk().introduce()
        cls.result = cls.desk.form(session_id="ses_chosen_one", offer_evidence_refs=["evd_catalogue_one"])
        cls.objects = cls.desk.objects()
        cls.by_id = {each["id"]: each for each in cls.objects}

    def of(self, kind):
        return [each for each in self.objects if each["object_type"] == kind]

    def named(self, member):
        return self.by_id[self.result[member]]

    def test_eight_objects_in_record_order(self):
        self.assertEqual([each["object_type"] for each in self.objects], [
            "offer", "policy_decision", "acceptance", "policy_decision", "transaction_event", "agreement", "commitment",
            "transaction_event"])

    def test_the_offer(self):
        offer = self.named("offer_id")
        self.assertEqual(offer["payload"], {
            "offeror": {"organization_id": "org_delta", "agent_id": "agt_delta_supplier_01"},
            "offeree": {"organization_id": "org_northstar", "agent_id": "agt_northstar_buyer_01"},
            "session_id": "ses_chosen_one", "supersedes_offer_id": None, "valid_until": "2026-08-21T09:00:00Z",
            "terms": TERMS, "evidence_refs": ["evd_catalogue_one"]})
        self.assertEqual(self.result["session_id"], "ses_chosen_one")

    def test_the_acceptance_is_over_the_exact_offer(self):
        offer, acceptance = self.named("offer_id"), self.named("acceptance_id")
        self.assertEqual(acceptance["payload"], {
            "offer_id": offer["id"], "offer_hash": content_hash(offer), "session_id": "ses_chosen_one",
            "accepting_party": offer["payload"]["offeree"]})

    def test_the_agreement_is_over_the_offers_terms(self):
        offer, agreement = self.named("offer_id"), self.named("agreement_id")
        payload = agreement["payload"]
        self.assertEqual(payload["terms"], offer["payload"]["terms"])
        self.assertEqual(payload["terms_hash"], value_hash(TERMS))
        self.assertEqual(self.result["terms_hash"], payload["terms_hash"])
        self.assertEqual(
            (payload["accepted_offer_id"], payload["accepted_offer_hash"], payload["acceptance_id"]),
            (offer["id"], content_hash(offer), self.result["acceptance_id"]))
        self.assertEqual(payload["commitment_ids"], [self.result["commitment_id"]])

    def test_both_sign_the_agreement_over_the_same_bytes(self):
        entries = self.named("agreement_id")["signatures"]
        self.assertEqual({entry["key_id"] for entry in entries}, {"key_northstar_agent_01", "key_delta_agent_01"})
        self.assertEqual({entry["purpose"] for entry in entries}, {"agreement_commitment"})

    def test_the_suppliers_commitment(self):
        commitment = self.named("commitment_id")
        self.assertEqual(commitment["payload"], {
            "agreement_id": self.result["agreement_id"],
            "committed_party": {"organization_id": "org_delta", "agent_id": "agt_delta_supplier_01"},
            "subject": {
                "agreement_id": self.result["agreement_id"], "terms_hash": value_hash(TERMS),
                "profile": TERMS["profile"], "term_path": "$.terms.core"}})

    def test_who_made_what(self):
        authors = {name: self.named(name)["created_by"]["agent_id"] for name in (
            "offer_id", "acceptance_id", "agreement_id", "commitment_id")}
        self.assertEqual(authors, {
            "offer_id": "agt_delta_supplier_01", "acceptance_id": "agt_northstar_buyer_01",
            "agreement_id": "agt_northstar_buyer_01", "commitment_id": "agt_delta_supplier_01"})
        self.assertEqual(
            {event["created_by"]["agent_id"] for event in self.of("transaction_event")}, {"agt_northstar_buyer_01"})

    def test_one_policy_decision_for_each_presented_decision(self):
        decisions = self.of("policy_decision")
        self.assertEqual([each["created_by"]["mandate_id"] for each in decisions], [
            self.desk.supplier["mandate_id"], self.desk.buyer["mandate_id"]])
        for each, party in zip(decisions, (self.desk.supplier, self.desk.buyer), strict=True):
            self.assertEqual(each["payload"], {
                "action_hash": value_hash(self.desk.formation_act(party)), "decision": "allow", "reason_codes": [],
                "evaluated_at": "2026-08-20T10:00:00Z", "mandate_ids": [party["mandate_id"]],
                "stream": {"kind": "transaction", "id": TRANSACTION}, "stream_sequence": 0,
                "visibility": "transaction_parties"})

    def test_both_events_cite_the_offerees_decision(self):
        accepted = self.of("policy_decision")[1]
        for event in self.of("transaction_event"):
            self.assertEqual(event["payload"]["policy_decision_id"], accepted["id"])
            self.assertEqual(event["payload"]["action_hash"], accepted["payload"]["action_hash"])
            self.assertEqual({entry["purpose"] for entry in event["signatures"]}, {"event_append"})
            self.assertEqual(len(event["signatures"]), 2)

    def test_the_events(self):
        direct, committed = self.of("transaction_event")
        self.assertEqual(direct["payload"]["data"], {
            "offer_id": self.result["offer_id"], "acceptance_id": self.result["acceptance_id"],
            "session_id": "ses_chosen_one"})
        self.assertEqual(committed["payload"]["data"], {"agreement_id": self.result["agreement_id"]})
        self.assertEqual(
            [(each["payload"]["sequence"], each["payload"]["previous_event_hash"]) for each in (direct, committed)],
            [(1, None), (2, content_hash(direct))])

    def test_every_hash_and_signature_verifies(self):
        for document in self.objects:
            with self.subTest(kind=document["object_type"]):
                self.assertEqual(document["content_hash"], content_hash(document))
                rule = TYPE_RULES[ObjectType(document["object_type"])]
                for entry in document["signatures"]:
                    finding = check_entry(
                        content_bytes(document), entry, rule.purposes, self.desk.workspace.store.key)
                    self.assertIs(finding.outcome, Outcome.VERIFIED)

    def test_the_acts_and_the_status_answers_are_kept(self):
        store = self.desk.workspace.store
        acts = [self.desk.formation_act(party) for party in (self.desk.buyer, self.desk.supplier)]
        self.assertEqual(store.acts(TRANSACTION), {value_hash(act): act for act in acts})
        self.assertEqual(
            {(each["action_hash"], each["mandate_id"], each["status"], each["retrieved_at"])
             for each in store.status_results(TRANSACTION)},
            {(value_hash(self.desk.formation_act(party)), party["mandate_id"], "active", "2026-08-20T09:59:30Z")
             for party in (self.desk.buyer, self.desk.supplier)})


class Formed(unittest.TestCase):

    def test_the_session_is_minted_when_absent(self):
        self.assertRegex(Desk().introduce().form()["session_id"], r"\Ases_[0-9a-f]{24}\Z")

    def test_the_other_profile(self):
        desk = Desk().introduce()
        self.assertEqual(desk.form(terms=FREIGHT)["terms_hash"], value_hash(FREIGHT))

    def test_without_agreement_sign_among_the_actions(self):
        desk = Desk().introduce(buyer={"actions": ["offer.accept"]}, supplier={"actions": ["offer.submit"]})
        self.assertEqual(desk.form()["state"], "committed")

    def test_the_evaluation_is_dated_by_the_decision(self):
        desk = Desk().introduce()
        arguments = desk.formation()
        desk.clock.forward(seconds=60)
        desk.done("create_agreement", arguments)
        decisions = [each for each in desk.objects() if each["object_type"] == "policy_decision"]
        self.assertEqual({each["payload"]["evaluated_at"] for each in decisions}, {"2026-08-20T10:00:00Z"})
        self.assertEqual({each["created_at"] for each in decisions}, {"2026-08-20T10:01:00Z"})

    def test_an_id_of_131_characters(self):
        desk = Desk()
        desk.transaction_id = "txn_" + "a" * 127
        scope = {"scope": {"transaction_ids": [desk.transaction_id]}}
        desk.introduce(buyer=scope, supplier=scope)
        self.assertEqual(desk.form()["state"], "committed")

    def test_scoped_geography_and_category(self):
        scope = {"scope": {"categories": ["lab.calibration"], "geographies": ["NL"]}}
        desk = Desk().introduce(buyer=scope, supplier=scope)
        desk.axes = {"geography": "NL", "category": "lab.calibration"}
        self.assertEqual(desk.form()["state"], "committed")

    def test_under_delegated_mandates_the_whole_chain_is_listed(self):
        desk = Desk().introduce(buyer={"delegation": {"allowed": True, "maximum_depth": 1}})
        root = desk.buyer["mandate_id"]
        child = desk.done("issue_mandate", buyer_mandate(
            parent_mandate_id=root, subject={"agent_id": "agt_junior_01", "key_id": "key_junior_01"}))["mandate"]
        desk.buyer = desk.party(child)
        decision = desk.decide(desk.buyer, desk.formation_act(desk.buyer), ancestor_statuses=[
            {"mandate_id": root, **desk.status()}])
        desk.form(buyer_decision=decision)
        listed = [each["payload"]["mandate_ids"] for each in desk.objects() if each["object_type"] == "policy_decision"]
        self.assertIn([child["id"], root], listed)
        self.assertEqual(
            {each["mandate_id"] for each in desk.workspace.store.status_results(TRANSACTION)},
            {child["id"], root, desk.supplier["mandate_id"]})


class Refused(RefusalCase):
    """Each reason with its exact codes; the whole state is as it was."""

    def setUp(self):
        self.desk = Desk().introduce()
        self.good = self.desk.formation()

    def refuse(self, codes, **changes):
        arguments = {name: value for name, value in {**self.good, **changes}.items() if value is not ...}
        return self.assert_refused(self.desk, "create_agreement", arguments, *codes)

    def with_terms(self, path, value):
        """The call, both decisions made over the changed terms as well."""
        terms = changed(TERMS, path, value)
        acts = [self.desk.formation_act(party, terms) for party in (self.desk.buyer, self.desk.supplier)]
        decisions = [{**self.good[name], "action_hash": _hash_of(act)} for name, act in zip(
            ("buyer_decision", "supplier_decision"), acts, strict=True)]
        return {"terms": terms, "buyer_decision": decisions[0], "supplier_decision": decisions[1]}

    def test_shapes(self):
        for name, change in {
            **{f"no {member}": {member: ...} for member in (
                "transaction_id", "buyer", "supplier", "terms", "offer_valid_until", "buyer_decision",
                "supplier_decision")},
            "a transaction of another kind": {"transaction_id": "agr_one"},
            "a session of another kind": {"session_id": "txn_one"},
            "a party without key": {"buyer": changed(self.desk.buyer, "key_id", ...)},
            "another role": {"offeror_role": "broker"},
            "an unknown member": {"colour": "red"},
            "terms that are no object": {"terms": "as agreed"},
            "a decision that is no object": {"buyer_decision": "allow"},
        }.items():
            with self.subTest(name):
                self.refuse([DENIED], **change)

    def test_one_organisation_on_both_sides(self):
        second = self.desk.done("issue_mandate", buyer_mandate(
            subject={"agent_id": "agt_second_01", "key_id": "key_second_01"}))["mandate"]
        self.refuse([DENIED], supplier=self.desk.party(second))
        self.refuse([DENIED], supplier=self.desk.buyer)

    def test_an_id_of_132_characters(self):
        self.refuse([DENIED], transaction_id="txn_" + "a" * 128)

    def test_rules_versions_without_direct_formation(self):
        for version in ("1.0", "1.1", "1.2", "1.4", "", "latest"):
            with self.subTest(version=version):
                self.refuse([STATE], rules_version=version)

    def test_profiles(self):
        for path, value, code in (
            ("profile", "a202-profile/unheard-of/0.1", "A202-PROFILE-UNKNOWN"),
            ("profile", "a202-profile/calibration-service/0.2", "A202-PROFILE-UNKNOWN"),
            ("profile_terms.payment.prepayment_percent", "100.01", "A202-PROFILE-TERMS-INVALID"),
            ("profile_terms.payment.prepayment_percent", ..., "A202-PROFILE-TERMS-INVALID"),
            ("profile_terms.extra", {"x": "y"}, "A202-PROFILE-TERMS-INVALID"),
            ("profile_terms.rework.included_attempts", -1, "A202-PROFILE-TERMS-INVALID"),
            ("profile_terms", {}, "A202-PROFILE-TERMS-INVALID"),
        ):
            with self.subTest(path=path, value=value):
                self.refuse([code], **self.with_terms(path, value))

    def test_money_and_quantity(self):
        for path, value in (
            ("core.total.amount", "-1"), ("core.total.amount", "4e3"), ("core.total.amount", "03200"),
            ("core.total.amount", 3200), ("core.total.amount", 3200.5), ("core.total.currency", "eur"),
            ("core.quantity", "-1"), ("core.quantity", "1e1"), ("core.quantity", 20), ("core.quantity", "0.0000000001"),
            ("core.unit_code", "pieces"), ("core.unit_code", "h87"),
        ):
            with self.subTest(path=path, value=value):
                self.refuse([TERMS_INVALID], **self.with_terms(path, value))

    def test_an_offer_that_ends_before_it_was_made(self):
        for seconds in (-86400, -1, 0):
            with self.subTest(seconds=seconds):
                self.refuse(["A202-OFFER-EXPIRED"], offer_valid_until=format_instant(NOW + timedelta(seconds=seconds)))
        self.refuse(["A202-OFFER-EXPIRED"], offer_valid_until="tomorrow")

    def test_a_transaction_that_has_left_draft(self):
        self.desk.done("create_agreement", self.good)
        refusal = self.refuse([STATE])
        self.assertIn("committed", refusal.detail)

    def test_the_first_group_that_refuses_answers(self):
        bad_decision = {"buyer_decision": {}, "supplier_decision": {}}
        self.refuse([DENIED], supplier=self.desk.buyer, rules_version="1.2", **bad_decision)
        self.refuse([STATE], rules_version="1.2", **bad_decision)
        self.refuse(["A202-PROFILE-UNKNOWN"], terms={**TERMS, "profile": "a202-profile/unheard-of/0.1"}, **bad_decision)
        self.desk.done("create_agreement", self.good)
        self.refuse([DENIED, MISMATCH, UNRESOLVED], **bad_decision)


def _hash_of(act):
    try:
        return value_hash(act)
    except ValueError:
        return "0" * 64


class Authorisation(RefusalCase):
    """Surface 3: both decisions, each claim, and the verdict recomputed now."""

    def setUp(self):
        self.desk = Desk().introduce()
        self.good = self.desk.formation()

    def refuse(self, codes, decision=None, role="buyer", **changes):
        forged = {f"{role}_decision": {**self.good[f"{role}_decision"], **decision}} if decision else {}
        return self.assert_refused(self.desk, "create_agreement", {**self.good, **forged, **changes}, *codes)

    def test_claims(self):
        status = [{"mandate_id": self.desk.buyer["mandate_id"], "status": "active",
            "retrieved_at": "2026-08-20T09:58:59Z"}]
        for name, change, codes in (
            ("a deny", {"decision": "deny"}, [DENIED]),
            ("a hold", {"decision": "require_approval"}, [REQUIRED]),
            ("no claim", {"decision": None}, [DENIED]),
            ("another hash", {"action_hash": "a" * 64}, [MISMATCH]),
            ("no hash", {"action_hash": None}, [MISMATCH]),
            ("another mandate", {"mandate_id": self.desk.supplier["mandate_id"]}, [DENIED]),
            ("a mandate nobody issued", {"mandate_id": "mnd_never_one"}, [DENIED]),
            ("no mandate", {"mandate_id": None}, [DENIED]),
            ("61 s old", {"checked_at": "2026-08-20T09:58:59Z"}, [UNRESOLVED]),
            ("61 s ahead", {"checked_at": "2026-08-20T10:01:01Z"}, [UNRESOLVED]),
            ("of no instant", {"checked_at": None}, [UNRESOLVED]),
            ("a status that failed", {"status": "failed"}, [UNRESOLVED]),
            ("a status in its own words", {"status": "active"}, [UNRESOLVED]),
            ("invented reasons", {"reason_codes": [REQUIRED]}, [DENIED]),
            ("no reasons", {"reason_codes": None}, [DENIED]),
            ("no status answer", {"status_results": []}, [UNRESOLVED]),
            ("a stale status answer", {"status_results": status}, [UNRESOLVED]),
            ("a status answer that is no text", {"status_results": [{**status[0], "status": ["active"]}]},
                [UNRESOLVED]),
            ("a revoked mandate", {"status_results": [
                {**status[0], "status": "revoked", "retrieved_at": "2026-08-20T10:00:00Z"}]},
                ["A202-MANDATE-INACTIVE"]),
        ):
            with self.subTest(name):
                self.refuse(codes, change)

    def test_both_parties_reasons_together(self):
        refusal = self.assert_refused(self.desk, "create_agreement", {
            **self.good, "buyer_decision": {**self.good["buyer_decision"], "decision": "require_approval"},
            "supplier_decision": {**self.good["supplier_decision"], "status": "failed"}}, UNRESOLVED, REQUIRED)
        for agent in ("agt_northstar_buyer_01", "agt_delta_supplier_01"):
            self.assertIn(agent, refusal.detail)

    def test_the_parties_decisions_exchanged(self):
        self.assert_refused(self.desk, "create_agreement", {
            **self.good, "buyer_decision": self.good["supplier_decision"],
            "supplier_decision": self.good["buyer_decision"]}, MISMATCH, DENIED)

    def test_a_mismatch_tells_the_exact_act_which_then_records(self):
        stale = self.desk.decide(self.desk.buyer, self.desk.formation_act(self.desk.buyer, category="lab"))
        refusal = self.refuse([MISMATCH], stale)
        self.assertEqual(refusal.proposed_action, self.desk.formation_act(self.desk.buyer))
        again = self.desk.decide(self.desk.buyer, refusal.proposed_action)
        self.assertEqual(
            self.desk.done("create_agreement", {**self.good, "buyer_decision": again})["state"], "committed")

    def test_a_decision_is_over_these_terms(self):
        other = changed(TERMS, "core.total.amount", "3200.0")
        self.refuse([MISMATCH], terms=other)

    def test_the_mandate_is_this_agents_of_this_organisation_with_this_key(self):
        self.refuse([DENIED], buyer={**self.desk.buyer, "agent_id": "agt_other_one"})
        self.refuse([DENIED], buyer={**self.desk.buyer, "key_id": "key_northstar_principal_01"})
        self.refuse([DENIED], buyer={**self.desk.buyer, "key_id": "key_delta_agent_01"})
        self.refuse([MISMATCH, DENIED], buyer={**self.desk.buyer, "organization_id": "org_epsilon"})
        self.refuse([DENIED], buyer={**self.desk.buyer, "mandate_id": "mnd_never_one"})

    def test_an_allow_made_up_over_a_deny(self):
        terms = changed(TERMS, "core.total.amount", "4800.00")
        denied = self.desk.decide(self.desk.buyer, self.desk.formation_act(self.desk.buyer, terms))
        arguments = self.desk.formation(terms)
        for name in ("buyer_decision", "supplier_decision"):
            arguments[name] = {**arguments[name], "decision": "allow", "reason_codes": []}
        self.assertEqual(denied["decision"], "deny")
        self.assert_refused(self.desk, "create_agreement", arguments, DENIED)

    def test_an_allow_made_up_over_a_hold(self):
        desk = Desk().introduce(buyer={"approval_rules": [APPROVAL_RULE]})
        arguments = desk.formation()
        arguments["buyer_decision"] = {**arguments["buyer_decision"], "decision": "allow", "reason_codes": []}
        self.assert_refused(desk, "create_agreement", arguments, REQUIRED)

    def test_a_mandate_that_ran_out_since_the_decision(self):
        desk = Desk().introduce(buyer={"valid_until": "2026-08-20T10:00:30Z"})
        arguments = desk.formation()
        self.assertEqual(arguments["buyer_decision"]["decision"], "allow")
        desk.clock.forward(seconds=30)
        self.assert_refused(desk, "create_agreement", arguments, "A202-MANDATE-INACTIVE")
        desk.clock.forward(seconds=-1)
        self.assertEqual(desk.done("create_agreement", arguments)["state"], "committed")

    def test_a_decision_is_good_for_60_seconds(self):
        self.desk.clock.forward(seconds=61)
        self.assert_refused(self.desk, "create_agreement", self.good, UNRESOLVED)
        self.desk.clock.forward(seconds=-1)
        self.assertEqual(self.desk.done("create_agreement", self.good)["state"], "committed")

    def test_an_approval_that_is_not_held(self):
        desk = Desk().introduce(buyer={"approval_rules": [APPROVAL_RULE]})
        act = desk.formation_act(desk.buyer)
        approval = desk.done("issue_approval", desk.approval(value_hash(act)))["approval_id"]
        allowed = desk.decide(desk.buyer, act, approval_id=approval)
        arguments = desk.formation(buyer_decision=allowed)
        for approval_id in ("apr_unknown_one", None, 7, ["apr_one"], desk.buyer["mandate_id"]):
            with self.subTest(approval_id=approval_id):
                self.assert_refused(desk, "create_agreement", {
                    **arguments, "buyer_decision": {**allowed, "approval_id": approval_id}}, REQUIRED)
        self.assertEqual(desk.done("create_agreement", arguments)["state"], "committed")
        self.assertTrue(desk.workspace.store.consumed(approval))

    def test_the_price_stays_the_fixtures(self):
        self.assertEqual(TERMS["core"]["total"], PRICE)
