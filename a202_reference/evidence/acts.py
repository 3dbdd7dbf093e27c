"""The act documents that came with a record (surface 1, 6; design override 5): each hashed once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from a202_reference.canonical import NotCanonicalError, value_hash
from a202_reference.codes import Code
from a202_reference.evidence.report import VERIFIED, Judgement, failed, unknown


class Acts:
    """The act documents that came with the record, each hashed once."""

    def __init__(self, carried: Mapping[str, Any]) -> None:
        self._carried = carried
        self._judged: dict[str, Judgement] = {}

    def judge(self, action_hash: str | None) -> Judgement:
        """Whether the act under this hash is here and has it."""
        if action_hash is None:
            return unknown("no act is named")
        if action_hash not in self._judged:
            self._judged[action_hash] = self._judgement(action_hash)
        return self._judged[action_hash]

    def get(self, action_hash: str | None) -> Mapping[str, Any] | None:
        """The act under this hash, where it is here and has it."""
        if action_hash is None or self.judge(action_hash) is not VERIFIED:
            return None
        act: Mapping[str, Any] = self._carried[action_hash]
        return act

    def _judgement(self, action_hash: str) -> Judgement:
        act = self._carried.get(action_hash)
        if act is None:
            return unknown("the act behind this hash is not here")
        try:
            recomputed = value_hash(act)
        except NotCanonicalError as refused:
            return failed(Code.EVIDENCE_HASH_MISMATCH, f"the act document: {refused}")
        if not isinstance(act, dict) or recomputed != action_hash:
            return failed(Code.EVIDENCE_HASH_MISMATCH, f"the act document hashes to {recomputed}")
        return VERIFIED
