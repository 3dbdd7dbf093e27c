"""The owner's side: keys, status addresses, what a start refuses."""

import json
import os
import stat
import sys
import unittest
from dataclasses import replace
from unittest import mock

from a202_mcp.one_owner import keyfiles
from a202_mcp.one_owner.issuing import NotReadyError
from a202_mcp.treatyway import serving
from a202_mcp.treatyway.initialising import init
from a202_mcp.treatyway.opened import open_shop
from a202_mcp.treatyway.reading import read_settings
from a202_mcp.treatyway.status import StatusSource
from tests.treatyway.shops import MONDAY, ShopTest, config

PERSON = {"missing": ["a decision by a person"]}


class Keys(ShopTest):
    def test_key_files_are_the_owner_s_alone(self):
        folder = self.shop.settings.state_dir / keyfiles.FOLDER
        for path in folder.iterdir():
            with self.subTest(path.name):
                self.assertEqual(stat.S_IMODE(path.stat().st_mode), 0o600)
        self.assertEqual({path.name for path in folder.iterdir()},
                         {keyfiles.AGENT, keyfiles.OWNER, keyfiles.PLACEHOLDERS})

    def test_the_server_holds_the_agent_s_key_only(self):
        held = self.shop.workspace.keyring
        self.assertIsNotNone(held.signer(self.shop.who.agent_key_id))
        self.assertIsNone(held.signer(self.shop.who.owner_key_id))

    def test_no_private_key_is_printed_or_kept_in_the_record(self):
        printed = self.seller("key") + self.seller("mandate", "show") + self.seller("inbox")
        pem = (self.shop.settings.state_dir / keyfiles.FOLDER / keyfiles.OWNER).read_text().split("\n")[1]
        database = b"".join(path.read_bytes() for path in self.shop.settings.state_dir.glob("a202*"))
        self.assertNotIn(pem, printed)
        self.assertNotIn('"d"', printed)
        self.assertNotIn(pem.encode(), database)

    def test_a_key_that_is_not_the_record_s(self):
        path = self.shop.settings.state_dir / keyfiles.FOLDER / keyfiles.AGENT
        path.unlink()
        with self.assertRaises(NotReadyError):
            open_shop(self.shop.settings)
        keyfiles.make(self.shop.settings.state_dir, keyfiles.AGENT)
        with self.assertRaises(NotReadyError):
            open_shop(self.shop.settings)

    def test_a_sealed_owner_s_key(self):
        with mock.patch.dict(os.environ, {keyfiles.PASSPHRASE: "correct horse"}):
            self.shop.settings.state_dir.joinpath("..", "seller.toml").resolve().write_text(config(
                seller="").replace("[seller]", '[state]\ndir = "sealed"\n[seller]'))
            settings = read_settings(self.file, None)
            init(settings)
        shop = open_shop(settings)
        self.addCleanup(shop.workspace.close)
        self.assertIn("is sealed", self.seller("answer", "q_x", "--reject", status=2))
        with mock.patch.dict(os.environ, {keyfiles.PASSPHRASE: "wrong"}):
            self.assertIn("cannot be opened", self.seller("answer", "q_x", "--reject", status=2))
        with mock.patch.dict(os.environ, {keyfiles.PASSPHRASE: "correct horse"}):
            self.assertIn("there is no quote", self.seller("answer", "q_x", "--reject", status=2))
        self.assertIsNone(json.loads(self.seller("key"))["owner_jwk"])


class Statuses(ShopTest):
    CLOCK = MONDAY

    def test_an_address_that_answers_the_status(self):
        asked = []

        def fetch(address):
            asked.append(address)
            if isinstance(self.answer, Exception):
                raise self.answer
            return self.answer

        source = StatusSource(self.shop.store, "address", self.clock, fetch)
        self.shop.authority = replace(self.shop.authority, status=source)
        for self.answer, priced in ((b'{"status": "active"}', True), (b'{"status": "suspended"}', False),
                                    (b"{}", False), (b"x", False), (OSError("down"), False)):
            with self.subTest(self.answer):
                self.clock.pass_on(seconds=31)
                source.refresh()
                source.refresh()
                self.assertEqual(self.quote()["price"] != "needs_human", priced)
        self.assertEqual(len(asked), 5)
        self.answer = b'{"status": "active"}'
        self.clock.pass_on(seconds=31)
        source.refresh()
        self.clock.pass_on(seconds=61)
        self.assertEqual(self.quote()["needs_human"], PERSON)


class Answering(ShopTest):
    """What goes with what at the command line, and what is done where it does not: nothing."""

    def test_an_option_that_an_answer_has_no_use_for_is_a_mistake(self):
        quote = self.ask("request_quote", {"summary": "x", "offer_id": "survey"})["quote_id"]
        message = self.ask("message", {"text": "x"})["message_id"]
        for identifier, options, named in (
                (quote, ["--approve", "--text", "x"], "--text"),
                (quote, ["--approve", "--valid-for", "2d"], "--valid-for"),
                (quote, ["--approve", "--reason", "x", "--currency", "USD"], "--currency and --reason"),
                (quote, ["--price", "9.00", "--reason", "x"], "--reason"),
                (quote, ["--reject", "--valid-for", "2d"], "--valid-for"),
                (message, ["--text", "x", "--reason", "y"], "--reason"), (quote, ["--approve", "--as", " "], "--as"),
                (message, ["--text", "x", "--as", ""], "--as"), (message, ["--text", "x", "--as", "\u2003"], "--as")):
            with self.subTest(options):
                self.assertIn(named, self.seller("answer", identifier, *options, status=2))
        self.assertEqual({item["status"] for item in self.inbox()}, {"needs_human", "open"})
        self.assertEqual(self.ask("get_status", {"message_id": message})["answered_by"]["name"], "Example Metals")

    def test_a_text_beside_a_refusal_reaches_the_buyer(self):
        for options in (["--reason", "We are full."], ["--text", "We are full."]):
            for identifier, key in ((self.ask("request_quote", {"summary": "x"})["quote_id"], "quote_id"),
                                    (self.ask("message", {"text": "x"})["message_id"], "message_id")):
                with self.subTest(options, key=key):
                    self.seller("answer", identifier, "--reject", *options)
                    self.assertEqual(self.ask("get_status", {key: identifier})["summary"], "We are full.")


class Starts(ShopTest):
    def test_passes_over_http_need_the_extra(self):
        with mock.patch.object(serving, "find_spec", return_value=None):
            said = self.seller("--transport", "http", status=2)
        self.assertIn("a202-mcp[seller]", said)

    def test_the_base_installation_needs_no_jwt_library(self):
        for module in list(sys.modules):
            if module.split(".")[0] == "jwt":
                sys.modules.pop(module)
        with mock.patch.dict(sys.modules, {"jwt": None}):
            self.assertEqual(self.quote()["price"]["amount"], "30.00")

    def test_a_state_folder_that_cannot_be_used(self):
        self.close()
        (self.folder / "occupied").write_text("")
        said = self.seller("inbox", "--state-dir", str(self.folder / "occupied" / "x"), status=2)
        self.assertIn("occupied", said)
        self.assertNotIn("Traceback", said)

    def test_a_state_without_mandate(self):
        self.assertIn("seller init", self.seller("inbox", "--state-dir", str(self.folder / "fresh"), status=2))

    def test_another_organisation_in_the_same_state(self):
        self.close()
        self.file.write_text(config().replace("[mandate]", '[mandate]\norganization_id = "org_other"'))
        self.assertIn("org_other", self.seller("init", status=2))


if __name__ == "__main__":
    unittest.main()
