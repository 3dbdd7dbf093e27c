"""A delivery to us, checked by its hash (spec 7.4; requirements A65, A66).

Rules this module applies:

- the task and the deliverable are fetched from their own paths, never from an address in a statement;
- the SHA-256 of the bytes must be the task's and the statement's hash; where the body is a JSON object with a text
  `content`, that text is tried too. Equal, and the mandate allows `acceptance.granted`: accept;
- unequal on two fetches, and the mandate allows `acceptance.rejected`: dispute. Not 200, over 1 MB, no hash, hashes
  that contradict each other, or a mandate that does not allow it: the owner;
- what is accepted stays so, and a look at an earlier round says nothing of this one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from a202_mcp.axp.book import happened, replace
from a202_mcp.axp.buying import CHOICE
from a202_mcp.axp.choosing import ACCEPTED_STATE, ACCEPTING, DISPUTED, DISPUTING
from a202_mcp.axp.exchange import ExchangeClient
from a202_mcp.axp.inbox_items import close_items, tell
from a202_mcp.axp.outbox_rows import Row, effect
from a202_mcp.axp.outgoing import Answer
from a202_mcp.axp.reading import read
from a202_mcp.axp.record import Matter, judge, scribe_of
from a202_mcp.axp.view import Plan, View
from a202_mcp.one_owner.book import Write
from a202_reference.canonical import sha256_hex
from a202_reference.identifiers import is_sha256_hex
from a202_reference.lifecycle.acts import ACCEPTANCE_GRANTED, ACCEPTANCE_REJECTED
from a202_reference.registries import EvidenceType
from a202_reference.times import format_instant

ACCEPT, DISPUTE = "accept", "dispute"
MISMATCH: Final = "content does not match its hash"
LOOKS_KEPT: Final = 4
"""How many of the last looks are kept as facts for a mediator."""
_ACCEPTED: Final = (ACCEPTING, ACCEPTED_STATE)
_SAID: Final = {False: _ACCEPTED, True: (*_ACCEPTED, DISPUTING, DISPUTED)}
"""The states in which a look says nothing new, by whether it found the content wrong."""


@dataclass(frozen=True, slots=True)
class Found:
    """What the look at a delivery found. equal None: it cannot be told, and `why` says so."""

    equal: bool | None
    sha256: str = ""
    why: str = ""


async def look(client: ExchangeClient, task_id: str, stated: str) -> Found | Answer:
    """Fetch and compare, twice where it is unequal. An Answer is a failure that may pass."""
    found = await _once(client, task_id, stated)
    if isinstance(found, Found) and found.equal is False:
        return await _once(client, task_id, stated)
    return found


def settle(view: View, row: Row, found: Found, settled: tuple[Write, ...]) -> Plan:
    """Accept, dispute, or tell the owner; once per round."""
    task = view.store.item(CHOICE, row.task_id)
    at = format_instant(view.now())
    if task is None or task["round"] != row.round or task["state"] in _SAID[found.equal is False]:
        return Plan(writes=settled)
    if found.equal is None:
        return Plan(writes=(*settled, *_shown(view, row, at, found.why)))
    matter = Matter.of(task)
    action, kind, state = (ACCEPTANCE_GRANTED, ACCEPT, ACCEPTING) if found.equal else (
        ACCEPTANCE_REJECTED, DISPUTE, DISPUTING)
    verdict = judge(view, matter, action, view.now(matter.transaction_id))
    if not verdict.allows:
        what = "hash checked" if found.equal else MISMATCH
        return Plan(writes=(*settled, *_shown(view, row, at, f"{what}; the mandate does not allow to {kind} it")))
    scribe = scribe_of(view, matter, verdict.at)
    evidence = scribe.evidence(
        EvidenceType.DELIVERY_CONFIRMATION,
        f"content fetched from the exchange, round {row.round}: " + (
            "its hash is the stated one" if found.equal else MISMATCH), found.sha256, verified=True)
    looks = [*task.get("looks", ()), {"round": row.round, "at": at, "sha256": found.sha256, "equal": found.equal}]
    json = {"sha256": found.sha256, "notes": "SHA-256 of the content checked"} if found.equal else {"reason": MISMATCH}
    return Plan(
        transaction_id=matter.transaction_id, drafts=(scribe.decision(verdict), evidence), acts=(verdict.act,),
        writes=(
            *settled, close_items("delivery", row.task_id, "settled"),
            replace(CHOICE, row.task_id, task, {**task, "state": state, "looks": looks[-LOOKS_KEPT:]}),
            effect(kind, row.task_id, row.round, {"json": json}, view.stamp()),
            happened(row.task_id, at, f"delivery checked: {kind}")))


def _shown(view: View, row: Row, at: str, detail: str) -> tuple[Write, ...]:
    """The delivery waits for the owner, in place of what waited of it."""
    return (close_items("delivery", row.task_id, "superseded"),
            tell(f"d{view.mint()[:10]}", "delivery", row.task_id, at, detail, {**row.body, "round": row.round}))


async def _once(client: ExchangeClient, task_id: str, stated: str) -> Found | Answer:
    told = await client.call("GET", client.address("task", task_id))
    if told.passing:
        return told
    content = await client.call("GET", client.address("deliverable", task_id))
    if content.passing:
        return content
    for name, answer in (("the task", told), ("the deliverable", content)):
        if answer.status != 200 or not answer.whole:
            return Found(None, why=f"{name} could not be fetched: status {answer.status}"
                         + ("" if answer.whole else ", over 1 MB"))
    expected = _stated(read(told.body))
    if expected is None:
        return Found(None, why="the exchange's task states no usable hash")
    if expected != stated:
        return Found(None, why="the exchange states two different hashes of the delivery")
    hashes = _hashes(content.body)
    return Found(expected in hashes, expected if expected in hashes else hashes[0])


def _stated(document: Any) -> str | None:
    """The hash at `deliverable.sha256` or `task.deliverable.sha256`. These places are assumed."""
    if not isinstance(document, Mapping):
        return None
    for holder in (document, document.get("task")):
        deliverable = holder.get("deliverable") if isinstance(holder, Mapping) else None
        value = deliverable.get("sha256") if isinstance(deliverable, Mapping) else None
        if isinstance(value, str) and is_sha256_hex(value.lower()):
            return value.lower()
    return None


def _hashes(body: bytes) -> list[str]:
    """The hash of the bytes, and of the text `content` in them where there is one."""
    hashes = [sha256_hex(body)]
    document = read(body)
    content = document.get("content") if isinstance(document, Mapping) else None
    if isinstance(content, str):
        hashes.append(sha256_hex(content.encode("utf-8", "surrogatepass")))
    return hashes
