"""Key files: the owner's alone, written once, and never made anew under an identifier that the record knows."""

import os
import stat
import tempfile
import unittest
from datetime import UTC, datetime
from pathlib import Path
from unittest import mock

from a202_mcp.one_owner import keyfiles, private_files
from a202_reference.keys import KeyBinding, Owner, PrivateKey

AGENT = Owner("org_x", agent_id="agt_x")
OTHERS = {
    "unbound": None,
    "another pair": KeyBinding("key_x", AGENT, PrivateKey.generate().public, datetime(2026, 1, 1, tzinfo=UTC)),
}


class Keys(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.state = Path(folder.name, "state")

    def file(self, name):
        return self.state / keyfiles.FOLDER / name

    def refused(self, part, *arguments):
        with self.assertRaises(keyfiles.KeyFileError) as refused:
            keyfiles.load(self.state, *arguments)
        self.assertIn(part, str(refused.exception))
        self.assertIn(arguments[0], str(refused.exception))

    def test_every_file_is_its_owner_s_alone(self):
        keyfiles.make_missing(self.state)
        keyfiles.placeholder_key(self.state)
        modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in self.file("").iterdir()}
        self.assertEqual(modes, dict.fromkeys((keyfiles.AGENT, keyfiles.OWNER, keyfiles.PLACEHOLDERS), 0o600))

    def test_a_key_is_never_written_twice(self):
        keyfiles.make_missing(self.state)
        before = self.file(keyfiles.AGENT).read_bytes()
        with self.assertRaises(FileExistsError):
            keyfiles.make(self.state, keyfiles.AGENT)
        keyfiles.make_missing(self.state)
        self.assertEqual(self.file(keyfiles.AGENT).read_bytes(), before)
        self.assertEqual(len(list(self.file("").iterdir())), 2)

    def test_the_owner_s_key_alone_is_sealed(self):
        with mock.patch.dict(os.environ, {keyfiles.PASSPHRASE: "correct horse"}):
            keyfiles.make_missing(self.state)
        keyfiles.load(self.state, keyfiles.AGENT)
        keyfiles.load(self.state, keyfiles.OWNER, b"correct horse")
        self.refused("is sealed: set A202_OWNER_PASSPHRASE", keyfiles.OWNER)
        self.refused("cannot be opened", keyfiles.OWNER, b"wrong")

    def test_a_file_that_is_no_key_is_named(self):
        self.refused("cannot be read: No such file", keyfiles.AGENT)
        private_files.write_new(self.file(keyfiles.AGENT), b"no key")
        self.refused("cannot be opened", keyfiles.AGENT)

    def test_a_key_that_is_not_the_record_s_signs_nothing(self):
        key = keyfiles.make(self.state, keyfiles.AGENT)
        own = KeyBinding("key_x", AGENT, key.public, datetime(2026, 1, 1, tzinfo=UTC))
        self.assertEqual(keyfiles.signer_of(key, keyfiles.AGENT, "key_x", AGENT, own).key_id, "key_x")
        for what, binding in OTHERS.items():
            with self.subTest(what), self.assertRaises(keyfiles.KeyFileError):
                keyfiles.signer_of(key, keyfiles.AGENT, "key_x", AGENT, binding)
        with self.assertRaises(keyfiles.KeyFileError):
            keyfiles.signer_of(key, keyfiles.AGENT, "key_x", Owner("org_x", principal_id="prn_x"), own)

    def test_the_key_of_placeholders_is_made_once(self):
        key = keyfiles.placeholder_key(self.state)
        self.assertEqual((len(key), keyfiles.placeholder_key(self.state)), (32, key))
        for damaged in (b"xyz", b"\xff", b"", key.hex()[:62].encode()):
            private_files.write_over({self.file(keyfiles.PLACEHOLDERS): damaged})
            with self.subTest(damaged), self.assertRaises(keyfiles.KeyFileError):
                keyfiles.placeholder_key(self.state)

    def test_a_key_of_placeholders_in_its_former_file_goes_on_counting(self):
        former, key = self.file("placeholders.bin"), bytes(range(32))
        private_files.write_new(former, key)
        for _ in range(2):
            self.assertEqual(keyfiles.placeholder_key(self.state), key)
            self.assertEqual([path.name for path in self.file("").iterdir()], [former.name])
        for damaged in (b"", key[:31], key.hex().encode()):
            private_files.write_over({former: damaged})
            with self.subTest(damaged), self.assertRaisesRegex(keyfiles.KeyFileError, former.name):
                keyfiles.placeholder_key(self.state)
        self.assertFalse(self.file(keyfiles.PLACEHOLDERS).exists())
        private_files.write_new(self.file(keyfiles.PLACEHOLDERS), key.hex().encode())
        self.assertEqual(keyfiles.placeholder_key(self.state), key)
