"""Checks of the party family and of invitations (verification 5.1, 5.3, 5.5; rules 1.3, 1.4, 3.8, 11.1)."""

from __future__ import annotations

from collections.abc import Iterator

from a202_reference.codes import Code
from a202_reference.gate.common import Check
from a202_reference.gate.formation import later_than_creation
from a202_reference.gate.reading import Subject, items, members
from a202_reference.registries import ObjectType, Purpose

_PRINCIPAL_MEMBERS = frozenset({"organization_id", "role", "status", "authority_evidence_refs", "contact_ref"})
_CHANNEL_MEMBERS = frozenset({"channel_type", "channel_domain", "channel_ref", "channel_hash"})
_PRIVATE_JWK_MEMBERS = frozenset({"d", "p", "q", "dp", "dq", "qi", "oth", "k"})
_BOTH_PURPOSES = frozenset({Purpose.INVITATION_CLAIM.value, Purpose.OBJECT_ISSUANCE.value})


def agent_endpoint(subject: Subject) -> Iterator[Code]:
    """A declared endpoint is HTTPS."""
    endpoint = subject.payload.get("endpoint")
    if isinstance(endpoint, str) and not endpoint.startswith("https://"):
        yield Code.ENDPOINT_INSECURE


def principal_personal_data(subject: Subject) -> Iterator[Code]:
    """A principal is a role and an opaque contact, never a person's data."""
    if not _PRINCIPAL_MEMBERS.issuperset(subject.payload):
        yield Code.DISCLOSURE_DENIED


def private_key(subject: Subject) -> Iterator[Code]:
    """A key record holds no private half."""
    if not _PRIVATE_JWK_MEMBERS.isdisjoint(members(subject.payload.get("public_key_jwk"))):
        yield Code.DISCLOSURE_DENIED


def invitation_validity(subject: Subject) -> Iterator[Code]:
    """An invitation is open for some time."""
    if not later_than_creation(subject, "expires_at"):
        yield Code.INVITATION_EXPIRED


def invitation_grant(subject: Subject) -> Iterator[Code]:
    """An invitation grants exactly its own transaction."""
    granted = members(subject.payload.get("granted_scope")).get("transaction_ids")
    if granted != [subject.document.get("transaction_id")]:
        yield Code.INVITATION_SCOPE_EXCEEDED


def invitation_channel(subject: Subject) -> Iterator[Code]:
    """The channel is a domain and two opaque values, never an address."""
    channel = subject.payload.get("invited_channel")
    if isinstance(channel, dict) and (
            not _CHANNEL_MEMBERS.issuperset(channel) or "@" in str(channel.get("channel_domain"))):
        yield Code.DISCLOSURE_DENIED


def custody_approval(subject: Subject) -> Iterator[Code]:
    """A key the operator holds needs an approval of its issuance."""
    if subject.payload.get("key_custody") == "operator_custodied" and not subject.payload.get(
            "issuance_approval_id"):
        yield Code.CUSTODY_APPROVAL_REQUIRED


def claim_signatures(subject: Subject) -> Iterator[Code]:
    """Claimant and operator both sign an invitation's acceptance."""
    purposes = [members(entry).get("purpose") for entry in items(subject.document.get("signatures"))]
    if not all(purpose in purposes for purpose in _BOTH_PURPOSES):
        yield Code.INVITATION_CLAIM_UNSIGNED


def invitation_hash(subject: Subject) -> Iterator[Code]:
    """An acceptance is over exactly the invitation it names."""
    invitation = subject.lookup.get(subject.payload.get("invitation_id"))
    if invitation is not None and subject.payload.get("invitation_hash") != invitation.get("content_hash"):
        yield Code.INVITATION_HASH_MISMATCH


CHECKS: dict[ObjectType, tuple[Check, ...]] = {
    ObjectType.AGENT: (agent_endpoint,),
    ObjectType.PRINCIPAL: (principal_personal_data,),
    ObjectType.KEY_RECORD: (private_key,),
    ObjectType.COUNTERPARTY_INVITATION: (invitation_validity, invitation_grant, invitation_channel),
    ObjectType.INVITATION_ACCEPTANCE: (custody_approval, claim_signatures, invitation_hash),
}
