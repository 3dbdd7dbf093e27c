"""The gate's rules over one object of a record (verification 5): the same functions that judge what is issued here.

A rule whose ground a row of its own covers (with the objects beside it, which the gate would be given too) is not
asked again: one fault, one row.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from a202_reference.codes import Code, distinct
from a202_reference.evidence.entry import Entry
from a202_reference.gate import Lookup, common, disputes, events, formation, obligations, parties, settlement
from a202_reference.gate.common import Check
from a202_reference.gate.judging import CHECKS
from a202_reference.gate.reading import Subject
from a202_reference.registries import ObjectType

ROWS_OF_THEIR_OWN: Final[Mapping[Check, str]] = {
    common.malformed_hashes: "content_hash_format",
    common.evidence_references: "evidence_ref_form",
    events.stream_kind: "stream_kind_registered",
    events.undefined_event: "undefined_event",
    formation.annotations_on_action: "annotations_absent",
    formation.decision_privacy: "decision_privacy",
    formation.acceptance_offer_hash: "offer_hash",
    formation.agreement_signatures: "signature_count",
    formation.agreement_hashes: "terms_hash",
    formation.agreement_amendment: "agreement_amendment_fresh",
    obligations.obligation_agreement: "obligation_terms_hash",
    obligations.assertion_evidence: "assertion_authority",
    obligations.assertion_unit: "assertion_authority",
    obligations.response_author: "response_authority",
    obligations.response_quantity: "remainder_exact",
    obligations.response_assertion: "assertion_hash",
    parties.claim_signatures: "invitation_acceptance_pair",
    parties.invitation_hash: "invitation_hash",
    settlement.settlement_trigger: "accepting_act_hash",
    disputes.dispute_subject: "subject_hash",
    disputes.dispute_window: "dispute_window",
    **dict.fromkeys(disputes.CHECKS[ObjectType.DETERMINATION], "step 6"),
}
"""The gate's rules that are not asked again, and the row that covers each."""

_COMMON: Final = tuple(check for check in common.CHECKS if check not in ROWS_OF_THEIR_OWN)
_BUT_NAMES: Final = tuple(check for check in _COMMON if check is not common.forbidden_members)
"""Which names an object has was seen in its bytes, and is asked of the gate only where one is suspect."""
_OWN: Final = {object_type: tuple(check for check in checks if check not in ROWS_OF_THEIR_OWN)
               for object_type, checks in CHECKS.items()}


def gate_codes(entry: Entry, lookup: Lookup) -> tuple[Code, ...]:
    """The codes of the remaining rules for one object, in evaluation order."""
    subject = Subject(entry.raw, entry.payload, lookup)
    own = () if entry.type is None else _OWN.get(entry.type.value, ())
    return distinct([code for checks in (_COMMON if entry.odd_names else _BUT_NAMES, own)
                     for check in checks for code in check(subject)])
