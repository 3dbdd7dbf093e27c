"""What one tool is: its name, how clients see it, and the function that answers (surface 2)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from a202_mcp.workspace import Workspace
from a202_reference.codes import Refusal

Answer: TypeAlias = dict[str, Any] | Refusal
"""The result's members, or why nothing was done."""


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool of the surface.

    input_schema: flat JSON Schema as clients receive it: root object, closed, no `$ref`, no array-valued
        `type`, a description on every property. Arguments that reach `answer` match it, without members
        that the caller left out or sent as null.
    reads: True for the three tools that record nothing.
    answer: the handler. It returns; an exception that escapes it is a defect.
    """

    name: str
    title: str
    description: str
    input_schema: Mapping[str, Any]
    reads: bool
    answer: Callable[[Workspace, Mapping[str, Any]], Answer]
