"""Identifiers: three lowercase letters, an underscore, an opaque suffix (rules 1.2, 12.1).

Rules this module applies:

- the suffix is one ASCII letter or digit, then 2 to 127 letters, digits, `_` or `-`; a whole identifier
  has 7 to 132 characters;
- each object type has its own prefix; an identifier says nothing else about its object;
- identifiers are minted from randomness that the caller supplies, so the core stays deterministic.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from enum import StrEnum
from typing import TypeAlias

IdSource: TypeAlias = Callable[[], str]
"""Gives a fresh opaque suffix: 24 lowercase hexadecimal digits, never the same twice."""

_SUFFIX = r"[A-Za-z0-9][A-Za-z0-9_-]{2,127}"
ANY_ID = re.compile(r"[a-z]{3}_" + _SUFFIX, re.ASCII)
SHA256_HEX = re.compile(r"[a-f0-9]{64}", re.ASCII)


class Prefix(StrEnum):
    """Registered prefixes (rules 12.1)."""

    ORGANIZATION = "org"
    AGENT = "agt"
    PRINCIPAL = "prn"
    MANDATE = "mnd"
    CAPABILITY = "cap"
    INTENT = "int"
    INVITATION = "inv"
    INVITATION_ACCEPTANCE = "ina"
    TRANSACTION = "txn"
    SESSION = "ses"
    ACTION_ENVELOPE = "act"
    OFFER = "off"
    ACCEPTANCE = "acc"
    AGREEMENT = "agr"
    COMMITMENT = "cmt"
    OBLIGATION = "obl"
    OBLIGATION_RESPONSE = "obr"
    PERFORMANCE_EVENT = "prf"
    EXCEPTION = "exc"
    DISPUTE = "dsp"
    DETERMINATION = "det"
    EVIDENCE = "evd"
    EVENT = "evt"
    POLICY_DECISION = "pol"
    APPROVAL = "apr"
    SETTLEMENT_INSTRUCTION = "stl"
    ADAPTER_RECEIPT = "adp"
    CLARIFICATION = "clr"
    KEY = "key"
    REVOCATION_RECORD = "rev"
    COMMERCIAL_REQUEST = "req"
    CONTACT_CHANNEL = "chn"

    def minted(self, suffix: str) -> str:
        """A new identifier of this kind over a fresh opaque suffix."""
        return f"{self.value}_{suffix}"

    def names(self, text: object) -> bool:
        """True where `text` is a well-formed identifier of this kind."""
        return isinstance(text, str) and text.startswith(self.value + "_") and ANY_ID.fullmatch(text) is not None


def is_sha256_hex(text: object) -> bool:
    """True for exactly 64 lowercase hexadecimal digits."""
    return isinstance(text, str) and SHA256_HEX.fullmatch(text) is not None
