"""Families party-family, key-record and carrier-declaration."""

from __future__ import annotations

from typing import Any

from a202_reference.codes import Code
from a202_reference.gate.mandates import carrier_extension
from conformance.cases.registry import faulty, valid
from conformance.documents.parties import agent, key_record, organization, principal, revocation
from conformance.documents.performance import evidence_ref
from conformance.world import ADDRESSES, BUYER, Document

ED25519 = {"kty": "OKP", "crv": "Ed25519", "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}


@valid("kernel")
def valid_organization() -> Document:
    """An organisation with its register entry."""
    return organization()


@valid("kernel")
def valid_agent() -> Document:
    """An agent with an HTTPS endpoint and one key."""
    return agent()


@valid("kernel")
def valid_principal() -> Document:
    """A principal as a role with an opaque contact."""
    return principal()


@valid("kernel")
def valid_key_record() -> Document:
    """A public P-256 key without a declared end."""
    return key_record()


@valid("kernel")
def valid_key_record_edwards() -> Document:
    """A public Ed25519 key."""
    return key_record(algorithm="EdDSA", public_key_jwk=ED25519)


@valid("kernel")
def valid_revocation_record() -> Document:
    """A mandate is suspended by its principal."""
    return revocation()


@faulty("kernel", Code.ENDPOINT_INSECURE)
def agent_endpoint_over_http() -> Document:
    """The agent is reached over plain HTTP."""
    return agent(endpoint=ADDRESSES["endpoint over http"])


@faulty("kernel", None)
def agent_endpoint_with_blank() -> Document:
    """A blank in the address; it has no URI syntax."""
    return agent(endpoint=ADDRESSES["endpoint with blank"])


@faulty("kernel", None)
def agent_without_key() -> Document:
    """No key belongs to the agent."""
    return agent(key_ids=[])


@faulty("kernel", Code.DISCLOSURE_DENIED)
def principal_with_telephone() -> Document:
    """A person's telephone number stands on a principal."""
    return principal(telephone="+31 15 000 0000")


@faulty("kernel", Code.ASSURANCE_UNSUPPORTED)
def organization_assures_itself() -> Document:
    """An organisation declares its own assurance, with no evidence."""
    return organization(assurance="entity_bound", identity_evidence_refs=[])


@faulty("kernel", Code.DISCLOSURE_DENIED)
def organization_evidence_hint_with_token() -> Document:
    """The hint where to find its evidence carries an access token."""
    return organization(identity_evidence_refs=[evidence_ref(locator_hint=ADDRESSES["register with token"])])


@faulty("kernel", Code.DISCLOSURE_DENIED)
def key_record_with_private_half() -> Document:
    """The private half of the key is given away."""
    public = BUYER.signer.key.public.jwk
    return key_record(public_key_jwk={**public, "d": public["x"]})


@faulty("kernel", None)
def key_record_of_other_curve() -> Document:
    """A curve that no registered suite uses."""
    return key_record(public_key_jwk={**BUYER.signer.key.public.jwk, "crv": "P-384"})


def _declared(**members: Any) -> Document:
    ours = carrier_extension()
    versions = {"read_versions": list(ours["read_versions"]), "write_version": ours["write_version"]}
    entry = {"uri": ours["uri"], "description": ours["description"], "required": True, "params": versions, **members}
    return {"local_party": versions, "counterparty_declaration": {"extensions": [entry]}}


@valid("declaration")
def valid_extension_declaration() -> Document:
    """Each side reads what the other writes."""
    return _declared()


@faulty("declaration", Code.EXTENSION_UNSUPPORTED)
def declaration_not_retrievable() -> Document:
    """The counterparty's card could not be had."""
    return {**_declared(), "counterparty_declaration": None}


@faulty("declaration", Code.EXTENSION_UNSUPPORTED)
def declaration_without_extension() -> Document:
    """Another extension is declared."""
    return _declared(uri="urn:example:another-extension")


@faulty("declaration", Code.EXTENSION_UNSUPPORTED)
def declaration_made_twice() -> Document:
    """The extension is declared twice."""
    declared = _declared()
    return {**declared, "counterparty_declaration": {
        "extensions": declared["counterparty_declaration"]["extensions"] * 2}}


@faulty("declaration", Code.EXTENSION_UNSUPPORTED)
def declaration_required_in_words() -> Document:
    """`required` is a word instead of a truth value."""
    return _declared(required="yes")


@faulty("declaration", Code.EXTENSION_UNSUPPORTED)
def declaration_of_nearby_version() -> Document:
    """Only a nearby version is read; the nearest does not do."""
    return _declared(params={"read_versions": ["0.10"], "write_version": "0.1"})


@faulty("declaration", Code.EXTENSION_UNSUPPORTED)
def declaration_without_reading() -> Document:
    """The counterparty says what it writes and not what it reads."""
    return _declared(params={"read_versions": [], "write_version": "0.1"})
