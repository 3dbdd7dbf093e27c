"""Seed, "Where the identifiers come from"; design override 9: no URL and no schema host in any Python file."""

import json
import re
import unittest
from pathlib import Path
from urllib.parse import urlsplit

from a202_reference.resources import data_root

ROOT = Path(__file__).resolve().parents[2]
URL = re.compile(r"\b[a-z][a-z0-9+.-]*:" + r"//[^\s\"'`)}\]]+", re.IGNORECASE)
OWN_SCHEME = "a202:"
"""Resource addresses of this server (surface 5): they name no host."""
NOBODY = ".example"
"""Where this domain is input data, so are hosts of one label and this machine's own address."""
SYNTHETIC = {
    "a202_reference": (),
    "a202_mcp": (".invalid",),
    "conformance": (".invalid", ".example"),
    "tests": (".invalid", ".example"),
    "benchmarks": (".invalid", ".example"),
}
"""Domains reserved for being nobody's, which addresses presented as input data may lie in, by package."""


def python_files():
    return [(path, synthetic) for folder, synthetic in SYNTHETIC.items()
            for path in (ROOT / folder).rglob("*.py")]


def schema_hosts():
    found = set()
    for path in (data_root() / "schemas").rglob("*.json"):
        document = json.loads(path.read_text("utf-8"))
        found |= {urlsplit(document[name]).hostname for name in ("$id", "uri") if name in document}
    return found - {None}


def foreign(text, synthetic=(".invalid",)):
    """The addresses in a text that name a host and are neither our own resources nor synthetic input."""
    for found in URL.finditer(text):
        try:
            parts = urlsplit(found.group())
        except ValueError:  # no address, whatever it begins like: it names no host
            continue
        host = (parts.hostname or "") if "{" not in parts.netloc else parts.netloc
        nobody = NOBODY in synthetic and ("." not in host or host.startswith("127.0.0.1"))
        if not nobody and host and parts.scheme + ":" != OWN_SCHEME and not host.endswith(synthetic):
            yield found.group()


class NoAddresses(unittest.TestCase):

    def test_there_is_something_to_sweep(self):
        self.assertGreater(len(python_files()), 80)
        self.assertTrue(schema_hosts())

    def test_the_sweep_finds_addresses(self):
        scheme = "https:" + "//"
        for text in (scheme + "example.org/a", f"x = '{scheme}example.org'", "ftp:" + "//10.0.0.1",
            "http:" + "//localhost"):
            with self.subTest(text=text):
                self.assertTrue(list(foreign(text)))
        for text in (scheme, f'"{scheme}"', scheme + "status.example.invalid/v1", "a202:" + "//transactions",
                     "file:" + "///etc"):
            with self.subTest(text=text):
                self.assertFalse(list(foreign(text)))

    def test_no_python_file_carries_a_url(self):
        for path, synthetic in python_files():
            with self.subTest(path=path.relative_to(ROOT)):
                self.assertEqual(list(foreign(path.read_text("utf-8"), synthetic)), [])

    def test_no_python_file_names_the_schema_host(self):
        for path, _ in python_files():
            text = path.read_text("utf-8").lower()
            with self.subTest(path=path.relative_to(ROOT)):
                self.assertEqual([host for host in schema_hosts() if host in text], [])
