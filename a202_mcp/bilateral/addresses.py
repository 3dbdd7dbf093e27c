"""The addresses of what the server lets a client read (surface 5)."""

from __future__ import annotations

import re
from typing import Final

TRANSACTIONS: Final = "a202://transactions"
RECORD_TEMPLATE: Final = "a202://transactions/{transaction_id}/record"
BUNDLE_TEMPLATE: Final = "a202://transactions/{transaction_id}/bundle"
MANDATE_TEMPLATE: Final = "a202://mandates/{mandate_id}"
MEDIA_TYPE: Final = "application/json"

_ADDRESS = re.compile(r"a202://(?:transactions/(txn_[A-Za-z0-9_-]+)/(record|bundle)|(mandates)/(mnd_[A-Za-z0-9_-]+))")


def bundle_address(transaction_id: str) -> str:
    """Where the transaction's exported bundle is read."""
    return BUNDLE_TEMPLATE.replace("{transaction_id}", transaction_id)


def parse_address(address: str) -> tuple[str, str] | None:
    """What an address names: ("record" | "bundle" | "mandates", id), or None. The list is TRANSACTIONS itself."""
    found = _ADDRESS.fullmatch(address)
    if found is None:
        return None
    transaction, kind, mandates, mandate = found.groups()
    return (kind, transaction) if kind else (mandates, mandate)
