"""Surface 4: a line of up to 16 MiB is read, a longer one is skipped without being held."""

import unittest

from a202_mcp.descriptors import Oversized, lines
from a202_reference.wire import MAX_BYTES


def read(*chunks: bytes) -> list[bytes | Oversized]:
    """The lines in these chunks."""
    return list(lines(iter([*chunks, b""]).__next__))


class Lines(unittest.TestCase):
    def test_lines_end_at_line_feeds_wherever_chunks_do(self):
        whole = b"one\n\ntwo\r\nthree"
        expected = [b"one", b"", b"two\r", b"three"]
        for size in range(1, len(whole) + 1):
            with self.subTest(size=size):
                self.assertEqual(read(*(whole[at : at + size] for at in range(0, len(whole), size))), expected)

    def test_nothing_is_no_line(self):
        self.assertEqual(read(), [])

    def test_a_line_of_exactly_the_limit_is_read(self):
        self.assertEqual([len(line) for line in read(b"x" * MAX_BYTES + b"\n", b"next\n")], [MAX_BYTES, 4])

    def test_of_a_longer_line_only_the_ends_are_kept_and_the_next_one_is_read(self):
        piece = b"x" * (1 << 20)
        long, following = read(b"head", *([piece] * 17), b"tail", b"\nnext\n")
        self.assertEqual((long.head[:5], long.tail[-5:]), (b"headx", b"xtail"))
        self.assertLess(len(long.head) + len(long.tail), 1 << 20)
        self.assertEqual(following, b"next")


if __name__ == "__main__":
    unittest.main()
