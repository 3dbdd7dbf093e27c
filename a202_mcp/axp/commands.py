"""`a202-mcp member …` (spec 3): serve, and what the owner does beside the running server.

Exit status: 0 done; 1 refused by a rule; 2 usage, unknown id or configuration.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from a202_mcp.axp.secret import NAMES
from a202_mcp.axp.terminal import opened, say
from a202_mcp.command_line import host, port, text
from a202_mcp.one_owner.terminal import plain, show_everything
from a202_mcp.state_dir import expanded, state_dir
from a202_mcp.state_file import trouble

_EPILOG: Final = "Exit status: 0 done; 1 refused by a rule; 2 usage, unknown id or configuration."
DEFAULT_PORT: Final = 8402
_STATE_DIR: Final = "member-state"
_SECRETS_NEEDED: Final[dict[str, tuple[str, ...]]] = {
    **dict.fromkeys(("serve", "check", "sandbox"), NAMES), "register": ("auth_token",)}
"""The secrets that must be there, where the configuration names them, by command; none for the owner's others."""
_WHOLE: Final = ("serve", "check", "init")
"""Those for which all of the file counts; the owner's others work with the mandates in force."""


def run(arguments: Sequence[str]) -> int:
    """Run one command; the exit status."""
    show_everything()
    options = _parser().parse_args(list(arguments))
    from a202_mcp.one_owner.issuing import NotReadyError  # noqa: PLC0415 - not needed to print the help
    from a202_mcp.one_owner.keyfiles import KeyFileError  # noqa: PLC0415 - the same

    file = expanded(options.config)
    try:
        return _run(file, options)
    except (NotReadyError, KeyFileError) as reason:
        say(f"{file.name}: {reason}")
        return 2
    except (OSError, sqlite3.Error) as broken:
        say(f"the state folder cannot be used: {trouble(broken) or type(broken).__name__}")
        return 2


def _run(file: Path, options: argparse.Namespace) -> int:
    from a202_mcp.axp import configuration  # noqa: PLC0415 - not needed to print the help

    given = state_dir(options.state_dir) if options.state_dir else None
    settings = configuration.load(
        file, needed=_SECRETS_NEEDED.get(options.command, ()), mandate_counts=options.command in _WHOLE)
    if isinstance(settings, list):
        for line in settings:
            say(line)
        return _turned_all_the_same(file, given, options.action) if options.command == "mandate" else 2
    for warning in settings.warnings:
        say(f"{file.name}: warning: {warning}")
    return _command(options.command)(replace(settings, state_dir=given or settings.state_dir), options)


def _turned_all_the_same(file: Path, given: Path | None, action: str) -> int:
    """Stopping the agent does not wait for a file that is in order, where the state folder is known."""
    from a202_mcp.axp.mandate_commands import turn  # noqa: PLC0415 - not needed to print the help
    from a202_mcp.one_owner.configuration import state_dir_in  # noqa: PLC0415 - the same

    folder = given or state_dir_in(file, _STATE_DIR)
    if folder is None:
        say("the state folder cannot be read from that file: name it with --state-dir")
        return 2
    return turn(folder, action)


def _command(name: str) -> Callable[[Any, argparse.Namespace], int]:
    from a202_mcp.axp.owner_commands import COMMANDS  # noqa: PLC0415 - not needed to print the help

    return {**_COMMANDS, **COMMANDS}[name]


def _parser() -> argparse.ArgumentParser:
    shared = argparse.ArgumentParser(add_help=False)
    shared.add_argument("--config", metavar="FILE", default="member.toml", help="the configuration")
    shared.add_argument("--state-dir", metavar="DIR", help="keep the state in DIR, wherever the configuration says")
    top = argparse.ArgumentParser(
        "a202-mcp member", allow_abbrev=False, epilog=_EPILOG, parents=[shared],
        description="Serve a ManyLives AXP/1 member, or work on what waits for its owner.")
    _serving_options(top)
    top.set_defaults(command="serve")
    commands = top.add_subparsers(title="commands", metavar="COMMAND")

    def add(name: str, said: str) -> argparse.ArgumentParser:
        # A subcommand's own defaults must not undo what was given before it.
        kept = argparse.ArgumentParser(add_help=False, argument_default=argparse.SUPPRESS)
        kept.add_argument("--config", metavar="FILE", help="the configuration")
        kept.add_argument("--state-dir", metavar="DIR", help="keep the state in DIR")
        parser = commands.add_parser(name, help=said, description=said, parents=[kept], epilog=_EPILOG)
        parser.set_defaults(command=name)
        return parser

    add("check", "validate the configuration and print it, each secret as set or missing")
    add("init", "make the keys and issue the mandate from [mandate]")
    add("register", "register with the exchange and store the secrets").add_argument(
        "--again", action="store_true", help="also where we are registered already")
    commands.choices["register"].add_argument(
        "--check", action="store_true", help="then ask the exchange to verify us and to run its conformance calls")
    add("sandbox", "ask the exchange for a sandbox job").add_argument("skill", type=text, metavar="SKILL")
    inbox = add("inbox", "what waits for the owner")
    inbox.add_argument("--all", action="store_true", help="also what is settled")
    inbox.add_argument("--json", action="store_true")
    add("approve", "release what waits").add_argument("id", type=text, metavar="ID")
    add("reject", "refuse or close what waits").add_argument("id", type=text, metavar="ID")
    task = add("task", "list a task of ours, so that offers for it may be chosen")
    task.add_argument("action", choices=("add",))
    task.add_argument("id", type=text, metavar="TASK")
    status = add("status", "show one task")
    status.add_argument("id", type=text, metavar="TASK")
    status.add_argument("--json", action="store_true")
    add("mandate", "the mandates and their local switch").add_argument(
        "action", choices=("show", "suspend", "resume", "revoke"))
    add("key", "print our identifiers and public keys")
    return top


