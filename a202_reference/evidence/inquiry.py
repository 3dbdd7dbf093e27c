"""One verification while it runs: the set, who signed what, what is missing.

Rules this module applies:

- a counterpart that is not held is noted once among the unresolved references, whichever check asked for it,
  and the check that needed it says that it could not be made (general rule 3);
- an identifier that two different documents claim resolves to neither.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import Any

from a202_reference.authority.constraints import EvidenceStanding
from a202_reference.canonical import NotCanonicalError, value_hash
from a202_reference.codes import Outcome
from a202_reference.evidence.acts import Acts
from a202_reference.evidence.index import Actor, Entry, Index, StreamKey
from a202_reference.evidence.keychain import Keychain, KnownKey, Revocation
from a202_reference.evidence.mandates import Mandates
from a202_reference.evidence.material import Material
from a202_reference.evidence.references import referenced_id, references
from a202_reference.evidence.report import Findings, Judgement
from a202_reference.gate.reading import members
from a202_reference.lifecycle.rules import RuleSet, rule_set
from a202_reference.registries import ObjectType
from a202_reference.schemas import is_valid_object


@dataclass(frozen=True, slots=True)
class Signed:
    """One signature entry after step 2: the key it resolves to, and its overall result."""

    key: KnownKey | None
    overall: Judgement


@dataclass
class Inquiry:
    """What the steps share. Steps read it and add findings; only step 2 adds `signed`."""

    material: Material
    now: datetime
    index: Index
    keychain: Keychain
    revocations: Mapping[str, tuple[Revocation, ...]]
    findings: Findings = field(default_factory=Findings)
    signed: dict[Entry, tuple[Signed, ...]] = field(default_factory=dict)
    unresolved: set[str] = field(default_factory=set)
    unregistered: set[str] = field(default_factory=set)
    standings: dict[tuple[str, datetime], Judgement] = field(default_factory=dict)
    _shaped: dict[Entry, bool] = field(default_factory=dict)
    add: Callable[[int, str, str, Judgement], None] = field(init=False)
    """Notes one check: step, name, subject, result."""

    @cached_property
    def acts(self) -> Acts:
        """The act documents that came with the record."""
        return Acts(self.material.acts)

    @cached_property
    def terms_hashes(self) -> dict[Entry, str | None]:
        """The recomputed terms hash of each offer and agreement; None where its terms have no canonical form."""
        return {entry: _terms_hash(entry)
                for kind in (ObjectType.OFFER, ObjectType.AGREEMENT) for entry in self.index.of(kind)}

    def __post_init__(self) -> None:
        self.add = self.findings.add

    def find(self, identifier: object, kind: ObjectType) -> Entry | None:
        """The object of this type under this identifier; a missing one becomes an unresolved reference."""
        found = self.index.get(identifier, kind)
        if found is None:
            self.miss(identifier)
        return found

    def miss(self, identifier: object) -> None:
        """Note an identifier, or hash, that resolves to nothing here."""
        if isinstance(identifier, str) and 0 < len(identifier) <= MAX_NAME:
            self.unresolved.add(identifier)

    def signatures(self, entry: Entry) -> tuple[Signed, ...]:
        """The signature entries of an object, after step 2."""
        return self.signed.get(entry, ())

    def rules_for(self, event: Entry) -> RuleSet | None:
        """The version in force when this event was appended, or None where nobody states a registered one."""
        stated = self.material.event_rules.get(event.id or "", self.material.rules_version)
        return rule_set(stated)

    @cached_property
    def ordered_streams(self) -> Mapping[StreamKey, tuple[Entry, ...]]:
        """Events per stream in the order of their sequence; those without one come first."""
        return {key: tuple(sorted(events, key=_place)) for key, events in self.index.streams.items()}

    @cached_property
    def direct_transactions(self) -> frozenset[Any]:
        """Transactions whose agreement was formed directly: no operator stands in their record."""
        return frozenset(
            event.transaction_id for event in self.index.of(ObjectType.TRANSACTION_EVENT)
            if event.payload.get("event_type") == "agreement.direct" and isinstance(event.transaction_id, str))

    @cached_property
    def session_transactions(self) -> frozenset[str | None]:
        """Transactions with an event on a session stream, or with an object that a session ordered (D-45)."""
        on_stream = {event.transaction_id for key, events in self.index.streams.items() if key.kind == "session"
                     for event in events}
        ordered = {entry.transaction_id for entry in self.index.entries
                   if members(entry.raw.get("kernel_annotations")).get("session_id") is not None}
        return frozenset(on_stream | ordered)

    @cached_property
    def superseding(self) -> Mapping[str, tuple[Entry, ...]]:
        """Offers under the offer they supersede."""
        found: dict[str, list[Entry]] = defaultdict(list)
        for offer in self.index.of(ObjectType.OFFER):
            named = offer.text("supersedes_offer_id")
            if named is not None:
                found[named].append(offer)
        return {named: tuple(offers) for named, offers in found.items()}

    @cached_property
    def references(self) -> Mapping[Entry, tuple[tuple[str, Any], ...]]:
        """The evidence references of each object that has any, with the members that hold them."""
        found = ((entry, tuple(references(entry))) for entry in self.index.entries)
        return {entry: named for entry, named in found if named}

    @cached_property
    def whole(self) -> str:
        """What a row about the whole set is about."""
        return self.material.transaction_id or "objects"

    @cached_property
    def parties(self) -> Mapping[str | None, frozenset[str]]:
        """The organisations that each transaction's offers, agreements and obligations name."""
        found: dict[str | None, set[str]] = defaultdict(set)
        for kind, roles in _ROLES.items():
            for entry in self.index.of(kind):
                found[entry.transaction_id].update(
                    named for role in roles if (named := entry.party(role).organization_id) is not None)
        return {transaction: frozenset(named) for transaction, named in found.items()}

    @cached_property
    def evidence_signers(self) -> Mapping[str, Actor]:
        """Who signs each evidence object, as the references to it say."""
        found: dict[str, Actor] = {}
        for held in self.references.values():
            for _, reference in held:
                named, signer = referenced_id(reference), Actor.of(members(reference).get("signed_by"))
                if named is not None and isinstance(reference, dict):
                    found[named] = min(found.get(named, signer), signer, key=str)
        return found

    @cached_property
    def mandates(self) -> Mandates:
        """The mandates that came with the record."""
        return Mandates(self.material.mandates, self.keychain, self.evidence)

    def evidence(self, evidence_id: str) -> EvidenceStanding | None:
        """How an evidence object of this set stands, for constraints about evidence."""
        entry = self.index.get(evidence_id, ObjectType.EVIDENCE)
        if entry is None or entry.hash is None:
            return None
        says = members(entry.payload.get("verification")).get("status") == "verified"
        return EvidenceStanding(entry.hash, str(entry.payload.get("evidence_type")), says and self.stands(entry))

    def stands(self, entry: Entry) -> bool:
        """True where an object passes steps 1 and 2: its hash is its own and it has only verified signatures."""
        signed = self.signatures(entry)
        return entry.hash is not None and entry.hash == entry.raw.get("content_hash") and bool(signed) and all(
            each.overall.outcome is Outcome.VERIFIED for each in signed)

    @cached_property
    def first_presented(self) -> Mapping[str, datetime]:
        """When evidence of each type that stands and says it is verified was first presented."""
        found: dict[str, datetime] = {}
        for entry in self.index.of(ObjectType.EVIDENCE):
            kind, status = entry.text("evidence_type"), members(entry.payload.get("verification")).get("status")
            if kind is None or entry.created_at is None or status != "verified" or not self.stands(entry):
                continue
            found[kind] = min(found.get(kind, entry.created_at), entry.created_at)
        return found

    def is_shaped(self, entry: Entry) -> bool:
        """True where the schema layer accepts the object; asked once."""
        if entry not in self._shaped:
            self._shaped[entry] = is_valid_object(entry.raw)
        return self._shaped[entry]

    @cached_property
    def naming(self) -> Mapping[tuple[ObjectType, str], tuple[Entry, ...]]:
        """Assertions and responses under the obligation they name, events under each object they name."""
        found: dict[tuple[ObjectType, str], list[Entry]] = defaultdict(list)
        for kind in (ObjectType.PERFORMANCE_EVENT, ObjectType.OBLIGATION_RESPONSE):
            for entry in self.index.of(kind):
                named = entry.text("obligation_id")
                if named is not None:
                    found[kind, named].append(entry)
        for event in self.index.of(ObjectType.TRANSACTION_EVENT):
            for named in members(event.payload.get("data")).values():
                if isinstance(named, str):
                    found[ObjectType.TRANSACTION_EVENT, named].append(event)
        return {key: tuple(entries) for key, entries in found.items()}


MAX_NAME = 256
_ROLES = {
    ObjectType.OFFER: ("offeror", "offeree"),
    ObjectType.AGREEMENT: ("buyer", "supplier"),
    ObjectType.OBLIGATION: ("obligor", "obligee"),
}


def sequence_of(event: Entry) -> int | None:
    """An event's sequence, or None where it has none."""
    value = event.payload.get("sequence")
    return value if type(value) is int else None


def _terms_hash(entry: Entry) -> str | None:
    terms = entry.payload.get("terms")
    try:
        return value_hash(terms) if isinstance(terms, dict) else None
    except NotCanonicalError:
        return None


def _place(event: Entry) -> tuple[int, str, str]:
    sequence = sequence_of(event)
    return (-1 if sequence is None else sequence, event.hash or "", event.subject)
