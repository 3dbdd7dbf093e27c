"""`a202-mcp seller mandate …`: shows the mandate in force, or stops and releases it (spec 4, 9.2).

Rules this module applies:

- stopping the agent needs the state folder and nothing else: no key, and no word of a configuration that may be broken;
- the switch that is turned is the one of the mandate in force when it is turned: finding and turning it are one
  decision of the state, so that an `init` comes before or after.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from a202_mcp.one_owner.issuing import NotReadyError
from a202_mcp.one_owner.switch import TURNS
from a202_mcp.store import FILE_NAME
from a202_mcp.treatyway.book import ShopStore, open_book
from a202_mcp.treatyway.inforce import InForce, in_force
from a202_mcp.treatyway.said import DONE, refuse, say
from a202_mcp.treatyway.status import StatusSource, set_switch
from a202_reference.times import whole_second

_NONE: Final = "there is no mandate yet: run `a202-mcp seller init`"


def turn(state_dir: Path, act: str) -> int:
    """Show the mandate, or turn its switch; the exit status. Raises NotReadyError, OSError, sqlite3.Error."""
    if not (state_dir / FILE_NAME).is_file():
        raise NotReadyError(_NONE)
    store = open_book(state_dir)
    try:
        why = None if act == "show" else _turned(store, act)
        if why is not None:
            return refuse(why)
        say(json.dumps(_shown(store, _current(store)), indent=2))
        return DONE
    finally:
        store.close()


def _turned(store: ShopStore, act: str) -> str | None:
    """Turn the switch of the mandate in force; why it cannot be turned, or None."""
    with store.deciding():
        current = _current(store)
        return set_switch(store, current.mandate_id, TURNS[act], current.status_url)


def _current(store: ShopStore) -> InForce:
    found = in_force(store)
    if found is None:
        raise NotReadyError(_NONE)
    return found


def _shown(store: ShopStore, current: InForce) -> dict[str, object]:
    now = whole_second(datetime.now(UTC))
    source = StatusSource(store, current.status_url, lambda: now)
    source.refresh()
    status = source.result(current.mandate_id, now)
    document = store.mandate(current.mandate_id)
    return {
        "mandate_id": current.mandate_id, "status": None if status is None else status.status,
        "valid_until": None if document is None else document["valid_until"], "mandate": document}
