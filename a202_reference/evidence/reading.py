"""Reading a bundle of any size, piece by piece (surface 6; design, "verify a bundle of 100,000 objects").

Rules this module applies:

- what is read is what the strict reader (wire) reads: each element of the large parts goes through it by itself, so
  duplicate names, fractions, lone surrogates and deep nesting are refused as everywhere;
- the text is never held whole: it comes in chunks, and a part that is read is dropped. One element may be as large
  as any document may be;
- texts that repeat, member names above all, are kept once.
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterable, Iterator
from typing import Any, Final

from a202_reference.wire import MAX_BYTES, Unreadable, read_json

_WHITE: Final = re.compile(r"[ \t\n\r]*")
_MAX_POOL: Final = 1 << 17
_MAX_POOLED: Final = 128
_EXTENT: Final = json.JSONDecoder(parse_int=lambda _: 0, parse_float=lambda _: 0)
"""Finds where a value ends; what it holds is read by the strict reader."""


class _RefusedError(ValueError):
    pass


def read_pieces(chunks: Iterable[bytes]) -> Any | Unreadable:
    """The JSON document in these chunks of UTF-8, or why it is refused. Nothing is raised."""
    try:
        return _Pieces(chunks).document()
    except _RefusedError as refused:
        return Unreadable(str(refused))
    except RecursionError:
        return Unreadable("nested too deeply")
    except UnicodeDecodeError:
        return Unreadable("the text is not UTF-8")


class _Pieces:
    """A window over the text, moved forward value by value."""

    def __init__(self, chunks: Iterable[bytes]) -> None:
        self._chunks = iter(chunks)
        self._decode = codecs.getincrementaldecoder("utf-8")("strict").decode
        self._text = ""
        self._at = 0
        self._ended = False
        self._pool: dict[str, str] = {}

    def document(self) -> Any:
        """The whole document: an object's large parts and a list's elements one by one."""
        opening = self._peek()
        if opening == "{":
            value: Any = self._members(top=True)
        elif opening == "[":
            value = list(self._elements())
        else:
            value = self._value()
        if self._peek() != "":
            raise _RefusedError("the text is not JSON")
        return value

    def _members(self, *, top: bool) -> dict[str, Any]:
        members: dict[str, Any] = {}
        for _ in self._listed("{", "}"):
            name = self._value() if self._peek() == '"' else None
            if name is None:
                raise _RefusedError("the text is not JSON")
            if name in members:
                raise _RefusedError("a member name occurs twice in one object")
            self._take(":")
            opening = self._peek()
            if top and opening == "[":
                members[name] = list(self._elements())
            elif top and opening == "{":
                members[name] = self._members(top=False)
            else:
                members[name] = self._value()
        return members

    def _elements(self) -> Iterator[Any]:
        for _ in self._listed("[", "]"):
            yield self._value()

    def _listed(self, opening: str, closing: str) -> Iterator[None]:
        """Once before each entry between the brackets."""
        self._take(opening)
        if self._peek() == closing:
            self._take(closing)
            return
        while True:
            yield
            if self._peek() != ",":
                self._take(closing)
                return
            self._take(",")

    def _value(self) -> Any:
        """The next value, strictly read."""
        self._peek()
        end = self._extent()
        value = read_json(self._text[self._at:end])
        self._at = end
        if isinstance(value, Unreadable):
            raise _RefusedError(value.reason)
        return self._pooled(value)

    def _extent(self) -> int:
        """Where the value at the window's start ends; more text is read until that is sure."""
        while True:
            try:
                _, end = _EXTENT.raw_decode(self._text, self._at)
                if end < len(self._text) or not self._more():
                    return end
            except json.JSONDecodeError:
                if len(self._text) - self._at > MAX_BYTES:
                    raise _RefusedError(f"no JSON value, or one larger than {MAX_BYTES} bytes") from None
                if not self._more():
                    raise _RefusedError("the text is not JSON") from None

    def _peek(self) -> str:
        """The next character that is no white space, or nothing at the end."""
        while True:
            self._at = self._skipped()
            if self._at < len(self._text):
                return self._text[self._at]
            if not self._more():
                return ""

    def _skipped(self) -> int:
        found = _WHITE.match(self._text, self._at)
        return found.end() if found else self._at

    def _take(self, character: str) -> None:
        if self._peek() != character:
            raise _RefusedError("the text is not JSON")
        self._at += 1

    def _more(self) -> bool:
        """Drop what was read and append at least as much text as is waiting; False at the end."""
        if self._ended:
            return False
        waiting, added, size = self._text[self._at:], list[str](), 0
        while size <= len(waiting) and not self._ended:
            chunk = next(self._chunks, None)
            self._ended = chunk is None
            added.append(self._decode(chunk or b"", self._ended))
            size += len(added[-1])
        self._text, self._at = waiting + "".join(added), 0
        return True

    def _pooled(self, value: Any) -> Any:
        if isinstance(value, str):
            if len(value) > _MAX_POOLED:
                return value
            return self._pool.get(value) or self._kept(value)
        if isinstance(value, dict):
            return {self._pooled(name): self._pooled(member) for name, member in value.items()}
        return [self._pooled(member) for member in value] if isinstance(value, list) else value

    def _kept(self, text: str) -> str:
        if len(self._pool) < _MAX_POOL:
            self._pool[text] = text
        return text
