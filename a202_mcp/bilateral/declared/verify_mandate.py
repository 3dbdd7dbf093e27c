"""How clients see verify_mandate (surface 2): its arguments and its description."""

from __future__ import annotations

from a202_mcp.bilateral import shapes
from a202_mcp.bilateral.shapes import identifier, listed, opaque, text
from a202_mcp.bilateral.tool import Tool

SCHEMA = shapes.arguments(
    [],
    mandate_id=identifier("mnd", "A mandate this server holds."),
    mandate=opaque("A mandate document, judged by its own bytes; instead of mandate_id."),
    at=text(f"The instant to judge. Default now. {shapes.INSTANT_NOTE}"),
    status=shapes.status(
        "The mandate's status as its endpoint answered within the last 60 s. You resolve the endpoint; this server "
        "makes no network call."),
    ancestor_statuses=listed(
        "For a delegated mandate, the status of every mandate above it.",
        shapes.record(
            "One ancestor's status.", ["mandate_id", "status", "retrieved_at"],
            mandate_id=text("The ancestor's id."), status=text("active, suspended, revoked or expired."),
            retrieved_at=text(f"When it was retrieved. {shapes.INSTANT_NOTE}"),
            expires_at=text("The answer's own expiry, where it states one."))),
    proposed_action=opaque(
        "The exact act: action_type, transaction_id, counterparty_organization_id, proposed_terms, references, "
        "category, geography. Leave it out to ask whether the mandate itself is in force."),
    approval_id=identifier("apr", "An approval of this act that this server holds."),
    approval=opaque("An approval document, instead of approval_id."))

DESCRIPTION = """\
Decides whether one exact act is permitted under a mandate: allow, deny or require_approval, with the act's hash, each \
constraint's result and the reason codes. Call it before every act and pass the whole result to the recording tool \
within 60 seconds. Records nothing; a deny is an answer, not an error.

Act documents: offer.submit and offer.accept carry the full terms in proposed_terms. Obligation acts carry \
proposed_terms {"core": {quantity, unit_code, total}} (total left out where there is no consideration): \
obligation.activated with agreement_id, performance.declared and obligation.waived with obligation_id, \
acceptance.granted and acceptance.rejected with assertion_id. Each names transaction_id and the other party as \
counterparty_organization_id.

On require_approval ask the person, record it with issue_approval over action_hash, then call again with the identical \
proposed_action and approval_id.

Denies with: A202-MANDATE-STATUS-UNRESOLVED (no status, or not of the last 60 s), A202-MANDATE-INACTIVE, \
A202-EVIDENCE-SIGNATURE-INVALID, A202-MANDATE-DELEGATION-WIDENING, A202-POLICY-DENIED (action, scope or limit), \
A202-DISCLOSURE-DENIED, A202-EVIDENCE-UNVERIFIED, A202-MANDATE-CONSTRAINT-UNKNOWN (cannot be evaluated). Holds with \
A202-APPROVAL-REQUIRED, A202-APPROVAL-HASH-MISMATCH, A202-STREAM-MISMATCH. Refuses only what cannot be evaluated."""

TOOL = Tool("verify_mandate", "Decide on an act", DESCRIPTION, SCHEMA, True)
