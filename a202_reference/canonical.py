"""Canonical bytes and hashes (rules 1.1, 1.3; D-1; RFC 8785).

Rules this module applies:

- an object is hashed in its RFC 8785 form: members ordered by UTF-16 code units, no white space, UTF-8;
- only integers within +-(2^53 - 1) occur as numbers. A value with any other number, a lone surrogate, or
  something that is no JSON has no canonical form and is refused before anything is hashed (D-1);
- an envelope's bytes leave out its own `content_hash`, `signatures` and `kernel_annotations`, at the top
  level only;
- a carried hash is never trusted: whoever relies on one recomputes it (D-32).

`rfc8785` is the reference. Where every member name is ASCII, C-encoded sorted JSON has the same bytes
(sorting by code point and by UTF-16 unit agree below U+D800, and both write integers and escapes alike)
and is five times faster; a property test holds the two equal.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

import rfc8785

MAX_SAFE_INTEGER = 2**53 - 1
MAX_DEPTH = 64
_ARRAYS = (list, tuple)
_ENCODE = json.JSONEncoder(
    ensure_ascii=False, sort_keys=True, separators=(",", ":"), check_circular=False).encode  # the walk before it ends
UNHASHED_MEMBERS = frozenset({"content_hash", "signatures", "kernel_annotations"})


class NotCanonicalError(ValueError):
    """The value has no canonical form. `path` names the offending place, `reason` says why."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"{path}: {reason}")
        self.path = path
        self.reason = reason


def canonical_bytes(value: object) -> bytes:
    """The RFC 8785 form of a JSON value.

    Raises NotCanonicalError for a number that is no safe integer, a lone surrogate, nesting beyond 64
    levels, a member name that is no string, or a value that is no JSON.
    """
    try:
        if _ascii_names(value, MAX_DEPTH):
            return _ENCODE(value).encode("utf-8")
        return rfc8785.dumps(value)  # type: ignore[arg-type]  # checked above: JSON values only
    except _NoForm:
        raise _fault(value, "$", MAX_DEPTH) or NotCanonicalError("$", "no JSON value") from None
    except UnicodeEncodeError as lone:
        raise NotCanonicalError("$", "a string holds a lone surrogate") from lone
    except rfc8785.CanonicalizationError as refused:
        raise NotCanonicalError("$", str(refused)) from refused


def sha256_hex(data: bytes) -> str:
    """Lowercase hexadecimal SHA-256."""
    return hashlib.sha256(data).hexdigest()


def value_hash(value: object) -> str:
    """SHA-256 of a value's canonical bytes: action hashes, terms hashes. Raises NotCanonicalError."""
    return sha256_hex(canonical_bytes(value))


def content_bytes(envelope: Mapping[str, Any]) -> bytes:
    """The bytes of an envelope that are hashed and signed. Raises NotCanonicalError."""
    return canonical_bytes({name: member for name, member in envelope.items() if name not in UNHASHED_MEMBERS})


def content_hash(envelope: Mapping[str, Any]) -> str:
    """The recomputed `content_hash` of an envelope. Raises NotCanonicalError."""
    return sha256_hex(content_bytes(envelope))


class _NoForm(Exception):  # noqa: N818 (never leaves this module: it only ends the walk)
    """Something in the value has no canonical form."""


def _ascii_names(value: object, levels: int) -> bool:
    """Whether every member name in the value is ASCII. Raises _NoForm where it has no canonical form."""
    kind = type(value)
    if kind is str or value is None or kind is bool:
        return True
    if kind is int:
        if -MAX_SAFE_INTEGER <= value <= MAX_SAFE_INTEGER:  # type: ignore[operator]  # an int, by its type
            return True
        raise _NoForm
    if levels == 0:
        raise _NoForm
    ascii_names = True
    if isinstance(value, dict):
        for name, member in value.items():
            if type(name) is not str:
                raise _NoForm
            ascii_names = ascii_names and name.isascii()
            if type(member) is not str and not _ascii_names(member, levels - 1):
                ascii_names = False
        return ascii_names
    if isinstance(value, _ARRAYS):
        for member in value:  # every one is looked at, also behind a name that is not ASCII
            if not _ascii_names(member, levels - 1):
                ascii_names = False
        return ascii_names
    if isinstance(value, str):
        return True
    raise _NoForm


def _fault(value: object, path: str, levels: int) -> NotCanonicalError | None:
    """Where and why a value has no canonical form: the same walk again, with the path, once it is needed."""
    if value is None or isinstance(value, str | bool):
        return None
    if type(value) is int:
        return None if abs(value) <= MAX_SAFE_INTEGER else NotCanonicalError(path, "an integer beyond 2^53 - 1")
    if not isinstance(value, dict | list | tuple):
        return NotCanonicalError(
            path, "a number that is no integer" if isinstance(value, float) else "no JSON value")
    if levels == 0:
        return NotCanonicalError(path, f"nested deeper than {MAX_DEPTH} levels")
    if not isinstance(value, dict):
        places = [(f"{path}[{index}]", member) for index, member in enumerate(value)]
    elif any(type(name) is not str for name in value):
        return NotCanonicalError(path, "a member name that is no string")
    else:
        places = [(f"{path}.{name}", member) for name, member in value.items()]
    return next((fault for place, member in places if (fault := _fault(member, place, levels - 1))), None)
