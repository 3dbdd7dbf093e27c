"""Bodies up to 1 MB and not a byte more, and which hosts are this machine."""

import asyncio
import unittest

from a202_mcp.one_owner.web import BODY_LIMIT, in_address, is_loopback, read_body

WHOLE = b"x" * BODY_LIMIT


def piece(body, *, more=False):
    return {"type": "http.request", "body": body, "more_body": more}


LEFT = {"type": "http.disconnect"}
BODIES = (
    ("whole", (), (piece(b"{}"),), b"{}"),
    ("none", (), ({"type": "http.request"},), b""),
    ("in pieces", (), (piece(b"{", more=True), piece(b"", more=True), piece(b"}")), b"{}"),
    ("cut off", (), (piece(b"{}", more=True), LEFT), b""),
    ("at the limit", (), (piece(WHOLE[:-1], more=True), piece(b"x")), WHOLE),
    ("over the limit", (), (piece(WHOLE, more=True), piece(b"x")), None),
    ("stated over the limit", ((b"Content-Length", b"1048577"),), (), None),
    ("stated in many digits", ((b"content-length", b"9" * 5000),), (), None),
    ("stated twice", ((b"content-length", b"2"), (b"content-length", b"1048577")), (), None),
    ("stated as no number", ((b"content-length", b"-1"), (b"\xff", b"\xff")), (piece(b"{}"),), b"{}"),
)


class Bodies(unittest.TestCase):
    def test_a_body_is_read_whole_or_refused(self):
        for what, headers, messages, expected in BODIES:
            waiting = list(messages)

            async def receive(waiting=waiting):
                return waiting.pop(0)

            with self.subTest(what):
                self.assertEqual(asyncio.run(read_body(headers, receive)), expected)


class Hosts(unittest.TestCase):
    def test_which_hosts_are_this_machine(self):
        for host, own in (("localhost", True), ("127.0.0.1", True), ("127.8.9.1", True), ("::1", True),
                          ("::", False), ("192.0.2.1", False), ("localhost.example", False), ("", False)):
            with self.subTest(host):
                self.assertEqual(is_loopback(host), own)

    def test_a_host_with_colons_stands_in_brackets(self):
        self.assertEqual([in_address(host) for host in ("::1", "127.0.0.1")], ["[::1]", "127.0.0.1"])
