"""What the commands share: the opened member, and a line for the owner (spec 3, 10)."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from a202_mcp.one_owner.terminal import plain

if TYPE_CHECKING:
    from a202_mcp.axp.exchange import ExchangeClient
    from a202_mcp.axp.member import Member
    from a202_mcp.axp.settings import Settings


def opened(settings: Settings) -> tuple[Member, ExchangeClient]:
    """The member and a client of its exchange."""
    from a202_mcp.axp.exchange import ExchangeClient  # noqa: PLC0415 - not needed to print the help
    from a202_mcp.axp.member import open_for_owner  # noqa: PLC0415 - the same

    member = open_for_owner(settings)
    return member, ExchangeClient(settings.exchange, member.credentials)


def say(line: str) -> None:
    """One line on standard error, whatever is in it."""
    sys.stderr.write(plain(line) + "\n")
