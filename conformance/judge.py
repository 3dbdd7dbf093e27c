"""The gate as another suite calls it: a kind and a document in, plain JSON out (verification 4).

Lines are read as Python's `json` reads them, numbers with fractions and large integers included: another
suite's documents are judged here, never hashed by us into a record.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, TextIO

from a202_reference import gate

Answer = dict[str, Any]


def judge(kind: str, document: Any) -> Answer:
    """{"schema_valid": bool, "codes": sorted list} for a document of one of the six kinds."""
    judgement = gate.judge(kind, document)
    return {"schema_valid": not judgement.schema_errors, "codes": sorted(code.value for code in judgement.codes)}


def judge_lines(lines: Iterable[bytes], answers: TextIO) -> None:
    """Answer each line {"id", "kind", "doc"} with a line {"id", "schema_valid", "codes"}, or {"id", "error"}."""
    for line in lines:
        if line.strip():
            answers.write(json.dumps(_answer(line)) + "\n")
            answers.flush()


def _answer(line: bytes) -> Answer:
    try:
        case = json.loads(line)
    except (ValueError, RecursionError):
        return {"id": None, "error": "the line is not JSON"}
    if not isinstance(case, dict) or not isinstance(case.get("kind"), str) or "doc" not in case:
        return {"id": case.get("id") if isinstance(case, dict) else None, "error": "the line names no kind and doc"}
    return {"id": case.get("id"), **judge(case["kind"], case["doc"])}
