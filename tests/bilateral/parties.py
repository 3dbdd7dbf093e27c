"""Two parties, their workspace with a fixed clock, and the seed's walkthrough in steps, for the tests of the tools.

Every call goes the way a client's does: arguments through `read_arguments`, then the tool's own `answer`.
"""

import itertools
import json
import unittest
from copy import deepcopy
from datetime import UTC, datetime, timedelta

from a202_mcp.bilateral.arguments import read_arguments
from a202_mcp.bilateral.tools import TOOLS
from a202_mcp.store import SqliteStore
from a202_mcp.workspace import Workspace
from a202_reference.codes import Refusal
from a202_reference.times import format_instant

NOW = datetime(2026, 8, 20, 10, 0, tzinfo=UTC)
TRANSACTION = "txn_calibration_demo_01"
ACTIONS = [
    "offer.submit", "offer.accept", "agreement.sign", "obligation.activated", "performance.declared",
    "acceptance.granted", "acceptance.rejected", "obligation.waived"]
PRICE = {"currency": "EUR", "amount": "3200.00"}
TERMS = {
    "profile": "a202-profile/calibration-service/0.1",
    "core": {
        "description": "Calibration and digital certificates for 20 pressure transmitters",
        "quantity": "20", "unit_code": "H87", "unit_name": "piece", "total": PRICE,
    },
    "profile_terms": {
        "completion": {"business_days_after_collection": 15, "business_calendar": "NL"},
        "payment": {"prepayment_percent": "20", "balance_trigger": "buyer_acceptance"},
        "acceptance": {
            "certificate_required": True, "machine_readable_result_required": True,
            "qualification_standard": "ISO/IEC 17025:2017",
        },
        "rework": {"included_attempts": 1},
    },
}
EVIDENCE = {
    "evidence_type": "third_party_certificate",
    "claim": "Calibration certificates issued for 20 transmitters under ISO/IEC 17025:2017",
    "artifact_hash": "9f2c" * 16,
    "issuer": {"organization_id": "org_delta"},
    "verification": {
        "status": "verified", "verified_at": "2026-09-08T14:00:00Z", "verifier_organization_id": "org_northstar"},
}
BUYER_ISSUER = {
    "organization_id": "org_northstar", "principal_id": "prn_northstar_procurement_director",
    "key_id": "key_northstar_principal_01"}
SUPPLIER_ISSUER = {
    "organization_id": "org_delta", "principal_id": "prn_delta_managing_director", "key_id": "key_delta_principal_01"}
APPROVAL_RULE = {
    "id": "a_large_commitment",
    "when": {"path": "$.proposed_terms.core.total.amount", "operator": "minimum", "value": "2500.00"},
    "approver": {"organization_id": "org_northstar", "role": "procurement_director"},
    "expires_after_seconds": 86400,
}
TOOL = {tool.name: tool for tool in TOOLS}


class Clock:
    """A clock that moves when a test says so."""

    def __init__(self, now=NOW):
        self.now = now

    def __call__(self):
        return self.now

    def forward(self, **delta):
        self.now += timedelta(**delta)


class Counter:
    """Identifiers in order, so that a test comes out the same every time."""

    def __init__(self, start=1):
        self._numbers = itertools.count(start)

    def __call__(self):
        return f"{next(self._numbers):024x}"


def buyer_mandate(**changes):
    """Arguments of issue_mandate for the seed's buyer."""
    return _arguments({
        "issuer": BUYER_ISSUER,
        "subject": {"agent_id": "agt_northstar_buyer_01", "key_id": "key_northstar_agent_01"},
        "represented_organization_id": "org_northstar",
        "valid_from": "2026-08-20T00:00:00Z",
        "valid_until": "2026-09-20T00:00:00Z",
        "status_endpoint": "https://status.northstar.invalid/v1/mandates/buyer-01/status",
        "actions": ACTIONS,
        "scope": {"transaction_ids": [TRANSACTION], "counterparty_organization_ids": ["org_delta"]},
        "spending_limit": {"currency": "EUR", "amount": "4000.00"},
    }, changes)


def supplier_mandate(**changes):
    """Arguments of issue_mandate for the seed's supplier."""
    return _arguments({
        "issuer": SUPPLIER_ISSUER,
        "subject": {"agent_id": "agt_delta_supplier_01", "key_id": "key_delta_agent_01"},
        "represented_organization_id": "org_delta",
        "valid_from": "2026-08-20T00:00:00Z",
        "valid_until": "2026-09-20T00:00:00Z",
        "status_endpoint": "https://status.delta.invalid/v1/mandates/supplier-01/status",
        "actions": ACTIONS,
        "scope": {"transaction_ids": [TRANSACTION], "counterparty_organization_ids": ["org_northstar"]},
        "spending_limit": {"currency": "EUR", "amount": "4000.00"},
    }, changes)


