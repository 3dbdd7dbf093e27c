"""Surface 4: what becomes of one line of input."""

import json
import unittest

from hypothesis import given
from hypothesis import strategies as st
from mcp.shared.message import SessionMessage
from mcp_types.jsonrpc import (
    INVALID_REQUEST,
    PARSE_ERROR,
    JSONRPCError,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
)

from a202_mcp.descriptors import Oversized
from a202_mcp.envelope import Unread, read_message


def call(arguments: str, ident: str = "7", before: str = "", after: str = "") -> bytes:
    """A `tools/call` line whose arguments are written as given."""
    text = (
        f'{{"jsonrpc":"2.0","id":{ident},"method":"tools/call",'
        f'"params":{{{before}"name":"verify_mandate","arguments":{arguments}{after}}}}}'
    )
    return text.encode("utf-8", "surrogatepass")


UNREADABLE = {
    "300 levels of objects": ('{"n":' * 300 + "1" + "}" * 300, "nested deeper than 64 levels"),
    "300 levels of arrays": ("[" * 300 + "]" * 300, "nested deeper than 64 levels"),
    "a hundred thousand levels": ("[" * 100_000 + "]" * 100_000, "nested deeper than 64 levels"),
    "NaN": ('{"v":NaN}', "NaN and Infinity are no JSON"),
    "minus Infinity": ('{"v":-Infinity}', "NaN and Infinity are no JSON"),
    "a number beyond all floats": ('{"v":1e999}', "a number too large to hold"),
    "a lone surrogate, escaped": (r'{"v":"\ud800"}', "a string holds a lone surrogate"),
    "a lone surrogate, as bytes": ('{"v":"\ud800"}', "the text is not UTF-8"),
    "one name twice": ('{"v":1,"v":2}', "a member name occurs twice in one object"),
    "one name twice, once escaped": (r'{"v":1,"\u0076":2}', "a member name occurs twice in one object"),
    "a member without value": ('{"v":}', "the text is not JSON"),
    "brackets and quotes in a string": (r'{"s":"}]\"{","v":NaN}', "NaN and Infinity are no JSON"),
}
ERRORS = {
    "no JSON": (b"this is not json", None, PARSE_ERROR),
    "half a message": (b'{"jsonrpc":"2.0","id":7,"method":"ping"', None, PARSE_ERROR),
    "no Unicode": (b"\xff\xfe\x00", None, PARSE_ERROR),
    "an unreadable line of another method": (
        b'{"jsonrpc":"2.0","id":7,"method":"tools/list","params":{"v":NaN}}', 7, PARSE_ERROR),
    "an unreadable line with its id last": (
        b'{"method":"ping","params":{"id":1,"v":NaN},"jsonrpc":"2.0","id":"x-1"}', "x-1", PARSE_ERROR),
    "two ids": (b'{"jsonrpc":"2.0","id":7,"id":8,"method":"ping"}', None, PARSE_ERROR),
    "two messages on one line": (b'{"id":7,"v":NaN}{"id":8}', None, PARSE_ERROR),
    "a tool name that cannot be read": (
        rb'{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"\ud800","arguments":{}}}', 7, PARSE_ERROR),
    "a batch": (b"[]", None, INVALID_REQUEST),
    "a bare word": (b'"ping"', None, INVALID_REQUEST),
    "an empty object": (b"{}", None, INVALID_REQUEST),
    "another version": (b'{"jsonrpc":"1.0","id":7,"method":"ping"}', 7, INVALID_REQUEST),
    "a method that is no name": (b'{"jsonrpc":"2.0","id":7,"method":5}', 7, INVALID_REQUEST),
    "params that are no object": (b'{"jsonrpc":"2.0","id":7,"method":"ping","params":[1]}', 7, INVALID_REQUEST),
    "an id that is a fraction": (b'{"jsonrpc":"2.0","id":1.5,"method":"ping"}', None, INVALID_REQUEST),
    "an id that is a truth value": (b'{"jsonrpc":"2.0","id":true,"method":"ping"}', None, INVALID_REQUEST),
}
MESSAGES = {
    "a request": (b'{"jsonrpc":"2.0","id":7,"method":"ping"}', JSONRPCRequest),
    "a notification": (b'{"jsonrpc":"2.0","method":"notifications/initialized"}', JSONRPCNotification),
    "a response": (b'{"jsonrpc":"2.0","id":7,"result":{}}', JSONRPCResponse),
    "an error": (b'{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"m"}}', JSONRPCError),
    "a line with a carriage return": (b'{"jsonrpc":"2.0","id":7,"method":"ping"}\r', JSONRPCRequest),
}
OVERSIZED = {
    "the id among the first members": (b'{"jsonrpc":"2.0","id":12,"method":"tools/call","params":{"n', b"}}", 12),
    "the id as the last member": (b'{"method":"tools/call","params":{"n', b'"}},"jsonrpc":"2.0","id":"r-1"}', "r-1"),
    "an id only within the params": (b'{"method":"tools/call","params":{"id":5,"n', b'"x"}}', None),
    "an id only within a string": (b'{"method":"m","params":{"n', br'","v":",\"id\":5"}}', None),
    "no message": (b"xxxx", b"xxxx", None),
}


