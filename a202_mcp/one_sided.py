"""Exporting a record that one side alone made: what stays private, and what the bundle says of itself.

Rules this module applies (seller and member surfaces, "The A202 core"):

- a record without acceptance, agreement and event is one side's word, and its bundle says `one_sided`;
- decisions that deny or hold, and their acts, are left out unless asked for; `disclosed` names what was;
- without the mandate, which states the limits, its decisions and acts go too. Either part verifies on its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from a202_reference.codes import Refusal
from a202_reference.evidence.disclosure import disclose
from a202_reference.registries import ObjectType

PRIVATE: Final = "decisions that deny or hold, and their acts"
MANDATE: Final = "the mandate, its decisions and acts"
_OF_BOTH: Final = frozenset({ObjectType.ACCEPTANCE, ObjectType.AGREEMENT, ObjectType.TRANSACTION_EVENT})


def is_one_sided(bundle: Mapping[str, Any]) -> bool:
    """True where nothing in the record is anything but its maker's."""
    return not any(document["object_type"] in _OF_BOTH for document in bundle["objects"])


def disclosed_part(bundle: Mapping[str, Any], *, private: bool, without_mandate: bool) -> dict[str, Any] | None:
    """A one-sided bundle of our own making, without what the owner keeps; None where that is all of it."""
    kept = [document["id"] for document in bundle["objects"] if _goes_out(document, private, without_mandate)]
    if not kept:
        return None
    left_out = [name for name, gone in ((MANDATE, without_mandate), (PRIVATE, not private)) if gone]
    part = dict(bundle)
    if without_mandate or len(kept) < len(bundle["objects"]):
        found = disclose(bundle, object_ids=kept)
        if isinstance(found, Refusal):
            raise ValueError(found.detail)
        part = {**found, "disclosed": {"by": "left_out", "left_out": left_out}}
    if without_mandate:
        part = {**part, "mandates": []}
    return {"format": part.pop("format"), "one_sided": True, **part}


def _goes_out(document: Mapping[str, Any], private: bool, without_mandate: bool) -> bool:
    if document["object_type"] != ObjectType.POLICY_DECISION:
        return True
    return not without_mandate and (private or document["payload"]["decision"] == "allow")
