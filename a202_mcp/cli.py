"""The command line (surface 7). `--version` and `--help` import nothing heavy; each command imports its own.

Exit status: 0 done, 2 the command line was wrong; the commands state what else they return.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import signal
import sys
from collections.abc import Callable, Sequence
from functools import partial
from importlib import import_module
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Final

from a202_mcp.state_dir import PROFILES, VARIABLE, profile_dirs, state_dir

if TYPE_CHECKING:
    from a202_mcp.workspace import Workspace
    from a202_reference.profiles import ProfileRegistry

_USAGE = f"""\
usage: a202-mcp [--state-dir DIR] [--profiles DIR]   serve MCP on standard input and output
       a202-mcp demo [--state-dir DIR] [--json]
       a202-mcp export TRANSACTION --state-dir DIR [-o FILE]
       a202-mcp verify FILE [--rules-version V] [--trust KEYS] [--format text|json|html]
       a202-mcp config claude-code|claude-desktop [--state-dir DIR]
       a202-mcp seller [COMMAND] --config FILE
       a202-mcp member [COMMAND] --config FILE

Mandates, decisions, agreements and a verifiable record for agents that buy and sell directly.

commands (each takes --help):
  demo     run the whole walkthrough against a real server and verify the record
  export   write a transaction's bundle, with which a stranger can verify it
  verify   run the seven verification steps over a bundle, offline; - reads standard input
  config   print the configuration block for an agent client
  seller   serve a shop by the Treatyway contract, or answer its inbox
  member   serve an agent that works on the ManyLives exchange, or work on its inbox

options:
  --state-dir DIR  keep the record in DIR (else ${VARIABLE}, else in memory);
                   ~ and variables are expanded, the directory is made when it is missing
  --profiles DIR   add the profile schemas in DIR to the installed ones (else ${PROFILES}); may be repeated
  --version        print the version
  --help           print this text
"""

_COMMANDS: Final = {
    "demo": ("a202_mcp.demo", "main"),
    "export": ("a202_mcp.export", "run"),
    "seller": ("a202_mcp.treatyway.main", "run"),
    "verify": ("a202_mcp.verify", "run"),
    "member": ("a202_mcp.axp.commands", "run"),
}
_CLIENTS: Final = ("claude-code", "claude-desktop")
_UNINSTALLED: Final = "0+unknown"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; the exit status."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    command = given[0] if given else ""
    if command in _COMMANDS:
        module, function = _COMMANDS[command]
        run: Callable[[list[str]], int] = getattr(import_module(module), function)
        return run(given[1:])
    return _config(given[1:]) if command == "config" else _serve(given)


def _serve(given: list[str]) -> int:
    parser = argparse.ArgumentParser("a202-mcp", add_help=False, allow_abbrev=False)
    parser.add_argument("--state-dir")
    parser.add_argument("--profiles", action="append", default=[])
    parser.add_argument("--version", action="store_true")
    parser.add_argument("-h", "--help", action="store_true")
    options, unknown = parser.parse_known_args(given)
    if options.help:
        print(_USAGE, end="")
        return 0
    if options.version:
        print(f"a202-mcp {_version()}")
        return 0
    if unknown:
        print(f"a202-mcp: unknown command or option: {unknown[0]}; see a202-mcp --help", file=sys.stderr)
        return 2
    return _serve_stdio(options.state_dir, options.profiles)


def _serve_stdio(option: str | None, profile_folders: list[str]) -> int:
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _leave)
    if sys.stdin is not None and sys.stdin.isatty():
        print(
            "a202-mcp: this is an MCP server for an agent client and waits for protocol lines; "
            "end it with Ctrl-C, see a202-mcp --help for the commands",
            file=sys.stderr,
        )
    gc.disable()  # importing makes no garbage worth a search, and the searches cost a tenth of the start
    from a202_mcp.bilateral.main import serve  # noqa: PLC0415 - the server's libraries are heavy
    from a202_mcp.bilateral.tools import TOOLS  # noqa: PLC0415 - the same

    gc.freeze()
    gc.enable()
    folders = profile_dirs(profile_folders)
    try:
        profiles = _profiles(folders) if folders else None
    except (OSError, ValueError) as broken:
        print(f"a202-mcp: a profile folder cannot be used: {broken}", file=sys.stderr)
        return 2
    return serve(TOOLS, partial(_workspace, state_dir(option), profiles))


def _workspace(place: Path | None, profiles: ProfileRegistry | None) -> Workspace:
    from a202_mcp.workspace import Workspace  # noqa: PLC0415 - the core, which the tool list does without (ADR 11)

    return Workspace.open(place, profiles)


def _profiles(folders: list[Path]) -> ProfileRegistry:
    from a202_reference.profiles import ProfileRegistry  # noqa: PLC0415 - the schema library is heavy

    return ProfileRegistry.load(folders)


def _leave(number: int, _: FrameType | None) -> None:
    """A signal before anything was served: nothing to finish."""
    os._exit(128 + number)


def _config(given: list[str]) -> int:
    parser = argparse.ArgumentParser("a202-mcp config", allow_abbrev=False)
    parser.add_argument("client", choices=_CLIENTS, help="the agent client to configure")
    parser.add_argument("--state-dir", metavar="DIR", help="keep the record in DIR")
    options = parser.parse_args(given)
    kept = state_dir(options.state_dir) if options.state_dir else None
    environment = {VARIABLE: str(kept)} if kept is not None else {}
    if _version() == _UNINSTALLED:  # runs from a checkout, which the client's process would not find
        environment["PYTHONPATH"] = str(Path(__file__).resolve().parent.parent)
    server: dict[str, object] = {"command": sys.executable, "args": ["-P", "-m", "a202_mcp"]}
    if environment:
        server["env"] = environment
    print(json.dumps({"mcpServers": {"a202": server}}, indent=2))
    return 0


def _version() -> str:
    from a202_mcp.version import version  # noqa: PLC0415 - reads the list of installed packages

    return version()
