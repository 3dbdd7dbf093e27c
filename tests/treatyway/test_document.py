"""A mandate that somebody else issued for this shop's agent (spec 3, 4, 9): what it decides, and what proves it.

T80 with a foreign issuer: the export holds the issuer's key from its proof on, and every form of it verifies.
"""

import asyncio
import contextlib
import io
import json
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

from a202_mcp.batch import Batch
from a202_mcp.bilateral.tools import TOOLS
from a202_mcp.cli import main
from a202_mcp.one_owner import keyfiles
from a202_mcp.one_owner.book import batch_with
from a202_mcp.one_owner.identity import Identity
from a202_mcp.one_owner.issuing import NotReadyError
from a202_mcp.store import SqliteStore
from a202_mcp.treatyway.book import open_book, put
from a202_mcp.treatyway.initialising import init
from a202_mcp.treatyway.mandate import from_limits
from a202_mcp.treatyway.opened import open_shop
from a202_mcp.treatyway.reading import read_settings
from a202_mcp.treatyway.ruling import CURRENT
from a202_mcp.treatyway.server import Desk
from a202_mcp.treatyway.settings import Limits
from a202_mcp.treatyway.status import StatusSource
from a202_mcp.workspace import Workspace
from a202_reference.signing import Signer
from a202_reference.times import format_instant, parse_instant
from tests.shell.issuers import Issuer
from tests.treatyway.shops import MONDAY, ShopTest, config, token
from tests.treatyway.test_transports import ENVIRONMENT, Process, answer, over_http

PERSON = {"missing": ["a decision by a person"]}
FORMS = ((), ("--private",), ("--without-mandate",))
HEAD_OFFICE, ED25519 = Issuer(), Issuer("key_head_office_ed", ed25519_seed=5)
PROVEN = {"signature[proof]", "key_resolves[proof]", "key_status_at_signing[proof]", "mandate_resolves",
          "mandate_covers", "mandate_active_at_append", "policy_decision_permits"}
LIMITS = Limits(Decimal(2000), Decimal(500), Decimal(20), 365, None)


def document(issuer, who, now, mandate_id="mnd_head_office", limits=LIMITS, **changes):
    """The mandate that an issuer gives to a shop's agent."""
    signing = replace(who, owner_key_id=issuer.key_id, principal_id=issuer.principal_id)
    plain = from_limits(limits, "USD", None, signing, mandate_id, now)
    return issuer.proved({**plain, **changes}, format_instant(now))


def write_files(folder, file, issued, jwk, status_url=None):
    """mandate.json, its issuer's key, and a file that names them."""
    (folder / "mandate.json").write_text(json.dumps(issued))
    (folder / "owner.jwk.json").write_text(json.dumps(jwk))
    head, _, _ = config().partition("[mandate]")
    address = "" if status_url is None else f'status_url = "{status_url}"\n'
    file.write_text(head + f'[mandate]\ndocument = "mandate.json"\nissuer_jwk = "owner.jwk.json"\n{address}')


def left_open(report):
    """What a report could not check, without saying of which object."""
    return Counter((row["step"], row["name"]) for row in report["checks"] if row["result"] == "not_checkable")


class DocumentTest(ShopTest):

    def given(self, issuer=HEAD_OFFICE, *, who=None, jwk=None, status_url=None, **changes):
        """The files of a document; the settings that name them."""
        issued = document(issuer, who or self.shop.who, self.clock(), **changes)
        write_files(self.folder, self.file, issued, issuer.public.jwk if jwk is None else jwk, status_url)
        self.close()
        return self.settings()

    def settings(self):
        settings = read_settings(self.file, None)
        self.assertNotIsInstance(settings, list, settings)
        return settings

    def start(self, settings, initialise=True):
        if initialise:
            init(settings, self.clock)
        self.shop = open_shop(settings, self.clock)
        self.desk = Desk(self.shop)

    def ordered(self):
        """The transaction of one quote that was ordered."""
        quote = self.quote(token())["quote_id"]
        self.assertEqual(self.order(quote)["status"], "accepted")
        return self.status(quote)["transaction_id"]

    def proves(self, transaction_id, issuer=HEAD_OFFICE):
        """Every form of the export verifies, and those with the mandate prove it; the bundle of the first form."""
        for form in FORMS:
            with self.subTest(form):
                bundle, status, report = self.export(transaction_id, *form)
                self.assertEqual((status, report["results"]["failed"]), (0, 0))
                keys = {key["key_id"]: key for key in bundle["keys"]}
                self.assertEqual(keys[issuer.key_id]["public_key_jwk"], issuer.public.jwk)
                if "--without-mandate" not in form:
                    verified = {row["name"] for row in report["checks"] if row["result"] == "verified"}
                    self.assertLessEqual(PROVEN, verified)
        return self.export(transaction_id)[0]


