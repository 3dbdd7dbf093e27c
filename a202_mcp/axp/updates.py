"""task_update: what the exchange says of a task is received, recorded, and counts once (axp 7.4; A69 to A71, A85).

Rules this module applies:

- received is true for any status and any extra member; a statement counts once, by status, event, data and hash. A
  reminder in the same words counts again once no replay of it can be among us any more. The very bytes that counted,
  sent again, leave nothing at all;
- only tasks we know have effects (`consequences`); what is said of others is kept as a note, and counts when it is said
  again of a task that is ours by then. What the exchange says is evidence of its statement and moves no state of the
  record.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, Final

from a202_mcp.axp.arguments import Call
from a202_mcp.axp.book import happened, insert, replace
from a202_mcp.axp.buying import CHOICE
from a202_mcp.axp.capacity import SOLD
from a202_mcp.axp.consequences import follows, repeated
from a202_mcp.axp.reading import fingerprint
from a202_mcp.axp.record import Matter, scribe_of, statement
from a202_mcp.axp.told import REMINDER, Told, event_word, own_words
from a202_mcp.axp.view import Plan, View
from a202_mcp.one_owner.scribe import fresh_salt
from a202_reference.canonical import sha256_hex
from a202_reference.times import format_instant, parse_instant

REPLAYED_WITHIN: Final = timedelta(seconds=600)
"""A signed call passes from 300 s before its timestamp to 300 s after it."""
_RECEIVED: Final = {"received": True}


def task_update(view: View, call: Call) -> Plan:
    """Received; and what follows."""
    if call.test:
        return Plan(_RECEIVED)
    sold, chosen = view.store.item(SOLD, call.task_id), view.store.item(CHOICE, call.task_id)
    kind, task = (SOLD, sold) if sold is not None else (CHOICE, chosen)
    matter = None if task is None else Matter.of(task)
    now = view.now(None if matter is None else matter.transaction_id)
    told = None if task is None else Told(view, call, kind, task, format_instant(now))
    counted, key = "note" if told is None else "update", f"{call.task_id}:{_mark(call)}"
    before = view.store.item(counted, key)
    if before is not None and not (event_word(call) == REMINDER and _is_new(before, now)):
        replayed = before.get("raw") == sha256_hex(call.raw)
        return Plan(_RECEIVED, writes=repeated(told) if told and not replayed else ())
    noted = replace(counted, key, before, {
        "status": call.text("status"), "at": format_instant(now), "raw": sha256_hex(call.raw)})
    if told is None or matter is None:
        return Plan(_RECEIVED, writes=(noted,))
    stated = f"the exchange stated: {own_words(call)}"
    random = fresh_salt()
    said = statement(scribe_of(view, matter, now), stated, random, call.raw)
    return Plan(
        _RECEIVED, transaction_id=matter.transaction_id, drafts=(said,),
        writes=(noted, insert("salt", said.id, {"salt": random.hex()}), happened(call.task_id, told.at, stated),
                *follows(told)))


def _is_new(before: Mapping[str, Any], now: datetime) -> bool:
    """True where a reminder that counted cannot be replayed any more."""
    at = parse_instant(before["at"])
    return at is not None and now - at > REPLAYED_WITHIN


def _mark(call: Call) -> str:
    return fingerprint([call.arguments.get("status"), call.arguments.get("event"), call.arguments.get("data"),
                        call.mapping("deliverable").get("sha256")])
