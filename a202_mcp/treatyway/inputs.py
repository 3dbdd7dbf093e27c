"""The tools' inputs: one table of fields, from which the schemas are made and by which inputs are read (spec 5).

Rules this module applies:

- unknown members are ignored, `null` counts as absent, blank optional text as well;
- required text is not blank; text has a longest length; what is no text, no time or no quantity is an error that
  names the field;
- a basket stands for itself: beside `items` the top-level offer_id and quantity are not looked at;
- two requests are the same where they mean the same: a time is compared as the instant that it names;
- a quantity is 1 to 1,000,000: an integer, 2.0, or 1 to 7 ASCII digits in a string. Other text is prose, which a
  person reads; zero, negatives, fractions, booleans and arrays are errors.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, TypeAlias
from zoneinfo import ZoneInfo

from a202_mcp.treatyway import names
from a202_mcp.treatyway.moments import read_moment
from a202_reference.wire import has_lone_surrogate

LONGEST: Final = 4096
MOST: Final = 1_000_000
_DIGITS: Final = 7
_ITEMS: Final = 50
_KEY: Final = 255


@dataclass(frozen=True, slots=True)
class Wrong:
    """What is wrong with a value, in words that follow the field's name."""

    what: str


_Reader: TypeAlias = Callable[[Any, ZoneInfo], Any]
"""The value as it is used, None where it counts as absent, or Wrong."""


def _itself(value: Any, _: ZoneInfo) -> Any:
    return value


@dataclass(frozen=True, slots=True)
class Field:
    """One input."""

    name: str
    description: str
    schema: Mapping[str, Any]
    read: _Reader
    required: bool = False
    meaning: _Reader = _itself
    """What a value that was read has in common with every other one that means the same."""


def read_inputs(fields: tuple[Field, ...], raw: Mapping[str, Any], zone: ZoneInfo) -> dict[str, Any] | str:
    """The known inputs, without absent ones; or the message of the first error."""
    found: dict[str, Any] = {}
    for field in fields:
        value = raw.get(field.name)
        read = None if value is None else field.read(value, zone)
        if isinstance(read, Wrong):
            return f"{field.name}{read.what}" if read.what.startswith("[") else f"{field.name}: {read.what}"
        if read is None and field.required:
            return f"{field.name} is required"
        if read is not None:
            found[field.name] = read
    return found


def heeded(tool: str, raw: Mapping[str, Any]) -> Mapping[str, Any]:
    """The members of a call that count."""
    if tool != names.QUOTE or raw.get(ITEMS) is None:
        return raw
    return {name: value for name, value in raw.items() if name not in (OFFER_ID.name, QUANTITY.name)}


def comparable(fields: tuple[Field, ...], raw: Mapping[str, Any], zone: ZoneInfo) -> list[Any]:
    """The known inputs in the form in which two requests are compared; what cannot be read stands as it is."""
    found = []
    for field in fields:
        value = raw.get(field.name)
        read = None if value is None else field.read(value, zone)
        if field.name != KEY.name:
            means = repr(value) if isinstance(read, Wrong) else None if read is None else field.meaning(read, zone)
            found.append([field.name, means])
    return found


def schema_of(fields: tuple[Field, ...]) -> dict[str, Any]:
    """The input schema as clients see it: open, with a description on every property."""
    return {
        "type": "object",
        "properties": {field.name: {**field.schema, "description": field.description} for field in fields},
        "required": [field.name for field in fields if field.required],
    }


def _text(value: Any, _: ZoneInfo, *, longest: int = LONGEST) -> Any:
    if not isinstance(value, str):
        return Wrong("must be text")
    if len(value) > longest:
        return Wrong(f"must be at most {longest} characters")
    if has_lone_surrogate(value):
        return Wrong("must be text that can be written as UTF-8")
    return value if value.strip() else None


def _moment(value: Any, zone: ZoneInfo) -> Any:
    if not isinstance(value, str):
        return Wrong("must be text, a date or an RFC 3339 time")
    if not value.strip():
        return None
    return value if read_moment(value, zone) is not None else Wrong("must be a date or an RFC 3339 time")


def _instant(text: str, zone: ZoneInfo) -> list[str | None]:
    """The day or the instant that a text names."""
    moment = read_moment(text, zone)
    if moment is None:
        raise ValueError("a text that was read as a time is none")
    return [moment.day.isoformat(), None] if moment.at is None else [None, moment.at.isoformat()]


def _quantity(value: Any, _: ZoneInfo) -> Any:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return Wrong(f"must be a whole number from 1 to {MOST}")
    if isinstance(value, str):
        if not value.strip():
            return None
        if not (value.isascii() and value.isdigit() and len(value) <= _DIGITS):
            prose = _text(value, _)
            return prose if isinstance(prose, Wrong) else {"prose": value}
        number: int | float = int(value)
    else:
        number = value
    if number != number or number in (float("inf"), float("-inf")) or number != int(number) or not 1 <= number <= MOST:  # noqa: PLR0124 - NaN
        return Wrong(f"must be a whole number from 1 to {MOST}")
    return int(number)


