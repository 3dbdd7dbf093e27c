"""What an owner's `init` records, and what serving rests on (treatyway 4, 9; axp 3, 8; ADR 10).

Rules this module applies:

- the organisation of a state folder never changes, and a key file of ours signs only as the key that the record knows;
- a document must name our agent and its key, be issued under another key than the agent's, and find its place in the
  state (`documented`). It is sealed by the agent, to which it is given;
- serving rests on the very document that the file names, and on its issuer's key in the record. A folder that took one
  before issuers' keys were recorded gets the key then.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from a202_mcp.one_owner import keyfiles
from a202_mcp.one_owner.documented import Documented, recording_batch, state_fault, unrecorded
from a202_mcp.one_owner.identity import Identity
from a202_mcp.one_owner.limits import signed
from a202_mcp.store import Batch, Store
from a202_mcp.workspace import Workspace
from a202_reference.keys import KeyBinding, PublicKey
from a202_reference.signing import Signer

BUSY: Final = "the state folder is being changed by another command: try again"
"""Why an init gave up, after it read again and again what the other one made."""


class NotReadyError(Exception):
    """The state folder cannot be served as it is. Its text is for the owner."""


def keep_organization(who: Identity, named: str | None) -> None:
    """Raises NotReadyError where the owner's file names another organisation than the folder's."""
    if named not in (None, who.organization_id):
        raise NotReadyError(
            f"mandate.organization_id is {named}, and this state folder belongs to {who.organization_id}: put that "
            f"back, or begin with another state folder")


def own_signer(store: Store, state_dir: Path, who: Identity, name: str) -> Signer:
    """The key pair in one of our two files, as the record knows it. Raises KeyFileError."""
    key_id, sealed_with = {
        keyfiles.AGENT: (who.agent_key_id, None), keyfiles.OWNER: (who.owner_key_id, keyfiles.passphrase())}[name]
    key = keyfiles.load(state_dir, name, sealed_with)
    return keyfiles.signer_of(key, name, key_id, who.holder(key_id), store.key(key_id))


def unbound(store: Store, who: Identity, signers: Iterable[Signer], now: datetime) -> tuple[KeyBinding, ...]:
    """The bindings of our own keys that are not stored yet."""
    return tuple(
        KeyBinding(signer.key_id, who.holder(signer.key_id), signer.key.public, now)
        for signer in signers if store.held_key(signer.key_id) is None)


def proved(unsigned: Mapping[str, Any], owner: Signer) -> dict[str, Any]:
    """The mandate of the owner's limits with the owner's proof. Raises NotReadyError where they mean none."""
    try:
        return signed(unsigned, owner)
    except ValueError as refused:
        raise NotReadyError(f"[mandate]: {refused}") from None


def taken(store: Store, given: Documented, who: Identity, agent: Signer, now: datetime, server: str) -> Batch:
    """What records a document and the keys it needs. server: as its commands name it. Raises NotReadyError."""
    fault = _fault(given, who, agent.key.public, server)
    if fault is not None:
        raise NotReadyError(f"mandate.document: {fault}")
    _refuse_misfit(store, given)
    return recording_batch(store, given, agent, now, unbound(store, who, (agent,), now))


def is_taken(store: Store, given: Documented, mandate_ids: Iterable[str]) -> bool:
    """True where these mandates are the very document, and its issuer's key is recorded."""
    return _is_very(store, given, mandate_ids) and not unrecorded(store, given)


def rest_on(
    workspace: Workspace, given: Documented, who: Identity, mandate_ids: Iterable[str], server: str,
) -> None:
    """Make sure that the document counts, and that its issuer's key is recorded. Raises NotReadyError."""
    store, agent = workspace.store, workspace.keyring.signer(who.agent_key_id)
    _refuse_misfit(store, given)
    if agent is None or not _is_very(store, given, mandate_ids):
        raise NotReadyError(f"mandate.document is not the mandate of this state folder: run `a202-mcp {server} init`")
    if not unrecorded(store, given):
        return
    if given.issuer.key_id == who.owner_key_id:
        raise NotReadyError(f"the owner's key is not recorded yet: run `a202-mcp {server} init`")
    now = workspace.now(None, [who.agent_key_id])
    if not store.commit(recording_batch(store, given, agent, now)) and unrecorded(store, given):
        raise NotReadyError("the issuer's key could not be recorded: start again")


def _is_very(store: Store, given: Documented, mandate_ids: Iterable[str]) -> bool:
    held = given.document["id"]
    return set(mandate_ids) == {held} and bool(store.mandate(held) == given.document)


def _fault(given: Documented, who: Identity, agent: PublicKey, server: str) -> str | None:
    """Why a document is no mandate for our agent, or None."""
    subject = given.document["subject"]
    named = (given.document["represented_organization_id"], subject.get("agent_id"), subject["key_id"])
    if named != (who.organization_id, who.agent_id, who.agent_key_id):
        return (
            f"it must be for agent {who.agent_id} of {who.organization_id} with key {who.agent_key_id} (see `{server} "
            f"key`); it names another organisation, agent or key: {named[1]} of {named[0]} with {named[2]}")
    return "its issuer's key is the agent's own" if given.issuer.public == agent else None


def _refuse_misfit(store: Store, given: Documented) -> None:
    misfit = state_fault(store, given)
    if misfit is not None:
        raise NotReadyError(f"mandate.{misfit.setting}: {misfit.text}")
