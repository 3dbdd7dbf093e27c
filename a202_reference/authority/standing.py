"""Who a key speaks for, and whether an evidence object stands (rules 3.4, 3.8; D-6, D-15).

Rules this module applies:

- a principal's key is one that a verified mandate names, as its issuer's or as its principal subject's; a key
  that was only ever named in an approval speaks for nobody;
- an evidence object stands where its content hash recomputes, at least one signature is there and every one
  verifies, and its own `verification.status` says `verified`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from a202_reference.authority.constraints import EvidenceStanding
from a202_reference.canonical import NotCanonicalError, content_bytes, sha256_hex
from a202_reference.codes import Outcome
from a202_reference.keys import Owner
from a202_reference.registries import TYPE_RULES, ObjectType
from a202_reference.signing import KeyResolver, check_entry, check_proof


def principal_of(
    key_id: str, mandates: Iterable[Mapping[str, Any]], keys: KeyResolver,
    well_formed: Callable[[Mapping[str, Any]], bool],
) -> Owner | None:
    """The principal that a verified one of these mandates binds this key to, or None."""
    for mandate in mandates:
        if not well_formed(mandate):
            continue
        owner = _named(key_id, mandate)
        if owner is not None and check_proof(mandate, keys).outcome is Outcome.VERIFIED:
            binding = keys(key_id)
            if binding is not None and binding.owner == owner:
                return owner
    return None


def evidence_standing(evidence: Mapping[str, Any], keys: KeyResolver) -> EvidenceStanding | None:
    """How one evidence object stands; None where it has no canonical form or is no evidence. Total."""
    payload, entries = evidence.get("payload"), evidence.get("signatures")
    if evidence.get("object_type") != ObjectType.EVIDENCE or not isinstance(payload, Mapping):
        return None
    try:
        content = content_bytes(evidence)
    except NotCanonicalError:
        return None
    recomputed = sha256_hex(content)
    purposes = TYPE_RULES[ObjectType.EVIDENCE].purposes
    signed = isinstance(entries, list) and bool(entries) and all(
        check_entry(content, entry, purposes, keys).outcome is Outcome.VERIFIED for entry in entries)
    verification = payload.get("verification")
    says_verified = isinstance(verification, Mapping) and verification.get("status") == "verified"
    return EvidenceStanding(
        recomputed, str(payload.get("evidence_type")),
        signed and says_verified and evidence.get("content_hash") == recomputed)


def _named(key_id: str, mandate: Mapping[str, Any]) -> Owner | None:
    issuer, subject = mandate["issuer"], mandate["subject"]
    if issuer["key_id"] == key_id:
        return Owner(issuer["organization_id"], principal_id=issuer["principal_id"])
    if subject["key_id"] == key_id and "principal_id" in subject:
        return Owner(mandate["represented_organization_id"], principal_id=subject["principal_id"])
    return None
