"""Reading `seller.toml` (spec 3): the whole file is judged, and every problem is named at once."""

from __future__ import annotations

import re
from datetime import timedelta
from pathlib import Path
from typing import Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from a202_mcp.addresses import taken_apart
from a202_mcp.one_owner.configuration import read_configuration
from a202_mcp.one_owner.named_files import command, readable
from a202_mcp.one_owner.section import Section
from a202_mcp.one_owner.web import is_loopback
from a202_mcp.state_dir import expanded
from a202_mcp.treatyway.currencies import read_currency
from a202_mcp.treatyway.defaults import PASS_ISSUER, PASS_JWKS
from a202_mcp.treatyway.keylist import read_keys
from a202_mcp.treatyway.names import name_fault
from a202_mcp.treatyway.reading_authority import read_authority
from a202_mcp.treatyway.reading_offers import read_offers
from a202_mcp.treatyway.settings import (
    Calendar,
    Customer,
    CustomTool,
    PassRules,
    Settings,
)
from a202_mcp.treatyway.spans import read_closed, read_opening, read_span

_CLAIMS: Final = {"subject": "sub", "audience": "aud", "level": "level", "id": "jti", "name": "name"}
_SHA256: Final = re.compile(r"[0-9a-f]{64}", re.ASCII)
_DOMAIN: Final = re.compile(r"[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?(:[0-9]{1,5})?", re.ASCII)


def read_settings(file: Path, state_dir: Path | None, *, mandate_counts: bool = True) -> Settings | list[str]:
    """The settings in a file, or every problem in it, one line each. `state_dir` wins over the file's.

    mandate_counts False: what is wrong in `[mandate]` is no problem of the file, and the authority then None.
    """
    return read_configuration(
        file, lambda root: _settings(root, file.absolute().parent, state_dir, mandate_counts=mandate_counts))


def _settings(root: Section, folder: Path, state_dir: Path | None, *, mandate_counts: bool) -> Settings:
    seller, state, orders = root.table("seller"), root.table("state"), root.table("orders")
    quote, message = root.table("quote"), root.table("message")
    domain = seller.read("domain", _domain, "a host name such as \"metals.example\"")
    currency = seller.read("currency", read_currency, "an ISO 4217 code such as \"USD\"") or "USD"
    folder_named = state.text("dir", "seller-state")
    offers = read_offers(root)
    mandate = root.table("mandate") if mandate_counts else root.aside("mandate")
    authority, status_url, fingerprint = read_authority(mandate, folder, currency)
    settings = Settings(
        folder=folder,
        name=seller.text("name", "", required=True, longest=200),
        role=seller.choice("role", ("business", "person", "agent"), "business"),
        domain=domain,
        currency=currency,
        how_to_order=seller.text("how_to_order", "Describe the job or the basket with request_quote."),
        state_dir=state_dir or folder / expanded(folder_named),
        place_order=orders.flag("place_order"),
        valid_for=quote.read("valid_for", read_span, "a span from 1s to 365d such as \"7d\"") or timedelta(days=7),
        refuse_denied=quote.choice("on_deny", ("needs_human", "refuse"), "needs_human") == "refuse",
        default_offer=quote.text("default_offer", None),
        calendar=_calendar(root.table("calendar")),
        offers=offers,
        passes=_passes(root.table("pass"), folder, domain),
        caps=_caps(root.table("caps")),
        customers=_customers(root.tables("customers")),
        auto_reply=message.text("auto_reply", None),
        custom_tools=_custom_tools(root.tables("custom_tools"), folder),
        authority=authority if mandate_counts or mandate.is_sound() else None,
        status_url=status_url,
        mandate_fingerprint=fingerprint)
    if settings.default_offer is not None and settings.default_offer not in offers:
        quote.wrong("default_offer", f"names no offer: \"{settings.default_offer[:64]}\"")
    if settings.place_order and domain is None and not any(each.may_order for each in settings.customers):
        orders.wrong("place_order", "nobody could order: set seller.domain, or may_order for a customer")
    return settings


