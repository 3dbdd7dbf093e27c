"""What `seller init` records: the mandate of the limits, or that of a document with its issuer's key (spec 4, 9).

Rules this module applies:

- the mandate and the keys that are not bound yet are one commit; a mandate of the limits is signed with the owner's
  key, a document's commit is sealed by the agent, to which it is given (ADR 10);
- a document that names the owner's key of this folder as its issuer's is that owner's;
- serving rests on the very document that the file names. A folder that took one before issuers' keys were recorded
  gets the key then.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from a202_mcp.documented import Documented, recording_batch, state_fault, unrecorded
from a202_mcp.store import Batch, Store
from a202_mcp.treatyway import keyfiles, mandate
from a202_mcp.treatyway.keyfiles import AGENT, OWNER
from a202_mcp.treatyway.mandate import Identity
from a202_mcp.treatyway.settings import Limits, Settings
from a202_mcp.workspace import Workspace
from a202_reference.identifiers import Prefix
from a202_reference.keys import KeyBinding, Owner
from a202_reference.signing import Signer
from a202_reference.times import format_instant


class NotReadyError(Exception):
    """The shop cannot be opened as it is. Its text is for the owner."""


def issued(settings: Settings, workspace: Workspace, who: Identity) -> tuple[Mapping[str, Any], Batch]:
    """The mandate that the file means, and what records it. Raises NotReadyError, KeyFileError."""
    agent = Signer(who.agent_key_id, keyfiles.load(settings.state_dir, AGENT))
    now = workspace.now(None, [who.agent_key_id, who.owner_key_id])
    if isinstance(settings.authority, Documented):
        return _taken(settings, settings.authority, workspace.store, who, agent, now)
    return _made(settings, settings.authority, workspace, who, agent, now)


def rest_on(given: Documented, workspace: Workspace, who: Identity, mandate_id: str) -> None:
    """Make sure that the document counts, and that its issuer's key is recorded. Raises NotReadyError."""
    agent = workspace.keyring.signer(who.agent_key_id)
    _refuse_misfit(workspace.store, given)
    if agent is None or workspace.mandate(mandate_id) != given.document:
        raise NotReadyError("mandate.document is not the mandate of this state folder: run `a202-mcp seller init`")
    if not unrecorded(workspace.store, given):
        return
    if given.issuer.key_id == who.owner_key_id:
        raise NotReadyError("the owner's key is not recorded yet: run `a202-mcp seller init`")
    now = workspace.now(None, [who.agent_key_id])
    if not workspace.store.commit(recording_batch(workspace.store, given, agent, now)) \
            and unrecorded(workspace.store, given):
        raise NotReadyError("the issuer's key could not be recorded: start again")


def owner_of(who: Identity, key_id: str) -> Owner:
    """Whose one of our own keys is."""
    if key_id == who.agent_key_id:
        return Owner(who.organization_id, agent_id=who.agent_id)
    return Owner(who.organization_id, principal_id=who.principal_id)


def _made(
    settings: Settings, limits: Limits, workspace: Workspace, who: Identity, agent: Signer, now: datetime,
) -> tuple[Mapping[str, Any], Batch]:
    """The mandate that the limits mean, and what records it."""
    owner = Signer(who.owner_key_id, keyfiles.load(settings.state_dir, OWNER, keyfiles.passphrase()))
    document = mandate.signed(mandate.from_limits(
        limits, settings.currency, settings.status_url, who, Prefix.MANDATE.minted(workspace.ids()), now), owner)
    signers = (agent, owner)
    return document, Batch(
        now=format_instant(now), mandates=(document,), keys=_unbound(workspace.store, who, signers, now),
        signing_keys=frozenset(signer.key_id for signer in signers), signers=signers)


def _taken(
    settings: Settings, given: Documented, store: Store, who: Identity, agent: Signer, now: datetime,
) -> tuple[Mapping[str, Any], Batch]:
    """The mandate of a document, and what records it. Raises NotReadyError, KeyFileError."""
    fault = mandate.document_fault(given, who, agent.key.public)
    if fault is None and given.issuer.key_id == who.owner_key_id:
        owner = keyfiles.load(settings.state_dir, OWNER, keyfiles.passphrase())
        fault = mandate.owner_fault(given, who, owner.public)
    if fault is not None:
        raise NotReadyError(f"mandate.document: {fault}")
    _refuse_misfit(store, given)
    return given.document, recording_batch(store, given, agent, now, _unbound(store, who, (agent,), now))


def _unbound(store: Store, who: Identity, signers: Iterable[Signer], now: datetime) -> tuple[KeyBinding, ...]:
    """The bindings of our own keys that are not stored yet."""
    return tuple(
        KeyBinding(signer.key_id, owner_of(who, signer.key_id), signer.key.public, now)
        for signer in signers if store.held_key(signer.key_id) is None)


def _refuse_misfit(store: Store, given: Documented) -> None:
    misfit = state_fault(store, given)
    if misfit is not None:
        raise NotReadyError(f"mandate.{misfit.setting}: {misfit.text}")
