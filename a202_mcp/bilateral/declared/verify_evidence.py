"""How clients see verify_evidence (surface 2): its arguments and its description."""

from __future__ import annotations

from a202_mcp.bilateral import shapes
from a202_mcp.bilateral.shapes import listed, opaque, text
from a202_mcp.bilateral.tool import Tool
from a202_reference.lifecycle.rules import RULE_SETS

SCHEMA = shapes.arguments(
    [],
    objects=listed("Objects by value.", opaque("One object, whole.")),
    object_ids=listed("Ids of objects this server holds.", text("An object id.")),
    transaction_id=text("A transaction this server holds: its whole record is verified."),
    bundle=opaque("An exported bundle as one document (format a202-bundle/0.1), verified with what it carries."),
    rules_version=text(f"The rules version the record was made under: {', '.join(RULE_SETS)}. Without it, and "
                       "without one stated by the bundle, transitions are not checkable."),
    checks=text("Which checks to list; the counts are always whole. Default all.", enum=["all", "not_verified"]))

DESCRIPTION = """\
Runs the seven-step verification procedure over a record, yours or a counterparty's: canonical bytes and hashes, \
signatures, version chains, the event chain, replay of guarded transitions with mandates and decisions, \
determinations, and the gaps. Give one or more of transaction_id, object_ids, objects, or an exported bundle.

Each check is verified, failed (with its code) or not_checkable (with what is missing). There is no overall verdict, \
and the result is never an error however much failed: read results, then the failed and the not_checkable checks. \
With transaction_id this server's own state is held against its seals as well: what was changed behind its back fails \
under the name state. Records nothing.

Refuses: A202-EVIDENCE-DISCLOSURE-INCOMPLETE (nothing given, or an id that is not held), A202-STATE-TRANSITION-DENIED \
(rules_version is not registered), A202-POLICY-DENIED (no object, no bundle)."""

TOOL = Tool("verify_evidence", "Verify a record", DESCRIPTION, SCHEMA, True)
