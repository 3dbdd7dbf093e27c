"""One member at work: its settings, its state, and the one way in which anything of it is written (spec 5, 8, 10).

Rules this module applies:

- a tool reads through a `View` and answers with a `Plan`; only `Member.carry_out` writes, so a call that is a test has
  nothing to write with;
- a plan's objects are judged and signed, and its batch committed, before its answer goes out; where the state has
  moved meanwhile, the plan is made again;
- one `now` per call.
"""

from __future__ import annotations

import secrets
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from a202_mcp.axp.book import MemberStore, Write, batch_with, put
from a202_mcp.axp.identity import Identity, agent_signer, counterparty, owner_signer, placeholder_key
from a202_mcp.axp.issuing import NotReadyError, made, rest_on, taken
from a202_mcp.axp.mandates import limits_mark
from a202_mcp.axp.secret import Credentials
from a202_mcp.axp.settings import Settings
from a202_mcp.recording import batch_of
from a202_mcp.store import Batch
from a202_mcp.workspace import Workspace
from a202_reference.authority.presented import Authorised
from a202_reference.codes import Refusal
from a202_reference.documents.parties import PartyRef
from a202_reference.keys import KeyBinding
from a202_reference.lifecycle.drafts import Draft
from a202_reference.signing import Signer
from a202_reference.times import format_instant

__all__ = ["Member", "NotReadyError", "Plan", "View", "enrol", "initialise", "open_member", "open_workspace", "salt"]


@dataclass(frozen=True, slots=True)
class Plan:
    """What one call would write and answer. error: the answer is a tool error with this text."""

    answer: Mapping[str, Any] = field(default_factory=dict)
    error: str | None = None
    transaction_id: str | None = None
    drafts: tuple[Draft, ...] = ()
    acts: tuple[Authorised, ...] = ()
    writes: tuple[Write, ...] = ()


@dataclass(frozen=True, slots=True)
class View:
    """What a tool may read. Nothing in it writes."""

    settings: Settings
    store: MemberStore
    workspace: Workspace
    identity: Identity
    credentials: Credentials
    placeholders: bytes = field(repr=False)
    statuses: Mapping[str, tuple[str, datetime]]
    """Answers of a configured status address, by mandate id; empty where the local switch counts."""

    def now(self, transaction_id: str | None = None) -> datetime:
        """The instant of this call, never before what is stored."""
        return self.workspace.now(transaction_id, [self.identity.agent_key_id])

    def stamp(self) -> float:
        """Seconds since the epoch, for the outbox."""
        return self.workspace.clock().timestamp()

    def counterparty(self, party_id: str | None, task_id: str) -> PartyRef:
        """The placeholder for somebody of the exchange."""
        return counterparty(self.placeholders, party_id, task_id)

    def mint(self) -> str:
        """A fresh opaque suffix."""
        return self.workspace.ids()


class Member:
    """The member of one state folder."""

    def __init__(self, settings: Settings, workspace: Workspace, identity: Identity, credentials: Credentials) -> None:
        self.settings, self.store, self.workspace = settings, _own(workspace), workspace
        self.credentials = credentials
        self.statuses: dict[str, tuple[str, datetime]] = {}
        self._identity = identity
        self._placeholders = placeholder_key(settings.state_dir)
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
        """Make a plan and write it, again where the state moved; the plan that was written."""
        for _ in range(5):
            plan = make(self.view)
            if self._written(plan):
                return plan
        raise RuntimeError("the state moved five times while one act was being recorded")

    def approve_with(self, signer: Signer) -> None:
        """Hold the owner's key, for a command of the owner's."""
        self.workspace.keyring.hold(signer)

    def owner(self) -> Signer:
        """The owner's key. Raises KeyFileError."""
        return owner_signer(self.settings.state_dir, self._identity)

    def _written(self, plan: Plan) -> bool:
        if plan.transaction_id is None or not (plan.drafts or plan.acts):
            done = not plan.writes or self.store.keep(plan.writes)
        else:
            holdings = self.store.holdings(plan.transaction_id)
            signed = self.workspace.signed(plan.drafts, holdings)
            if isinstance(signed, Refusal):
                raise RuntimeError(f"an object of our own making was refused: {[code.value for code in signed.codes]}")
            now = self.workspace.now(plan.transaction_id, [self._identity.agent_key_id])
            batch = batch_of(holdings, now, signed, plan.acts)
            held = (self.workspace.keyring.signer(key_id) for key_id in sorted(batch.signing_keys))
            signers = tuple(signer for signer in held if signer is not None)
            done = self.store.commit(batch_with(replace(batch, signers=signers), plan.writes))
        if done and plan.writes:
            self.woken()
        return done


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
    space.keyring.hold(agent_signer(settings.state_dir, identity))
    if settings.limits.documented is not None:
        rest_on(settings.limits.documented, space, identity)
    credentials = Credentials(settings.state_dir, settings.member_id, settings.secrets)
    return Member(settings, space, identity, credentials)


def enrol(settings: Settings, space: Workspace) -> Identity:
    """Identifiers and keys, made where there are none. Raises NotReadyError, KeyFileError."""
    store = _own(space)
    stored = store.item("identity", "self")
    if stored is not None:
        return Identity.of(stored)
    identity = Identity.fresh(settings.limits.organization_id, space.ids)
    now = space.now()
    agent = agent_signer(settings.state_dir, identity)
    owner = owner_signer(settings.state_dir, identity)
    bindings = (KeyBinding(agent.key_id, identity.agent, agent.key.public, now),
                KeyBinding(owner.key_id, identity.owner, owner.key.public, now))
    batch = Batch(
        now=format_instant(now), keys=bindings, signing_keys=frozenset({owner.key_id}), signers=(owner, agent))
    _commit(store, batch, put("identity", "self", identity.document))
    return identity


def initialise(settings: Settings, space: Workspace) -> Identity:
    """Keys and mandates, made or superseded; what is in order already stays. Raises NotReadyError, KeyFileError."""
    store, identity = _own(space), enrol(settings, space)
    if identity.limits == limits_mark(settings):
        return identity
    now = space.now(None, [identity.agent_key_id, identity.owner_key_id])
    given = settings.limits.documented
    issued, batch = (made(settings, identity, now, space) if given is None
                     else taken(settings, given, identity, now, store))
    _commit(store, batch, put("identity", "self", issued.document))
    return issued


def _own(space: Workspace) -> MemberStore:
    if not isinstance(space.store, MemberStore):
        raise TypeError("a member needs its own store")
    return space.store


def _commit(store: MemberStore, batch: Batch, *writes: Write) -> None:
    if not store.commit(batch_with(batch, writes)):
        raise NotReadyError("the state folder is being changed by another command: try again")


def salt() -> bytes:
    """Random bytes that keep a hashed request from being guessed."""
    return secrets.token_bytes(32)