class ReadMessage(unittest.TestCase):
    def test_messages_are_read_as_what_they_are(self):
        for rule, (line, kind) in MESSAGES.items():
            with self.subTest(rule):
                self.assertIsInstance(read_message(line).message, kind)

    def test_a_call_with_unreadable_arguments_keeps_id_name_and_meta(self):
        meta = {"a": {"b": [1, "}"]}}
        for rule, (arguments, reason) in UNREADABLE.items():
            for before, after in ((f'"_meta":{json.dumps(meta)},', ""), ("", f',"_meta":{json.dumps(meta)}')):
                with self.subTest(rule, before=before):
                    read = read_message(call(arguments, '"r-1"', before, after))
                    self.assertEqual(read.message.id, "r-1")
                    self.assertEqual(read.message.params, {"name": "verify_mandate", "_meta": meta})
                    self.assertEqual(read.metadata.request_context, Unread(reason))

    def test_arguments_that_are_no_object_are_said_to_be_unread(self):
        for arguments in ("[1]", '"{}"', "5", "true"):
            with self.subTest(arguments):
                read = read_message(call(arguments))
                self.assertEqual(read.message.params, {"name": "verify_mandate"})
                self.assertEqual(read.metadata.request_context, Unread("they are no JSON object"))

    def test_absent_and_null_arguments_are_none(self):
        for line in (call("null"), call("{}").replace(b',"arguments":{}', b"")):
            with self.subTest(line):
                read = read_message(line)
                self.assertEqual(read.message.params, {"name": "verify_mandate"})
                self.assertIsNone(read.metadata.request_context)

    def test_other_lines_are_answered_with_an_error_under_their_id(self):
        for rule, (line, ident, code) in ERRORS.items():
            with self.subTest(rule):
                read = read_message(line)
                self.assertIsInstance(read, JSONRPCError)
                self.assertEqual((read.id, read.error.code), (ident, code))

    def test_blank_lines_are_passed_over(self):
        for line in (b"", b"  \t", b"\r"):
            with self.subTest(line):
                self.assertIsNone(read_message(line))

    def test_a_line_too_long_is_answered_under_its_outer_id(self):
        for rule, (head, tail, ident) in OVERSIZED.items():
            with self.subTest(rule):
                read = read_message(Oversized(head, tail))
                self.assertEqual((read.id, read.error.code), (ident, INVALID_REQUEST))

    @given(st.binary(max_size=60) | st.text(alphabet='{}[]":,\\ idmethoparsnNa1e\n', max_size=60).map(str.encode))
    def test_whatever_a_line_holds_it_is_a_message_an_error_or_blank(self, line):
        read = read_message(line)
        self.assertTrue(read is None or isinstance(read, SessionMessage | JSONRPCError))


if __name__ == "__main__":
    unittest.main()
