"""Surface 2, 3: one instant per call, lifted where the clock ran back; lost races; idempotency; key lifetime."""

import tempfile
import unittest
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

from a202_mcp.keyring import Keyring
from a202_mcp.store import SqliteStore
from a202_mcp.workspace import Workspace
from a202_reference.codes import Refusal
from a202_reference.times import format_instant, parse_instant
from tests.bilateral.parties import (
    NOW,
    TRANSACTION,
    Clock,
    Counter,
    Desk,
    RefusalCase,
    buyer_mandate,
    dump,
    supplier_mandate,
)

CONFLICT = "A202-SEQUENCE-CONFLICT"


class Losing:
    """A store whose commits are lost to somebody faster, as often as it is told."""

    def __init__(self, store, losses=0, rival=None):
        self.store, self.losses, self.rival, self.attempts = store, losses, rival, 0

    def __getattr__(self, name):
        return getattr(self.store, name)

    def commit(self, batch):
        self.attempts += 1
        if self.rival is not None:
            rival, self.rival = self.rival, None
            rival()
        if self.losses:
            self.losses -= 1
            return False
        return self.store.commit(batch)


class OneInstant(unittest.TestCase):

    def setUp(self):
        self.desk = Desk().introduce()
        self.desk.form()

    def now(self, *args):
        return self.desk.workspace.now(*args)

    def test_utc_cut_to_whole_seconds(self):
        self.desk.clock.now = datetime(2026, 8, 21, 12, 0, 0, 999_999, timezone(timedelta(hours=2)))
        self.assertEqual(self.now(), datetime(2026, 8, 21, 10, tzinfo=UTC))

    def test_a_clock_that_ran_back_is_lifted_to_what_is_stored(self):
        self.desk.clock.now = NOW - timedelta(hours=1)
        for transaction_id, keys, expected in (
            (TRANSACTION, (), NOW), (None, ["key_delta_agent_01"], NOW), (None, ["key_northstar_principal_01"], NOW),
            ("txn_other_one", ["key_other"], NOW - timedelta(hours=1)), (None, (), NOW - timedelta(hours=1)),
        ):
            with self.subTest(transaction_id=transaction_id, keys=keys):
                self.assertEqual(self.now(transaction_id, keys), expected)

    def test_a_clock_that_runs_on_is_not_held_back(self):
        self.desk.clock.forward(seconds=5)
        self.assertEqual(self.now(TRANSACTION, ["key_delta_agent_01"]), NOW + timedelta(seconds=5))

    def test_nothing_recorded_is_dated_before_what_is_recorded_already(self):
        self.desk.clock.forward(seconds=-20)
        obligation = self.desk.issue()
        recorded = [each for each in self.desk.objects() if each["id"] == obligation]
        self.assertEqual([each["created_at"] for each in recorded], [format_instant(NOW)])
        instants = [parse_instant(event["occurred_at"]) for event in self.desk.record()["events"]]
        self.assertEqual(instants, sorted(instants))

    def test_one_instant_for_everything_a_call_writes(self):
        instants = {each["created_at"] for each in self.desk.objects()}
        instants |= {entry["signed_at"] for each in self.desk.objects() for entry in each["signatures"]}
        instants |= {event["occurred_at"] for event in self.desk.record()["events"]}
        self.assertEqual(instants, {format_instant(NOW)})

    def test_a_new_key_is_valid_from_the_calls_instant(self):
        self.desk.clock.now = datetime(2026, 8, 21, 10, 0, 0, 999, tzinfo=UTC)
        self.desk.done("issue_mandate", buyer_mandate(subject={"agent_id": "agt_new", "key_id": "key_new_agent"}))
        key = self.desk.workspace.store.key("key_new_agent")
        self.assertEqual((key.valid_from, key.valid_until), (datetime(2026, 8, 21, 10, tzinfo=UTC), None))


