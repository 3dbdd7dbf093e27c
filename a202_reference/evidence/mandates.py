"""The mandates of a verification: each judged once, each proof verified once (rules 3; verification step 5).

Rules this module applies:

- a mandate resolves where it is held, is well formed, its proof verifies under its issuer principal's key, and every
  mandate above it resolves and narrows; widening is `A202-MANDATE-DELEGATION-WIDENING`, anything else that is
  wrong `A202-EVIDENCE-TRANSITION-ILLEGAL`;
- what is not held, or is signed by a key nobody holds, leaves it unresolved, never failed;
- two different mandates under one identifier resolve to neither;
- the judging is the evaluation that decides acts (authority.evaluate), asked without an act; nothing is judged
  by a second rule here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cached_property
from typing import Any, Final

from a202_reference.authority.constraints import EvidenceStanding
from a202_reference.authority.evaluate import Circumstances, Evaluation, MandateStanding, evaluate
from a202_reference.canonical import NotCanonicalError, canonical_bytes
from a202_reference.codes import Code, Outcome
from a202_reference.documents.envelope import Approval
from a202_reference.evidence.keychain import Keychain
from a202_reference.evidence.report import VERIFIED, Judgement, failed, unknown
from a202_reference.gate import judge_mandate
from a202_reference.gate.reading import members
from a202_reference.identifiers import Prefix
from a202_reference.keys import KeyBinding, Owner, PublicKey

MAX_CHAIN: Final = 10
_IN_FORCE: Final = frozenset({Code.MANDATE_STATUS_UNRESOLVED, Code.MANDATE_INACTIVE})
"""Findings about when a mandate was in force: a check of its own."""


@dataclass(frozen=True, slots=True)
class RememberingKey(PublicKey):
    """A public key that verifies each signature once, however often the rules ask; `seen` is what it remembers."""

    seen: dict[tuple[bytes, bytes], bool] = field(default_factory=dict, compare=False, repr=False)

    def verifies(self, signature: bytes, data: bytes) -> bool:
        """As PublicKey, remembered for the length of one verification."""
        if (signature, data) not in self.seen:
            self.seen[signature, data] = PublicKey.verifies(self, signature, data)
        return self.seen[signature, data]


@dataclass
class Mandates:
    """The mandates handed over with the objects. `evidence` answers constraints about evidence."""

    given: Iterable[Any]
    keychain: Keychain
    evidence: Callable[[str], EvidenceStanding | None]
    _keys: dict[str, KeyBinding | None] = field(default_factory=dict)
    _gate: dict[int, tuple[tuple[str, ...], tuple[Code, ...]]] = field(default_factory=dict)
    _proofs: dict[int, Judgement] = field(default_factory=dict)
    _resolved: dict[str, Judgement] = field(default_factory=dict)
    _standing: dict[int, MandateStanding] = field(default_factory=dict)

    @cached_property
    def documents(self) -> tuple[Mapping[str, Any], ...]:
        """Each different document once."""
        given = [members(raw) for raw in self.given]
        named = Counter(str(document.get("id")) for document in given)
        seen: dict[bytes, Mapping[str, Any]] = {}
        for position, document in enumerate(given):
            own = b"%d" % position
            try:
                told = canonical_bytes(document) if named[str(document.get("id"))] > 1 else own
            except NotCanonicalError:
                told = own
            seen.setdefault(told, document)
        return tuple(seen.values())

    @cached_property
    def _places(self) -> Mapping[int, int]:
        return {id(document): at for at, document in enumerate(self.documents)}

    @cached_property
    def by_id(self) -> Mapping[str, Mapping[str, Any]]:
        """The mandates under their identifiers; an identifier with two documents is left out."""
        found: dict[str, list[Mapping[str, Any]]] = {}
        for document in self.documents:
            if Prefix.MANDATE.names(document.get("id")):
                found.setdefault(document["id"], []).append(document)
        return {identifier: held[0] for identifier, held in found.items() if len(held) == 1}

    def subject(self, document: Mapping[str, Any]) -> str:
        """What the report calls a mandate."""
        identifier = document.get("id")
        if isinstance(identifier, str) and Prefix.MANDATE.names(identifier):
            return identifier
        return f"mandates[{self._places.get(id(document), 0)}]"

    def note_proof(self, document: Mapping[str, Any], judgement: Judgement) -> None:
        """Step 2's overall result on a mandate's proof."""
        self._proofs[id(document)] = judgement

    def chain(self, mandate_id: Any) -> tuple[tuple[Mapping[str, Any], ...], Any]:
        """The mandate and those above it as far as they are held, nearest first; and the one that is not, or None."""
        found: list[Mapping[str, Any]] = []
        at = mandate_id
        while at is not None and len(found) < MAX_CHAIN:
            held = self.by_id.get(at) if isinstance(at, str) else None
            if held is None:
                return tuple(found), at
            if any(held is other for other in found):
                break
            found.append(held)
            at = held.get("parent_mandate_id")
        return tuple(found), None

    def resolves(self, mandate_id: Any) -> Judgement:
        """Whether a mandate and all above it are held, well formed, proved and narrowing."""
        if not isinstance(mandate_id, str):
            return unknown("no mandate is named")
        if mandate_id not in self._resolved:
            self._resolved[mandate_id] = self._resolution(mandate_id)
        return self._resolved[mandate_id]

    def evaluation(
        self, mandate: Mapping[str, Any], act: Mapping[str, Any] | None, now: datetime,
        approval: Approval | None = None,
    ) -> Evaluation:
        """The one evaluation of an act, over what this verification holds.

        What it says of the mandate itself is as established when it was resolved; whether it was in force at an
        append is a check of its own.
        """
        return evaluate(mandate, act, self._circumstances(now, approval), self._standing.get(id(mandate)))

    def key(self, key_id: str) -> KeyBinding | None:
        """A supplied key, verifying each signature once."""
        if key_id not in self._keys:
            self._keys[key_id] = _remembering(self.keychain.binding(key_id))
        return self._keys[key_id]

    def public(self, key_id: str) -> PublicKey | None:
        """The public half under this identifier, verifying each signature once where the key was supplied."""
        binding = self.key(key_id)
        return self.keychain.public(key_id) if binding is None else binding.public

    def principal(self, key_id: str) -> Owner | None:
        """The principal that a resolved mandate binds a key to, as issuer or as principal subject (D-15)."""
        return self._principals.get(key_id)

    def gate(self, document: Mapping[str, Any]) -> tuple[tuple[str, ...], tuple[Code, ...]]:
        """The gate over one mandate, once."""
        known = self._gate.get(id(document))
        if known is None:
            judgement = judge_mandate(document)
            known = self._gate[id(document)] = (judgement.schema_errors, judgement.codes)
        return known

    @cached_property
    def _principals(self) -> Mapping[str, Owner]:
        found: dict[str, Owner] = {}
        for document in self.by_id.values():
            if self.gate(document)[0] or self._proof(document).outcome is not Outcome.VERIFIED:
                continue
            issuer, subject = document["issuer"], document["subject"]
            named = [(issuer["key_id"], issuer["organization_id"], issuer["principal_id"])]
            if "principal_id" in subject:
                named.append((subject["key_id"], document["represented_organization_id"], subject["principal_id"]))
            for key_id, organization, principal in named:
                owner, binding = Owner(organization, principal_id=principal), self.keychain.binding(key_id)
                if binding is not None and binding.owner == owner:
                    found[key_id] = owner
        return found

    def _proof(self, document: Mapping[str, Any]) -> Judgement:
        return self._proofs.get(id(document), unknown("the proof was not checked"))

    def _resolution(self, mandate_id: str) -> Judgement:
        chain, missing = self.chain(mandate_id)
        for document in chain:
            proof = self._proof(document)
            if proof.outcome is Outcome.FAILED:
                return failed(Code.EVIDENCE_TRANSITION_ILLEGAL, f"the proof of {document.get('id')}: {proof.detail}")
        if missing is not None:
            return unknown(f"the mandate {str(missing)[:140]} is not here")
        unproved = next((document for document in chain if self._proof(document).outcome is not Outcome.VERIFIED), None)
        if unproved is not None:
            return unknown(f"the proof of {unproved.get('id')}: {self._proof(unproved).detail}")
        return self._verdict(chain[0])

    def _verdict(self, mandate: Mapping[str, Any]) -> Judgement:
        standing = evaluate(mandate, None, self._circumstances(_ANY)).mandate
        wrong = [finding for finding in standing.findings if finding.code not in _IN_FORCE]
        if not wrong:
            self._standing[id(mandate)] = replace(standing, findings=())
            return VERIFIED
        widens = wrong[0].code is Code.MANDATE_DELEGATION_WIDENING
        code = Code.MANDATE_DELEGATION_WIDENING if widens else Code.EVIDENCE_TRANSITION_ILLEGAL
        return failed(code, wrong[0].detail)

    def _circumstances(self, now: datetime, approval: Approval | None = None) -> Circumstances:
        return Circumstances(
            now=now, status_at=now, statuses={}, keys=self.key, principals=self.principal, mandates=self.by_id.get,
            evidence=self.evidence, gate=self.gate, approval=approval)


_ANY: Final = datetime.max.replace(tzinfo=UTC)


def _remembering(binding: KeyBinding | None) -> KeyBinding | None:
    if binding is None:
        return None
    return replace(binding, public=RememberingKey(binding.public.algorithm, binding.public.x, binding.public.y))
