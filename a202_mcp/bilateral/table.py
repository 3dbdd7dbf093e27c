"""The table of the seven tools for a reader: `python -m a202_mcp.bilateral.table` prints it as Markdown."""

from __future__ import annotations

import re
import sys

from a202_mcp.bilateral.tools import TOOLS

_FIRST_SENTENCE = re.compile(r"(.+?)(?:\.(?:\s|$)|:\n)", re.DOTALL)


def table() -> str:
    """One row a tool: its name, the first sentence of its description, and whether it records or reads."""
    rows = ["| Tool | What it does | Effect |", "|---|---|---|"]
    for tool in TOOLS:
        found = _FIRST_SENTENCE.match(tool.description)
        sentence = found[1] if found else tool.description
        rows.append(f"| `{tool.name}` | {sentence} | {'Reads' if tool.reads else 'Records'} |")
    return "\n".join(rows) + "\n"


if __name__ == "__main__":
    sys.stdout.write(table())
