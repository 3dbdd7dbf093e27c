"""issue_mandate: a principal signs what its agent may do (surface 2; rules 3.1, 3.2, 3.7).

Rules this module applies:

- gate first, sign second, store third; a refused mandate is neither signed nor stored and leaves no key behind;
- a spending limit becomes two deny constraints that stand first: the amount's ceiling and its currency;
- the issuer's key is bound to the principal, the subject's key to the agent (or principal). A key bound to
  another owner refuses; a key known but not held by this process cannot sign;
- a held mandate id is never overwritten; a parent must be held and the child must narrow it;
- a constraint that can never be evaluated is issued, with a warning, and denies later.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from a202_mcp.bilateral.tool import Answer
from a202_mcp.recording import Call, Once, Pending, mandate_gate
from a202_mcp.store import Batch
from a202_mcp.workspace import Workspace
from a202_reference.authority.constraints import is_anchored, limit_fault
from a202_reference.authority.delegation import widening_faults
from a202_reference.canonical import NotCanonicalError, canonical_bytes
from a202_reference.codes import Code, Refusal
from a202_reference.documents.mandate import Mandate
from a202_reference.identifiers import Prefix
from a202_reference.keys import KeyBinding, Owner
from a202_reference.money import is_money
from a202_reference.registries import MANDATE_SPEC, ConstraintOperator, RoleScope
from a202_reference.signing import Signer, sign_proof, unsigned_proof
from a202_reference.times import format_instant

_TOTAL = "$.proposed_terms.core.total"


def answer(workspace: Workspace, arguments: Mapping[str, Any]) -> Answer:
    """Issue one mandate, or say why not."""
    call = Call("issue_mandate", None, arguments["represented_organization_id"], arguments)
    # An id is minted once per call: a second attempt after a lost race issues the same mandate.
    mandate_id = arguments.get("mandate_id") or Prefix.MANDATE.minted(workspace.ids())
    return workspace.recording(call, lambda once: _attempt(workspace, arguments, mandate_id, once))


def _attempt(
    workspace: Workspace, arguments: Mapping[str, Any], mandate_id: str, once: Once,
) -> Pending | Refusal:
    issuer, subject = arguments["issuer"], arguments["subject"]
    key_ids = [key_id for key_id in (issuer["key_id"], subject.get("key_id")) if isinstance(key_id, str)]
    now = workspace.now(None, key_ids)
    document = _document(arguments, mandate_id, format_instant(now))
    refusal = _limit_refusal(arguments.get("spending_limit")) or _document_refusal(workspace, document)
    if refusal is not None:
        return refusal
    refusal = workspace.unauthentic(_owners(document))
    if refusal is not None:
        return refusal
    signers = _new_signers(workspace, document)
    bindings = _bindings(document, signers, now)
    refusal = _owner_refusal(workspace, document) or workspace.unheld(
        [] if any(signer.key_id == issuer["key_id"] for signer in signers) else [issuer["key_id"]])
    if refusal is not None:
        return refusal
    signer = next((made for made in signers if made.key_id == issuer["key_id"]), None) \
        or workspace.keyring.signer(issuer["key_id"])
    if signer is None:
        raise KeyError("the issuer's key is neither new nor held, and nobody refused it")
    signed = sign_proof(document, signer)
    result = {
        "outcome": "issued",
        "mandate_id": mandate_id,
        "mandate": signed,
        "role_scope": RoleScope.BILATERAL.value,
        **({"detail": warnings} if (warnings := _warnings(Mandate.of(signed))) else {}),
    }
    batch = Batch(
        now=format_instant(now), mandates=(signed,), keys=bindings, signing_keys=frozenset({issuer["key_id"]}),
        idempotency=once.written(result))
    return Pending(batch, result, signers)


def _document(arguments: Mapping[str, Any], mandate_id: str, now: str) -> dict[str, Any]:
    limit = arguments.get("spending_limit")
    constraints = [] if limit is None else [
        _limit("c_total_amount", "commercial.decimal", "amount", "maximum", limit["amount"]),
        _limit("c_total_currency", "commercial.string", "currency", "equals", limit["currency"])]
    return {
        "spec_version": MANDATE_SPEC,
        "id": mandate_id,
        "issuer": arguments["issuer"],
        "subject": {name: member for name, member in arguments["subject"].items() if member is not None},
        "represented_organization_id": arguments["represented_organization_id"],
        "parent_mandate_id": arguments.get("parent_mandate_id"),
        "valid_from": arguments["valid_from"],
        "valid_until": arguments["valid_until"],
        "status_endpoint": arguments["status_endpoint"],
        "actions": arguments["actions"],
        "scope": {name: member for name, member in arguments["scope"].items() if member is not None},
        "constraints": constraints + list(arguments.get("constraints", [])),
        "approval_rules": arguments.get("approval_rules", []),
        "delegation": arguments.get("delegation", {"allowed": False, "maximum_depth": 0}),
        "evidence_refs": arguments.get("evidence_refs", []),
        "proof": unsigned_proof(arguments["issuer"]["key_id"], now),
    }


def _limit_refusal(limit: object) -> Refusal | None:
    """Rules 2: a spending limit is money; a constraint of the caller's own may hold anything."""
    if limit is None or is_money(limit):
        return None
    return Refusal.of(
        Code.TERMS_INVALID,
        "spending_limit must hold currency (three capitals) and amount (base-10 text, such as \"4000.00\")")


