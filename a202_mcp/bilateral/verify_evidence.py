"""verify_evidence: the seven steps over a record, ours or a counterparty's (surface 2; rules 6.7).

Rules this module applies:

- objects, evidence and approvals count only if given or named in the call; keys, mandates, act documents and
  status answers come from this server for `objects`, `object_ids` and `transaction_id`, and only from the bundle
  for `bundle`, except that a key held here counts as pinned;
- nothing to verify, or an id that resolves to nothing, refuses `A202-EVIDENCE-DISCLOSURE-INCOMPLETE`;
- the report is never an error, however much failed, and has no verdict.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from a202_mcp import readout
from a202_mcp.bilateral import shapes
from a202_mcp.bilateral.shapes import listed, opaque, text
from a202_mcp.bilateral.tool import Answer, Tool
from a202_mcp.workspace import Workspace
from a202_reference.codes import Code, Refusal
from a202_reference.evidence.bundle import read_bundle, read_keys
from a202_reference.evidence.material import DeclaredKey, Material, Source
from a202_reference.lifecycle.rules import RULE_SETS, rule_set

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
Records nothing.

Refuses: A202-EVIDENCE-DISCLOSURE-INCOMPLETE (nothing given, or an id that is not held), A202-STATE-TRANSITION-DENIED \
(rules_version is not registered), A202-POLICY-DENIED (no object, no bundle)."""


def answer(workspace: Workspace, arguments: Mapping[str, Any]) -> Answer:
    """Verify, or say what is missing."""
    version = arguments.get("rules_version")
    if version is not None and rule_set(version) is None:
        return Refusal.of(
            Code.STATE_TRANSITION_DENIED, f"rules_version must be one of {', '.join(RULE_SETS)}")
    objects = _objects(workspace, arguments)
    if isinstance(objects, Refusal):
        return objects
    material = _of_bundle(workspace, arguments["bundle"]) if "bundle" in arguments else _of_state(workspace, objects)
    if isinstance(material, Refusal):
        return material
    if "bundle" in arguments:
        material = replace(material, objects=material.objects + objects)
    if not material.objects:
        return Refusal.of(
            Code.EVIDENCE_DISCLOSURE_INCOMPLETE, "there is nothing to verify: give transaction_id, object_ids, objects "
                                                 "or bundle")
    if version is not None:
        material = replace(material, rules_version=version)
    from a202_reference.evidence.procedure import verify  # noqa: PLC0415 (not before it is asked for: it is large)

    return verify(material, now=workspace.now()).document(arguments.get("checks", "all"))


TOOL = Tool("verify_evidence", "Verify a record", DESCRIPTION, SCHEMA, True, answer)


def _objects(workspace: Workspace, arguments: Mapping[str, Any]) -> tuple[Mapping[str, Any], ...] | Refusal:
    """What was given and named, each held object once."""
    found: dict[str, Mapping[str, Any]] = {}
    if "transaction_id" in arguments:
        held = workspace.store.holdings(arguments["transaction_id"]).objects
        if not held:
            return _missing([arguments["transaction_id"]])
        found.update({document["id"]: document for document in held})
    named = {object_id: workspace.store.held_object(object_id) for object_id in arguments.get("object_ids", [])}
    missing = [object_id for object_id, document in named.items() if document is None]
    if missing:
        return _missing(missing)
    found.update({object_id: document for object_id, document in named.items() if document is not None})
    return (*found.values(), *arguments.get("objects", []))


def _missing(identifiers: list[str]) -> Refusal:
    shown = ", ".join(repr(identifier[:140]) for identifier in identifiers[:5])
    return Refusal.of(Code.EVIDENCE_DISCLOSURE_INCOMPLETE, f"nothing is held here under {shown}")


def _of_state(workspace: Workspace, objects: tuple[Mapping[str, Any], ...]) -> Material:
    """The objects, with all else from this server."""
    store = workspace.store
    transactions = dict.fromkeys(
        transaction_id for document in objects if isinstance(transaction_id := document.get("transaction_id"), str))
    mandates = readout.cited_mandates(store, objects)
    keys = readout.signing_keys(store, objects, mandates.values())
    acts: dict[str, Any] = {}
    status_results: list[Any] = []
    for transaction_id in transactions:
        acts.update(store.acts(transaction_id))
        status_results += store.status_results(transaction_id)
    return Material(
        objects=objects,
        mandates=tuple(mandates.values()),
        keys={binding.key_id: DeclaredKey(binding, Source.HELD) for binding in keys},
        acts=acts,
        status_results=tuple(status_results),
        carried=Source.HELD)


def _of_bundle(workspace: Workspace, bundle: Mapping[str, Any]) -> Material | Refusal:
    """The bundle alone, under the keys held here."""
    held = _held(workspace, read_keys(bundle.get("keys")))
    return read_bundle(bundle, held, source=Source.HELD)


def _held(workspace: Workspace, key_ids: Iterable[str]) -> dict[str, Any]:
    bindings = ((key_id, workspace.store.key(key_id)) for key_id in key_ids)
    return {key_id: binding for key_id, binding in bindings if binding is not None}
