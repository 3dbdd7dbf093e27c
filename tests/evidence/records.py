"""Records to verify: made with the builders that the server uses, with fixed keys and a fixed clock.

A record is told as a bundle. `retold` mends a bundle after an edit as its makers could have: every hash that names
changed bytes is recomputed, every signature made again with the right key. What then still fails is a broken rule.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from a202_reference.canonical import content_bytes, content_hash, value_hash
from a202_reference.documents.envelope import Agreement, Obligation
from a202_reference.documents.parties import Party
from a202_reference.evidence.bundle import build_bundle, head_of, read_bundle
from a202_reference.evidence.material import Material
from a202_reference.evidence.procedure import verify
from a202_reference.evidence.report import Report
from a202_reference.keys import KeyBinding, Owner, PrivateKey
from a202_reference.lifecycle import acts
from a202_reference.lifecycle.drafts import Draft, Drafting
from a202_reference.lifecycle.events import Decided, Ledger
from a202_reference.lifecycle.formation import FormationRequest, form, offer_draft
from a202_reference.lifecycle.holdings import Holdings
from a202_reference.lifecycle.obligations import assertion_drafts, obligation_draft, record_act, response_draft
from a202_reference.lifecycle.rules import RULE_SETS
from a202_reference.profiles import ProfileRegistry
from a202_reference.registries import ObjectType, Purpose
from a202_reference.signing import Signer, sign_entry, sign_proof, unsigned_proof
from a202_reference.times import format_instant

TXN = "txn_evidence_tests_01"
START = datetime(2026, 8, 20, 10, 0, 0, tzinfo=UTC)
KEYS = {
    key_id: (owner, PrivateKey.from_scalar(scalar)) for scalar, (key_id, owner) in enumerate({
        "key_buyer_principal_01": Owner("org_northstar", principal_id="prn_northstar_director"),
        "key_buyer_agent_01": Owner("org_northstar", agent_id="agt_northstar_buyer_01"),
        "key_supplier_principal_01": Owner("org_delta", principal_id="prn_delta_director"),
        "key_supplier_agent_01": Owner("org_delta", agent_id="agt_delta_supplier_01"),
        "key_buyer_middle_01": Owner("org_northstar", agent_id="agt_northstar_middle_01"),
        "key_stranger_agent_01": Owner("org_stranger", agent_id="agt_stranger_01"),
        "key_buyer_spare_01": Owner("org_northstar", agent_id="agt_northstar_buyer_01"),
    }.items(), start=7001)}
TERMS = {
    "profile": "a202-profile/calibration-service/0.1",
    "core": {"description": "Calibration of 20 pressure transmitters", "quantity": "20", "unit_code": "H87",
             "unit_name": "piece", "total": {"currency": "EUR", "amount": "3200.00"}},
    "profile_terms": {
        "completion": {"business_days_after_collection": 15, "business_calendar": "NL"},
        "payment": {"prepayment_percent": "20", "balance_trigger": "buyer_acceptance"},
        "acceptance": {"certificate_required": True, "machine_readable_result_required": True,
                       "qualification_standard": "ISO/IEC 17025:2017"},
        "rework": {"included_attempts": 1}},
}
EVIDENCE = {
    "evidence_type": "third_party_certificate", "claim": "Certificates issued for 20 transmitters",
    "artifact_hash": "9f2c" * 16, "issuer": {"organization_id": "org_delta"},
    "verification": {"status": "verified", "verified_at": "2026-09-08T14:00:00Z",
                     "verifier_organization_id": "org_northstar"},
}
ACTIONS = [acts.OFFER_SUBMIT, acts.OFFER_ACCEPT, acts.OBLIGATION_ACTIVATED, acts.PERFORMANCE_DECLARED,
           acts.ACCEPTANCE_GRANTED, acts.ACCEPTANCE_REJECTED, acts.OBLIGATION_WAIVED]
BUYER = Party("org_northstar", "agt_northstar_buyer_01", "mnd_northstar_buyer_01", "key_buyer_agent_01")
SUPPLIER = Party("org_delta", "agt_delta_supplier_01", "mnd_delta_supplier_01", "key_supplier_agent_01")
MONEY = {"currency": "EUR", "amount": "3200.00"}


def signer(key_id: str) -> Signer:
    """The fixed key pair under an identifier, signing deterministically."""
    return Signer(key_id, KEYS[key_id][1], deterministic=True)


def binding(key_id: str) -> KeyBinding:
    owner, key = KEYS[key_id]
    return KeyBinding(key_id, owner, key.public, START - timedelta(days=1))


def mandate(
    mandate_id: str, organization: str, agent: str, key_id: str, issuer_key: str, **over: Any,
) -> dict[str, Any]:
    """A signed mandate; `over` replaces members."""
    principal = KEYS[issuer_key][0]
    document = {
        "spec_version": "a202-mandate/0.1",
        "id": mandate_id,
        "issuer": {"organization_id": principal.organization_id, "principal_id": principal.principal_id,
                   "key_id": issuer_key},
        "subject": {"agent_id": agent, "key_id": key_id},
        "represented_organization_id": organization,
        "parent_mandate_id": None,
        "valid_from": format_instant(START - timedelta(days=1)),
        "valid_until": format_instant(START + timedelta(days=30)),
        "status_endpoint": "https://status.example.invalid/v1/mandates/status",
        "actions": list(ACTIONS),
        "scope": {"transaction_ids": [TXN]},
        "constraints": [
            {"id": "c_total_amount", "type": "commercial.decimal", "path": "$.proposed_terms.core.total.amount",
             "operator": "maximum", "value": "4000.00", "on_failure": "deny"}],
        "approval_rules": [],
        "delegation": {"allowed": False, "maximum_depth": 0},
        "evidence_refs": [],
        **over,
        "proof": unsigned_proof(issuer_key, format_instant(START - timedelta(hours=1))),
    }
    return sign_proof(document, signer(issuer_key))


def rule(role: str = "director") -> dict[str, Any]:
    """An approval rule that every act above 1000.00 matches."""
    return {"id": "a_large", "when": {"path": "$.proposed_terms.core.total.amount", "operator": "minimum",
                                      "value": "1000.00"},
            "approver": {"organization_id": "org_northstar", "role": role}, "expires_after_seconds": 3600}


@dataclass
class Story:
    """A record in the making."""

    buyer_over: Mapping[str, Any] = field(default_factory=dict)
    supplier_over: Mapping[str, Any] = field(default_factory=dict)
    extra_mandates: list[dict[str, Any]] = field(default_factory=list)
    now: datetime = START
    scope: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.objects: list[dict[str, Any]] = []
        self.acts: dict[str, Any] = {}
        self.status_results: list[dict[str, Any]] = []
        self.mandates = [
            mandate(BUYER.mandate_id, BUYER.organization_id, BUYER.agent_id, BUYER.key_id, "key_buyer_principal_01",
                    **self.buyer_over),
            mandate(SUPPLIER.mandate_id, SUPPLIER.organization_id, SUPPLIER.agent_id, SUPPLIER.key_id,
                    "key_supplier_principal_01", **self.supplier_over),
            *self.extra_mandates]
        self._counter = itertools.count(1)

    def ids(self) -> str:
        return f"{next(self._counter):024x}"

    @property
    def ledger(self) -> Ledger:
        return Ledger(Holdings(TXN, tuple(self.objects)).record, RULE_SETS["1.3"],
                      Drafting(TXN, format_instant(self.now)), self.ids)

    def later(self, **delta: float) -> Story:
        self.now += timedelta(**delta)
        return self

    def decide(self, party: Party, act: Mapping[str, Any]) -> Decided:
        """The party's allow over this act, with the answers it presented."""
        act = {**act, **self.scope}
        action_hash = value_hash(act)
        self.acts[action_hash] = act
        chain = self.chain(party.mandate_id)
        retrieved = format_instant(self.now - timedelta(seconds=20))
        for mandate_id in chain:
            status = {"action_hash": action_hash, "mandate_id": mandate_id, "status": "active",
                      "retrieved_at": retrieved}
            if status not in self.status_results:
                self.status_results.append(status)
        return Decided(party, action_hash, chain, format_instant(self.now - timedelta(seconds=5)))

    def chain(self, mandate_id: str | None) -> tuple[str, ...]:
        found: list[str] = []
        held = {document["id"]: document for document in self.mandates}
        while mandate_id is not None:
            found.append(mandate_id)
            mandate_id = held[mandate_id]["parent_mandate_id"]
        return tuple(found)

    def record(self, *drafts: Draft) -> list[dict[str, Any]]:
        signed = [draft.signed(signer) for draft in drafts]
        self.objects += signed
        return signed

    def approve(self, party: Party, act: Mapping[str, Any], role: str = "director", **over: Any) -> dict[str, Any]:
        """The buyer's principal approves an act."""
        payload = {
            "action_hash": value_hash({**act, **self.scope}),
            "approver": {"organization_id": "org_northstar", "principal_id": "prn_northstar_director", "role": role},
            "decision": "approved", "expires_at": format_instant(self.now + timedelta(minutes=30)), "conditions": [],
            **over}
        return self.write(ObjectType.APPROVAL, "apr", party, payload,
                          ("key_buyer_principal_01", Purpose.OBJECT_ISSUANCE))

    def act_of(self, action: str, terms: Mapping[str, Any] = TERMS) -> dict[str, Any]:
        other = BUYER if action == acts.OFFER_SUBMIT else SUPPLIER
        return acts.formation_act(action, acts.Setting(TXN, other.organization_id), terms)

    def form(self, terms: Mapping[str, Any] = TERMS, valid_for: timedelta = timedelta(days=1)) -> Story:
        request = FormationRequest(
            BUYER, SUPPLIER, True, terms, format_instant(self.now + valid_for), "ses_evidence_tests_01", ())
        ledger = self.ledger
        offered, accepted = (self.decide(party, self.act_of(action, terms)) for party, action in (
            (SUPPLIER, acts.OFFER_SUBMIT), (BUYER, acts.OFFER_ACCEPT)))
        self.record(*form(request, offer_draft(request, ledger), offered, accepted, ledger).drafts)
        return self

    def of(self, object_type: str) -> list[dict[str, Any]]:
        return [document for document in self.objects if document["object_type"] == object_type]

    def issue(self, quantity: str = "20", consideration: Mapping[str, Any] | None = MONEY,
              due: Mapping[str, Any] | None = None) -> dict[str, Any]:
        agreement = Agreement.of(self.of("agreement")[-1])
        ledger = self.ledger
        decided = self.decide(BUYER, acts.issue_act(
            acts.Setting(TXN, SUPPLIER.organization_id), acts.core_of(quantity, "H87", consideration),
            agreement.envelope.id))
        obligation = obligation_draft(
            agreement, agreement.commitment_ids[0],
            {"term_path": "$.terms.core.quantity", "quantity": quantity, "unit_code": "H87",
             "consideration": consideration,
             "due_condition": due or {"type": "due_at_time", "at": "2026-09-10T12:00:00Z"}},
            SUPPLIER, BUYER, ledger)
        self.record(*record_act(acts.OBLIGATION_ACTIVATED, [obligation], decided, SUPPLIER, ledger,
                                {"obligation_id": obligation.id}).drafts)
        return next(document for document in self.objects if document["id"] == obligation.id)

    def claim(self, obligation: Mapping[str, Any], quantity: str = "20") -> dict[str, Any]:
        view, ledger = Obligation.of(obligation), self.ledger
        decided = self.decide(SUPPLIER, acts.assert_act(
            acts.Setting(TXN, BUYER.organization_id), acts.core_of(quantity, view.unit_code, view.consideration),
            view.envelope.id))
        drafts = assertion_drafts(view, quantity, [EVIDENCE], SUPPLIER, ledger)
        self.record(*record_act(acts.PERFORMANCE_DECLARED, drafts, decided, BUYER, ledger,
                                {"performance_event_id": drafts[-1].id, "obligation_id": view.envelope.id}).drafts)
        return next(document for document in self.objects if document["id"] == drafts[-1].id)

    def answer(self, assertion: Mapping[str, Any], kind: str = "accept", quantity: str | None = None,
               remainder: str | None = None) -> dict[str, Any]:
        obligation = next(Obligation.of(document) for document in self.objects
                          if document["id"] == assertion["payload"]["obligation_id"])
        event = acts.ACCEPTANCE_GRANTED if kind == "accept" else acts.ACCEPTANCE_REJECTED
        asserted = assertion["payload"]["asserted_quantity"]
        accepted, ledger = quantity or asserted, self.ledger
        decided = self.decide(BUYER, acts.answer_act(
            event, acts.Setting(TXN, SUPPLIER.organization_id),
            acts.core_of(accepted, obligation.unit_code, obligation.consideration), assertion["id"]))
        response = response_draft({
            "obligation_id": obligation.envelope.id, "response_type": kind, "assertion_id": assertion["id"],
            "assertion_hash": assertion["content_hash"],
            "accepted_quantity": accepted if kind == "accept" else None,
            "remainder_obligation_id": remainder,
            "reason_code": None if kind == "accept" else "quantity_short"}, BUYER, ledger)
        self.record(*record_act(event, [response], decided, SUPPLIER, ledger,
                                {"obligation_response_id": response.id,
                                 "obligation_id": obligation.envelope.id}).drafts)
        return next(document for document in self.objects if document["id"] == response.id)

    def waive(self, obligation: Mapping[str, Any]) -> dict[str, Any]:
        view, ledger = Obligation.of(obligation), self.ledger
        decided = self.decide(BUYER, acts.waive_act(
            acts.Setting(TXN, SUPPLIER.organization_id),
            acts.core_of(view.quantity, view.unit_code, view.consideration), view.envelope.id))
        response = response_draft({"obligation_id": view.envelope.id, "response_type": "waive"}, BUYER, ledger)
        self.record(*record_act(None, [response], decided, SUPPLIER, ledger, {}).drafts)
        return self.objects[-1]

    def write(self, kind: ObjectType, prefix: str, author: Party, payload: Mapping[str, Any],
              signatory: tuple[str, Purpose] | None = None, **over: Any) -> dict[str, Any]:
        """Any object, signed by its author; `over` replaces members of the envelope."""
        draft = Drafting(TXN, format_instant(self.now)).draft(kind, f"{prefix}_{self.ids()}", author, payload)
        return self.record(Draft({**draft.body, **over}, (signatory or (author.key_id, Purpose.OBJECT_ISSUANCE),)))[0]

    @property
    def bundle(self) -> dict[str, Any]:
        return _apart(build_bundle(
            transaction_id=TXN, objects=self.objects, mandates=self.mandates,
            keys=[binding(key_id) for key_id in KEYS if key_id != "key_stranger_agent_01"], acts=self.acts,
            status_results=self.status_results, exported_at=self.now, exported_by=None, rules=RULE_SETS["1.3"]))


