"""`member.toml` (axp 2): read whole, every mistake named at once, nothing used before all is right."""

from __future__ import annotations

import re
from collections.abc import Container
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Final

from a202_mcp.axp import published
from a202_mcp.axp.origin import Origin, read_base
from a202_mcp.axp.secret import NAMES, SecretSource, fetch, read_source, readable_by_others
from a202_mcp.axp.settings import Buyer, Exchange, Limits, Review, Seller, Settings, Skill
from a202_mcp.axp.skills import HIGHEST, read_guarantee, read_skill
from a202_mcp.one_owner.configuration import read_configuration
from a202_mcp.one_owner.documented import DOCUMENT, ISSUER_JWK
from a202_mcp.one_owner.named_files import documented, read_files
from a202_mcp.one_owner.section import Section
from a202_mcp.state_dir import expanded
from a202_reference.identifiers import Prefix

_MEMBER_ID: Final = re.compile(r"[!-~]{1,200}")
_ROLES: Final = ("seller", "buyer")
_PLAIN_LIMITS: Final = ("max_price", "min_price", "ask_above", "max_spend", "ask_spend_above")


def load(
    file: Path, *, needed: Container[str] = NAMES, mandate_counts: bool = True,
) -> Settings | list[str]:
    """The configuration, or its mistakes, one line each.

    needed: the secrets that must be there, where named. mandate_counts False: what is wrong in `[mandate]` is no
    mistake, and the limits then not sound.
    """
    return read_configuration(file, partial(
        _settings, folder=file.absolute().parent, needed=needed, mandate_counts=mandate_counts))


def _settings(root: Section, folder: Path, *, needed: Container[str], mandate_counts: bool) -> Settings:
    member, seller = root.table("member"), root.table("seller")
    roles = _roles(member)
    sources, warnings = _secrets(root.table("secrets"), folder, needed)
    mandate = root.table("mandate") if mandate_counts else root.aside("mandate")
    return Settings(
        name=member.text("name", "", required=True, longest=200),
        roles=roles,
        contact_email=member.text("contact_email", None, longest=320),
        mcp_url=member.text("mcp_url", None, longest=2000),
        member_id=member.read(
            "member_id", lambda text: text if is_member_id(text) else None,
            "printable ASCII without spaces, at most 200 characters"),
        secrets=sources,
        exchange=_exchange(root.table("exchange")),
        state_dir=(folder / expanded(root.table("state").text("dir", "member-state"))).absolute(),
        seller=Seller(
            seller.whole("max_open", 1, 1000, 4), seller.whole("valid_minutes", 1, 43200, 60),
            seller.flag("free_work"), read_guarantee(seller)),
        skills=_skills(root, folder, needed="seller" in roles),
        buyer=_buyer(root.table("buyer")),
        review=_review(root.table("review")),
        limits=_limits(mandate, roles, folder),
        limits_sound=mandate_counts or mandate.is_sound(),
        warnings=warnings)


def is_member_id(text: object) -> bool:
    """True for what may be our id."""
    return isinstance(text, str) and _MEMBER_ID.fullmatch(text) is not None


def _roles(member: Section) -> tuple[str, ...]:
    roles = member.texts("roles", required=True)
    if member.has("roles") and (not roles or len(set(roles)) != len(roles) or not {*_ROLES} >= set(roles)):
        member.wrong("roles", 'must be "seller", "buyer", or both, each once')
    return roles


def _secrets(
    section: Section, folder: Path, needed: Container[str],
) -> tuple[dict[str, SecretSource], tuple[str, ...]]:
    sources: dict[str, SecretSource] = {}
    warnings = []
    for name in NAMES:
        value = section.value(name)
        if value is None:
            continue
        source = read_source(value, folder)
        if source is None:
            section.wrong(name, 'must be "env:NAME" or "file:PATH"; the secret itself never stands here')
            continue
        sources[name] = source
        if name in needed and fetch(source) is None:
            where = f"the environment variable {source.name}" if source.kind == "env" else "the file it names"
            section.wrong(name, f"{where} is missing, empty or no text")
        if readable_by_others(source):
            warnings.append(f"secrets.{name}: the file is readable by other users; chmod 600 it")
    return sources, tuple(warnings)


