"""Reading the offers of `seller.toml` and their price rules (spec 3)."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Final

from a202_mcp.one_owner.section import Section
from a202_mcp.treatyway.settings import Kind, Offer, Price
from a202_mcp.treatyway.spans import read_lead, read_span

_ID: Final = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}", re.ASCII)
_REQUIRABLE: Final = ("start", "end", "destination", "quantity", "needed_by", "contact")
_ZERO: Final = Decimal(0)


def read_offers(root: Section) -> dict[str, Offer]:
    """Every offer under its id, in the order of the file."""
    sections = root.tables("offers")
    if not sections:
        root.wrong("offers", "there is none: add at least one [[offers]]")
    found: dict[str, Offer] = {}
    for section in sections:
        offer = _offer(section)
        if offer.id in found:
            section.wrong("id", f"\"{offer.id}\" is the id of an earlier offer")
        found[offer.id] = offer
    return found


def _offer(section: Section) -> Offer:
    offer_id = section.text("id", "", required=True)
    if offer_id and not _ID.fullmatch(offer_id):
        section.wrong("id", f"must be 1 to 64 of a-z, 0-9, `_` and `-`, and start with a letter or digit, "
                      f"not \"{offer_id[:80]}\"")
    kind = Kind(section.choice("kind", tuple(Kind), Kind.SERVICE, required=True))
    requires = section.texts("requires")
    for at, name in enumerate(requires):
        if name not in _REQUIRABLE:
            section.wrong(f"requires[{at}]", f"must be one of {', '.join(_REQUIRABLE)}, not \"{name[:40]}\"")
    offer = Offer(
        id=offer_id,
        name=section.text("name", "", required=True, longest=200),
        kind=kind,
        area=section.text("area", None),
        hours=section.text("hours", None),
        how_to_order=section.text("how_to_order", None),
        lead=section.read("lead_time", read_lead, "a time such as \"3 business days\", \"2 days\" or \"12 hours\""),
        lead_text=section.text("lead_time_text", None),
        requires=requires,
        price=_price(section.table("price")) if section.has("price") else None,
        stock=section.whole("stock", 0, 10**9, None),
        max_quantity=section.whole("max_quantity", 1, 10**6, None),
        valid_for=section.read("valid_for", read_span, "a span from 1s to 365d such as \"24h\""))
    if kind is Kind.SERVICE and offer.stock is not None:
        section.wrong("stock", "a service has none; use kind = \"good\", or calendar.capacity")
    return offer


def _price(section: Section) -> Price:
    parts = {name: section.amount(name, _ZERO) for name in ("setup", "fixed", "per_unit", "per_hour", "minimum")}
    tiers: list[tuple[int, Decimal]] = []
    for tier in section.tables("tiers"):
        begins = tier.whole("from", 1, 10**6, None)
        if begins is None and not tier.has("from"):
            tier.wrong("from", "is required")
        tiers.append((begins or 1, tier.amount("per_unit", _ZERO, required=True)))
    if len({begins for begins, _ in tiers}) != len(tiers):
        section.wrong("tiers", "two of them begin at the same quantity")
    return Price(**parts, tiers=tuple(sorted(tiers)))
