"""A mandate that somebody else issued for this member's agent (spec 2, 8): configuration, state, and a provable record.

A81 with a foreign issuer: the export holds the issuer's key from its proof on, and every form of it verifies.
"""

import contextlib
import hashlib
import io
import json
import os
import signal
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import ClassVar
from unittest import mock

import httpx2

from a202_mcp.axp import configuration, enrolment, member, owner
from a202_mcp.axp.book import MemberStore, put
from a202_mcp.axp.enrolment import enrol, initialise
from a202_mcp.axp.mandate_status import StatusReader
from a202_mcp.axp.mandates import BUYER_ACTIONS, CATEGORY, SELLER_ACTIONS, limits_mark
from a202_mcp.batch import Batch, binding_document
from a202_mcp.cli import main
from a202_mcp.one_owner import keyfiles
from a202_mcp.one_owner.issuing import NotReadyError, own_signer
from a202_mcp.store import DamagedError
from a202_mcp.workspace import Workspace
from a202_reference.registries import MANDATE_SPEC
from a202_reference.times import format_instant
from tests.axp.exchange import Reply
from tests.axp.process import ROOT, ProcessCase, run_command
from tests.axp.support import NOW, MemberCase, offer, quote_arguments
from tests.shell.issuers import Issuer

ISSUER, ED25519 = Issuer("key_principal", "prn_owner"), Issuer("key_principal_ed", "prn_owner", ed25519_seed=5)
TOTAL = "$.proposed_terms.core.total.amount"
FORMS = ((), ("--private",), ("--without-mandate",))
PROVEN = {"signature[proof]", "key_resolves[proof]", "key_status_at_signing[proof]", "mandate_resolves",
          "mandate_covers", "mandate_active_at_append", "policy_decision_permits"}
PLAIN = '[mandate]\norganization_id = "org_works"\nmax_price = "1.00"\nmax_spend = "1.00"\n'
DOCUMENT = '[mandate]\norganization_id = "org_works"\ndocument = "mandate.json"\nissuer_jwk = "issuer.jwk"\n'


def mandate(who, now, issuer=ISSUER, **more):
    """The mandate that an issuer gives to a member's agent."""
    document = {
        "spec_version": MANDATE_SPEC, "id": "mnd_owner_made",
        "issuer": {"organization_id": "org_works", "principal_id": issuer.principal_id, "key_id": issuer.key_id},
        "subject": {"agent_id": who.agent_id, "key_id": who.agent_key_id},
        "represented_organization_id": "org_works", "parent_mandate_id": None,
        "valid_from": format_instant(now), "valid_until": format_instant(now.replace(year=now.year + 1)),
        "status_endpoint": "https://status.works.example/mnd_owner_made",
        "actions": [*SELLER_ACTIONS, *BUYER_ACTIONS], "scope": {"categories": [CATEGORY]},
        "constraints": [
            {"id": "c_most", "type": "commercial.decimal", "path": TOTAL, "operator": "maximum", "value": "60",
             "on_failure": "deny"},
            {"id": "c_ask", "type": "commercial.decimal", "path": TOTAL, "operator": "maximum", "value": "40",
             "on_failure": "require_approval"}],
        "approval_rules": [], "delegation": {"allowed": False, "maximum_depth": 0}, "evidence_refs": [], **more}
    return issuer.proved(document, format_instant(now))


