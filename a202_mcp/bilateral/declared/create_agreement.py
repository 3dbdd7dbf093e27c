"""How clients see create_agreement (surface 2): its arguments and its description."""

from __future__ import annotations

from a202_mcp.bilateral import shapes
from a202_mcp.bilateral.shapes import identifier, listed, opaque, text
from a202_mcp.bilateral.tool import Tool

SCHEMA = shapes.arguments(
    ["transaction_id", "buyer", "supplier", "terms", "offer_valid_until", "buyer_decision", "supplier_decision"],
    transaction_id=shapes.TRANSACTION,
    buyer=shapes.party("The buying party."),
    supplier=shapes.party("The supplying party."),
    terms=opaque(
        "profile, core {description, quantity, unit_code, unit_name, total {currency, amount}}, profile_terms. "
        "Amounts and quantities are text. Profiles: a202-profile/calibration-service/0.1, "
        "a202-profile/freight-spot/0.1, and those configured; a refusal names what profile_terms lacks."),
    offer_valid_until=text(f"Until when the offer stands. {shapes.INSTANT_NOTE}"),
    buyer_decision=opaque(f"The buyer's decision: {shapes.DECISION_NOTE}"),
    supplier_decision=opaque(f"The supplier's decision: {shapes.DECISION_NOTE}"),
    offeror_role=text("Who makes the offer. Default supplier.", enum=["supplier", "buyer"]),
    session_id=identifier("ses", "The relation's session id; minted when left out."),
    offer_evidence_refs=listed("Evidence the offer refers to.", {
        "description": "An evidence id, or a full evidence reference."}),
    rules_version=shapes.RULES_VERSION,
    category=shapes.CATEGORY,
    geography=shapes.GEOGRAPHY,
    idempotency_key=shapes.IDEMPOTENCY)

DESCRIPTION = """\
Forms an agreement directly with a known counterparty. Writes the signed offer, the acceptance over its exact hash, \
the agreement signed by both, the supplier's commitment, both parties' policy decisions and the two formation events, \
or writes nothing. Call it after verify_mandate allowed both acts: the offeror's offer.submit and the offeree's \
offer.accept, each with transaction_id, the other party as counterparty_organization_id, the full terms as \
proposed_terms, and category or geography where given here. The supplier offers unless offeror_role says buyer.

Refuses: A202-PROFILE-UNKNOWN, A202-PROFILE-TERMS-INVALID, A202-TERMS-INVALID, A202-OFFER-EXPIRED (ends before it was \
made), A202-APPROVAL-HASH-MISMATCH (a decision over another act; the refusal carries the act to verify), \
A202-APPROVAL-REQUIRED, A202-MANDATE-STATUS-UNRESOLVED (a decision older than 60 s), A202-STATE-TRANSITION-DENIED \
(formed already, or a rules version without direct formation), A202-POLICY-DENIED (no allow, another party's mandate, \
one organisation on both sides, a key not held), A202-SEQUENCE-CONFLICT, and the codes of a deny recomputed now."""

TOOL = Tool("create_agreement", "Form an agreement", DESCRIPTION, SCHEMA, False)
