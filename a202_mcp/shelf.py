"""What is read from the state once: mandates with their judgement, and key bindings (surface 2; rules 1.6).

Under its identifier a mandate never changes, and neither does a key's binding, so both may be remembered. What is
not held is never remembered: another process may store it a moment later. A judgement is remembered for the very
document that was read from the state, never for another one under the same identifier: a mandate that a caller
presents by value is judged by its own bytes.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import Any, Final, Generic, TypeAlias, TypeVar

from a202_mcp.recording import mandate_gate
from a202_mcp.store import Store
from a202_reference.codes import Code

KEPT: Final = 512

_Kept = TypeVar("_Kept")
_Judgement: TypeAlias = tuple[tuple[str, ...], tuple[Code, ...]]


class Shelf(Generic[_Kept]):
    """The things used last, each read once. They are read by everybody and changed by nobody."""

    def __init__(self, read: Callable[[str], _Kept | None]) -> None:
        self._read = read
        self._held: OrderedDict[str, _Kept] = OrderedDict()

    def get(self, identifier: str) -> _Kept | None:
        """What is held under this identifier, or None."""
        held = self._held.get(identifier)
        if held is not None:
            self._held.move_to_end(identifier)
            return held
        found = self._read(identifier)
        if found is not None:
            self._held[identifier] = found
            if len(self._held) > KEPT:
                self._held.popitem(last=False)
        return found

    def remembered(self, identifier: object) -> _Kept | None:
        """What is on the shelf already, or None."""
        return self._held.get(identifier) if isinstance(identifier, str) else None


class MandateShelf:
    """The mandates used last, and the gate's judgement of each."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._shelf: Shelf[tuple[Mapping[str, Any], _Judgement]] = Shelf(self._judged)

    def get(self, mandate_id: str) -> Mapping[str, Any] | None:
        """The mandate under this identifier, or None."""
        held = self._shelf.get(mandate_id)
        return None if held is None else held[0]

    def gate(self, document: Mapping[str, Any]) -> _Judgement:
        """The gate's judgement of a mandate, this shelf's or anybody's."""
        held = self._shelf.remembered(document.get("id"))
        return held[1] if held is not None and held[0] is document else mandate_gate(document)

    def _judged(self, mandate_id: str) -> tuple[Mapping[str, Any], _Judgement] | None:
        document = self._store.mandate(mandate_id)
        return None if document is None else (document, mandate_gate(document))
