"""What a mandate's proof says of its issuer's key (ADR 10; rules 1.5, 1.6; D-7).

Rules this module applies:

- the proof is a signature by the issuer's key over a document that names the issuer and that key's identifier, so it
  states one binding and no other: this identifier, for this principal, from the instant of the proof (cut to its
  second) on, without end. Another identifier, owner or interval is not what it states;
- only a root mandate states one: of a principal of the organisation that it represents, given to an agent under
  another key than its issuer's. So no agent's key, and no key of another organisation, is ever bound so;
- where a signature of the key itself would stand beside a stored binding, the name of the mandate stands instead, in
  a form that no signature has.

A proof says nothing of the public key: another one can be computed under which it verifies too. Whoever keeps such a
binding needs a second signature that fixes it (`bindings`). Nothing here reads the state or raises over what was read.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from a202_reference.codes import Outcome
from a202_reference.gate.reading import members
from a202_reference.identifiers import Prefix
from a202_reference.keys import KeyBinding, Owner, PublicKey
from a202_reference.signing import check_proof
from a202_reference.times import parse_instant, whole_second

_BY_MANDATE: Final = "mandate:"
"""No signature begins so: base64url has no colon."""


def issuer_binding(mandate: Mapping[str, Any], public: PublicKey) -> KeyBinding | None:
    """The binding that a mandate's proof states of this public key, if it verifies; None where it states none."""
    issuer, subject = members(mandate.get("issuer")), members(mandate.get("subject"))
    since = parse_instant(members(mandate.get("proof")).get("created_at"))
    key_id, organization, principal = (issuer.get(name) for name in ("key_id", "organization_id", "principal_id"))
    named = Prefix.KEY.names(key_id) and Prefix.ORGANIZATION.names(organization) and Prefix.PRINCIPAL.names(principal)
    is_root = mandate.get("parent_mandate_id") is None and mandate.get("represented_organization_id") == organization
    if since is None or not named or not is_root or subject.get("key_id") == key_id:
        return None
    return KeyBinding(str(key_id), Owner(str(organization), principal_id=str(principal)), public, whole_second(since))


def proof_fault(mandate: Mapping[str, Any], binding: KeyBinding) -> str | None:
    """Why this mandate does not prove this binding, or None."""
    if issuer_binding(mandate, binding.public) != binding:
        return "the mandate's proof states another one"
    found = check_proof(mandate, {binding.key_id: binding}.get)
    verified = found.outcome is Outcome.VERIFIED
    return None if verified else f"the mandate's proof does not verify under it: {found.detail}"


def agent_of(mandate: Mapping[str, Any]) -> tuple[str, Owner] | None:
    """The key that a mandate is given to and the agent it names, or None where it names no agent."""
    subject, organization = members(mandate.get("subject")), mandate.get("represented_organization_id")
    key_id, agent = subject.get("key_id"), subject.get("agent_id")
    if not (Prefix.KEY.names(key_id) and Prefix.AGENT.names(agent) and Prefix.ORGANIZATION.names(organization)):
        return None
    return str(key_id), Owner(str(organization), agent_id=str(agent))


def proof_by(mandate_id: str) -> str:
    """What stands beside a binding that this mandate proves."""
    return _BY_MANDATE + mandate_id


def proving_mandate(proof: object) -> str | None:
    """The mandate named beside a binding; None where the key's own signature belongs."""
    return proof.removeprefix(_BY_MANDATE) if isinstance(proof, str) and proof.startswith(_BY_MANDATE) else None
