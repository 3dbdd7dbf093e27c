"""Opening a shop: as it is served, or for one of the owner's commands (spec 4).

Rules this module applies:

- a changed `[mandate]` without a new init does not start, since an agent must not be able to raise its own limits;
- the owner's commands work with the mandate that is in force, whatever the file says of another one meanwhile, and
  with the status of that one;
- serving loads the agent's key only.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from typing import Final

from a202_mcp.one_owner import keyfiles
from a202_mcp.one_owner.documented import Documented
from a202_mcp.one_owner.identity import Identity
from a202_mcp.one_owner.issuing import NotReadyError, own_signer, rest_on
from a202_mcp.one_owner.keyfiles import AGENT, OWNER
from a202_mcp.treatyway.book import ShopStore, open_book
from a202_mcp.treatyway.inforce import confirm, identity, in_force
from a202_mcp.treatyway.issuing import SERVER
from a202_mcp.treatyway.keylist import KeyList
from a202_mcp.treatyway.ruling import Authority
from a202_mcp.treatyway.settings import Settings
from a202_mcp.treatyway.shop import Shop
from a202_mcp.treatyway.status import StatusSource
from a202_mcp.workspace import Workspace

_CHANGED: Final = (
    "[mandate] has changed since the mandate was issued: run `a202-mcp seller init` to issue the new one, or put the "
    "old limits back")


def _now() -> datetime:
    return datetime.now(UTC)


def open_shop(settings: Settings, clock: Callable[[], datetime] = _now) -> Shop:
    """The shop as it is served. Raises NotReadyError, OSError, sqlite3.Error."""
    return _open(settings, partial(_served, settings, clock))


def open_for_owner(settings: Settings, clock: Callable[[], datetime] = _now, *, with_owner: bool = False) -> Shop:
    """The shop for a command, `with_owner` with the owner's key. Raises NotReadyError, OSError, sqlite3.Error."""
    return _open(settings, partial(_opened, settings, clock, with_owner))


def _open(settings: Settings, made: Callable[[ShopStore], Shop]) -> Shop:
    store = open_book(settings.state_dir)
    try:
        return made(store)
    except BaseException:
        store.close()
        raise


def _served(settings: Settings, clock: Callable[[], datetime], store: ShopStore) -> Shop:
    if in_force(store) is not None and not confirm(store, settings.mandate_fingerprint, settings.status_url):
        raise NotReadyError(_CHANGED)
    shop = _opened(settings, clock, False, store)
    if isinstance(settings.authority, Documented):
        rest_on(shop.workspace, settings.authority, shop.who, [shop.authority.mandate_id], SERVER)
    return shop


def _opened(settings: Settings, clock: Callable[[], datetime], with_owner: bool, store: ShopStore) -> Shop:
    who, current = identity(store), in_force(store)
    if who is None or current is None:
        raise NotReadyError("there is no mandate yet: run `a202-mcp seller init`")
    workspace = Workspace(store, clock=clock)
    placeholder_key = _keys(settings, workspace, store, who, with_owner)
    status = StatusSource(store, current.status_url, clock)
    passes = settings.passes
    return Shop(
        settings, workspace, store, who, status, Authority(workspace, store, who, status), placeholder_key,
        KeyList(passes.jwks, passes.cache_seconds))


def _keys(settings: Settings, workspace: Workspace, store: ShopStore, who: Identity, with_owner: bool) -> bytes:
    """Hold the keys that are needed; the key of placeholders. Raises NotReadyError."""
    try:
        workspace.keyring.hold(own_signer(store, settings.state_dir, who, AGENT))
        if with_owner and store.held_key(who.owner_key_id) is not None:  # else another issuer's mandate counts
            workspace.keyring.hold(own_signer(store, settings.state_dir, who, OWNER))
        return keyfiles.placeholder_key(settings.state_dir)
    except keyfiles.KeyFileError as unusable:
        raise NotReadyError(str(unusable)) from None
