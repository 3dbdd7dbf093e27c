"""The kill switch: whatever the file says now, and across an init (spec 4, 9.2; T85)."""

import json
import sqlite3
import unittest
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest import mock

from a202_mcp.one_owner.configuration import state_dir_in
from a202_mcp.treatyway import initialising
from a202_mcp.treatyway.book import open_book
from a202_mcp.treatyway.inforce import in_force
from a202_mcp.treatyway.initialising import init
from a202_mcp.treatyway.opened import open_shop
from a202_mcp.treatyway.reading import read_settings
from a202_mcp.treatyway.status import set_switch
from a202_reference.registries import MandateStatus
from tests.treatyway.processes import Process
from tests.treatyway.shops import ShopTest, config

CHANGED = config().replace('ask_above = "500.00"', 'ask_above = "400.00"')
BROKEN_MANDATES = {
    "another limit": CHANGED, "no limits": config().partition("[mandate]")[0],
    "a number": config().replace('max_total = "2000.00"', "max_total = 2000"),
    "an unknown key": config() + 'maximum = "1"\n', "no table": config().partition("[mandate]")[0].replace(
        "[seller]", "mandate = 7\n[seller]", 1),
    "a document that is not there": config() + 'document = "absent.json"\n',
    "an address that is none": config() + 'status_url = "https://[x"\n',
    "another organisation": config() + 'organization_id = "org_other"\n'}
BROKEN_FILES = {
    "an unknown key": config().replace("[seller]", "[seller]\nnme = 1", 1), "no TOML": config() + "\n[oops\n",
    "a wrong kind": config().replace('kind = "good"', 'kind = "goods"'), "no offers": '[seller]\nname = "x"\n',
    "a command that is gone": config(
        more='[[custom_tools]]\nname = "x"\ndescription = "x"\ncommand = ["./gone.sh"]'),
    "nested without end": config() + "x = " + "[" * 5000}


class Switch(ShopTest):
    def active(self):
        return self.quote()["price"] != "needs_human"

    def test_t85_the_owner_s_commands_work_whatever_the_mandate_section_says(self):
        held = self.ask("request_quote", {"summary": "x", "offer_id": "survey"})["quote_id"]
        other = self.ask("request_quote", {"summary": "x", "offer_id": "survey"})["quote_id"]
        quote = self.quote()["quote_id"]
        mandate_id = self.shop.authority.mandate_id
        for what, text in BROKEN_MANDATES.items():
            with self.subTest(what):
                self.file.write_text(text)
                self.seller("mandate", "suspend")
                self.assertFalse(self.active())
                self.seller("mandate", "resume")
                self.assertTrue(self.active())
                shown = json.loads(self.seller("mandate", "show"))
                self.assertEqual((shown["mandate_id"], shown["status"]), (mandate_id, "active"))
                self.assertIn(held, [item["id"] for item in self.inbox()])
                self.assertEqual(self.status(quote)["status"], "quoted")
                self.seller("stock", "brass-rod", "17")
                self.assertEqual(self.seller("stock", "brass-rod").strip(), "17")
                self.assertIn("key_agent", self.seller("key"))
                self.assertIn("[mandate]" if what == "another limit" else "mandate", self.refused_start())
        self.seller("answer", held, "--approve")
        self.seller("answer", other, "--price", "100.00")
        self.assertEqual(self.status(held)["status"], "quoted")
        self.assertEqual(self.status(other)["price"]["amount"], "100.00")

    def refused_start(self):
        """What a start says: it is the one that the whole file counts for."""
        return self.seller("--transport", "http", "--port", "0", status=2)

    def test_t85_the_switch_works_beside_a_broken_file(self):
        for what, text in BROKEN_FILES.items():
            with self.subTest(what):
                self.file.write_text(text)
                said = self.seller("mandate", "suspend")
                self.assertIn("seller.toml: ", said)
                self.assertFalse(self.active())
                self.seller("mandate", "resume")
                self.assertTrue(self.active())
                for command in (("inbox",), ("stock", "brass-rod"), ("init",)):
                    self.seller(*command, status=2)

    def test_t85_the_switch_needs_no_file_and_no_key_where_the_state_folder_is_named(self):
        state = self.folder / "seller-state"
        for path in (self.file, *(state / "keys").iterdir()):
            path.unlink()
        self.assertIn("cannot be read", self.seller("mandate", "suspend", status=2))
        self.assertTrue(self.active())
        self.seller("mandate", "suspend", "--state-dir", str(state))
        self.assertFalse(self.active())
        self.seller("mandate", "revoke", "--state-dir", str(state))
        self.assertIn("final", self.seller("mandate", "resume", "--state-dir", str(state), status=1))

    def test_a_state_folder_that_is_not_there_is_not_made(self):
        self.file.write_text("[oops")
        for folder in (self.folder / "absent", self.folder):
            said = self.seller("mandate", "suspend", "--state-dir", str(folder), status=2)
            self.assertIn("seller init", said)
        self.assertFalse((self.folder / "absent").exists())
        self.assertFalse((self.folder / "a202.sqlite3").exists())

    def test_t85_a_superseding_mandate_keeps_the_suspension(self):
        self.seller("mandate", "suspend")
        self.file.write_text(CHANGED)
        said = self.seller("init")
        self.assertIn("it is suspended, as the one before it was", said)
        self.assertFalse(self.active())
        self.seller("mandate", "resume")
        self.assertTrue(self.active())
        self.file.write_text(config())
        self.assertNotIn("suspended", self.seller("init"))
        self.assertTrue(self.active())
        self.seller("mandate", "revoke")
        self.seller("init")
        self.assertTrue(self.active())

    def test_t85_a_suspension_comes_before_an_init_or_after_it(self):
        """While one puts a mandate in force nobody turns a switch: it would be the one of a mandate that ends."""
        self.file.write_text(CHANGED)
        settings, issued, refused = read_settings(self.file, None), initialising.issued, []
        rival = open_book(settings.state_dir)
        self.addCleanup(rival.close)
        rival._connection.execute("PRAGMA busy_timeout = 0")

        def overtaken(*given):
            made = issued(*given)
            with self.assertRaises(sqlite3.OperationalError) as locked:
                set_switch(rival, in_force(rival).mandate_id, MandateStatus.SUSPENDED)
            refused.append(locked.exception)
            return made

        with mock.patch.object(initialising, "issued", overtaken):
            self.assertNotIn("suspended", init(settings))
        self.assertEqual(len(refused), 1)
        self.assertTrue(self.active())
        self.seller("mandate", "suspend")
        self.assertFalse(self.active())

    def test_a_folder_from_before_learns_who_answers_the_status(self):
        text = config() + 'status_url = "https' + '://status.invalid/m"\n'
        self.close()
        self.file.write_text(text)
        settings = read_settings(self.file, None)
        init(settings)
        with sqlite3.connect(self.folder / "seller-state" / "a202.sqlite3") as database:
            database.execute("UPDATE shop_entries SET body = json_remove(body, '$.status_url') WHERE kind = 'mandate'")
        database.close()
        shop = open_shop(settings)
        self.addCleanup(shop.workspace.close)
        self.assertEqual(in_force(shop.store).status_url, settings.status_url)
        self.assertIsNone(shop.status.result(shop.authority.mandate_id, shop.now()))
        self.file.write_text(CHANGED)
        self.assertIn("status_url", self.seller("mandate", "suspend", status=1))


