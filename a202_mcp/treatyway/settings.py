"""What `seller.toml` says, checked and typed (spec 3). Every amount is exact; every time span is a timedelta."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from enum import StrEnum
from pathlib import Path
from zoneinfo import ZoneInfo

from a202_mcp.one_owner.documented import Documented


class Kind(StrEnum):
    """What an offer is."""

    SERVICE = "service"
    GOOD = "good"


@dataclass(frozen=True, slots=True)
class Price:
    """A price rule. `tiers` are (from, per_unit), by `from`."""

    setup: Decimal
    fixed: Decimal
    per_unit: Decimal
    per_hour: Decimal
    minimum: Decimal
    tiers: tuple[tuple[int, Decimal], ...] = ()


@dataclass(frozen=True, slots=True)
class Lead:
    """How long before its start a job must be asked for."""

    count: int
    unit: str
    """hours, days or business days."""


@dataclass(frozen=True, slots=True)
class Offer:
    """One thing that is sold."""

    id: str
    name: str
    kind: Kind
    area: str | None = None
    hours: str | None = None
    how_to_order: str | None = None
    lead: Lead | None = None
    lead_text: str | None = None
    requires: tuple[str, ...] = ()
    price: Price | None = None
    stock: int | None = None
    max_quantity: int | None = None
    valid_for: timedelta | None = None


@dataclass(frozen=True, slots=True)
class Window:
    """Opening hours of one weekday (Monday is 0), in minutes of the local day."""

    weekday: int
    begins: int
    ends: int


@dataclass(frozen=True, slots=True)
class Calendar:
    """When jobs can be done, and how many at once. Without windows a person answers times."""

    zone: ZoneInfo
    lines: tuple[str, ...] = ()
    windows: tuple[Window, ...] = ()
    closed: tuple[tuple[date, date], ...] = ()
    capacity: int = 1


@dataclass(frozen=True, slots=True)
class PassRules:
    """How identity passes are judged. `audience` None: none is accepted. `jwks` is an address or a path."""

    jwks: str | Path
    issuer: str
    audience: str | None
    leeway: int
    cache_seconds: int
    claims: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Customer:
    """A customer with a token of this shop's own. The token itself is known to nobody here."""

    name: str
    token_sha256: str
    may_order: bool


@dataclass(frozen=True, slots=True)
class CustomTool:
    """A tool of the shop's own: a fixed reply, or a command."""

    name: str
    description: str
    reply: str | None = None
    command: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class Limits:
    """The owner's limits in plain words."""

    max_total: Decimal
    ask_above: Decimal | None
    min_total: Decimal | None
    valid_days: int
    organization_id: str | None


@dataclass(frozen=True, slots=True)
class Settings:
    """The whole file."""

    folder: Path
    name: str
    role: str
    domain: str | None
    currency: str
    how_to_order: str
    state_dir: Path
    place_order: bool
    valid_for: timedelta
    refuse_denied: bool
    default_offer: str | None
    calendar: Calendar
    offers: Mapping[str, Offer]
    passes: PassRules
    caps: tuple[int, int, int]
    customers: tuple[Customer, ...]
    auto_reply: str | None
    custom_tools: tuple[CustomTool, ...]
    authority: Limits | Documented | None
    """None: the section has problems that nobody asked for (`read_settings`)."""
    status_url: str | None
    mandate_fingerprint: str
    """Changes with every change of the owner's `[mandate]` section and the currency."""
