"""The runner: how an entry is decided, other people's sets, standard input, and the draft grade."""

import contextlib
import io
import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any
from unittest import mock

from a202_reference import gate
from a202_reference.codes import Code
from a202_reference.schemas import grade_errors
from conformance.__main__ import main
from conformance.documents.formation import offer
from conformance.generate import ROOT
from conformance.judge import judge
from conformance.manifest import BrokenManifestError, Entry, read_manifest
from conformance.runner import judge_entry
from conformance.world import at, changed, sealed

INTEROP = os.environ.get("A202_INTEROP")


def run(*arguments: str, stdin: bytes = b"") -> tuple[int, str]:
    """Exit status and standard output of the command."""
    out, fed = io.StringIO(), mock.Mock(buffer=io.BytesIO(stdin))
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()), mock.patch("sys.stdin", fed):
        return main(arguments), out.getvalue()


class Deciding(unittest.TestCase):
    """Verification 4, "Deciding an entry"."""

    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name) / "fixtures"
        self.folder.mkdir()

    def why(self, content: Any, *, positive: bool = False, code: str | None = None, kind: str = "kernel") -> str:
        text = content if isinstance(content, str) else json.dumps(content)
        (self.folder / "one.json").write_text(text, "utf-8")
        return judge_entry(Entry("one.json", kind, positive, code), self.folder).why

    def test_each_way_to_behave_and_to_fail(self) -> None:
        good = offer()
        expired = offer(valid_until=at(1))
        shapeless = sealed(changed(good, "version", "one"))
        for words, content, positive, code in (
            ("", good, True, None),
            ("a valid document is refused", expired, True, None),
            ("a valid document is refused", shapeless, True, None),
            ("", expired, False, "A202-OFFER-EXPIRED"),
            ("", {**expired, "kernel_annotations": 1}, False, "A202-OFFER-EXPIRED"),
            ("other codes", expired, False, "A202-OFFER-STALE"),
            ("", shapeless, False, "A202-OFFER-STALE"),
            ("nothing refuses it", good, False, "A202-OFFER-EXPIRED"),
            ("nothing refuses it", good, False, None),
            ("", shapeless, False, None),
            ("the schema layer does not refuse it", expired, False, None),
            ("cannot be read", "{", True, None),
            ("twice", '{"a": 1, "a": 2}', True, None),
        ):
            with self.subTest(words=words, code=code):
                why = self.why(content, positive=positive, code=code)
                self.assertEqual(why == "", words == "")
                self.assertIn(words, why)

    def test_an_unknown_kind_fails_its_entry(self) -> None:
        self.assertEqual(self.why(offer(), positive=True, kind="riddle"), "the kind does not exist")

    def test_a_missing_file_fails_its_entry(self) -> None:
        self.assertIn("cannot be read", judge_entry(Entry("none.json", "kernel", True, None), self.folder).why)

    def test_a_path_out_of_the_folder_is_not_followed(self) -> None:
        (self.folder.parent / "outside.json").write_text(json.dumps(offer()), "utf-8")
        for file in ("../outside.json", str(self.folder.parent / "outside.json")):
            with self.subTest(file):
                self.assertIn("leaves", judge_entry(Entry(file, "kernel", True, None), self.folder).why)

    def test_manifests_that_are_none(self) -> None:
        for text in ("[]", "{", "{}", '{"positive": [], "negative": 1}', '{"positive": [7], "negative": []}',
                     '{"positive": [{"fixture": "a"}], "negative": []}',
                     '{"positive": [{"file": "a", "kind": "b"}], "negative": [{"file": "a", "kind": "b"}]}'):
            path = self.folder / "manifest.json"
            path.write_text(text, "utf-8")
            with self.subTest(text), self.assertRaises(BrokenManifestError):
                read_manifest(path)


