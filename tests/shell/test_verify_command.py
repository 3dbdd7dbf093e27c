"""`a202-mcp verify` and `a202-mcp export`: what is read, what is printed, which exit status (surface 7)."""

from __future__ import annotations

import copy
import io
import json
import os
import subprocess
import sys
import tempfile
import unittest
from contextlib import redirect_stderr, redirect_stdout
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from unittest import mock

import a202_mcp
from a202_mcp import export, verify
from a202_mcp.store import SqliteStore
from a202_mcp.workspace import Workspace
from a202_reference.evidence.bundle import key_document
from a202_reference.evidence.disclosure import disclose
from tests.evidence.records import TXN, Story, binding
from tests.evidence.stories import told
from tests.evidence.test_resigned_records import house_profile, house_terms

HOSTILE = "<script>alert(1)</script>\u202e\x1b[31m\x00'\" onload=x"


def run(*arguments: str, stdin: bytes = b"") -> tuple[int, str, str]:
    """Run the command: its status, standard output, standard error."""
    out, err = io.StringIO(), io.StringIO()
    given = mock.Mock(buffer=io.BytesIO(stdin))
    with redirect_stdout(out), redirect_stderr(err), mock.patch("sys.stdin", given):
        status = verify.run(list(arguments))
    return status, out.getvalue(), err.getvalue()