def _limit(constraint_id: str, kind: str, member: str, operator: str, value: str) -> dict[str, Any]:
    return {"id": constraint_id, "type": kind, "path": f"{_TOTAL}.{member}", "operator": operator, "value": value,
            "on_failure": "deny"}


def _document_refusal(workspace: Workspace, document: Mapping[str, Any]) -> Refusal | None:
    """The gate, the canonical form, the id, the parent, the root's issuer."""
    schema_errors, codes = mandate_gate(document)
    if codes or schema_errors:
        said = "; ".join(schema_errors[:3]) or "; ".join(code.meaning for code in codes)
        return Refusal(codes or (Code.POLICY_DENIED,), f"the mandate: {said}")
    try:
        canonical_bytes(document)
    except NotCanonicalError as refused:
        return Refusal.of(Code.POLICY_DENIED, f"the mandate has no canonical form, {refused}")
    if workspace.mandate(document["id"]) is not None:
        return Refusal.of(
            Code.POLICY_DENIED, f"mandate_id {document['id']} is held already: leave it out, or choose another")
    return _parent_refusal(workspace, document)


def _parent_refusal(workspace: Workspace, document: Mapping[str, Any]) -> Refusal | None:
    parent_id = document["parent_mandate_id"]
    if parent_id is None:
        if document["issuer"]["organization_id"] == document["represented_organization_id"]:
            return None
        return Refusal.of(
            Code.POLICY_DENIED,
            "issuer.organization_id must be the represented organisation: only its own principal issues a root mandate")
    parent = workspace.mandate(parent_id)
    if parent is None:
        return Refusal.of(Code.MANDATE_DELEGATION_WIDENING, f"parent_mandate_id {parent_id} is not held")
    faults = widening_faults(parent, document)
    return Refusal.of(Code.MANDATE_DELEGATION_WIDENING, "; ".join(faults)) if faults else None


def _owners(document: Mapping[str, Any]) -> dict[str, list[Owner]]:
    """Who the mandate says each key belongs to."""
    issuer, subject = document["issuer"], document["subject"]
    owners: dict[str, list[Owner]] = {
        issuer["key_id"]: [Owner(issuer["organization_id"], principal_id=issuer["principal_id"])]}
    represented = document["represented_organization_id"]
    named = Owner(represented, subject.get("agent_id"), subject.get("principal_id"))
    owners.setdefault(subject["key_id"], []).append(named)
    return owners


def _owner_refusal(workspace: Workspace, document: Mapping[str, Any]) -> Refusal | None:
    """A key belongs to one owner, and to one kind of owner."""
    for key_id, owners in _owners(document).items():
        binding = workspace.store.key(key_id)
        held = [] if binding is None else [binding.owner]
        if len(set(held + owners)) > 1:
            return Refusal.of(
                Code.POLICY_DENIED,
                f"{key_id} belongs to another owner: give each agent and each principal a key of its own")
    return None


def _new_signers(workspace: Workspace, document: Mapping[str, Any]) -> tuple[Signer, ...]:
    return tuple(
        workspace.keyring.mint(key_id) for key_id in _owners(document) if workspace.store.key(key_id) is None)


def _bindings(document: Mapping[str, Any], signers: tuple[Signer, ...], now: datetime) -> tuple[KeyBinding, ...]:
    owners = _owners(document)
    return tuple(
        KeyBinding(signer.key_id, owners[signer.key_id][0], signer.key.public, now) for signer in signers)


def _warnings(mandate: Mandate) -> str:
    """Constraints that were issued as they are and that an issuer may not have meant."""
    said = []
    for constraint in mandate.constraints:
        name, predicate = constraint.id, constraint.predicate
        fault = limit_fault(constraint.type, predicate)
        if fault is not None:
            said.append(f"constraint {name} can never be evaluated and will deny every act: {fault}")
        elif predicate.operator == ConstraintOperator.MATCHES and not is_anchored(predicate.value):
            said.append(f"constraint {name} searches: anchor its pattern with ^ and $ to match whole values")
    return "; ".join(said)
