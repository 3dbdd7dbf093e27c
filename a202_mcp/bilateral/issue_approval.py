"""issue_approval: a named principal decides on one exact act (surface 2; rules 3.8).

Rules this module applies:

- the principal signs with a key of its own. A key bound to an agent, or to another principal, refuses
  `A202-APPROVAL-REQUIRED`; a key seen here for the first time is made, and releases nothing until a mandate
  names it;
- what an approval releases is judged where it is presented: one that expires in the past is recorded, and
  `requested_by` is not matched against its mandate;
- its life is `expires_at`, else `expires_after_seconds`, else an hour or the shortest life that the approval
  rules of the requesting party's mandate admit, whichever is less.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from a202_mcp.bilateral.tool import Answer
from a202_mcp.recording import Call, Once, Pending, batch_of, with_once
from a202_mcp.workspace import Workspace
from a202_reference.codes import Code, Refusal
from a202_reference.documents.parties import Party
from a202_reference.identifiers import Prefix
from a202_reference.keys import KeyBinding, Owner
from a202_reference.lifecycle.drafts import Draft, Drafting
from a202_reference.registries import ObjectType, Purpose
from a202_reference.times import format_instant

DEFAULT_LIFE = 3600


def answer(workspace: Workspace, arguments: Mapping[str, Any]) -> Answer:
    """Record one approval, or say why not."""
    requester = Party.of(arguments["requested_by"])
    call = Call("issue_approval", arguments["transaction_id"], requester.organization_id, arguments)
    return workspace.recording(call, lambda once: _attempt(workspace, arguments, requester, once))


def _attempt(
    workspace: Workspace, arguments: Mapping[str, Any], requester: Party, once: Once,
) -> Pending | Refusal:
    transaction_id, approver = arguments["transaction_id"], arguments["approver"]
    key_id = approver["key_id"]
    now = workspace.now(transaction_id, [key_id])
    binding = workspace.store.key(key_id)
    organization_id = requester.organization_id if binding is None else binding.owner.organization_id
    refusal = workspace.unauthentic([key_id]) or _key_refusal(binding, approver)
    if refusal is not None:
        return refusal
    holdings = workspace.store.holdings(transaction_id)
    draft = _draft(workspace, arguments, requester, organization_id, now)
    refusal = workspace.judged([draft], holdings)
    if refusal is not None:
        return refusal
    signer = workspace.keyring.mint(key_id) if binding is None else workspace.keyring.signer(key_id)
    if signer is None:
        return workspace.unheld([key_id]) or Refusal.of(Code.POLICY_DENIED, f"{key_id} is not held")
    payload = draft.body["payload"]
    result = {
        "outcome": "recorded",
        "approval_id": draft.id,
        "action_hash": payload["action_hash"],
        "expires_at": payload["expires_at"],
        "decision": payload["decision"],
    }
    batch = with_once(batch_of(holdings, now, [draft.signed(lambda _: signer)], []), once, result)
    if binding is not None:
        return Pending(batch, result)
    owner = Owner(organization_id, principal_id=approver["principal_id"])
    made = KeyBinding(key_id, owner, signer.key.public, now)
    return Pending(replace(batch, keys=(made,)), result, (signer,))


def _key_refusal(binding: KeyBinding | None, approver: Mapping[str, Any]) -> Refusal | None:
    if binding is None or binding.owner.principal_id == approver["principal_id"]:
        return None
    whose = "an agent: a person approves with a key of their own" if binding.owner.agent_id else "another principal"
    return Refusal.of(Code.APPROVAL_REQUIRED, f"approver.key_id {binding.key_id} belongs to {whose}")


def _draft(
    workspace: Workspace, arguments: Mapping[str, Any], requester: Party, organization_id: str, now: datetime,
) -> Draft:
    approver = arguments["approver"]
    signing = replace(requester, key_id=approver["key_id"])
    return Drafting(arguments["transaction_id"], format_instant(now)).draft(
        ObjectType.APPROVAL, Prefix.APPROVAL.minted(workspace.ids()), signing,
        {
            "action_hash": arguments["action_hash"],
            "approver": {
                "organization_id": organization_id,
                "principal_id": approver["principal_id"],
                "role": approver["role"],
            },
            "decision": arguments.get("decision", "approved"),
            "expires_at": arguments.get("expires_at") or format_instant(now + _life(workspace, arguments, requester)),
            "conditions": arguments.get("conditions", []),
        },
        (signing, Purpose.OBJECT_ISSUANCE))


def _life(workspace: Workspace, arguments: Mapping[str, Any], requester: Party) -> timedelta:
    stated = arguments.get("expires_after_seconds")
    if stated is not None:
        return timedelta(seconds=stated)
    mandate = workspace.mandate(requester.mandate_id)
    rules = [] if mandate is None else mandate["approval_rules"]
    return timedelta(seconds=min([DEFAULT_LIFE, *(int(rule["expires_after_seconds"]) for rule in rules)]))
