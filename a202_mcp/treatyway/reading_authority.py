"""Reading the `[mandate]` section of `seller.toml`: the owner's limits, or a document (spec 3)."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path
from typing import Any, Final

from a202_mcp.addresses import is_https
from a202_mcp.one_owner.documented import DOCUMENT, ISSUER_JWK, Documented
from a202_mcp.one_owner.named_files import documented, read_files
from a202_mcp.one_owner.section import Section
from a202_mcp.treatyway.settings import Limits
from a202_reference.canonical import value_hash
from a202_reference.identifiers import Prefix

_NOTHING: Final = Limits(Decimal(0), None, None, 1, None)
"""Beside the problem that says why there is no mandate."""


def read_authority(
    section: Section, folder: Path, currency: str,
) -> tuple[Limits | Documented, str | None, str]:
    """The authority, the address of its status, and what changes when the owner changes any of it."""
    status_url = section.read("status_url", lambda text: text if is_https(text) else None, "an https address")
    limits = ("max_total", "ask_above", "min_total", "valid_days", "organization_id")
    named = section.has(DOCUMENT)
    if named == any(section.has(name) for name in limits):
        section.wrong("", "must hold either limits (max_total ...) or a document, and not both")
    authority: Limits | Documented
    if named:
        files = read_files(section, folder)
        authority = documented(section, files) or _NOTHING
        said: list[Any] = list(files)
    else:
        authority = _limits(section)
        said = [str(authority.max_total), str(authority.ask_above), str(authority.min_total),
                str(authority.valid_days), authority.organization_id]
    section.knows(DOCUMENT, ISSUER_JWK, *limits)
    return authority, status_url, _fingerprint([*said, status_url, currency])


def _fingerprint(said: list[Any]) -> str:
    try:
        return value_hash(said)
    except ValueError:  # a document without canonical form: init refuses it
        return value_hash([json.dumps(said, sort_keys=True)])


def _limits(section: Section) -> Limits:
    organization = section.read(
        "organization_id", lambda text: text if Prefix.ORGANIZATION.names(text) else None,
        "an identifier such as \"org_metals_example\"")
    limits = Limits(
        max_total=section.amount("max_total", Decimal(0), required=True),
        ask_above=section.amount("ask_above", None),
        min_total=section.amount("min_total", None),
        valid_days=section.whole("valid_days", 1, 730, 365),
        organization_id=organization)
    for name, amount in (("min_total", limits.min_total), ("ask_above", limits.ask_above)):
        if amount is not None and section.has("max_total") and amount > limits.max_total:
            section.wrong(name, "is above max_total")
    if section.has(ISSUER_JWK):
        section.wrong(ISSUER_JWK, "stands beside the limits: it belongs to a document")
    return limits
