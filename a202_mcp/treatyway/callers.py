"""Who calls (spec 2, 6, 7): by a pass, by a token of this shop's own, or by nothing."""

from __future__ import annotations

import json
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from a202_mcp.treatyway.settings import Customer

_LONGEST_NAME: Final = 80


class CallerKind(StrEnum):
    """How a caller is known."""

    PASS = "pass"  # noqa: S105 - a kind, no password
    OWN = "own"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class PassFacts:
    """What a valid pass says. `token_sha256` stands for the token, which nothing keeps."""

    issuer: str
    subject: str
    level: int
    token_id: str | None
    name: str | None
    token_sha256: str


@dataclass(frozen=True, slots=True)
class Caller:
    """One caller. `level` decides what may be called, `cap` (0, 1 or 2) how often.

    identity: what makes two calls the same caller's; for none, the peer.
    """

    kind: CallerKind
    level: int
    cap: int
    label: str
    attested_by: str
    identity: tuple[str, ...]
    may_order: bool = False
    facts: PassFacts | None = None

    @property
    def key(self) -> str:
        """The identity as one text."""
        return json.dumps(list(self.identity), ensure_ascii=False, separators=(",", ":"))

    @property
    def owner(self) -> str | None:
        """Whose what this caller makes is; None: whoever holds its id."""
        return None if self.kind is CallerKind.NONE else self.key


def by_pass(facts: PassFacts) -> Caller:
    """The caller of a valid pass."""
    label = {
        0: "Level 0, not authenticated",
        1: f'Level 1, name not checked: "{_plain(facts.name or "")}"',
        2: "Level 2, Owner proven",
    }[facts.level]
    return Caller(
        CallerKind.PASS, facts.level, facts.level, label, "pass", ("pass", facts.issuer, facts.subject),
        may_order=facts.level == 2, facts=facts)


def by_own_token(customer: Customer) -> Caller:
    """A customer of the shop."""
    return Caller(
        CallerKind.OWN, 1, 2, f"Own customer: {_plain(customer.name)}", "own_auth", ("own", customer.name),
        may_order=customer.may_order)


def by_nothing(peer: str) -> Caller:
    """A caller without a pass, told apart by where it calls from."""
    return Caller(CallerKind.NONE, 0, 0, "No pass, not authenticated", "none", ("none", peer))


def _plain(name: str) -> str:
    """A name without control and direction characters, cut."""
    return "".join(each for each in name if each.isprintable())[:_LONGEST_NAME]
