"""Schema keywords that look at a value alone (objects 0, 1.4, 11; design override 11).

Rules this module applies:

- patterns have ECMA-262 meaning: `$` is the end of the string, never the place before a final line feed. The
  engine is chosen by whoever compiles the schema; here a pattern is a matcher;
- `date-time` is a real RFC 3339 instant in UTC with a capital `Z`; `uri` has RFC 3986 syntax; both assert;
- an integer may be written `1.0`, a boolean is no number, and `uniqueItems` compares as JSON does;
- a message names the rule that failed and repeats nothing of the value.

Each keyword is a function from its argument to a check, so that what depends on the schema alone is done once.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable, Mapping
from operator import ge, gt, le, lt
from typing import Any, TypeAlias

from jsonschema import FormatChecker

from a202_reference.json_values import is_integer, json_key
from a202_reference.times import parse_instant

Check: TypeAlias = Callable[[Any], str | None]
"""A message for a value that breaks the rule, None for one that keeps it."""
Leaf: TypeAlias = Callable[[Any], Check]
Matcher: TypeAlias = Callable[[str], object]
Compare: TypeAlias = Callable[[Any, Any], bool]

_URI = re.compile(
    r"[A-Za-z][A-Za-z0-9+.-]*:"
    r"(?://(?:(?:[A-Za-z0-9._~!$&'()*+,;=:-]|%[0-9A-Fa-f]{2})*@)?"
    r"(?:\[(?P<literal>[^\[\]]*)\]|(?:[A-Za-z0-9._~!$&'()*+,;=-]|%[0-9A-Fa-f]{2})*)(?::[0-9]*)?"
    r"(?:/(?:[A-Za-z0-9._~!$&'()*+,;=:@-]|%[0-9A-Fa-f]{2})*)*"
    r"|/?(?:(?:[A-Za-z0-9._~!$&'()*+,;=:@-]|%[0-9A-Fa-f]{2})+(?:/(?:[A-Za-z0-9._~!$&'()*+,;=:@-]|%[0-9A-Fa-f]{2})*)*)?)"
    r"(?:\?(?:[A-Za-z0-9._~!$&'()*+,;=:@/?-]|%[0-9A-Fa-f]{2})*)?"
    r"(?:#(?:[A-Za-z0-9._~!$&'()*+,;=:@/?-]|%[0-9A-Fa-f]{2})*)?", re.ASCII)
_FUTURE_ADDRESS = re.compile(r"v[0-9A-Fa-f]+\.[A-Za-z0-9._~!$&'()*+,;=:-]+", re.ASCII)
_OTHER_FORMATS = FormatChecker()


def is_uri(text: str) -> bool:
    """True for an absolute URI by the grammar of RFC 3986."""
    found = _URI.fullmatch(text)
    if found is None:
        return False
    literal = found["literal"]
    if literal is None or _FUTURE_ADDRESS.fullmatch(literal):
        return True
    try:
        ipaddress.IPv6Address(literal)
    except ValueError:
        return False
    return "%" not in literal


_CLASSES: Mapping[str, type] = {
    "string": str, "object": dict, "array": list, "boolean": bool, "null": type(None),
}
"""Types that are one class of Python's. `integer` and `number` are not: a boolean is an int there."""


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _type(wanted: Any) -> Check:
    names = [wanted] if isinstance(wanted, str) else wanted
    message = f"must be of type {' or '.join(names)}"
    classes = tuple(_CLASSES[name] for name in names if name in _CLASSES)
    number = _is_number if "number" in names else is_integer if "integer" in names else None
    if number is None:
        wanted_class = classes[0] if len(classes) == 1 else classes
        return lambda value: None if isinstance(value, wanted_class) else message
    return lambda value: None if isinstance(value, classes) or number(value) else message


def _pattern(matcher: Any) -> Check:
    def check(value: Any) -> str | None:
        if not isinstance(value, str) or matches(matcher, value):
            return None
        return "does not have the required form"
    return check


def matches(matcher: Matcher, text: str) -> bool:
    """True where the pattern is found in the text. A lone surrogate, which no engine reads, has no form."""
    try:
        return matcher(text) is not None
    except UnicodeEncodeError:
        return False


def _format(name: Any) -> Check:
    test, words = _FORMATS.get(name, (lambda text: _OTHER_FORMATS.conforms(text, name), f"must have the format {name}"))
    return lambda value: None if not isinstance(value, str) or test(value) else words


_FORMATS: Mapping[str, tuple[Callable[[str], object], str]] = {
    "date-time": (parse_instant, "must be an RFC 3339 date-time in UTC ending in Z"),
    "uri": (is_uri, "must be a URI"),
}


def _const(wanted: Any) -> Check:
    if isinstance(wanted, str):
        said = f"must be {wanted}"
        return lambda value: None if isinstance(value, str) and value == wanted else said
    key, message = json_key(wanted), "must have the one value fixed for it"
    return lambda value: None if json_key(value) == key else message


def _enum(wanted: Any) -> Check:
    keys, message = frozenset(map(json_key, wanted)), "is not one of the registered values"
    return lambda value: None if (value if isinstance(value, str) else json_key(value)) in keys else message


def _required(names: Any) -> Check:
    wanted = frozenset(names)

    def check(value: Any) -> str | None:
        if not isinstance(value, dict) or wanted <= value.keys():
            return None
        return f"lacks {', '.join(sorted(wanted - value.keys()))}"
    return check


def _sized(kind: type[str] | type[list[Any]] | type[dict[Any, Any]], tells: Compare, words: str) -> Leaf:
    def leaf(bound: Any) -> Check:
        message = words.format(bound)
        return lambda value: None if not isinstance(value, kind) or tells(len(value), bound) else message
    return leaf


def _bounded(tells: Compare, words: str) -> Leaf:
    def leaf(bound: Any) -> Check:
        message = words.format(bound)
        return lambda value: None if not _is_number(value) or tells(value, bound) else message
    return leaf


def _unique(wanted: Any) -> Check:
    def check(value: Any) -> str | None:
        if not wanted or not isinstance(value, list) or len(value) < 2:
            return None
        return None if len(set(map(json_key, value))) == len(value) else "holds an item twice"
    return check


LEAVES: Mapping[str, Leaf] = {
    "type": _type,
    "pattern": _pattern,
    "format": _format,
    "const": _const,
    "enum": _enum,
    "required": _required,
    "minLength": _sized(str, ge, "is shorter than {}"),
    "maxLength": _sized(str, le, "is longer than {}"),
    "minItems": _sized(list, ge, "has fewer than {} items"),
    "maxItems": _sized(list, le, "has more than {} items"),
    "minProperties": _sized(dict, ge, "has fewer than {} members"),
    "maxProperties": _sized(dict, le, "has more than {} members"),
    "uniqueItems": _unique,
    "minimum": _bounded(ge, "is less than {}"),
    "maximum": _bounded(le, "is more than {}"),
    "exclusiveMinimum": _bounded(gt, "is not more than {}"),
    "exclusiveMaximum": _bounded(lt, "is not less than {}"),
}
"""Keywords that look at the value alone. From a keyword's argument to a check, which gives a message or None."""
