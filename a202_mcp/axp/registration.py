"""Becoming a member, and trying it out: register, verify, conformance, sandbox (spec 3, 6; requirement A80).

Rules this module applies:

- the answer's id and both secrets are stored with mode 0600, in the files that [secrets] names or in the state folder,
  and are never printed;
- a member that is registered already is not registered again unless asked.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from a202_mcp.axp.arguments import is_id
from a202_mcp.axp.exchange import ExchangeClient
from a202_mcp.axp.member import Member
from a202_mcp.axp.outgoing import Answer
from a202_mcp.axp.plain_tools import skill_list
from a202_mcp.axp.reading import read
from a202_mcp.axp.secret import FOLDER
from a202_mcp.one_owner.private_files import write_over
from a202_mcp.version import version

_STORED: Final = ("member_secret", "platform_key")


async def register(member: Member, client: ExchangeClient) -> str | None:
    """Register and store what the exchange answered; why not, or None."""
    body = _body(member)
    if isinstance(body, str):
        return body
    answer = await client.call("POST", client.address("register"), body, signed_in=False)
    if not answer.done:
        return f"the exchange did not register us: {shown(answer)}"
    document = read(answer.body)
    document = document if isinstance(document, dict) else {}
    inner = document.get("member")
    member_id = inner.get("id") if isinstance(inner, Mapping) else None
    found = {"member_id": member_id or document.get("member_id"), **{name: document.get(name) for name in _STORED}}
    missing = [name for name, value in found.items() if not isinstance(value, str) or not value]
    if missing:
        return f"the exchange's answer holds no {', '.join(missing)}; nothing was stored"
    for name, value in found.items():
        write_over(_place(member, name), str(value).encode("utf-8"))
    return None


async def helper(client: ExchangeClient, call: str) -> Answer:
    """Ask the exchange to verify or to run its conformance calls."""
    return await client.call("POST", client.address(call), {})


async def sandbox(client: ExchangeClient, role: str, skill: str) -> Answer:
    """Ask for a sandbox job."""
    return await client.call("POST", client.address("sandbox"), {"as": role, "task_type": skill})


async def sandbox_steps(client: ExchangeClient, answer: Answer) -> str:
    """The steps of the sandbox job that was answered, as the exchange tells them; empty where it tells none."""
    document = read(answer.body)
    holder = document if isinstance(document, dict) else {}
    job = holder.get("job", holder)
    named = job.get("id") if isinstance(job, Mapping) else None
    if not answer.done or not is_id(named):
        return ""
    told = await client.call("GET", client.address("sandbox_job", str(named)))
    return told.body.decode("utf-8", "replace")[:2000] if told.done else shown(told)


def shown(answer: Answer) -> str:
    """An answer for the terminal: its status, never its body, which may hold a secret."""
    return answer.failure or f"status {answer.status}"


def _place(member: Member, name: str) -> Path:
    source = member.settings.secrets.get(name)
    if source is not None and source.kind == "file":
        return Path(source.name)
    return member.settings.state_dir / FOLDER / name


def _body(member: Member) -> dict[str, Any] | str:
    settings = member.settings
    if settings.contact_email is None or settings.mcp_url is None:
        return "member.contact_email and member.mcp_url are needed to register"
    token = member.credentials.auth_token
    return {
        "roles": list(settings.roles),
        "name": settings.name,
        "contact_email": settings.contact_email,
        "mcp_url": settings.mcp_url,
        **({} if token is None else {"auth_token": token.value}),
        "skills": skill_list(member.view) if settings.sells else [],
        "identity": {"agent_framework": "a202-mcp", "agent_model": version(), "operator_name": settings.name,
                     "operator_website": ""},
    }
