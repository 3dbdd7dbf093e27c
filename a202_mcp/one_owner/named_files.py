"""Files that the owner's file names, and the two of a mandate from elsewhere (treatyway 3; axp 2).

Rules this module applies:

- a file that cannot be read, or does not hold what it should, is a problem of the setting that names it; so is a
  program that is not there or cannot be run;
- `document` and `issuer_jwk` are read together: the one is a mandate only under the key in the other.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any, TypeAlias

from a202_mcp.one_owner.documented import DOCUMENT, ISSUER_JWK, Documented, read_documented
from a202_mcp.one_owner.section import Section
from a202_mcp.one_owner.written import shown
from a202_reference.wire import Unreadable, read_json

Contents: TypeAlias = tuple[dict[str, Any] | None, dict[str, Any] | None]
"""The document and its issuer's key."""


def readable(section: Section, name: str, path: Path) -> str | None:
    """The text of a file that a section names; a problem where there is none."""
    try:
        return path.read_text("utf-8")
    except (OSError, UnicodeDecodeError, ValueError):
        section.wrong(name, f"there is no readable file {path.name}")
        return None


def command(section: Section, folder: Path) -> tuple[str, ...]:
    """The argument list `command`; a problem where it is empty or there is no such program.

    A program with a path is looked for beside the file, another one where programs are.
    """
    words = section.texts("command")
    if section.has("command") and not words:
        section.wrong("command", "must not be empty")
    elif words and shutil.which(str(folder / words[0]) if "/" in words[0] else words[0]) is None:
        section.wrong("command", f"there is no program {shown(words[0])}")
    return words


def read_files(section: Section, folder: Path) -> Contents:
    """What the two files hold, None for one that is not named or has a problem. A document requires its key."""
    required = section.has(DOCUMENT)
    return _object(section, DOCUMENT, folder, required), _object(section, ISSUER_JWK, folder, required)


def documented(section: Section, files: Contents) -> Documented | None:
    """The mandate that the two files are together; None where one is missing, or (a problem) they do not fit."""
    document, jwk = files
    if document is None or jwk is None:
        return None
    found = read_documented(document, jwk)
    if isinstance(found, Documented):
        return found
    section.wrong(found.setting, found.text)
    return None


def _object(section: Section, name: str, folder: Path, required: bool) -> dict[str, Any] | None:
    """The JSON object in a file that a section names; a problem and None where there is none."""
    named = section.text(name, None, required=required)
    text = None if named is None else readable(section, name, folder / named)
    if text is None:
        return None
    value = read_json(text)
    if isinstance(value, Unreadable) or not isinstance(value, dict):
        section.wrong(name, "is no JSON object")
        return None
    return value
