"""What the commands share: the opened member, and text for a terminal (spec 3, 10)."""

from __future__ import annotations

import sys
import unicodedata
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from a202_mcp.axp.exchange import ExchangeClient
    from a202_mcp.axp.member import Member
    from a202_mcp.axp.settings import Settings


def opened(settings: Settings) -> tuple[Member, ExchangeClient]:
    """The member and a client of its exchange."""
    from a202_mcp.axp.exchange import ExchangeClient  # noqa: PLC0415 - not needed to print the help
    from a202_mcp.axp.member import open_member  # noqa: PLC0415 - the same

    member = open_member(settings)
    return member, ExchangeClient(settings.exchange, member.credentials)


def plain(text: str) -> str:
    """Foreign text for a terminal: control, bidi and other invisible characters as escapes."""
    return "".join(
        each if each == " " or unicodedata.category(each)[0] not in "CZ" else ascii(each)[1:-1] for each in text)


def say(line: str) -> None:
    """One line on standard error."""
    sys.stderr.write(line + "\n")
