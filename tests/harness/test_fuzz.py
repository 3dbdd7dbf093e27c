"""Surface 4, "Whatever else arrives": every line is answered, and a refused call leaves the state as it was."""

import json
import tempfile
import unittest
from pathlib import Path

from harness.fuzz import Figures, _expected, _judge, fuzz
from harness.hostile import Hostile


class Fuzz(unittest.TestCase):

    def test_every_hostile_line_is_answered_and_changes_nothing(self):
        with tempfile.TemporaryDirectory() as folder:
            figures = fuzz(600, 11, Path(folder) / "state")
        self.assertEqual(figures.faults, [])
        self.assertEqual(figures.sent, 600)
        for kind in ("refusals", "protocol errors", "other results"):
            self.assertGreater(figures.answers[kind], 10)

    def test_a_seed_and_a_number_name_an_input(self):
        calls = [("verify_mandate", {"mandate_id": "mnd_one", "status": {"status": "active"}})]
        one, other = (Hostile(3, calls, ["a202:x"]) for _ in range(2))
        self.assertEqual([one.line(at) for at in range(200)], [other.line(at) for at in range(200)])
        self.assertGreater(len({one.line(at) for at in range(200)}), 150)


class WhatIsExpected(unittest.TestCase):
    """The harness's own judgement of a line and of an answer."""

    def test_which_lines_must_be_answered(self):
        for line, expected in (
            (b'{"jsonrpc":"2.0","id":7,"method":"ping"}', (True, "7")),
            (b'{"jsonrpc":"2.0","id":"a","method":"ping"}', (True, '"a"')),
            (b'{"jsonrpc":"2.0","id":null,"method":"ping"}', (True, None)),
            (b'{"jsonrpc":"2.0","method":"notifications/x"}', (False, None)),
            (b'{"jsonrpc":"2.0","id":7,"result":{}}', (False, None)),
            (b"[]", (True, None)), (b"5", (True, None)), (b"{}", (True, None)), (b"{", (True, None)),
            (b"  ", (False, None)),
        ):
            with self.subTest(line):
                self.assertEqual(_expected(line), expected)

    def test_what_is_wrong_with_an_answer(self):
        refusal = {"outcome": "refused", "reason_codes": ["A202-POLICY-DENIED"], "detail": "send less"}
        other = {**refusal, "reason_codes": ["A202-OTHER"]}
        first = "Refused (A202-POLICY-DENIED): send less\n"
        text = first + json.dumps(refusal)

        def result(data, text, error=True):
            return {"structuredContent": data, "content": [{"text": text}], "isError": error}

        for name, reply, faults in (
            ("a good refusal", {"result": result(refusal, text)}, 0),
            ("without isError", {"result": result(refusal, text, False)}, 1),
            ("another code", {"result": result(other, first + json.dumps(other))}, 1),
            ("nothing said", {"result": result(refusal, json.dumps(refusal))}, 1),
            ("another text", {"result": result(refusal, first + json.dumps(other))}, 1),
            ("a traceback", {"error": {"code": 1, "message": "Traceback (most recent call last)"}}, 1),
            ("a defect", {"error": {"code": 1, "message": "Internal error: a defect of the server"}}, 1),
            ("a private key", {"result": {"x": "-----BEGIN PRIVATE KEY"}}, 1),
        ):
            with self.subTest(name):
                figures = Figures()
                _judge(json.dumps(reply).encode(), reply, figures, 0)
                self.assertEqual(len(figures.faults), faults, figures.faults)


if __name__ == "__main__":
    unittest.main()
