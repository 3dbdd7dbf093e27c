"""Step 2: signatures (verification 1, step 2; rules 1.3, 1.4, 1.6; D-5, D-6, D-8).

Rules this module applies:

- each signature entry is checked for its value, its purpose, its key and the key's standing when it signed; it is
  verified where all four are, failed where one is (`A202-EVIDENCE-SIGNATURE-INVALID`), else not checkable. The
  purpose is judged even under a placeholder;
- a placeholder, or a key nobody holds, is not checkable; so are the rules that need the key's owner;
- one signature at least, two on an agreement and an invitation acceptance; an agreement's are of two keys, one of
  each party; an event in a record without operator has the other party's countersignature (not checkable where
  it is absent, D-23);
- an object is signed by the party whose act it is, with that agent's key; an approval by its approver. A key that
  the bundle declares differently than it is pinned or held fails whatever it signs;
- a mandate's proof is checked in the same way.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from functools import lru_cache
from typing import Any, Final

from a202_reference.canonical import NotCanonicalError
from a202_reference.codes import Code, Outcome
from a202_reference.evidence.entry import Entry
from a202_reference.evidence.index import Job, job_of, verify_job
from a202_reference.evidence.inquiry import Inquiry, Signed
from a202_reference.evidence.keychain import KnownKey, Standing, revoked_at
from a202_reference.evidence.material import Source
from a202_reference.evidence.report import VERIFIED, Judgement, failed, unknown
from a202_reference.evidence.step1_evidence import check_short_forms
from a202_reference.evidence.step2_parties import PARTY_CHECKS, signer_is_actor
from a202_reference.gate.reading import members
from a202_reference.registries import TYPE_RULES, ObjectType, Purpose
from a202_reference.signing import is_placeholder, mandate_content
from a202_reference.times import parse_instant

_INVALID: Final = Code.EVIDENCE_SIGNATURE_INVALID
_PLACEHOLDER: Final = unknown("a placeholder stands where a signature belongs")
_PROTECTED: Final = ("key_id", "algorithm", "purpose", "signed_at")
_REPEATED: Final = unknown("it repeats an earlier entry and adds nothing")
_MANDATE_PURPOSES: Final = frozenset({Purpose.MANDATE_ISSUANCE})
_KNOWN: Final = {source: Judgement(Outcome.VERIFIED, None, source.value) for source in Source}
_UNMAPPED: Final = unknown("no purposes are registered for this object type")
_COUNT: Final[Mapping[ObjectType | None, int]] = {ObjectType.AGREEMENT: 2, ObjectType.INVITATION_ACCEPTANCE: 2}


def check(inquiry: Inquiry) -> None:
    """Run this step over every object and every mandate."""
    for entry in inquiry.index.entries:
        inquiry.signed[entry] = tuple(_signatures(inquiry, entry))
        inquiry.add(2, "signature_count", entry.subject, signature_count(entry))
        actor = signer_is_actor(entry, inquiry)
        if actor is not None:
            inquiry.add(2, "signer_is_actor", entry.subject, actor)
        for name, party in PARTY_CHECKS.get(entry.type, ()) if entry.type else ():
            inquiry.add(2, name, entry.subject, party(entry, inquiry))
    for mandate in inquiry.mandates.documents:
        _proof(inquiry, mandate)
    check_short_forms(inquiry)


def _signatures(inquiry: Inquiry, entry: Entry) -> Iterator[Signed]:
    """Every entry of an object; a key that says again what it said, in whatever bytes, signs no second time."""
    purposes = TYPE_RULES[entry.type].purposes if entry.type is not None else None
    seen: set[tuple[str, ...]] = set()
    for at, (signature, value) in enumerate(zip(entry.entries, entry.values, strict=True)):
        said = tuple(str(members(signature).get(name)) for name in _PROTECTED)
        if said in seen:
            inquiry.add(2, f"signature[{at}]", entry.subject, _REPEATED)
            yield Signed(inquiry.keychain.get(members(signature).get("key_id")), _REPEATED)
            continue
        seen.add(said)
        yield _entry(inquiry, entry.subject, f"[{at}]", signature, value, purposes)


def signature_count(entry: Entry) -> Judgement:
    """There are as many signatures as the type demands, at least one."""
    least = _COUNT.get(entry.type, 1)
    if len(entry.entries) >= least:
        return VERIFIED
    if entry.type is ObjectType.ADAPTER_RECEIPT:
        return unknown("an unsigned receipt proves nothing")
    return failed(_INVALID, f"{len(entry.entries)} signatures where {least} are needed")


def _proof(inquiry: Inquiry, mandate: Mapping[str, Any]) -> None:
    """The same rows over a mandate's proof; `created_at` stands as `signed_at` (rules 1.5)."""
    proof, issuer = members(mandate.get("proof")), members(mandate.get("issuer"))
    entry = {**{name: proof.get(name) for name in ("key_id", "algorithm", "signature", "purpose")},
             "signed_at": proof.get("created_at")}
    try:
        content = mandate_content(mandate)
    except NotCanonicalError:
        content = None
    verdict = job_of(entry, content, inquiry.mandates.public)
    if isinstance(verdict, Job):
        verdict = None if verify_job(verdict) else "the signature does not verify over these bytes"
    if verdict is None and proof.get("key_id") != issuer.get("key_id"):
        verdict = "the proof is under another key than the issuer's"
    signed = _entry(inquiry, inquiry.mandates.subject(mandate), "[proof]", entry, verdict, _MANDATE_PURPOSES)
    inquiry.mandates.note_proof(mandate, signed.overall)


