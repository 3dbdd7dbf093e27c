"""Which mandate is in force in a state folder, and for whom (spec 4, 9).

What is kept says everything that stopping it needs: the mandate, the settings it was issued from, and who answers its
status. No key and no configuration is read for that.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Final

from a202_mcp.one_owner.book import Write
from a202_mcp.one_owner.identity import Identity
from a202_mcp.treatyway.book import ShopStore, put
from a202_mcp.treatyway.ruling import CURRENT

_IDENTITY: Final = "identity"


@dataclass(frozen=True, slots=True)
class InForce:
    """The mandate that the last `init` made the current one.

    fingerprint: of the settings it was issued from. status_url: who answers its status; None: the switch here.
    """

    mandate_id: str
    fingerprint: str
    status_url: str | None = None


def in_force(store: ShopStore) -> InForce | None:
    """The mandate in force, or None before the first `init`."""
    entry = store.entry(CURRENT, "")
    return None if entry is None else InForce(**entry.body)


def confirm(store: ShopStore, fingerprint: str, status_url: str | None) -> bool:
    """True where the mandate in force was issued from these settings.

    A folder from before it was kept who answers the status learns that here: the same settings say the same.
    """
    entry = store.entry(CURRENT, "")
    if entry is None or entry.body["fingerprint"] != fingerprint:
        return False
    if "status_url" not in entry.body:
        store.remember([made_current(store, InForce(entry.body["mandate_id"], fingerprint, status_url))])
    return True


def made_current(store: ShopStore, chosen: InForce) -> Write:
    """What puts a mandate in force, after the one that is there now."""
    entry = store.entry(CURRENT, "")
    return put(CURRENT, "", 1 if entry is None else entry.version + 1, asdict(chosen))


def identity(store: ShopStore) -> Identity | None:
    """Who this shop is, or None before its keys are made."""
    entry = store.entry(_IDENTITY, "")
    return None if entry is None else Identity(**entry.body)


def made_known(who: Identity) -> Write:
    """What makes this the identity of a folder that has none."""
    return put(_IDENTITY, "", 1, asdict(who))