def _domain(text: str) -> str | None:
    plain = text.lower()
    return plain if _DOMAIN.fullmatch(plain) else None


def _zone(text: str) -> ZoneInfo | None:
    try:
        return ZoneInfo(text)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return None


def _calendar(section: Section) -> Calendar:
    opened = section.each("open", read_opening, "days and hours such as \"mon-fri 08:00-16:00\"")
    closed = section.each("closed", read_closed, "a day such as \"2027-01-01\", or two joined by \"..\"")
    return Calendar(
        section.read("time_zone", _zone, "a time zone such as \"Europe/Berlin\"") or ZoneInfo("UTC"),
        tuple(line for line, _ in opened),
        tuple(window for _, windows in opened for window in windows),
        tuple(days for _, days in closed),
        section.whole("capacity", 1, 10_000, 1))


def _passes(section: Section, folder: Path, domain: str | None) -> PassRules:
    claims = section.table("claims")
    named = {claim: claims.text(claim, usual, longest=64) for claim, usual in _CLAIMS.items()}
    return PassRules(
        jwks=_jwks(section, folder),
        issuer=section.text("issuer", PASS_ISSUER),
        audience=section.text("audience", domain),
        leeway=section.whole("leeway_seconds", 0, 300, 0),
        cache_seconds=section.whole("cache_seconds", 60, 86400, 3600),
        claims=named)


def _jwks(section: Section, folder: Path) -> str | Path:
    """An address, https or on this machine; else a file that holds a key list."""
    named = section.text("jwks", PASS_JWKS)
    if named.lower().startswith(("http:", "https:")):
        parts = taken_apart(named)
        host = None if parts is None else parts.hostname
        if parts is None or not host:
            section.wrong("jwks", "must be an https address, or a file")
        elif parts.scheme == "http" and not is_loopback(host):
            section.wrong("jwks", "must be https, or a file; plain http only on this machine")
        return named
    path = folder / named
    listed = readable(section, "jwks", path)
    if listed is not None and read_keys(listed.encode("utf-8")) is None:
        section.wrong("jwks", f"{path.name} is no key list")
    return path


def _caps(section: Section) -> tuple[int, int, int]:
    caps = (section.whole("level0", 1, 10**9, 20), section.whole("level1", 1, 10**9, 200),
            section.whole("level2", 1, 10**9, 1000))
    if not caps[0] < caps[1] <= caps[2]:
        section.wrong("", f"level0 must be less than level1, and level1 at most level2; they are {caps}")
    return caps


def _customers(sections: tuple[Section, ...]) -> tuple[Customer, ...]:
    found: list[Customer] = []
    for section in sections:
        name = section.text("name", "", required=True, longest=200)
        token = section.text("token_sha256", None, required=True)
        if token is not None and not _SHA256.fullmatch(token):
            section.wrong("token_sha256", "must be the SHA-256 of the token, 64 hexadecimal digits in lower case, "
                          "never the token itself")
            token = None
        if any(name == earlier.name or (token and token == earlier.token_sha256) for earlier in found):
            section.wrong("", "has the name or the token of another customer")
        found.append(Customer(name, token or "", section.flag("may_order")))
    return tuple(found)


def _custom_tools(sections: tuple[Section, ...], folder: Path) -> tuple[CustomTool, ...]:
    found: list[CustomTool] = []
    for section in sections:
        name = section.text("name", "", required=True)
        fault = name_fault(name) if name else None
        if fault is not None:
            section.wrong("name", f"\"{name[:80]}\" {fault}")
        if name in [tool.name for tool in found]:
            section.wrong("name", f"\"{name[:80]}\" is there twice")
        description = section.text("description", "", required=True, longest=2000)
        given = [way for way in ("reply", "reply_file", "command") if section.has(way)]
        if len(given) != 1:
            section.wrong("", "must have exactly one of reply, reply_file and command")
        reply, file = section.text("reply", None, longest=65536), section.text("reply_file", None)
        if file is not None:
            reply = readable(section, "reply_file", folder / file)
        found.append(CustomTool(name, description, reply, command(section, folder) or None))
    return tuple(found)
