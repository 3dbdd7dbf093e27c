"""One change to a bundle, chosen by a seed: what a tamperer without keys can do."""

from __future__ import annotations

import copy
import random
from collections.abc import Iterator, Mapping
from typing import Any

HOSTILE: tuple[Any, ...] = (
    None, True, False, 0, 1, -1, 2**53 - 1, 2**60, 1.5, float("nan"), "", "x", "0", "\ud800", "a" * 5000, [], {}, [[]],
    [None], {"": ""}, ["evd_x01"], [{}], {"kind": []}, "2026-08-20T10:00:00Z", "2026-13-40T10:00:00Z", "0" * 64)


def leaves(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The path of every member and element, containers included."""
    members: Any = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, member in members:
        yield (*path, name)
        yield from leaves(member, (*path, name))


def get(document: Any, path: tuple[Any, ...]) -> Any:
    for step in path:
        document = document[step]
    return document


def put(document: Any, path: tuple[Any, ...], value: Any) -> None:
    get(document, path[:-1])[path[-1]] = value


def tampered_paths(bundle: Mapping[str, Any]) -> list[tuple[Any, ...]]:
    """Every member that must not change unnoticed: of objects, acts, mandates, and of keys what identifies them."""
    paths = [(part, *path) for part in ("objects", "mandates", "acts") for path in leaves(bundle[part])]
    for at in range(len(bundle["keys"])):
        paths += [("keys", at, *path) for path in leaves(bundle["keys"][at])
                  if path[0] in ("key_id", "owner", "public_key_jwk")]
    return [path for path in paths if len(path) > 2]


def another(value: Any, chance: random.Random) -> Any:
    """A value that is not this one: near it, or something else altogether."""
    near: list[Any] = [None, "x", 7, [], {}]
    if isinstance(value, str):
        near += [value + "0", value[:-1], value.swapcase(), value[::-1], _flipped(value, chance)]
    elif isinstance(value, bool):
        near += [not value]
    elif isinstance(value, int):
        near += [value + 1, value - 1, str(value)]
    elif isinstance(value, list):
        near += [[*value, *value], value[1:]]
    elif isinstance(value, dict):
        near += [{**value, "extra": 1}, dict(list(value.items())[1:])]
    return chance.choice([other for other in near if other != value or type(other) is not type(value)])


def _flipped(text: str, chance: random.Random) -> str:
    if not text:
        return "0"
    at = chance.randrange(len(text))
    return text[:at] + ("0" if text[at] != "0" else "1") + text[at + 1:]


def mutated(bundle: Mapping[str, Any], chance: random.Random) -> tuple[str, dict[str, Any]]:
    """The bundle with one change, and what it was."""
    changed = copy.deepcopy(dict(bundle))
    kind = chance.choices(("value", "member", "drop", "swap"), (80, 8, 6, 6))[0]
    if kind == "drop":
        gone = changed["objects"].pop(chance.randrange(len(changed["objects"])))
        return f"drop {gone['id']}", changed
    if kind == "swap":
        one, other = chance.sample(changed["objects"], 2)
        one["signatures"], other["signatures"] = other["signatures"], one["signatures"]
        return f"swap signatures of {one['id']} and {other['id']}", changed
    path = chance.choice(tampered_paths(bundle))
    if kind == "member":
        del get(changed, path[:-1])[path[-1]]
        return f"remove {path}", changed
    value = another(get(bundle, path), chance)
    put(changed, path, value)
    return f"{path} = {value!r}"[:300], changed
