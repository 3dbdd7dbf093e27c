"""The two files of a mandate from elsewhere, as a section of the owner's file names them."""

import json
import tempfile
import unittest
from pathlib import Path

from a202_mcp.one_owner.named_files import documented, read_files
from a202_mcp.one_owner.section import Section
from tests.harness.foreign import HEAD_OFFICE, bound, given

DOCUMENT, JWK = given(HEAD_OFFICE, "mnd_first"), HEAD_OFFICE.public.jwk
NAMED = {"document": "mandate.json", "issuer_jwk": "issuer.jwk"}


class Files(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def read(self, raw, document=DOCUMENT, jwk=JWK):
        """What the section's two files mean, and the problems."""
        for name, content in (("mandate.json", document), ("issuer.jwk", jwk)):
            (self.folder / name).write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
        problems = []
        section = Section(raw, "mandate", problems)
        found = documented(section, read_files(section, self.folder))
        section.end()
        return found, problems

    def test_the_two_are_a_mandate_under_its_issuer_s_key(self):
        found, problems = self.read(NAMED)
        self.assertEqual((found.document, found.issuer, problems), (DOCUMENT, bound(HEAD_OFFICE, DOCUMENT), []))

    def test_without_a_document_there_is_none(self):
        for raw in ({}, {"issuer_jwk": "issuer.jwk"}):
            with self.subTest(raw):
                self.assertEqual(self.read(raw), (None, []))

    def test_a_problem_names_the_setting_that_it_is_of(self):
        for name, raw, files, problem in (
            ("no key", {"document": "mandate.json"}, {}, "mandate.issuer_jwk: is required"),
            ("no file", {**NAMED, "document": "no.json"}, {}, "mandate.document: there is no readable file no.json"),
            ("no text", NAMED, {"jwk": b"\xff"}, "mandate.issuer_jwk: there is no readable file issuer.jwk"),
            ("no JSON", NAMED, {"document": b"{"}, "mandate.document: is no JSON object"),
            ("no object", NAMED, {"jwk": []}, "mandate.issuer_jwk: is no JSON object"),
            ("no path", {**NAMED, "document": 7}, {}, "mandate.document: must be text of 1 to 4096 characters, not 7"),
            ("no pair", NAMED, {"jwk": {}}, "mandate.issuer_jwk: is no public key of the form {kty, crv, x, y} (P-256) "
                                            "or {kty, crv, x} (Ed25519)"),
        ):
            with self.subTest(name):
                self.assertEqual(self.read(raw, **files), (None, [problem]))
