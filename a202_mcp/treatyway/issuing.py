"""What `seller init` records: the mandate of the limits, or that of a document with its issuer's key (treatyway 4, 9).

Rules this module applies:

- the mandate and the keys that are not bound yet are one commit; a mandate of the limits is signed with the owner's
  key, a document's commit is sealed by the agent, to which it is given (ADR 10);
- whoever issues a document under the identifier of this folder's owner's key has that very key.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

from a202_mcp.one_owner import keyfiles
from a202_mcp.one_owner.documented import Documented
from a202_mcp.one_owner.identity import Identity
from a202_mcp.one_owner.issuing import NotReadyError, proved, taken, unbound
from a202_mcp.one_owner.keyfiles import AGENT, OWNER
from a202_mcp.store import Batch
from a202_mcp.treatyway.mandate import from_limits
from a202_mcp.treatyway.settings import Limits, Settings
from a202_mcp.workspace import Workspace
from a202_reference.identifiers import Prefix
from a202_reference.signing import Signer
from a202_reference.times import format_instant

SERVER: Final = "seller"
"""As its commands name it."""


def issued(settings: Settings, workspace: Workspace, who: Identity) -> tuple[Mapping[str, Any], Batch]:
    """The mandate that the file means, and what records it. Raises NotReadyError, KeyFileError."""
    agent = Signer(who.agent_key_id, keyfiles.load(settings.state_dir, AGENT))
    now = workspace.now(None, [who.agent_key_id, who.owner_key_id])
    given = settings.authority
    if isinstance(given, Limits):
        return _made(settings, given, workspace, who, agent, now)
    if given is None:
        raise NotReadyError("[mandate] cannot be used")
    batch = taken(workspace.store, given, who, agent, now, SERVER)
    if given.issuer.key_id == who.owner_key_id:
        _refuse_impostor(given, who, settings)
    return given.document, batch


def _made(
    settings: Settings, limits: Limits, workspace: Workspace, who: Identity, agent: Signer, now: datetime,
) -> tuple[Mapping[str, Any], Batch]:
    """The mandate that the limits mean, and what records it."""
    owner = Signer(who.owner_key_id, keyfiles.load(settings.state_dir, OWNER, keyfiles.passphrase()))
    document = proved(from_limits(
        limits, settings.currency, settings.status_url, who, Prefix.MANDATE.minted(workspace.ids()), now), owner)
    signers = (agent, owner)
    return document, Batch(
        now=format_instant(now), mandates=(document,), keys=unbound(workspace.store, who, signers, now),
        signing_keys=frozenset(signer.key_id for signer in signers), signers=signers)


def _refuse_impostor(given: Documented, who: Identity, settings: Settings) -> None:
    """A document that names the owner's key as its issuer's has to be the owner's."""
    owner = keyfiles.load(settings.state_dir, OWNER, keyfiles.passphrase())
    if (given.issuer.owner, given.issuer.public) != (who.owner, owner.public):
        raise NotReadyError(f"mandate.document: it names {who.owner_key_id} as its issuer's key, which is the owner's "
                            f"here (see `{SERVER} key`)")
