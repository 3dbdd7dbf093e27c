"""The nine tools, as their roles list them and as calls reach them (spec 4, 5; requirements A19 to A24)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final, TypeAlias

from a202_mcp import logs
from a202_mcp.axp import do_task, plain_tools, published, quote
from a202_mcp.axp.arguments import Call, read_call
from a202_mcp.axp.buying import receive_offers
from a202_mcp.axp.member import Member
from a202_mcp.axp.patience import shortly
from a202_mcp.axp.reading import plain
from a202_mcp.axp.updates import task_update
from a202_mcp.axp.view import Plan, View
from a202_mcp.state_file import is_trouble, trouble

_Planner: TypeAlias = Callable[[View, Call], Plan]

_TOOLS: Final[Mapping[str, _Planner]] = {
    "contact_test": plain_tools.contact_test,
    "quote": quote.plan,
    "do_task": do_task.plan,
    "receive_offers": receive_offers,
    "get_skills": plain_tools.get_skills,
    "task_update": task_update,
    "announcement": plain_tools.announcement,
    "mediation": plain_tools.mediation,
    "review": plain_tools.review,
}
_DECIDING: Final = frozenset({"quote", "do_task"})
"""The tools whose answers depend on the mandate's status."""
_READ_ONLY: Final = frozenset({"contact_test", "get_skills"})
"""The tools that never write: their answers wait for nobody who does."""


def listed(roles: tuple[str, ...]) -> list[dict[str, Any]]:
    """The tools of these roles, with their published schemas."""
    return [
        {"name": tool["name"], "description": tool["description"], "inputSchema": tool["inputSchema"]}
        for tool in published.tools() if not set(roles).isdisjoint(tool["roles"])]


async def call_tool(member: Member, name: object, arguments: object, raw: bytes) -> tuple[dict[str, Any], bool]:
    """The tool's answer, and whether it is an error. A defect of ours says only that it is one."""
    try:
        return await _called(member, name, arguments, raw)
    except Exception as error:
        if is_trouble(error):
            logs.say(f"a call was not answered: {trouble(error) or type(error).__name__}")
        else:
            logs.defect(str(name) if name in _TOOLS else "a tool call", error)
        return {"error": "internal error"}, True


async def _called(member: Member, name: object, arguments: object, raw: bytes) -> tuple[dict[str, Any], bool]:
    tool = next((each for each in published.tools() if each["name"] == name), None)
    if tool is None or set(member.settings.roles).isdisjoint(tool["roles"]):
        return {"error": "unknown tool"}, True
    call = read_call(tool["inputSchema"], arguments, raw)
    if isinstance(call, str):
        return {"error": call}, True

    def planned(view: View) -> Plan:
        return _TOOLS[str(name)](view, call)

    if call.test or name in _READ_ONLY:
        plan = await shortly(partial(member.dry, planned))
    else:
        if name in _DECIDING:
            await member.refresh()
        plan = await shortly(partial(member.carry_out, planned))
    if plan.error is not None:
        return {"error": plan.error}, True
    return dict(plain(plan.answer)), False
