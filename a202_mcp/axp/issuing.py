"""What `member init` records: the mandates of the limits, or that of a file with its issuer's key (axp 3, 8).

Mandates of the limits are sealed by the owner, who signs them; one from a file by the agent, to which it is given
(ADR 10).
"""

from __future__ import annotations

from datetime import datetime
from typing import Final

from a202_mcp.axp.book import MemberStore
from a202_mcp.axp.identity import Identity
from a202_mcp.axp.mandates import adopted, all_stand, issue, limits_mark
from a202_mcp.axp.settings import Settings
from a202_mcp.one_owner.documented import Documented
from a202_mcp.one_owner.issuing import is_taken, own_signer, taken
from a202_mcp.one_owner.keyfiles import AGENT, OWNER
from a202_mcp.store import Batch
from a202_mcp.workspace import Workspace
from a202_reference.times import format_instant

SERVER: Final = "member"
"""As its commands name it."""


def is_issued(settings: Settings, store: MemberStore, identity: Identity, now: datetime) -> bool:
    """True where the mandates are those that the file means, and can still be used one day."""
    given = settings.limits.documented
    if identity.limits != limits_mark(settings):
        return False
    return all_stand(store, identity, now) if given is None else is_taken(store, given, identity.mandates.values())


def made(settings: Settings, identity: Identity, now: datetime, space: Workspace) -> tuple[Identity, Batch]:
    """The mandates of the plain limits, and what records them. Raises NotReadyError, KeyFileError."""
    owner = own_signer(space.store, settings.state_dir, identity, OWNER)
    issued = issue(settings, identity, owner, now, space.ids)
    return issued.identity, Batch(
        now=format_instant(now), mandates=issued.mandates, signing_keys=frozenset({owner.key_id}), signers=(owner,))


def adopt(
    settings: Settings, given: Documented, identity: Identity, now: datetime, store: MemberStore,
) -> tuple[Identity, Batch]:
    """A mandate from a file, and what records it with its issuer's key. Raises NotReadyError, KeyFileError."""
    agent = own_signer(store, settings.state_dir, identity, AGENT)
    return adopted(settings, given, identity), taken(store, given, identity, agent, now, SERVER)
