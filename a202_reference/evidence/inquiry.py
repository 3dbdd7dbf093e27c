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

from a202_reference.authority.constraints import EvidenceStanding
from a202_reference.canonical import NotCanonicalError, value_hash
from a202_reference.codes import Code, Outcome
from a202_reference.evidence.acts import Acts
from a202_reference.evidence.entry import Entry
from a202_reference.evidence.gating import gate_codes
from a202_reference.evidence.keychain import Keychain, KnownKey, RevocationBook
from a202_reference.evidence.mandates import Mandates
from a202_reference.evidence.material import Material
from a202_reference.evidence.relations import Relations
from a202_reference.evidence.report import Findings, Judgement
from a202_reference.gate import Lookup
from a202_reference.gate.reading import members
from a202_reference.lifecycle.rules import RuleSet, rule_set
from a202_reference.profiles import ProfileRegistry
from a202_reference.registries import ObjectType
from a202_reference.schemas import is_valid_object


@dataclass(frozen=True, slots=True)
class Signed:
    """One signature entry after step 2: the key it resolves to, and its overall result."""

    key: KnownKey | None
    overall: Judgement


@dataclass
class Inquiry(Relations):
    """What the steps share. Steps read it and add findings; only step 2 adds `signed`."""

    material: Material
    now: datetime
    keychain: Keychain
    revocations: RevocationBook
    findings: Findings = field(default_factory=Findings)
    signed: dict[Entry, tuple[Signed, ...]] = field(default_factory=dict)
    unresolved: set[str] = field(default_factory=set)
    unregistered: set[str] = field(default_factory=set)
    standings: dict[tuple[str, datetime], Judgement] = field(default_factory=dict)
    profiles: ProfileRegistry | None = None
    """The profiles of this configuration; None: those that come with this software."""
    _shaped: dict[Entry, bool] = field(default_factory=dict)
    _objections: dict[Entry, tuple[Code, ...]] = field(default_factory=dict)
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

    @cached_property
    def _lookup(self) -> Lookup:
        return Lookup(profiles=self.profiles)

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
    def whole(self) -> str:
        """What a row about the whole set is about."""
        return self.material.transaction_id or "objects"

    @cached_property
    def mandates(self) -> Mandates:
        """The mandates that came with the record."""
        return Mandates(self.material.mandates, self.keychain, self.evidence)

    @cached_property
    def mandated(self) -> Mapping[tuple[str | None, str | None, str | None], frozenset[str]]:
        """The keys in the mandates under which each agent acts: by transaction, organisation, agent."""
        found: dict[tuple[str | None, str | None, str | None], set[str]] = defaultdict(set)
        for transaction, author in {(entry.transaction_id, entry.author) for entry in self.index.entries}:
            mandate = members(self.mandates.by_id.get(author.mandate_id or ""))
            subject = members(mandate.get("subject"))
            if isinstance(subject.get("key_id"), str) and (author.organization_id, author.agent_id) == (
                    mandate.get("represented_organization_id"), subject.get("agent_id")):
                found[transaction, author.organization_id, author.agent_id].add(subject["key_id"])
        return {party: frozenset(named) for party, named in found.items()}

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

    def gate_codes(self, entry: Entry) -> tuple[Code, ...]:
        """What the gate's rules object to in the object itself, beyond what rows of their own report; asked once."""
        if entry not in self._objections:
            self._objections[entry] = gate_codes(entry, self._lookup)
        return self._objections[entry]

    def is_shaped(self, entry: Entry) -> bool:
        """True where the schema layer accepts the object; asked once."""
        if entry not in self._shaped:
            self._shaped[entry] = is_valid_object(entry.raw)
        return self._shaped[entry]


MAX_NAME = 256


def _terms_hash(entry: Entry) -> str | None:
    terms = entry.payload.get("terms")
    try:
        return value_hash(terms) if isinstance(terms, dict) else None
    except NotCanonicalError:
        return None
