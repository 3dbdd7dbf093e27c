"""A sandbox job: asked for, and what the exchange tells of it (axp 3, 6, 9).

Rules this module applies:

- a seller asks only for a skill of its own file: any other could not be priced;
- of an answer its texts, numbers and truths are shown, each at its place. A member whose name says that it is secret,
  and each of our secrets wherever it stands, is masked; what is no JSON is not shown.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from a202_mcp.axp.arguments import is_id
from a202_mcp.axp.exchange import ExchangeClient
from a202_mcp.axp.outgoing import Answer
from a202_mcp.axp.reading import plain, read, too_deep
from a202_mcp.axp.registration import shown
from a202_mcp.axp.secret import MASK, Credentials
from a202_mcp.axp.settings import Settings

_MOST_LINES: Final = 100
_LONGEST: Final = 300
_SECRET: Final = re.compile(r"secret|key|token|auth|password|signature", re.IGNORECASE)


def unknown_skill(settings: Settings, skill: str) -> str | None:
    """Why no job is asked for, naming the skills there are, or None. A buyer buys what it does not sell."""
    if not settings.sells or skill in settings.skills:
        return None
    return f"no skill {skill} is in the file; there are: {', '.join(settings.skills)}"


async def sandbox(client: ExchangeClient, role: str, skill: str) -> Answer:
    """Ask for a sandbox job."""
    return await client.call("POST", client.address("sandbox"), {"as": role, "task_type": skill})


async def sandbox_steps(client: ExchangeClient, answer: Answer, credentials: Credentials) -> list[str]:
    """The steps of the sandbox job that was answered, as the exchange tells them; none where it tells none."""
    document = read(answer.body)
    holder = document if isinstance(document, dict) else {}
    job = holder.get("job", holder)
    named = job.get("id") if isinstance(job, Mapping) else None
    if not answer.done or not is_id(named):
        return []
    told = await client.call("GET", client.address("sandbox_job", str(named)))
    return lines(read(told.body), credentials) if told.done else [shown(told)]


def lines(document: Any, credentials: Credentials) -> list[str]:
    """What an answer says, one line for each value."""
    if too_deep(document):
        return []
    return [credentials.masked(f"{place}: {value}")[:_LONGEST] for place, value in _values("", document)][:_MOST_LINES]


def _values(place: str, value: Any) -> Iterator[tuple[str, object]]:
    if isinstance(value, dict):
        for name, member in value.items():
            inner = f"{place}.{name}" if place else name
            yield from [(inner, MASK)] if _SECRET.search(name) else _values(inner, member)
    elif isinstance(value, list):
        for at, member in enumerate(value):
            yield from _values(f"{place}[{at}]", member)
    elif place:
        yield place, plain(value)
