"""What one tool is: its name, how clients see it, and where its answer comes from (surface 2)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeAlias

from a202_reference.codes import Refusal

if TYPE_CHECKING:
    from a202_mcp.workspace import Workspace

Answer: TypeAlias = dict[str, Any] | Refusal
"""The result's members, or why nothing was done."""


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool of the surface.

    input_schema: flat JSON Schema as clients receive it: root object, closed, no `$ref`, no array-valued
        `type`, a description on every property. Arguments that reach `answer` match it, without members
        that the caller left out or sent as null.
    reads: True for the three tools that record nothing.
    """

    name: str
    title: str
    description: str
    input_schema: Mapping[str, Any]
    reads: bool

    def answer(self, workspace: Workspace, arguments: Mapping[str, Any]) -> Answer:
        """The handler's answer. It returns; an exception that escapes it is a defect.

        The handler is the function `answer` of the module named like the tool, which is loaded, and the core with
        it, by the first call (ADR 11).
        """
        handler: Callable[[Workspace, Mapping[str, Any]], Answer] = import_module(
            f"a202_mcp.bilateral.{self.name}").answer
        return handler(workspace, arguments)
