"""Mandates of the state, parsed and judged once: under its identifier a mandate never changes (surface 2).

A judgement is remembered for the very document that was read from the state, never for another one under the same
identifier: a mandate that a caller presents by value is judged by its own bytes.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from typing import Any, Final, TypeAlias

from a202_mcp.recording import mandate_gate
from a202_mcp.store import Store
from a202_reference.codes import Code

KEPT: Final = 512

_Judgement: TypeAlias = tuple[tuple[str, ...], tuple[Code, ...]]


class MandateShelf:
    """The mandates used last. Its documents are read by everybody and changed by nobody."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._held: OrderedDict[str, tuple[Mapping[str, Any], _Judgement]] = OrderedDict()

    def get(self, mandate_id: str) -> Mapping[str, Any] | None:
        """The mandate under this identifier, or None."""
        held = self._held.get(mandate_id)
        if held is not None:
            self._held.move_to_end(mandate_id)
            return held[0]
        document = self._store.mandate(mandate_id)
        if document is not None:
            self._held[mandate_id] = (document, mandate_gate(document))
            if len(self._held) > KEPT:
                self._held.popitem(last=False)
        return document

    def gate(self, document: Mapping[str, Any]) -> _Judgement:
        """The gate's judgement of a mandate, this shelf's or anybody's."""
        mandate_id = document.get("id")
        held = self._held.get(mandate_id) if isinstance(mandate_id, str) else None
        return held[1] if held is not None and held[0] is document else mandate_gate(document)
