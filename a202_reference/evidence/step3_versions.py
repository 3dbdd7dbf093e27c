"""Step 3: versions and supersession (verification 1, step 3; rules 1.2, 5.3, 8.4, 9.2; D-3, D-33).

Rules this module applies:

- a first version names no predecessor, a later one names one; versions grow by one, of one type and transaction,
  without fork or loop (`A202-EVIDENCE-CHAIN-GAP`). A predecessor that is not held is a boundary, not a gap;
- one identifier stands for one set of bytes: two are a gap;
- an amended agreement has a fresh offer and acceptance (`A202-AGREEMENT-AMENDMENT-UNACCEPTED`); a later version of an
  obligation changes nothing but its state (`A202-OBLIGATION-TERMS-MUTATED`);
- a determination is superseded once (`A202-DETERMINATION-SUPERSESSION-FORKED`), for a registered reason
  (`A202-DETERMINATION-SUPERSESSION-UNREASONED`), on the same question (`A202-DISPUTE-SUBJECT-UNREFERENCED`); an appeal
  is against one that stands.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import Final

from a202_reference.codes import Code
from a202_reference.evidence.entry import Entry
from a202_reference.evidence.inquiry import Inquiry
from a202_reference.evidence.report import VERIFIED, Judgement, failed, unknown
from a202_reference.gate.reading import members
from a202_reference.registries import SUPERSESSION_REASONS, ObjectType, SubjectType

_GAP: Final = Code.EVIDENCE_CHAIN_GAP
_FIXED_TERMS: Final = ("subject", "due_condition", "quantity", "unit_code", "consideration")


def check(inquiry: Inquiry) -> None:
    """Run this step over every object."""
    for entry in inquiry.index.entries:
        inquiry.add(3, "version_starts_at_one", entry.subject, version_starts_at_one(entry))
        if _version(entry) != 1 or _predecessor(entry) is not None:
            _later_version(entry, inquiry)
    _set_checks(inquiry)
    determinations = inquiry.index.of(ObjectType.DETERMINATION)
    looping = frozenset(_looping({each.id: _superseded(each) for each in determinations if each.id is not None}))
    for determination in determinations:
        if determination.payload.get("supersedes") is not None:
            inquiry.add(3, "supersession_chain", determination.subject, supersession_chain(
                determination, inquiry, loops=determination.id in looping))
    for dispute in inquiry.index.of(ObjectType.DISPUTE):
        if dispute.payload.get("subject_type") == SubjectType.DETERMINATION:
            inquiry.add(3, "appeal_target_current", dispute.subject, appeal_target_current(dispute, inquiry))


def version_starts_at_one(entry: Entry) -> Judgement:
    """Version 1 exactly where no predecessor is named."""
    version, predecessor = _version(entry), entry.raw.get("previous_version_id")
    if version is None:
        return failed(_GAP, "the version is no whole number from 1")
    if (version == 1) is not (predecessor is None):
        return failed(_GAP, f"version {version} with {'a' if predecessor is not None else 'no'} predecessor")
    return VERIFIED


def _later_version(entry: Entry, inquiry: Inquiry) -> None:
    named = _predecessor(entry)
    before = inquiry.find(named, entry.type) if entry.type else None
    other = inquiry.index.get(named)
    if before is None:
        absent = unknown(f"the version before it, {str(named)[:140]}, is not here")
        wrong = other is not None
        gap = failed(_GAP, f"{other.subject if other else ''} is of another type")
        inquiry.add(3, "version_chain_start", entry.subject, absent)
        inquiry.add(3, "version_chain", entry.subject, gap if wrong else absent)
        return
    grows = _version(before) is not None and _version(before) == (_version(entry) or 0) - 1
    inquiry.add(3, "version_chain", entry.subject, VERIFIED if grows else failed(
        _GAP, f"version {_version(entry)} after version {_version(before)}"))
    inquiry.add(3, "version_chain_type", entry.subject, VERIFIED if before.transaction_id == entry.transaction_id
                else failed(_GAP, "the version before it is of another transaction"))
    if entry.type is ObjectType.AGREEMENT:
        inquiry.add(3, "agreement_amendment_fresh", entry.subject, _fresh(entry, before))
    if entry.type is ObjectType.OBLIGATION:
        same = all(entry.payload.get(name) == before.payload.get(name) for name in _FIXED_TERMS)
        inquiry.add(3, "obligation_terms_fixed", entry.subject, VERIFIED if same else failed(
            Code.OBLIGATION_TERMS_MUTATED, f"it changes what {before.subject} says is owed"))


def _fresh(entry: Entry, before: Entry) -> Judgement:
    reused = [name for name in ("acceptance_id", "accepted_offer_id")
              if entry.payload.get(name) == before.payload.get(name)]
    if not reused:
        return VERIFIED
    return failed(Code.AGREEMENT_AMENDMENT_UNACCEPTED, f"it reuses the {reused[0]} of {before.subject}")


def _set_checks(inquiry: Inquiry) -> None:
    """Checks over the whole set: one row where they hold, one per object that breaks them."""
    successors: dict[str, list[Entry]] = defaultdict(list)
    superseders: dict[str, list[Entry]] = defaultdict(list)
    for entry in inquiry.index.entries:
        before = _predecessor(entry)
        if before is not None:
            successors[before].append(entry)
        superseded = members(entry.payload.get("supersedes")).get("determination_id")
        if entry.type is ObjectType.DETERMINATION and isinstance(superseded, str):
            superseders[superseded].append(entry)
    held = inquiry.index.by_id
    looping = [held[each] for each in _looping({name: _predecessor(entry) for name, entry in held.items()})]
    duplicates = [entry for entry in inquiry.index.entries if entry.id in inquiry.index.ambiguous]
    _over_set(inquiry, "duplicate_identifier", duplicates, _GAP, "two different objects claim this identifier")
    _over_set(inquiry, "version_chain_fork", _rivals(successors), _GAP, "another version names the same predecessor")
    _over_set(inquiry, "version_cycle", looping, _GAP, "following its predecessors leads back to it")
    if inquiry.index.of(ObjectType.DETERMINATION):
        _over_set(inquiry, "supersession_fork", _rivals(superseders), Code.DETERMINATION_SUPERSESSION_FORKED,
                  "another determination supersedes the same one")


def _over_set(inquiry: Inquiry, name: str, breaking: list[Entry], code: Code, detail: str) -> None:
    for entry in breaking:
        inquiry.add(3, name, entry.subject, failed(code, detail))
    if not breaking:
        inquiry.add(3, name, inquiry.whole, VERIFIED)


def _rivals(named: dict[str, list[Entry]]) -> list[Entry]:
    """Entries that share what they name; copies of one hash are no rivals."""
    return [entry for entries in named.values() if len({each.hash or each.subject for each in entries}) > 1
            for entry in entries]


def _looping(following: Mapping[str, str | None]) -> list[str]:
    """The identifiers from which following leads back to themselves; each is visited once."""
    settled: dict[str, bool] = {}
    for start in following:
        path: dict[str, int] = {}
        at: str | None = start
        while at is not None and at in following and at not in settled and at not in path:
            path[at] = len(path)
            at = following[at]
        begins = path.get(at, len(path)) if at is not None else len(path)
        settled.update({step: place >= begins for step, place in path.items()})
    return [identifier for identifier, loops in settled.items() if loops]


def supersession_chain(determination: Entry, inquiry: Inquiry, *, loops: bool) -> Judgement:
    """It supersedes a determination on the same question, for a registered reason, without a loop."""
    supersedes = members(determination.payload.get("supersedes"))
    reason = supersedes.get("reason")
    if not isinstance(reason, str) or reason not in SUPERSESSION_REASONS:
        return failed(Code.DETERMINATION_SUPERSESSION_UNREASONED, "the reason is not registered")
    target = inquiry.find(supersedes.get("determination_id"), ObjectType.DETERMINATION)
    if target is None:
        return unknown(f"the determination {str(supersedes.get('determination_id'))[:140]} is not here")
    if loops:
        return failed(_GAP, "following what it supersedes leads back to it")
    asked = members(determination.payload.get("question")).get("subject_hash")
    if asked not in (members(target.payload.get("question")).get("subject_hash"), target.hash) or asked is None:
        return failed(Code.DISPUTE_SUBJECT_UNREFERENCED, f"it is on another question than {target.subject}")
    return VERIFIED


def appeal_target_current(dispute: Entry, inquiry: Inquiry) -> Judgement:
    """No other determination had superseded the appealed one when the appeal was made."""
    target = inquiry.find(dispute.payload.get("subject_id"), ObjectType.DETERMINATION)
    if target is None or dispute.created_at is None:
        return unknown("the determination appealed against is not here")
    for later in inquiry.superseded_by.get(target.id or "", ()):
        if later.payload.get("dispute_id") == dispute.id:
            continue
        if later.created_at is None or later.created_at <= dispute.created_at:
            return failed(Code.DETERMINATION_SUPERSESSION_FORKED, f"{later.subject} had superseded it already")
    return VERIFIED


def _superseded(determination: Entry) -> str | None:
    named = members(determination.payload.get("supersedes")).get("determination_id")
    return named if isinstance(named, str) else None


def _version(entry: Entry) -> int | None:
    version = entry.raw.get("version")
    return version if type(version) is int and version >= 1 else None


def _predecessor(entry: Entry) -> str | None:
    before = entry.raw.get("previous_version_id")
    return before if isinstance(before, str) else None
