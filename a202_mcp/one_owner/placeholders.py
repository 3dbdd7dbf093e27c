"""Counterparties, who have no identity in the record: placeholders that assert nobody's (treatyway 9.4; axp 8).

A placeholder is the first 32 hexadecimal digits of an HMAC-SHA256 under a random key of the state folder, over a JSON
array that says who is meant: one caller is one placeholder here, and nothing anywhere else.
"""

from __future__ import annotations

import hashlib
import hmac

from a202_reference.documents.parties import PartyRef
from a202_reference.identifiers import Prefix


def placeholder(key: bytes, identity: str) -> str:
    """The digits that stand for somebody. `identity` is the JSON array that says who."""
    return hmac.new(key, identity.encode("utf-8", "surrogatepass"), hashlib.sha256).hexdigest()[:32]


def counterparty(digits: str) -> PartyRef:
    """The party that a placeholder's digits name."""
    return PartyRef(f"{Prefix.ORGANIZATION}_ext_{digits}", f"{Prefix.AGENT}_ext_{digits}")
