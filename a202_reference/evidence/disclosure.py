"""Disclosing a part of a bundle (verification 3; surface 6, `disclosed`).

Rules this module applies:

- the part verifies on its own: each object comes whole, with the mandates it cites and those above them, the keys
  that signed what is left, the act documents of the decisions that are left and their status answers;
- what is held back stays unguessable: no count, no sequence beyond what is disclosed, no instant of it, no act, no
  status answer, no mandate and no key that nothing disclosed names. The head is told only where the last event is
  disclosed, and never how many objects there are;
- the part says that it is one, and by what it was chosen.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from a202_reference.codes import Code, Refusal
from a202_reference.registries import ObjectType


def disclose(
    bundle: Mapping[str, Any], *, object_ids: Collection[str] | None = None,
    sequences: tuple[int, int] | None = None,
) -> dict[str, Any] | Refusal:
    """A bundle of our own making, reduced to these objects, or to what was recorded up to and with these events.

    sequences: first and last event, both included; what was recorded for them, between them, is included. Exactly
    one of the two is given. An identifier, or a sequence, that the bundle does not hold refuses
    `A202-EVIDENCE-DISCLOSURE-INCOMPLETE`.
    """
    if (object_ids is None) is (sequences is None):
        return Refusal.of(Code.EVIDENCE_DISCLOSURE_INCOMPLETE, "choose by object_ids or by sequences, not by both")
    if object_ids is not None:
        held = {document["id"] for document in bundle["objects"]}
        missing = sorted(set(object_ids) - held)
        if missing or not object_ids:
            return Refusal.of(Code.EVIDENCE_DISCLOSURE_INCOMPLETE, f"not in this bundle: {', '.join(missing[:5])}")
        return _part(bundle, [document for document in bundle["objects"] if document["id"] in set(object_ids)],
                     {"by": "object_ids"})
    first, last = sequences or (0, 0)
    chosen = list(_recorded(bundle["objects"], first, last))
    told = {document["payload"]["sequence"] for document in chosen if _is_event(document)}
    if not told or not {first, last} <= told:
        return Refusal.of(Code.EVIDENCE_DISCLOSURE_INCOMPLETE, f"there are no events {first} to {last} in this bundle")
    return _part(bundle, chosen, {"by": "sequences", "from": first, "to": last})


def _recorded(objects: Sequence[Mapping[str, Any]], first: int, last: int) -> Iterator[Mapping[str, Any]]:
    """Objects in record order, each event after what was recorded for it."""
    reached, waiting = 0, list[Mapping[str, Any]]()
    for document in objects:
        waiting.append(document)
        if _is_event(document):
            reached = document["payload"]["sequence"]
            if first <= reached <= last:
                yield from waiting
            waiting.clear()


def _part(bundle: Mapping[str, Any], objects: Sequence[Mapping[str, Any]], by: Mapping[str, Any]) -> dict[str, Any]:
    mandates = _mandates(bundle, objects)
    keys = {entry["key_id"] for document in objects for entry in document["signatures"]}
    keys |= {mandate["proof"]["key_id"] for mandate in mandates}
    acts = {document["payload"]["action_hash"] for document in objects
            if document["object_type"] == ObjectType.POLICY_DECISION}
    ends = [document for document in objects if document["content_hash"] == bundle["head"]["event_hash"]]
    return {
        **{name: bundle[name] for name in ("format", "exported_at", "exported_by", "transaction_id", "rules")},
        "disclosed": dict(by),
        "objects": list(objects),
        "mandates": mandates,
        "keys": [key for key in bundle["keys"] if key["key_id"] in keys],
        "acts": {action_hash: act for action_hash, act in bundle["acts"].items() if action_hash in acts},
        "status_results": [result for result in bundle["status_results"] if result["action_hash"] in acts],
        "head": {name: bundle["head"][name] for name in ("sequence", "event_hash")} if ends else None,
    }


def _mandates(bundle: Mapping[str, Any], objects: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The mandates that these objects cite, those above them, and those that bind a disclosed approval's key."""
    held = {mandate["id"]: mandate for mandate in bundle["mandates"]}
    cited = [document["created_by"]["mandate_id"] for document in objects]
    for document in objects:
        if document["object_type"] == ObjectType.POLICY_DECISION:
            cited += document["payload"]["mandate_ids"]
        if document["object_type"] == ObjectType.APPROVAL:
            signers = {entry["key_id"] for entry in document["signatures"]}
            cited += [mandate["id"] for mandate in held.values()
                      if signers & {mandate["issuer"]["key_id"], mandate["subject"]["key_id"]}]
    needed: dict[str, Mapping[str, Any]] = {}
    while cited:
        mandate = held.get(cited.pop())
        if mandate is not None and mandate["id"] not in needed:
            needed[mandate["id"]] = mandate
            cited.append(mandate["parent_mandate_id"])
    return [mandate for mandate in bundle["mandates"] if mandate["id"] in needed]


def _is_event(document: Mapping[str, Any]) -> bool:
    return bool(document["object_type"] == ObjectType.TRANSACTION_EVENT)