class VerifyCommandTest(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def file(self, document: Any, name: str = "bundle.json") -> str:
        path = self.folder / name
        path.write_text(document if isinstance(document, str) else json.dumps(document), encoding="utf-8")
        return str(path)

    def tampered(self) -> dict[str, Any]:
        bundle = copy.deepcopy(told("walkthrough"))
        bundle["objects"][0]["payload"]["valid_until"] = "2099-01-01T00:00:00Z"
        return bundle


class ExitStatus(VerifyCommandTest):
    def test_zero_where_no_check_failed(self) -> None:
        self.assertEqual(0, run(self.file(told("walkthrough")))[0])

    def test_zero_where_checks_could_not_be_made(self) -> None:
        status, out, _ = run(self.file(told("walkthrough")["objects"]))
        self.assertEqual(0, status)
        self.assertIn("the key key_buyer_agent_01 is not held", out)

    def test_one_where_a_check_failed(self) -> None:
        self.assertEqual(1, run(self.file(self.tampered()))[0])

    def test_two_where_the_input_cannot_be_read(self) -> None:
        bundle = told("walkthrough")
        for name, document in {
            "no JSON": "{", "a number": "5", "another format": {**bundle, "format": "zip"}, "no objects": {
                "format": bundle["format"]}, "objects of another type": {**bundle, "objects": {}},
            "nothing in it": [], "an empty bundle": {**bundle, "objects": []},
            "a name twice": '{"format": "a202-bundle/0.1", "format": "x", "objects": []}',
            "a fraction": '[{"version": 1.5}]', "too deep": "[" * 300 + "]" * 300, "more after it": "[{}] x",
            "a lone surrogate": '["\\ud800"]',
        }.items():
            with self.subTest(name):
                status, out, err = run(self.file(document))
                self.assertEqual((2, ""), (status, out))
                self.assertTrue(err.startswith("a202-mcp verify: "), err)
                self.assertNotIn("Traceback", err)

    def test_two_where_there_is_no_file(self) -> None:
        self.assertEqual(2, run(str(self.folder / "nowhere.json"))[0])
        self.assertEqual(2, run(str(self.folder))[0])

    def test_two_for_rules_that_are_not_registered(self) -> None:
        self.assertEqual(2, run(self.file(told("walkthrough")), "--rules-version", "9.9")[0])


class WhatIsRead(VerifyCommandTest):
    def test_standard_input(self) -> None:
        status, out, _ = run("-", "--format", "json", stdin=json.dumps(told("walkthrough")).encode())
        self.assertEqual((0, 0), (status, json.loads(out)["results"]["not_checkable"]))

    def test_a_given_rules_version_wins(self) -> None:
        status, out, _ = run(self.file(told("walkthrough")), "--rules-version", "1.2", "--format", "json")
        failed = [check["code"] for check in json.loads(out)["checks"] if check["result"] == "failed"]
        self.assertEqual((1, ["A202-EVIDENCE-TRANSITION-ILLEGAL"]), (status, failed))

    def test_trusted_keys_count_and_are_named(self) -> None:
        keys = [key_document(binding(key["key_id"])) for key in told("walkthrough")["keys"]]
        for name, trust in {"a list": keys, "a document with keys": {"keys": keys}}.items():
            with self.subTest(name):
                status, out, _ = run(
                    self.file(told("walkthrough")), "--trust", self.file(trust, "keys.json"), "--format", "json")
                sources = {key["source"] for key in json.loads(out)["key_status"]}
                self.assertEqual((0, {"pinned by the reader"}), (status, sources))

    def test_another_key_than_the_trusted_one_fails(self) -> None:
        other = {**key_document(binding("key_stranger_agent_01")), "key_id": "key_buyer_agent_01"}
        status, out, _ = run(
            self.file(told("walkthrough")), "--trust", self.file([other], "keys.json"), "--format", "json")
        codes = {check["code"] for check in json.loads(out)["checks"] if check["name"].startswith("key_resolves")
                 and check["result"] == "failed"}
        self.assertEqual((1, {"A202-EVIDENCE-SIGNATURE-INVALID"}), (status, codes))

    def test_a_trust_file_that_cannot_be_read_refuses(self) -> None:
        for name, trust in {"no JSON": "{", "no keys": {}, "none": [], "a broken one": [{"key_id": "key_x01"}]}.items():
            with self.subTest(name):
                trusted = self.file(trust, "keys.json")
                self.assertEqual(2, run(self.file(told("walkthrough")), "--trust", trusted)[0])


class WhatIsPrinted(VerifyCommandTest):
    def test_json_is_the_report_of_the_tool(self) -> None:
        _, out, _ = run(self.file(self.tampered()), "--format", "json")
        report = json.loads(out)
        self.assertEqual(
            {"role_scope", "operated_objects", "obligations", "key_status", "rules_version", "objects_in_scope",
             "streams_disclosed", "undisclosed_streams", "unresolved_references", "unreferenced_evidence", "results",
             "checks"}, report.keys())
        self.assertEqual(sum(report["results"].values()), len(report["checks"]))

    def test_text_prints_failed_and_not_checkable_alike(self) -> None:
        bundle = self.tampered()
        bundle["objects"][5]["signatures"][0]["signature"] = "synthetic-placeholder-signature-value"
        _, out, _ = run(self.file(bundle))
        lines = out.splitlines()
        failed, unmade = (next(at for at, line in enumerate(lines) if line.startswith(title))
                          for title in ("Failed: ", "Not checkable: "))
        self.assertRegex(lines[failed + 1], r"^  step \d  \S+  \S+  A202-")
        self.assertRegex(lines[unmade + 1], r"^  step \d  \S+  \S+$")
        self.assertIn("there is no overall verdict", out)

    def test_a_part_says_that_it_is_one(self) -> None:
        part = disclose(told("walkthrough"), sequences=(3, 4))
        for form in ("text", "html"):
            with self.subTest(form):
                status, out, _ = run(self.file(part), "--format", form)
                self.assertEqual(0, status)
                self.assertIn("discloses a part of a record", out)

    def test_text_and_page_show_hostile_texts_as_text(self) -> None:
        bundle = copy.deepcopy(told("walkthrough"))
        bundle["objects"][0]["payload"]["session_id"] = HOSTILE
        bundle["objects"][0]["created_by"]["organization_id"] = HOSTILE
        bundle["objects"][4]["payload"]["event_type"] = HOSTILE
        bundle["objects"][5]["payload"]["terms"]["core"]["description"] = HOSTILE
        bundle["mandates"][0]["actions"] = [HOSTILE]
        for form in ("text", "html"):
            with self.subTest(form):
                _, out, _ = run(self.file(bundle), "--format", form)
                for forbidden in ("\x1b", "\u202e", "\x00"):
                    self.assertNotIn(forbidden, out)
                if form == "html":
                    self.assertNotIn("<script", out)
                    self.assertTrue(out.isascii())


class _Page(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs
        if tag not in ("meta", "line", "circle", "br"):
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs

    def handle_endtag(self, tag: str) -> None:
        if self.open and self.open[-1] == tag:
            self.open.pop()
        else:
            raise AssertionError(f"</{tag}> closes {self.open[-1:]}")


class ThePage(VerifyCommandTest):
    def page(self, bundle: Any) -> tuple[_Page, str]:
        _, out, _ = run(self.file(bundle), "--format", "html")
        page = _Page()
        page.feed(out)
        return page, out

    def test_it_is_well_formed_for_every_story_and_for_rubbish(self) -> None:
        for name, bundle in {
            "plain": told("walkthrough"), "approved": told("approved"), "tampered": self.tampered(),
            "rubbish": [{"object_type": "agreement", "payload": {"terms": []}}, {}, {"id": [], "signatures": "x"}],
        }.items():
            with self.subTest(name):
                self.assertEqual([], self.page(bundle)[0].open)

    def test_it_loads_and_runs_nothing(self) -> None:
        page, out = self.page(told("walkthrough"))
        self.assertEqual(set(), {"script", "img", "link", "iframe", "object", "form", "a"} & set(page.tags))
        self.assertEqual([], [name for name, _ in page.attributes if name in ("src", "href") or name.startswith("on")])
        self.assertNotIn("http", out.replace("http-equiv", ""))
        self.assertIn("default-src 'none'", out)

    def test_it_shows_what_it_promises(self) -> None:
        _, out = self.page(told("walkthrough"))
        for part in ("org_northstar", "3200.00 EUR", "Calibration of 20 pressure transmitters", "agreement.direct",
                     "discharged", "declared by the bundle", "no overall verdict", "Failed: 0", "Not checkable: 0"):
            with self.subTest(part):
                self.assertIn(part, out)

    def test_failed_and_not_checkable_have_one_form(self) -> None:
        _, out = self.page(self.tampered())
        self.assertRegex(out, r"<section><h2>Failed: \d+</h2>")
        self.assertRegex(out, r"<section><h2>Not checkable: \d+</h2>")


class TheReportCannotBeWritten(VerifyCommandTest):
    """As a process, since what counts is what is left at its end."""

    def verified(self, form: str, out: int) -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(
            [sys.executable, "-m", "a202_mcp", "verify", self.file(told("walkthrough")), "--format", form],
            stdout=out, stderr=subprocess.PIPE, check=False, cwd=Path(a202_mcp.__file__).parents[1])

    def test_a_closed_pipe_ends_it_quietly(self) -> None:
        for form in ("text", "json", "html"):
            with self.subTest(form):
                reading, writing = os.pipe()
                os.close(reading)
                try:
                    done = self.verified(form, writing)
                finally:
                    os.close(writing)
                self.assertEqual((141, b""), (done.returncode, done.stderr))

    @unittest.skipUnless(Path("/dev/full").exists(), "the system has no full device")
    def test_a_full_disk_is_two_and_one_line(self) -> None:
        for form in ("text", "json", "html"):
            with self.subTest(form), Path("/dev/full").open("wb") as full:
                done = self.verified(form, full.fileno())
                self.assertEqual(2, done.returncode)
                self.assertRegex(done.stderr, rb"\Aa202-mcp verify: the report cannot be written: [^\n]+\n\Z")


class ProfilesOfTheReader(VerifyCommandTest):
    def setUp(self) -> None:
        super().setUp()
        (self.folder / "own").mkdir()
        house_profile(self.folder / "own")
        self.record = self.file(Story().form(house_terms()).bundle)

    def not_checkable(self, *arguments: str) -> int:
        status, out, _ = run(self.record, "--format", "json", *arguments)
        self.assertEqual(0, status)
        return int(json.loads(out)["results"]["not_checkable"])

    def test_a_named_folder_and_the_environment_count(self) -> None:
        with mock.patch.dict("os.environ"):
            os.environ.pop("A202_MCP_PROFILES", None)
            self.assertGreater(self.not_checkable(), 0)
            self.assertEqual(0, self.not_checkable("--profiles", str(self.folder / "own")))
            os.environ["A202_MCP_PROFILES"] = str(self.folder / "own")
            self.assertEqual(0, self.not_checkable())

    def test_two_where_a_folder_cannot_be_used(self) -> None:
        status, out, err = run(self.record, "--profiles", str(self.folder / "none"))
        self.assertEqual((2, ""), (status, out))
        self.assertRegex(err, r"\Aa202-mcp verify: a profile folder cannot be used: [^\n]+\n\Z")


class LargeBundlesAreSpread(VerifyCommandTest):
    def test_the_report_is_the_same_over_several_processes(self) -> None:
        path = self.file(self.tampered())
        alone = run(path, "--format", "json")[1]
        with mock.patch.object(verify, "LARGE", 1):
            spread = run(path, "--format", "json")[1]
        self.assertEqual(json.loads(alone)["checks"], json.loads(spread)["checks"])


class ExportCommandTest(unittest.TestCase):
    def run_export(self, *arguments: str) -> tuple[int, str, str]:
        out, err = io.StringIO(), io.StringIO()
        with redirect_stdout(out), redirect_stderr(err):
            status = export.run(list(arguments))
        return status, out.getvalue(), err.getvalue()

    def test_it_writes_what_the_workspace_exports(self) -> None:
        with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as elsewhere:
            SqliteStore.open(Path(folder)).close()
            target = Path(elsewhere) / "out.json"
            with mock.patch.object(Workspace, "bundle", return_value=told("walkthrough")) as asked:
                status, out, _ = self.run_export(TXN, "--state-dir", folder, "-o", str(target))
                self.assertEqual((0, "", told("walkthrough")), (status, out, json.loads(target.read_text())))
                self.assertEqual(0o600, target.stat().st_mode & 0o777)
                self.assertEqual([target], list(Path(elsewhere).iterdir()))
                status, out, _ = self.run_export(TXN, "--state-dir", folder)
                self.assertEqual((0, told("walkthrough")), (status, json.loads(out)))
            asked.assert_called_with(TXN)

    def test_two_where_there_is_nothing_to_export(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            SqliteStore.open(Path(folder)).close()
            self.assertEqual(2, self.run_export("txn_unknown_01", "--state-dir", folder)[0])
            self.assertEqual(2, self.run_export(TXN, "--state-dir", str(Path(folder) / "none"))[0])
            with mock.patch.dict("os.environ", clear=True):
                self.assertEqual(2, self.run_export(TXN)[0])

    def test_two_where_the_file_cannot_be_written(self) -> None:
        with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as elsewhere:
            SqliteStore.open(Path(folder)).close()
            with mock.patch.object(Workspace, "bundle", return_value=told("walkthrough")):
                target = Path(elsewhere) / "no" / "x.json"
                status, _, err = self.run_export(TXN, "--state-dir", folder, "-o", str(target))
        self.assertEqual(2, status)
        self.assertIn("cannot be written", err)

    def test_two_where_the_file_lies_in_the_state_directory(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            SqliteStore.open(Path(folder)).close()
            for name in ("a202.sqlite3", "bundle.json", "deeper/../a202.sqlite3"):
                with mock.patch.object(Workspace, "bundle", return_value=told("walkthrough")), self.subTest(name):
                    before = Path(folder, "a202.sqlite3").read_bytes()
                    self.assertEqual(2, self.run_export(TXN, "--state-dir", folder, "-o", f"{folder}/{name}")[0])
                    self.assertEqual(before, Path(folder, "a202.sqlite3").read_bytes())


if __name__ == "__main__":
    unittest.main()