class Command(unittest.TestCase):
    def test_our_own_set_passes(self) -> None:
        status, text = run()
        self.assertEqual(status, 0)
        self.assertRegex(text, r"(?m)^[0-9]+ passed, 0 failed$")

    def test_as_json(self) -> None:
        status, text = run("--format", "json")
        report = json.loads(text)
        self.assertEqual((status, report["failed"], report["vector_faults"]), (0, 0, []))
        self.assertEqual(report["passed"], len(report["results"]))
        first = next(each for each in report["results"] if each["fixture"] == "negative/offer-tells-reserve-price.json")
        self.assertEqual(first, {
            "fixture": "negative/offer-tells-reserve-price.json", "kind": "kernel",
            "expected": "A202-DISCLOSURE-DENIED", "passed": True, "why": "", "schema_valid": False,
            "codes": ["A202-DISCLOSURE-DENIED"], "families": ["a202-scope/bilateral/0.1: offer"]})

    def test_another_set_by_folder_and_manifest(self) -> None:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            (folder / "ours.json").write_text(json.dumps(offer()), "utf-8")
            (folder / "manifest.json").write_text(json.dumps({
                "positive": [{"file": "ours.json", "kind": "kernel", "reason_code": None}],
                "negative": [{"file": "none.json", "kind": "kernel"}]}), "utf-8")
            options = ("--fixtures", name, "--manifest", str(folder / "manifest.json"))
            status, text = run(*options)
            self.assertEqual(status, 1)
            self.assertIn("FAILED none.json (kernel): the file cannot be read", text)
            self.assertIn("1 passed, 1 failed", text)

    def test_what_cannot_be_run(self) -> None:
        self.assertEqual(run("--fixtures", str(ROOT))[0], 2)
        self.assertEqual(run("--fixtures", str(ROOT), "--manifest", str(ROOT / "none.json"))[0], 2)
        self.assertEqual(run("--grade", "--at", "tomorrow")[0], 2)

    def test_as_a_module(self) -> None:
        done = subprocess.run([sys.executable, "-m", "conformance", "--format", "json"], check=False, timeout=120,
                              capture_output=True, cwd=ROOT.parent)
        self.assertEqual((done.returncode, done.stderr), (0, b""))


class Lines(unittest.TestCase):
    def test_one_answer_a_line(self) -> None:
        lines = [
            {"id": "a", "kind": "kernel", "doc": offer()},
            {"id": "b", "kind": "kernel", "doc": offer(valid_until=at(1))},
            {"id": "c", "kind": "riddle", "doc": {}},
            {"id": "d", "kind": "kernel"},
            [],
        ]
        text = "\n\n".join(json.dumps(line) for line in lines) + "\n{\n" + "[" * 100_000 + "\n"
        status, answers = run("--stdin", stdin=text.encode("utf-8"))
        self.assertEqual(status, 0)
        self.assertEqual([json.loads(answer) for answer in answers.splitlines()], [
            {"id": "a", "schema_valid": True, "codes": []},
            {"id": "b", "schema_valid": True, "codes": ["A202-OFFER-EXPIRED"]},
            {"id": "c", "schema_valid": False, "codes": []},
            {"id": "d", "error": "the line names no kind and doc"},
            {"id": None, "error": "the line names no kind and doc"},
            {"id": None, "error": "the line is not JSON"},
            {"id": None, "error": "the line is not JSON"},
        ])

    def test_numbers_as_python_reads_them(self) -> None:
        for version, valid in (("1.0", True), ("1", True), ("true", False), ("1e400", False), ("NaN", False),
                               ("1" + "0" * 300, False)):
            line = json.dumps({"id": 1, "kind": "kernel", "doc": offer()})
            text = line.replace('"version": 1', f'"version": {version}')
            with self.subTest(version):
                answer = json.loads(run("--stdin", stdin=text.encode("utf-8"))[1])
                self.assertEqual(answer["schema_valid"], valid)


