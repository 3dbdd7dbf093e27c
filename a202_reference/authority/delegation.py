"""Delegation may only narrow (rules 3.7, D-14; verification 5.12, D43).

Rules this module applies, for one hop from parent to child:

- the child names its parent, represents the same organisation, and is issued within it under the parent's
  subject key or issuer key;
- interval, actions and each scope axis the parent declares stay within the parent's; an axis only the child
  declares narrows and is free;
- every deny constraint of the parent stays: the child holds one of the same type, path and operator that
  still denies and is as tight; where it holds several, each must be as tight (D43). `require_approval`
  constraints and approval rules may be dropped, because the whole chain is evaluated (D-11);
- the parent allows delegation, and the child's depth is at least one less.

What cannot be compared is not narrower: every doubt is a reason. Each reason means
`A202-MANDATE-DELEGATION-WIDENING`. The function is total: hostile documents get reasons, never an exception.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from a202_reference.json_values import is_integer, json_key, printable, too_deep
from a202_reference.money import evaluated_decimal
from a202_reference.registries import ConstraintOperator as Op
from a202_reference.times import parse_instant

_AXES = ("transaction_ids", "categories", "counterparty_organization_ids", "geographies")


def widening_faults(parent: object, child: object) -> tuple[str, ...]:
    """Why the child is wider than its parent, or not provably narrower; empty where it is narrower."""
    if not isinstance(parent, Mapping) or not isinstance(child, Mapping):
        return ("parent and child must both be mandates",)
    if too_deep([parent, child]):
        return ("the mandates are nested too deeply to compare",)
    return tuple(fault for rule in _RULES for fault in rule(parent, child))


def _reference(parent: Mapping[str, Any], child: Mapping[str, Any]) -> Iterator[str]:
    named = child.get("parent_mandate_id")
    if not isinstance(named, str) or named != parent.get("id"):
        yield "the child does not name this parent"


def _parties(parent: Mapping[str, Any], child: Mapping[str, Any]) -> Iterator[str]:
    represented = parent.get("represented_organization_id")
    if not isinstance(represented, str) or child.get("represented_organization_id") != represented:
        yield "the child represents another organisation than its parent"
    issuer = _object(child.get("issuer"))
    if issuer.get("organization_id") != represented:
        yield "the child's issuer is of another organisation than the parent represents"
    keys = [_object(parent.get(role)).get("key_id") for role in ("subject", "issuer")]
    if not isinstance(issuer.get("key_id"), str) or issuer["key_id"] not in keys:
        yield "the child is issued under neither the parent's subject key nor its issuer key"


def _interval(parent: Mapping[str, Any], child: Mapping[str, Any]) -> Iterator[str]:
    for member, words, outside in (
        ("valid_from", "starts before its parent", _before),
        ("valid_until", "ends after its parent", lambda mine, theirs: _before(theirs, mine)),
    ):
        mine, theirs = parse_instant(child.get(member)), parse_instant(parent.get(member))
        if mine is None or theirs is None:
            yield f"{member} cannot be compared"
        elif outside(mine, theirs):
            yield f"the child {words}"


def _before(one: datetime, other: datetime) -> bool:
    return one < other


def _actions(parent: Mapping[str, Any], child: Mapping[str, Any]) -> Iterator[str]:
    mine = _items(child.get("actions"))
    if mine is None or not _within(mine, _items(parent.get("actions"))):
        yield "the child permits an action its parent does not"


def _scope(parent: Mapping[str, Any], child: Mapping[str, Any]) -> Iterator[str]:
    narrow = _object(child.get("scope"))
    for axis in _AXES:
        bound = _object(parent.get("scope")).get(axis)
        if bound is None or bound == []:
            continue
        mine = _items(narrow.get(axis))
        if not mine or not _within(mine, _items(bound)):
            yield f"scope.{axis} is not within the parent's"


def _constraints(parent: Mapping[str, Any], child: Mapping[str, Any]) -> Iterator[str]:
    mine = [entry for entry in _items(child.get("constraints")) or () if isinstance(entry, Mapping)]
    for bound in _items(parent.get("constraints")) or ():
        if not isinstance(bound, Mapping):
            yield "a constraint of the parent is no object"
        elif bound.get("on_failure") == "deny":
            fault = _retained(bound, [entry for entry in mine if _key(entry) == _key(bound)])
            if fault:
                yield f"the parent's constraint {printable(bound.get('id'))} {fault}"


def _retained(bound: Mapping[str, Any], matching: Sequence[Mapping[str, Any]]) -> str | None:
    if not matching:
        return "is not retained"
    operator = bound.get("operator")
    tight = _TIGHTER.get(operator, _same) if isinstance(operator, str) else _same
    if not all(tight(entry.get("value"), bound.get("value")) for entry in matching):
        return "is loosened, or cannot be compared"
    if not any(entry.get("on_failure") == "deny" for entry in matching):
        return "no longer denies"
    return None


def _delegation(parent: Mapping[str, Any], child: Mapping[str, Any]) -> Iterator[str]:
    grant, use = _object(parent.get("delegation")), _object(child.get("delegation"))
    if grant.get("allowed") is not True:
        yield "the parent does not allow delegation"
    allowed, taken = _depth(grant), _depth(use)
    if allowed is None or taken is None or taken > allowed - 1:
        yield "the child's delegation depth is not at least one less than its parent's"


_RULES: tuple[Callable[[Mapping[str, Any], Mapping[str, Any]], Iterable[str]], ...] = (
    _reference, _parties, _interval, _actions, _scope, _constraints, _delegation)


def _same(mine: Any, theirs: Any) -> bool:
    return bool(json_key(mine) == json_key(theirs))


def _at_most(mine: Any, theirs: Any) -> bool:
    ours, bound = evaluated_decimal(mine), evaluated_decimal(theirs)
    return ours is not None and bound is not None and ours <= bound


def _not_later(mine: Any, theirs: Any) -> bool:
    ours, bound = parse_instant(mine), parse_instant(theirs)
    return ours is not None and bound is not None and ours <= bound


def _subset(mine: Any, theirs: Any) -> bool:
    inner, outer = _items(mine), _items(theirs)
    return inner is not None and outer is not None and _within(inner, outer)


def _flipped(compare: Callable[[Any, Any], bool]) -> Callable[[Any, Any], bool]:
    return lambda mine, theirs: compare(theirs, mine)


_TIGHTER: Mapping[str, Callable[[Any, Any], bool]] = {
    Op.MAXIMUM: _at_most,
    Op.MINIMUM: _flipped(_at_most),
    Op.BEFORE: _not_later,
    Op.AFTER: _flipped(_not_later),
    Op.ONE_OF: _subset,
    Op.NONE_OF: _flipped(_subset),
}
"""When the child's value is as tight as the parent's; every other operator needs the same value."""


def _key(constraint: Mapping[str, Any]) -> Any:
    return json_key([constraint.get("type"), constraint.get("path"), constraint.get("operator")])


def _object(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _items(value: Any) -> Sequence[Any] | None:
    return value if isinstance(value, list) else None


def _within(inner: Sequence[Any], outer: Sequence[Any] | None) -> bool:
    return outer is not None and {json_key(item) for item in inner} <= {json_key(item) for item in outer}


def _depth(delegation: Mapping[str, Any]) -> Any:
    depth = delegation.get("maximum_depth", 0)
    return depth if is_integer(depth) else None