def _entry(
    inquiry: Inquiry, subject: str, place: str, signature: Any, value: Any, purposes: frozenset[Purpose] | None,
) -> Signed:
    """The rows of one signature entry."""
    entry = members(signature)
    key = inquiry.keychain.get(entry.get("key_id"))
    parts = (_value(entry, value), _purpose(entry, purposes), _resolves(entry, key, inquiry),
             _standing(entry, key, inquiry))
    overall = _overall(parts)
    for name, judgement in zip(_names(place), (*parts, overall), strict=True):
        inquiry.add(2, name, subject, judgement)
    return Signed(key, overall)


@lru_cache(maxsize=64)
def _names(place: str) -> tuple[str, ...]:
    """The checks of one entry, the overall one last."""
    return tuple(name + place for name in (
        "signature_value", "signature_purpose", "key_resolves", "key_status_at_signing", "signature"))


def _value(entry: Mapping[str, Any], value: Any) -> Judgement:
    if value is None:
        return VERIFIED
    if value is not ...:
        return failed(_INVALID, value)
    if is_placeholder(entry.get("signature")):
        return _PLACEHOLDER
    return unknown(f"the key {str(entry.get('key_id'))[:140]} is not held")


def _purpose(entry: Mapping[str, Any], purposes: frozenset[Purpose] | None) -> Judgement:
    if purposes is None:
        return VERIFIED if entry.get("purpose") == Purpose.OBJECT_ISSUANCE else _UNMAPPED
    purpose = entry.get("purpose")
    if isinstance(purpose, str) and purpose in purposes:
        return VERIFIED
    return failed(_INVALID, "the purpose is none of this object type")


def _resolves(entry: Mapping[str, Any], key: KnownKey | None, inquiry: Inquiry) -> Judgement:
    if key is None:
        inquiry.miss(entry.get("key_id"))
        return unknown(f"the key {str(entry.get('key_id'))[:140]} is not held")
    if key.conflict:
        return failed(_INVALID, f"another key or owner is declared under {key.key_id} than the one {key.source.value}")
    return _KNOWN[key.source]


def _standing(entry: Mapping[str, Any], key: KnownKey | None, inquiry: Inquiry) -> Judgement:
    """How the key stood at `signed_at`; keys and instants repeat, so each pair is judged once."""
    moment = entry.get("signed_at")
    signed_at = parse_instant(moment)
    if signed_at is None:
        return failed(_INVALID, "signed_at is no instant")
    if key is None:
        return unknown("the key's interval is not known")
    known = inquiry.standings.get((key.key_id, signed_at))
    if known is None:
        known = inquiry.standings[key.key_id, signed_at] = _judged_standing(key, signed_at, str(moment), inquiry)
    return known


def _judged_standing(key: KnownKey, signed_at: datetime, moment: str, inquiry: Inquiry) -> Judgement:
    revoked = revoked_at(inquiry.revocations, key.key_id, key.organization_id, signed_at)
    standings = {key.standing_at(signed_at), revoked}
    if Standing.ENDED in standings:
        return failed(_INVALID, f"{key.key_id} was not valid at {moment}")
    if Standing.UNKNOWN in standings:
        return unknown(f"how {key.key_id} stood at {moment} is not known")
    return VERIFIED


def _overall(parts: tuple[Judgement, ...]) -> Judgement:
    """Failed where one part failed, verified where all are, else not checkable."""
    unmade: Judgement | None = None
    for part in parts:
        if part.outcome is Outcome.FAILED:
            return part
        if part.outcome is Outcome.NOT_CHECKABLE and unmade is None:
            unmade = part
    return unmade or VERIFIED
