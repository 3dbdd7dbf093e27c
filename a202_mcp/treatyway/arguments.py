"""The command line of `a202-mcp seller` (spec 4)."""

from __future__ import annotations

import argparse
from typing import Any

from a202_mcp.command_line import address, host, port, text


def parser() -> argparse.ArgumentParser:
    """Serving, and the owner's commands."""
    found = argparse.ArgumentParser(
        "a202-mcp seller", allow_abbrev=False,
        description="Serve a shop by the Treatyway MCP contract, or run one of the owner's commands.")
    found.add_argument("--config", default="seller.toml", metavar="FILE", help="the shop's file (default seller.toml)")
    found.add_argument("--state-dir", metavar="DIR", help="where the record is kept; wins over the file")
    found.add_argument("--transport", choices=["stdio", "http"], default="stdio")
    found.add_argument("--host", type=host, default="127.0.0.1")
    found.add_argument("--port", type=port, default=8401)
    found.add_argument("--forwarded-by", type=address, metavar="ADDR", help="the proxy whose X-Forwarded-For counts")
    commands = found.add_subparsers(dest="command", metavar="COMMAND")
    _commands(commands)
    for each in commands.choices.values():
        each.add_argument("--config", dest="config_after", metavar="FILE", help="the shop's file")
        each.add_argument("--state-dir", dest="state_dir_after", metavar="DIR", help="where the record is kept")
    return found


def _commands(commands: Any) -> None:
    """The commands' own arguments."""
    for name, said in (("check", "judge the configuration"), ("init", "make keys, issue the mandate"),
                       ("key", "print who this shop is, and its public keys")):
        commands.add_parser(name, help=said)
    inbox_parser = commands.add_parser("inbox", help="what waits for a person")
    inbox_parser.add_argument("--all", action="store_true", help="also what is done")
    inbox_parser.add_argument("--json", action="store_true")
    answer = commands.add_parser("answer", help="answer a quote, an order or a message")
    answer.add_argument("id", type=text)
    for option, said in (("--price", "quote this amount"), ("--currency", "its currency"),
                         ("--valid-for", "how long it stands, such as 7d"), ("--text", "text for the buyer"),
                         ("--as", "your name, as the buyer reads it"), ("--reason", "why it is rejected")):
        answer.add_argument(option, type=text, help=said, dest="name" if option == "--as" else None)
    answer.add_argument("--approve", action="store_true", help="release what is held")
    answer.add_argument("--reject", action="store_true", help="refuse it")
    status = commands.add_parser("status", help="show or set the status of a quote or order")
    status.add_argument("id", type=text)
    status.add_argument("--set", type=text, metavar="WORD", dest="word")
    status.add_argument("--summary", type=text)
    status.add_argument("--json", action="store_true")
    stock = commands.add_parser("stock", help="show or set the count of a good")
    stock.add_argument("offer", type=text)
    stock.add_argument("count", type=text, nargs="?")
    mandate = commands.add_parser("mandate", help="show the mandate, or switch it")
    mandate.add_argument("act", choices=["show", "suspend", "resume", "revoke"])
