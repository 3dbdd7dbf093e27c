"""What `member init` records: the mandates of the limits, or that of a file with its issuer's key (spec 3, 8).

Rules this module applies:

- mandates of the limits are sealed by the owner, who signs them; one from a file by the agent, to which it is given
  (ADR 10);
- serving rests on the very document that the file names. A folder that took one before issuers' keys were recorded
  gets the key then.
"""

from __future__ import annotations

from datetime import datetime

from a202_mcp.axp.identity import Identity, agent_signer, owner_signer
from a202_mcp.axp.mandates import adopt, issue
from a202_mcp.axp.settings import Settings
from a202_mcp.documented import Documented, recording_batch, state_fault, unrecorded
from a202_mcp.store import Batch, Store
from a202_mcp.workspace import Workspace
from a202_reference.times import format_instant


class NotReadyError(Exception):
    """The member cannot start. Its text is for the owner."""


def made(settings: Settings, identity: Identity, now: datetime, space: Workspace) -> tuple[Identity, Batch]:
    """The mandates of the plain limits, sealed by the owner who signs them."""
    owner = owner_signer(settings.state_dir, identity)
    try:
        issued = issue(settings, identity, owner, now, space.ids)
    except ValueError as refused:
        raise NotReadyError(f"[mandate]: {refused}") from None
    return issued.identity, Batch(
        now=format_instant(now), mandates=issued.mandates, signing_keys=frozenset({owner.key_id}), signers=(owner,))


def taken(
    settings: Settings, given: Documented, identity: Identity, now: datetime, store: Store,
) -> tuple[Identity, Batch]:
    """A mandate from a file with its issuer's key, sealed by the agent to which it is given (ADR 10)."""
    agent = agent_signer(settings.state_dir, identity)
    adopted = adopt(settings, given, identity, agent.key.public)
    if isinstance(adopted, str):
        raise NotReadyError(adopted)
    _refuse_misfit(store, given)
    return adopted, recording_batch(store, given, agent, now)


def rest_on(given: Documented, space: Workspace, identity: Identity) -> None:
    """Make sure that the document counts, and that its issuer's key is recorded. Raises NotReadyError."""
    agent = space.keyring.signer(identity.agent_key_id)
    _refuse_misfit(space.store, given)
    if agent is None or any(space.mandate(each) != given.document for each in identity.mandates.values()):
        raise NotReadyError("mandate.document is not the mandate of this state folder: run `a202-mcp member init`")
    if not unrecorded(space.store, given):
        return
    now = space.now(None, [identity.agent_key_id])
    if not space.store.commit(recording_batch(space.store, given, agent, now)) and unrecorded(space.store, given):
        raise NotReadyError("the issuer's key could not be recorded: start again")


def _refuse_misfit(store: Store, given: Documented) -> None:
    misfit = state_fault(store, given)
    if misfit is not None:
        raise NotReadyError(f"mandate.{misfit.setting}: {misfit.text}")
