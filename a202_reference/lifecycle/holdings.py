"""What is held of one transaction, read as typed views (rules 5.6; D-26)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

from a202_reference.documents.envelope import Agreement, Assertion, Event, Obligation, Response
from a202_reference.lifecycle.obligation_state import ObligationFacts, facts_of
from a202_reference.lifecycle.record import Record, read_record
from a202_reference.registries import ObjectType

_View = TypeVar("_View")


@dataclass(frozen=True)
class Holdings:
    """The objects of one transaction in the order they were recorded; `revision` counts its commits."""

    transaction_id: str
    objects: tuple[Mapping[str, Any], ...]
    revision: int = 0

    @cached_property
    def by_id(self) -> Mapping[str, Mapping[str, Any]]:
        """Every object under its identifier."""
        return {document["id"]: document for document in self.objects}

    @cached_property
    def record(self) -> Record:
        """The chain of events."""
        return read_record(self._views(ObjectType.TRANSACTION_EVENT, Event.of))

    @cached_property
    def obligations(self) -> Mapping[str, ObligationFacts]:
        """Every obligation with its assertions and answers."""
        assertions = self._views(ObjectType.PERFORMANCE_EVENT, Assertion.of)
        responses = self._views(ObjectType.OBLIGATION_RESPONSE, Response.of)
        return {obligation.envelope.id: facts_of(obligation, assertions, responses)
                for obligation in self._views(ObjectType.OBLIGATION, Obligation.of)}

    def agreement(self, agreement_id: str) -> Agreement | None:
        """The agreement under this identifier, or None."""
        return self._view(agreement_id, ObjectType.AGREEMENT, Agreement.of)

    def assertion(self, assertion_id: str) -> Assertion | None:
        """The assertion under this identifier, or None."""
        return self._view(assertion_id, ObjectType.PERFORMANCE_EVENT, Assertion.of)

    def _views(self, object_type: ObjectType, view: Callable[[Mapping[str, Any]], _View]) -> tuple[_View, ...]:
        return tuple(view(document) for document in self.objects if document["object_type"] == object_type)

    def _view(
        self, object_id: str, object_type: ObjectType, view: Callable[[Mapping[str, Any]], _View],
    ) -> _View | None:
        document = self.by_id.get(object_id)
        return view(document) if document is not None and document["object_type"] == object_type else None
