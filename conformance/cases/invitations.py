"""Family invitation of the operated scope."""

from __future__ import annotations

from a202_reference.codes import Code
from conformance.cases.registry import faulty, valid
from conformance.documents.parties import invitation, invitation_acceptance
from conformance.documents.performance import bundle
from conformance.world import Document, at, changed, sealed, stand_in


@valid("kernel")
def valid_counterparty_invitation() -> Document:
    """A party that is not registered is invited to one transaction."""
    return invitation()


@valid("bundle")
def valid_invitation_acceptance() -> Document:
    """The invited party claims, the exchange records it; the invitation is beside it."""
    invited = invitation()
    return bundle(invited, invitation_acceptance(invited))


@valid("kernel")
def valid_invitation_acceptance_in_custody() -> Document:
    """The exchange holds the key, with an approval; a higher assurance comes with evidence."""
    return invitation_acceptance(
        invitation(), key_custody="operator_custodied", issuance_approval_id="apr_quayside_01",
        assurance="credential_verified", assurance_evidence_refs=["evd_quayside_register_01"])


@faulty("kernel", Code.INVITATION_SECRET_DISCLOSED)
def invitation_with_secret_beside_hash() -> Document:
    """The claim secret itself stands beside its hash."""
    return invitation(claim_secret="correct horse")  # noqa: S106  the fault of this case


@faulty("kernel", Code.INVITATION_EXPIRED)
def invitation_over_before_made() -> Document:
    """It ends before it was made."""
    return invitation(expires_at=at(29))


@faulty("kernel", Code.INVITATION_SCOPE_EXCEEDED)
def invitation_to_another_transaction() -> Document:
    """The grant names another transaction than its own."""
    return sealed(changed(invitation(), "payload.granted_scope.transaction_ids", ["txn_other_deal_01"]))


@faulty("kernel", Code.DISCLOSURE_DENIED)
def invitation_to_address_in_clear() -> Document:
    """A mail address stands where a domain belongs."""
    return sealed(changed(invitation(), "payload.invited_channel.channel_domain", "desk@quayside.example"))


@faulty("kernel", Code.ASSURANCE_UNSUPPORTED)
def invitation_accepted_on_bare_assurance() -> Document:
    """A higher assurance without evidence."""
    return invitation_acceptance(invitation(), assurance="entity_bound")


@faulty("kernel", Code.CUSTODY_APPROVAL_REQUIRED)
def invitation_accepted_in_custody_unapproved() -> Document:
    """The exchange holds the key and nobody approved it."""
    return invitation_acceptance(invitation(), key_custody="operator_custodied")


@faulty("kernel", Code.INVITATION_CLAIM_UNSIGNED)
def invitation_accepted_without_claimant() -> Document:
    """Both signatures are the exchange's."""
    document = invitation_acceptance(invitation())
    own = document["signatures"][1]
    return sealed({**document, "signatures": [own, own]})


@faulty("bundle", Code.INVITATION_HASH_MISMATCH)
def invitation_accepted_of_other_bytes() -> Document:
    """The invitation beside it has other bytes than the acceptance says."""
    invited = invitation()
    return bundle(invited, invitation_acceptance(invited, invitation_hash=stand_in("another invitation")))


