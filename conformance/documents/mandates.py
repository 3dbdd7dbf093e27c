"""Mandates: the buyer's root mandate and one hop of delegation below it."""

from __future__ import annotations

from typing import Any

from a202_reference.registries import MANDATE_SPEC, Algorithm, Purpose
from a202_reference.signing import PLACEHOLDER
from conformance.world import ADDRESSES, BUYER, BUYER_HEAD, SELLER, TRANSACTION, Document, at, days, sealed_mandate


def mandate(**members: Any) -> Document:
    """The buyer's root mandate: one transaction, one seller, a ceiling, an approval rule, one hop of delegation."""
    return sealed_mandate({
        "spec_version": MANDATE_SPEC,
        "id": "mnd_brightwater_buyer",
        "issuer": {"organization_id": BUYER.organization_id, "principal_id": "prn_brightwater_head",
                   "key_id": BUYER_HEAD.key_id},
        "subject": {"agent_id": BUYER.agent_id, "key_id": BUYER.key_id},
        "represented_organization_id": BUYER.organization_id,
        "parent_mandate_id": None,
        "valid_from": at(0),
        "valid_until": at(days(60)),
        "status_endpoint": ADDRESSES["status of buyer"],
        "actions": ["offer.submit", "offer.accept", "agreement.sign", "obligation.activated"],
        "scope": {"transaction_ids": [TRANSACTION], "categories": ["services.calibration"],
                  "counterparty_organization_ids": [SELLER.organization_id], "geographies": ["NL"]},
        "constraints": [
            {"id": "ceiling", "type": "commercial.decimal", "path": "$.proposed_terms.core.total.amount",
             "operator": "maximum", "value": "2000.00", "on_failure": "deny"},
            {"id": "currency", "type": "commercial.string", "path": "$.proposed_terms.core.total.currency",
             "operator": "equals", "value": "EUR", "on_failure": "deny"},
        ],
        "approval_rules": [
            {"id": "large_amounts",
             "when": {"path": "$.proposed_terms.core.total.amount", "operator": "minimum", "value": "1500.00"},
             "approver": {"organization_id": BUYER.organization_id, "role": "head_of_buying"},
             "expires_after_seconds": 3600},
        ],
        "delegation": {"allowed": True, "maximum_depth": 1},
        "evidence_refs": ["evd_brightwater_register_01"],
        "proof": {"key_id": BUYER_HEAD.key_id, "algorithm": Algorithm.ES256.value, "created_at": at(0),
                  "purpose": Purpose.MANDATE_ISSUANCE.value, "signature": PLACEHOLDER},
        **members,
    })


def child_mandate(**members: Any) -> Document:
    """A mandate one hop below: shorter, fewer actions, a lower ceiling, no further delegation."""
    parent = mandate()
    ceiling, currency = parent["constraints"]
    return mandate(**{
        "id": "mnd_brightwater_junior",
        "subject": {"agent_id": "agt_brightwater_junior", "key_id": "key_brightwater_junior"},
        "parent_mandate_id": parent["id"],
        "valid_from": at(days(1)),
        "valid_until": at(days(30)),
        "status_endpoint": ADDRESSES["status of junior"],
        "actions": ["offer.submit", "offer.accept"],
        "constraints": [{**ceiling, "value": "900.00"}, currency],
        "approval_rules": [],
        "delegation": {"allowed": False, "maximum_depth": 0},
        **members,
    })
