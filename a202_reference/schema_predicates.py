"""Does a value fit a schema: a yes or no, without reasons (objects 0; design, Speed).

Nearly every document that is judged fits, so this is asked first, and `schema_keywords` is asked for the reasons
only where the answer is no. A compiled subschema becomes one function here: it stops at the first keyword that the
value breaks, and neither an `if` nor a branch of `anyOf` writes an error that nobody reads. A property test
holds the answer equal to "`schema_keywords` has no error".

Each keyword that looks further in is a function from its argument, and the subschema it stands in, to a predicate.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias

from a202_reference.schema_leaves import LEAVES, Check, matches

_CLOSED: Final = {"type", "required", "properties", "additionalProperties"}

Predicate: TypeAlias = Callable[[Any], bool]
Composite: TypeAlias = Callable[[Any, Mapping[str, Any]], Predicate]


def predicate_of(schema: Mapping[str, Any]) -> Predicate:
    """The predicate of one subschema, whose own subschemas are compiled already."""
    if schema.keys() == {"type", "pattern"} and schema["type"] == "string":
        return _patterned(schema["pattern"])
    if schema.keys() == _CLOSED and schema["type"] == "object" and schema["additionalProperties"] is False:
        return _closed(schema["required"], schema["properties"])
    checks = tuple(LEAVES[keyword](argument) for keyword, argument in schema.items() if keyword in LEAVES)
    further = tuple(COMPOSITES[keyword](argument, schema) for keyword, argument in schema.items()
                    if keyword in COMPOSITES)
    return _joined(checks, further)


def _patterned(matcher: Any) -> Predicate:
    """The commonest text: of one form."""
    return lambda value: isinstance(value, str) and matches(matcher, value)


def _closed(required: Any, properties: Mapping[str, Any]) -> Predicate:
    """The commonest object: these members and no others."""
    needed, known = frozenset(required), properties.keys()
    named = tuple((name, _accepts(schema)) for name, schema in properties.items())

    def judge(value: Any) -> bool:
        if not isinstance(value, dict) or not needed <= value.keys() <= known:
            return False
        for name, accepts in named:  # noqa: SIM110 (a generator for every value costs more than this loop)
            if name in value and not accepts(value[name]):
                return False
        return True
    return judge


def _joined(checks: tuple[Check, ...], further: tuple[Predicate, ...]) -> Predicate:
    """All of them. Most subschemas have one check or two, and those are written out: a loop costs more than they do."""
    if not further and len(checks) == 1:
        only = checks[0]
        return lambda value: only(value) is None
    if not further and len(checks) == 2:
        first, second = checks
        return lambda value: first(value) is None and second(value) is None
    if not checks and len(further) == 1:
        return further[0]

    def node(value: Any) -> bool:
        for check in checks:
            if check(value) is not None:
                return False
        for accepts in further:  # noqa: SIM110 (a generator for every value costs more than this loop)
            if not accepts(value):
                return False
        return True

    return node


def _accepts(schema: Any) -> Predicate:
    """The predicate of a compiled subschema, or of `true` or `false` in its place."""
    if isinstance(schema, bool):
        return lambda _: schema
    accepts: Predicate = schema.accepts
    return accepts


def _properties(members: Any, _: Any) -> Predicate:
    named = tuple((name, _accepts(schema)) for name, schema in members.items())

    def judge(value: Any) -> bool:
        if isinstance(value, dict):
            for name, accepts in named:
                if name in value and not accepts(value[name]):
                    return False
        return True
    return judge


def _additional(schema: Any, parent: Any) -> Predicate:
    known, forms = parent.get("properties", {}).keys(), tuple(parent.get("patternProperties", ()))
    accepts = _accepts(schema)

    def judge(value: Any) -> bool:
        if not isinstance(value, dict) or value.keys() <= known:
            return True
        return all(accepts(value[name]) for name in value.keys() - known
                   if not any(matches(form, name) for form in forms))
    return judge


def _pattern_members(forms: Any, _: Any) -> Predicate:
    named = tuple((form, _accepts(schema)) for form, schema in forms.items())
    return lambda value: not isinstance(value, dict) or all(
        accepts(member) for form, accepts in named for name, member in value.items() if matches(form, name))


def _member_names(schema: Any, _: Any) -> Predicate:
    accepts = _accepts(schema)
    return lambda value: not isinstance(value, dict) or all(map(accepts, value))


def _prefix_items(schemas: Any, _: Any) -> Predicate:
    placed = tuple(map(_accepts, schemas))
    return lambda value: not isinstance(value, list) or all(
        accepts(item) for accepts, item in zip(placed, value, strict=False))


def _items(schema: Any, parent: Any) -> Predicate:
    accepts, first = _accepts(schema), len(parent.get("prefixItems", ()))
    return lambda value: not isinstance(value, list) or all(map(accepts, value[first:]))


def _all_of(branches: Any, _: Any) -> Predicate:
    return _joined((), tuple(map(_accepts, branches)))


def _any_of(branches: Any, _: Any) -> Predicate:
    forms = tuple(map(_accepts, branches))
    return lambda value: any(accepts(value) for accepts in forms)


def _one_of(branches: Any, _: Any) -> Predicate:
    forms = tuple(map(_accepts, branches))
    return lambda value: sum(accepts(value) for accepts in forms) == 1


def _if(condition: Any, parent: Any) -> Predicate:
    applies, then, other = (_accepts(schema) for schema in (
        condition, parent.get("then", True), parent.get("else", True)))
    return lambda value: then(value) if applies(value) else other(value)


def _not(schema: Any, _: Any) -> Predicate:
    accepts = _accepts(schema)
    return lambda value: not accepts(value)


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
    "not": _not,
}
"""The composite keywords of `schema_keywords`; `then` and `else` speak through `if`."""
