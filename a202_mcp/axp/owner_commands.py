"""What the owner asks and decides beside the running server: inbox, approve, status, task, mandate, key (spec 3)."""

from __future__ import annotations

import argparse
import asyncio
import json
from collections.abc import Callable, Mapping
from typing import Any, Final

from a202_mcp.axp import owner
from a202_mcp.axp.arguments import is_id
from a202_mcp.axp.buying import CHOICE, OFFERS, list_task
from a202_mcp.axp.capacity import SOLD
from a202_mcp.axp.enrolment import enrol, open_workspace, own_store
from a202_mcp.axp.identity import Identity
from a202_mcp.axp.mandate_commands import turn
from a202_mcp.axp.mandate_status import StatusReader
from a202_mcp.axp.offering import OFFERED, TRADE
from a202_mcp.axp.terminal import opened, say
from a202_mcp.one_owner.terminal import plain


def _inbox(settings: Any, options: argparse.Namespace) -> int:
    member, _ = opened(settings)
    items = [
        {"id": item.id, "kind": item.kind, "task_id": item.task_id, "status": item.status, "detail": item.detail}
        for item in member.store.inbox(everything=options.all)]
    if options.json:
        print(json.dumps({"items": items}))
        return 0
    for item in items:
        print("  ".join(plain(item[name]) for name in ("id", "kind", "status", "task_id", "detail")))
    if not items:
        print("nothing waits")
    return 0


def _decided(settings: Any, options: argparse.Namespace) -> int:
    member, _ = opened(settings)
    item = member.store.inbox_item(options.id)
    if item is None:
        say("no item of this id waits or waited here")
        return 2
    asyncio.run(StatusReader(member).refresh())
    try:
        done = owner.approve(member, item) if options.command == "approve" else owner.reject(member, item)
    except owner.RefusedError as refused:
        say(str(refused))
        return 1
    print(done)
    return 0


def _task(settings: Any, options: argparse.Namespace) -> int:
    if not is_id(options.id):
        say("a task's id is 1 to 200 characters without control characters")
        return 2
    member, _ = opened(settings)
    member.carry_out(lambda view: list_task(view, options.id))
    print("listed")
    return 0


def _status(settings: Any, options: argparse.Namespace) -> int:
    member, _ = opened(settings)
    kinds = ((SOLD, "seller", ""), (CHOICE, "buyer", ""), (OFFERED, "seller", "quoted"), (OFFERS, "buyer", "offers"))
    for kind, role, state in kinds:
        kept = member.store.item(kind, options.id)
        if kept is None:
            continue
        trade = member.store.item(TRADE, f"{role}:{options.id}") or {}
        shown = {"task_id": options.id, "role": role, "state": state or kept["state"],
                 "transaction_id": trade.get("transaction_id"), "one_sided": True,
                 "events": member.store.history(options.id)}
        print(json.dumps(shown) if options.json else "\n".join(
            [*(f"{name}: {plain(str(shown[name]))}" for name in ("task_id", "role", "state", "transaction_id")),
             *(f"{each['at']}  {each['event']}" for each in shown["events"])]))
        return 0
    say("no task of this id is known here")
    return 2


def _mandate(settings: Any, options: argparse.Namespace) -> int:
    return turn(settings.state_dir, options.action)


def _key(settings: Any, _: argparse.Namespace) -> int:
    space = open_workspace(settings.state_dir)
    identity = Identity.kept(own_store(space).item("identity", "self")) or enrol(settings, space)
    keys = {name: space.store.key(key_id) for name, key_id in (
        ("agent_key", identity.agent_key_id), ("owner_key", identity.owner_key_id))}
    print(json.dumps({
        "organization_id": identity.organization_id, "agent_id": identity.agent_id,
        "principal_id": identity.principal_id,
        **{name: None if held is None else {"key_id": held.key_id, "jwk": held.public.jwk}
           for name, held in keys.items()}}, indent=1))
    return 0


COMMANDS: Final[Mapping[str, Callable[[Any, argparse.Namespace], int]]] = {
    "inbox": _inbox, "approve": _decided, "reject": _decided, "task": _task, "status": _status, "mandate": _mandate,
    "key": _key,
}
