"""Surface 4 on the wire: hostile lines, stdout's purity, what a tool does to its surroundings."""

import json
import unittest

from mcp_types import CLIENT_CAPABILITIES_META_KEY, CLIENT_INFO_META_KEY, PROTOCOL_VERSION_META_KEY
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from tests.end_to_end.process import ODD, ROOT, Server, call, request


class HostileLines(unittest.TestCase):
    def test_every_odd_line_is_answered_and_the_next_call_works(self):
        unreadable = b'{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"echo","arguments":%s}}'
        cases = {
            "no JSON": (b"this is not json", None, "error"),
            "a batch": (b"[]", None, "error"),
            "an empty object": (b"{}", None, "error"),
            "300 levels": (unreadable % (1, b"[" * 300 + b"]" * 300), 1, "result"),
            "NaN": (unreadable % (2, b'{"value":NaN}'), 2, "result"),
            "a lone surrogate": (unreadable % (3, rb'{"value":"\ud800"}'), 3, "result"),
            "one name twice": (unreadable % (4, b'{"value":1,"value":2}'), 4, "result"),
            "arguments that are an array": (unreadable % (5, b"[1]"), 5, "result"),
            "arguments that are text": (unreadable % (6, b'"{}"'), 6, "result"),
        }
        with Server(*ODD) as server:
            for rule, (line, ident, kind) in cases.items():
                with self.subTest(rule):
                    reply = server.ask(line)
                    self.assertEqual(reply["id"], ident)
                    self.assertIn(kind, reply)
                    if kind == "result":
                        self.assertTrue(reply["result"]["isError"])
                        self.assertEqual(
                            reply["result"]["structuredContent"]["reason_codes"], ["A202-POLICY-DENIED"])
                    after = server.ask(call("after", "echo", value=rule))
                    self.assertEqual(after["result"]["structuredContent"], {"outcome": "recorded", "value": rule})

    def test_unreadable_arguments_get_a_result_in_the_modern_era_too(self):
        meta = {
            PROTOCOL_VERSION_META_KEY: MODERN_PROTOCOL_VERSIONS[0],
            CLIENT_INFO_META_KEY: {"name": "test", "version": "1"},
            CLIENT_CAPABILITIES_META_KEY: {},
        }
        line = call("odd", "echo", value="@")
        line["params"]["_meta"] = meta
        with Server(*ODD, greet=False) as server:
            for value in (b"NaN", b"[" * 300 + b"]" * 300):
                reply = server.ask(json.dumps(line).encode().replace(b'"@"', value))
                self.assertEqual(reply["result"]["structuredContent"]["reason_codes"], ["A202-POLICY-DENIED"])
                self.assertEqual(reply["result"]["resultType"], "complete")

    def test_a_line_beyond_the_limit_is_answered_and_skipped(self):
        with Server(*ODD) as server:
            server.send(json.dumps(call("long", "echo", value="x" * (17 << 20))).encode())
            self.assertEqual((reply := server.reply())["id"], "long")
            self.assertIn("longer than", reply["error"]["message"])
            self.assertIn("result", server.ask(call("next", "echo")))

    def test_a_line_of_sixteen_megabytes_is_read(self):
        with Server(*ODD) as server:
            text = "x" * ((16 << 20) - 200)
            reply = server.ask(call("large", "echo", value=text))
            self.assertEqual(reply["result"]["structuredContent"]["value"], text)

    def test_a_call_before_the_handshake_is_a_protocol_error(self):
        with Server(*ODD, greet=False) as server:
            self.assertIn("error", server.ask(call("early", "echo")))


class Surroundings(unittest.TestCase):
    def test_a_tool_that_prints_or_reads_touches_neither_end_of_the_wire(self):
        with Server(*ODD) as server:
            reply = server.ask(call("print", "print"))
            self.assertEqual(reply["result"]["structuredContent"], {"outcome": "recorded", "stdin": ""})
            self.assertEqual(server.end(), ([], 0))
            self.assertIn("stray text on standard output", server.stderr())
            self.assertIn("a child, too", server.stderr())

    def test_text_is_utf_8_whatever_the_locale(self):
        for locale in ({"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
                       {"PYTHONIOENCODING": "cp1252", "PYTHONUTF8": "0"}):
            with self.subTest(locale), Server(*ODD, **locale) as server:
                server.send(json.dumps(call(1, "echo", value="é€𝄞"), ensure_ascii=False).encode())
                raw = server.process.stdout.readline()
                self.assertIn("é€𝄞".encode(), raw)
                self.assertEqual(json.loads(raw)["result"]["structuredContent"]["value"], "é€𝄞")

    def test_a_defect_is_an_internal_error_that_tells_nothing(self):
        with Server(*ODD) as server:
            reply = server.ask(call("crash", "crash", value="kept-to-itself"))
            self.assertEqual(reply["error"]["code"], -32603)
            self.assertNotIn("kept-to-itself", json.dumps(reply))
            self.assertNotIn(str(ROOT), json.dumps(reply))
            self.assertIn("result", server.ask(call("next", "echo")))
            server.end()
            self.assertIn("defect in crash: ValueError", server.stderr())
            self.assertIn("odd_server.py", server.stderr())
            self.assertNotIn("kept-to-itself", server.stderr())

    def test_a_state_that_fails_during_a_call_is_told_as_such(self):
        with Server(*ODD) as server:
            reply = server.ask(call("locked", "locked"))
            self.assertIn("The state directory cannot be used", reply["error"]["message"])
            server.end()
            self.assertIn("database is locked", server.stderr())

    def test_an_answer_that_cannot_be_written_is_an_internal_error(self):
        with Server(*ODD) as server:
            reply = server.ask(call("odd", "unwritable"))
            self.assertEqual((reply["id"], reply["error"]["code"]), ("odd", -32603))
            self.assertIn("result", server.ask(call("next", "echo")))

    def test_an_unknown_tool_is_a_protocol_error(self):
        with Server(*ODD) as server:
            reply = server.ask(call("unknown", "settle_everything"))
            self.assertEqual((reply["id"], reply["error"]["code"]), ("unknown", -32602))

    def test_a_message_of_another_shape_is_a_protocol_error(self):
        with Server(*ODD) as server:
            for message in (request(1, "tools/call", name=5), request(2, "tools/call"), request(3, "nothing/there")):
                with self.subTest(message):
                    reply = server.ask(message)
                    self.assertEqual(reply["id"], message["id"])
                    self.assertIn("error", reply)


if __name__ == "__main__":
    unittest.main()
