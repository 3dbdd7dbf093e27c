"""Records broken in one rule each, by somebody who holds the right keys: each fails with its code, and its twin
that was told again without the fault verifies whole (verification 1; rules D-32)."""

from __future__ import annotations

import copy
import unittest
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from a202_reference.canonical import value_hash
from a202_reference.codes import Code, Outcome
from tests.evidence.records import BUYER, SUPPLIER, TXN, report_on, retold
from tests.evidence.stories import STORIES, told

Edit = Callable[[dict[str, Any]], Any]

ILLEGAL, GAP, SIGNATURE = (
    Code.EVIDENCE_TRANSITION_ILLEGAL, Code.EVIDENCE_CHAIN_GAP, Code.EVIDENCE_SIGNATURE_INVALID)
OTHER_HASH = "ab" * 32


@dataclass(frozen=True)
class Case:
    """One fault: where it is told, what is changed, and the check that must fail with the code."""

    story: str
    edit: Edit
    check: str
    code: Code


def nth(bundle: dict[str, Any], object_type: str, at: int = 0) -> dict[str, Any]:
    return [document for document in bundle["objects"] if document["object_type"] == object_type][at]


def event(bundle: dict[str, Any], event_type: str, at: int = 0) -> dict[str, Any]:
    return [document for document in bundle["objects"] if document["object_type"] == "transaction_event"
            and document["payload"]["event_type"] == event_type][at]


def act(bundle: dict[str, Any], action_type: str) -> dict[str, Any]:
    return next(document for document in bundle["acts"].values() if document["action_type"] == action_type)


def mandate(bundle: dict[str, Any], mandate_id: str = BUYER.mandate_id) -> dict[str, Any]:
    return next(document for document in bundle["mandates"] if document["id"] == mandate_id)


def payload(object_type: str, at: int = 0, /, **members: Any) -> Edit:
    return lambda bundle: nth(bundle, object_type, at)["payload"].update(copy.deepcopy(members))


def moved(event_type: str, /, **members: Any) -> Edit:
    return lambda bundle: event(bundle, event_type)["payload"].update(members)


def mandated(mandate_id: str = BUYER.mandate_id, /, **members: Any) -> Edit:
    return lambda bundle: mandate(bundle, mandate_id).update(copy.deepcopy(members))


def acted(action_type: str, /, **members: Any) -> Edit:
    return lambda bundle: act(bundle, action_type).update(copy.deepcopy(members))


def status(**members: Any) -> Edit:
    return lambda bundle: [result.update(members) for result in bundle["status_results"]]


def over_the_limit(bundle: dict[str, Any]) -> None:
    for terms in (nth(bundle, "offer")["payload"]["terms"], nth(bundle, "agreement")["payload"]["terms"],
                  act(bundle, "offer.submit")["proposed_terms"], act(bundle, "offer.accept")["proposed_terms"]):
        terms["core"]["total"]["amount"] = "4800.00"


def by_the_supplier(object_type: str, at: int = 0) -> Edit:
    def edit(bundle: dict[str, Any]) -> None:
        document = nth(bundle, object_type, at)
        document["created_by"] = SUPPLIER.actor
        document["signatures"][0]["key_id"] = SUPPLIER.key_id
    return edit


def by_the_buyer(object_type: str) -> Edit:
    def edit(bundle: dict[str, Any]) -> None:
        document = nth(bundle, object_type)
        document["created_by"] = BUYER.actor
        document["signatures"][0]["key_id"] = BUYER.key_id
    return edit


def signed_with(object_type: str, key_id: str, entry: int = 0) -> Edit:
    return lambda bundle: nth(bundle, object_type)["signatures"][entry].update(key_id=key_id)


def another(object_type: str, at: int = 0, /, **members: Any) -> Edit:
    """A further object of this kind beside the one there is; it comes last in the record."""
    def edit(bundle: dict[str, Any]) -> None:
        document = copy.deepcopy(nth(bundle, object_type, at))
        envelope = {name: members.pop(name) for name in list(members) if name in document}
        document.update(envelope)
        document["payload"].update(members)
        bundle["objects"].append(document)
    return edit


def cites_the_other_decision(bundle: dict[str, Any]) -> None:
    foreign = nth(bundle, "policy_decision", 0)
    for each in ("agreement.direct", "agreement.committed"):
        event(bundle, each)["payload"].update(
            policy_decision_id=foreign["id"], action_hash=foreign["payload"]["action_hash"])