class LostRaces(RefusalCase):

    def test_lost_once_it_is_recorded_at_the_second_attempt(self):
        store = Losing(SqliteStore.open(None))
        desk = Desk(store=store).introduce()
        for step in (desk.form, desk.issue):
            with self.subTest(step=step.__name__):
                arguments = desk.formation() if step == desk.form else desk.issuance()
                store.losses, store.attempts = 1, 0
                name = "create_agreement" if step == desk.form else "record_obligation"
                answer = desk.done(name, arguments)
                self.assertEqual(store.attempts, 2)
                desk.agreement = answer if step == desk.form else desk.agreement
        self.assertEqual(len(desk.events()), 3)

    def test_lost_twice_it_is_refused_and_nothing_is_written(self):
        store = Losing(SqliteStore.open(None))
        desk = Desk(store=store)
        store.losses = 2
        self.assert_refused(desk, "issue_mandate", buyer_mandate(), CONFLICT)
        self.assertEqual(store.attempts, 2)
        desk.introduce()
        approval = desk.approval("a" * 64)
        store.losses = 2
        self.assert_refused(desk, "issue_approval", approval, CONFLICT)
        formation = desk.formation()
        store.losses = 2
        self.assert_refused(desk, "create_agreement", formation, CONFLICT)
        desk.form()
        issuance = desk.issuance()
        store.losses = 2
        self.assert_refused(desk, "record_obligation", issuance, CONFLICT)

    def test_a_key_that_lost_its_race_is_not_held(self):
        store = Losing(SqliteStore.open(None), losses=2)
        desk = Desk(store=store)
        desk.call("issue_mandate", buyer_mandate())
        self.assertIsNone(desk.workspace.keyring.signer("key_northstar_agent_01"))
        self.assertEqual(desk.done("issue_mandate", buyer_mandate())["outcome"], "issued")

    def test_the_second_attempt_sees_what_the_faster_one_wrote(self):
        store = Losing(SqliteStore.open(None))
        desk = Desk(store=store).introduce()
        arguments = desk.formation()
        store.rival = lambda: desk.done("create_agreement", arguments)
        answer = desk.call("create_agreement", arguments)
        self.assertIsInstance(answer, Refusal)
        self.assertEqual(answer.codes, ("A202-STATE-TRANSITION-DENIED",))
        self.assertEqual(len(desk.events()), 2)

    def test_two_acts_on_one_record_follow_each_other(self):
        store = Losing(SqliteStore.open(None))
        desk = Desk(store=store).introduce()
        desk.form()
        first, second = desk.issuance(), desk.issuance()
        store.rival = lambda: desk.done("record_obligation", first)
        answer = desk.done("record_obligation", second)
        self.assertEqual(answer["state"], "in_performance")
        record = desk.record()
        self.assertEqual((record["chain"], len(record["events"])), ("linked", 3))
        self.assertEqual(sum(each["object_type"] == "obligation" for each in desk.objects()), 2)

    def test_of_two_processes_naming_a_new_key_one_makes_it(self):
        store = SqliteStore.open(None)
        other = Desk(store=store)
        losing = Losing(store)
        desk = Desk(store=losing, ids=Counter(1000))
        losing.rival = lambda: other.done("issue_mandate", buyer_mandate())
        answer = desk.call("issue_mandate", buyer_mandate())
        self.assertIsInstance(answer, Refusal)
        self.assertEqual(answer.codes, ("A202-POLICY-DENIED",))
        self.assertIn("key_northstar_principal_01", answer.detail)
        self.assertEqual(len(dump(store)["mandates"]), 1)


