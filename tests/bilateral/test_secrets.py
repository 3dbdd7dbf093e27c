"""Seed, "Keys and state"; surface 4: no private key in any result, refusal, state file or text form."""

import base64
import json
import tempfile
import unittest
from pathlib import Path

from a202_mcp import readout
from a202_mcp.bilateral.results import tool_result
from a202_mcp.workspace import Workspace
from tests.bilateral.parties import TOOL, Clock, Counter, Desk, buyer_mandate
from tests.bilateral.stories import STORIES


class Listening(Desk):
    """A desk that keeps everything that reaches a client."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.heard = []

    def call(self, tool, arguments):
        answer = super().call(tool, arguments)
        self.heard.append(repr(answer))
        self.heard.append(tool_result(tool, answer).model_dump_json())
        return answer


def forms(scalar):
    """A private scalar as it might be written."""
    data = scalar.to_bytes(32, "big")
    plain = base64.b64encode(data).decode()
    safe = base64.urlsafe_b64encode(data).decode()
    texts = {data.hex(), data.hex().upper(), plain, plain.rstrip("="), safe, safe.rstrip("="), str(scalar),
        f"{scalar:x}"}
    return {text.encode() for text in texts} | {data, data[::-1]}


def scalars(workspace):
    return {key_id: signer.key._key.private_numbers().private_value
            for key_id, signer in workspace.keyring._held.items()}


class NoPrivateKey(unittest.TestCase):

    def found(self, haystack, workspace):
        return [key_id for key_id,
            scalar in scalars(workspace).items() if any(form in haystack for form in forms(scalar))]

    def test_the_scan_finds_a_key(self):
        workspace = STORIES["walkthrough"]().workspace
        held = scalars(workspace)
        self.assertEqual(len(held), 4)
        for key_id, scalar in held.items():
            for form in forms(scalar):
                self.assertEqual(self.found(b"before " + form + b" after", workspace), [key_id])

    def test_in_no_result_state_file_or_text_form(self):
        for name, story in STORIES.items():
            with self.subTest(story=name), tempfile.TemporaryDirectory() as folder:
                clock = Clock()
                workspace = Workspace.open(Path(folder))
                workspace.clock, workspace.ids = clock, Counter()
                desk = Listening(workspace=workspace, clock=clock)
                story(desk)
                self.refusals(desk)
                for tool, arguments in (
                    ("get_transaction_record", {"transaction_id": desk.transaction_id}),
                    ("verify_evidence", {"transaction_id": desk.transaction_id, "rules_version": "1.3"}),
                ):
                    desk.done(tool, arguments)
                heard = "\n".join([
                    *desk.heard, repr(workspace), str(workspace.keyring), json.dumps(desk.dump(), default=repr),
                    json.dumps(readout.bundle(workspace.store, desk.transaction_id, clock.now))])
                self.assertGreater(len(desk.heard), 10)
                self.assertEqual(self.found(heard.encode(), workspace), [])
                files = b"".join(file.read_bytes() for file in Path(folder).iterdir())
                self.assertIn(b"key_northstar_agent_01", files)
                self.assertEqual(self.found(files, workspace), [])
                workspace.close()

    @staticmethod
    def refusals(desk):
        """A few of each kind, so that what is said on refusing is heard as well."""
        desk.call("issue_mandate",
            buyer_mandate(subject={"agent_id": "agt_other_one", "key_id": "key_northstar_agent_01"}))
        desk.call("issue_mandate", buyer_mandate(actions=[]))
        desk.call("issue_approval", desk.approval("a" * 64, approver={
            "principal_id": "prn_one", "role": "r", "key_id": "key_northstar_agent_01"}))
        desk.call("create_agreement", {"transaction_id": desk.transaction_id})
        desk.call("record_obligation", {"act": "issue", "decision": {}})
        for tool in TOOL:
            desk.call(tool, {"colour": "red"})

    def test_no_jwk_with_a_private_member(self):
        desk = STORIES["walkthrough"]()
        texts = [json.dumps(desk.dump(), default=repr), json.dumps(
            readout.bundle(desk.workspace.store, desk.transaction_id, desk.clock.now))]
        for text in texts:
            self.assertNotIn('"d"', text)
            self.assertNotIn("PRIVATE", text)
