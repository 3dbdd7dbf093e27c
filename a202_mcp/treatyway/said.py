"""What a command says to the owner, and with which exit status it ends (spec 4; 7, "All foreign text")."""

from __future__ import annotations

import sys

from a202_mcp.one_owner.terminal import plain

DONE, REFUSED, USAGE = 0, 1, 2
"""Done; refused by a rule; usage, an unknown id, a bad configuration."""


def say(text: str) -> None:
    """Lines on standard output, made plain where they are put together."""
    sys.stdout.write(text + "\n")


def warn(text: str) -> None:
    """A warning on standard error."""
    sys.stderr.write(f"a202-mcp seller: warning: {plain(text)}\n")


def refuse(reason: str) -> int:
    """A rule refuses it; the reason, limits included, is the owner's to read."""
    sys.stderr.write(f"a202-mcp seller: {plain(reason)}\n")
    return REFUSED


def usage(reason: str) -> int:
    """The command cannot be carried out as it was given."""
    sys.stderr.write(f"a202-mcp seller: {plain(reason)}\n")
    return USAGE
