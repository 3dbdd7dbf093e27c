"""The owner's own mandate from a file, and statuses from an address (A40, A41, A61): the same rules, another issuer."""

import json
from dataclasses import replace
from typing import ClassVar

from a202_mcp.axp import owner
from a202_mcp.axp.mandate_status import StatusReader
from a202_mcp.axp.mandates import CATEGORY, SELLER_ACTIONS
from a202_mcp.axp.member import NotReadyError
from a202_reference.keys import PrivateKey
from a202_reference.registries import MANDATE_SPEC
from a202_reference.signing import Signer, sign_proof, unsigned_proof
from a202_reference.times import format_instant
from tests.axp.exchange import Reply
from tests.axp.process import run_command
from tests.axp.support import MANDATE, MemberCase

ISSUER = Signer("key_principal", PrivateKey.from_scalar(11))
TOTAL = "$.proposed_terms.core.total.amount"


def mandate(who, now, **more):
    document = {
        "spec_version": MANDATE_SPEC, "id": "mnd_owner_made",
        "issuer": {"organization_id": "org_works", "principal_id": "prn_owner", "key_id": ISSUER.key_id},
        "subject": {"agent_id": who["agent_id"], "key_id": who["agent_key"]["key_id"]},
        "represented_organization_id": "org_works", "parent_mandate_id": None,
        "valid_from": format_instant(now), "valid_until": format_instant(now.replace(year=now.year + 1)),
        "status_endpoint": "https://status.works.example/mnd_owner_made", "actions": list(SELLER_ACTIONS),
        "scope": {"categories": [CATEGORY]},
        "constraints": [
            {"id": "c_most", "type": "commercial.decimal", "path": TOTAL, "operator": "maximum", "value": "60",
             "on_failure": "deny"},
            {"id": "c_ask", "type": "commercial.decimal", "path": TOTAL, "operator": "maximum", "value": "40",
             "on_failure": "require_approval"}],
        "approval_rules": [], "delegation": {"allowed": False, "maximum_depth": 0}, "evidence_refs": [],
        "proof": unsigned_proof(ISSUER.key_id, format_instant(now)), **more}
    return sign_proof(document, ISSUER)


class OwnMandate(MemberCase):
    roles = ("seller",)

    def start(self):
        """A folder whose mandate another principal issued, for the agent that `member key` printed."""
        self.write_configuration(mandate='[mandate]\norganization_id = "org_works"\nmax_price = "1.00"\n')
        status, out, err = run_command("member", "key", "--config", str(self.config))
        self.assertEqual((status, err), (0, ""))
        self.who = json.loads(out)
        self.write_document(mandate(self.who, self.clock()))
        (self.folder / "issuer.jwk").write_text(json.dumps(ISSUER.key.public.jwk))
        self.write_configuration(mandate='[mandate]\norganization_id = "org_works"\ndocument = "mandate.json"\n'
                                         'issuer_jwk = "issuer.jwk"\n')
        super().start()

    def write_document(self, document):
        (self.folder / "mandate.json").write_text(json.dumps(document))

    async def test_a40_its_limits_decide(self):
        self.assertEqual((await self.quote())["price_usd"], 7)
        self.assertEqual((await self.quote(task_id="t2", params={"text": "x", "pages": 200}))["reason"],
                         "not able to take this task")
        self.assertEqual(await self.take("t3"), {"accepted": True})
        await self.settle()
        self.assertEqual(len(self.exchange.sent("/deliver/t3")), 1)

    async def test_a41_its_holds_can_only_be_rejected_here(self):
        await self.quote(params={"text": "x", "pages": 90})
        [item] = self.inbox("quote")
        with self.assertRaises(owner.RefusedError):
            owner.approve(self.member, item)
        owner.reject(self.member, item)
        self.assertEqual(self.inbox(), [])

    async def test_a40_a_document_that_is_not_for_us_or_not_genuine_is_refused(self):
        altered = mandate(self.who, self.clock())
        altered["constraints"][0]["value"] = "6000"
        for document in (altered, mandate(self.who, self.clock(), represented_organization_id="org_other"),
                         mandate({**self.who, "agent_id": "agt_somebody"}, self.clock()), [], {"id": 1}):
            self.close()
            self.write_document(document)
            with self.subTest(document=document), self.assertRaises(NotReadyError):
                super().start()


class StatusAddress(MemberCase):

    async def test_a40_an_address_that_does_not_say_active_denies(self):
        settings = self.member.settings
        limits = replace(settings.limits, status_url=f"{self.exchange.base}/status")
        self.member.settings = replace(settings, limits=limits)
        for at, (reply, priced) in enumerate((
                (Reply(200, b'{"status":"active"}'), True), (Reply(200, b'{"status":"suspended"}'), False),
                (Reply(200, b"[]"), False), (Reply(500), False), (Reply(None), False),
                (Reply(302, headers=(("location", "/status2"),)), False))):
            self.exchange.answers("/status", reply)
            self.member.statuses.clear()
            await StatusReader(self.member).refresh()
            self.assertEqual("price_usd" in await self.quote(task_id=f"t{at}"), priced)
        self.assertEqual({each.path for each in self.exchange.requests}, {"/status"})

    async def test_a40_an_answer_older_than_a_minute_denies(self):
        limits = replace(self.member.settings.limits, status_url=f"{self.exchange.base}/status")
        self.member.settings = replace(self.member.settings, limits=limits)
        self.exchange.answers("/status", Reply(200, b'{"status":"active"}'))
        await StatusReader(self.member).refresh()
        self.clock.forward(seconds=60)
        self.assertIn("price_usd", await self.quote())
        self.clock.forward(seconds=1)
        self.assertIn("decline", await self.quote(task_id="t2"))


class Spending(MemberCase):
    options: ClassVar = {"mandate": MANDATE.replace('ask_spend_above = "10.00"\n', "")}

    async def test_a61_without_ask_spend_above_nothing_waits(self):
        arguments = {"task_id": "b1", "offers": [{"offer_id": "o", "price_usd": 20, "eta_minutes": 3}],
                     "choose_url": f"{self.exchange.base}/choose"}
        await self.call("receive_offers", **arguments)
        await self.settle()
        self.assertEqual(len(self.exchange.sent("/choose")), 1)