class Idempotency(RefusalCase):

    def test_the_first_result_again_and_nothing_recorded_twice(self):
        desk = Desk()
        for tool, arguments in self.calls(desk):
            with self.subTest(tool=tool):
                first = desk.done(tool, arguments)
                desk.clock.forward(hours=1)
                before = desk.dump()
                self.assertEqual(desk.done(tool, arguments), {**first, "replayed": True})
                self.assertEqual(desk.dump(), before)
                desk.clock.forward(hours=-1)
                if tool == "create_agreement":
                    desk.agreement = first

    @staticmethod
    def calls(desk):
        """One call of each recording tool, each with a key, in an order in which each can be recorded."""
        yield "issue_mandate", buyer_mandate(idempotency_key="key-mandate-1")
        desk.buyer = desk.party(desk.done("issue_mandate", buyer_mandate(idempotency_key="key-mandate-1"))["mandate"])
        desk.supplier = desk.party(desk.done("issue_mandate", supplier_mandate())["mandate"])
        yield "issue_approval", desk.approval("a" * 64, idempotency_key="key-approval-1")
        yield "create_agreement", desk.formation(idempotency_key="key-agreement-1")
        yield "record_obligation", desk.issuance(idempotency_key="key-obligation-1")

    def test_other_content_is_refused_and_told_nothing_of_the_first(self):
        desk = Desk()
        for tool, arguments in self.calls(desk):
            with self.subTest(tool=tool):
                first = desk.done(tool, arguments)
                other = {**arguments, **{
                    "issue_mandate": {"actions": ["offer.accept"]},
                    "issue_approval": {"action_hash": "b" * 64},
                    "create_agreement": {"session_id": "ses_another_one"},
                    "record_obligation": {"term_path": "$.terms.core"},
                }[tool]}
                refusal = self.assert_refused(desk, tool, other, CONFLICT)
                for value in first.values():
                    if isinstance(value, str) and "_" in value:
                        self.assertNotIn(value, refusal.detail)
                if tool == "create_agreement":
                    desk.agreement = first

    def test_a_fresh_decision_over_the_same_act_is_the_same_content(self):
        desk = Desk().introduce()
        first = desk.done("create_agreement", desk.formation(idempotency_key="key-agreement-1"))
        arguments = desk.formation(idempotency_key="key-agreement-1")
        desk.clock.now += timedelta(seconds=61)
        desk.agreement = first
        valid = {"offer_valid_until": arguments["offer_valid_until"]}
        again = desk.done("create_agreement", desk.formation(idempotency_key="key-agreement-1", **valid))
        self.assertEqual(again, {**first, "replayed": True})
        other = desk.formation(idempotency_key="key-agreement-1", **valid)
        other["buyer_decision"] = {**other["buyer_decision"], "action_hash": "0" * 64}
        self.assert_refused(desk, "create_agreement", other, CONFLICT)

    def test_a_refused_call_does_not_use_the_key_up(self):
        desk = Desk().introduce()
        arguments = desk.formation(idempotency_key="key-agreement-1")
        refused = {**arguments, "offer_valid_until": format_instant(NOW)}
        self.assert_refused(desk, "create_agreement", refused, "A202-OFFER-EXPIRED")
        self.assertEqual(desk.done("create_agreement", arguments)["outcome"], "recorded")

    def test_one_key_for_each_tool_transaction_and_organisation(self):
        desk = Desk().introduce(
            buyer={"scope": {"transaction_ids": [TRANSACTION, "txn_second_one"]}, "idempotency_key": "the-same-key"},
            supplier={"scope": {"transaction_ids": [TRANSACTION, "txn_second_one"]}, "idempotency_key": "the-same-key"})
        key = {"idempotency_key": "the-same-key"}
        desk.done("issue_approval", desk.approval("a" * 64, **key))
        desk.done("issue_approval", desk.approval("b" * 64, requested_by=desk.supplier, **key))
        desk.form(**key)
        desk.issue(**key)
        desk.transaction_id = "txn_second_one"
        desk.done("issue_approval", desk.approval("c" * 64, **key))
        desk.form(**key)
        self.assert_refused(desk, "issue_approval", desk.approval("d" * 64, **key), CONFLICT)

    def test_its_length(self):
        desk = Desk()
        for length, taken in ((7, False), (8, True), (255, True), (256, False)):
            with self.subTest(length=length):
                answer = desk.call("issue_mandate", buyer_mandate(idempotency_key="k" * length))
                self.assertIs(isinstance(answer, Refusal), not taken)

    def test_the_same_call_by_a_faster_process(self):
        store = Losing(SqliteStore.open(None))
        desk = Desk(store=store).introduce()
        arguments = desk.formation(idempotency_key="key-agreement-1")
        first = []
        store.rival = lambda: first.append(desk.done("create_agreement", arguments))
        self.assertEqual(desk.call("create_agreement", arguments), {**first[0], "replayed": True})


