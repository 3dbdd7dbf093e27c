"""`a202-mcp member mandate …`: shows the mandates in force, or stops and releases them (axp 3, 8; treatyway 4).

Rules this module applies:

- stopping the agent needs the state folder and nothing else: no key, no secret, and no word of a configuration that
  may be broken;
- the switches that are turned are those of the mandates in force when they are turned.
"""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

from a202_mcp.axp.book import MemberStore
from a202_mcp.axp.identity import Identity
from a202_mcp.axp.mandate_status import ask
from a202_mcp.axp.mandates import switch, turned
from a202_mcp.axp.terminal import say
from a202_mcp.one_owner.issuing import NotReadyError
from a202_mcp.one_owner.switch import TURNS, fixed
from a202_mcp.store import FILE_NAME


def turn(state_dir: Path, action: str) -> int:
    """Show the mandates, or turn their switch; the exit status. Raises NotReadyError, OSError, sqlite3.Error."""
    if not (state_dir / FILE_NAME).is_file():
        raise NotReadyError("there is no mandate yet: run `a202-mcp member init`")
    store = MemberStore.open(state_dir)
    try:
        return _show(store) if action == "show" else _turn(store, action)
    finally:
        store.close()


def turn_switches(store: MemberStore, action: str) -> str | None:
    """Turn the switch of every mandate in force; why it cannot be turned, or None."""
    with store.deciding():
        identity = _in_force(store)
        mandate_ids = tuple(identity.mandates.values())
        reasons = (fixed(each, switch(store, each), identity.status_url) for each in mandate_ids)
        why = next((reason for reason in reasons if reason is not None), None)
        if why is None:
            store.remember([turned(each, TURNS[action]) for each in mandate_ids])
        return why


def _turn(store: MemberStore, action: str) -> int:
    why = turn_switches(store, action)
    if why is not None:
        say(why)
        return 1
    print(TURNS[action].value)
    return 0


def _show(store: MemberStore) -> int:
    identity = _in_force(store)
    answered = None if identity.status_url is None else asyncio.run(ask(identity.status_url))
    for use, mandate_id in identity.mandates.items():
        print(f"{use}: {mandate_id} {answered or switch(store, mandate_id)}")
        print(json.dumps(store.mandate(mandate_id)))
    return 0


def _in_force(store: MemberStore) -> Identity:
    """Who the member is, with the mandates that count."""
    identity = Identity.kept(store.item("identity", "self"))
    if identity is None or not identity.mandates:
        raise NotReadyError("there is no mandate yet: run `a202-mcp member init`")
    return identity