def refused(bundle: dict[str, Any]) -> None:
    nth(bundle, "policy_decision", 1)["payload"].update(
        decision="deny", visibility="private_to_actor", stream={"kind": "private", "id": "private_northstar"})


def without(object_type: str, at: int = 0) -> Edit:
    return lambda bundle: bundle["objects"].remove(nth(bundle, object_type, at))


def misbound(bundle: dict[str, Any]) -> None:
    nth(bundle, "approval")["payload"]["action_hash"] = OTHER_HASH


def same_approval_twice(bundle: dict[str, Any]) -> None:
    """Two obligations over one act, and one approval."""
    decision, obligation = copy.deepcopy(nth(bundle, "policy_decision", 2)), copy.deepcopy(nth(bundle, "obligation"))
    decision["id"], obligation["id"] = "pol_second_act_01", "obl_second_act_01"
    obligation["signatures"].append({**obligation["signatures"][0], "key_id": SUPPLIER.key_id})
    bundle["objects"] += [decision, obligation]


def answered_twice(bundle: dict[str, Any]) -> None:
    another("obligation_response", id="obr_again_01", created_at="2026-08-20T10:31:00Z")(bundle)


def waived_after_the_end(bundle: dict[str, Any]) -> None:
    document = copy.deepcopy(nth(bundle, "obligation_response"))
    document.update(id="obr_too_late_01", created_at="2026-08-20T11:00:00Z")
    document["payload"] = {"obligation_id": document["payload"]["obligation_id"], "response_type": "waive"}
    bundle["objects"].append(document)


def loop(bundle: dict[str, Any]) -> None:
    first, second = (nth(bundle, "obligation", at) for at in (0, 1))
    first["payload"]["due_condition"] = {"type": "due_on_discharge", "obligation_id": second["id"]}
    second["payload"]["due_condition"] = {"type": "due_on_discharge", "obligation_id": first["id"]}


def key_not_yet_valid(bundle: dict[str, Any]) -> None:
    for key in bundle["keys"]:
        if key["key_id"] == BUYER.key_id:
            key["valid_from"] = "2026-08-20T10:00:01Z"


def key_over(bundle: dict[str, Any]) -> None:
    for key in bundle["keys"]:
        if key["key_id"] == BUYER.key_id:
            key["valid_until"] = "2026-08-20T10:00:00Z"


def revoked(subject_type: str, subject_id: str) -> Edit:
    return lambda bundle: bundle["objects"].insert(0, {
        **copy.deepcopy(nth(bundle, "acceptance")), "id": "rev_case_01", "object_type": "revocation_record",
        "signatures": [{**nth(bundle, "acceptance")["signatures"][0], "purpose": "object_issuance",
                        "key_id": "key_buyer_principal_01"}],
        "payload": {"subject_type": subject_type, "subject_id": subject_id, "status": "revoked",
                    "effective_at": "2026-08-20T09:00:00Z", "reason": "left"}})


def superseded_offer(bundle: dict[str, Any]) -> None:
    another("offer", id="off_later_01", supersedes_offer_id=nth(bundle, "offer")["id"],
            created_at="2026-08-20T09:59:00Z")(bundle)


def on_a_session(bundle: dict[str, Any]) -> None:
    another("transaction_event", id="evt_session_01", stream={"kind": "session", "id": "ses_operated_01"},
            event_type="offer.submitted", from_state="opened", to_state="active", data={},
            previous_event_hash=None)(bundle)


def second_version(bundle: dict[str, Any], **members: Any) -> None:
    before = nth(bundle, "obligation")
    another("obligation", id="obl_version_02", version=2, previous_version_id=before["id"],
            created_at="2026-08-20T11:00:00Z", **members)(bundle)


def amended_without_acceptance(bundle: dict[str, Any]) -> None:
    another("agreement", id="agr_version_02", version=2, previous_version_id=nth(bundle, "agreement")["id"],
            created_at="2026-08-20T11:00:00Z")(bundle)


def forked_versions(bundle: dict[str, Any]) -> None:
    second_version(bundle)
    another("obligation", -1, id="obl_version_03", created_at="2026-08-20T11:01:00Z", quantity="20")(bundle)


