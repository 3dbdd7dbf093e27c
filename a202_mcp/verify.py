"""`a202-mcp verify FILE|-`: the seven steps over a bundle or a plain list of objects, offline (surface 6, 7).

Exit status: 0 no check failed, 1 a check failed, 2 the input could not be read or the report not be written. Checks
that could not be made are printed at the same prominence as those that failed; there is no overall verdict. A reader
that takes only the start of the report ends this quietly, with the status that the shell gives a closed pipe.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from io import TextIOWrapper
from pathlib import Path
from typing import IO, Any, Final

CHUNK: Final = 1 << 20
LARGE: Final = 5_000
"""From this many objects on, signatures are checked by all processors and progress is shown."""

_FORMATS: Final = ("text", "json", "html")
_PIPE_CLOSED: Final = 128 + 13
"""What a shell reports of a program that a closed pipe (SIGPIPE) ended."""


@dataclass(frozen=True, slots=True)
class _Unread:
    """Why an input could not be used."""

    reason: str


def run(arguments: Sequence[str]) -> int:
    """Verify one file; the exit status."""
    parser = argparse.ArgumentParser(
        "a202-mcp verify", allow_abbrev=False,
        description="Run the seven verification steps over an exported bundle or a list of objects, offline.",
        epilog="Exit status: 0 no check failed, 1 a check failed, 2 the input could not be read or the report not be "
               "written.")
    parser.add_argument("file", metavar="FILE", help="the bundle; - reads standard input")
    parser.add_argument("--rules-version", metavar="V", help="the rules version the record was made under")
    parser.add_argument("--trust", metavar="KEYS", help="a file of keys you know: they count instead of declared ones")
    parser.add_argument(
        "--profiles", metavar="DIR", action="append", default=[],
        help="profiles beside the installed ones; may be repeated (default: the folders in A202_MCP_PROFILES)")
    parser.add_argument("--format", choices=_FORMATS, default="text", help="what to print (default text)")
    options = parser.parse_args(list(arguments))
    gc.disable()  # what is read stays to the end, and searching it again and again would find nothing
    try:
        return _verify(options)
    finally:
        gc.enable()


def _verify(options: argparse.Namespace) -> int:
    profiles = _profiles(options.profiles)
    read = profiles if isinstance(profiles, _Unread) else _material(options.file, options.rules_version, options.trust)
    if isinstance(read, _Unread):
        return _refused(read.reason)
    report = _verified(read, profiles)
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # a record may hold what this terminal cannot show
    return _written(report, read, options.format)


def _refused(reason: str) -> int:
    sys.stderr.write(f"a202-mcp verify: {reason}\n")
    return 2


def _written(report: Any, material: Any, form: str) -> int:
    """The exit status after the report was printed, as far as it was."""
    try:
        _print(report, material, form)
        sys.stdout.flush()
    except (BrokenPipeError, SystemExit):  # the latter is how the terminal library leaves a closed pipe
        _discard_output()
        return _PIPE_CLOSED
    except OSError as broken:
        _discard_output()
        return _refused(f"the report cannot be written: {broken.strerror or broken}")
    return 1 if report.counts["failed"] else 0


def _discard_output() -> None:
    """Point standard output nowhere, so that what is still in its buffer raises no more at the end."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)


def _profiles(folders: list[str]) -> Any:
    """The profiles of this configuration; None for the installed ones alone."""
    from a202_mcp.state_dir import profile_dirs  # noqa: PLC0415 - not needed to print the help
    from a202_reference.profiles import ProfileRegistry  # noqa: PLC0415 - the same

    directories = profile_dirs(folders)
    try:
        return ProfileRegistry.load(directories) if directories else None
    except (OSError, ValueError) as broken:
        return _Unread(f"a profile folder cannot be used: {broken}")


def _material(file: str, version: str | None, trust: str | None) -> Any:
    """The material in a file, under the rules and the keys that the reader names."""
    from a202_reference.codes import Refusal  # noqa: PLC0415 - not needed to print the help
    from a202_reference.evidence.bundle import read_bundle  # noqa: PLC0415 - the same
    from a202_reference.evidence.material import Material, Source, merged_keys  # noqa: PLC0415 - the same
    from a202_reference.lifecycle.rules import RULE_SETS, rule_set  # noqa: PLC0415 - the same

    if version is not None and rule_set(version) is None:
        return _Unread(f"--rules-version must be one of {', '.join(RULE_SETS)}")
    pinned = {} if trust is None else _pinned(trust)
    document = pinned if isinstance(pinned, _Unread) else _read(file)
    if isinstance(document, _Unread):
        return document
    if isinstance(document, list):
        material: Material | Refusal = Material(
            objects=tuple(document), keys=merged_keys({}, pinned, Source.PINNED))
    else:
        material = read_bundle(document, pinned)
    if isinstance(material, Refusal):
        return _Unread(f"{_named(file)}: {material.detail}")
    if not material.objects:
        return _Unread(f"{_named(file)} holds no object: there is nothing to verify")
    return material if version is None else replace(material, rules_version=version)