class Decides(DocumentTest):

    def test_a_document_is_the_mandate_and_holds_can_only_be_rejected(self):
        settings = self.given()
        with self.assertRaises(NotReadyError):
            open_shop(settings)
        self.start(settings)
        quote = self.quote(token())
        self.assertEqual(quote["price"]["amount"], "30.00")
        self.assertEqual(self.order(quote["quote_id"])["status"], "accepted")
        held = self.ask("request_quote", {"summary": "x", "offer_id": "survey"})
        self.assertEqual(held["needs_human"], PERSON)
        self.assertIn("can only be rejected", self.seller("answer", held["quote_id"], "--approve", status=1))
        self.seller("answer", held["quote_id"], "--reject")
        transaction = self.status(held["quote_id"])["transaction_id"]
        bundle, status, _ = self.export(transaction, "--private")
        self.assertEqual(status, 0)
        self.assertIn("require_approval", {each["payload"].get("decision") for each in bundle["objects"]})

    def test_a_document_under_the_owner_s_own_key_can_be_approved(self):
        """What `seller key` prints of the owner may stand in the document as its issuer."""
        who = self.shop.who
        scalar = keyfiles.load(self.shop.settings.state_dir, keyfiles.OWNER)
        owner = Issuer(who.owner_key_id, who.principal_id)
        owner._key, owner.public = scalar, scalar.public
        self.fresh_state(owner)
        held = self.ask("request_quote", {"summary": "x", "offer_id": "survey"}, token())
        self.seller("answer", held["quote_id"], "--approve")
        self.assertEqual(self.order(held["quote_id"])["status"], "accepted")
        bundle = self.proves(self.status(held["quote_id"])["transaction_id"], owner)
        self.assertEqual(sum(each["object_type"] == "approval" for each in bundle["objects"]), 2)

    def test_an_issuer_that_takes_the_owner_s_identifier_is_refused(self):
        who = self.shop.who
        for issuer in (Issuer(who.owner_key_id, who.principal_id), Issuer(who.owner_key_id)):
            with self.subTest(issuer.principal_id), self.assertRaisesRegex(NotReadyError, "is the owner's here"):
                self.fresh_state(issuer)

    def fresh_state(self, issuer):
        """This shop's keys in a folder that has no mandate yet, and a document for them."""
        who, state = self.shop.who, self.folder / "seller-state"
        write_files(self.folder, self.file, document(issuer, who, self.clock()), issuer.public.jwk)
        self.close()
        for path in state.glob("a202*"):
            path.unlink()
        with contextlib.closing(open_book(state)) as store:
            store.remember([put("identity", "", 1, {name: getattr(who, name) for name in who.__slots__})])
        self.start(self.settings())


class Refuses(DocumentTest):

    def test_documents_for_somebody_else(self):
        who = self.shop.who
        for other in ({"agent_key_id": "key_other"}, {"agent_id": "agt_other"}, {"organization_id": "org_other"}):
            with self.subTest(other), self.assertRaisesRegex(NotReadyError, "mandate.document: it must be for agent"):
                init(self.given(who=replace(who, **other)))

    def test_an_issuer_s_key_that_is_the_agent_s_own(self):
        agent = Issuer()
        agent._key = keyfiles.load(self.shop.settings.state_dir, keyfiles.AGENT)
        agent.public = agent._key.public
        with self.assertRaisesRegex(NotReadyError, "the agent's own"):
            init(self.given(agent))

    def test_files_that_do_not_fit_are_mistakes_of_the_configuration(self):
        other = Issuer(scalar=12).public.jwk
        for name, changes, jwk, said in (
            ("no limit", {"constraints": []}, None, "mandate.document: constraints: has fewer"),
            ("a delegated one", {"parent_mandate_id": "mnd_parent"}, None, "mandate.document: is delegated"),
            ("another organisation's", {"represented_organization_id": "org_other"}, None,
             "mandate.document: is issued by a principal of"),
            ("another issuer's key", {}, other, "mandate.issuer_jwk: does not fit mandate.document"),
            ("another kid", {}, {**HEAD_OFFICE.public.jwk, "kid": "key_other"},
             "mandate.issuer_jwk: its kid is not key_head_office"),
            ("no key", {}, {}, "mandate.issuer_jwk: is no public key"),
            ("a private key", {}, {**HEAD_OFFICE.public.jwk, "d": "x"}, "mandate.issuer_jwk: holds a private key"),
            ("no object", {}, [], "mandate.issuer_jwk: is no JSON object"),
        ):
            issued = document(HEAD_OFFICE, self.shop.who, self.clock(), **changes)
            write_files(self.folder, self.file, issued, HEAD_OFFICE.public.jwk if jwk is None else jwk)
            for command in ("check", "init"):
                with self.subTest(name, command=command):
                    printed = self.seller(command, status=2)
                    self.assertIn(f"seller.toml: {said}", printed)
                    self.assertNotIn("Traceback", printed)

    def test_a_document_changed_under_its_id(self):
        self.start(self.given())
        self.given(limits=replace(LIMITS, max_total=Decimal(9000)))
        self.assertIn("another one is recorded as mnd_head_office", self.seller("init", status=2))

    def test_a_state_that_was_made_to_name_another_mandate(self):
        """The file counts, whatever mandate somebody with keys of their own wrote into the folder."""
        former = self.shop.authority.mandate_id
        settings = self.given()
        self.start(settings)
        with contextlib.closing(open_book(settings.state_dir)) as store:
            entry = store.entry(CURRENT, "")
            store.remember([put(CURRENT, "", entry.version + 1, {**entry.body, "mandate_id": former})])
        with self.assertRaisesRegex(NotReadyError, "is not the mandate of this state folder"):
            open_shop(settings, self.clock)
        self.start(settings)
        self.assertEqual(self.shop.authority.mandate_id, "mnd_head_office")


