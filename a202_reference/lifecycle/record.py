"""The hash-chained record of one transaction (rules 5.6, 6.6; D-23).

Rules this module applies:

- each event names the content hash of the event before it; the first names none. Order comes from these
  links; `sequence` is the position in the chain, checked and never authoritative;
- the chain is linked only where it is single-threaded: one first event, one successor for each, nothing left
  over, sequences 1, 2, 3, ... Anything else is a gap or a fork (`A202-EVIDENCE-CHAIN-GAP`), never resolved
  by own copy, time or length;
- only events move the state: it is `draft` before the first and the last linked event's `to_state` after it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from a202_reference.codes import Code
from a202_reference.documents.envelope import Event

DRAFT_STATE = "draft"


@dataclass(frozen=True, slots=True)
class Record:
    """The events of one transaction stream, as far as they form one chain.

    events: linked, first to last. unlinked: those that are no part of the chain.
    """

    events: tuple[Event, ...]
    unlinked: tuple[Event, ...]

    @property
    def linked(self) -> bool:
        """True where every event stands in the one chain, numbered by position."""
        return not self.unlinked and all(event.sequence == at for at, event in enumerate(self.events, start=1))

    @property
    def refusal(self) -> Code | None:
        """The code of a broken chain."""
        return None if self.linked else Code.EVIDENCE_CHAIN_GAP

    @property
    def state(self) -> str:
        """The state the chain reaches."""
        return self.events[-1].to_state if self.events else DRAFT_STATE

    @property
    def sequence(self) -> int:
        """How many events the chain has."""
        return len(self.events)

    @property
    def head_hash(self) -> str | None:
        """The content hash of the last event, which the next one must name."""
        return self.events[-1].envelope.content_hash if self.events else None


def read_record(events: Sequence[Event]) -> Record:
    """Link the events by their predecessor hashes."""
    successors: dict[str | None, list[Event]] = {}
    for event in events:
        successors.setdefault(event.previous_event_hash, []).append(event)
    chain: list[Event] = []
    head: str | None = None
    while len(successors.get(head, ())) == 1 and len(chain) < len(events):
        chain.append(successors[head][0])
        head = chain[-1].envelope.content_hash
    in_chain = {id(event) for event in chain}  # an identifier may be used twice: only the event itself tells
    return Record(tuple(chain), tuple(event for event in events if id(event) not in in_chain))
