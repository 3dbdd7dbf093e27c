"""verify_evidence: the seven steps over a record, ours or a counterparty's (surface 2; rules 6.7).

Rules this module applies:

- objects, evidence and approvals count only if given or named in the call; keys, mandates, act documents and
  status answers come from this server for `objects`, `object_ids` and `transaction_id`, and only from the bundle
  for `bundle`, except that a key held here counts as pinned;
- what this server kept is held against its seals (ADR 9): each part that is not what was recorded fails, by name; a
  stored key binding that is not authentic counts as one that another key conflicts with;
- nothing to verify, or an id that resolves to nothing, refuses `A202-EVIDENCE-DISCLOSURE-INCOMPLETE`;
- the report is never an error, however much failed, and has no verdict.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, Final

from a202_mcp import readout
from a202_mcp.bilateral.tool import Answer
from a202_mcp.seal import Fault
from a202_mcp.workspace import Workspace
from a202_reference.codes import Code, Refusal
from a202_reference.evidence.bundle import read_bundle, read_keys
from a202_reference.evidence.material import DeclaredKey, Material, Source
from a202_reference.evidence.report import failed
from a202_reference.gate.reading import members
from a202_reference.lifecycle.rules import RULE_SETS, rule_set

_STEPS: Final = {
    Code.EVIDENCE_HASH_MISMATCH: 1, Code.EVIDENCE_SIGNATURE_INVALID: 2, Code.EVIDENCE_CHAIN_GAP: 4}
"""The step to which a fault of the state belongs, by its code."""


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
    faults = _faults(workspace, material, arguments.get("transaction_id"))
    if not material.objects and not faults:
        return _nothing(arguments)
    if version is not None:
        material = replace(material, rules_version=version)
    from a202_reference.evidence.procedure import verify  # noqa: PLC0415 (not before it is asked for: it is large)

    report = verify(material, now=workspace.now(), profiles=workspace.profiles)
    for fault in faults:
        report.findings.add(_STEPS[fault.code], "state", fault.subject, failed(fault.code, fault.detail))
    return report.document(arguments.get("checks", "all"))


def _nothing(arguments: Mapping[str, Any]) -> Refusal:
    if "transaction_id" in arguments:
        return _missing([arguments["transaction_id"]])
    return Refusal.of(
        Code.EVIDENCE_DISCLOSURE_INCOMPLETE,
        "there is nothing to verify: give transaction_id, object_ids, objects or bundle")


def _objects(workspace: Workspace, arguments: Mapping[str, Any]) -> tuple[Mapping[str, Any], ...] | Refusal:
    """What was given and named, each held object once; of a transaction everything as it stands now."""
    found: list[Mapping[str, Any]] = []
    if "transaction_id" in arguments:
        found += workspace.store.recorded(arguments["transaction_id"])
    here = {document.get("id") for document in found}
    named = {object_id: workspace.store.held_object(object_id) for object_id in arguments.get("object_ids", [])}
    missing = [object_id for object_id, document in named.items() if document is None]
    if missing:
        return _missing(missing)
    found += [document for object_id, document in named.items() if document is not None and object_id not in here]
    return (*found, *arguments.get("objects", []))


def _missing(identifiers: list[str]) -> Refusal:
    shown = ", ".join(repr(identifier[:140]) for identifier in identifiers[:5])
    return Refusal.of(Code.EVIDENCE_DISCLOSURE_INCOMPLETE, f"nothing is held here under {shown}")


def _of_state(workspace: Workspace, objects: tuple[Mapping[str, Any], ...]) -> Material:
    """The objects, with all else from this server."""
    store = workspace.store
    mandates = readout.cited_mandates(store, objects)
    acts: dict[str, Any] = {}
    status_results: list[Any] = []
    for transaction_id in _transactions(objects):
        acts.update(store.acts(transaction_id))
        status_results += store.status_results(transaction_id)
    return Material(
        objects=objects,
        mandates=tuple(mandates.values()),
        keys=_held_keys(workspace, readout.named_keys(objects, mandates.values())),
        acts=acts,
        status_results=tuple(status_results),
        carried=Source.HELD)


def _transactions(objects: tuple[Mapping[str, Any], ...]) -> dict[str, None]:
    named = (members(document).get("transaction_id") for document in objects)
    return dict.fromkeys(transaction_id for transaction_id in named if isinstance(transaction_id, str))


def _held_keys(workspace: Workspace, key_ids: Iterable[str]) -> dict[str, DeclaredKey]:
    """The stored keys; one whose binding is not authentic is in conflict with itself."""
    found = ((key_id, workspace.store.held_key(key_id)) for key_id in key_ids)
    return {key_id: DeclaredKey(held.binding, Source.HELD, held.fault is not None)
            for key_id, held in found if held is not None and held.binding is not None}


def _faults(workspace: Workspace, material: Material, transaction_id: str | None) -> tuple[Fault, ...]:
    """The parts of the state that were read for this verification and are not what was recorded."""
    store = workspace.store
    unreliable = store.faults(None, (), readout.named_keys(material.objects, material.mandates))
    if transaction_id is None:
        return unreliable
    return tuple(dict.fromkeys(
        (*unreliable, *readout.state_faults(store, transaction_id, store.recorded(transaction_id)))))


def _of_bundle(workspace: Workspace, bundle: Mapping[str, Any]) -> Material | Refusal:
    """The bundle alone, under the keys held here; one that is held and cannot be relied on is in conflict."""
    held = _held_keys(workspace, read_keys(bundle.get("keys")))
    material = read_bundle(bundle, {key_id: key.binding for key_id, key in held.items()}, source=Source.HELD)
    if isinstance(material, Refusal):
        return material
    broken = {key_id: key for key_id, key in held.items() if key.conflict}
    return replace(material, keys={**material.keys, **broken}) if broken else material
