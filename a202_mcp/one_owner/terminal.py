"""Foreign text on the owner's terminal (treatyway 7; axp 10): plain text, no markup, what does not print as escapes."""

from __future__ import annotations

import io
import sys


def plain(text: str) -> str:
    """The text, each character that is not printable (control, direction, invisible) as its escape."""
    return "".join(each if each.isprintable() else ascii(each)[1:-1] for each in text)


def show_everything() -> None:
    """From now on print a character that the terminal's encoding does not have as its escape."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
