"""The four resources (surface 5): transactions, a record, a bundle, a mandate, all `application/json`.

`a202://transactions` gives the newest 100 and the count. What is not held is not found: None here, the
protocol's resource-not-found error on the wire.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from mcp_types import Resource, ResourceTemplate

from a202_mcp.bilateral.addresses import (
    BUNDLE_TEMPLATE,
    MANDATE_TEMPLATE,
    MEDIA_TYPE,
    RECORD_TEMPLATE,
    TRANSACTIONS,
    parse_address,
)

if TYPE_CHECKING:
    from a202_mcp.workspace import Workspace

NEWEST = 100

TEMPLATES = [
    ResourceTemplate(
        uri_template=RECORD_TEMPLATE, name="transaction-record", title="A transaction's record", mime_type=MEDIA_TYPE,
        description="The hash-chained events of one transaction and the state they reach.",
    ),
    ResourceTemplate(
        uri_template=BUNDLE_TEMPLATE, name="transaction-bundle", title="A transaction's bundle", mime_type=MEDIA_TYPE,
        description="Everything a stranger needs to verify one transaction: objects, mandates, keys, acts.",
    ),
    ResourceTemplate(
        uri_template=MANDATE_TEMPLATE, name="mandate", title="A mandate", mime_type=MEDIA_TYPE,
        description="One signed mandate, whole.",
    ),
]


def list_resources(workspace: Workspace) -> list[Resource]:
    """What can be read without knowing an id. Records, bundles and mandates are found by template."""
    count = workspace.transactions(0)["count"]
    return [
        Resource(
            uri=TRANSACTIONS, name="transactions", title="Transactions", mime_type=MEDIA_TYPE,
            description=f"The newest {NEWEST} transactions of {count} held here, with their states.",
        )
    ]


def read_resource(workspace: Workspace, uri: str) -> str | None:
    """The JSON text at an address, or None where nothing is held there."""
    if uri == TRANSACTIONS:
        return _text(workspace.transactions(NEWEST))
    named = parse_address(uri)
    if named is None:
        return None
    kind, ident = named
    read = {"record": workspace.record, "bundle": workspace.bundle, "mandates": workspace.mandate}[kind]
    found = read(ident)
    return None if found is None else _text(found)


def _text(value: Mapping[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
