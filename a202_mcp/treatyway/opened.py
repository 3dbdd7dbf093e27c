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
from a202_mcp.one_owner.identity import Identity
from a202_mcp.one_owner.keyfiles import AGENT, OWNER
from a202_mcp.one_owner.limits import signed, stands
from a202_mcp.store import Batch
from a202_mcp.treatyway import mandate
from a202_mcp.treatyway.book import Entry, ShopStore, open_book, put
from a202_mcp.treatyway.keylist import KeyList
from a202_mcp.treatyway.ruling import CURRENT, Authority
from a202_mcp.treatyway.settings import Documented, Settings
from a202_mcp.treatyway.shop import Shop
from a202_mcp.treatyway.status import StatusSource, switch
from a202_mcp.workspace import Workspace
from a202_reference.identifiers import Prefix
from a202_reference.keys import KeyBinding, Owner
from a202_reference.signing import Signer
from a202_reference.times import format_instant

_IDENTITY: Final = "identity"
_NO_MANDATE: Final = "there is no mandate yet: run `a202-mcp seller init`"


class NotReadyError(Exception):
    """The shop cannot be opened as it is. Its text is for the owner."""


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
        _hold(workspace, settings, who, AGENT, who.agent_key_id, None)
        if with_owner:
            _hold(workspace, settings, who, OWNER, who.owner_key_id, keyfiles.passphrase())
        placeholder_key = keyfiles.placeholder_key(settings.state_dir)
    except keyfiles.KeyFileError as unusable:
        raise NotReadyError(str(unusable)) from None
    status = StatusSource(store, settings.status_url, clock)
    foreign = mandate.issuer_binding(settings.authority) if isinstance(settings.authority, Documented) else None
    passes = settings.passes
    return Shop(
        settings, workspace, store, who, status, Authority(workspace, store, who, status, foreign), placeholder_key,
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
    if asked is not None and asked != who.organization_id:
        raise NotReadyError(
            f"mandate.organization_id is {asked}, and this state folder belongs to {who.organization_id}: put that "
            f"back, or begin with another state folder")
    return who


def _stands(workspace: Workspace, store: ShopStore, current: Entry, settings: Settings, now: datetime) -> bool:
    """True where the current mandate is the one that the file means, and can still be used."""
    mandate_id = current.body["mandate_id"]
    return current.body["fingerprint"] == settings.mandate_fingerprint and stands(
        workspace.mandate(mandate_id), switch(store, mandate_id), now)


def _issue(
    settings: Settings, workspace: Workspace, store: ShopStore, who: Identity, current: Entry | None,
) -> str:
    agent = Signer(who.agent_key_id, keyfiles.load(settings.state_dir, AGENT))
    now = workspace.now(None, [who.agent_key_id, who.owner_key_id])
    if isinstance(settings.authority, Documented):
        fault = mandate.document_fault(settings.authority, who, agent.key.public)
        if fault is not None:
            raise NotReadyError(f"mandate.document: {fault}")
        document, signers = dict(settings.authority.document), [agent]
    else:
        owner = Signer(who.owner_key_id, keyfiles.load(settings.state_dir, OWNER, keyfiles.passphrase()))
        unsigned = mandate.from_limits(
            settings.authority, settings.currency, settings.status_url, who, Prefix.MANDATE.minted(workspace.ids()),
            now)
        document, signers = signed(unsigned, owner), [agent, owner]
    bindings = tuple(
        KeyBinding(signer.key_id, _owner(who, signer.key_id), signer.key.public, now)
        for signer in signers if store.held_key(signer.key_id) is None)
    held = workspace.mandate(document["id"]) is not None
    batch = Batch(
        now=format_instant(now), mandates=() if held else (document,), keys=bindings,
        signing_keys=frozenset(signer.key_id for signer in signers), signers=tuple(signers))
    chosen = put(CURRENT, "", 1 if current is None else current.version + 1,
                 {"mandate_id": document["id"], "fingerprint": settings.mandate_fingerprint})
    if not store.commit(batch_with(batch, [chosen])):
        raise NotReadyError("another init was faster; run it again")
    return f"mandate {document['id']} is in force until {document['valid_until']}"


def _owner(who: Identity, key_id: str) -> Owner:
    return who.agent if key_id == who.agent_key_id else who.owner


def _hold(
    workspace: Workspace, settings: Settings, who: Identity, name: str, key_id: str, sealed_with: bytes | None,
) -> None:
    """Load a key pair, and make sure that it is the one the record knows."""
    key = keyfiles.load(settings.state_dir, name, sealed_with)
    binding = workspace.store.key(key_id)
    if name == OWNER and binding is None:
        return  # the mandate is another issuer's: the owner's key decides nothing here
    workspace.keyring.hold(keyfiles.signer_of(key, name, key_id, _owner(who, key_id), binding))
