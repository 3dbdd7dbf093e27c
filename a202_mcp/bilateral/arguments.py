"""Reading a tool's arguments against its input schema (surface 4).

Rules this module applies, in this order for each member:

- the root is closed: a member the schema does not declare is refused, and the known ones are named;
- null, or the text "null", for an optional member counts as absent; a required member must be there;
- an object or array, at any declared level, that was sent as JSON text is parsed once by the strict reader
  and then treated as that value; an integer sent as digits is read as the integer;
- a number where text belongs (money and quantities are text) is refused with the text to send, never coerced;
- an object whose schema declares no members is passed on as it is: its rules stand elsewhere.

A refusal's code is A202-POLICY-DENIED; a number for an amount or a quantity is A202-TERMS-INVALID (surface 2,
record_obligation; rules 11.1). Its detail starts with a sentence that names the member by its dotted
path and says what to send. Reading takes time linear in the arguments and never raises: schemas are ours,
arguments are anybody's, and recursion follows the schema.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal
from typing import Any, Final

from a202_reference.canonical import MAX_SAFE_INTEGER
from a202_reference.codes import Code, Refusal, distinct
from a202_reference.wire import Numbers, Unreadable, read_json

KEYWORDS: Final = frozenset({
    "type", "description", "properties", "required", "additionalProperties", "items", "enum", "pattern",
    "minLength", "maxLength", "minimum", "maximum", "minItems",
})
"""The JSON Schema keywords that are read. A tool's schema uses no other."""

TYPES: Final = ("object", "array", "string", "integer", "boolean")
"""The types that are read; a member without a type takes any value."""

_EXACT = ("amount", "quantity")
"""How the names of members end that hold exact decimals as text."""
_MAX_FAULTS = 8
_MAX_SHOWN = 60
_DIGITS = re.compile(r"-?[0-9]{1,16}", re.ASCII)
_ABSENT: Final = object()
_KINDS: Final[Mapping[type, str]] = {
    dict: "an object", list: "an array", str: "text", bool: "true or false", int: "a number", float: "a number",
    type(None): "null",
}


def read_arguments(schema: Mapping[str, Any], raw: object) -> dict[str, Any] | Refusal:
    """The arguments as the tool's handler takes them, or a refusal that says what to send instead.

    schema: a tool's `input_schema`. raw: `arguments` as they came; None counts as no arguments.
    """
    if raw is None:
        raw = {}
    if not isinstance(raw, dict):
        return Refusal.of(
            Code.POLICY_DENIED, f"The arguments are {_kind(raw)}: send an object with {_members(schema)}."
        )
    reader = _Reader()
    arguments = reader.object({**schema, "additionalProperties": False}, raw, "")
    return reader.refusal() or arguments


def foreign_keywords(schema: Mapping[str, Any], path: str = "$") -> Iterator[str]:
    """Every place where a schema uses a keyword or a type that `read_arguments` does not read."""
    yield from (f"{path}: {keyword}" for keyword in schema if keyword not in KEYWORDS)
    if "type" in schema and schema["type"] not in TYPES:
        yield f"{path}: type {schema['type']}"
    for name, member in schema.get("properties", {}).items():
        yield from foreign_keywords(member, f"{path}.{name}")
    if "items" in schema:
        yield from foreign_keywords(schema["items"], f"{path}[]")


