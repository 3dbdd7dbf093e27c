"""JSON values as JSON Schema compares them, and what may be repeated of them in a message (objects 0)."""

from __future__ import annotations

from typing import Any

from a202_reference.canonical import MAX_DEPTH

_CONTAINERS = (dict, list)


def json_key(value: Any) -> Any:
    """A hashable stand-in for a JSON value: equal exactly where the values are equal.

    `1` and `1.0` are equal, `1` and `true` are not, and the order of members does not matter.
    """
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool):
        return ("boolean", value)
    if isinstance(value, int | float):
        return value
    if isinstance(value, dict):
        return ("object", frozenset((name, json_key(member)) for name, member in value.items()))
    if isinstance(value, list):
        return ("array", tuple(json_key(item) for item in value))
    return ("no JSON", id(value))


def is_integer(value: object) -> bool:
    """JSON Schema's integer: a number without fraction, however it is written; never a boolean."""
    return type(value) is int or (isinstance(value, float) and value.is_integer())


def too_deep(value: Any, levels: int = MAX_DEPTH) -> bool:
    """True where the value is nested beyond the 64 levels that a document may have."""
    nodes = [value] if isinstance(value, _CONTAINERS) else []
    while nodes and levels:
        nodes = [member for node in nodes for member in (node.values() if isinstance(node, dict) else node)
                 if isinstance(member, _CONTAINERS)]
        levels -= 1
    return bool(nodes)


def printable(name: object) -> str:
    """A name from a document, fit for a message: printable ASCII, at most 40 characters."""
    text = ascii(name)[1:-1] if isinstance(name, str) else "(no name)"
    return text if len(text) <= 40 else text[:37] + "..."
