"""Opening a shop, and `seller init`: keys, identity, mandate (spec 4).

Rules this module applies:

- a first start with plain limits runs init; a changed `[mandate]` without a new init does not start, since an agent
  must not be able to raise its own limits;
- init after a change, after a revocation or after the end issues the superseding mandate under the same keys; the
  organisation of a state folder never changes;
- serving loads the agent's key only.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Final

from a202_mcp.one_owner import keyfiles
from a202_mcp.one_owner.book import batch_with
from a202_mcp.one_owner.documented import Documented
from a202_mcp.one_owner.identity import Identity
from a202_mcp.one_owner.issuing import NotReadyError, is_taken, keep_organization, own_signer, rest_on
from a202_mcp.one_owner.keyfiles import AGENT, OWNER
from a202_mcp.one_owner.limits import stands
from a202_mcp.treatyway.book import Entry, ShopStore, open_book, put
from a202_mcp.treatyway.issuing import SERVER, issued
from a202_mcp.treatyway.keylist import KeyList
from a202_mcp.treatyway.ruling import CURRENT, Authority
from a202_mcp.treatyway.settings import Settings
from a202_mcp.treatyway.shop import Shop
from a202_mcp.treatyway.status import StatusSource, switch
from a202_mcp.workspace import Workspace

_IDENTITY: Final = "identity"
_NO_MANDATE: Final = "there is no mandate yet: run `a202-mcp seller init`"


def _now() -> datetime:
    return datetime.now(UTC)


def open_shop(
    settings: Settings, clock: Callable[[], datetime] = _now, *, with_owner: bool = False, keys: KeyList | None = None,
) -> Shop:
    """The shop as it is served (`with_owner`: as the owner answers). Raises NotReadyError, OSError, sqlite3.Error."""
    store = open_book(settings.state_dir)
    try:
        return _opened(settings, store, clock, with_owner, keys)
    except BaseException:
        store.close()
        raise


def _opened(
    settings: Settings, store: ShopStore, clock: Callable[[], datetime], with_owner: bool, keys: KeyList | None,
) -> Shop:
    who, current = identity(store), store.entry(CURRENT, "")
    if who is None or current is None:
        raise NotReadyError(_NO_MANDATE)
    if current.body["fingerprint"] != settings.mandate_fingerprint:
        raise NotReadyError(
            "[mandate] has changed since the mandate was issued: run `a202-mcp seller init` to issue the new one, or "
            "put the old limits back")
    workspace = Workspace(store, clock=clock)
    try:
        workspace.keyring.hold(own_signer(store, settings.state_dir, who, AGENT))
        if with_owner and store.held_key(who.owner_key_id) is not None:  # else another issuer's mandate counts
            workspace.keyring.hold(own_signer(store, settings.state_dir, who, OWNER))
        placeholder_key = keyfiles.placeholder_key(settings.state_dir)
    except keyfiles.KeyFileError as unusable:
        raise NotReadyError(str(unusable)) from None
    if isinstance(settings.authority, Documented):
        rest_on(workspace, settings.authority, who, [current.body["mandate_id"]], SERVER)
    status = StatusSource(store, settings.status_url, clock)
    passes = settings.passes
    return Shop(
        settings, workspace, store, who, status, Authority(workspace, store, who, status), placeholder_key,
        keys or KeyList(passes.jwks, passes.cache_seconds))


def needs_init(settings: Settings) -> bool:
    """True where this state folder holds no mandate yet and the file gives plain limits."""
    if isinstance(settings.authority, Documented):
        return False
    store = open_book(settings.state_dir)
    try:
        return store.entry(CURRENT, "") is None
    finally:
        store.close()


def init(settings: Settings, clock: Callable[[], datetime] = _now) -> str:
    """Issue or take the mandate where that is due; what was done, in words. Raises NotReadyError and as above."""
    store = open_book(settings.state_dir)
    try:
        workspace = Workspace(store, clock=clock)
        who = ready_identity(settings, store)
        current = store.entry(CURRENT, "")
        if current is not None and _stands(workspace, store, current, settings, clock()):
            return f"mandate {current.body['mandate_id']} stands; nothing to do"
        return _issue(settings, workspace, store, who, current)
    except keyfiles.KeyFileError as unusable:
        raise NotReadyError(str(unusable)) from None
    finally:
        store.close()


def identity(store: ShopStore) -> Identity | None:
    """Who this shop is, or None before its keys are made."""
    entry = store.entry(_IDENTITY, "")
    return None if entry is None else Identity(**entry.body)


def ready_identity(settings: Settings, store: ShopStore) -> Identity:
    """Who this shop is; identity and key files are made where there are none."""
    asked = None if isinstance(settings.authority, Documented) else settings.authority.organization_id
    who = identity(store)
    if who is None:
        who = Identity.minted(asked, Workspace(store).ids())
        keyfiles.make_missing(settings.state_dir)
        if not store.remember([put(_IDENTITY, "", 1, asdict(who))]):
            who = identity(store) or who
    keep_organization(who, asked)
    return who


def _stands(workspace: Workspace, store: ShopStore, current: Entry, settings: Settings, now: datetime) -> bool:
    """True where the current mandate is the one that the file means, and can still be used."""
    given, mandate_id = settings.authority, current.body["mandate_id"]
    if isinstance(given, Documented) and not is_taken(store, given, [mandate_id]):
        return False
    return current.body["fingerprint"] == settings.mandate_fingerprint and stands(
        workspace.mandate(mandate_id), switch(store, mandate_id), now)


def _issue(
    settings: Settings, workspace: Workspace, store: ShopStore, who: Identity, current: Entry | None,
) -> str:
    document, batch = issued(settings, workspace, who)
    chosen = put(CURRENT, "", 1 if current is None else current.version + 1,
                 {"mandate_id": document["id"], "fingerprint": settings.mandate_fingerprint})
    if not store.commit(batch_with(batch, [chosen])):
        raise NotReadyError("another init was faster; run it again")
    return f"mandate {document['id']} is in force until {document['valid_until']}"
