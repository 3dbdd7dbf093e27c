"""Whether the owner's mandate is in force now: the local switch, or an address that answers it (spec 9.2).

Rules this module applies:

- the switch is a local fact of this state folder, read at the instant of the decision; revoked is final, also for
  whoever turns it at the same time;
- an address is asked before a decision where the last answer is older than 30 s; what cannot be had, or is no
  status, is no status, and a decision without status denies.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any, Final

from a202_mcp.one_owner.book import Write
from a202_mcp.one_owner.switch import fixed, switched
from a202_mcp.treatyway.book import ShopStore, put
from a202_mcp.treatyway.keylist import fetch_bytes
from a202_reference.authority.status import StatusResult
from a202_reference.registries import MandateStatus
from a202_reference.times import format_instant
from a202_reference.wire import Numbers, Unreadable, read_json

_SWITCH: Final = "switch"
_ASKED_FOR: Final = timedelta(seconds=30)


class StatusSource:
    """Where the mandate's status comes from."""

    def __init__(
        self, store: ShopStore, address: str | None, clock: Callable[[], datetime],
        fetch: Callable[[str], bytes] = fetch_bytes,
    ) -> None:
        self._store = store
        self._address = address
        self._clock = clock
        self._fetch = fetch
        self._lock = threading.Lock()
        self._answer: tuple[datetime, Any] | None = None

    def refresh(self) -> None:
        """Ask the address where there is one and its last answer is old. Any thread may call this."""
        if self._address is None:
            return
        with self._lock:
            now = self._clock()
            if self._answer is not None and now - self._answer[0] < _ASKED_FOR:
                return
            self._answer = (now, _status(self._fetch, self._address))

    def result(self, mandate_id: str, now: datetime) -> StatusResult | None:
        """The status as it is presented with a decision, or None."""
        if self._address is None:
            return StatusResult(mandate_id, switch(self._store, mandate_id), format_instant(now))
        if self._answer is None or self._answer[1] is None:
            return None
        return StatusResult(mandate_id, self._answer[1], format_instant(min(self._answer[0], now)))


def switch(store: ShopStore, mandate_id: str) -> str:
    """What the owner set for a mandate."""
    entry = store.entry(_SWITCH, mandate_id)
    return switched(None if entry is None else entry.body)


def set_switch(
    store: ShopStore, mandate_id: str, status: MandateStatus, status_url: str | None = None,
) -> str | None:
    """Turn it; or why it cannot be turned, for the owner."""
    with store.deciding():
        entry = store.entry(_SWITCH, mandate_id)
        why = fixed(mandate_id, switch(store, mandate_id), status_url)
        if why is None:
            body = {"status": status.value, "at": time.time()}
            store.remember([put(_SWITCH, mandate_id, 1 if entry is None else entry.version + 1, body)])
        return why


def carried(store: ShopStore, before: str, mandate_id: str) -> tuple[Write, ...]:
    """What keeps a suspension for the mandate that supersedes a suspended one, within the decision that does so."""
    if before == mandate_id or store.entry(_SWITCH, mandate_id) is not None:
        return ()
    if switch(store, before) != MandateStatus.SUSPENDED:
        return ()
    return (put(_SWITCH, mandate_id, 1, {"status": MandateStatus.SUSPENDED.value, "at": time.time()}),)


def _status(fetch: Callable[[str], bytes], address: str) -> Any:
    try:
        value = read_json(fetch(address), numbers=Numbers.ANY)
    except (OSError, ValueError):
        return None
    return value.get("status") if isinstance(value, dict) and not isinstance(value, Unreadable) else None
