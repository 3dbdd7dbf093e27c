"""Whole exchanges that the tests of emitted objects, secrets and verification look at from their own side."""

from datetime import UTC, datetime

from a202_reference.canonical import value_hash
from tests.bilateral.parties import APPROVAL_RULE, TRANSACTION, Desk, buyer_mandate

REST = {"currency": "EUR", "amount": "800.00"}


def walkthrough(desk=None):
    """The seed's walkthrough, geography included."""
    desk = desk or Desk()
    desk.axes = {"geography": "NL"}
    desk.introduce(buyer={"scope": {
        "transaction_ids": [TRANSACTION], "counterparty_organization_ids": ["org_delta"], "geographies": ["NL"]}})
    desk.form()
    obligation = desk.issue()
    desk.clock.now = datetime(2026, 9, 8, 14, 5, tzinfo=UTC)
    desk.respond("accept", desk.assert_(obligation))
    return desk


def approved(desk=None):
    """Both the acceptance and the obligation are held, approved by the director, verified again and recorded."""
    desk = desk or Desk()
    desk.introduce(buyer={"approval_rules": [APPROVAL_RULE]})
    act = desk.formation_act(desk.buyer)
    approval = desk.done("issue_approval", desk.approval(value_hash(act)))["approval_id"]
    desk.form(buyer_decision=desk.decide(desk.buyer, act, approval_id=approval))
    act = desk.obligation_act("obligation.activated", "20", agreement_id=desk.agreement["agreement_id"])
    approval = desk.done("issue_approval", desk.approval(value_hash(act)))["approval_id"]
    desk.done("record_obligation", desk.issuance(decision=desk.decide(desk.buyer, act, approval_id=approval)))
    return desk


def approved_by_a_deputy(desk=None):
    """The approving principal is named by a mandate that no object of the transaction cites."""
    desk = desk or Desk()
    desk.introduce(buyer={"approval_rules": [APPROVAL_RULE]})
    desk.done("issue_mandate", buyer_mandate(subject={"principal_id": "prn_deputy_01", "key_id": "key_deputy_01"}))
    act = desk.formation_act(desk.buyer)
    approval = desk.done("issue_approval", desk.approval(value_hash(act), approver={
        "principal_id": "prn_deputy_01", "role": "procurement_director", "key_id": "key_deputy_01"}))["approval_id"]
    desk.form(buyer_decision=desk.decide(desk.buyer, act, approval_id=approval))
    return desk


def rejected_then_partly_accepted(desk=None):
    """Rejected, asserted again, accepted in part with a remainder that is then performed; one waived beside it."""
    desk = desk or Desk()
    desk.introduce()
    desk.form()
    obligation = desk.issue()
    desk.respond("waive", desk.issue("1"), "1")
    desk.respond("reject", desk.assert_(obligation))
    assertion = desk.assert_(obligation)
    remainder = desk.issue("5", REST)
    desk.respond("accept", assertion, "15", accepted_quantity="15", remainder_obligation_id=remainder)
    desk.respond("accept", desk.assert_(remainder, "5", REST), "5", REST)
    return desk


def delegated(desk=None):
    """The buyer's agent acts under a mandate delegated from its principal's first one."""
    desk = desk or Desk()
    desk.introduce(buyer={"delegation": {"allowed": True, "maximum_depth": 1}})
    root = desk.buyer["mandate_id"]
    child = desk.done("issue_mandate", buyer_mandate(
        parent_mandate_id=root, subject={"agent_id": "agt_junior_01", "key_id": "key_junior_01"}))["mandate"]
    desk.buyer = desk.party(child)
    decision = desk.decide(desk.buyer, desk.formation_act(desk.buyer), ancestor_statuses=[
        {"mandate_id": root, **desk.status()}])
    desk.form(buyer_decision=decision)
    return desk


def buyer_offers(desk=None):
    """The buyer is the offeror."""
    desk = desk or Desk()
    desk.introduce()
    acts = [{**desk.formation_act(party), "action_type": action} for party, action in (
        (desk.buyer, "offer.submit"), (desk.supplier, "offer.accept"))]
    desk.form(offeror_role="buyer", buyer_decision=desk.decide(desk.buyer, acts[0]),
              supplier_decision=desk.decide(desk.supplier, acts[1]))
    return desk


STORIES = {story.__name__: story for story in (
    walkthrough, approved, approved_by_a_deputy, rejected_then_partly_accepted, delegated, buyer_offers)}