class Desk:
    """One server with both roles at it. Steps return results; `call` also returns refusals."""

    def __init__(self, store=None, clock=None, ids=None, workspace=None):
        self.clock = clock or Clock()
        self.workspace = workspace or Workspace(
            store or SqliteStore.open(None), clock=self.clock, ids=ids or Counter())
        self.transaction_id = TRANSACTION
        self.buyer = self.supplier = None
        self.agreement = None
        self.axes = {}
        """Members that every act and every recording call states, such as the geography."""

    def call(self, tool, arguments):
        """The tool's answer to arguments as a client sends them."""
        read = read_arguments(TOOL[tool].input_schema, json.loads(json.dumps(arguments)))
        return read if isinstance(read, Refusal) else TOOL[tool].answer(self.workspace, read)

    def done(self, tool, arguments):
        """The result of a call that must not be refused."""
        answer = self.call(tool, arguments)
        if isinstance(answer, Refusal):
            raise AssertionError(f"{tool} refused: {answer}")  # noqa: TRY004 (a step of the test failed, no type did)
        return answer

    def dump(self):
        """Every row of every table of the state."""
        return dump(self.workspace.store)

    def introduce(self, buyer=None, supplier=None):
        """Both principals issue their agents' mandates; takes members of issue_mandate that differ."""
        self.buyer = self.party(self.done("issue_mandate", buyer_mandate(**(buyer or {})))["mandate"])
        self.supplier = self.party(self.done("issue_mandate", supplier_mandate(**(supplier or {})))["mandate"])
        return self

    @staticmethod
    def party(mandate):
        """The party argument of a mandate's agent."""
        return {
            "organization_id": mandate["represented_organization_id"], "agent_id": mandate["subject"]["agent_id"],
            "mandate_id": mandate["id"], "key_id": mandate["subject"]["key_id"]}

    def status(self, seconds_ago=30, status="active"):
        """A status answer that is still fresh."""
        return {"status": status, "retrieved_at": format_instant(self.clock.now - timedelta(seconds=seconds_ago))}

    def decide(self, party, act, **more):
        """The whole result of verify_mandate for one act of a party."""
        return self.done("verify_mandate", {
            "mandate_id": party["mandate_id"], "status": self.status(), "proposed_action": act, **more})

    def formation_act(self, party, terms=None, **more):
        """offer.submit for the supplier, offer.accept for the buyer."""
        buys = party == self.buyer
        return {
            "action_type": "offer.accept" if buys else "offer.submit",
            "transaction_id": self.transaction_id,
            "counterparty_organization_id": (self.supplier if buys else self.buyer)["organization_id"],
            "proposed_terms": terms or TERMS, **self.axes, **more}

    def formation(self, terms=None, **changes):
        """Arguments of create_agreement with both parties' fresh decisions."""
        terms = terms or TERMS
        return _arguments({
            "transaction_id": self.transaction_id,
            "buyer": self.buyer,
            "supplier": self.supplier,
            "terms": terms,
            "offer_valid_until": format_instant(self.clock.now + timedelta(hours=23)),
            "buyer_decision": self.decide(self.buyer, self.formation_act(self.buyer, terms)),
            "supplier_decision": self.decide(self.supplier, self.formation_act(self.supplier, terms)),
            **self.axes,
        }, changes)

    def form(self, **changes):
        """A committed agreement."""
        self.agreement = self.done("create_agreement", self.formation(**changes))
        return self.agreement

    def obligation_act(self, action, quantity, consideration=PRICE, unit="H87", **reference):
        """An act document of the obligation exchange, by the obligor only where it declares performance."""
        other = self.buyer if action == "performance.declared" else self.supplier
        core = {"quantity": quantity, "unit_code": unit, **({"total": consideration} if consideration else {})}
        return {
            "action_type": action, "transaction_id": self.transaction_id,
            "counterparty_organization_id": other["organization_id"], "proposed_terms": {"core": core}, **self.axes,
            **reference}

    def issuance(self, quantity="20", consideration=PRICE, **changes):
        """Arguments to issue an obligation, the buyer being owed."""
        agreement_id = self.agreement["agreement_id"]
        act = self.obligation_act("obligation.activated", quantity, consideration, agreement_id=agreement_id)
        return _arguments({
            "act": "issue", "decision": self.decide(self.buyer, act), "agreement_id": agreement_id,
            "obligor": self.supplier, "obligee": self.buyer, "term_path": "$.terms.core.quantity",
            "quantity": quantity, "unit_code": "H87",
            "due_condition": {"type": "due_at_time", "at": "2026-09-10T12:00:00Z"},
            "consideration": consideration,
            **self.axes,
        }, changes)

    def issue(self, *args, **changes):
        """The id of an obligation."""
        return self.done("record_obligation", self.issuance(*args, **changes))["obligation"]

    def assertion(self, obligation_id, quantity="20", consideration=PRICE, **changes):
        """Arguments to declare performance."""
        act = self.obligation_act("performance.declared", quantity, consideration, obligation_id=obligation_id)
        return _arguments({
            "act": "assert", "decision": self.decide(self.supplier, act), "obligation_id": obligation_id,
            "obligor": self.supplier, "obligee": self.buyer, "asserted_quantity": quantity, "evidence": [EVIDENCE],
            **self.axes,
        }, changes)

    def assert_(self, *args, **changes):
        """The id of an assertion."""
        return self.done("record_obligation", self.assertion(*args, **changes))["assertion"]

    def response(self, kind, reference, quantity="20", consideration=PRICE, **changes):
        """Arguments to accept or reject an assertion, or to waive an obligation."""
        action, member = {
            "accept": ("acceptance.granted", "assertion_id"), "reject": ("acceptance.rejected", "assertion_id"),
            "waive": ("obligation.waived", "obligation_id")}[kind]
        act = self.obligation_act(action, quantity, consideration, **{member: reference})
        reason = {"reason_code": "quantity_short"} if kind == "reject" else {}
        return _arguments({
            "act": "respond", "decision": self.decide(self.buyer, act), member: reference, "responder": self.buyer,
            "counterparty": self.supplier, "response_type": kind, **reason, **self.axes,
        }, changes)

    def respond(self, *args, **changes):
        """The result of an answer."""
        return self.done("record_obligation", self.response(*args, **changes))

    def approval(self, action_hash, **changes):
        """Arguments of issue_approval by the buyer's principal."""
        return _arguments({
            "transaction_id": self.transaction_id, "action_hash": action_hash, "requested_by": self.buyer,
            "approver": {
                "principal_id": BUYER_ISSUER["principal_id"], "role": "procurement_director",
                "key_id": BUYER_ISSUER["key_id"]},
        }, changes)

    def record(self):
        """The transaction's record."""
        return self.done("get_transaction_record", {"transaction_id": self.transaction_id})

    def objects(self):
        """Every object held of the transaction, in record order."""
        return self.workspace.store.holdings(self.transaction_id).objects

    def events(self):
        """The events as (type, from, to)."""
        return [(event["event_type"], event["from_state"], event["to_state"]) for event in self.record()["events"]]


