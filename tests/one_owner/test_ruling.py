"""What a mandate says of an act, and the objects that are drafted of it."""

import itertools
import unittest
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import ClassVar

from a202_mcp.one_owner.identity import Identity
from a202_mcp.one_owner.limits import Grant, TotalLimits, signed
from a202_mcp.one_owner.placeholders import counterparty
from a202_mcp.one_owner.ruling import overtaking, rule, settled, without_mandate
from a202_mcp.one_owner.scribe import Scribe, reference, salted_hash
from a202_mcp.store import Batch
from a202_mcp.workspace import Workspace
from a202_reference.authority.status import StatusResult
from a202_reference.canonical import sha256_hex, value_hash
from a202_reference.keys import KeyBinding, PrivateKey
from a202_reference.lifecycle.acts import Setting, formation_act
from a202_reference.lifecycle.drafts import Drafting
from a202_reference.lifecycle.holdings import Holdings
from a202_reference.registries import EvidenceType
from a202_reference.signing import Signer
from a202_reference.times import format_instant

NOW = datetime(2026, 11, 30, 10, 0, tzinfo=UTC)
WHO = Identity.minted("org_works", "a1b2c3d4e5f6a1b2c3d4e5f6")
OWNER = Signer(WHO.owner_key_id, PrivateKey.generate())
BINDING = KeyBinding(WHO.owner_key_id, WHO.owner, OWNER.key.public, NOW)
GRANT = Grant(("offer.submit",), "sales.direct", TotalLimits(Decimal(100), "USD", Decimal(50), Decimal(5)), 30)
MANDATE = signed(GRANT.mandate(WHO, "mnd_works_1", NOW), OWNER)
PARTY = WHO.under(MANDATE["id"])
BUYER = counterparty("0" * 32)
RULINGS = (
    ("20.00", "active", "allow", ""),
    ("60.00", "active", "require_approval", "c_ask_above is maximum 50"),
    ("100.01", "active", "deny", "c_total_amount is maximum 100"),
    ("4.99", "active", "deny", "c_total_minimum is minimum 5"),
    ("20.00", "suspended", "deny", "suspended"),
    ("20.00", None, "deny", "status"),
)


def terms(amount):
    return {"profile": "a202-profile/direct-trade/0.1", "core": {
        "description": "x", "quantity": "1", "unit_code": "C62", "total": {"currency": "USD", "amount": amount}},
        "profile_terms": {"channel": "axp", "reference": "t1", "attested_by": "exchange", "lines": []}}


def act(amount):
    return formation_act("offer.submit", Setting("txn_works_1", BUYER.organization_id, "sales.direct"), terms(amount))


def ruled(amount, status="active", now=NOW):
    workspace = Workspace.open(None)
    shown = None if status is None else StatusResult(MANDATE["id"], status, format_instant(now))
    workspace.store.commit(Batch(now=format_instant(NOW), keys=(BINDING,), signers=(OWNER,)))
    try:
        return rule(workspace, PARTY, MANDATE, act(amount), now, shown)
    finally:
        workspace.close()


class Rulings(unittest.TestCase):
    def test_the_mandate_decides_and_the_owner_reads_which_limit_was_not_kept(self):
        for amount, status, decision, reason in RULINGS:
            with self.subTest(amount=amount, status=status):
                ruling = ruled(amount, status)
                self.assertEqual((ruling.decision.value, ruling.allows), (decision, decision == "allow"))
                self.assertIn(reason, ruling.reasons)
                self.assertEqual(ruling.act.action_hash, value_hash(act(amount)))
                self.assertEqual(ruling.act.mandate_ids, (MANDATE["id"],))
                self.assertEqual(len(ruling.act.statuses), 0 if status is None else 1)

    def test_a_mandate_that_is_over_denies(self):
        self.assertEqual(ruled("20.00", now=NOW + timedelta(days=31)).decision.value, "deny")

    def test_without_a_mandate_there_is_nothing_but_a_deny(self):
        ruling = without_mandate(PARTY, act("20.00"), NOW)
        self.assertEqual((ruling.decision.value, ruling.act.action_hash, ruling.codes), ("deny", "", ()))


