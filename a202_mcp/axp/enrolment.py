"""`member init`: identity, keys and mandates, made where they are due (axp 3, 8).

Rules this module applies:

- what is in order already stays; a first start never takes the place of mandates that are there;
- mandates that supersede suspended ones are suspended themselves, until the owner resumes them. The organisation of a
  state folder never changes;
- another process may be doing the same: what it made is read again, and counts.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from a202_mcp.axp.book import MemberStore, insert, replace
from a202_mcp.axp.identity import Identity
from a202_mcp.axp.issuing import adopt, is_issued, made
from a202_mcp.axp.mandates import carried
from a202_mcp.axp.settings import Settings
from a202_mcp.one_owner import keyfiles
from a202_mcp.one_owner.book import batch_with
from a202_mcp.one_owner.issuing import BUSY, NotReadyError, keep_organization, unbound
from a202_mcp.store import Batch
from a202_mcp.workspace import Workspace
from a202_reference.signing import Signer
from a202_reference.times import format_instant

_TRIES: Final = 8


def open_workspace(state_dir: Path) -> Workspace:
    """The state folder's workspace. Raises OSError, sqlite3.Error."""
    return Workspace(MemberStore.open(state_dir))


def own_store(space: Workspace) -> MemberStore:
    """The store of a workspace that `open_workspace` made."""
    if not isinstance(space.store, MemberStore):
        raise TypeError("a member needs its own store")
    return space.store


def enrol(settings: Settings, space: Workspace) -> Identity:
    """Identifiers and keys, made where there are none. Raises NotReadyError, KeyFileError, OSError."""
    store, named = own_store(space), settings.limits.organization_id
    for _ in range(_TRIES):
        known = Identity.kept(store.item("identity", "self"))
        if known is not None:
            if settings.limits_sound:
                keep_organization(known, named)
            return known
        if not settings.limits_sound:
            raise NotReadyError("[mandate] cannot be used yet: `a202-mcp member check` says why")
        identity = Identity.minted(named, space.ids())
        if store.commit(batch_with(_keys(settings, space, identity), [insert("identity", "self", identity.document)])):
            return identity
    raise NotReadyError(BUSY)


def initialise(settings: Settings, space: Workspace, *, only_first: bool = False) -> Identity:
    """Keys and mandates, made or superseded. only_first: whatever mandates are there stay.

    Raises NotReadyError, KeyFileError, OSError.
    """
    store = own_store(space)
    for _ in range(_TRIES):
        identity, kept = enrol(settings, space), store.item("identity", "self")
        now = space.now(None, [identity.agent_key_id, identity.owner_key_id])
        if (identity.mandates and only_first) or is_issued(settings, store, identity, now):
            return identity
        given = settings.limits.documented
        issued, batch = (made(settings, identity, now, space) if given is None
                         else adopt(settings, given, identity, now, store))
        chosen = replace("identity", "self", kept, issued.document)
        if store.commit(batch_with(batch, [chosen, *carried(store, identity, issued)])):
            return issued
    raise NotReadyError(BUSY)


def confirm(store: MemberStore, limits: str, status_url: str | None) -> bool:
    """True where the mandates in force were issued from limits of this fingerprint.

    A folder from before it was kept who answers their status learns that here: the same limits say the same.
    """
    kept = store.item("identity", "self") or {}
    if kept.get("limits") != limits:
        return False
    if "status_url" not in kept:
        store.remember([replace("identity", "self", kept, {**kept, "status_url": status_url})])
    return True


def _keys(settings: Settings, space: Workspace, identity: Identity) -> Batch:
    """What binds both keys of a new identity; their files are made where there are none."""
    now = space.now()
    keyfiles.make_missing(settings.state_dir)
    agent = Signer(identity.agent_key_id, keyfiles.load(settings.state_dir, keyfiles.AGENT))
    owner = Signer(
        identity.owner_key_id, keyfiles.load(settings.state_dir, keyfiles.OWNER, keyfiles.passphrase()))
    return Batch(
        now=format_instant(now), keys=unbound(space.store, identity, (agent, owner), now),
        signing_keys=frozenset({owner.key_id}), signers=(owner, agent))
