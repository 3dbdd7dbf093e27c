"""Evidence of an identity pass that was verified (treatyway 9.5): its claim, and the hash that stands for the token.

A token of the shop's own is never evidenced, and nothing of a pass but these words and this hash enters an object.
"""

from __future__ import annotations

from a202_mcp.one_owner.scribe import Scribe
from a202_mcp.treatyway.callers import PassFacts
from a202_reference.lifecycle.drafts import Draft
from a202_reference.registries import EvidenceType

_LONGEST_ISSUER = 500


def pass_evidence(scribe: Scribe, facts: PassFacts) -> Draft:
    """Evidence of a pass that we verified."""
    claim = (f"identity pass of {facts.issuer[:_LONGEST_ISSUER]} for subject {facts.subject}, "
             f"jti {facts.token_id or 'none'}, level {facts.level}")
    return scribe.evidence(EvidenceType.SIGNED_DOCUMENT, claim, facts.token_sha256, verified=True)
