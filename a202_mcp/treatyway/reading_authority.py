"""Reading the `[mandate]` section of `seller.toml`: the owner's limits, or a document (spec 3)."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from a202_mcp.documented import Documented, Misfit, read_documented
from a202_mcp.treatyway.section import Section
from a202_mcp.treatyway.settings import Limits
from a202_reference.canonical import value_hash
from a202_reference.identifiers import Prefix
from a202_reference.wire import Unreadable, read_json

_NOTHING: Final = Limits(Decimal(0), None, None, 1, None)


def read_authority(
    section: Section, folder: Path, currency: str,
) -> tuple[Limits | Documented, str | None, str]:
    """The authority, the address of its status, and what changes when the owner changes any of it."""
    status_url = section.read("status_url", _https, "an https address")
    limits = ("max_total", "ask_above", "min_total", "valid_days", "organization_id")
    documented = section.has("document")
    if documented == any(section.has(name) for name in limits):
        section.wrong("", "must hold either limits (max_total ...) or a document, and not both")
    authority: Limits | Documented
    if documented:
        files = _json_file(section, "document", folder), _json_file(section, "issuer_jwk", folder)
        authority = _documented(section, *files)
        said: list[Any] = list(files)
    else:
        authority = _limits(section)
        said = [str(authority.max_total), str(authority.ask_above), str(authority.min_total),
                str(authority.valid_days), authority.organization_id]
    section.knows("document", "issuer_jwk", *limits)
    section.end()
    return authority, status_url, _fingerprint([*said, status_url, currency])


def _documented(
    section: Section, document: dict[str, Any] | None, jwk: dict[str, Any] | None,
) -> Documented | Limits:
    """The mandate in the files; where there is none, limits that allow nothing beside the problem that says so."""
    if document is None or jwk is None:
        return _NOTHING
    found = read_documented(document, jwk)
    if isinstance(found, Misfit):
        section.wrong(found.setting, found.text)
        return _NOTHING
    return found


def _fingerprint(said: list[Any]) -> str:
    try:
        return value_hash(said)
    except ValueError:  # a document without canonical form: init refuses it
        return value_hash([json.dumps(said, sort_keys=True)])


def _https(text: str) -> str | None:
    parts = urlsplit(text)
    return text if parts.scheme == "https" and parts.hostname else None


def _limits(section: Section) -> Limits:
    organization = section.read(
        "organization_id", lambda text: text if Prefix.ORGANIZATION.names(text) else None,
        "an identifier such as \"org_metals_example\"")
    limits = Limits(
        max_total=section.amount("max_total", required=True) or Decimal(0),
        ask_above=section.amount("ask_above"),
        min_total=section.amount("min_total"),
        valid_days=section.whole("valid_days", 1, 730, 365) or 365,
        organization_id=organization)
    if limits.min_total is not None and limits.min_total > limits.max_total:
        section.wrong("min_total", "is above max_total")
    return limits


def _json_file(section: Section, name: str, folder: Path) -> dict[str, Any] | None:
    """The JSON object in a file that a section names; a problem and None where there is none."""
    named = section.text(name, required=True)
    text = None if named is None else readable(section, name, folder / named)
    if text is None:
        return None
    value = read_json(text)
    if isinstance(value, Unreadable) or not isinstance(value, dict):
        section.wrong(name, "is no JSON object")
        return None
    return value


def readable(section: Section, name: str, path: Path) -> str | None:
    """The text of a file that a section names; a problem where there is none."""
    try:
        return path.read_text("utf-8")
    except (OSError, UnicodeDecodeError, ValueError):
        section.wrong(name, f"there is no readable file {path.name}")
        return None