def _pinned(trust: str) -> Any:
    """The keys of a trust file: a list of them, or any document with `keys`, such as a bundle."""
    from a202_reference.evidence.bundle import read_key  # noqa: PLC0415 - not needed to print the help

    document = _read(trust)
    if isinstance(document, _Unread):
        return document
    entries = document.get("keys") if isinstance(document, dict) else document
    if not isinstance(entries, list):
        return _Unread(f"{trust} holds no list of keys")
    bindings = [read_key(entry) for entry in entries]
    unreadable = [at for at, binding in enumerate(bindings) if binding is None]
    if unreadable or not bindings:
        return _Unread(f"{trust}: key {unreadable[0] if unreadable else 0} cannot be read")
    return {binding.key_id: binding for binding in bindings if binding is not None}


def _read(file: str) -> Any:
    """The JSON document in a file."""
    from a202_reference.evidence.reading import read_pieces  # noqa: PLC0415 - not needed to print the help
    from a202_reference.wire import Unreadable  # noqa: PLC0415 - the same

    try:
        if file == "-":
            document = read_pieces(_chunks(sys.stdin.buffer, 0))
        else:
            path = Path(file)
            with path.open("rb") as stream:
                document = read_pieces(_chunks(stream, path.stat().st_size))
    except OSError as broken:
        return _Unread(f"{_named(file)} cannot be read: {broken.strerror or broken}")
    if isinstance(document, Unreadable):
        return _Unread(f"{_named(file)} cannot be read: {document.reason}")
    return document


def _chunks(stream: IO[bytes], size: int) -> Iterator[bytes]:
    with _progress("reading", size if size > 8 * CHUNK else 0) as advance:
        while chunk := stream.read(CHUNK):
            advance(len(chunk))
            yield chunk


def _verified(material: Any, profiles: Any) -> Any:
    from a202_reference.evidence.procedure import verify  # noqa: PLC0415 - not needed to print the help

    now = datetime.now(UTC)
    if len(material.objects) < LARGE:
        return verify(material, now=now, profiles=profiles)
    from a202_mcp.spread import spreading  # noqa: PLC0415 - only large bundles start processes

    signatures = sum(len(document.get("signatures", ())) for document in material.objects
                     if isinstance(document, dict) and isinstance(document.get("signatures"), list))
    with _progress("checking signatures", signatures) as advance, spreading(advance) as spread:
        return verify(material, now=now, spread=spread, profiles=profiles)


def _progress(what: str, total: int) -> AbstractContextManager[Any]:
    """A progress bar on standard error where somebody watches; else nothing."""
    if not total or not sys.stderr.isatty():
        return nullcontext(lambda _: None)
    from a202_mcp.report_text import progress  # noqa: PLC0415 - rich is heavy

    return progress(what, total)


def _print(report: Any, material: Any, form: str) -> None:
    if form == "json":
        for piece in _json(report):
            sys.stdout.write(piece)
        return
    if form == "html":
        from a202_mcp.report_html import pieces  # noqa: PLC0415 - only where asked for

        for piece in pieces(report, material, datetime.now(UTC)):
            sys.stdout.write(piece)
        return
    from a202_mcp.report_text import print_report  # noqa: PLC0415 - rich is heavy

    print_report(report, is_part=material.disclosed is not None)


def _json(report: Any) -> Iterator[str]:
    """The report as verify_evidence gives it, one check a line, ASCII only; never built as one value."""
    frame: Mapping[str, Any] = report.frame()
    yield "{\n"
    for name, member in frame.items():
        yield f" {json.dumps(name)}: {json.dumps(member)},\n"
    yield ' "checks": ['
    for at, row in enumerate(report.rows):
        yield f"{',' if at else ''}\n  {json.dumps(row.document)}"
    yield "\n ]\n}\n"


def _named(file: str) -> str:
    return "standard input" if file == "-" else file


main = run
