"""create_agreement: direct formation with a known counterparty (surface 2, 3; rules 5.1).

The groups of surface 3 in their order: (2) the parties, (3) rules version and terms, (4) both decisions, (5) the
record's state, (6) the signing keys. The first group that refuses answers.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from a202_mcp.bilateral.authorisation import PartyAct, authorise_acts, decided
from a202_mcp.bilateral.tool import Answer
from a202_mcp.recording import Call, Once, Pending, batch_of, with_once
from a202_mcp.workspace import Workspace
from a202_reference.codes import Code, Refusal
from a202_reference.documents.parties import Party
from a202_reference.identifiers import Prefix
from a202_reference.lifecycle.acts import Setting, formation_act
from a202_reference.lifecycle.drafts import Drafting
from a202_reference.lifecycle.events import Ledger
from a202_reference.lifecycle.formation import DIRECT, FormationRequest, form, offer_draft
from a202_reference.lifecycle.rules import CURRENT_VERSION, RuleSet, rule_set
from a202_reference.times import format_instant

MAX_STREAM_ID = 131
"""A policy decision's stream id is one character shorter than the longest identifier (objects 11, trap 5)."""


def answer(workspace: Workspace, arguments: Mapping[str, Any]) -> Answer:
    """Form the agreement, or say why not."""
    request = _request(workspace, arguments)
    refusal = _party_refusal(request, arguments["transaction_id"])
    if refusal is not None:
        return refusal
    call = Call("create_agreement", arguments["transaction_id"], request.offeree.organization_id, arguments)
    return workspace.recording(call, lambda once: _attempt(workspace, arguments, request, once))


def _request(workspace: Workspace, arguments: Mapping[str, Any]) -> FormationRequest:
    return FormationRequest(
        buyer=Party.of(arguments["buyer"]),
        supplier=Party.of(arguments["supplier"]),
        supplier_offers=arguments.get("offeror_role", "supplier") == "supplier",
        terms=arguments["terms"],
        offer_valid_until=arguments["offer_valid_until"],
        session_id=arguments.get("session_id") or Prefix.SESSION.minted(workspace.ids()),
        offer_evidence_refs=tuple(arguments.get("offer_evidence_refs", [])))


def _party_refusal(request: FormationRequest, transaction_id: str) -> Refusal | None:
    """Group 2."""
    if request.buyer.organization_id == request.supplier.organization_id:
        return Refusal.of(
            Code.POLICY_DENIED, "buyer and supplier are one organisation: an agreement has two parties")
    if len(transaction_id) > MAX_STREAM_ID:
        return Refusal.of(Code.POLICY_DENIED, f"transaction_id is longer than {MAX_STREAM_ID} characters")
    return None


def _attempt(
    workspace: Workspace, arguments: Mapping[str, Any], request: FormationRequest, once: Once,
) -> Pending | Refusal:
    transaction_id = arguments["transaction_id"]
    now = workspace.now(transaction_id, [request.buyer.key_id, request.supplier.key_id])
    holdings = workspace.store.holdings(transaction_id)
    rules = _rules(arguments)
    if isinstance(rules, Refusal):
        return rules
    ledger = Ledger(holdings.record, rules, Drafting(transaction_id, format_instant(now)), workspace.ids)
    offer = offer_draft(request, ledger)
    refusal = workspace.judged([offer], holdings)
    if refusal is not None:
        return refusal
    allowed = authorise_acts(workspace, _acts(arguments, request), now)
    if isinstance(allowed, Refusal):
        return allowed
    refusal = _state_refusal(ledger) or workspace.unheld([request.offeror.key_id, request.offeree.key_id])
    if refusal is not None:
        return refusal
    formation = form(request, offer, decided(allowed[0]), decided(allowed[1]), ledger)
    objects = workspace.signed(formation.drafts, holdings)
    if isinstance(objects, Refusal):
        return objects
    result = {
        "outcome": "recorded",
        "transaction_id": transaction_id,
        "session_id": request.session_id,
        "offer_id": formation.offer_id,
        "acceptance_id": formation.acceptance_id,
        "agreement_id": formation.agreement_id,
        "commitment_id": formation.commitment_id,
        "terms_hash": formation.terms_hash,
        "state": formation.state,
        "rules_version": rules.version,
    }
    return Pending(with_once(batch_of(holdings, now, objects, allowed), once, result), result)


def _rules(arguments: Mapping[str, Any]) -> RuleSet | Refusal:
    """Group 3: a registered version that knows direct formation."""
    version = arguments.get("rules_version", CURRENT_VERSION)
    rules = rule_set(version)
    if rules is None or not rules.registers(DIRECT):
        return Refusal.of(
            Code.STATE_TRANSITION_DENIED,
            f"rules_version {version} does not register {DIRECT}: leave it out, or send \"{CURRENT_VERSION}\"")
    return rules


def _acts(arguments: Mapping[str, Any], request: FormationRequest) -> list[PartyAct]:
    """The offeror's act, then the offeree's, each with its own decision."""
    pairs = [(request.offeror, request.offeree), (request.offeree, request.offeror)]
    acts = []
    for party, other in pairs:
        setting = Setting(
            arguments["transaction_id"], other.organization_id, arguments.get("category"), arguments.get("geography"))
        role = "buyer" if party == request.buyer else "supplier"
        act = formation_act(request.action_of(party), setting, request.terms)
        acts.append(PartyAct(party, act, arguments[f"{role}_decision"]))
    return acts


def _state_refusal(ledger: Ledger) -> Refusal | None:
    """Group 5: formation begins a transaction."""
    if ledger.admits(DIRECT):
        return None
    return Refusal.of(
        Code.STATE_TRANSITION_DENIED,
        f"the transaction is in state {ledger.record.state}: one agreement is formed on a transaction, use a new "
        f"transaction_id")
