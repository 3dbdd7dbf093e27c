"""Step 4: the continuity of each stream (verification 1, step 4; rules 5.6, 6.6; D-18 to D-21; surface 6, head).

Rules this module applies:

- a stream is (kind, id), never the transaction; nothing is computed from one stream about another;
- each event follows the one before it: sequence plus one, naming its recomputed hash (`A202-EVIDENCE-CHAIN-GAP`);
- the first disclosed event names nothing at sequence 1, or something that is not held: a boundary, which is stated
  and no gap. Naming something that is held, on another stream or not earlier, is a gap;
- a fork is never resolved by own copy, time or length: both branches fail;
- a record that says where it ends ends there: another last event, or another number of objects, is a gap. A bundle
  that neither says so nor says that it discloses a part could end anywhere (`head_stated`, not checkable).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from a202_reference.codes import Code
from a202_reference.evidence.entry import Entry, StreamKey
from a202_reference.evidence.inquiry import Inquiry
from a202_reference.evidence.material import Head
from a202_reference.evidence.relations import sequence_of
from a202_reference.evidence.report import VERIFIED, Judgement, failed, unknown
from a202_reference.identifiers import Prefix

_GAP: Final = Code.EVIDENCE_CHAIN_GAP
_PREFIXES: Final = {"transaction": Prefix.TRANSACTION, "session": Prefix.SESSION}
_UNSTATED: Final = unknown("the bundle does not say where its record ends and how many objects it has, nor that it is "
                          "a part: what is cut off at its end does not show")
_GENESIS: Final = {"transaction": "draft", "session": "opened"}


def check(inquiry: Inquiry) -> None:
    """Run this step over every stream, and against the head where one is stated."""
    for key, events in inquiry.ordered_streams.items():
        for event in events:
            inquiry.add(4, "stream_kind_registered", event.subject, stream_kind_registered(key))
            inquiry.add(4, "stream_identity", event.subject, stream_identity(key, event))
        _first(inquiry, key, events[0])
        for before, event in pairwise(events):
            inquiry.add(4, "sequence_continuity", event.subject, sequence_continuity(before, event))
            inquiry.add(4, "event_chain", event.subject, event_chain(before, event))
        _forks(inquiry, key, events)
    if inquiry.material.head is not None:
        _head(inquiry, inquiry.material.head)
    if inquiry.material.exported and inquiry.material.disclosed is None and not inquiry.material.is_whole:
        inquiry.add(4, "head_stated", inquiry.whole, _UNSTATED)


def stream_kind_registered(key: StreamKey) -> Judgement:
    """Streams are of transactions and of sessions."""
    if key.kind in _PREFIXES:
        return VERIFIED
    return failed(Code.AUCTION_FORMAT_UNSUPPORTED, "the stream's kind is not registered")


def stream_identity(key: StreamKey, event: Entry) -> Judgement:
    """The identifier is of the kind; a transaction's stream is its own."""
    prefix = _PREFIXES.get(key.kind or "")
    if prefix is None or not prefix.names(key.id):
        return failed(_GAP, "the stream's identifier is not of its kind")
    if key.kind == "transaction" and key.id != event.transaction_id:
        return failed(_GAP, "the stream is of another transaction than the event")
    return VERIFIED


def sequence_continuity(before: Entry, event: Entry) -> Judgement:
    """The sequence grows by one."""
    earlier, own = sequence_of(before), sequence_of(event)
    if earlier is not None and own == earlier + 1:
        return VERIFIED
    return failed(_GAP, f"sequence {own} after sequence {earlier}")


def event_chain(before: Entry, event: Entry) -> Judgement:
    """It names the recomputed hash of the event before it."""
    if before.hash is not None and event.payload.get("previous_event_hash") == before.hash:
        return VERIFIED
    return failed(_GAP, f"the event before it, {before.subject}, hashes to {before.hash}")


def _first(inquiry: Inquiry, key: StreamKey, event: Entry) -> None:
    named, sequence = event.payload.get("previous_event_hash"), sequence_of(event)
    held = inquiry.index.hashed(named)
    starts = named is None and sequence == 1
    boundary = unknown(f"the stream is disclosed from sequence {sequence} on; what came before is not here")
    inquiry.add(4, "stream_start", event.subject, VERIFIED if starts else boundary)
    if named is not None:
        inquiry.add(4, "stream_boundary", event.subject, boundary)
        inquiry.add(4, "stream_first_predecessor_held", event.subject, VERIFIED if held is None else failed(
            _GAP, f"it names {held.subject}, which is held and is not the event before it on this stream"))
    if not starts:
        inquiry.add(4, "stream_genesis_state", event.subject, boundary)
    elif event.payload.get("from_state") == _GENESIS.get(key.kind or ""):
        inquiry.add(4, "stream_genesis_state", event.subject, VERIFIED)
    else:
        inquiry.add(4, "stream_genesis_state", event.subject, failed(
            Code.EVIDENCE_TRANSITION_ILLEGAL, "the first event does not start from the first state"))


def _forks(inquiry: Inquiry, key: StreamKey, events: Sequence[Entry]) -> None:
    """One row where the stream is single-threaded, one for each event that shares a predecessor or a sequence."""
    named = Counter(str(event.payload.get("previous_event_hash")) for event in events)
    placed = Counter(sequence_of(event) for event in events)
    forked = [event for event in events if named[str(event.payload.get("previous_event_hash"))] > 1
              or placed[sequence_of(event)] > 1]
    for event in forked:
        inquiry.add(4, "stream_fork", event.subject, failed(_GAP, "another event has its place on this stream"))
    if not forked:
        inquiry.add(4, "stream_fork", key.id if isinstance(key.id, str) else inquiry.whole, VERIFIED)


def _head(inquiry: Inquiry, head: Head) -> None:
    subject = inquiry.whole
    last = [events[-1] for key, events in inquiry.ordered_streams.items()
            if key == StreamKey("transaction", inquiry.material.transaction_id)]
    found = (sequence_of(last[0]), last[0].hash) if last else (0, None)
    holds = found == (head.sequence, head.event_hash) and type(head.sequence) is int
    inquiry.add(4, "head_event", subject, VERIFIED if holds else failed(
        _GAP, f"the record is said to end at sequence {str(head.sequence)[:20]} and ends at {found[0]}"))
    if head.object_count is None:
        return
    count = len({entry.subject for entry in inquiry.index.entries})
    counted = type(head.object_count) is int and head.object_count == count
    inquiry.add(4, "head_object_count", subject, VERIFIED if counted else failed(
        _GAP, f"the record is said to hold {str(head.object_count)[:20]} objects and holds {count}"))
