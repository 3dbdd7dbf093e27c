"""Hostile forms of calls that a client might make: from slightly wrong to unreadable.

Everything follows from the given chance, so that a seed and a number name an input.
"""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Mapping, Sequence
from typing import Any, Final

_VALUES: Final[Sequence[Any]] = (
    None, "null", "", " ", "x", 0, -1, 1, 2**53, 2**63, -(2**70), 10**30, 0.5, 1e308, -0.0, True, False, [], {}, [[]],
    [None], {"": None}, "NaN", "4e3", "1_000", "+4000", "-0", "0x10", "٣", "\u0000", "\u202e", "é€𝄞", "a" * 300,
    "../../etc/passwd", "txn_../x", "$.proposed_terms.core.total.amount", "'; DROP TABLE objects; --", "${HOME}",
    "%s%n", "(a+)+$", "[", "\\", "\"", "2026-13-45T25:61:61Z", "2026-08-20T10:00:00+02:00", "9999-12-31T23:59:59Z",
    "a202-profile/none/9.9", "9.9", "<script>", "mnd_aaa", "key_aaa", "txn_aaa", "org_aaa", "\uff21", "A" * 64,
    "f" * 64,
)
_SCRAPS: Final[Sequence[bytes]] = (
    b"NaN", b"Infinity", b'"\\ud800"', b"[" * 300 + b"]" * 300, b'{"a":1,"a":2}', b"1e999", b"-", b"{", b"]", b'"',
    b"\\", b"\xff\xfe", b"\x00", b"\r", b"9" * 500, b"nul", b"'a'", b"/*x*/", b"\xed\xa0\x80", b"0.1", b'"\\u00"',
)
_METHODS: Final[Sequence[tuple[str, Mapping[str, Any] | None]]] = (
    ("ping", None), ("tools/list", None), ("tools/list", {"cursor": "x"}), ("resources/list", {}),
    ("resources/templates/list", {}), ("prompts/list", {}), ("nothing/there", {}), ("logging/setLevel", {"level": "x"}),
    ("completion/complete", {"ref": {}, "argument": {}}), ("resources/subscribe", {"uri": "a202:x"}),
    ("tools/call", {}), ("tools/call", {"name": 5}), ("tools/call", {"name": "settle_everything", "arguments": {}}),
    ("tools/call", {"name": "verify_mandate", "arguments": [1]}), ("tools/call", {"name": "verify_mandate"}),
    ("tools/call", {"name": "verify_evidence", "arguments": "{}"}), ("initialize", {}), ("server/discover", {}),
    ("roots/list", {}), ("sampling/createMessage", {}), ("", {}), ("tools/call", {"arguments": {}}),
)
_LONG: Final = 200_000


class Hostile:
    """A source of inputs, made from calls that were once answered."""

    def __init__(self, seed: int, calls: Sequence[tuple[str, Mapping[str, Any]]], addresses: Sequence[str]) -> None:
        self._chance = random.Random(seed)  # noqa: S311 (a repeatable choice, nothing secret)
        self._calls = calls
        self._addresses = addresses

    def line(self, ident: int) -> bytes:
        """One line, without its line feed; a request under this id, as far as it is one."""
        kind = self._chance.random()
        if kind < 0.72:
            message = self._call(ident)
        elif kind < 0.84:
            return self._unreadable(json.dumps(self._call(ident)).encode())
        elif kind < 0.94:
            message = self._method(ident)
        else:
            message = self._odd(ident)
        text = json.dumps(message, ensure_ascii=self._chance.random() < 0.5)
        return text.encode("utf-8", "replace")

    def _call(self, ident: int) -> dict[str, Any]:
        name, arguments = self._chance.choice(self._calls)
        changed = copy.deepcopy(dict(arguments))
        if name == "issue_approval":  # nearly each is recorded: spread, so that no record grows long
            changed["transaction_id"] = f"txn_fuzz_{ident % 997}"
        for _ in range(self._chance.choice((0, 1, 1, 1, 2, 3))):
            changed = self._changed(changed)
        return {"jsonrpc": "2.0", "id": ident, "method": "tools/call", "params": {"name": name, "arguments": changed}}

    def _changed(self, value: Any) -> Any:
        """The value with one place in it changed."""
        holder, key = self._place(value)
        if holder is None:
            return self._value()
        kind = self._chance.randrange(8)
        if kind == 0:
            del holder[key]
        elif kind == 1:
            holder[key] = json.dumps(holder[key])
        elif kind == 2 and isinstance(holder, dict):
            holder[str(self._value())[:40]] = holder[key]
        elif kind == 3 and isinstance(holder, list):
            holder.append(copy.deepcopy(holder[key]))
        elif kind == 4:
            holder[key] = self._nested(holder[key])
        elif kind == 5 and isinstance(holder[key], str):
            holder[key] = self._misspelt(holder[key])
        else:
            holder[key] = self._value()
        return value

    def _place(self, value: Any) -> tuple[Any, Any]:
        """A random member or entry, at any depth."""
        holder, key = None, None
        while isinstance(value, dict | list) and value and (holder is None or self._chance.random() < 0.6):
            holder = value
            key = self._chance.choice(list(value)) if isinstance(value, dict) else self._chance.randrange(len(value))
            value = value[key]
        return holder, key

    def _value(self) -> Any:
        if self._chance.random() < 0.003:
            return self._chance.choice("aé") * _LONG
        return copy.deepcopy(self._chance.choice(_VALUES))

    def _nested(self, value: Any) -> Any:
        for _ in range(self._chance.choice((1, 2, 61, 70))):
            value = [value] if self._chance.random() < 0.5 else {"a": value}
        return value

    def _misspelt(self, text: str) -> str:
        if not text:
            return "x"
        at = self._chance.randrange(len(text))
        return text[:at] + self._chance.choice(("", "X", "0", " ", "é", text[at].swapcase())) + text[at + 1:]

    def _unreadable(self, line: bytes) -> bytes:
        """Cut, spliced or with scraps in it."""
        for _ in range(self._chance.choice((1, 1, 2))):
            at = self._chance.randrange(len(line) + 1)
            kind = self._chance.randrange(4)
            if kind == 0:
                line = line[:at]
            elif kind == 1:
                line = line[:at] + line[at + self._chance.randrange(1, 9):]
            else:
                line = line[:at] + self._chance.choice(_SCRAPS) + line[at + self._chance.choice((0, 0, 1, 5)):]
        return line.replace(b"\n", b" ")

    def _method(self, ident: int) -> dict[str, Any]:
        if self._chance.random() < 0.4:
            address = self._misspelt(self._chance.choice(self._addresses))
            return {"jsonrpc": "2.0", "id": ident, "method": "resources/read", "params": {"uri": address}}
        method, params = self._chance.choice(_METHODS)
        return {"jsonrpc": "2.0", "id": ident, "method": method, **({} if params is None else {"params": params})}

    def _odd(self, ident: int) -> Any:
        """JSON that is hardly a message."""
        message = self._call(ident) if self._chance.random() < 0.5 else self._method(ident)
        kind = self._chance.randrange(6)
        if kind == 0:
            return [message, message]
        if kind == 1:
            return self._value()
        if kind == 2:
            return {**message, "jsonrpc": self._value()}
        if kind == 3:
            return {**message, "params": self._value()}
        if kind == 4:
            return {**message, "id": self._chance.choice((None, True, 1.5, [], {}, "", "a" * 500))}
        return {**message, "more": self._value(), "_meta": self._value()}