class _Reader:
    """One pass over the arguments. Faults are kept as sentences; what a read returns then is not used."""

    def __init__(self) -> None:
        self._sentences: list[str] = []
        self._codes: list[Code] = []
        self._unsaid = 0
        self._read: Mapping[str, Callable[[Mapping[str, Any], Any, str], Any]] = {
            "object": self.object, "array": self._array, "string": self._string,
            "integer": self._integer, "boolean": self._boolean,
        }

    def refusal(self) -> Refusal | None:
        """What was wrong with all that was read, the first faults in full."""
        if not self._sentences:
            return None
        rest = [f"And {self._unsaid} more faults."] if self._unsaid else []
        return Refusal(distinct(self._codes), " ".join(self._sentences + rest))

    def object(self, schema: Mapping[str, Any], value: Any, path: str) -> Any:
        value = self._unquoted(schema, value, path, dict)
        declared: Mapping[str, Any] = schema.get("properties", {})
        if value is _ABSENT or not declared:
            return value
        required = schema.get("required", ())
        members: dict[str, Any] = {}
        for name, member in declared.items():
            given = value.get(name)
            if given is None or (given == "null" and name not in required):
                if name in required:
                    self._fault(_at(path, name), "is required", _wanted(member))
                continue
            members[name] = self._value(member, given, _at(path, name))
        for name in value:
            if name not in declared:
                if schema.get("additionalProperties", True) is False:
                    self._say(_surplus(path, name, declared))
                else:
                    members[name] = value[name]
        return members

    def _value(self, schema: Mapping[str, Any], value: Any, path: str) -> Any:
        read = self._read.get(schema.get("type", ""))
        return value if read is None else read(schema, value, path)

    def _array(self, schema: Mapping[str, Any], value: Any, path: str) -> Any:
        value = self._unquoted(schema, value, path, list)
        if value is _ABSENT:
            return value
        if len(value) < schema.get("minItems", 0):
            self._fault(path, "has too few entries", _wanted(schema))
        items = schema.get("items")
        return value if items is None else [
            self._value(items, entry, f"{path}[{index}]") for index, entry in enumerate(value)
        ]

    def _unquoted(self, schema: Mapping[str, Any], value: Any, path: str, kind: type) -> Any:
        """The object or array itself, also where it came as JSON text."""
        if isinstance(value, kind):
            return value
        if not isinstance(value, str):
            return self._fault(path, f"is {_kind(value)}", _wanted(schema))
        parsed = read_json(value, numbers=Numbers.ANY)
        if isinstance(parsed, kind):
            return parsed
        found = f"text that cannot be read ({parsed.reason})" if isinstance(parsed, Unreadable) else _kind(parsed)
        return self._fault(path, f"is {found}", _wanted(schema))

    def _string(self, schema: Mapping[str, Any], value: Any, path: str) -> Any:
        if isinstance(value, int | float) and not isinstance(value, bool):
            digits = _digits(value)
            meant = f"{_shown(digits)} as a string" if _string_fault(schema, digits) is None else _wanted(schema)
            code = Code.TERMS_INVALID if path.endswith(_EXACT) else Code.POLICY_DENIED
            return self._fault(path, "is a number", meant, code)
        if not isinstance(value, str):
            return self._fault(path, f"is {_kind(value)}", _wanted(schema))
        found = _string_fault(schema, value)
        return value if found is None else self._fault(path, found, _wanted(schema))

    def _integer(self, schema: Mapping[str, Any], value: Any, path: str) -> Any:
        whole = _DIGITS.fullmatch(value) if isinstance(value, str) else isinstance(value, float) and value.is_integer()
        number = int(value) if whole else value
        if not isinstance(number, int) or isinstance(number, bool):
            found = _shown(value) if isinstance(value, str | float) else _kind(value)
            return self._fault(path, f"is {found}", _wanted(schema))
        low = schema.get("minimum", -MAX_SAFE_INTEGER)
        high = schema.get("maximum", MAX_SAFE_INTEGER)
        if not low <= number <= high:
            return self._fault(path, "is out of range", _wanted(schema))
        return number

    def _boolean(self, schema: Mapping[str, Any], value: Any, path: str) -> Any:
        if isinstance(value, bool):
            return value
        return self._fault(path, f"is {_kind(value)}", _wanted(schema))

    def _fault(self, path: str, found: str, wanted: str, code: Code = Code.POLICY_DENIED) -> Any:
        self._say(f"{path} {found}: send {wanted}.", code)
        return _ABSENT

    def _say(self, sentence: str, code: Code = Code.POLICY_DENIED) -> None:
        self._codes.append(code)
        if len(self._sentences) < _MAX_FAULTS:
            self._sentences.append(sentence)
        else:
            self._unsaid += 1


def _at(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def _surplus(path: str, name: str, declared: Mapping[str, Any]) -> str:
    verdict = f"is not a member of {path}" if path else "is not an argument of this tool"
    where = _at(path, name if name.isidentifier() and len(name) <= _MAX_SHOWN else _shown(name))
    return f"{where} {verdict}: leave it out, known are {', '.join(declared)}."


def _wanted(schema: Mapping[str, Any]) -> str:
    """What to send, in words, for one schema node."""
    words = _WORDS.get(schema.get("type", ""))
    return "a value" if words is None else words(schema)


def _members(schema: Mapping[str, Any]) -> str:
    names = schema.get("required") or schema.get("properties", ())
    return ", ".join(names) if names else "its members"


def _array_words(schema: Mapping[str, Any]) -> str:
    least = schema.get("minItems", 0)
    entries = _wanted(schema["items"]) if "items" in schema else "values"
    return f"an array of at least {least}, each {entries}" if least else f"an array, each entry {entries}"


def _string_words(schema: Mapping[str, Any]) -> str:
    if "enum" in schema:
        return "one of " + ", ".join(json.dumps(value) for value in schema["enum"])
    words = "text"
    if "maxLength" in schema:
        words += f" of {schema.get('minLength', 0)} to {schema['maxLength']} characters"
    elif "minLength" in schema:
        words += f" of at least {schema['minLength']} characters"
    return f"{words} of the form {schema['pattern']}" if "pattern" in schema else words


def _integer_words(schema: Mapping[str, Any]) -> str:
    words = "a whole number"
    if "minimum" in schema:
        words += f" from {schema['minimum']}"
    return f"{words} up to {schema['maximum']}" if "maximum" in schema else words


_WORDS: Final[Mapping[str, Callable[[Mapping[str, Any]], str]]] = {
    "object": lambda schema: f"an object with {_members(schema)}",
    "array": _array_words,
    "string": _string_words,
    "integer": _integer_words,
    "boolean": lambda _: "true or false",
}


def _string_fault(schema: Mapping[str, Any], value: str) -> str | None:
    """How the text departs from its schema, in words; lengths first, so that a pattern never sees more."""
    length = len(value)
    if length < schema.get("minLength", 0) or length > schema.get("maxLength", length):
        return f"has {length} characters"
    if "enum" in schema and value not in schema["enum"]:
        return f"is {_shown(value)}"
    if "pattern" in schema and re.fullmatch(schema["pattern"], value) is None:
        return f"is {_shown(value)}"
    return None


def _kind(value: object) -> str:
    return _KINDS.get(type(value), "something else")


def _shown(value: str | float) -> str:
    """A caller's short value, on one line; a long one only by its length."""
    if isinstance(value, str) and len(value) > _MAX_SHOWN:
        return f"text of {len(value)} characters"
    return json.dumps(value)


def _digits(number: float) -> str:
    """The number's digits without exponent."""
    return str(number) if isinstance(number, int) else format(Decimal(repr(number)), "f")
