"""The exported bundle: one JSON document that a stranger can verify with nothing else (surface 6).

Rules this module applies:

- a bundle holds every object of a transaction in record order, the mandates they cite, the keys with owner and
  interval, each act document under its hash, each presented status answer, the rules, and the record's head;
- keys that travel with a bundle are the bundle's own claim; a key the reader pinned counts instead of it;
- reading is strict where it matters and total everywhere: another format, or a part of another type, refuses;
  members nobody knows are ignored; a key that cannot be read is no key, and what it signed stays unchecked.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from a202_reference.codes import Code, Refusal
from a202_reference.evidence.material import DeclaredKey, Head, Material, Source, merged_keys
from a202_reference.gate.reading import items, members
from a202_reference.identifiers import Prefix, is_sha256_hex
from a202_reference.keys import KeyBinding, Owner, PublicKey
from a202_reference.lifecycle.rules import RuleSet, resolve_rules
from a202_reference.registries import ObjectType
from a202_reference.times import format_instant, parse_instant

FORMAT: Final = "a202-bundle/0.1"

_PARTS: Final[Mapping[str, tuple[type, ...]]] = {
    "objects": (list,), "mandates": (list,), "keys": (list,), "acts": (dict,), "status_results": (list,),
    "head": (dict, type(None)), "rules": (dict, type(None)), "stated_gaps": (list,),
}
"""The parts that are read and their JSON types. All but `objects` may be left out."""


def build_bundle(  # noqa: PLR0913 (a bundle has these parts, and a caller names each)
    *,
    transaction_id: str,
    objects: Sequence[Mapping[str, Any]],
    mandates: Sequence[Mapping[str, Any]],
    keys: Sequence[KeyBinding],
    acts: Mapping[str, Mapping[str, Any]],
    status_results: Sequence[Mapping[str, Any]],
    exported_at: datetime,
    exported_by: str | None,
    rules: RuleSet,
) -> dict[str, Any]:
    """The bundle of one whole transaction; objects in record order, of this server's own making."""
    return {
        "format": FORMAT,
        "exported_at": format_instant(exported_at),
        "exported_by": exported_by,
        "transaction_id": transaction_id,
        "rules": rules.ref,
        "objects": [dict(document) for document in objects],
        "mandates": [dict(document) for document in mandates],
        "keys": [key_document(binding) for binding in keys],
        "acts": {action_hash: dict(act) for action_hash, act in acts.items()},
        "status_results": [dict(result) for result in status_results],
        "head": {**head_of(objects), "object_count": len(objects)},
    }


def head_of(objects: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The last event among objects of our own making: its sequence and hash; 0 and null where there is none."""
    events = [document for document in objects if document["object_type"] == ObjectType.TRANSACTION_EVENT]
    if not events:
        return {"sequence": 0, "event_hash": None}
    last = max(events, key=lambda event: int(event["payload"]["sequence"]))
    return {"sequence": last["payload"]["sequence"], "event_hash": last["content_hash"]}


def key_document(binding: KeyBinding) -> dict[str, Any]:
    """One entry of `keys`."""
    return {
        "key_id": binding.key_id,
        "owner": binding.owner.document,
        "algorithm": binding.public.algorithm.value,
        "public_key_jwk": binding.public.jwk,
        "valid_from": format_instant(binding.valid_from),
        "valid_until": None if binding.valid_until is None else format_instant(binding.valid_until),
        "status": binding.status,
    }


def read_bundle(
    document: object, pinned: Mapping[str, KeyBinding], *, source: Source = Source.PINNED,
) -> Material | Refusal:
    """The material in a bundle, or why it is none. `source` says what the pinned keys are."""
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        return Refusal.of(Code.POLICY_DENIED, f"this is no bundle: `format` must be \"{FORMAT}\"")
    for part, kinds in _PARTS.items():
        if (part in document or part == "objects") and not isinstance(document.get(part), kinds):
            return Refusal.of(Code.POLICY_DENIED, f"this is no bundle: `{part}` is missing or of another type")
    rules = resolve_rules(document.get("rules"))
    transaction_id = document.get("transaction_id")
    return Material(
        objects=tuple(document["objects"]),
        mandates=tuple(document.get("mandates", ())),
        keys=merged_keys(read_keys(document.get("keys", [])), pinned, source),
        acts=document.get("acts", {}),
        status_results=tuple(document.get("status_results", ())),
        head=_head(document.get("head")),
        rules_version=rules.version if rules else None,
        stated_gaps=frozenset(gap for gap in document.get("stated_gaps", ()) if isinstance(gap, str)),
        transaction_id=transaction_id if Prefix.TRANSACTION.names(transaction_id) else None,
        disclosed=document.get("disclosed"),
        exported=True,
    )


def read_keys(entries: object) -> dict[str, DeclaredKey]:
    """The readable keys of a bundle's `keys`. Two different ones under one identifier conflict."""
    keys: dict[str, DeclaredKey] = {}
    for entry in items(entries):
        binding = read_key(entry)
        if binding is None:
            continue
        earlier = keys.get(binding.key_id)
        keys[binding.key_id] = DeclaredKey(
            binding, Source.DECLARED, earlier is not None and (earlier.conflict or earlier.binding != binding))
    return keys


def read_key(entry: object) -> KeyBinding | None:
    """One entry of `keys`, or None where it cannot be read."""
    raw = members(entry)
    public, owner = PublicKey.from_jwk(raw.get("public_key_jwk")), _owner(raw.get("owner"))
    start, end = parse_instant(raw.get("valid_from")), parse_instant(raw.get("valid_until"))
    key_id, status = raw.get("key_id"), raw.get("status", "active")
    if public is None or owner is None or start is None or not isinstance(status, str):
        return None
    if not isinstance(key_id, str) or not Prefix.KEY.names(key_id):
        return None
    if (end is None and raw.get("valid_until") is not None) or raw.get("algorithm") != public.algorithm:
        return None
    return KeyBinding(key_id, owner, public, start, end, status)


def _owner(raw: object) -> Owner | None:
    """Exactly an organisation and one of agent and principal: whose a key is leaves no room for more."""
    owner = {name: value for name, value in members(raw).items() if value is not None}
    organization, agent, principal = (owner.get(name) for name in ("organization_id", "agent_id", "principal_id"))
    if not isinstance(organization, str) or not Prefix.ORGANIZATION.names(organization) or len(owner) != 2:
        return None
    if Prefix.AGENT.names(agent):
        return Owner(organization, agent_id=str(agent))
    return Owner(organization, principal_id=str(principal)) if Prefix.PRINCIPAL.names(principal) else None


def _head(raw: object) -> Head | None:
    if not isinstance(raw, dict):
        return None
    event_hash, count = raw.get("event_hash"), raw.get("object_count")
    known = event_hash is None or is_sha256_hex(event_hash)
    return Head(raw.get("sequence"), event_hash if known else "", count)