class Documented(MemberCase):
    """A folder whose mandate another principal issued, for the agent whose keys were made there before."""

    issuer = ISSUER

    def start(self):
        self.write_configuration(mandate=PLAIN)
        with contextlib.closing(self.space()) as space:
            self.who = enrol(self.settings(), space)
        self.write_files(mandate(self.who, self.clock(), self.issuer))
        self.write_configuration(mandate=DOCUMENT)
        super().start()

    def space(self):
        """The state folder, at the time that the test says it is."""
        return Workspace(MemberStore.open(self.folder / "member-state"), clock=self.clock)

    def write_files(self, document, jwk=None):
        (self.folder / "mandate.json").write_text(json.dumps(document))
        (self.folder / "issuer.jwk").write_text(json.dumps(self.issuer.public.jwk if jwk is None else jwk))

    def settings(self):
        settings = configuration.load(self.config)
        self.assertNotIsInstance(settings, list, settings)
        return settings

    def again(self, document, issuer=None):
        """The owner's `init` with another document, and a new start."""
        self.close()
        self.issuer = issuer or self.issuer
        self.write_files(document)
        with contextlib.closing(self.space()) as space:
            initialise(self.settings(), space)
        super().start()

    def owner(self, *arguments, status=0):
        """One of the owner's commands; what it printed."""
        out = io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
            self.assertEqual(main(["member", *arguments, "--config", str(self.config)]), status, out.getvalue())
        return out.getvalue()

    def proves(self, role, task_id):
        """Every form of a task's export verifies, and those with the mandate prove it; the first form's bundle."""
        transaction_id = self.member.store.item("trade", f"{role}:{task_id}")["transaction_id"]
        for form in FORMS:
            with self.subTest(form):
                bundle, status, report = self.export(transaction_id, *form)
                self.assertEqual((status, report["results"]["failed"]), (0, 0))
                keys = {key["key_id"]: key for key in bundle["keys"]}
                self.assertEqual(keys[self.issuer.key_id]["public_key_jwk"], self.issuer.public.jwk)
                if "--without-mandate" not in form:
                    verified = {row["name"] for row in report["checks"] if row["result"] == "verified"}
                    self.assertLessEqual(PROVEN, verified)
        return self.export(transaction_id)[0]

    async def done(self, task_id):
        """A task taken, worked on and delivered."""
        self.assertEqual(await self.take(task_id), {"accepted": True})
        await self.settle()
        self.assertEqual(len(self.exchange.sent(f"/deliver/{task_id}")), 1)

    async def chosen(self, task_id):
        """An offer that was chosen."""
        await self.call("receive_offers", task_id=task_id, offers=[offer("o1", 7)],
                        choose_url=f"{self.exchange.base}/choose/{task_id}")
        await self.settle()
        self.assertEqual(len(self.exchange.sent(f"/choose/{task_id}")), 1)


class Decides(Documented):

    async def test_a40_its_limits_decide(self):
        self.assertEqual((await self.quote())["price_usd"], 7)
        self.assertEqual((await self.quote(task_id="t2", params={"text": "x", "pages": 200}))["reason"],
                         "not able to take this task")
        await self.done("t3")

    async def test_a41_its_holds_can_only_be_rejected_here(self):
        await self.quote(params={"text": "x", "pages": 90})
        [item] = self.inbox("quote")
        with self.assertRaises(owner.RefusedError):
            owner.approve(self.member, item)
        owner.reject(self.member, item)
        self.assertEqual(self.inbox(), [])


class Refuses(Documented):

    async def test_a79_files_that_do_not_fit_are_mistakes_of_the_configuration(self):
        whole = mandate(self.who, self.clock())
        other = {**whole, "constraints": [{**whole["constraints"][0], "value": "6000"}]}
        for name, document, jwk, said in (
            ("a changed document", other, None, "mandate.issuer_jwk: does not fit mandate.document"),
            ("another key", whole, Issuer(scalar=12).public.jwk, "mandate.issuer_jwk: does not fit mandate.document"),
            ("another kid", whole, {**ISSUER.public.jwk, "kid": "key_other"}, "mandate.issuer_jwk: its kid is not"),
            ("a private key", whole, {**ISSUER.public.jwk, "d": "x"}, "mandate.issuer_jwk: holds a private key"),
            ("no key", whole, [], "mandate.issuer_jwk: is no JSON object"),
            ("no document", [], None, "mandate.document: is no JSON object"),
            ("no mandate", {"id": 1}, None, "mandate.document: document: lacks actions"),
            ("another organisation's", mandate(self.who, self.clock(), represented_organization_id="org_other"), None,
             "mandate.document: is issued by a principal of org_works, and represents org_other"),
            ("delegated", mandate(self.who, self.clock(), parent_mandate_id="mnd_parent"), None,
             "mandate.document: is delegated"),
        ):
            self.write_files(document, jwk)
            for command in ("check", "init"):
                with self.subTest(name, command=command):
                    self.assertIn(f"member.toml: {said}", self.owner(command, status=2))

    async def test_a40_a_document_that_is_not_for_us_is_refused(self):
        self.close()
        agent = Issuer("key_agents_own", "prn_owner")
        agent._key = keyfiles.load(self.settings().state_dir, keyfiles.AGENT)
        agent.public = agent._key.public
        somebody = replace(self.who, agent_id="agt_somebody")
        for name, issuer, document, said in (
            ("another agent", ISSUER, mandate(somebody, self.clock(), id="mnd_second"), "another organisation, agent"),
            ("the agent's own key", agent, mandate(self.who, self.clock(), agent, id="mnd_second"), "the agent's own"),
            ("changed under its id", ISSUER, mandate(self.who, self.clock(), actions=list(SELLER_ACTIONS)),
             "another one is recorded as mnd_owner_made"),
            ("a new key under its id", Issuer("key_principal", "prn_owner", scalar=12), None,
             "a new key needs an identifier of its own"),
            ("our owner's identifier", Issuer(self.who.owner_key_id, self.who.principal_id), None,
             "a new key needs an identifier of its own"),
        ):
            with self.subTest(name):
                self.issuer = issuer
                self.write_files(document or mandate(self.who, self.clock(), issuer, id="mnd_second"))
                self.assertIn(said, self.owner("init", status=2))

    async def test_a40_a_state_that_was_made_to_name_another_mandate(self):
        """The file counts, whatever somebody wrote into the folder."""
        self.again(mandate(self.who, self.clock(), id="mnd_second"))
        self.close()
        with contextlib.closing(self.space()) as space:
            stored = space.store.item("identity", "self")
            former = dict.fromkeys(stored["mandates"], "mnd_owner_made")
            space.store.remember((put("identity", "self", {**stored, "mandates": former}),))
        with contextlib.closing(self.space()) as space, self.assertRaisesRegex(
                NotReadyError, "is not the mandate of this state folder"):
            member.open_member(self.settings(), space)
        self.owner("init")
        self.assertEqual(self.owner("inbox"), "nothing waits\n")