def _items(value: Any, zone: ZoneInfo) -> Any:
    if not isinstance(value, list) or not 1 <= len(value) <= _ITEMS:
        return Wrong(f"must be a list of 1 to {_ITEMS} items")
    found = []
    for at, item in enumerate(value):
        read = read_inputs(ITEM, item, zone) if isinstance(item, dict) else ": must be an object"
        if isinstance(read, str):
            return Wrong(f"[{at}]{read}" if read.startswith(":") else f"[{at}].{read}")
        found.append(read)
    return found


_TEXT: Final = {"type": "string", "maxLength": LONGEST}
_NUMBER: Final = {"anyOf": [{"type": "integer", "minimum": 1, "maximum": MOST}, {"type": "string"}]}

OFFER_ID: Final = Field("offer_id", "Which offer, by its id from describe_offer.", _TEXT, _text)
START: Final = Field(
    "start", "When it begins: a date, or an RFC 3339 time. Without an offset it is read in the seller's time zone.",
    _TEXT, _moment, meaning=_instant)
END: Final = Field(
    "end", "When it ends, in the same form. Default: one hour after start.", _TEXT, _moment, meaning=_instant)
QUANTITY: Final = Field("quantity", "How many, as a whole number.", _NUMBER, _quantity)
NOTE: Final = Field("note", "Anything else the seller should read.", _TEXT, _text)
DESTINATION: Final = Field("destination", "Where it is to be done or delivered.", _TEXT, _text)
KEY: Final = Field(
    "idempotency_key", "A key of your own, 1 to 255 characters: the same call again gets the same answer.",
    {"type": "string", "minLength": 1, "maxLength": _KEY}, partial(_text, longest=_KEY))
QUOTE_ID: Final = Field("quote_id", "The quote, by its id.", _TEXT, _text)
ORDER_ID: Final = Field("order_id", "The order, by its id.", _TEXT, _text)

ITEMS: Final = "items"
ITEM: Final = (OFFER_ID, QUANTITY, NOTE)

FIELDS: Final[Mapping[str, tuple[Field, ...]]] = {
    names.DECLARATION: (),
    names.DESCRIBE: (
        OFFER_ID,
        Field("kind", "Only services or only goods: service or good.", _TEXT, _text),
        Field("query", "Words that the offer's name, id or area must hold.", _TEXT, _text)),
    names.AVAILABILITY: (OFFER_ID, START, END, QUANTITY, Field("area", "Where.", _TEXT, _text), NOTE),
    names.QUOTE: (
        Field("summary", "What is wanted, in words.", {"type": "string", "minLength": 1, "maxLength": LONGEST}, _text,
              required=True),
        DESTINATION, OFFER_ID,
        Field(ITEMS, "A basket instead of offer_id and quantity.", {
            "type": "array", "minItems": 1, "maxItems": _ITEMS, "items": {
                "description": "One line of the basket.", **schema_of(ITEM)}}, _items),
        QUANTITY, START, END,
        Field("needed_by", "By when it is needed: a date, or an RFC 3339 time.", _TEXT, _moment, meaning=_instant),
        Field("contact", "How to reach the buyer.", _TEXT, _text), KEY),
    names.ORDER: (
        Field("quote_id", "The quote to order, by its id.", _TEXT, _text, required=True),
        Field("start", "Only if it is the quote's own start.", _TEXT, _moment, meaning=_instant),
        Field("destination", "Only if it is the quote's own destination.", _TEXT, _text), NOTE, KEY),
    names.STATUS: (
        QUOTE_ID, ORDER_ID, Field("message_id", "A message, by its id.", _TEXT, _text)),
    names.MESSAGE: (
        Field("text", "The message.", {"type": "string", "minLength": 1, "maxLength": 8000},
              partial(_text, longest=8000), required=True),
        QUOTE_ID, ORDER_ID, KEY),
}
"""The inputs of every tool of the contract."""

DESCRIPTIONS: Final[Mapping[str, str]] = {
    names.DECLARATION: "Which version of the Treatyway MCP contract this server implements, and which of its tools.",
    names.DESCRIBE: "What the seller sells, services and goods, and how to order.",
    names.AVAILABILITY: "Whether a date or time is free for a service, or how much of a good is in stock.",
    names.QUOTE: "A price for a described job or a basket. Answers with quote_id and a price that stands until "
                 "expires_at, or with needs_human and what is missing.",
    names.ORDER: "Books a service or orders goods against a quote that is still valid. Takes no payment. Requires "
                 "trust level 2.",
    names.STATUS: "The status of a quote, an order or a message.",
    names.MESSAGE: "Free text to the seller.",
}
