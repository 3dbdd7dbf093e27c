"""`a202-mcp export TRANSACTION --state-dir DIR [-o FILE]`: write a transaction's bundle (surface 6, 7).

Exit status: 0 written, 1 all of it is private to its owner, 2 nothing is held under that id, or the state or the file
cannot be used.
"""

from __future__ import annotations

import argparse
import json
import os
import sqlite3
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from a202_mcp import command_line
from a202_mcp.state_dir import VARIABLE, state_dir


def run(arguments: Sequence[str]) -> int:
    """Export one bundle; the exit status."""
    parser = argparse.ArgumentParser(
        "a202-mcp export", allow_abbrev=False,
        description="Write the bundle with which a stranger can verify a transaction.")
    parser.add_argument("transaction", type=command_line.text, metavar="TRANSACTION", help="the transaction's id")
    parser.add_argument("--state-dir", metavar="DIR", help=f"where the record is kept (else ${VARIABLE})")
    parser.add_argument("--private", action="store_true",
                        help="of a one-sided record: also the decisions that deny or hold, and their acts")
    parser.add_argument("--without-mandate", action="store_true",
                        help="of a one-sided record: leave out the mandate, its decisions and acts")
    parser.add_argument("-o", "--output", metavar="FILE", help="the file to write (else standard output)")
    options = parser.parse_args(list(arguments))
    directory = state_dir(options.state_dir)
    if directory is None:
        return _refused(f"name the state directory: --state-dir DIR, or ${VARIABLE}")
    if not directory.is_dir():
        return _refused(f"there is no directory {directory}")
    try:
        bundle = _bundle(directory, options.transaction)
    except (OSError, sqlite3.Error) as broken:
        return _refused(f"the state in {directory} cannot be read: {broken}")
    if bundle is None:
        return _refused(f"nothing is held under {options.transaction!r} in {directory}")
    bundle = _disclosed(bundle, options.private, options.without_mandate)
    if bundle is None:
        return _refused(
            f"{options.transaction} holds nothing but decisions, which are the owner's: --private gives them away", 1)
    if options.output is not None and Path(options.output).absolute().resolve().is_relative_to(directory.resolve()):
        return _refused(f"{options.output} lies in the state directory: a bundle is written elsewhere")
    try:
        _write(bundle, options.output)
    except OSError as broken:
        return _refused(f"{options.output or 'standard output'} cannot be written: {broken}")
    return 0


def _bundle(directory: Path, transaction_id: str) -> Mapping[str, Any] | None:
    from a202_mcp.workspace import Workspace  # noqa: PLC0415 - the store is not needed to print the help

    workspace = Workspace.open(directory)
    try:
        return workspace.bundle(transaction_id)
    finally:
        workspace.close()


def _disclosed(bundle: Mapping[str, Any], private: bool, without_mandate: bool) -> Mapping[str, Any] | None:
    """The bundle; of a one-sided record what its owner gives away, if anything. It warns where that states limits."""
    from a202_mcp.one_sided import disclosed_part, is_one_sided  # noqa: PLC0415 - not needed to print the help

    if not is_one_sided(bundle):
        return bundle
    part = disclosed_part(bundle, private=private, without_mandate=without_mandate)
    if part is not None and part["mandates"]:
        sys.stderr.write("a202-mcp export: warning: the mandate in this bundle states its limits; --without-mandate "
                         "leaves it out\n")
    return part


def _write(bundle: Mapping[str, Any], output: str | None) -> None:
    """One member a line at the top, so that two bundles can be compared by eye; ASCII, so that nothing is mangled."""
    text = json.dumps(bundle, indent=1) + "\n"
    if output is None:
        sys.stdout.write(text)
        sys.stdout.flush()
    else:
        _replace(Path(output), text)


def _replace(file: Path, text: str) -> None:
    """The whole file or nothing of it, readable for its owner only: a bundle tells both parties' limits."""
    with tempfile.NamedTemporaryFile("w", encoding="ascii", dir=file.absolute().parent, delete=False) as scratch:
        try:
            scratch.write(text)
            scratch.flush()
            os.fsync(scratch.fileno())
            Path(scratch.name).replace(file)
        except BaseException:
            Path(scratch.name).unlink(missing_ok=True)
            raise


def _refused(reason: str, status: int = 2) -> int:
    sys.stderr.write(f"a202-mcp export: {reason}\n")
    return status


main = run