class Drafts(unittest.TestCase):
    def setUp(self):
        numbers = itertools.count(1)
        self.scribe = Scribe(
            Drafting("txn_works_1", format_instant(NOW)), PARTY, lambda: f"{next(numbers):024x}")

    def test_a_decision_is_private_to_its_actor(self):
        for amount, _, decision, _ in RULINGS[:3]:
            payload = self.scribe.decision(ruled(amount)).body["payload"]
            self.assertEqual((payload["decision"], payload["visibility"], payload["stream"]),
                             (decision, "private_to_actor", {"kind": "private", "id": "txn_works_1"}))

    def test_evidence_is_ours_and_says_whether_we_checked(self):
        for verified, status in ((True, "verified"), (False, "unverified")):
            draft = self.scribe.evidence(EvidenceType.ATTESTATION, "x" * 3000, "0" * 64, verified=verified)
            payload = draft.body["payload"]
            self.assertEqual(payload["verification"]["status"], status)
            self.assertEqual(payload["verification"]["verified_at"] is not None, verified)
            self.assertEqual((payload["issuer"], len(payload["claim"])), ({"organization_id": "org_works"}, 2048))

    def test_an_offer_refers_to_its_evidence_in_full(self):
        request = self.scribe.evidence(EvidenceType.ATTESTATION, "request", salted_hash(b"s", b"b"), verified=False)
        offer = self.scribe.offer(
            BUYER, "ses_works_1", format_instant(NOW + timedelta(days=1)), terms("20.00"), [reference(request)])
        self.assertEqual(offer.body["payload"]["evidence_refs"], [{
            "evidence_id": request.id, "content_hash": request.content_hash, "evidence_type": "attestation",
            "signed_by": {"organization_id": "org_works", "agent_id": WHO.agent_id}}])
        self.assertIsNone(offer.body["payload"]["supersedes_offer_id"])
        self.assertEqual(salted_hash(b"s", b"b"), sha256_hex(b"sb"))

    def test_an_approval_is_signed_with_the_owner_s_key_alone(self):
        draft = self.scribe.approval(WHO, "0" * 64, format_instant(NOW + timedelta(days=1)))
        self.assertEqual([key_id for key_id, _ in draft.signatories], [WHO.owner_key_id])
        self.assertEqual(draft.body["payload"]["approver"], {
            "organization_id": "org_works", "principal_id": WHO.principal_id, "role": "owner"})


class Instants(unittest.TestCase):
    """Decisions over one act that differ stand at instants of their own."""

    LATER = NOW + timedelta(seconds=1)
    VERDICTS: ClassVar = {
        "allow": ("20.00", "active"), "deny": ("20.00", "suspended"), "other reason": ("20.00", None),
        "other act": ("60.00", "active")}

    def holding(self, *recorded):
        """A record of decisions: each one's kind and its distance from now in seconds."""
        objects = []
        for kind, seconds in recorded:
            at = NOW + timedelta(seconds=seconds)
            found = ruled(*self.VERDICTS[kind], at)
            objects.append({"object_type": "policy_decision", "payload": {
                "action_hash": found.act.action_hash, "decision": found.decision.value,
                "reason_codes": list(found.codes), "evaluated_at": format_instant(at)}})
        return Holdings("txn_works_1", ({"object_type": "offer", "payload": {}}, *objects))

    def test_another_verdict_over_the_same_act_comes_later(self):
        for recorded, at in (
                ((), NOW), ((("deny", -1),), NOW), ((("deny", 0),), self.LATER), ((("allow", 0),), NOW),
                ((("other reason", 0),), self.LATER), ((("other act", 0),), NOW),
                ((("deny", 0), ("allow", 0)), self.LATER), ((("deny", 2),), NOW + timedelta(seconds=3))):
            with self.subTest(recorded):
                found = settled(self.holding(*recorded), NOW, lambda at: ruled("20.00", "active", at))
                self.assertEqual((found.at, found.allows), (at, True))

    def test_the_same_refusal_again_does_not_move_the_clock(self):
        found = settled(self.holding(("deny", 0)), NOW, lambda at: ruled("20.00", "suspended", at))
        self.assertEqual((found.at, found.allows), (NOW, False))

    def test_a_person_decides_after_everything_that_was_decided(self):
        for recorded, at in (((), NOW), ((("deny", -1),), NOW), ((("other act", 0), ("deny", -5)), self.LATER)):
            with self.subTest(recorded):
                self.assertEqual(overtaking(self.holding(*recorded), NOW), at)