class StateFolder(unittest.TestCase):
    def test_what_a_broken_file_says_of_its_state_folder(self):
        with TemporaryDirectory() as folder:
            file = Path(folder, "seller.toml")
            for text, found in (
                ("", "usual"), ('[state]\ndir = "kept"\n', "kept"), ('state = { dir = "kept" }\n', "kept"),
                ('[state]\ndir = "kept"\n[oops\n', "kept"), ('[oops\n[state] # here\ndir = "kept"\n[x]\n', "kept"),
                ("[oops\n", "usual"), ('state.dir = "kept"\n[oops\n', None), ('state = { dir = "kept" }\n[oops', None),
                ('["state"]\ndir = "kept"\n[oops', None), ('[state]\ndir = kept\n[oops', None),
                ("[state]\ndir = 7\n", None), ("state = 7", None), ('[state]\ndir = "a\\u0000b"\n', None),
                ('[state]\ndir = "/kept"\n[oops', "/kept"),
            ):
                with self.subTest(text):
                    file.write_text(text)
                    expected = None if found is None else Path(folder, found)
                    self.assertEqual(state_dir_in(file, "usual"), expected)
            self.assertIsNone(state_dir_in(Path(folder, "absent.toml"), "usual"))
            file.write_bytes(b'name = "\xff"\n[state]\ndir = "kept"\n')
            self.assertEqual(state_dir_in(file, "usual"), Path(folder, "kept"))


class Running(Process):
    def test_t85_a_server_that_runs_is_stopped_whatever_became_of_its_file(self):
        served = self.serve()
        rods = {"summary": "x", "offer_id": "brass-rod", "quantity": 2}
        self.file.write_text(config() + "[oops")
        for act, price in (("suspend", "needs_human"), ("resume", {"amount": "30.00", "currency": "USD"})):
            self.seller("mandate", act)
            self.assertEqual(self.call(served, "request_quote", rods)["structuredContent"]["price"], price)


if __name__ == "__main__":
    unittest.main()
