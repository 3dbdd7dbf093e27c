"""The member's configuration as frozen values (spec 2). `configuration` reads them from a file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

from a202_mcp.axp.origin import Origin
from a202_mcp.axp.secret import SecretSource
from a202_mcp.one_owner.documented import Documented


@dataclass(frozen=True, slots=True)
class Part:
    """`each` for every unit of a param. default None: without the param there is no price."""

    param: str
    each: Decimal
    default: Decimal | None
    maximum: Decimal | None


@dataclass(frozen=True, slots=True)
class Formula:
    """fixed + sum of parts, at least `minimum`."""

    fixed: Decimal
    parts: tuple[Part, ...]
    minimum: Decimal


@dataclass(frozen=True, slots=True)
class Guarantee:
    """What we promise beyond the delivery."""

    free_redo: int
    refund_if_fails_checks: bool

    @property
    def document(self) -> dict[str, Any]:
        """As answers and terms carry it."""
        return {"free_redo": self.free_redo, "refund_if_fails_checks": self.refund_if_fails_checks}


@dataclass(frozen=True, slots=True)
class WorkerPlan:
    """The owner's own program. `command` is an argument list, run without a shell."""

    command: tuple[str, ...]
    timeout_seconds: int
    output: str
    filename: str
    mime_type: str
    attempts: int


@dataclass(frozen=True, slots=True)
class Skill:
    """One kind of task that is sold."""

    task_type: str
    description: str
    requires: tuple[str, ...]
    price: Formula
    eta: Formula
    max_open: int
    worker: WorkerPlan


@dataclass(frozen=True, slots=True)
class Seller:
    """How we sell."""

    max_open: int
    valid_minutes: int
    free_work: bool
    guarantee: Guarantee | None


@dataclass(frozen=True, slots=True)
class Buyer:
    """How we buy. choose: cheapest, fastest or person; accept: checked or person; only_tasks: any or listed."""

    choose: str
    max_eta_minutes: int
    daily_budget: Decimal | None
    accept: str
    only_tasks: str


@dataclass(frozen=True, slots=True)
class Review:
    """What we answer when asked for a review. rating None: skip."""

    rating: int | None
    comment: str


@dataclass(frozen=True, slots=True)
class Limits:
    """The owner's limits in plain words, or a whole mandate from a file."""

    max_price: Decimal | None
    min_price: Decimal | None
    ask_above: Decimal | None
    max_spend: Decimal | None
    ask_spend_above: Decimal | None
    valid_days: int
    organization_id: str | None
    document: Path | None
    documented: Documented | None
    """What the document holds, under its issuer's key."""
    status_url: str | None


@dataclass(frozen=True, slots=True)
class Exchange:
    """How we call the exchange."""

    origin: Origin
    timeout_seconds: int
    attempts: int
    backoff_ms: int
    heartbeat_hours: int


@dataclass(frozen=True, slots=True)
class Settings:
    """The whole configuration. Secrets are named here, never held."""

    name: str
    roles: tuple[str, ...]
    contact_email: str | None
    mcp_url: str | None
    member_id: str | None
    secrets: Mapping[str, SecretSource]
    exchange: Exchange
    state_dir: Path
    seller: Seller
    skills: Mapping[str, Skill]
    buyer: Buyer
    review: Review
    limits: Limits
    limits_sound: bool
    """False: the section has problems that nobody asked for (`configuration.load`), and nothing is issued from it."""
    warnings: tuple[str, ...]

    @property
    def sells(self) -> bool:
        """True where the role seller is held."""
        return "seller" in self.roles

    @property
    def buys(self) -> bool:
        """True where the role buyer is held."""
        return "buyer" in self.roles