class RefusalCase(unittest.TestCase):
    """Refusals: the exact codes, and a state that is byte for byte what it was."""

    def assert_refused(self, desk, tool, arguments, *codes):
        before, keys = desk.dump(), held_keys(desk.workspace)
        answer = desk.call(tool, arguments)
        if not isinstance(answer, Refusal):
            self.fail(f"{tool} was not refused: {str(answer)[:300]}")
        self.assertEqual([code.value for code in answer.codes], list(codes), answer.detail)
        self.assertEqual(desk.dump(), before)
        self.assertEqual(held_keys(desk.workspace), keys)
        return answer


def dump(store):
    """Every row of every table of a SQLite state."""
    rows = store._connection.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")
    names = [name for (name,) in rows.fetchall()]
    return {name: store._connection.execute(f'SELECT * FROM "{name}"').fetchall() for name in names}  # noqa: S608


def held_keys(workspace):
    """The identifiers of the private keys this process holds."""
    return sorted(workspace.keyring._held)


def changed(document, path, value):
    """A copy with the member at a dotted path set, or removed where value is `...`."""
    copy = deepcopy(document)
    *parents, last = path.split(".")
    node = copy
    for name in parents:
        node = node[int(name)] if isinstance(node, list) else node[name]
    if value is ...:
        del node[last]
    else:
        node[int(last) if isinstance(node, list) else last] = value
    return copy


def _arguments(defaults, changes):
    """Defaults with changes laid over them; a change to `...` leaves the member out."""
    return {name: member for name, member in {**defaults, **changes}.items() if member is not ...}
