"""Surface 2, 4: the seven tools as clients see them, and the input schemas that reach clients verbatim."""

import inspect
import re
import subprocess
import sys
import unittest
from importlib import import_module

from a202_mcp.bilateral.tools import TOOLS
from a202_reference.codes import Code

RECORDING = {"issue_mandate", "issue_approval", "create_agreement", "record_obligation"}
READING = {"verify_mandate", "verify_evidence", "get_transaction_record"}
MEMBERS = {
    "issue_mandate": (
        "issuer subject represented_organization_id valid_from valid_until status_endpoint actions scope",
        "spending_limit constraints approval_rules delegation evidence_refs parent_mandate_id mandate_id "
        "idempotency_key"),
    "verify_mandate": ("", "mandate mandate_id at status ancestor_statuses proposed_action approval_id approval"),
    "issue_approval": (
        "transaction_id action_hash requested_by approver",
        "decision expires_after_seconds expires_at conditions idempotency_key"),
    "create_agreement": (
        "transaction_id buyer supplier terms offer_valid_until buyer_decision supplier_decision",
        "offeror_role session_id offer_evidence_refs rules_version category geography idempotency_key"),
    "record_obligation": (
        "act decision",
        "agreement_id obligor obligee term_path quantity unit_code due_condition consideration commitment_id "
        "rules_version obligation_id asserted_quantity evidence assertion_id responder counterparty response_type "
        "accepted_quantity remainder_obligation_id reason_code category geography idempotency_key"),
    "verify_evidence": ("", "objects object_ids transaction_id rules_version bundle checks"),
    "get_transaction_record": ("transaction_id", "after_sequence limit"),
}
PARTY = {"organization_id", "agent_id", "mandate_id", "key_id"}
CODES = {
    "issue_mandate": "MANDATE-UNBOUNDED MANDATE-SCOPE-TOO-BROAD MANDATE-INTERVAL-INVALID POLICY-DENIED",
    "verify_mandate": (
        "MANDATE-STATUS-UNRESOLVED MANDATE-INACTIVE EVIDENCE-SIGNATURE-INVALID APPROVAL-REQUIRED POLICY-DENIED"),
    "issue_approval": "APPROVAL-REQUIRED",
    "create_agreement": (
        "APPROVAL-HASH-MISMATCH STATE-TRANSITION-DENIED PROFILE-UNKNOWN PROFILE-TERMS-INVALID OFFER-EXPIRED"),
    "record_obligation": (
        "OBLIGATION-ASSERTION-UNEVIDENCED OBLIGATION-RESPONSE-UNAUTHORIZED OBLIGATION-REMAINDER-MISSING "
        "OBLIGATION-REJECTION-REASON-UNKNOWN APPROVAL-HASH-MISMATCH"),
    "verify_evidence": "EVIDENCE-DISCLOSURE-INCOMPLETE",
}
"""Codes that the surface states for each tool and that its description must name."""


def nodes(schema, path="$"):
    """Every schema node with its path."""
    yield path, schema
    for name, member in schema.get("properties", {}).items():
        yield from nodes(member, f"{path}.{name}")
    if "items" in schema:
        yield from nodes(schema["items"], f"{path}[]")


class Names(unittest.TestCase):

    def test_exactly_seven_in_the_order_of_use(self):
        self.assertEqual([tool.name for tool in TOOLS], list(MEMBERS))

    def test_reading_tools_read(self):
        for tool in TOOLS:
            with self.subTest(tool=tool.name):
                self.assertIs(tool.reads, tool.name in READING)
        self.assertEqual(RECORDING | READING, {tool.name for tool in TOOLS})

    def test_titles_differ_and_say_something(self):
        titles = [tool.title for tool in TOOLS]
        self.assertEqual(len(set(titles)), 7)
        self.assertTrue(all(len(title) > 5 and title != tool.name for title, tool in zip(titles, TOOLS, strict=True)))


