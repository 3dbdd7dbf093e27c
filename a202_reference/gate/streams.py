"""Checks of a bundle's events and of its report (verification 6, B8 to B13; rules 6.6, 7, D-28, D-45)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from a202_reference.codes import Code
from a202_reference.gate.bundle import Bundle, BundleCheck, Document
from a202_reference.gate.reading import members
from a202_reference.gate.report import report_faults
from a202_reference.json_values import is_integer, json_key
from a202_reference.lifecycle.rules import RULE_SETS, rule_set
from a202_reference.registries import UNDEFINED_EVENTS, ObjectType

DEFAULT_RULES = "1.0"
"""The version a bundle is replayed under where it states none (D-28)."""

_MOVES = {
    (version, session): frozenset(
        json_key(list(move)) for move in (rules.session if session else rules.transaction))
    for version, rules in RULE_SETS.items() for session in (False, True)}
"""The registered triples of a version, for sessions and for transactions (verification D25)."""


def stream_continuity(bundle: Bundle) -> Iterator[Code]:
    """B8 to B10: events follow one another by number, hash and state; a stream begins with no object held.

    Events are grouped by the stream's identifier alone: one identifier under two kinds is one broken stream.
    """
    by_stream: dict[Any, list[Document]] = defaultdict(list)
    for event in bundle.of_type(ObjectType.TRANSACTION_EVENT):
        by_stream[json_key(_stream(event).get("id"))].append(event)
    for events in by_stream.values():
        ordered = sorted(events, key=_sequence)
        start = _payload(ordered[0]).get("previous_event_hash")
        if (isinstance(start, str) and start in bundle.by_hash) or not all(
                _follows(earlier, later) for earlier, later in pairwise(ordered)):
            yield Code.EVIDENCE_CHAIN_GAP
        elif any(_state(earlier, "to_state") != _state(later, "from_state") for earlier, later in pairwise(ordered)):
            yield Code.EVIDENCE_TRANSITION_ILLEGAL


def _follows(earlier: Document, later: Document) -> bool:
    return (_sequence(later) == _sequence(earlier) + 1
            and _payload(later).get("previous_event_hash") == earlier.get("content_hash"))


def _sequence(event: Document) -> float:
    sequence = _payload(event).get("sequence")
    return sequence if is_integer(sequence) else -1  # type: ignore[return-value]  # is_integer: int or float


def _state(event: Document, member: str) -> Any:
    return json_key(_payload(event).get(member))


def replay(bundle: Bundle) -> Iterator[Code]:
    """B11: every move is registered in the version in force when it was made."""
    if not all(_is_legal(bundle, event) for event in bundle.of_type(ObjectType.TRANSACTION_EVENT)):
        yield Code.EVIDENCE_TRANSITION_ILLEGAL


def _is_legal(bundle: Bundle, event: Document) -> bool:
    name, payload = event.get("id"), _payload(event)
    if isinstance(payload.get("event_type"), str) and payload["event_type"] in UNDEFINED_EVENTS:
        return True  # refused as an event that does not exist, not as a move
    own = members(bundle.context.get("event_rules_in_force"))
    general = bundle.context.get("rules_version_in_force") or DEFAULT_RULES
    rules = rule_set(own.get(name, general) if isinstance(name, str) else general)
    if rules is None:
        return False
    move = [payload.get(member) for member in ("from_state", "event_type", "to_state")]
    return json_key(move) in _MOVES[rules.version, _stream(event).get("kind") == "session"]


def direct_formation(bundle: Bundle) -> Iterator[Code]:
    """B12: nothing is formed directly beside a session, or beside an object a session annotated (D-45)."""
    formed = any(_payload(event).get("event_type") == "agreement.direct"
                 for event in bundle.of_type(ObjectType.TRANSACTION_EVENT))
    if formed and any(_of_session(document) for document in bundle.objects):
        yield Code.EVIDENCE_TRANSITION_ILLEGAL


def _of_session(document: Document) -> bool:
    event = document.get("object_type") == ObjectType.TRANSACTION_EVENT
    return (event and _stream(document).get("kind") == "session") or (
        members(document.get("kernel_annotations")).get("session_id") is not None)


def carried_report(bundle: Bundle) -> Iterator[Code]:
    """B13: a carried report states its scope and its gaps."""
    report = bundle.context.get("verification_report")
    if report is not None:
        streams = (_stream(event).get("id") for event in bundle.of_type(ObjectType.TRANSACTION_EVENT))
        yield from report_faults(report, frozenset(name for name in streams if isinstance(name, str)))


def _payload(document: Document) -> Document:
    return members(document.get("payload"))


def _stream(document: Document) -> Document:
    return members(_payload(document).get("stream"))


CHECKS: tuple[BundleCheck, ...] = (stream_continuity, replay, direct_formation, carried_report)