def forked_stream(bundle: dict[str, Any]) -> None:
    document = copy.deepcopy(event(bundle, "acceptance.granted"))
    document.update(id="evt_fork_01", created_at="2026-08-20T10:31:00Z")
    bundle["objects"].append(document)


def evented(**members: Any) -> Edit:
    """Edits to what the last event says."""
    return moved("acceptance.granted", **members)


LIMIT = {"id": "c_total_amount", "type": "commercial.decimal", "path": "$.proposed_terms.core.total.amount",
         "operator": "maximum", "value": "9000.00", "on_failure": "deny"}
PATTERN = {"id": "c_words", "type": "commercial.string", "path": "$.action_type", "operator": "matches",
           "value": "(", "on_failure": "deny"}
STRANGER = {"organization_id": "org_stranger", "agent_id": "agt_stranger_01"}

CASES: dict[str, Case] = {
    # Authority: what the mandates cover, and when.
    "over the limit": Case("walkthrough", over_the_limit, "mandate_covers", ILLEGAL),
    "action not listed": Case("walkthrough", mandated(actions=["offer.accept"]), "mandate_covers", ILLEGAL),
    "mandate for another transaction": Case(
        "walkthrough", mandated(scope={"transaction_ids": ["txn_other_01"]}), "mandate_covers", ILLEGAL),
    "mandate for another counterparty": Case(
        "walkthrough", mandated(scope={"transaction_ids": [TXN], "counterparty_organization_ids": ["org_other"]}),
        "mandate_covers", ILLEGAL),
    "geography outside the mandate": Case(
        "scoped", mandated(scope={"transaction_ids": [TXN], "geographies": ["DE"]}), "mandate_covers", ILLEGAL),
    "geography not stated": Case(
        "walkthrough", mandated(scope={"transaction_ids": [TXN], "geographies": ["NL"]}), "mandate_covers", ILLEGAL),
    "constraint that cannot be evaluated": Case(
        "walkthrough", mandated(constraints=[PATTERN]), "mandate_covers", ILLEGAL),
    "decision evaluated another mandate": Case(
        "walkthrough", payload("policy_decision", 1, mandate_ids=[SUPPLIER.mandate_id]), "mandate_covers", ILLEGAL),
    "expired mandate": Case(
        "walkthrough", mandated(valid_until="2026-08-20T10:00:00Z"), "mandate_active_at_append",
        Code.MANDATE_INACTIVE),
    "mandate not begun": Case(
        "walkthrough", mandated(valid_from="2026-08-20T10:05:00Z"), "mandate_active_at_append",
        Code.MANDATE_INACTIVE),
    "expired parent": Case(
        "delegated", mandated("mnd_northstar_root_01", valid_until="2026-08-20T10:15:00Z"),
        "mandate_active_at_append", Code.MANDATE_INACTIVE),
    "suspended mandate": Case(
        "walkthrough", status(status="suspended"), "mandate_active_at_append", Code.MANDATE_INACTIVE),
    "revoked mandate": Case(
        "walkthrough", revoked("mandate", BUYER.mandate_id), "mandate_active_at_append", Code.MANDATE_INACTIVE),
    "revoked agent": Case(
        "walkthrough", revoked("agent", BUYER.agent_id), "mandate_active_at_append", Code.MANDATE_INACTIVE),
    "widened limit": Case(
        "delegated", mandated(constraints=[LIMIT]), "mandate_resolves", Code.MANDATE_DELEGATION_WIDENING),
    "widened actions": Case(
        "delegated", mandated("mnd_northstar_root_01", actions=["offer.accept"]), "mandate_resolves",
        Code.MANDATE_DELEGATION_WIDENING),
    "parent forbids delegation": Case(
        "delegated", mandated("mnd_northstar_root_01", delegation={"allowed": False, "maximum_depth": 0}),
        "mandate_resolves", Code.MANDATE_DELEGATION_WIDENING),
    "mandate without limits": Case("walkthrough", mandated(constraints=[]), "mandate_resolves", ILLEGAL),
    "mandate issued by a stranger": Case(
        "walkthrough", mandated(represented_organization_id="org_delta"), "mandate_resolves", ILLEGAL),
    "mandate of another agent": Case(
        "walkthrough", mandated(subject={"agent_id": "agt_northstar_other_01", "key_id": BUYER.key_id}),
        "mandate_resolves", ILLEGAL),
    # Decisions.
    "foreign decision": Case("walkthrough", cites_the_other_decision, "policy_decision_permits", ILLEGAL),
    "late decision": Case(
        "walkthrough", payload("policy_decision", 1, evaluated_at="2026-08-20T10:00:01Z"), "policy_decision_permits",
        ILLEGAL),
    "refusal moves the record": Case("walkthrough", refused, "policy_decision_permits", ILLEGAL),
    "refusal shown to the counterparty": Case(
        "walkthrough", payload("policy_decision", 1, decision="deny"), "decision_privacy", Code.DISCLOSURE_DENIED),
    "event over another act": Case(
        "walkthrough", evented(action_hash=OTHER_HASH), "policy_decision_bound", ILLEGAL),
    "act over another quantity": Case(
        "walkthrough", acted("obligation.activated", proposed_terms={"core": {
            "quantity": "19", "unit_code": "H87", "total": {"currency": "EUR", "amount": "3200.00"}}}),
        "act_matches_object", ILLEGAL),
    "act with another counterparty": Case(
        "walkthrough", acted("offer.submit", counterparty_organization_id="org_other"), "act_matches_object", ILLEGAL),
    "act on another transaction": Case(
        "walkthrough", acted("performance.declared", transaction_id="txn_other_01"), "act_matches_object", ILLEGAL),
    "eventless act over another quantity": Case(
        "eventless", payload("obligation", 1, quantity="4"), "act_matches_object", ILLEGAL),
    "decision by another agent of the party": Case(
        "walkthrough", lambda bundle: nth(bundle, "policy_decision", 1).update(
            created_by={**BUYER.actor, "agent_id": "agt_northstar_other_01"}), "act_matches_object", ILLEGAL),
    # Approvals.
    "missing approval": Case("approved", without("approval"), "policy_decision_permits", ILLEGAL),
    "misbound approval": Case("approved", misbound, "policy_decision_permits", Code.APPROVAL_HASH_MISMATCH),
    "expired approval": Case(
        "approved", payload("approval", expires_at="2026-08-20T10:00:30Z"), "policy_decision_permits", ILLEGAL),
    "approval in another role": Case(
        "approved", lambda bundle: nth(bundle, "approval")["payload"]["approver"].update(role="clerk"),
        "policy_decision_permits", ILLEGAL),
    "rejected approval": Case(
        "approved", payload("approval", decision="rejected"), "policy_decision_permits", ILLEGAL),
    "approval with conditions": Case(
        "approved", payload("approval", conditions=["after noon"]), "policy_decision_permits", ILLEGAL),
    "approval signed by the agent": Case(
        "approved", signed_with("approval", BUYER.key_id), "signer_is_actor", SIGNATURE),
    "approval used twice": Case("approved", same_approval_twice, "policy_decision_permits", ILLEGAL),
    # Formation.
    "expired offer": Case(
        "walkthrough", payload("offer", valid_until="2026-08-20T09:59:59Z"), "guard_agreement.direct", ILLEGAL),
    "superseded offer": Case("walkthrough", superseded_offer, "guard_agreement.direct", ILLEGAL),
    "direct formation on a session": Case("walkthrough", on_a_session, "guard_agreement.direct", ILLEGAL),
    "terms that their profile refuses": Case(
        "walkthrough", lambda bundle: nth(bundle, "offer")["payload"]["terms"]["profile_terms"].pop("rework"),
        "guard_agreement.direct", ILLEGAL),
    "offer signed by the other party": Case(
        "walkthrough", signed_with("offer", BUYER.key_id), "signer_is_actor", SIGNATURE),
    "acceptance by a stranger": Case(
        "walkthrough", payload("acceptance", accepting_party=STRANGER), "offer_hash", Code.AGREEMENT_HASH_MISMATCH),
    "acceptance in another session": Case(
        "walkthrough", payload("acceptance", session_id="ses_other_01"), "offer_hash", Code.AGREEMENT_HASH_MISMATCH),
    "acceptance of other bytes": Case(
        "walkthrough", payload("acceptance", offer_hash=OTHER_HASH), "offer_hash", Code.AGREEMENT_HASH_MISMATCH),
    "agreement on other terms": Case(
        "walkthrough", lambda bundle: nth(bundle, "agreement")["payload"]["terms"]["core"].update(quantity="21"),
        "terms_hash", Code.AGREEMENT_HASH_MISMATCH),
    "agreement over another offer hash": Case(
        "walkthrough", payload("agreement", accepted_offer_hash=OTHER_HASH), "accepted_offer_hash",
        Code.AGREEMENT_HASH_MISMATCH),
    "agreement between others": Case(
        "walkthrough", payload("agreement", buyer=STRANGER), "agreement_parties", Code.AGREEMENT_HASH_MISMATCH),
    "agreement on terms that were not offered": Case(
        "walkthrough", lambda bundle: (
            nth(bundle, "agreement")["payload"]["terms"]["core"].update(quantity="21"), nth(bundle, "agreement")[
                "payload"].update(terms_hash=value_hash(nth(bundle, "agreement")["payload"]["terms"]))),
        "agreement_terms_equal_offer", Code.AGREEMENT_HASH_MISMATCH),
    "agreement on an acceptance of another offer": Case(
        "walkthrough", lambda bundle: (
            another("offer", id="off_other_01", valid_until="2026-08-22T10:00:00Z")(bundle),
            nth(bundle, "acceptance")["payload"].update(offer_id="off_other_01")),
        "agreement_acceptance_binding", Code.AGREEMENT_HASH_MISMATCH),
    "one key for both parties": Case(
        "walkthrough", signed_with("agreement", BUYER.key_id, 1), "agreement_both_parties", SIGNATURE),
    "one signature on the agreement": Case(
        "walkthrough", lambda bundle: nth(bundle, "agreement")["signatures"].pop(), "signature_count", SIGNATURE),
    # Obligations.
    "obligation on other terms": Case(
        "walkthrough", lambda bundle: nth(bundle, "obligation")["payload"]["subject"].update(terms_hash=OTHER_HASH),
        "obligation_terms_hash", Code.OBLIGATION_SUBJECT_UNREFERENCED),
    "obligation on a term nobody agreed": Case(
        "walkthrough", lambda bundle: nth(bundle, "obligation")["payload"]["subject"].update(
            term_path="$.terms.profile_terms.nothing"), "obligation_terms_hash",
        Code.OBLIGATION_SUBJECT_UNREFERENCED),
    "obligation of a stranger": Case(
        "walkthrough", payload("obligation", obligor=STRANGER), "obligation_terms_hash",
        Code.OBLIGATION_SUBJECT_UNREFERENCED),
    "commitment on another profile": Case(
        "walkthrough", lambda bundle: nth(bundle, "commitment")["payload"]["subject"].update(
            profile="a202-profile/freight-spot/0.1"), "obligation_terms_hash", Code.OBLIGATION_SUBJECT_UNREFERENCED),
    "the obligee asserts": Case("walkthrough", by_the_buyer("performance_event"), "assertion_authority", ILLEGAL),
    "asserted in another unit": Case(
        "walkthrough", payload("performance_event", unit_code="KGM"), "assertion_authority",
        Code.OBLIGATION_TERMS_MUTATED),
    "asserted without evidence": Case(
        "walkthrough", payload("performance_event", evidence_refs=[]), "assertion_authority",
        Code.OBLIGATION_ASSERTION_UNEVIDENCED),
    "asserted more than is owed": Case(
        "walkthrough", payload("performance_event", asserted_quantity="21"), "assertion_authority",
        Code.TERMS_INVALID),
    "the obligor answers": Case(
        "walkthrough", by_the_supplier("obligation_response"), "response_authority",
        Code.OBLIGATION_RESPONSE_UNAUTHORIZED),
    "answer to other bytes": Case(
        "walkthrough", payload("obligation_response", assertion_hash=OTHER_HASH), "assertion_hash",
        Code.OBLIGATION_RESPONSE_HASH_MISMATCH),
    "accepted more than was asserted": Case(
        "partial", payload("obligation_response", accepted_quantity="9"), "remainder_exact", Code.TERMS_INVALID),
    "accepted nothing": Case(
        "walkthrough", payload("obligation_response", accepted_quantity="0"), "remainder_exact", Code.TERMS_INVALID),
    "no remainder named": Case(
        "partial", lambda bundle: nth(bundle, "obligation_response")["payload"].pop("remainder_obligation_id"),
        "remainder_exact", Code.OBLIGATION_REMAINDER_MISSING),
    "wrong remainder": Case(
        "partial", payload("obligation", 1, quantity="11"), "remainder_exact", Code.OBLIGATION_REMAINDER_MISSING),
    "remainder in another unit": Case(
        "partial", payload("obligation", 1, unit_code="KGM"), "remainder_exact", Code.OBLIGATION_REMAINDER_MISSING),
    "rejected for no registered reason": Case(
        "rejected", payload("obligation_response", reason_code="mood"), "guard_acceptance.rejected", ILLEGAL),
    "granted by an answer that rejects": Case(
        "walkthrough", payload("obligation_response", response_type="reject", reason_code="quantity_short"),
        "guard_acceptance.granted", ILLEGAL),
    "activated before its agreement was committed": Case(
        "walkthrough", lambda bundle: (
            event(bundle, "agreement.committed")["payload"].update(sequence=9)), "guard_obligation.activated",
        ILLEGAL),
    "waived without a signature of the obligee": Case(
        "waived", by_the_supplier("obligation_response"), "guard_obligation.waived", ILLEGAL),
    "declared by an assertion of another transaction": Case(
        "walkthrough", lambda bundle: nth(bundle, "performance_event").update(transaction_id="txn_other_01"),
        "guard_performance.declared", ILLEGAL),
    "due condition of no registered form": Case(
        "eventless", payload("obligation", 1, due_condition={"type": "due_some_day"}), "guard_obligation.activated",
        ILLEGAL),
    "answered twice": Case("walkthrough", answered_twice, "obligation_replay", ILLEGAL),
    "waived after its end": Case("walkthrough", waived_after_the_end, "obligation_replay", ILLEGAL),
    "obligations wait for each other": Case(
        "partial", loop, "obligation_cycle", Code.OBLIGATION_CONDITION_CYCLIC),
    "later version owes something else": Case(
        "walkthrough", lambda bundle: second_version(bundle, quantity="19"), "obligation_terms_fixed",
        Code.OBLIGATION_TERMS_MUTATED),
    # Evidence.
    "reference to other evidence bytes": Case(
        "walkthrough", lambda bundle: nth(bundle, "performance_event")["payload"]["evidence_refs"][0].update(
            content_hash=OTHER_HASH), "evidence_ref_hash", Code.EVIDENCE_HASH_MISMATCH),
    "reference without hash": Case(
        "walkthrough", lambda bundle: nth(bundle, "performance_event")["payload"]["evidence_refs"][0].pop(
            "content_hash"), "evidence_ref_form", Code.EVIDENCE_HASH_MISMATCH),
    "bare reference where a full one belongs": Case(
        "walkthrough", lambda bundle: nth(bundle, "performance_event")["payload"].update(
            evidence_refs=[nth(bundle, "evidence")["id"]]), "evidence_ref_form", Code.EVIDENCE_HASH_MISMATCH),
    "reference without type": Case(
        "walkthrough", lambda bundle: nth(bundle, "performance_event")["payload"]["evidence_refs"][0].pop(
            "evidence_type"), "evidence_ref_form", Code.EVIDENCE_TYPE_UNKNOWN),
    "evidence by somebody else than its references say": Case(
        "walkthrough", by_the_buyer("evidence"), "signer_is_actor", SIGNATURE),
    "hash of another form": Case(
        "walkthrough", payload("evidence", artifact_hash="AB" * 32), "content_hash_format", Code.HASH_FORMAT_INVALID),
    # Signatures and keys.
    "signature for another purpose": Case(
        "walkthrough", lambda bundle: event(bundle, "agreement.direct")["signatures"][0].update(
            purpose="object_issuance"), "signature_purpose[0]", SIGNATURE),
    "key not valid yet": Case("walkthrough", key_not_yet_valid, "key_status_at_signing[0]", SIGNATURE),
    "key valid no more": Case("walkthrough", key_over, "key_status_at_signing[0]", SIGNATURE),
    "revoked key": Case("walkthrough", revoked("key", BUYER.key_id), "key_status_at_signing[0]", SIGNATURE),
    # The chain.
    "illegal move": Case("walkthrough", evented(to_state="completed"), "transition_legality", ILLEGAL),
    "another state than the rules reach": Case(
        "walkthrough", evented(to_state="completed"), "recomputed_to_state", ILLEGAL),
    "begins where nothing ended": Case(
        "walkthrough", evented(from_state="in_performance"), "from_state_continuity", ILLEGAL),
    "after the end": Case(
        "walkthrough", moved("performance.declared", to_state="terminated"), "terminal_state", ILLEGAL),
    "begins in the middle": Case(
        "walkthrough", moved("agreement.direct", from_state="published"), "stream_genesis_state", ILLEGAL),
    "deleted": Case(
        "walkthrough", evented(event_type="obligation.deleted"), "undefined_event", Code.STATE_TRANSITION_DENIED),
    "rules that never registered it": Case(
        "walkthrough", lambda bundle: bundle["rules"].update(
            version="1.2", rules_hash="33c4d5e6f708192a3b4c5d6e7f8091a2b3c4d5e6f708192a3b4c5d6e7f8091a2"),
        "transition_legality", ILLEGAL),
    "agreement on another acceptance": Case(
        "walkthrough", lambda bundle: (another("acceptance", id="acc_other_01")(bundle), nth(bundle, "agreement")[
            "payload"].update(acceptance_id="acc_other_01")), "guard_agreement.committed", ILLEGAL),
    "skipped sequence": Case("walkthrough", evented(sequence=7), "sequence_continuity", GAP),
    "another predecessor": Case(
        "walkthrough", evented(previous_event_hash=OTHER_HASH), "event_chain", GAP),
    "fork": Case("walkthrough", forked_stream, "stream_fork", GAP),
    "stream of another transaction": Case(
        "walkthrough", lambda bundle: [document["payload"]["stream"].update(id="txn_other_01") for document in bundle[
            "objects"] if document["object_type"] == "transaction_event"], "stream_identity", GAP),
    "stream of an unregistered kind": Case(
        "walkthrough", evented(stream={"kind": "auction", "id": "auc_x01"}), "stream_kind_registered",
        Code.AUCTION_FORMAT_UNSUPPORTED),
    "first event continues a held one": Case(
        "walkthrough", lambda bundle: (on_a_session(bundle), bundle["objects"][-1]["payload"].update(
            previous_event_hash=event(bundle, "acceptance.granted")["content_hash"])),
        "stream_first_predecessor_held", GAP),
    # Versions.
    "first version with a predecessor": Case(
        "walkthrough", lambda bundle: nth(bundle, "commitment").update(previous_version_id="cmt_before_01"),
        "version_starts_at_one", GAP),
    "later version without one": Case(
        "walkthrough", lambda bundle: nth(bundle, "commitment").update(version=2), "version_starts_at_one", GAP),
    "skipped version": Case(
        "walkthrough", lambda bundle: (second_version(bundle), bundle["objects"][-1].update(version=3)),
        "version_chain", GAP),
    "version of another transaction": Case(
        "walkthrough", lambda bundle: (second_version(bundle), bundle["objects"][-1].update(
            transaction_id="txn_other_01")), "version_chain_type", GAP),
    "forked versions": Case("walkthrough", forked_versions, "version_chain_fork", GAP),
    "two objects under one identifier": Case(
        "walkthrough", another("evidence", claim="something else"), "duplicate_identifier", GAP),
    "amendment without acceptance": Case(
        "walkthrough", amended_without_acceptance, "agreement_amendment_fresh", Code.AGREEMENT_AMENDMENT_UNACCEPTED),
    "version that precedes itself": Case(
        "walkthrough", lambda bundle: nth(bundle, "commitment").update(
            version=2, previous_version_id=nth(bundle, "commitment")["id"]), "version_cycle", GAP),
}


class UnbrokenRecordsVerifyWhole(unittest.TestCase):
    """Every story, as told and told again: nothing failed, nothing unchecked."""

    def test_every_story_verifies(self) -> None:
        for name in STORIES:
            with self.subTest(name):
                report = report_on(told(name))
                self.assertEqual([], list(report.not_verified()))

    def test_telling_again_changes_nothing(self) -> None:
        for name in STORIES:
            with self.subTest(name):
                self.assertEqual(told(name), retold(told(name), lambda _: None))


class BrokenRecordsFailWithTheirCode(unittest.TestCase):
    def test_each_fault_fails_its_check_with_its_code(self) -> None:
        for name, case in CASES.items():
            with self.subTest(name):
                report = report_on(retold(told(case.story), case.edit))
                failures = {(row.name, row.code) for row in report.rows if row.result is Outcome.FAILED}
                self.assertIn((case.check, case.code), failures)

    def test_there_are_enough_of_them(self) -> None:
        self.assertGreaterEqual(len(CASES), 40)


if __name__ == "__main__":
    unittest.main()