def walkthrough(**over: Any) -> Story:
    """Formation, one obligation, its assertion and its acceptance: up to settlement_pending."""
    story = Story(**over).form()
    obligation = story.later(minutes=10).issue()
    assertion = story.later(minutes=10).claim(obligation)
    story.later(minutes=10).answer(assertion)
    return story


def report_on(
    bundle: Mapping[str, Any], profiles: ProfileRegistry | None = None, /, **pinned: KeyBinding,
) -> Report:
    """Verify a bundle as a stranger would."""
    material = read_bundle(bundle, pinned)
    if not isinstance(material, Material):
        raise TypeError(f"not read: {material}")
    return verify(material, now=START + timedelta(days=1), profiles=profiles)


def retold(bundle: Mapping[str, Any], edit: Callable[[dict[str, Any]], Any]) -> dict[str, Any]:
    """The bundle after an edit, with every hash recomputed and everything signed again by the right keys."""
    told = _apart(bundle)
    edit(told)
    renamed = {
        value_hash(before["payload"]["terms"]): value_hash(after["payload"]["terms"])
        for before, after in zip(bundle["objects"], told["objects"], strict=False)
        if before["object_type"] == after["object_type"] == "offer"}
    for action_hash, act in list(told["acts"].items()):
        now = value_hash(act)
        if now != action_hash:
            renamed[action_hash] = now
            told["acts"][now] = told["acts"].pop(action_hash)
    told["mandates"] = [sign_proof(document, signer(document["proof"]["key_id"])) for document in told["mandates"]]
    for at, before in enumerate(told["objects"]):
        document = _renamed(before, renamed)
        declared = document["content_hash"]
        document["content_hash"] = content_hash(document)
        if declared != document["content_hash"]:
            renamed[declared] = document["content_hash"]
        content = content_bytes(document)
        document["signatures"] = [sign_entry(content, entry, signer(entry["key_id"]))
                                  for entry in document["signatures"]]
        told["objects"][at] = document
    told["status_results"] = _renamed(told["status_results"], renamed)
    told["head"] = {**head_of(told["objects"]), "object_count": len(told["objects"])}
    return told


def _apart(document: Mapping[str, Any]) -> dict[str, Any]:
    """A copy in which nothing is shared, as after reading it from a file."""
    copied: dict[str, Any] = json.loads(json.dumps(document))
    return copied


def _renamed(value: Any, renamed: Mapping[str, str]) -> Any:
    if isinstance(value, dict):
        return {name: _renamed(member, renamed) for name, member in value.items()}
    if isinstance(value, list):
        return [_renamed(member, renamed) for member in value]
    return renamed.get(value, value) if isinstance(value, str) else value
