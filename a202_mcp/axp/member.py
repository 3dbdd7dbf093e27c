"""One member of one state folder: how it is opened, and the one way in which anything of it is written (axp 3, 8, 10).

Rules this module applies:

- only `carry_out` writes. A plan is made, its objects judged and signed, and its batch committed as one decision of the
  state, before its answer goes out: no limit on tasks or money is looked at in another state than is written. Making it
  writes nothing;
- a first start makes identity, keys and mandates (`enrolment`); one with a changed `[mandate]`, other roles or free
  work does not start before the owner's `init`, which also issues anew what is revoked or over;
- the owner's commands work with the mandates in force, whatever the file says of others meanwhile; and so does a
  server that runs while an `init` supersedes them;
- serving loads the agent's key only.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import datetime
from functools import partial

from a202_mcp.axp.enrolment import confirm, initialise, open_workspace, own_store
from a202_mcp.axp.identity import Identity
from a202_mcp.axp.issuing import SERVER
from a202_mcp.axp.mandates import limits_mark
from a202_mcp.axp.patience import patiently
from a202_mcp.axp.secret import Credentials
from a202_mcp.axp.settings import Settings
from a202_mcp.axp.view import Plan, View
from a202_mcp.one_owner import keyfiles
from a202_mcp.one_owner.batches import batch_for
from a202_mcp.one_owner.book import batch_with
from a202_mcp.one_owner.issuing import NotReadyError, own_signer, rest_on
from a202_mcp.workspace import Workspace
from a202_reference.signing import Signer
from a202_reference.times import parse_instant


class Member:
    """The member of one state folder."""

    def __init__(self, settings: Settings, workspace: Workspace, identity: Identity, credentials: Credentials) -> None:
        self.settings, self.store, self.workspace = settings, own_store(workspace), workspace
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
        identity = Identity.kept(self.store.item("identity", "self")) or self._identity
        return View(
            self.settings, self.store, self.workspace, identity, self.credentials, self._placeholders,
            self.statuses)

    def carry_out(self, make: Callable[[View], Plan]) -> Plan:
        """Make a plan and write it, as one decision; the plan. Whatever `make` raises leaves nothing.

        Nothing slow belongs into `make`: every other process waits.
        """
        with self.store.deciding():
            with self.store.reading():
                plan = make(self.view)
            if not self._written(plan):
                raise RuntimeError("what was to be changed is not as it was read, since it was not read in the plan")
        if plan.writes:
            self.wake()
        return plan

    async def record(self, make: Callable[[View], Plan]) -> Plan:
        """`carry_out` for what no call waits for: however long the state cannot be written."""
        return await patiently(partial(self.carry_out, make))

    def dry(self, make: Callable[[View], Plan]) -> Plan:
        """Make a plan that nobody carries out."""
        with self.store.reading():
            return make(self.view)

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
        if plan.transaction_id is None or not (plan.drafts or plan.acts or plan.signed):
            return not plan.writes or self.store.remember(plan.writes)
        holdings = self.store.holdings(plan.transaction_id)
        bodies = (*plan.signed, *(draft.body for draft in plan.drafts))
        made = (parse_instant(body["created_at"]) for body in bodies)
        now = max([self.workspace.now(plan.transaction_id, [self._identity.agent_key_id]),
                   *(at for at in made if at is not None)])
        batch = batch_for(self.workspace, holdings, now, plan.drafts, plan.acts, plan.signed)
        return self.store.commit(batch_with(batch, plan.writes))


async def _nothing() -> None:
    """The local switch is always fresh."""


def open_member(settings: Settings, workspace: Workspace | None = None) -> Member:
    """The member as it is served, a new one where the folder has none. Raises NotReadyError, KeyFileError, OSError."""
    member = open_for_owner(settings, workspace)
    if not confirm(member.store, limits_mark(settings), settings.limits.status_url):
        raise NotReadyError(
            "[mandate], the roles or free_work changed since the mandate was issued: run `a202-mcp member init`, so "
            "that the owner and not the agent changes the limits")
    if settings.limits.documented is not None:
        identity = member.view.identity
        rest_on(member.workspace, settings.limits.documented, identity, identity.mandates.values(), SERVER)
    return member


def open_for_owner(settings: Settings, workspace: Workspace | None = None) -> Member:
    """The member for a command of the owner's, under the mandates in force. Raises as `open_member`."""
    space = workspace or open_workspace(settings.state_dir)
    identity = Identity.kept(own_store(space).item("identity", "self"))
    if identity is None or not identity.mandates:
        identity = initialise(settings, space, only_first=True)
    space.keyring.hold(own_signer(space.store, settings.state_dir, identity, keyfiles.AGENT))
    credentials = Credentials(settings.state_dir, settings.member_id, settings.secrets)
    return Member(settings, space, identity, credentials)