def _exchange(section: Section) -> Exchange:
    given = section.value("base_url")
    origin = read_base(published.base_url() if given is None else given)
    if not isinstance(origin, Origin):
        section.wrong("base_url", origin)
        origin = Origin("https", "exchange.invalid", 443)
    return Exchange(
        origin, section.whole("timeout_seconds", 1, 300, 15), section.whole("attempts", 1, 10, 6),
        section.whole("backoff_ms", 1, 30000, 300), section.whole("heartbeat_hours", 0, 168, 6))


def _skills(root: Section, folder: Path, *, needed: bool) -> dict[str, Skill]:
    sections = root.tables("skills")
    if needed and not sections:
        root.wrong("skills", "a seller needs at least one [[skills]]")
    skills: dict[str, Skill] = {}
    for section in sections:
        skill = read_skill(section, folder)
        if skill.task_type in skills:
            section.wrong("task_type", f'"{skill.task_type}" stands twice')
        skills[skill.task_type] = skill
    return skills


def _buyer(section: Section) -> Buyer:
    choose = section.choice("choose", ("cheapest", "fastest", "person"), "person")
    return Buyer(
        choose, section.whole("max_eta_minutes", 1, 43200, 43200),
        section.amount("daily_budget", None, required=choose != "person", most=HIGHEST),
        section.choice("accept", ("checked", "person"), "person"),
        section.choice("only_tasks", ("any", "listed"), "listed"))


def _review(section: Section) -> Review:
    fixed = section.choice("answer", ("skip", "fixed"), "skip") == "fixed"
    rating, comment = section.whole("rating", 1, 5, 5), section.text("comment", "", longest=1000)
    if fixed and not section.has("rating"):
        section.wrong("rating", 'is required with answer "fixed"')
    return Review(rating, comment) if fixed else Review(None, "")


def _limits(section: Section, roles: tuple[str, ...], folder: Path) -> Limits:
    document = section.value(DOCUMENT)
    plain = [name for name in _PLAIN_LIMITS if section.has(name)]
    if document is not None and plain:
        section.wrong(DOCUMENT, f"stands beside the plain limit {plain[0]}: give one or the other")
    amounts = {name: section.amount(name, None, required=document is None and name in _needed(roles), most=HIGHEST)
               for name in _PLAIN_LIMITS}
    limits = Limits(
        **amounts,
        valid_days=section.whole("valid_days", 1, 730, 365),
        organization_id=section.read(
            "organization_id", lambda text: text if Prefix.ORGANIZATION.names(text) else None,
            "an organisation's id such as org_example_works"),
        document=folder / document if isinstance(document, str) else None,
        documented=documented(section, read_files(section, folder)),
        status_url=section.read("status_url", _https, "an https address"))
    for low, high in (("min_price", "max_price"), ("ask_above", "max_price"), ("ask_spend_above", "max_spend")):
        if _above(amounts[low], amounts[high]):
            section.wrong(low, f"is above {high}")
    if document is None and section.has(ISSUER_JWK):
        section.wrong(ISSUER_JWK, "stands beside the limits: it belongs to a document")
    return limits


def _needed(roles: tuple[str, ...]) -> tuple[str, ...]:
    """The limits that these roles need."""
    return tuple(name for role, name in (("seller", "max_price"), ("buyer", "max_spend")) if role in roles)


def _https(text: str) -> str | None:
    secure = len(text) <= 2000 and text.startswith("https:")
    return text if secure and isinstance(read_base(text), Origin) else None


def _above(low: Decimal | None, high: Decimal | None) -> bool:
    return low is not None and high is not None and low > high