class Descriptions(unittest.TestCase):

    def test_under_2000_characters_and_not_empty(self):
        for tool in TOOLS:
            with self.subTest(tool=tool.name):
                self.assertGreater(len(tool.description), 200)
                self.assertLess(len(tool.description), 2000)

    def test_only_registered_codes(self):
        registered = {code.value for code in Code}
        for tool in TOOLS:
            texts = [tool.description, *(node.get("description", "") for _, node in nodes(tool.input_schema))]
            with self.subTest(tool=tool.name):
                found = {code for text in texts for code in re.findall(r"A202-[A-Z0-9-]*[A-Z0-9]", text)}
                self.assertEqual(found - registered, set())

    def test_the_codes_that_the_surface_states(self):
        for tool in TOOLS:
            for name in CODES.get(tool.name, "").split():
                with self.subTest(tool=tool.name, code=name):
                    self.assertRegex(tool.description, rf"A202-{name}\b")

    def test_when_and_in_which_order(self):
        for name, other in (
            ("verify_mandate", "recording tool"), ("issue_approval", "verify_mandate"),
            ("create_agreement", "verify_mandate"), ("record_obligation", "decision"), ("issue_mandate", "first"),
        ):
            with self.subTest(name=name):
                self.assertIn(other, next(tool for tool in TOOLS if tool.name == name).description)


class Schemas(unittest.TestCase):

    def each(self):
        for tool in TOOLS:
            for path, node in nodes(tool.input_schema):
                with self.subTest(tool=tool.name, path=path):
                    yield tool, path, node

    def test_members(self):
        for tool in TOOLS:
            required, optional = MEMBERS[tool.name]
            with self.subTest(tool=tool.name):
                self.assertEqual(set(tool.input_schema["required"]), set(required.split()))
                self.assertEqual(set(tool.input_schema["properties"]), set(f"{required} {optional}".split()))

    def test_the_root_is_a_closed_object_without_composition(self):
        for tool in TOOLS:
            with self.subTest(tool=tool.name):
                self.assertEqual(tool.input_schema["type"], "object")
                self.assertIs(tool.input_schema["additionalProperties"], False)

    def test_no_composition_reference_or_array_valued_type_anywhere(self):
        for _, _, node in self.each():
            self.assertFalse(node.keys() & {
                "oneOf", "anyOf", "allOf", "not", "if", "then", "else", "dependentSchemas", "$ref", "$defs",
                "definitions", "$schema", "$id"})
            self.assertNotIsInstance(node.get("type"), list)

    def test_a_description_on_every_property_at_every_level(self):
        for _, path, node in self.each():
            if path != "$":
                self.assertGreater(len(node.get("description", "")), 5)

    def test_what_is_required_is_declared(self):
        for _, _, node in self.each():
            self.assertLessEqual(set(node.get("required", [])), set(node.get("properties", {})))

    def test_a_party_names_organisation_agent_mandate_and_key(self):
        for tool, members in (
            ("issue_approval", ["requested_by"]), ("create_agreement", ["buyer", "supplier"]),
            ("record_obligation", ["obligor", "obligee", "responder", "counterparty"]),
        ):
            schema = next(each for each in TOOLS if each.name == tool).input_schema
            for member in members:
                with self.subTest(tool=tool, member=member):
                    self.assertEqual(set(schema["properties"][member]["required"]), PARTY)


class TheListDoesWithoutTheCore(unittest.TestCase):
    """ADR 11: declarations load nothing that only a call needs, and every one has its handler."""

    HEAVY = ("a202_mcp.workspace", "a202_mcp.store", "a202_reference.authority", "a202_reference.gate",
             "a202_reference.evidence", "jsonschema", "referencing", "re2",
             "cryptography.hazmat.primitives.asymmetric.ec")

    def test_the_server_up_to_its_list_loads_none_of_it(self) -> None:
        program = ("import sys; import a202_mcp.bilateral.main, a202_mcp.bilateral.tools; "
                   "print(*sorted(sys.modules))")
        loaded = subprocess.run(
            [sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.split()
        self.assertIn("a202_mcp.bilateral.server", loaded)
        bare = subprocess.run(
            [sys.executable, "-c", "import sys, mcp.server.lowlevel, mcp.server.stdio; print(*sorted(sys.modules))"],
            capture_output=True, text=True, check=True).stdout.split()
        self.assertEqual([name for name in self.HEAVY if name in loaded and name not in bare], [])

    def test_each_tool_has_a_handler_of_its_name(self) -> None:
        for tool in TOOLS:
            with self.subTest(tool.name):
                handler = import_module(f"a202_mcp.bilateral.{tool.name}").answer
                self.assertEqual(list(inspect.signature(handler).parameters), ["workspace", "arguments"])