class Proves(DocumentTest):

    def test_t80_every_form_of_the_export_verifies_and_leaves_no_more_open_than_limits_do(self):
        plain = self.ordered()
        expected = {form: left_open(self.export(plain, *form)[2]) for form in FORMS}
        for issuer in (HEAD_OFFICE, ED25519):
            with self.subTest(issuer.key_id):
                self.start(self.given(issuer, mandate_id=f"mnd_{issuer.key_id}"))
                transaction = self.ordered()
                bundle = self.proves(transaction, issuer)
                [issued] = bundle["mandates"]
                [key] = [key for key in bundle["keys"] if key["key_id"] == issuer.key_id]
                self.assertEqual(key["owner"], {
                    "organization_id": self.shop.who.organization_id, "principal_id": "prn_head_office"})
                self.assertEqual((key["valid_from"], key["valid_until"]), (issued["proof"]["created_at"], None))
                for form in FORMS:
                    self.assertEqual(left_open(self.export(transaction, *form)[2]), expected[form])

    def test_the_record_verifies_in_its_folder_and_under_pinned_keys(self):
        self.start(self.given())
        transaction = self.ordered()
        [verify] = [tool for tool in TOOLS if tool.name == "verify_evidence"]
        with contextlib.closing(Workspace(SqliteStore.open(self.shop.settings.state_dir))) as workspace:
            report = verify.answer(workspace, {"transaction_id": transaction})
        self.assertEqual(report["results"]["failed"], 0)
        bundle = self.export(transaction)[0]
        trust = self.folder / "trust.json"
        other = Issuer(scalar=12)
        for public, status in ((HEAD_OFFICE.public, 0), (other.public, 1)):
            with self.subTest(status), contextlib.redirect_stdout(io.StringIO()):
                [key] = [key for key in bundle["keys"] if key["key_id"] == HEAD_OFFICE.key_id]
                trust.write_text(json.dumps([{**key, "public_key_jwk": public.jwk}]))
                self.assertEqual(main(["verify", str(self.folder / "bundle.json"), "--trust", str(trust)]), status)

    def test_records_under_documents_that_were_superseded(self):
        """A second document by the same key, then one by another issuer's: each record proves by its own."""
        found = []
        for issuer, mandate_id in ((HEAD_OFFICE, "mnd_first"), (HEAD_OFFICE, "mnd_second"), (ED25519, "mnd_third")):
            self.start(self.given(issuer, mandate_id=mandate_id))
            found.append((self.ordered(), issuer, mandate_id))
        for transaction, issuer, mandate_id in found:
            bundle = self.proves(transaction, issuer)
            self.assertEqual([each["id"] for each in bundle["mandates"]], [mandate_id])
        keys = [key for transaction, *_ in found[:2] for key in self.export(transaction)[0]["keys"]]
        self.assertEqual(len({key["valid_from"] for key in keys if key["key_id"] == HEAD_OFFICE.key_id}), 1)

    def test_back_to_limits_and_to_the_document_again(self):
        self.start(self.given())
        first = self.ordered()
        named = self.file.read_text()
        self.open()
        plain = self.ordered()
        self.assertEqual(self.export(plain)[1], 0)
        self.close()
        self.file.write_text(named)
        self.start(self.settings())
        for transaction in (first, self.ordered()):
            self.proves(transaction)


