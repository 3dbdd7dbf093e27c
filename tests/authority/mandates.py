"""Mandates with fixed keys and a fixed instant, and the circumstances of a decision, for the tests of authority."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from a202_reference.authority.evaluate import Circumstances, evaluate
from a202_reference.authority.standing import principal_of
from a202_reference.authority.status import StatusResult
from a202_reference.canonical import content_bytes, content_hash, value_hash
from a202_reference.documents.envelope import Approval
from a202_reference.documents.mandate import Mandate
from a202_reference.gate import judge_mandate
from a202_reference.keys import KeyBinding, Owner, PrivateKey
from a202_reference.registries import Purpose
from a202_reference.signing import Signer, sign_entry, sign_proof, unsigned_entry, unsigned_proof
from a202_reference.times import format_instant

NOW = datetime(2026, 8, 20, 10, 0, tzinfo=UTC)
AGENT = Owner("org_north", agent_id="agt_buyer")
DIRECTOR = Owner("org_north", principal_id="prn_director")
DEPUTY = Owner("org_north", principal_id="prn_deputy")
STRANGER = Owner("org_south", principal_id="prn_stranger")
SIGNERS = {
    key_id: Signer(key_id, PrivateKey.from_scalar(scalar), deterministic=True)
    for scalar, key_id in enumerate(
        ("key_agent", "key_director", "key_deputy", "key_stranger", "key_unbound"), start=11)}
OWNERS = {"key_agent": AGENT, "key_director": DIRECTOR, "key_deputy": DEPUTY, "key_stranger": STRANGER}
BINDINGS = {
    key_id: KeyBinding(key_id, owner, SIGNERS[key_id].key.public, NOW - timedelta(days=30))
    for key_id, owner in OWNERS.items()}

LIMIT = {
    "id": "c_amount", "type": "commercial.decimal", "path": "$.proposed_terms.core.total.amount",
    "operator": "maximum", "value": "4000.00", "on_failure": "deny"}
RULE = {
    "id": "a_large", "when": {"path": "$.proposed_terms.core.total.amount", "operator": "minimum", "value": "2500"},
    "approver": {"organization_id": "org_north", "role": "director"}, "expires_after_seconds": 3600}
ACT = {
    "action_type": "offer.accept", "transaction_id": "txn_one", "counterparty_organization_id": "org_south",
    "proposed_terms": {"core": {"total": {"currency": "EUR", "amount": "2000.00"}}}}
LARGE_ACT = {**ACT, "proposed_terms": {"core": {"total": {"currency": "EUR", "amount": "3200.00"}}}}


def mandate(signed=True, **changes):
    """A root mandate of org_north's director for its agent; members as given."""
    document = {
        "spec_version": "a202-mandate/0.1",
        "id": "mnd_root",
        "issuer": {"organization_id": "org_north", "principal_id": "prn_director", "key_id": "key_director"},
        "subject": {"agent_id": "agt_buyer", "key_id": "key_agent"},
        "represented_organization_id": "org_north",
        "parent_mandate_id": None,
        "valid_from": "2026-08-01T00:00:00Z",
        "valid_until": "2026-09-01T00:00:00Z",
        "status_endpoint": "https://status.north.invalid/root",
        "actions": ["offer.accept"],
        "scope": {"transaction_ids": ["txn_one"]},
        "constraints": [LIMIT],
        "approval_rules": [],
        "delegation": {"allowed": True, "maximum_depth": 8},
        "evidence_refs": [],
        **changes,
    }
    document["proof"] = changes.get("proof") or unsigned_proof(
        document["issuer"]["key_id"], format_instant(NOW - timedelta(days=1)))
    return sign_proof(document, SIGNERS[document["proof"]["key_id"]]) if signed else document


def chain(length, **changes):
    """A root and its descendants, root first: mnd_0, mnd_1, ...; `changes` go into the last."""
    documents = []
    for at in range(length):
        depth = max(length - 1 - at, 0)
        documents.append(mandate(
            id=f"mnd_level_{at}", parent_mandate_id=f"mnd_level_{at - 1}" if at else None,
            delegation={"allowed": depth > 0, "maximum_depth": depth},
            **(changes if at == length - 1 else {})))
    return documents


def active(*documents, status="active", age=30):
    """Status answers by mandate id."""
    retrieved = format_instant(NOW - timedelta(seconds=age))
    return {document["id"]: StatusResult(document["id"], status, retrieved) for document in documents}


def gate(document):
    judgement = judge_mandate(document)
    return judgement.schema_errors, judgement.codes


def circumstances(*documents, **changes):
    """What a decision under the first mandate is made from; the others are held beside it."""
    held = {document["id"]: document for document in documents}
    given = Circumstances(
        now=NOW, status_at=NOW, statuses=active(*documents), keys=BINDINGS.get,
        principals=lambda key_id: principal_of(key_id, documents, BINDINGS.get, lambda each: not gate(each)[0]),
        mandates=held.get, evidence=lambda _: None, gate=gate)
    return replace(given, **changes)


def decide(document, act, *ancestors, **changes):
    """The evaluation of one act."""
    return evaluate(document, act, circumstances(document, *ancestors, **changes))


def view(**changes):
    """A mandate's typed view."""
    return Mandate.of(mandate(**changes))


def approval(act=LARGE_ACT, key_ids=("key_director",), **changes):
    """An approval of an act by the director, as a typed view; `created_at` and payload members as given."""
    created = changes.pop("created_at", format_instant(NOW - timedelta(seconds=60)))
    transaction_id = changes.pop("transaction_id", act["transaction_id"])
    document = {
        "spec_version": "a202-commercial/0.1",
        "id": "apr_one",
        "object_type": "approval",
        "version": 1,
        "created_at": created,
        "created_by": {"organization_id": "org_north", "agent_id": "agt_buyer", "mandate_id": "mnd_root"},
        "transaction_id": transaction_id,
        "previous_version_id": None,
        "payload": {
            "action_hash": value_hash(act),
            "approver": {"organization_id": "org_north", "principal_id": "prn_director", "role": "director"},
            "decision": "approved",
            "expires_at": format_instant(NOW + timedelta(seconds=60)),
            "conditions": [],
            **changes,
        },
    }
    content = content_bytes(document)
    entries = [
        sign_entry(content, unsigned_entry(key_id, Purpose.OBJECT_ISSUANCE, created), SIGNERS[key_id])
        for key_id in key_ids]
    return Approval.of({**document, "content_hash": content_hash(document), "signatures": entries})
