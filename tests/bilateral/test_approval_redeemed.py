"""Rules D-15; surface 2: an approval is used up by the first act it released, whoever asks and whenever."""

import tempfile
from pathlib import Path

from a202_mcp.workspace import Workspace
from a202_reference.canonical import value_hash
from tests.bilateral.parties import APPROVAL_RULE, Clock, Counter, Desk, RefusalCase

REQUIRED = "A202-APPROVAL-REQUIRED"


class Redeemed(RefusalCase):

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.state_dir = Path(folder.name)
        self.desk = self.open(Counter())
        self.desk.introduce(buyer={"approval_rules": [APPROVAL_RULE]})
        act = self.desk.formation_act(self.desk.buyer)
        self.approval = self.desk.done("issue_approval", self.desk.approval(value_hash(act)))["approval_id"]
        self.allowed = self.desk.decide(self.desk.buyer, act, approval_id=self.approval)
        self.arguments = self.desk.formation(buyer_decision=self.allowed)

    def open(self, ids):
        workspace = Workspace.open(self.state_dir)
        self.addCleanup(workspace.close)
        clock = Clock()
        workspace.clock, workspace.ids = clock, ids
        return Desk(workspace=workspace, clock=clock)

    def test_not_by_a_decision_alone(self):
        self.assertFalse(self.desk.workspace.store.consumed(self.approval))

    def test_not_by_a_refused_act(self):
        self.assert_refused(self.desk, "create_agreement", {
            **self.arguments, "supplier_decision": {}}, "A202-POLICY-DENIED", "A202-APPROVAL-HASH-MISMATCH",
            "A202-MANDATE-STATUS-UNRESOLVED")
        self.assertFalse(self.desk.workspace.store.consumed(self.approval))
        self.assertEqual(self.desk.done("create_agreement", self.arguments)["state"], "committed")

    def test_once(self):
        self.desk.done("create_agreement", self.arguments)
        self.assert_refused(self.desk, "create_agreement", self.arguments, REQUIRED)

    def test_also_in_a_later_process(self):
        self.desk.done("create_agreement", self.arguments)
        self.desk.workspace.close()
        later = self.open(Counter(1000))
        self.assert_refused(later, "create_agreement", self.arguments, REQUIRED)
        later.buyer, later.supplier = self.desk.buyer, self.desk.supplier
        found = later.decide(later.buyer, later.formation_act(later.buyer), approval_id=self.approval)
        self.assertEqual((found["decision"], found["reason_codes"]), ("require_approval", [REQUIRED]))

    def test_also_beside_another_process(self):
        other = self.open(Counter(1000))
        self.desk.done("create_agreement", self.arguments)
        self.assert_refused(other, "create_agreement", self.arguments, REQUIRED)
