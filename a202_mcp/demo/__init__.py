"""`a202-mcp demo`: the whole walkthrough, run as a client runs it, over real standard input and output.

Exit status: 0 where every step came out as the walkthrough states, 1 where one did not, 2 for a wrong command line.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections.abc import Sequence
from datetime import UTC, datetime

from mcp.shared.exceptions import MCPError

from a202_mcp.demo.script import Script
from a202_mcp.demo.stage import Stage
from a202_mcp.demo.walkthrough import walk
from a202_mcp.state_dir import state_dir


def main(arguments: Sequence[str]) -> int:
    """Run the demonstration and print it; the exit status."""
    parser = argparse.ArgumentParser(
        "a202-mcp demo", allow_abbrev=False,
        description="Start the server, run the walkthrough as two organisations' agents, verify the record.")
    parser.add_argument("--state-dir", metavar="DIR", help="keep the record in DIR; default: in memory")
    parser.add_argument("--json", action="store_true", help="print the transcript as JSON")
    options = parser.parse_args(arguments)
    script = Script.shifted_to(datetime.now(UTC))
    kept = state_dir(options.state_dir) if options.state_dir else None
    stage = Stage(quiet=options.json)
    stage.say(script.mapping)
    try:
        asyncio.run(walk(stage, script, kept))
    except* MCPError as lost:
        stage.lost(f"the server gave no answer: {lost.exceptions[0]}")
    if options.json:
        json.dump(stage.transcript(script.mapping), sys.stdout, ensure_ascii=False, indent=2)
        sys.stdout.write("\n")
    stage.close()
    return 0 if stage.as_stated else 1
