"""Surface 4: results, refusals and their texts."""

import json
import unittest

from a202_mcp.bilateral.results import tool_result
from a202_reference.codes import Code, Refusal

ACT = {"action_type": "offer.accept", "proposed_terms": {"core": {"quantity": "20"}}}


def parts(result):
    """The one text block's lines before its JSON, and that JSON."""
    (block,) = result.content
    *lead, body = block.text.split("\n")
    return lead, json.loads(body)


class ToolResult(unittest.TestCase):
    def test_an_answer_stands_in_structured_content_and_in_the_one_text(self):
        answer = {"outcome": "recorded", "name": "Zürich \u2028", "list": [None, 1, "x"]}
        result = tool_result("create_agreement", answer)
        self.assertEqual(result.structured_content, answer)
        self.assertEqual(parts(result), ([], answer))
        self.assertFalse(result.is_error)

    def test_a_refusal_is_an_error_that_says_first_what_failed(self):
        refusal = Refusal((Code.TERMS_INVALID, Code.POLICY_DENIED), "quantity is 20.5.1: send \"20\". More follows.")
        result = tool_result("record_obligation", refusal)
        lead, data = parts(result)
        self.assertTrue(result.is_error)
        self.assertEqual(lead, ['Refused (A202-TERMS-INVALID, A202-POLICY-DENIED): quantity is 20.5.1: send "20".'])
        self.assertEqual(data, result.structured_content)
        self.assertEqual(data, {
            "outcome": "refused", "reason_codes": ["A202-TERMS-INVALID", "A202-POLICY-DENIED"],
            "detail": refusal.detail,
        })

    def test_a_refusal_over_another_act_carries_the_act_in_both_places(self):
        result = tool_result("create_agreement", Refusal((Code.APPROVAL_HASH_MISMATCH,), "It is another act.", ACT))
        data = result.structured_content
        self.assertEqual(data["proposed_action"], ACT)
        self.assertEqual(json.loads(data["detail"][data["detail"].index("{"):]), ACT)

    def test_an_act_that_the_detail_carries_already_is_not_repeated(self):
        detail = f"Verify {json.dumps(ACT, separators=(',', ':'))}"
        result = tool_result("create_agreement", Refusal((Code.APPROVAL_HASH_MISMATCH,), detail, ACT))
        self.assertEqual(result.structured_content["detail"], detail)

    def test_the_first_line_is_one_line_of_bounded_length(self):
        for detail in ("x" * 10_000, "first\nsecond", "first. second"):
            with self.subTest(detail[:20]):
                lead, _ = parts(tool_result("issue_mandate", Refusal.of(Code.POLICY_DENIED, detail)))
                self.assertEqual(len(lead), 1)
                self.assertLess(len(lead[0]), 600)

    def test_a_record_names_the_address_of_its_bundle_first(self):
        lead, _ = parts(tool_result("get_transaction_record", {"transaction_id": "txn_one", "known": True}))
        self.assertEqual(len(lead), 1)
        self.assertTrue(lead[0].endswith(" a202://transactions/txn_one/bundle"))

    def test_a_record_of_nothing_names_no_bundle(self):
        lead, _ = parts(tool_result("get_transaction_record", {"transaction_id": "txn_one", "known": False}))
        self.assertEqual(lead, [])


if __name__ == "__main__":
    unittest.main()