class Addressed(DocumentTest):
    CLOCK = MONDAY

    def test_a_status_address_answers_for_a_document_too(self):
        self.start(self.given(status_url="https" + "://status.example/mnd"))
        said = []
        source = StatusSource(self.shop.store, "address", self.clock, lambda _: said[-1])
        self.shop.status, self.shop.authority = source, replace(self.shop.authority, status=source)
        for status, priced in ((b'{"status": "active"}', True), (b'{"status": "suspended"}', False), (b"{}", False)):
            with self.subTest(status):
                said.append(status)
                self.clock.pass_on(seconds=31)
                source.refresh()
                quote = self.quote()
                self.assertEqual(quote["price"] != "needs_human", priced)
                if priced:
                    with contextlib.closing(open_book(self.shop.settings.state_dir)) as store:
                        transaction = store.entry("quote", quote["quote_id"]).body["transaction_id"]
                    results = self.proves(transaction)["status_results"]
                    self.assertEqual({each["status"] for each in results}, {"active"})


class FromBefore(DocumentTest):
    """A folder that took its document before issuers' keys were recorded."""

    def before(self):
        settings = self.given()
        who, state = self.shop.who, settings.state_dir
        agent = Signer(who.agent_key_id, keyfiles.load(state, keyfiles.AGENT))
        batch = Batch(now=format_instant(self.clock()), mandates=(settings.authority.document,),
                      signing_keys=frozenset({agent.key_id}), signers=(agent,))
        with contextlib.closing(open_book(state)) as store:
            self.assertTrue(store.commit(batch_with(batch, [put(CURRENT, "", 2, {
                "mandate_id": "mnd_head_office", "fingerprint": settings.mandate_fingerprint})])))
            self.assertIsNone(store.held_key(HEAD_OFFICE.key_id))
        return settings

    def test_it_starts_decides_and_proves(self):
        self.start(self.before(), initialise=False)
        self.proves(self.ordered())

    def test_init_gives_it_the_key_as_well(self):
        self.start(self.before())
        self.proves(self.ordered())

    def test_it_gets_the_key_once(self):
        settings = self.before()
        for _ in range(3):
            self.start(settings, initialise=False)
            self.close()
        with contextlib.closing(open_book(settings.state_dir)) as store:
            counts = [store._connection.execute(statement).fetchone()[0] for statement in (
                "SELECT count(*) FROM commits", "SELECT count(*) FROM keys WHERE key_id = 'key_head_office'")]
            self.assertEqual(counts, [3, 1])
            self.assertEqual(store.key(HEAD_OFFICE.key_id), settings.authority.issuer)


class WholeSession(Process):
    """Real processes from the first key to a stranger's verification."""

    def run_command(self, *arguments, cwd=None, status=0):
        done = subprocess.run([sys.executable, "-m", "a202_mcp", *arguments], capture_output=True, text=True,
                              env=ENVIRONMENT, cwd=cwd, timeout=60, check=False)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done.stdout

    def printed_identity(self):
        """What `seller key` printed, before there is any mandate."""
        printed = json.loads(self.run_command("seller", "key", "--config", str(self.file)))
        return Identity(**{name: printed[name] for name in Identity.__slots__})

    def bought(self):
        """A quote and its order over HTTP; the order's id."""
        served = self.serve()

        async def shop():
            async with over_http(served.url, token()) as client:
                quote = await answer(client, "request_quote", summary="rods", offer_id="brass-rod", quantity=20)
                self.assertEqual(quote["price"], {"amount": "225.00", "currency": "USD"})
                return await answer(client, "place_order", quote_id=quote["quote_id"])

        ordered = asyncio.run(shop())
        self.assertEqual(ordered["status"], "accepted")
        self.assertEqual(served.end(), 128 + signal.SIGTERM)
        return ordered["order_id"]

    def test_t41_t80_a_quote_and_an_order_under_a_document(self):
        issued = document(HEAD_OFFICE, self.printed_identity(), parse_instant("2026-01-05T09:00:00Z"),
                          valid_until="2126-01-05T09:00:00Z")
        described = {"kid": f"did:web:head-office.example#{HEAD_OFFICE.key_id}", "use": "sig", "alg": "ES256"}
        write_files(self.folder, self.file, issued, {**HEAD_OFFICE.public.jwk, **described})
        self.run_command("seller", "init", "--config", str(self.file))
        shown = json.loads(self.run_command("seller", "status", self.bought(), "--json", "--config", str(self.file)))
        for form in FORMS:
            with self.subTest(form), tempfile.TemporaryDirectory() as elsewhere:
                self.run_command("export", shown["transaction_id"], "--state-dir", str(self.folder / "seller-state"),
                                 "-o", f"{elsewhere}/order.json", *form)
                report = json.loads(self.run_command("verify", "order.json", "--format", "json", cwd=elsewhere))
                self.assertEqual(report["results"]["failed"], 0)
                bundle = json.loads(Path(elsewhere, "order.json").read_text())
                [key] = [key for key in bundle["keys"] if key["key_id"] == HEAD_OFFICE.key_id]
                self.assertEqual((key["valid_from"], key["valid_until"]), ("2026-01-05T09:00:00Z", None))
