"""Argument shapes that several tools share (surface 1), and the words that describe them to a client.

Only what no registered code speaks about is refused here as a shape. Whatever a rule has a code for (amounts,
quantities, hashes, intervals, terms) is left to the rule, so that the refusal carries that code.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

Shape = Mapping[str, Any]

_SUFFIX: Final = "[A-Za-z0-9][A-Za-z0-9_-]{2,127}"


def text(description: str, **more: Any) -> Shape:
    """A string."""
    return {"type": "string", "description": description, **more}


def identifier(prefix: str, description: str) -> Shape:
    """An identifier of one kind."""
    return text(f"{description} Starts with {prefix}_.", pattern=f"{prefix}_{_SUFFIX}")


def record(description: str, required: list[str], **properties: Shape) -> Shape:
    """A closed object."""
    return {"type": "object", "description": description, "properties": dict(properties), "required": required,
            "additionalProperties": False}


def opaque(description: str) -> Shape:
    """An object that is judged by rules of its own, not by its shape here."""
    return {"type": "object", "description": description}


def listed(description: str, items: Shape, **more: Any) -> Shape:
    """An array."""
    return {"type": "array", "description": description, "items": items, **more}


def arguments(required: list[str], **properties: Shape) -> Shape:
    """A tool's input schema."""
    return {"type": "object", "properties": dict(properties), "required": required, "additionalProperties": False}


TRANSACTION: Final = identifier("txn", "The transaction's id; the two parties choose it.")
INSTANT_NOTE: Final = "RFC 3339 in UTC, for example 2026-08-20T10:00:00Z."


def money(description: str) -> Shape:
    """An amount of money."""
    return record(
        description, ["currency", "amount"],
        currency=text("ISO 4217 code, for example EUR."),
        amount=text("Base-10 amount as text, for example \"3200.00\"; never a number."))


def party(description: str) -> Shape:
    """A party that acts through this server."""
    return record(
        description, ["organization_id", "agent_id", "mandate_id", "key_id"],
        organization_id=identifier("org", "The organisation."),
        agent_id=identifier("agt", "Its agent."),
        mandate_id=identifier("mnd", "The mandate under which the agent acts."),
        key_id=identifier("key", "The agent's key, the one its mandate names."))


def status(description: str) -> Shape:
    """A status answer. Values are text here: an unknown status or time denies, it is no shape error."""
    return {
        "type": "object", "description": description, "properties": {
            "status": text("active, suspended, revoked or expired, as the endpoint answered."),
            "retrieved_at": text(f"When it was retrieved. {INSTANT_NOTE}"),
            "mandate_id": text("The mandate the answer is about."),
            "expires_at": text("The answer's own expiry, where it states one."),
        },
        "required": ["status", "retrieved_at"]}


DECISION_NOTE: Final = "the whole result of verify_mandate, passed on unchanged, at most 60 s old."
IDEMPOTENCY: Final = text(
    "A key of your own for this call, 8 to 255 characters. Repeating the call with it returns the first result, "
    "marked replayed, and records nothing twice.", minLength=8, maxLength=255)
CATEGORY: Final = text("Category of the act; needed where a mandate's scope lists categories.")
GEOGRAPHY: Final = text("Country of the act as two capital letters; needed where a mandate's scope lists geographies.")
RULES_VERSION: Final = text("Version of the rule set a202-rules/pilot. Default 1.3.")
