"""Constraint paths (D-9): `$` and then 1 to 16 member names, descending through objects only.

No index, wildcard or filter exists. Any other syntax cannot be evaluated, and what cannot be evaluated
denies. Mandates say `$.proposed_terms...`; obligations say `$.terms...` (`term_path`), with one more rule:
the path starts at `core` or `profile_terms`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import Enum
from typing import Any, Final

_PATH = re.compile(r"\$((?:\.[A-Za-z0-9_]+){1,16})", re.ASCII)
_TERM_PATH = re.compile(r"\$\.terms\.(?:core|profile_terms)(?:\.[A-Za-z0-9_]+)*", re.ASCII)


class _Absence(Enum):
    ABSENT = "absent"


ABSENT: Final = _Absence.ABSENT
"""What a path leads to where the document has nothing. A null that is there is not absent."""


def parse_path(text: object) -> tuple[str, ...] | None:
    """The member names of a path, or None where it is outside the grammar."""
    found = _PATH.fullmatch(text) if isinstance(text, str) else None
    return tuple(found.group(1)[1:].split(".")) if found else None


def resolve(document: object, names: tuple[str, ...]) -> Any:
    """The value at the path, or ABSENT."""
    for name in names:
        if not isinstance(document, Mapping) or name not in document:
            return ABSENT
        document = document[name]
    return document


def resolves_in_terms(term_path: object, terms: Mapping[str, Any]) -> bool:
    """True where an obligation's `term_path` is of its form and leads somewhere in these terms (rules 8.1)."""
    if not isinstance(term_path, str) or not _TERM_PATH.fullmatch(term_path):
        return False
    return resolve({"terms": terms}, tuple(term_path.split(".")[1:])) is not ABSENT
