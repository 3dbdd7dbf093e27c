"""How clients see issue_mandate (surface 2): its arguments and its description."""

from __future__ import annotations

from a202_mcp.bilateral import shapes
from a202_mcp.bilateral.shapes import identifier, listed, opaque, text
from a202_mcp.bilateral.tool import Tool

SCHEMA = shapes.arguments(
    ["issuer", "subject", "represented_organization_id", "valid_from", "valid_until", "status_endpoint", "actions",
     "scope"],
    issuer=shapes.record(
        "The principal who signs, a person of the represented organisation.",
        ["organization_id", "principal_id", "key_id"],
        organization_id=identifier("org", "The principal's organisation."),
        principal_id=identifier("prn", "The principal."),
        key_id=identifier("key", "The principal's signing key; made on first use.")),
    subject=opaque(
        "Who may act: key_id (key_...) and exactly one of agent_id (agt_...) and principal_id (prn_...)."),
    represented_organization_id=identifier("org", "The organisation that the acts will bind."),
    valid_from=text(f"Start of validity. {shapes.INSTANT_NOTE}"),
    valid_until=text(f"End of validity, exclusive. {shapes.INSTANT_NOTE}"),
    status_endpoint=text("HTTPS address where the mandate's status can be asked for."),
    actions=listed(
        "The acts it permits, for example offer.submit, offer.accept, obligation.activated, performance.declared, "
        "acceptance.granted, acceptance.rejected, obligation.waived.", text("An action name.")),
    scope=opaque(
        "Bounds: transaction_ids or categories (one is needed), counterparty_organization_ids, geographies; each a "
        "list of text."),
    spending_limit=shapes.money("Ceiling for the total of each single act; becomes two constraints."),
    constraints=listed("Limits {id, type, path, operator, value, on_failure}.", opaque("One constraint.")),
    approval_rules=listed(
        "When a person must approve: {id, when {path, operator, value}, approver {organization_id, role}, "
        "expires_after_seconds}.", opaque("One rule.")),
    delegation=opaque("{allowed, maximum_depth}. Default: not allowed, depth 0."),
    evidence_refs=listed("Evidence of the issuer's authority: ids or full references.", {
        "description": "An evidence id, or a full evidence reference."}),
    parent_mandate_id=identifier("mnd", "The mandate this one delegates from; leave out for a root mandate."),
    mandate_id=identifier("mnd", "An id of your own; minted when left out."),
    idempotency_key=shapes.IDEMPOTENCY)

DESCRIPTION = """\
Issues and signs the mandate an agent acts under: permitted acts, limits, scope, validity. Call it first, once for \
each party. Binds the issuer's key to the principal and the subject's key to the agent; private keys are made on \
first use and live in this process's memory only.

Limits are per act; sums over several acts are not limited. A geography or category in the scope must be stated by \
each act.

Refuses: A202-MANDATE-UNBOUNDED (no constraint; give spending_limit), A202-MANDATE-SCOPE-TOO-BROAD (neither \
transaction_ids nor categories), A202-MANDATE-INTERVAL-INVALID, A202-MANDATE-STATUS-INSECURE (not https), \
A202-MANDATE-CONSTRAINT-UNKNOWN, A202-MANDATE-SUBJECT-AMBIGUOUS, A202-MANDATE-DELEGATION-INCOHERENT, \
A202-MANDATE-DELEGATION-WIDENING (wider than its parent), A202-TERMS-INVALID (spending_limit), \
A202-POLICY-DENIED (shape, or a key of another owner), A202-SEQUENCE-CONFLICT (idempotency key)."""

TOOL = Tool("issue_mandate", "Issue a mandate", DESCRIPTION, SCHEMA, False)
