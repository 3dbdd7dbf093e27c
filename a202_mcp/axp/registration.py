"""Becoming a member: the registration, and trying it out (axp 3, 6; requirement A80).

Rules this module applies:

- the answer's id and both secrets are stored with mode 0600, in the files that [secrets] names or in the state folder,
  all of them or none, and are never printed. That they can be stored is tried before the exchange is asked, since what
  it answers once it never says again;
- where the configuration names something else than what was stored, that wins, and the owner is told;
- a member that is registered already is not registered again unless asked.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from a202_mcp.axp.configuration import is_member_id
from a202_mcp.axp.exchange import ExchangeClient
from a202_mcp.axp.member import Member
from a202_mcp.axp.outgoing import Answer
from a202_mcp.axp.plain_tools import skill_list
from a202_mcp.axp.reading import read
from a202_mcp.axp.secret import FOLDER, is_secret
from a202_mcp.one_owner.private_files import try_over, write_over
from a202_mcp.version import version

_MEMBER_ID: Final = "member_id"
_JUDGES: Final = {_MEMBER_ID: is_member_id, "member_secret": is_secret, "platform_key": is_secret}
"""What is stored of the answer, and what it must be."""


@dataclass(frozen=True, slots=True)
class Registered:
    """It is done. notes: what the owner still has to change in the configuration."""

    notes: tuple[str, ...]


async def register(member: Member, client: ExchangeClient) -> Registered | str:
    """Register and store what the exchange answered; or why not."""
    body, places = _body(member), {name: _place(member, name) for name in _JUDGES}
    reason = body if isinstance(body, str) else _unwritable(places)
    if reason is not None:
        return reason
    answer = await client.call("POST", client.address("register"), body, signed_in=False)  # type: ignore[arg-type]
    if not answer.done:
        return f"the exchange did not register us: {shown(answer)}"
    found = _found(answer)
    unusable = [name for name, judge in _JUDGES.items() if not judge(found[name])]
    if unusable:
        return f"the exchange's answer holds no usable {', '.join(unusable)}; nothing was stored"
    try:
        write_over({place: found[name].encode("utf-8") for name, place in places.items()})
    except OSError as broken:
        return f"registered, but nothing could be stored: {broken.strerror}; make room and register --again"
    return Registered(_notes(member, found, places))


def _found(answer: Answer) -> dict[str, Any]:
    """The id and both secrets, as the answer has them."""
    document = read(answer.body)
    document = document if isinstance(document, dict) else {}
    inner = document.get("member")
    inner_id = inner.get("id") if isinstance(inner, Mapping) else None
    return {**{name: document.get(name) for name in _JUDGES}, _MEMBER_ID: inner_id or document.get(_MEMBER_ID)}


def _unwritable(places: Mapping[str, Path]) -> str | None:
    for name, place in places.items():
        try:
            try_over(place)
        except OSError as broken:
            return f"{name} could not be stored in {place.parent.name}/{place.name}: {broken.strerror}"
    return None


def _notes(member: Member, found: Mapping[str, str], places: Mapping[str, Path]) -> tuple[str, ...]:
    """What stands in the configuration and wins over what was stored."""
    configured = member.credentials.configured_id
    notes = [] if configured in (None, found[_MEMBER_ID]) else [
        f"member.member_id is {configured}, and the exchange gave us {found[_MEMBER_ID]}: change it, or take it out"]
    for name in _JUDGES:
        source = member.settings.secrets.get(name)
        if source is not None and source.kind == "env":
            notes.append(f"secrets.{name} names the environment variable {source.name}, which wins over what is "
                         f"stored: set it to what {places[name]} holds, or take it out")
    return tuple(notes)


async def helper(client: ExchangeClient, call: str) -> Answer:
    """Ask the exchange to verify or to run its conformance calls."""
    return await client.call("POST", client.address(call), {})


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
    if token is None and member.credentials.demands_token():
        return "secrets.auth_token is named in the configuration, and missing"
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
