"""A dispute over one act, and its determination."""

from __future__ import annotations

from typing import Any

from a202_reference.registries import ObjectType
from conformance.documents.performance import evidence_ref
from conformance.world import BUYER, SELLER, Document, at, days, envelope, stand_in

RULES = "a202-rules/pilot"

RULES_HASHES = {
    "1.0": "11a2b3c4d5e6f708192a3b4c5d6e7f8091a2b3c4d5e6f708192a3b4c5d6e7f80",
    "1.3": "44d5e6f708192a3b4c5d6e7f8091a2b3c4d5e6f708192a3b4c5d6e7f8091a2b3",
}


def rules_ref(version: str = "1.3") -> Document:
    """A reference to a published version of the pilot rules."""
    return {"rule_set_id": RULES, "version": version, "rules_hash": RULES_HASHES[version]}


def dispute(subject: Document, name: str = "brightwater_01", *, minutes: int = days(2), **payload: Any) -> Document:
    """The buyer disputes a signed act."""
    return envelope(ObjectType.DISPUTE, name, {
        "raising_party": BUYER.party,
        "respondent_party": SELLER.party,
        "subject_type": "act",
        "subject_hash": subject["content_hash"],
        "subject_id": subject["id"],
        "grounds": ["authority_exceeded"],
        "evidence_refs": [evidence_ref()],
        "rules_ref": rules_ref(),
        **payload,
    }, by=BUYER, minutes=minutes)


def outcome(**members: Any) -> Document:
    """A reasoned outcome that moves nothing."""
    return {
        "finding": "The act was signed by the agent its mandate names, within its limits.",
        "rules_applied": [f"{RULES}#state.transition-legality"],
        "evidence_relied_on": [evidence_ref()],
        "inputs_hash": stand_in("inputs of the determination"),
        "state_result": None,
        **members,
    }


def determination(on: Document, name: str = "brightwater_01", *, minutes: int = days(4), **payload: Any) -> Document:
    """The respondent determines the dispute."""
    asked = on["payload"]
    return envelope(ObjectType.DETERMINATION, name, {
        "dispute_id": on["id"],
        "question": {name: asked[name] for name in ("subject_type", "subject_hash", "subject_id", "rules_ref")},
        "outcome": outcome(),
        "determiner": SELLER.party,
        "authority_basis_ref": f"{RULES}#determiner.authority",
        "effect": "presumptive",
        "supersedes": None,
        "appeal_route_ref": f"{RULES}#appeal.route",
        "determined_at": at(minutes),
        "effective_from": at(minutes),
        **payload,
    }, by=SELLER, minutes=minutes)
