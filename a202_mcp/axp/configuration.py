"""`member.toml` (spec 2): read whole, every mistake named at once, nothing used before all is right."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any, Final

from a202_mcp.axp import published
from a202_mcp.axp.fields import Problems, Table
from a202_mcp.axp.origin import Origin, read_base
from a202_mcp.axp.secret import NAMES, SecretSource, fetch, read_source, readable_by_others
from a202_mcp.axp.settings import Buyer, Exchange, Limits, Review, Seller, Settings, Skill
from a202_mcp.axp.skills import read_guarantee, read_skill
from a202_mcp.documented import DOCUMENT, ISSUER_JWK, Documented, read_documented
from a202_reference.identifiers import Prefix
from a202_reference.wire import Unreadable, read_json

_TABLES: Final = (
    "member", "secrets", "exchange", "state", "seller", "skills", "buyer", "review", "mandate")
_SKILL: Final = ("task_type", "description", "requires", "price", "eta", "max_open", "worker")
_MEMBER_ID: Final = re.compile(r"[!-~]{1,200}")


def load(file: Path, *, secrets_needed: bool = True) -> Settings | list[str]:
    """The configuration, or its mistakes, one line each. secrets_needed False: for `register`, which gets them."""
    try:
        raw = tomllib.loads(file.read_text("utf-8"))
    except OSError as broken:
        return [f"cannot be read: {broken.strerror or 'no such file'}"]
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as broken:
        return [f"is no TOML: {type(broken).__name__ if isinstance(broken, UnicodeDecodeError) else broken}"]
    problems = Problems()
    settings = _settings(raw, file.absolute().parent, problems, secrets_needed)
    return problems.lines or settings


def _settings(raw: Mapping[str, Any], folder: Path, problems: Problems, secrets_needed: bool) -> Settings:
    root = Table.of(raw, "", _TABLES, problems)
    member = root.table("member", ("name", "roles", "contact_email", "mcp_url", "member_id"))
    roles = _roles(member)
    sources, warnings = _secrets(root, folder, secrets_needed)
    state = root.table("state", ("dir",))
    seller = root.table("seller", ("max_open", "valid_minutes", "free_work", "guarantee"))
    member_id = member.optional("member_id", 200)
    if member_id is not None and not _MEMBER_ID.fullmatch(member_id):
        member.fault("member_id", "must be printable ASCII without spaces")
    return Settings(
        name=member.text("name", longest=200),
        roles=roles,
        contact_email=member.optional("contact_email", 320),
        mcp_url=member.optional("mcp_url", 2000),
        member_id=member_id,
        secrets=sources,
        exchange=_exchange(root),
        state_dir=(folder / Path(state.text("dir", "member-state")).expanduser()).absolute(),
        seller=Seller(
            seller.integer("max_open", 4, 1, 1000), seller.integer("valid_minutes", 60, 1, 43200),
            seller.flag("free_work", default=False), read_guarantee(seller)),
        skills=_skills(root, folder, needed="seller" in roles),
        buyer=_buyer(root),
        review=_review(root),
        limits=_limits(root, roles, folder),
        warnings=warnings)


def _roles(member: Table) -> tuple[str, ...]:
    roles = member.texts("roles", None)
    if "roles" in member.raw and (not roles or len(set(roles)) != len(roles) or not {"seller", "buyer"} >= set(roles)):
        member.fault("roles", 'must be "seller", "buyer", or both, each once')
    return roles


def _secrets(root: Table, folder: Path, needed: bool) -> tuple[dict[str, SecretSource], tuple[str, ...]]:
    table = root.table("secrets", NAMES)
    sources: dict[str, SecretSource] = {}
    warnings = []
    for name in NAMES:
        if name not in table.raw:
            continue
        source = read_source(table.raw[name], folder)
        if source is None:
            table.fault(name, 'must be "env:NAME" or "file:PATH"; the secret itself never stands here')
            continue
        sources[name] = source
        if needed and fetch(source) is None:
            where = f"the environment variable {source.name}" if source.kind == "env" else "the file it names"
            table.fault(name, f"{where} is missing or empty")
        if readable_by_others(source):
            warnings.append(f"secrets.{name}: the file is readable by other users; chmod 600 it")
    return sources, tuple(warnings)


def _exchange(root: Table) -> Exchange:
    table = root.table("exchange", ("base_url", "timeout_seconds", "attempts", "backoff_ms", "heartbeat_hours"))
    origin = read_base(table.raw.get("base_url", published.base_url()))
    if not isinstance(origin, Origin):
        table.fault("base_url", origin)
        origin = Origin("https", "exchange.invalid", 443)
    return Exchange(
        origin, table.integer("timeout_seconds", 15, 1, 300), table.integer("attempts", 6, 1, 10),
        table.integer("backoff_ms", 300, 1, 30000), table.integer("heartbeat_hours", 6, 0, 168))


def _skills(root: Table, folder: Path, *, needed: bool) -> dict[str, Skill]:
    tables = root.tables("skills", _SKILL)
    if needed and not tables:
        root.fault("skills", "a seller needs at least one [[skills]]")
    skills: dict[str, Skill] = {}
    for table in tables:
        skill = read_skill(table, folder)
        if skill.task_type in skills:
            table.fault("task_type", f'"{skill.task_type}" stands twice')
        skills[skill.task_type] = skill
    return skills


def _buyer(root: Table) -> Buyer:
    table = root.table("buyer", ("choose", "max_eta_minutes", "daily_budget", "accept", "only_tasks"))
    choose = table.choice("choose", ("cheapest", "fastest", "person"), "person")
    return Buyer(
        choose, table.integer("max_eta_minutes", 43200, 1, 43200),
        table.money("daily_budget", required=choose != "person"),
        table.choice("accept", ("checked", "person"), "person"),
        table.choice("only_tasks", ("any", "listed"), "listed"))


def _review(root: Table) -> Review:
    table = root.table("review", ("answer", "rating", "comment"))
    if table.choice("answer", ("skip", "fixed"), "skip") == "skip":
        return Review(None, "")
    if "rating" not in table.raw:
        table.fault("rating", "is required with answer \"fixed\"")
    return Review(
        table.integer("rating", 5, 1, 5) if "rating" in table.raw else 5,
        table.optional("comment", 1000) or "")


def _limits(root: Table, roles: tuple[str, ...], folder: Path) -> Limits:
    names = ("max_price", "min_price", "ask_above", "max_spend", "ask_spend_above", "valid_days",
             "organization_id", "document", "issuer_jwk", "status_url")
    table = root.table("mandate", names)
    document, issuer = (table.optional(name) for name in ("document", "issuer_jwk"))
    plain = [name for name in names[:5] if name in table.raw]
    if document is not None and plain:
        table.fault("document", f"stands beside the plain limit {plain[0]}: give one or the other")
    if document is not None and issuer is None:
        table.fault("issuer_jwk", "is required with document")
    files = [None if path is None else _json_file(table, name, folder / path)
             for name, path in ((DOCUMENT, document), (ISSUER_JWK, issuer))]
    status_url = table.optional("status_url", 2000)
    if status_url is not None and (not status_url.startswith("https:") or isinstance(read_base(status_url), str)):
        table.fault("status_url", "must be an https address")
    organization = table.optional("organization_id", 132)
    if organization is not None and not Prefix.ORGANIZATION.names(organization):
        table.fault("organization_id", "must be an organisation's id, such as org_example_works")
    limits = Limits(
        table.money("max_price", required=document is None and "seller" in roles), table.money("min_price"),
        table.money("ask_above"), table.money("max_spend", required=document is None and "buyer" in roles),
        table.money("ask_spend_above"), table.integer("valid_days", 365, 1, 730), organization,
        None if document is None else folder / document, _documented(table, *files), status_url)
    _ordered(table, "min_price", limits.min_price, limits.max_price)
    return limits


def _json_file(table: Table, name: str, path: Path) -> dict[str, Any] | None:
    """The JSON object in a file that a key names."""
    try:
        value = read_json(path.read_bytes())
    except OSError:
        table.fault(name, "names no file that can be read")
        return None
    if isinstance(value, Unreadable) or not isinstance(value, dict):
        table.fault(name, "is no JSON object")
        return None
    return value


def _documented(
    table: Table, document: Mapping[str, Any] | None, jwk: Mapping[str, Any] | None,
) -> Documented | None:
    """The mandate of another issuer, where both files are there and fit together."""
    if document is None or jwk is None:
        return None
    found = read_documented(document, jwk)
    if isinstance(found, Documented):
        return found
    table.fault(found.setting, found.text)
    return None


def _ordered(table: Table, name: str, low: Decimal | None, high: Decimal | None) -> None:
    if low is not None and high is not None and low > high:
        table.fault(name, "is above max_price")
