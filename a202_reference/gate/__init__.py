"""The normative checks: from object type to small named check functions (verification 4 to 6).

One gate judges what we are about to emit, what a stranger sends and what the conformance suite holds.
"""

from a202_reference.gate.judgement import EMPTY, Judgement, Lookup
from a202_reference.gate.judging import (
    judge,
    judge_bundle,
    judge_chain,
    judge_declaration,
    judge_grade,
    judge_mandate,
    judge_object,
)

__all__ = [
    "EMPTY", "Judgement", "Lookup", "judge", "judge_bundle", "judge_chain", "judge_declaration", "judge_grade",
    "judge_mandate", "judge_object"]
