"""`seller init`: keys, identity, mandate (spec 4).

Rules this module applies:

- a first start with plain limits runs init, which then never takes the place of a mandate that is there;
- init after a change, after a revocation or after the end issues the superseding mandate under the same keys; where
  the one before it was suspended, so is the new one, until the owner resumes it. The organisation of a state folder
  never changes;
- another process may be doing the same: looking at the mandate in force and putting another in its place are one
  decision of the state, so that what a faster one made counts.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

from a202_mcp.one_owner import keyfiles
from a202_mcp.one_owner.book import batch_with
from a202_mcp.one_owner.documented import Documented
from a202_mcp.one_owner.identity import Identity
from a202_mcp.one_owner.issuing import BUSY, NotReadyError, is_taken, keep_organization
from a202_mcp.one_owner.limits import stands
from a202_mcp.treatyway.book import ShopStore, open_book
from a202_mcp.treatyway.inforce import InForce, identity, in_force, made_current, made_known
from a202_mcp.treatyway.issuing import issued
from a202_mcp.treatyway.settings import Settings
from a202_mcp.treatyway.status import carried, switch
from a202_mcp.workspace import Workspace
from a202_reference.registries import MandateStatus


def _now() -> datetime:
    return datetime.now(UTC)


def needs_init(settings: Settings) -> bool:
    """True where this state folder holds no mandate yet and the file gives plain limits."""
    if isinstance(settings.authority, Documented):
        return False
    store = open_book(settings.state_dir)
    try:
        return in_force(store) is None
    finally:
        store.close()


def init(settings: Settings, clock: Callable[[], datetime] = _now, *, only_first: bool = False) -> str:
    """Issue or take the mandate where that is due; what was done, in words.

    only_first: whatever mandate is there stays. Raises NotReadyError, OSError, sqlite3.Error.
    """
    store = open_book(settings.state_dir)
    try:
        workspace = Workspace(store, clock=clock)
        who = ready_identity(settings, store)
        with store.deciding():
            current = in_force(store)
            if current is not None and (only_first or _stands(workspace, store, current, settings, clock())):
                return f"mandate {current.mandate_id} stands; nothing to do"
            return _issue(settings, workspace, store, who, current)
    except keyfiles.KeyFileError as unusable:
        raise NotReadyError(str(unusable)) from None
    finally:
        store.close()


def ready_identity(settings: Settings, store: ShopStore) -> Identity:
    """Who this shop is; identity and key files are made where there are none. Raises NotReadyError, OSError."""
    who, authority = identity(store), settings.authority
    if authority is None:
        if who is None:
            raise NotReadyError("[mandate] cannot be used yet: `a202-mcp seller check` says why")
        return who
    asked = None if isinstance(authority, Documented) else authority.organization_id
    if who is None:
        who = Identity.minted(asked, Workspace(store).ids())
        keyfiles.make_missing(settings.state_dir)
        if not store.remember([made_known(who)]):
            who = identity(store) or who
    keep_organization(who, asked)
    return who


def _stands(workspace: Workspace, store: ShopStore, current: InForce, settings: Settings, now: datetime) -> bool:
    """True where the current mandate is the one that the file means, and can still be used."""
    given, mandate_id = settings.authority, current.mandate_id
    if isinstance(given, Documented) and not is_taken(store, given, [mandate_id]):
        return False
    return current.fingerprint == settings.mandate_fingerprint and stands(
        workspace.mandate(mandate_id), switch(store, mandate_id), now)


def _issue(
    settings: Settings, workspace: Workspace, store: ShopStore, who: Identity, current: InForce | None,
) -> str:
    """Issue the mandate and put it in force. Raises NotReadyError."""
    document, batch = issued(settings, workspace, who)
    mandate_id = document["id"]
    chosen = made_current(store, InForce(mandate_id, settings.mandate_fingerprint, settings.status_url))
    kept = () if current is None else carried(store, current.mandate_id, mandate_id)
    if not store.commit(batch_with(batch, [chosen, *kept])):
        raise NotReadyError(BUSY)
    suspended = switch(store, mandate_id) == MandateStatus.SUSPENDED
    return f"mandate {mandate_id} is in force until {document['valid_until']}" + (
        "; it is suspended, as the one before it was: `mandate resume` ends that" if suspended else "")
