"""A state on disk with something of everything in it, for the tests that change it behind the server's back."""

import shutil
import sqlite3
from pathlib import Path

from a202_mcp.keyring import Keyring
from a202_mcp.store import FILE_NAME, SqliteStore
from a202_mcp.workspace import Workspace
from a202_reference.canonical import value_hash
from tests.bilateral.parties import APPROVAL_RULE, TRANSACTION, Clock, Counter, Desk

OTHER = "txn_calibration_demo_02"


def approved(desk):
    """A formation that an approval released, recorded under an idempotency key; its approval's id."""
    act = desk.formation_act(desk.buyer)
    approval = desk.done("issue_approval", desk.approval(value_hash(act)))["approval_id"]
    decision = desk.decide(desk.buyer, act, approval_id=approval)
    desk.form(buyer_decision=decision, idempotency_key=f"form-{desk.transaction_id}")
    return approval


class Kept:
    """The state: one transaction from formation to performance with two approvals redeemed, then another one.

    names: what stands in it, as the named parameters of statements. `second` and `last` are commits to the first
    transaction.
    """

    def __init__(self, folder, first_id=1):
        self.folder = Path(folder)
        self.keyring, self.clock = Keyring(), Clock()
        self.parties = self.agreement = None
        desk = self.desk(self.folder / "kept", first_id)
        scope = {"scope": {"transaction_ids": [TRANSACTION, OTHER]}}
        desk.introduce(buyer={"approval_rules": [APPROVAL_RULE], **scope}, supplier=scope)
        approval = approved(desk)
        act = desk.obligation_act("obligation.activated", "20", agreement_id=desk.agreement["agreement_id"])
        second = desk.done("issue_approval", desk.approval(value_hash(act)))["approval_id"]
        desk.done("record_obligation", desk.issuance(decision=desk.decide(desk.buyer, act, approval_id=second)))
        self.parties, self.agreement = (desk.buyer, desk.supplier), desk.agreement
        desk.transaction_id = OTHER
        approved(desk)
        desk.workspace.close()
        self.names = {
            "transaction": TRANSACTION, "other": OTHER, "approval": approval, "second": 4, "last": 6,
            "agreement": self.agreement["agreement_id"], "offer": self.agreement["offer_id"],
            "commitment": self.agreement["commitment_id"], "mandate": desk.buyer["mandate_id"],
            "agent_key": desk.buyer["key_id"], "other_key": desk.supplier["key_id"],
            "principal_key": "key_northstar_principal_01"}

    def desk(self, place, first_id=100_000):
        """A server over a directory, holding the keys that the first one made."""
        store = SqliteStore.open(Path(place))
        workspace = Workspace(store, keyring=self.keyring, clock=self.clock, ids=Counter(first_id))
        desk = Desk(workspace=workspace, clock=self.clock)
        if self.parties is not None:
            desk.buyer, desk.supplier = self.parties
            desk.agreement = self.agreement
        return desk

    def changed(self, *statements):
        """A desk over a copy of the state to which this was done."""
        place = self.folder / "changed"
        shutil.rmtree(place, ignore_errors=True)
        shutil.copytree(self.folder / "kept", place)
        connection = sqlite3.connect(place / FILE_NAME)
        for statement in statements:
            connection.execute(statement, self.names)
        connection.commit()
        connection.close()
        return self.desk(place)
