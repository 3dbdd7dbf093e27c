"""One member of one state folder: how it is opened, and the one way in which anything of it is written (axp 3, 8, 10).

Rules this module applies:

- only `carry_out` writes. A plan is made, its objects judged and signed, and its batch committed as one decision of the
  state, before its answer goes out: no limit on tasks or money is looked at in another state than is written;
- a first start makes identity, keys and mandates; one with a changed `[mandate]`, other roles or free work does not
  start before the owner's `init`, which also issues anew what is revoked or over;
- serving loads the agent's key only; the organisation of a state folder never changes.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import datetime
from pathlib import Path

from a202_mcp.axp.book import MemberStore, insert, put
from a202_mcp.axp.identity import Identity
from a202_mcp.axp.issuing import SERVER, adopt, is_issued, made
from a202_mcp.axp.mandates import limits_mark
from a202_mcp.axp.secret import Credentials
from a202_mcp.axp.settings import Settings
from a202_mcp.axp.view import Plan, View
from a202_mcp.one_owner import keyfiles
from a202_mcp.one_owner.batches import batch_for
from a202_mcp.one_owner.book import Write, batch_with
from a202_mcp.one_owner.issuing import NotReadyError, keep_organization, own_signer, rest_on, unbound
from a202_mcp.store import Batch
from a202_mcp.workspace import Workspace
from a202_reference.signing import Signer
from a202_reference.times import format_instant, parse_instant


class Member:
    """The member of one state folder."""

    def __init__(self, settings: Settings, workspace: Workspace, identity: Identity, credentials: Credentials) -> None:
        self.settings, self.store, self.workspace = settings, _own(workspace), workspace
        self.credentials = credentials
        self.statuses: dict[str, tuple[str, datetime]] = {}
        self._identity = identity
        self._placeholders = keyfiles.placeholder_key(settings.state_dir)
        self.refresh: Callable[[], Awaitable[None]] = _nothing
        """Awaited before an act is decided, so that the mandate's status is fresh."""
        self.woken: Callable[[], None] = lambda: None
        """Called after every write, so that what was enqueued is looked at."""

    @property
    def view(self) -> View:
        """The member as tools see it."""
        return View(
            self.settings, self.store, self.workspace, self._identity, self.credentials, self._placeholders,
            self.statuses)

    def carry_out(self, make: Callable[[View], Plan]) -> Plan:
        """Make a plan and write it; the plan that was written. Nothing slow belongs into `make`."""
        with self.store.deciding():
            plan = make(self.view)
            if not self._written(plan):
                raise RuntimeError("what was to be changed is not as it was read, since it was not read in the plan")
        if plan.writes:
            self.wake()
        return plan

    def wake(self) -> None:
        """Say that something was written, or ended."""
        self.woken()

    def approve_with(self, signer: Signer) -> None:
        """Hold the owner's key, for a command of the owner's."""
        self.workspace.keyring.hold(signer)

    def owner(self) -> Signer:
        """The owner's key. Raises KeyFileError."""
        return own_signer(self.store, self.settings.state_dir, self._identity, keyfiles.OWNER)

    def _written(self, plan: Plan) -> bool:
        if plan.transaction_id is None or not (plan.drafts or plan.acts):
            return not plan.writes or self.store.remember(plan.writes)
        holdings = self.store.holdings(plan.transaction_id)
        made = (parse_instant(draft.body["created_at"]) for draft in plan.drafts)
        now = max([self.workspace.now(plan.transaction_id, [self._identity.agent_key_id]),
                   *(at for at in made if at is not None)])
        batch = batch_for(self.workspace, holdings, now, plan.drafts, plan.acts)
        return self.store.commit(batch_with(batch, plan.writes))


async def _nothing() -> None:
    """The local switch is always fresh."""


def open_workspace(state_dir: Path) -> Workspace:
    """The state folder's workspace. Raises OSError, sqlite3.Error."""
    return Workspace(MemberStore.open(state_dir))


def open_member(settings: Settings, workspace: Workspace | None = None) -> Member:
    """Open the member, a new one where the folder has none. Raises NotReadyError, KeyFileError, OSError."""
    space = workspace or open_workspace(settings.state_dir)
    stored = _own(space).item("identity", "self")
    identity = initialise(settings, space) if stored is None or not stored["mandates"] else Identity.of(stored)
    if identity.limits != limits_mark(settings):
        raise NotReadyError(
            "[mandate], the roles or free_work changed since the mandate was issued: run `a202-mcp member init`, so "
            "that the owner and not the agent changes the limits")
    space.keyring.hold(own_signer(space.store, settings.state_dir, identity, keyfiles.AGENT))
    if settings.limits.documented is not None:
        rest_on(space, settings.limits.documented, identity, identity.mandates.values(), SERVER)
    credentials = Credentials(settings.state_dir, settings.member_id, settings.secrets)
    return Member(settings, space, identity, credentials)


def enrol(settings: Settings, space: Workspace) -> Identity:
    """Identifiers and keys, made where there are none. Raises NotReadyError, KeyFileError."""
    store = _own(space)
    named, stored = settings.limits.organization_id, store.item("identity", "self")
    if stored is not None:
        identity = Identity.of(stored)
        keep_organization(identity, named)
        return identity
    identity = Identity.minted(named, space.ids())
    now = space.now()
    keyfiles.make_missing(settings.state_dir)
    agent = Signer(identity.agent_key_id, keyfiles.load(settings.state_dir, keyfiles.AGENT))
    owner = Signer(
        identity.owner_key_id, keyfiles.load(settings.state_dir, keyfiles.OWNER, keyfiles.passphrase()))
    batch = Batch(
        now=format_instant(now), keys=unbound(store, identity, (agent, owner), now),
        signing_keys=frozenset({owner.key_id}), signers=(owner, agent))
    _commit(store, batch, insert("identity", "self", identity.document))
    return identity


def initialise(settings: Settings, space: Workspace) -> Identity:
    """Keys and mandates, made or superseded; what is in order already stays. Raises NotReadyError, KeyFileError."""
    store, identity = _own(space), enrol(settings, space)
    now = space.now(None, [identity.agent_key_id, identity.owner_key_id])
    if is_issued(settings, store, identity, now):
        return identity
    given = settings.limits.documented
    issued, batch = (made(settings, identity, now, space) if given is None
                     else adopt(settings, given, identity, now, store))
    _commit(store, batch, put("identity", "self", issued.document))
    return issued


def _own(space: Workspace) -> MemberStore:
    if not isinstance(space.store, MemberStore):
        raise TypeError("a member needs its own store")
    return space.store


def _commit(store: MemberStore, batch: Batch, *writes: Write) -> None:
    if not store.commit(batch_with(batch, writes)):
        raise NotReadyError("the state folder is being changed by another command: try again")