class Reopened(RefusalCase):
    """What a state directory keeps, and what ends with the process."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.state_dir = Path(folder.name)
        self.desk = self.open()

    def open(self):
        workspace = Workspace.open(self.state_dir)
        clock = Clock()
        workspace.clock, workspace.ids = clock, Counter(1)
        desk = Desk(workspace=workspace, clock=clock)
        self.addCleanup(workspace.close)
        return desk

    def reopened(self):
        self.desk.workspace.close()
        desk = self.open()
        desk.workspace.ids = Counter(10_000)
        desk.buyer, desk.supplier, desk.agreement = self.desk.buyer, self.desk.supplier, self.desk.agreement
        return desk

    def test_the_first_result_under_an_idempotency_key(self):
        self.desk.introduce()
        arguments = self.desk.formation(idempotency_key="key-agreement-1")
        first = self.desk.done("create_agreement", arguments)
        desk = self.reopened()
        self.assertEqual(desk.done("create_agreement", arguments), {**first, "replayed": True})
        self.assert_refused(desk, "create_agreement", {**arguments, "session_id": "ses_another_one"}, CONFLICT)

    def test_a_bound_key_that_is_not_held_signs_nothing_and_is_never_made_again(self):
        self.desk.introduce()
        before = {key: self.desk.workspace.store.key(key) for key in ("key_northstar_agent_01", "key_delta_agent_01")}
        desk = self.reopened()
        refusal = self.assert_refused(desk, "create_agreement", desk.formation(), "A202-POLICY-DENIED")
        for key_id, held in before.items():
            self.assertIn(key_id, refusal.detail)
            self.assertEqual(desk.workspace.store.key(key_id), held)
        refusal = self.assert_refused(desk, "issue_mandate", buyer_mandate(), "A202-POLICY-DENIED")
        self.assertIn("key_northstar_principal_01", refusal.detail)
        refusal = self.assert_refused(desk, "issue_approval", desk.approval("a" * 64), "A202-POLICY-DENIED")
        self.assertIn("key_northstar_principal_01", refusal.detail)

    def test_decisions_are_still_made_and_new_keys_still_work(self):
        self.desk.introduce()
        desk = self.reopened()
        decision = desk.decide(desk.buyer, desk.formation_act(desk.buyer))
        self.assertEqual((decision["decision"], decision["proof"]), ("allow", "verified"))
        fresh = buyer_mandate(
            issuer={"organization_id": "org_northstar", "principal_id": "prn_second_one", "key_id": "key_second_one"},
            subject={"agent_id": "agt_second_one", "key_id": "key_second_agent"})
        self.assertEqual(desk.done("issue_mandate", fresh)["outcome"], "issued")

    def test_a_binding_outlives_the_process(self):
        self.desk.introduce()
        desk = self.reopened()
        stolen = buyer_mandate(issuer={
            "organization_id": "org_northstar", "principal_id": "prn_second_one", "key_id": "key_northstar_agent_01"})
        self.assert_refused(desk, "issue_mandate", stolen, "A202-POLICY-DENIED")


class Keys(unittest.TestCase):

    def test_a_minted_key_is_held_only_after_hold(self):
        keyring = Keyring()
        signer = keyring.mint("key_one")
        self.assertIsNone(keyring.signer("key_one"))
        keyring.hold(signer)
        self.assertIs(keyring.signer("key_one"), signer)

    def test_never_two_under_one_identifier(self):
        keyring = Keyring()
        keyring.hold(keyring.mint("key_one"))
        with self.assertRaises(ValueError):
            keyring.hold(keyring.mint("key_one"))

    def test_its_text_form_tells_nothing(self):
        keyring = Keyring()
        keyring.hold(keyring.mint("key_one"))
        self.assertEqual(repr(keyring), "Keyring(1 keys)")
