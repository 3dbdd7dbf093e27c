"""The arguments of a call, held against the published schemas (spec 5, "Bad input"; requirements A43, A75).

Rules this module applies:

- a required argument that is absent, null or of another type, an optional one of another type, a word that is not in
  its list, nesting beyond 64 levels: a tool error that names the argument. null for an optional one is absent;
- ids are text of 1 to 200 characters without control characters and lone surrogates, and not `.` or `..`;
- only JSON `true` makes a test, of any tool; what is no boolean there is an error, also where no schema names it;
- members that the schema does not name are data: kept, and read by those tools that know them.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final

from a202_mcp.axp.reading import as_integer, too_deep
from a202_reference.wire import has_lone_surrogate

IDS: Final = frozenset({"task_id", "announcement_id", "mediation_id"})
EVERYWHERE: Final[Mapping[str, Mapping[str, Any]]] = {"test": {"type": "boolean"}}
"""Arguments that every tool takes."""
LENIENT: Final = frozenset({"buyer"})
"""Arguments that come in shapes besides the published one ("anonymous"), and are only ever looked into."""

_TYPES: Final[Mapping[str, Callable[[Any], bool]]] = {
    "string": lambda value: isinstance(value, str),
    "object": lambda value: isinstance(value, dict),
    "array": lambda value: isinstance(value, list),
    "boolean": lambda value: isinstance(value, bool),
    "number": lambda value: isinstance(value, Decimal),
    "integer": lambda value: as_integer(value) is not None,
    "null": lambda value: value is None,
}


@dataclass(frozen=True, slots=True)
class Call:
    """One call of a tool: its arguments without nulls at the top, the raw body it came in, whether it is a test."""

    arguments: Mapping[str, Any]
    raw: bytes
    test: bool

    def text(self, name: str) -> str | None:
        """A text argument, or None where it is absent or something else."""
        value = self.arguments.get(name)
        return value if isinstance(value, str) else None

    def mapping(self, name: str) -> Mapping[str, Any]:
        """An object argument; empty where it is absent or something else."""
        value = self.arguments.get(name)
        return value if isinstance(value, dict) else {}

    @property
    def task_id(self) -> str:
        """The task's id."""
        return str(self.arguments["task_id"])


def read_call(schema: Mapping[str, Any], arguments: object, raw: bytes) -> Call | str:
    """The call, or what is wrong with its arguments. Total."""
    if not isinstance(arguments, dict):
        return "arguments: must be an object"
    if too_deep(arguments):
        return "arguments: nested deeper than 64 levels"
    for name, rule in {**EVERYWHERE, **schema["properties"]}.items():
        fault = _fault(name, rule, arguments.get(name), required=name in schema["required"])
        if fault is not None:
            return f"{name}: {fault}"
    given = {name: value for name, value in arguments.items() if value is not None}
    return Call(given, raw, given.get("test") is True)


def is_id(value: object) -> bool:
    """True for an id that may be stored and put into a path."""
    return (
        isinstance(value, str) and 1 <= len(value) <= 200 and value not in (".", "..")
        and not has_lone_surrogate(value) and not any(unicodedata.category(each) == "Cc" for each in value))


def _fault(name: str, rule: Mapping[str, Any], value: Any, *, required: bool) -> str | None:
    if value is None:
        return "is required" if required else None
    if name in LENIENT:
        return None
    types = rule.get("type", "string" if "const" in rule else None)
    types = [types] if isinstance(types, str) else types or []
    if types and not any(_TYPES[each](value) for each in types):
        return "must be " + " or ".join(each for each in types if each != "null")
    if "enum" in rule and value not in rule["enum"]:
        return "must be one of " + ", ".join(rule["enum"])
    if "const" in rule and value != rule["const"]:
        return f'must be "{rule["const"]}"'
    if name in IDS and not is_id(value):
        return "must be 1 to 200 characters without control characters"
    return None