def _serving_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--host", type=host, default="127.0.0.1", help="the address to listen on (default 127.0.0.1)")
    parser.add_argument("--port", type=port, default=DEFAULT_PORT, help=f"the port (default {DEFAULT_PORT})")


def _serve(settings: Any, options: argparse.Namespace) -> int:
    from a202_mcp import logs  # noqa: PLC0415 - the server's libraries are heavy
    from a202_mcp.axp.member import open_member  # noqa: PLC0415 - the same
    from a202_mcp.axp.serving import LockedError, lock, serve  # noqa: PLC0415 - the same
    from a202_mcp.listening import listen  # noqa: PLC0415 - the same
    from a202_mcp.one_owner.web import is_loopback  # noqa: PLC0415 - the same

    logs.quieten_libraries()
    settings.state_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
    try:
        lock(settings.state_dir)
    except LockedError:
        say("another server uses this state folder")
        return 2
    member = open_member(settings)
    try:
        listening = listen(options.host, options.port)
    except OSError as unusable:
        say(f"{options.host} port {options.port} cannot be listened on: {unusable.strerror}")
        return 2
    if not is_loopback(options.host):
        say("warning: this address is not loopback; put TLS in front of it")
    if member.credentials.platform_key is None or member.credentials.member_id is None:
        say("not registered yet: every call is refused until `a202-mcp member register`")
    gc.freeze()
    asyncio.run(serve(member, options.host, listening))
    member.workspace.close()
    return 0


def _check(settings: Any, _: argparse.Namespace) -> int:
    from a202_mcp.axp.printed import lines  # noqa: PLC0415 - not needed to print the help

    for line in lines(settings):
        print(plain(line))
    return 0


def _init(settings: Any, _: argparse.Namespace) -> int:
    from a202_mcp.axp.enrolment import initialise, open_workspace  # noqa: PLC0415 - not needed to print the help

    identity = initialise(settings, open_workspace(settings.state_dir))
    for use, mandate_id in identity.mandates.items():
        print(f"mandate for {use}: {mandate_id}")
    return 0


def _register(settings: Any, options: argparse.Namespace) -> int:
    from a202_mcp.axp.registration import helper, register, shown  # noqa: PLC0415 - not needed to print the help

    member, client = opened(settings)
    if member.credentials.member_id is not None and member.credentials.platform_key is not None and not options.again:
        say("this member is registered already: --again replaces its secrets")
        return 1
    done = asyncio.run(register(member, client))
    if isinstance(done, str):
        say(done)
        return 1
    print("registered; the secrets are stored")
    for note in done.notes:
        say(note)
    if not options.check:
        return 0
    _, client = opened(settings)
    failed = 0
    for call in ("verify", "conformance"):
        answer = asyncio.run(helper(client, call))
        print(f"{call}: {shown(answer)}")
        failed |= not answer.done
    return failed


def _sandbox(settings: Any, options: argparse.Namespace) -> int:
    from a202_mcp.axp.registration import shown  # noqa: PLC0415 - not needed to print the help
    from a202_mcp.axp.sandbox import sandbox, sandbox_steps, unknown_skill  # noqa: PLC0415 - the same

    unknown = unknown_skill(settings, options.skill)
    if unknown is not None:
        say(unknown)
        return 2
    member, client = opened(settings)
    answer = asyncio.run(sandbox(client, "seller" if settings.sells else "buyer", options.skill))
    print(f"sandbox: {shown(answer)}")
    for step in asyncio.run(sandbox_steps(client, answer, member.credentials)):
        print(plain(step))
    return 0 if answer.done else 1


_COMMANDS: Final[dict[str, Callable[[Any, argparse.Namespace], int]]] = {
    "serve": _serve, "check": _check, "init": _init, "register": _register, "sandbox": _sandbox}

main = run
