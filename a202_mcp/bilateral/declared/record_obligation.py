"""How clients see record_obligation (surface 2): its arguments and its description."""

from __future__ import annotations

from a202_mcp.bilateral import shapes
from a202_mcp.bilateral.shapes import identifier, listed, opaque, text
from a202_mcp.bilateral.tool import Tool
from a202_reference.registries import RejectionReason, ResponseType

SCHEMA = shapes.arguments(
    ["act", "decision"],
    act=text("Which act this is.", enum=["issue", "assert", "respond"]),
    decision=opaque(f"The decision of the party that acts: {shapes.DECISION_NOTE}"),
    agreement_id=identifier("agr", "issue: the agreement the obligation derives from."),
    obligor=shapes.party("issue, assert: who owes."),
    obligee=shapes.party("issue, assert: to whom it is owed."),
    term_path=text("issue: the agreed term it derives from, for example $.terms.core.quantity."),
    quantity=text("issue: what is owed, as text, for example \"20\"."),
    unit_code=text("issue: UN/ECE Recommendation 20 code, for example H87."),
    due_condition=opaque(
        "issue: {type: due_at_time, at}, {type: due_on_event, act_ref or evidence_type}, {type: due_on_discharge, "
        "obligation_id} or {type: all_of, conditions}."),
    consideration=shapes.money("issue: what is owed for it. Leave it out where nothing is."),
    commitment_id=identifier("cmt", "issue: the commitment it falls under. Default: the agreement's first."),
    obligation_id=identifier("obl", "assert, and respond waive: the obligation."),
    asserted_quantity=text("assert: how much was performed, as text."),
    evidence=listed(
        "assert: at least one piece of evidence.",
        shapes.record(
            "One piece of evidence.", ["evidence_type", "claim", "artifact_hash", "issuer", "verification"],
            evidence_type=text("A registered evidence type, for example third_party_certificate."),
            claim=text("What it shows, in words."),
            artifact_hash=text("SHA-256 of the artifact, 64 lowercase hexadecimal digits."),
            issuer=opaque("Who issued it: {organization_id}."),
            verification=opaque("{status, verified_at, verifier_organization_id}."))),
    assertion_id=identifier("prf", "respond accept, reject: the assertion that is answered."),
    responder=shapes.party("respond: the obligee, who alone may answer."),
    counterparty=shapes.party("respond: the obligor."),
    response_type=text("respond: the answer.", enum=[member.value for member in ResponseType]),
    accepted_quantity=text("respond accept: how much is accepted, as text. Default: what was asserted."),
    remainder_obligation_id=identifier(
        "obl", "respond accept of less than is owed: an obligation, issued before, over exactly the rest."),
    reason_code=text(f"respond reject: one of {', '.join(RejectionReason)}."),
    rules_version=shapes.RULES_VERSION,
    category=shapes.CATEGORY,
    geography=shapes.GEOGRAPHY,
    idempotency_key=shapes.IDEMPOTENCY)

DESCRIPTION = """\
Records one act of the obligation exchange, with the decision of the party that acts:
- issue, by the obligee (verify obligation.activated with agreement_id): agreement_id, obligor, obligee, term_path, \
quantity, unit_code, due_condition, consideration;
- assert, by the obligor (performance.declared with obligation_id): obligation_id, obligor, obligee, \
asserted_quantity, evidence;
- respond, by the obligee (acceptance.granted or acceptance.rejected with assertion_id, obligation.waived with \
obligation_id): assertion_id, or obligation_id to waive, responder, counterparty, response_type.
The act document's proposed_terms is {"core": {quantity, unit_code, total}}; a refusal for another act carries the \
exact document to verify.

Refuses: A202-OBLIGATION-SUBJECT-UNREFERENCED (unknown reference, term or party), A202-OBLIGATION-CONDITION-UNKNOWN, \
A202-OBLIGATION-CONDITION-CYCLIC, A202-OBLIGATION-ASSERTION-UNEVIDENCED, A202-EVIDENCE-TYPE-UNKNOWN, \
A202-OBLIGATION-RESPONSE-UNAUTHORIZED (only the obligee answers), A202-OBLIGATION-REMAINDER-MISSING, \
A202-OBLIGATION-REJECTION-REASON-UNKNOWN, A202-TERMS-INVALID (quantity, amount), A202-STATE-TRANSITION-DENIED (out of \
order, or answered already), A202-APPROVAL-HASH-MISMATCH, A202-APPROVAL-REQUIRED, A202-MANDATE-STATUS-UNRESOLVED, \
A202-POLICY-DENIED, A202-SEQUENCE-CONFLICT, and the codes of a deny recomputed now."""

TOOL = Tool("record_obligation", "Record an obligation act", DESCRIPTION, SCHEMA, False)