class DraftGrade(unittest.TestCase):
    """Rules 10: what a run of one's own may say, and no more."""

    def setUp(self) -> None:
        self.draft = json.loads(run("--grade", "--organization", "org_brightwater", "--at", "2028-02-29T09:00:00Z")[1])

    def test_it_names_the_bilateral_scope_alone(self) -> None:
        self.assertEqual(self.draft["scope"]["role_scopes"], ["a202-scope/bilateral/0.1"])
        self.assertEqual(gate.judge_grade(self.draft).codes, ())

    def test_what_was_not_assessed_is_null_and_present(self) -> None:
        self.assertEqual(set(self.draft["dimensions"]), set("ABCDE"))
        self.assertIsNone(self.draft["dimensions"]["E"])
        self.assertIsNone(self.draft["held_out_coverage"])
        self.assertLessEqual({each["band"] for each in self.draft["dimensions"].values() if each}, {0, 1})

    def test_it_is_no_grade_until_an_issuer_completes_it(self) -> None:
        places = {error.split(":")[0] for error in grade_errors(self.draft)}
        self.assertEqual(places, {"status", "determination_ref", "signature"})

    def test_it_ends_a_year_on(self) -> None:
        self.assertEqual((self.draft["issued_at"], self.draft["expires_at"]),
                         ("2028-02-29T09:00:00Z", "2029-02-28T09:00:00Z"))

    def test_a_failed_entry_is_band_0_and_an_unrun_dimension_null(self) -> None:
        with tempfile.TemporaryDirectory() as name:
            manifest = Path(name) / "manifest.json"
            manifest.write_text(json.dumps({"positive": [{"file": "valid-commercial-mandate.json", "kind": "mandate"}],
                                            "negative": []}), "utf-8")
            status, text = run("--grade", "--fixtures", name, "--manifest", str(manifest))
        self.assertEqual(status, 1)
        dimensions = json.loads(text)["dimensions"]
        self.assertEqual(dimensions["A"], {"band": 0, "established_from": ["mandate"]})
        self.assertEqual([dimensions[name] for name in "BCDE"], [None] * 4)


@unittest.skipUnless(INTEROP, "A202_INTEROP names no folder of a peer's fixtures and verdicts")
class Interop(unittest.TestCase):
    """A peer's published fixtures, and its recorded verdicts on damaged ones: never laxer, seldom stricter."""

    def setUp(self) -> None:
        self.folder = Path(str(INTEROP))

    def test_every_published_fixture_behaves_as_declared(self) -> None:
        status, text = run(
            "--fixtures", str(self.folder / "fixtures"), "--manifest", str(self.folder / "manifest.json"))
        self.assertEqual(status, 0, text)

    def test_every_declared_code_is_raised_by_the_rule_layer(self) -> None:
        for entry in read_manifest(self.folder / "manifest.json"):
            document = json.loads((self.folder / "fixtures" / entry.file).read_text("utf-8"))
            with self.subTest(entry.file):
                codes = judge(entry.kind, document)["codes"]
                self.assertEqual(codes, [entry.reason_code] if entry.reason_code else [])

    def test_recorded_verdicts(self) -> None:
        with mock.patch.object(sys, "path", [str(self.folder), *sys.path]):
            import compare  # type: ignore[import-not-found]  # noqa: PLC0415  the peer's own reader
        cases, documents = compare.load_cases(self.folder / "oracle.jsonl", self.folder / "fixtures")
        stricter: dict[str, int] = {}
        for case, (_, kind, document) in zip(cases, documents, strict=True):
            answer = judge(kind, document)
            ours = answer["schema_valid"] and not answer["codes"]
            theirs = case["schema_valid"] and not case["codes"]
            self.assertFalse(ours and not theirs, case["id"])
            if case.get("quirk"):
                continue
            self.assertEqual(answer["schema_valid"], case["schema_valid"], case["id"])
            if case["schema_valid"]:
                self.assertLessEqual(set(case["codes"]), set(answer["codes"]), case["id"])
                for code in set(answer["codes"]) - set(case["codes"]):
                    stricter[code] = stricter.get(code, 0) + 1
        self.assertLessEqual(set(stricter), {code.value for code in STRICTER}, stricter)


STRICTER = {
    Code.MANDATE_DELEGATION_WIDENING, Code.MANDATE_INTERVAL_INVALID, Code.DISCLOSURE_DENIED,
    Code.EVIDENCE_REPORT_INVALID, Code.OBLIGATION_REMAINDER_MISSING, Code.EVIDENCE_HASH_MISMATCH,
    Code.AGREEMENT_HASH_MISMATCH, Code.EVIDENCE_CHAIN_GAP, Code.EVIDENCE_TRANSITION_ILLEGAL,
    Code.STATE_TRANSITION_DENIED}
"""The codes of the rules in known_differences.md."""


if __name__ == "__main__":
    unittest.main()
