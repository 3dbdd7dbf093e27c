"""Schema keywords that look further in, and the walk over a compiled schema (objects 0; design, Dependencies).

The engine is `jsonschema`: `Validator` is its draft 2020-12 validator with this table of keyword functions in
place of its own. The stock functions set up a new validator and resolver for every value they descend to.
Here references are resolved when a schema is compiled (`schema_compiler`), so descending is a function call. A
test holds both tables to the same verdicts. Whether a value fits at all is asked of `schema_predicates` first;
this module is for the reasons.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError
from jsonschema.validators import extend

from a202_reference.json_values import printable
from a202_reference.schema_leaves import LEAVES, Leaf, matches
from a202_reference.schema_predicates import predicate_of

Errors: TypeAlias = Sequence[ValidationError]
Composite: TypeAlias = Callable[[Any, Any, Mapping[str, Any]], Errors]
"""From a keyword's argument, the value and the subschema the keyword stands in, to the errors."""
KeywordFunction: TypeAlias = Callable[[Any, Any, Any, Any], Errors]

MANY = 20
"""Errors in one array after which nobody reads on."""


class Compiled(dict[str, Any]):
    """A subschema, with the checks of its keywords made ready. It stays the JSON object it was.

    accepts: whether a value fits, without reasons.
    """

    __slots__ = ("accepts", "checks", "functions")

    def __init__(self, schema: Mapping[str, Any]) -> None:
        super().__init__(schema)
        self.accepts = predicate_of(schema)
        self.checks = tuple(LEAVES[keyword](argument) for keyword, argument in schema.items() if keyword in LEAVES)
        self.functions = tuple(
            (COMPOSITES[keyword], argument) for keyword, argument in schema.items() if keyword in COMPOSITES)


def walk(schema: Compiled | bool, value: Any) -> Errors:
    """The errors of `value` under a compiled subschema, without a validator of its own."""
    if isinstance(schema, bool):
        return () if schema else (ValidationError("must be absent"),)
    errors: Errors = ()
    for check in schema.checks:
        message = check(value)
        if message is not None:
            errors = (*errors, ValidationError(message))
    for function, argument in schema.functions:
        found = function(argument, value, schema)
        if found:
            errors = (*errors, *found)
    return errors


def _below(errors: Errors, step: str | int) -> Errors:
    for error in errors:
        error.path.appendleft(step)
    return errors


def _properties(members: Any, value: Any, _: Any) -> Errors:
    errors: list[ValidationError] = []
    if isinstance(value, dict):
        for name, schema in members.items():
            if name in value:
                found = walk(schema, value[name])
                if found:
                    errors.extend(_below(found, name))
    return errors


def _additional(schema: Any, value: Any, parent: Any) -> Errors:
    if not isinstance(value, dict):
        return ()
    known = parent.get("properties", {})
    forms = parent.get("patternProperties", ())
    extra = [name for name in value if name not in known and not any(matches(form, name) for form in forms)]
    if not extra:
        return ()
    if schema is False:
        return (ValidationError(f"has members that are not allowed: {', '.join(sorted(map(printable, extra))[:4])}"),)
    return [error for name in extra for error in _below(walk(schema, value[name]), printable(name))]


def _pattern_members(forms: Any, value: Any, _: Any) -> Errors:
    if not isinstance(value, dict):
        return ()
    return [error for form, schema in forms.items() for name in value if matches(form, name)
            for error in _below(walk(schema, value[name]), printable(name))]


def _member_names(schema: Any, value: Any, _: Any) -> Errors:
    if not isinstance(value, dict):
        return ()
    return [error for name in value for error in _below(walk(schema, name), printable(name))]


def _prefix_items(schemas: Any, value: Any, _: Any) -> Errors:
    if not isinstance(value, list):
        return ()
    return [error for index, (schema, item) in enumerate(zip(schemas, value, strict=False))
            for error in _below(walk(schema, item), index)]


def _items(schema: Any, value: Any, parent: Any) -> Errors:
    errors: list[ValidationError] = []
    if isinstance(value, list):
        for index in range(len(parent.get("prefixItems", ())), len(value)):
            found = walk(schema, value[index])
            if found:
                errors.extend(_below(found, index))
                if len(errors) > MANY:
                    break
    return errors


def _all_of(branches: Any, value: Any, _: Any) -> Errors:
    return [error for branch in branches for error in walk(branch, value)]


def _any_of(branches: Any, value: Any, _: Any) -> Errors:
    refusals = []
    for branch in branches:
        errors = walk(branch, value)
        if not errors:
            return ()
        refusals.append(errors)
    return _closest(refusals, value)


def _one_of(branches: Any, value: Any, _: Any) -> Errors:
    refusals = [errors for errors in (walk(branch, value) for branch in branches) if errors]
    fitting = len(branches) - len(refusals)
    if fitting == 1:
        return ()
    if fitting == 0:
        return _closest(refusals, value)
    return (ValidationError("fits more than one of the forms of which exactly one is due"),)


def _closest(refusals: Sequence[Errors], value: Any) -> Errors:
    """Why the one branch for this kind of value refuses it, else that no branch is for it."""
    if isinstance(value, dict | list):
        for errors in refusals:
            if all(error.path or error.message.startswith(("lacks", "has")) for error in errors):
                return errors
    return (ValidationError("has none of the forms allowed here"),)


def _if(condition: Any, value: Any, parent: Any) -> Errors:
    branch = parent.get("else" if walk(condition, value) else "then", True)
    return walk(branch, value)


def _not(schema: Any, value: Any, _: Any) -> Errors:
    return () if walk(schema, value) else (ValidationError("has a form that is excluded here"),)


def _ignored(_: Any, __: Any, ___: Any) -> Errors:
    """`then` and `else` speak through `if`."""
    return ()


COMPOSITES: Mapping[str, Composite] = {
    "properties": _properties,
    "additionalProperties": _additional,
    "patternProperties": _pattern_members,
    "propertyNames": _member_names,
    "items": _items,
    "prefixItems": _prefix_items,
    "allOf": _all_of,
    "anyOf": _any_of,
    "oneOf": _one_of,
    "if": _if,
    "then": _ignored,
    "else": _ignored,
    "not": _not,
}
"""Keywords that look further in, or at other keywords beside them."""


def _leaf_keyword(leaf: Leaf) -> KeywordFunction:
    def judge(_: Any, argument: Any, value: Any, __: Any) -> Errors:
        message = leaf(argument)(value)
        return () if message is None else (ValidationError(message),)
    return judge


def _composite_keyword(composite: Composite) -> KeywordFunction:
    return lambda _, argument, value, schema: composite(argument, value, schema)


Validator = extend(Draft202012Validator, {
    **{name: _leaf_keyword(leaf) for name, leaf in LEAVES.items()},
    **{name: _composite_keyword(composite) for name, composite in COMPOSITES.items()}})
"""`jsonschema`'s draft 2020-12 validator over this table. It judges schemas compiled by `schema_compiler` only."""