class Proves(Documented):

    async def test_a81_every_form_of_the_export_verifies_for_both_roles(self):
        for issuer in (ISSUER, ED25519):
            with self.subTest(issuer.key_id):
                mandate_id = f"mnd_{issuer.key_id}"
                self.again(mandate(self.who, self.clock(), issuer, id=mandate_id), issuer)
                task_ids = {"seller": f"t_{issuer.key_id}", "buyer": f"b_{issuer.key_id}"}
                await self.done(task_ids["seller"])
                await self.chosen(task_ids["buyer"])
                for role, task_id in task_ids.items():
                    bundle = self.proves(role, task_id)
                    [issued] = bundle["mandates"]
                    [key] = [key for key in bundle["keys"] if key["key_id"] == issuer.key_id]
                    self.assertEqual(key["owner"], {"organization_id": "org_works", "principal_id": "prn_owner"})
                    self.assertEqual((issued["id"], key["valid_from"], key["valid_until"]),
                                     (mandate_id, issued["proof"]["created_at"], None))

    async def test_a81_records_under_documents_that_were_superseded(self):
        await self.done("t1")
        self.clock.forward(hours=1)
        self.again(mandate(self.who, self.clock(), id="mnd_second"))
        await self.done("t2")
        for task_id, mandate_id in (("t1", "mnd_owner_made"), ("t2", "mnd_second")):
            bundle = self.proves("seller", task_id)
            self.assertEqual([each["id"] for each in bundle["mandates"]], [mandate_id])
            [key] = [key for key in bundle["keys"] if key["key_id"] == ISSUER.key_id]
            self.assertEqual(key["valid_from"], format_instant(NOW))

    async def test_a81_a_status_address_answers_for_a_document_too(self):
        self.answered_at(f"{self.exchange.base}/status")
        for at, (said, priced) in enumerate(((b'{"status":"active"}', True), (b'{"status":"suspended"}', False))):
            self.exchange.answers("/status", Reply(200, said))
            self.member.statuses.clear()
            await StatusReader(self.member).refresh()
            self.assertEqual("price_usd" in await self.quote(task_id=f"t{at}"), priced)
        self.assertEqual({each["status"] for each in self.proves("seller", "t0")["status_results"]}, {"active"})


class FromBefore(Documented):
    """A folder that took its document before issuers' keys were recorded: the owner's key sealed it."""

    def start(self):
        with mock.patch.object(enrolment, "adopt", self.taken_before), mock.patch.object(member, "rest_on"):
            super().start()
        self.assertIsNone(self.member.store.held_key(ISSUER.key_id))
        self.restart()

    def restart(self):
        self.close()
        MemberCase.start(self)

    @staticmethod
    def taken_before(settings, given, identity, now, store):
        """The mandate alone, sealed by the owner; the issuer's key among what the member remembers."""
        signer = own_signer(store, settings.state_dir, identity, keyfiles.OWNER)
        store.remember((put("trusted_key", given.issuer.key_id, binding_document(given.issuer)),))
        uses = dict.fromkeys(settings.roles, given.document["id"])
        return replace(identity, mandates=uses, limits=limits_mark(settings)), Batch(
            now=format_instant(now), mandates=(given.document,), signing_keys=frozenset({signer.key_id}),
            signers=(signer,))

    async def test_a76_it_starts_and_decides_and_a_new_document_makes_it_provable(self):
        await self.done("t1")
        trade = self.member.store.item("trade", "seller:t1")
        with self.assertRaises(DamagedError):
            self.member.workspace.bundle(trade["transaction_id"])
        self.again(mandate(self.who, self.clock(), id="mnd_second"))
        await self.done("t2")
        self.proves("seller", "t2")

    async def test_a76_what_somebody_wrote_among_the_trusted_keys_counts_for_nothing(self):
        self.member.store.remember((put("trusted_key", "key_anybody", {"owner": {
            "organization_id": "org_works", "principal_id": "prn_anybody"}, "public_key_jwk": ISSUER.public.jwk,
            "valid_from": "2020-01-01T00:00:00Z"}),))
        self.assertIsNone(self.member.store.held_key("key_anybody"))


