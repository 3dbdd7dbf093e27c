"""Rules 5.6, 6.6; D-23: order comes from predecessor hashes; a gap or a fork is a broken chain, never resolved."""

import itertools
import unittest

from hypothesis import given
from hypothesis import strategies as st

from a202_reference.lifecycle.record import read_record
from tests.lifecycle.objects import event
from tests.reference.strategies import PROPERTY

GAP = "A202-EVIDENCE-CHAIN-GAP"
LINE = [event(1, None), event(2, "h1"), event(3, "h2"), event(4, "h3")]


def ids(events):
    return [each.envelope.id for each in events]


class Linked(unittest.TestCase):

    def test_nothing_reads_draft(self):
        record = read_record([])
        self.assertEqual((record.state, record.sequence, record.head_hash), ("draft", 0, None))
        self.assertTrue(record.linked)
        self.assertIsNone(record.refusal)

    def test_a_line(self):
        record = read_record(LINE)
        self.assertEqual(ids(record.events), ["evt_1", "evt_2", "evt_3", "evt_4"])
        self.assertEqual((record.state, record.sequence, record.head_hash), ("state_4", 4, "h4"))
        self.assertEqual((record.linked, record.refusal, record.unlinked), (True, None, ()))

    def test_the_order_of_arrival_does_not_matter(self):
        for order in itertools.permutations(LINE):
            self.assertEqual(ids(read_record(order).events), ids(LINE))


class Broken(unittest.TestCase):

    def broken(self, events, linked, unlinked):
        record = read_record(events)
        self.assertEqual((ids(record.events), sorted(ids(record.unlinked))), (linked, sorted(unlinked)))
        self.assertFalse(record.linked)
        self.assertEqual(record.refusal, GAP)
        return record

    def test_a_gap(self):
        record = self.broken([LINE[0], LINE[2], LINE[3]], ["evt_1"], ["evt_3", "evt_4"])
        self.assertEqual(record.state, "state_1")

    def test_no_first_event(self):
        self.assertEqual(self.broken(LINE[1:], [], ["evt_2", "evt_3", "evt_4"]).state, "draft")

    def test_two_first_events(self):
        self.broken([LINE[0], event(9, None)], [], ["evt_1", "evt_9"])

    def test_a_fork_is_never_resolved(self):
        other = event(9, "h2", sequence=3)
        for order in ([*LINE, other], [other, *LINE]):
            record = self.broken(order, ["evt_1", "evt_2"], ["evt_3", "evt_4", "evt_9"])
            self.assertEqual(record.state, "state_2")

    def test_an_event_twice(self):
        self.broken([*LINE, LINE[3]], ["evt_1", "evt_2", "evt_3"], ["evt_4", "evt_4"])

    def test_an_identifier_used_again_off_the_chain(self):
        self.broken([*LINE, event(9, "elsewhere", event_id="evt_2")], ids(LINE), ["evt_2"])

    def test_a_circle(self):
        for events in (
            [event(1, "h2"), event(2, "h1")], [event(1, "h1")],
            [event(1, None), event(2, "h1"), event(3, "h2", own="h1"), event(4, "x")],
        ):
            record = read_record(events)
            self.assertFalse(record.linked)
            self.assertLessEqual(len(record.events), len(events))

    def test_sequence_is_the_position_in_the_chain(self):
        for numbers in ((1, 3), (2, 3), (0, 1), (2, 1)):
            with self.subTest(numbers=numbers):
                record = read_record([event(1, None, sequence=numbers[0]), event(2, "h1", sequence=numbers[1])])
                self.assertEqual((len(record.events), record.unlinked), (2, ()))
                self.assertEqual(record.refusal, GAP)

    @PROPERTY
    @given(st.lists(st.tuples(st.sampled_from([None, "h0", "h1", "h2", "h3"]),
        st.sampled_from(["h0", "h1", "h2", "h3"]),
                              st.integers(0, 5), st.sampled_from(["evt_a", "evt_b", "evt_c"])), max_size=6))
    def test_total_and_linked_only_where_single_threaded(self, drawn):
        events = [event(number, previous, own=own, event_id=name) for previous, own, number, name in drawn]
        record = read_record(events)
        self.assertLessEqual(record.sequence, len(events))
        if record.linked:
            self.assertEqual(record.sequence, len(events))
            self.assertEqual([each.sequence for each in record.events], list(range(1, len(events) + 1)))