class WholeLife(ProcessCase):
    """Real processes from the first key to a stranger's verification, under an Ed25519 issuer."""

    options: ClassVar = {"mandate": PLAIN}

    async def asyncSetUp(self):
        await super().asyncSetUp()
        printed = json.loads(await self.owner("key"))
        who = SimpleNamespace(agent_id=printed["agent_id"], agent_key_id=printed["agent_key"]["key_id"])
        issued = mandate(who, NOW.replace(year=2020), ED25519, valid_until="2126-01-05T09:00:00Z")
        (self.folder / "mandate.json").write_text(json.dumps(issued))
        described = {"kid": f"did:web:works.example#{ED25519.key_id}", "alg": "EdDSA"}
        (self.folder / "issuer.jwk").write_text(json.dumps({**ED25519.public.jwk, **described}))
        self.write_configuration(mandate=DOCUMENT)
        await self.owner("init")
        await self.serve()
        self.client = httpx2.AsyncClient(trust_env=False, timeout=30)
        self.addAsyncCleanup(self.client.aclose)

    async def call(self, name, **arguments):
        status, result = await self.tool(self.client, name, **arguments)
        self.assertEqual((status, result["isError"]), (200, False), result)
        return result["structuredContent"]

    async def happened(self, task_id, event):
        return event in [each["event"] for each in (await self.state_of(task_id))["events"]]

    def verified_elsewhere(self, transaction_id, form):
        """Export here, verify in a folder that holds nothing but the bundle: the bundle."""
        with tempfile.TemporaryDirectory() as elsewhere:
            status, _, errors = run_command("export", transaction_id, "--state-dir", str(self.folder / "member-state"),
                                            "-o", f"{elsewhere}/task.json", *form)
            self.assertEqual(status, 0, errors)
            done = subprocess.run(
                [sys.executable, "-m", "a202_mcp", "verify", "task.json", "--format", "json"], cwd=elsewhere,
                env={**os.environ, "PYTHONPATH": ROOT}, capture_output=True, text=True, check=False, timeout=60)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            self.assertEqual(json.loads(done.stdout)["results"]["failed"], 0)
            return json.loads(Path(elsewhere, "task.json").read_text())

    async def test_a44_a58_a65_a81_a_task_done_and_one_bought_under_a_document(self):
        quoted = await self.call("quote", **quote_arguments())
        self.assertEqual(await self.call("do_task", **self.task_arguments("t1", quoted)), {"accepted": True})
        await self.until(lambda: self.exchange.sent("/deliver/t1"))
        await self.until(lambda: self.happened("t1", "deliver answered by the exchange"))
        await self.call("receive_offers", task_id="b1", offers=[offer("o1", 7)],
                        choose_url=f"{self.exchange.base}/choose/b1")
        await self.until(lambda: self.exchange.sent("/choose/b1"))
        deliverable = {"url": "x", "sha256": hashlib.sha256(b"the work").hexdigest()}
        self.exchange.answers("/api/tasks/b1", Reply(200, json.dumps({"deliverable": deliverable}).encode()))
        self.exchange.answers("/api/tasks/b1/deliverable", Reply(200, b"the work"))
        await self.call("task_update", task_id="b1", status="delivered", deliverable=deliverable)
        await self.until(lambda: self.happened("b1", "accept answered by the exchange"))
        transactions = [(await self.state_of(task_id))["transaction_id"] for task_id in ("t1", "b1")]
        self.assertEqual(await self.end(signal.SIGTERM), 0)
        for transaction_id in transactions:
            for form in FORMS:
                with self.subTest(transaction_id, form=form):
                    bundle = self.verified_elsewhere(transaction_id, form)
                    [key] = [key for key in bundle["keys"] if key["key_id"] == ED25519.key_id]
                    self.assertEqual((key["algorithm"], key["valid_from"]), ("EdDSA", "2020-11-30T10:00:00Z"))
